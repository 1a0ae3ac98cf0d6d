"""The embedded hub: a Hub-compatible server over plain git repositories in a local folder.

Known differences from the public Hub, whose behaviour is taken from its client: no Xet, discussions, likes,
organisations, access requests, previews or git over HTTP; a moved repository leaves no redirect; downloads and likes
are always 0; licence and task names in a card aren't checked against the Hub's lists; there are no rate limits; large
files move by the basic LFS transfer only, and are read through `resolve`.
"""
