"""`regen eval calibrate`: the similarity threshold of the judge `heuristic`, for one's own documents."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import typer

from eval_conflictbench.command import Data
from regen.errors import InputError
from regen.types import Stance

# Fewer of a label in a half, and chance chooses the threshold.
_LEAST = 10


def calibrate(
    data: Data,
    format: Annotated[
        Literal["plain", "factcheck", "healthver", "climate_fever"],
        typer.Option("--format", help='plain: {"claim", "document", "stance"}; else the lines of a known set.'),
    ] = "plain",
) -> None:
    """Find the similarity threshold of the judge heuristic that fits your own documents, from labelled stances.

    The threshold is chosen on about half of the pairs, those whose ids have an
    even hash, as the one that best tells irrelevant documents from the others;
    how well it does is measured on the rest. Give it to the judge after a colon.
    """
    from eval_conflictbench.data import PAIRS, load
    from regen.cli.terminal import console
    from regen.judges.calibration import best_threshold, macro_f1, measured
    from regen.judges.heuristic import THRESHOLD
    from regen.reporting import percent

    pairs = load(data, format, PAIRS)
    halves = [[pair for pair in pairs if _half(pair.id) == half] for half in (0, 1)]
    for half in halves:
        on_topic = sum(pair.stance is not Stance.IRRELEVANT for pair in half)
        if min(on_topic, len(half) - on_topic) < _LEAST:
            raise InputError(
                f"Of the {len(pairs)} pairs of {data}, one half has {on_topic} that are on the topic and "
                f"{len(half) - on_topic} that are irrelevant, where {_LEAST} of each are needed: label more of them, "
                "some hundred in all."
            )
    chosen, other = (measured([(pair.claim, pair.document.text, pair.stance) for pair in half]) for half in halves)
    threshold = best_threshold(chosen)
    out = console()
    out.print(f"Threshold {threshold:.2f}, chosen on {len(chosen)} pairs: --judge heuristic:{threshold:.2f}")
    found, default = (percent(macro_f1(other, one)) for one in (threshold, THRESHOLD))
    out.print(
        f"Macro-F1 of on the topic or not, on {len(other)} other pairs: {found}; with {THRESHOLD} it is {default}.",
        soft_wrap=True,
    )


def _half(name: str) -> int:
    return hashlib.sha256(name.encode()).digest()[-1] % 2
