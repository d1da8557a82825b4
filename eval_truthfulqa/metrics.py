"""The figures of a binary-choice evaluation: pure functions over rows, one row an item.

An interval is a 95% one. Statistics come from SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import Field

from regen.types import Record, Usage

Setting = Literal["closed", "rag", "control", "regenerated"]
SETTINGS: tuple[Setting, ...] = ("closed", "rag", "control", "regenerated")

_RESAMPLES = 9999
# Upper ends of the bins of CS-R; the first one holds answers that nothing contradicts.
BINS = (0.0, 0.25, 0.5, 0.75, 1.0)


class Row(Record):
    """One item. Choices are indexes into the item's own list, whatever order they were shown in."""

    id: str
    right: int
    category: str = ""
    type: str = ""
    answers: dict[str, int] = Field(default={}, description="What was chosen, by setting; none where it failed.")
    reversed: dict[str, int] = Field(default={}, description="What was chosen with the choices in the other order.")
    shown_first: int = Field(default=0, description="The choice that stood first, in `answers`.")
    shown_last: int = Field(default=1, description="The one that stood last: in `reversed` it stood first.")
    conflict: bool | None = Field(
        default=None, description="Whether the first answer's claim was in conflict; null where it was not scored."
    )
    cs_r: float | None = Field(default=None, description="CS-R of the first answer; null where it was not scored.")
    cs_r_kept: float | None = Field(default=None, description="CS-R of the answer that was kept.")
    cs_r_weighted: float | None = Field(
        default=None, description="CS-R of the first answer by the documents' weights; null where credibility is off."
    )
    cs_r_weighted_kept: float | None = Field(default=None, description="That of the answer that was kept.")
    unjudged: int = Field(default=0, description="Documents that could not be judged.")
    usage: dict[str, Usage] = {}
    errors: dict[str, str] = Field(
        default={}, description='Why it failed, by setting; "<setting> reversed" with the choices in the other order.'
    )

    def correct(self, setting: str) -> bool | None:
        """Whether a setting's answer is right; None where there is none."""
        return self.answers[setting] == self.right if setting in self.answers else None


class Share(Record):
    """A part of some items, with its Wilson interval; all null over no items."""

    count: int
    of: int
    share: float | None
    low: float | None
    high: float | None


class Accuracy(Record):
    """How often a setting is right."""

    setting: str
    answered: Share = Field(description="Over the items that it answered.")
    all: Share = Field(description="Over all that were asked: one that failed is not right.")
    failed: int


class Paired(Record):
    """Two settings over the items that both answered."""

    before: str
    after: str
    n: int
    mended: int = Field(description="Wrong before, right after.")
    spoiled: int = Field(description="Right before, wrong after.")
    difference: float | None = Field(description="Accuracy after minus accuracy before.")
    low: float | None
    high: float | None
    p_value: float = Field(description="McNemar's exact test, two-sided.")


class Regeneration(Record):
    """What answering again did."""

    conflict: Share = Field(description="Items with a detected conflict, of those that were scored.")
    improve: Share = Field(description="Mended, of the items in conflict whose first answer was wrong.")
    harm: Share = Field(description="Spoiled, of the items in conflict whose first answer was right.")
    net: float | None = Field(description="Mended minus spoiled, over the items in conflict.")
    mended_elsewhere: int = Field(description="Mended where every document contradicts the first answer: no conflict.")
    spoiled_elsewhere: int


class Group(Record):
    """The items of one category or type."""

    name: str
    n: int
    accuracy: dict[str, Share]
    regeneration: Regeneration


class Bin(Record):
    """First answers whose CS-R lies in a range, and how often they are right."""

    low: float
    high: float
    right: Share


class Position(Record):
    """What a setting owes to the place of an option, from asking each item in both orders."""

    setting: str
    same: Share = Field(description="Items with the same choice in both orders.")
    first: Share = Field(description="Askings that chose the option shown first: half, where place says nothing.")
    both_right: Share = Field(description="Items that are right in both orders.")
    accuracy: Share = Field(description="Right answers of all askings. The two of an item are not independent.")


class Cost(Record):
    """What one item took on average in a setting, over the items that it answered; documents' retrieval apart."""

    setting: str
    calls: float
    prompt_tokens: float
    cached_tokens: float
    completion_tokens: float
    cost_usd: float | None
    seconds: float


def share(flags: Iterable[bool]) -> Share:
    """How many of `flags` are true, with Wilson's interval.

    Wilson (1927), *Probable inference, the law of succession, and statistical inference*; Brown, Cai and DasGupta
    (2001) on why it and not the normal one.
    """
    found = list(flags)
    if not found:
        return Share(count=0, of=0, share=None, low=None, high=None)
    from scipy.stats import binomtest

    interval = binomtest(sum(found), len(found)).proportion_ci(0.95, method="wilson")
    low, high = float(interval.low), float(interval.high)
    return Share(count=sum(found), of=len(found), share=sum(found) / len(found), low=low, high=high)


def accuracy(rows: Sequence[Row], setting: str) -> Accuracy:
    """The share of right answers, over the items answered, and over these and those that failed.

    An item that a run which was stopped has not come to is neither.
    """
    marks = [row.correct(setting) for row in rows if setting in row.answers or setting in row.errors]
    return Accuracy(
        setting=setting,
        answered=share(mark for mark in marks if mark is not None),
        all=share(bool(mark) for mark in marks),
        failed=sum(mark is None for mark in marks),
    )


def cs_r_means(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The mean CS-R of first answers and of those that were kept; None where none was scored."""
    return _means((row.cs_r, row.cs_r_kept) for row in rows)


def cs_r_weighted_means(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The same of weighted CS-R; None where credibility was off."""
    return _means((row.cs_r_weighted, row.cs_r_weighted_kept) for row in rows)


def _means(pairs: Iterable[tuple[float | None, float | None]]) -> tuple[float, float] | None:
    scored = [(first, kept) for first, kept in pairs if first is not None and kept is not None]
    if not scored:
        return None
    first, kept = zip(*scored, strict=True)
    return math.fsum(first) / len(scored), math.fsum(kept) / len(scored)


def mcnemar(mended: int, spoiled: int) -> float:
    """The two-sided p-value of McNemar's exact test: the binomial test that either change is as likely.

    McNemar (1947); exact rather than by chi-square, since few items change. 1 where none does.
    """
    if mended + spoiled == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(min(mended, spoiled), mended + spoiled, 0.5).pvalue)


def paired(rows: Sequence[Row], before: str, after: str, *, seed: int = 0) -> Paired:
    """Two settings over the items that both answered: what changed, McNemar's test, and the difference in accuracy.

    The difference's interval is a percentile bootstrap over items (Efron and Tibshirani 1993, chapter 13), 9,999
    resamples drawn by `seed`.
    """
    pairs = [
        (was, now)
        for row in rows
        if (was := row.correct(before)) is not None and (now := row.correct(after)) is not None
    ]
    steps = [int(now) - int(was) for was, now in pairs]
    mended, spoiled = steps.count(1), steps.count(-1)
    low, high = _bootstrap(steps, seed)
    return Paired(
        before=before,
        after=after,
        n=len(pairs),
        mended=mended,
        spoiled=spoiled,
        difference=(mended - spoiled) / len(pairs) if pairs else None,
        low=low,
        high=high,
        p_value=mcnemar(mended, spoiled),
    )


def regeneration(rows: Sequence[Row]) -> Regeneration:
    """Improve rate and harm rate of `regenerated` over `rag`, over the items with a detected conflict only.

    Improve rate: of those whose first answer was wrong, the share that the second gets right. Harm rate: of those
    whose first answer was right, the share that the second gets wrong (Liu et al. 2026, *ConflictScore*).
    """
    judged = [row for row in rows if row.conflict is not None and {"rag", "regenerated"} <= row.answers.keys()]
    inside = [row for row in judged if row.conflict]
    improve = share(bool(row.correct("regenerated")) for row in inside if not row.correct("rag"))
    harm = share(not row.correct("regenerated") for row in inside if row.correct("rag"))
    outside = paired([row for row in judged if not row.conflict], "rag", "regenerated")
    return Regeneration(
        conflict=share(bool(row.conflict) for row in judged),
        improve=improve,
        harm=harm,
        net=(improve.count - harm.count) / len(inside) if inside else None,
        mended_elsewhere=outside.mended,
        spoiled_elsewhere=outside.spoiled,
    )


def groups(rows: Sequence[Row], settings: Sequence[str], of: Callable[[Row], str]) -> list[Group]:
    """The same figures for each category or type, by name; none where items have none."""
    names = sorted({of(row) for row in rows} - {""})
    parts = {name: [row for row in rows if of(row) == name] for name in names}
    return [
        Group(
            name=name,
            n=len(part),
            accuracy={setting: accuracy(part, setting).answered for setting in settings},
            regeneration=regeneration(part),
        )
        for name, part in parts.items()
    ]


def calibration(rows: Sequence[Row]) -> list[Bin]:
    """How often `rag` is right, by the CS-R of its answer; bins without an answer are left out.

    The first bin is CS-R = 0, the others are open below and closed above. A score that tells right answers from wrong
    ones falls from bin to bin.
    """
    found = []
    lowest = -1.0
    for low, high in zip((0.0, *BINS[:-1]), BINS, strict=True):
        marks = [row.correct("rag") for row in rows if row.cs_r is not None and lowest < row.cs_r <= high]
        right = share(mark for mark in marks if mark is not None)
        if right.of:
            found.append(Bin(low=low, high=high, right=right))
        lowest = high
    return found


def position(rows: Sequence[Row], setting: str) -> Position | None:
    """What the place of an option does to a setting; None where no item was asked in both orders."""
    both = [row for row in rows if setting in row.answers and setting in row.reversed]
    if not both:
        return None
    askings = [(row.answers[setting], row.shown_first, row.right) for row in both]
    askings += [(row.reversed[setting], row.shown_last, row.right) for row in both]
    return Position(
        setting=setting,
        same=share(row.answers[setting] == row.reversed[setting] for row in both),
        first=share(chosen == first for chosen, first, _ in askings),
        both_right=share(row.answers[setting] == row.right == row.reversed[setting] for row in both),
        accuracy=share(chosen == right for chosen, _, right in askings),
    )


def cost(rows: Sequence[Row], setting: str) -> Cost | None:
    """The mean usage of one item, asked in one order; None where no item was answered."""
    return mean_cost(setting, [row.usage[setting] for row in rows if setting in row.answers and setting in row.usage])


def mean_cost(setting: str, used: Sequence[Usage]) -> Cost | None:
    """The mean of usages, each of one item; None of none."""
    if not used:
        return None
    prices = [usage.cost_usd for usage in used if usage.cost_usd is not None]

    def mean(values: Iterable[float]) -> float:
        return math.fsum(values) / len(used)

    return Cost(
        setting=setting,
        calls=mean(usage.calls for usage in used),
        prompt_tokens=mean(usage.prompt_tokens for usage in used),
        cached_tokens=mean(usage.cached_tokens for usage in used),
        completion_tokens=mean(usage.completion_tokens for usage in used),
        cost_usd=mean(prices) if len(prices) == len(used) else None,
        seconds=mean(usage.seconds for usage in used),
    )


def _bootstrap(steps: Sequence[int], seed: int) -> tuple[float | None, float | None]:
    if not steps:
        return None, None
    if len(set(steps)) == 1:
        # Every resample is the same, and SciPy wants two values at least.
        return float(steps[0]), float(steps[0])
    import numpy
    from scipy.stats import bootstrap

    interval = bootstrap(
        (numpy.array(steps),),
        numpy.mean,
        n_resamples=_RESAMPLES,
        batch=1000,
        confidence_level=0.95,
        method="percentile",
        rng=numpy.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)
