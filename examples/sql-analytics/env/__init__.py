"""Component code: the environment and the guard that runs statements."""
