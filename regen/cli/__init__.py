"""The command line."""

from regen.cli.app import main

__all__ = ["main"]
