"""How well a judge agrees with people: pure functions over pairs of what was meant and what was found.

An interval is a 95% one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from regen.types import Record

UNJUDGED = "unjudged"

_RESAMPLES = 2000


class Interval(Record):
    """A figure in [0, 1] with its interval; null where there is nothing to work it out from."""

    value: float | None
    low: float | None = None
    high: float | None = None


class ClassScores(Record):
    """One label: how many have it, and how well it is found. Precision is null where it never is."""

    label: str
    n: int
    precision: float | None
    recall: float | None = Field(description="As well the accuracy on the items of this label.")
    f1: Interval


class Scores(Record):
    """Agreement over some items."""

    n: int
    unjudged: int = Field(description="Items that the judge failed on: never right, and never taken for a label.")
    accuracy: Interval
    macro_f1: Interval = Field(description="Mean F1 of the labels that some item has.")
    classes: list[ClassScores]
    confusion: dict[str, dict[str, int]] = Field(description="Counts by the label that is meant, then what was found.")


def scores(outcomes: Sequence[tuple[str, str]], labels: Sequence[str]) -> Scores:
    """Precision, recall and F1 by label, their mean, and accuracy.

    Args:
        outcomes: What is meant, one of `labels`, and what was found: one of them, or `UNJUDGED`.
        labels: In the order in which they are to be shown.

    Returns:
        The scores; all null where nothing was judged. Intervals are percentile bootstraps over items (Efron and
        Tibshirani 1993, chapter 13), 2,000 resamples; the F1 of a label that a resample happens to lack is 0 there.
    """
    counts = Counter(outcomes)
    # Where a judge failed on every item, it is not known how good it is: that is no 0.
    judged = any(guess != UNJUDGED for _, guess in outcomes)
    resampled = _resampled(outcomes, labels) if judged else {}
    classes = []
    for label in labels:
        meant = sum(count for (gold, _), count in counts.items() if gold == label)
        guessed = sum(count for (_, guess), count in counts.items() if guess == label)
        right = counts[label, label]
        classes.append(
            ClassScores(
                label=label,
                n=meant,
                precision=right / guessed if guessed else None,
                recall=right / meant if meant and judged else None,
                f1=_interval(2 * right / (meant + guessed) if meant and judged else None, resampled.get(label)),
            )
        )
    there = [one.f1.value for one in classes if one.f1.value is not None]
    right = sum(count for (gold, guess), count in counts.items() if gold == guess)
    return Scores(
        n=len(outcomes),
        unjudged=sum(guess == UNJUDGED for _, guess in outcomes),
        accuracy=_interval(right / len(outcomes) if judged else None, resampled.get("accuracy")),
        macro_f1=_interval(sum(there) / len(there) if there else None, resampled.get("macro")),
        classes=classes,
        confusion={gold: {guess: counts[gold, guess] for guess in (*labels, UNJUDGED)} for gold in labels},
    )


def _interval(value: float | None, drawn: Sequence[float] | None) -> Interval:
    if value is None or drawn is None:
        return Interval(value=value)
    import numpy

    low, high = numpy.percentile(drawn, [2.5, 97.5])
    return Interval(value=value, low=float(low), high=float(high))


def _resampled(outcomes: Sequence[tuple[str, str]], labels: Sequence[str]) -> dict[str, Sequence[float]]:
    """Accuracy, macro-F1 and each label's F1 over resamples: the counts of resampled items are multinomial."""
    import numpy

    cells = sorted(set(outcomes))
    shares = numpy.array([outcomes.count(cell) for cell in cells]) / len(outcomes)
    drawn = numpy.random.default_rng(0).multinomial(len(outcomes), shares, size=_RESAMPLES)
    right = numpy.array([gold == guess for gold, guess in cells])
    found: dict[str, Sequence[float]] = {"accuracy": drawn[:, right].sum(axis=1) / len(outcomes)}
    f1 = {}
    for label in labels:
        meant = drawn[:, [gold == label for gold, _ in cells]].sum(axis=1)
        guessed = drawn[:, [guess == label for _, guess in cells]].sum(axis=1)
        both = drawn[:, [gold == guess == label for gold, guess in cells]].sum(axis=1)
        if any(gold == label for gold, _ in cells):
            f1[label] = 2 * both / numpy.maximum(meant + guessed, 1)
    return {**found, **f1, "macro": numpy.mean(list(f1.values()), axis=0)}
