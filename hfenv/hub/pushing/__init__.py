"""The steps of a push, each of which can be repeated: look, large files, one commit, comparison, tags, local record."""
