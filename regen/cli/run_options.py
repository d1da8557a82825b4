"""Options that the commands of evaluations share: where a run is kept, what it may cost, and how it is worked on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

_RUN = "Run"

RunFolder = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="DIR",
        help="Folder of the run: a new one, or one to go on with. Without it, a new one below runs/.",
        rich_help_panel=_RUN,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        min=0.0,
        help="End the run when all of its sessions have cost this much (exit code 5).",
        rich_help_panel=_RUN,
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(
        "--max-calls",
        metavar="N",
        min=1,
        help="End the run after this many calls in all of its sessions (exit code 5).",
        rich_help_panel=_RUN,
    ),
]
Batch = Annotated[
    bool,
    typer.Option(
        "--batch",
        help="Send the calls through the endpoint's Batch API: for about half the price, and each round of them may "
        "take up to 24 hours. A run may change between both ways.",
        rich_help_panel=_RUN,
    ),
]
Engine = Annotated[
    Literal["threads", "ray"],
    typer.Option(
        "--engine",
        help="Where answers are made and judged: in this process, or on a Ray cluster: that of RAY_ADDRESS or of this "
        "machine, else a new one here. All its machines need regen with the extra 'ray', and must reach the model; "
        "searches and the run stay here. --concurrency is then over the whole cluster.",
        rich_help_panel=_RUN,
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        metavar="N",
        min=1,
        max=256,
        help="Model calls at the same time (default 8).",
        rich_help_panel=_RUN,
    ),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Ask again what failed before.", rich_help_panel=_RUN)
]
