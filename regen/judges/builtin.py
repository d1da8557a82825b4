"""The judge that ships with regen: a small cross-encoder, made by `training/`, that needs no language model."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from regen.judges.nli import NLIJudge


class BuiltinJudge(NLIJudge):
    """An NLI judge with regen's own model; `training/README.md` says what it learned from and what it cannot do."""

    takes = None
    # To try each sentence of a window for the quote would take as long as the window.
    quotable = 4

    def __init__(self) -> None:
        super().__init__(str(Path(str(files("regen.judges"))) / "builtin_model"))
