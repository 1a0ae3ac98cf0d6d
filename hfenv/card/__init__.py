"""The Environment Card: read with positions, edited by splicing, checked against its schema."""
