"""What validation found, as people, editors and CI read it: one module per format."""
