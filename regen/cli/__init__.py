"""The command line."""

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    try:
        from regen.cli.app import main as begin
    except KeyboardInterrupt:
        # Importing takes long enough for a Ctrl-C.
        from regen.errors import CancelledError

        print("regen: Interrupted.", file=sys.stderr)
        sys.exit(CancelledError.exit_code)
    begin()
