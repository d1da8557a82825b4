"""Finds the similarity from which on two texts are on the same topic, for the judge `heuristic` and one's own texts."""

from __future__ import annotations

from collections.abc import Sequence

from regen.errors import InputError
from regen.judges.gather import on_one_line
from regen.models import embeddings
from regen.quotes import sentence_spans
from regen.types import Stance

Pair = tuple[str, str, Stance]
"""A claim, a document's text, and the stance that people saw in it."""


def calibrated(pairs: Sequence[Pair]) -> float:
    """The threshold that best tells documents on a claim's topic from irrelevant ones, in (0, 1), to two decimals.

    Best is the greatest macro-F1 of the two labels, supports and contradicts counting as one; of equals,
    the one in the middle.

    Args:
        pairs: Labelled by people; some hundred are enough.

    Raises:
        InputError: all pairs are irrelevant, or none is.
    """
    return best_threshold(measured(pairs))


def measured(pairs: Sequence[Pair]) -> list[tuple[float, bool]]:
    """For each pair, the greatest similarity of a sentence of the document, and whether people saw a stance in it."""
    embedder = embeddings.load()
    found = []
    for claim, text, stance in pairs:
        said = embedder.embed([on_one_line(text[start:end]) for start, end in sentence_spans(text)])
        similar = said @ embedder.embed([on_one_line(claim)])[0] if len(said) else [0.0]
        found.append((float(max(similar)), stance is not Stance.IRRELEVANT))
    return found


def best_threshold(similarities: Sequence[tuple[float, bool]]) -> float:
    """As `calibrated`, of what `measured` gives."""
    if len({on_topic for _, on_topic in similarities}) < 2:
        raise InputError("A threshold needs pairs that are irrelevant and pairs that are not: label more of them.")
    scores = {step / 100: macro_f1(similarities, step / 100) for step in range(1, 100)}
    best = [threshold for threshold, score in scores.items() if score == max(scores.values())]
    return best[len(best) // 2]


def macro_f1(similarities: Sequence[tuple[float, bool]], threshold: float) -> float:
    """Mean F1, in [0, 1], of being on the topic and of not being, by a threshold; 0 for no pairs."""
    hits = [(similar >= threshold, on_topic) for similar, on_topic in similarities]
    scores = []
    for label in (True, False):
        both = sum(found is meant is label for found, meant in hits)
        either = sum((found is label) + (meant is label) for found, meant in hits)
        scores.append(2 * both / either if either else 0.0)
    return sum(scores) / 2
