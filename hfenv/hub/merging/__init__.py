"""Three-way merges of a folder with what changed on the hub since it was pulled or pushed."""
