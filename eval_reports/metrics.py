"""The figures of an evaluation of reports: pure functions over rows, one row an item. An interval is a 95% one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import Field

from eval_truthfulqa.metrics import Cost, bootstrapped, mean_cost
from regen.types import Record, Usage

Setting = Literal["plain", "balanced", "super-balanced", "rewritten"]
SETTINGS: tuple[Setting, ...] = ("plain", "balanced", "super-balanced", "rewritten")


class Scored(Record):
    """One report, scored."""

    text: str
    cs_c: float
    cs_r: float
    claims: int
    in_conflict: int
    unverified: int
    unjudged: int = Field(description="Documents that could not be judged.")
    usage: Usage = Field(description="Of writing and scoring it; that of `rewritten` has that of `plain` in it.")


class Row(Record):
    """One item: its reports by setting, none where it failed, and why it did."""

    id: str
    topic: str
    category: str = ""
    reports: dict[str, Scored] = {}
    rewritten: bool | None = Field(
        default=None, description="Whether the plain report was written again; null without the setting `rewritten`."
    )
    kept: bool | None = Field(default=None, description="Whether what was written again took its place.")
    errors: dict[str, str] = {}


class Mean(Record):
    """A mean over items with its bootstrap interval; all null over no items."""

    mean: float | None
    low: float | None
    high: float | None


class Figure(Record):
    """One setting, over the items whose reports were scored."""

    setting: str
    n: int
    failed: int
    cs_c: Mean
    cs_r: Mean
    claims: float | None = Field(description="An item, on average.")
    unverified: float | None = Field(description="An item, on average: claims that no document takes a side on.")
    without_claims: int = Field(description="Reports in which no claim was found: their scores are 0.")
    cost: Cost | None


class Paired(Record):
    """Two settings over the items of which both have a report: differences are after minus before."""

    before: str
    after: str
    n: int
    cs_c: Mean
    cs_r: Mean


def mean(values: Sequence[float], seed: int = 0) -> Mean:
    """The mean, with the interval of `eval_truthfulqa.metrics.bootstrapped`."""
    low, high = bootstrapped(values, seed)
    return Mean(mean=_mean(values), low=low, high=high)


def figure(rows: Sequence[Row], setting: str, seed: int = 0) -> Figure:
    """The scores of a setting, and what it took."""
    found = [row.reports[setting] for row in rows if setting in row.reports]
    return Figure(
        setting=setting,
        n=len(found),
        failed=sum(setting in row.errors for row in rows),
        cs_c=mean([one.cs_c for one in found], seed),
        cs_r=mean([one.cs_r for one in found], seed),
        claims=_mean([one.claims for one in found]),
        unverified=_mean([one.unverified for one in found]),
        without_claims=sum(one.claims == 0 for one in found),
        cost=mean_cost(setting, [one.usage for one in found]),
    )


def paired(rows: Sequence[Row], before: str, after: str, seed: int = 0) -> Paired:
    """How the scores of two settings differ, item by item."""
    pairs = [(row.reports[before], row.reports[after]) for row in rows if {before, after} <= row.reports.keys()]

    def difference(score: Callable[[Scored], float]) -> Mean:
        return mean([score(now) - score(was) for was, now in pairs], seed)

    return Paired(
        before=before,
        after=after,
        n=len(pairs),
        cs_c=difference(lambda one: one.cs_c),
        cs_r=difference(lambda one: one.cs_r),
    )


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return math.fsum(found) / len(found) if found else None
