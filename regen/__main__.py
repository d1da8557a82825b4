"""`python -m regen`: the command line."""

from regen.cli import main

main()
