"""The embedded hub: a Hub-compatible server over plain git repositories in a local folder."""
