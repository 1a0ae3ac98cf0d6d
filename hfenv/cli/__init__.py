"""The command line: one thin module per command that parses, calls the library and renders."""
