"""The embedded hub: a Hub-compatible server over plain git repositories in a local folder.

What it does otherwise than the Hub stands in docs/hub-differences.md, which a test holds against the client.
"""
