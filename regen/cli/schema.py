"""`regen schema`: the JSON schema of what a command prints or writes."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from typing import Annotated

import typer

from regen.errors import InputError


def schema(
    of: Annotated[
        str,
        typer.Argument(
            help="ask (report as well), score, search, check, conflicts, eval (truthfulqa, choices), judge (eval "
            "stance, conflictbench), eval-conflicts or eval-reports: what it prints with --json. results, "
            "judge-results, conflicts-results, reports-results: the results.json of an evaluation. program: the "
            "card.json of a compiled program, which optimize and program show print with --json."
        ),
    ],
) -> None:
    """Print the JSON schema of what a command prints with --json, or writes."""
    from regen.output import PRINTED, schema_of

    # Types of other packages, such as an evaluation's results, are in the entry point group `regen.schemas`.
    points = {point.name: point for point in entry_points(group="regen.schemas")}
    if of not in PRINTED and of not in points:
        raise InputError(f"There is no schema of {of!r}; there are: {', '.join(sorted({*PRINTED, *points}))}.")
    print(json.dumps(schema_of(PRINTED[of] if of in PRINTED else points[of].load()), indent=2))
