"""The lock file of a trainer: which commits, versions and digests its environments are."""
