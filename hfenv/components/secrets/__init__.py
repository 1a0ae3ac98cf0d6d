"""The secret scan: what in an environment's files looks like a token, a key or a password."""
