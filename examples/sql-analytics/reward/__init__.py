"""Component reward: what an answer is worth, and how results are compared."""
