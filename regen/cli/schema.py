"""`regen schema`: the JSON schema of what a command prints."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer


def schema(
    command: Annotated[Literal["ask", "score", "search"], typer.Argument(help="The command whose JSON is described.")],
) -> None:
    """Print the JSON schema of what `regen ask`, `score` or `search` prints with --json."""
    from regen.output import schema as schema_of

    print(json.dumps(schema_of(command), indent=2))
