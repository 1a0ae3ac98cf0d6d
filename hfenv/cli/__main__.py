"""`python -m hfenv.cli`: the command line where the console script isn't on the path."""

from hfenv.cli.start import main

main()
