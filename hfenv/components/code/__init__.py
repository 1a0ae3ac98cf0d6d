"""Python files of an environment by their syntax trees: what they define, import, call, and do wrong."""
