"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def _without_color(given: bool) -> None:
    if given:
        os.environ["NO_COLOR"] = "1"


Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help="Model that answers: 'embedded', a .gguf file, or PROVIDER/NAME (openai/gpt-4.1-mini)."
    ),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="Model that judges; the answering one if not given.")
]
ApiBase = Annotated[
    str | None, typer.Option("--api-base", help="Address of an OpenAI-compatible API (http://localhost:8000/v1).")
]
JudgeName = Annotated[
    str | None,
    typer.Option("--judge", help="How answers are checked: lm, contrast, or auto, the better one for the model."),
]
Docs = Annotated[Path | None, typer.Option("--docs", help="Folder of documents (md, txt, html, pdf, docx).")]
K = Annotated[
    int | None, typer.Option("-k", metavar="N", min=1, max=100, help="How many documents to read (default 10).")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="A document that supports only part of a claim does not support it.")
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Seed of the model and of every shuffle (default 0).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, whatever happens.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer alone, and no progress.")]
# Every console that is made afterwards goes by the variable.
NoColor = Annotated[
    bool,
    typer.Option("--no-color", is_eager=True, callback=_without_color, help="No colours; NO_COLOR=1 does the same."),
]


def is_text(given: str) -> bool:
    """Whether it is not blank, and without bytes that are no UTF-8, which Python keeps as lone surrogates."""
    return bool(given.strip()) and not any("\ud800" <= sign <= "\udfff" for sign in given)
