"""What code and reward mean: their digests, and their shapes for a release record."""
