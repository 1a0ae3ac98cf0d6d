"""Component reward: what an answer is worth."""
