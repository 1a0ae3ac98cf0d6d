"""What changed in code and reward between two shapes, and which version that needs."""
