"""The embedded hub's web pages for people: made on the server, read-only, nothing in a repository runs on them."""
