"""What a lock file's entries become: everything of them on this machine, or another release with what that changes."""
