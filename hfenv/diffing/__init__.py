"""Two environments held against each other: whether numbers may stand in one table, and what differs."""
