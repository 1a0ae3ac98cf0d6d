"""Component code: how the environment behaves."""
