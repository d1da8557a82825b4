"""Options that the commands for questions with choices share."""

from __future__ import annotations

from typing import Annotated

import typer

SettingNames = Annotated[
    str,
    typer.Option(
        "--settings",
        metavar="NAMES",
        show_default="all",
        help="What is compared, with commas: closed (no documents), rag, control (a prompt that asks for care), "
        "regenerated (with rag, whose answer it begins with).",
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N questions.")]
BothOrders = Annotated[
    bool,
    typer.Option(
        "--both-orders",
        help="Ask each question in both orders of its choices, where the model gives no log-probabilities.",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option("--max-rounds", metavar="N", min=0, max=10, help="How often to answer again at most (default 1)."),
]
ALL_SETTINGS = "closed,rag,control,regenerated"


def names(given: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in given.split(",") if part.strip()]
