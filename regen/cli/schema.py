"""`regen schema`: the JSON schema of what a command prints."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer


class Command(StrEnum):
    """A command that prints JSON."""

    ASK = "ask"
    SCORE = "score"


def schema(command: Annotated[Command, typer.Argument(help="The command whose JSON is described.")]) -> None:
    """Print the JSON schema of what `regen ask --json` or `regen score --json` prints."""
    from regen.output import schema as schema_of

    print(json.dumps(schema_of("ask" if command is Command.ASK else "score"), indent=2))
