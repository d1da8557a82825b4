"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Model that answers: a DSPy model string, 'embedded', or a .gguf file."),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="Model that judges; the answering one if not given.")
]
ApiBase = Annotated[str | None, typer.Option("--api-base", help="Address of an OpenAI-compatible API.")]
JudgeName = Annotated[str | None, typer.Option("--judge", help="Judge: auto, lm or contrast.")]
Docs = Annotated[Path | None, typer.Option("--docs", help="Folder of documents (md, txt, html, pdf, docx).")]
Strict = Annotated[
    bool, typer.Option("--strict", help="A document that supports only part of a claim does not support it.")
]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the model and of every shuffle.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, whatever happens.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer alone, and no progress.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours. NO_COLOR=1 does the same.")]
