"""What a run of an evaluation shows: every figure in one object, worked out from the run's store alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from eval_truthfulqa import metrics
from eval_truthfulqa.metrics import Accuracy, Bin, Cost, Group, Paired, Position, Regeneration, Row
from eval_truthfulqa.runner import RETRIEVAL, rows
from regen.errors import InputError
from regen.output import Failure
from regen.runs import Run, Session
from regen.types import Record, Usage

# What is compared with what, where both were asked.
_PAIRS = (("rag", "regenerated"), ("control", "regenerated"), ("rag", "control"), ("closed", "rag"))


class FailedSetting(Record):
    """A setting of an item that was not answered, and why."""

    id: str
    setting: str
    message: str


class Retrieval(Record):
    """What the items were given to read."""

    documents: float = Field(description="An item, on average.")
    without: int = Field(description="Items for which nothing was found.")
    excluded: list[str] = Field(
        description="Addresses that were found and taken out: of excluded sites, or with the answers."
    )
    warnings: dict[str, int] = Field(description="What went wrong on the way, and for how many items.")


class Figures(Record):
    """The figures of a run, as `regen eval` prints them with --json. An interval is a 95% one."""

    benchmark: str
    folder: str
    began: datetime
    complete: bool = Field(description="Whether every item was asked; else the figures are over those that were.")
    stopped: str | None = Field(description="Why it is not complete, where that is known.")
    n: int = Field(description="Items that were asked.")
    of: int = Field(description="Items of the run.")
    accuracy: dict[str, float | None] = Field(description="By setting, over the items that it answered.")
    n_conflict: int
    improve_rate: float | None
    harm_rate: float | None
    p_value: float | None = Field(description="McNemar's exact test of `regenerated` against `rag`.")
    usage: Usage = Field(description="Of the whole run, unfinished stages with it. Its seconds are those of all items.")
    settings: list[Accuracy]
    regeneration: Regeneration | None
    pairs: list[Paired]
    categories: list[Group]
    types: list[Group]
    calibration: list[Bin]
    positions: list[Position]
    costs: list[Cost]
    retrieval: Retrieval | None
    failures: list[FailedSetting]
    provider_failed: bool = Field(description="Whether a model or a search failed for good; else it was the items.")
    unjudged: int = Field(description="Items of which some documents could not be judged.")
    cs_r: tuple[float, float] | None = Field(description="Mean CS-R of the first answers, and of those kept.")
    cs_r_weighted: tuple[float, float] | None = Field(
        description="The same by the documents' weights; null where credibility is off."
    )
    versions: list[str] = Field(description="Versions of regen that worked on the run; figures of several are mixed.")
    notes: list[str] = Field(description="What a reader of the figures should know.")
    config: dict[str, Any]


class Results(Figures):
    """What `results.json` holds: the figures of a run, and the items that they come from."""

    rows: list[Row]


Printed = Figures | Failure
"""What `regen eval` prints with --json, when all went well or not."""


def results(
    run: Run, settings: Sequence[str], *, complete: bool, stopped: str | None = None, notes: Sequence[str] = ()
) -> Results:
    """The figures of a run, finished or not.

    Args:
        run: Its store.
        settings: Those that were asked, in order.
        complete: Whether nothing is left to do (`eval_truthfulqa.runner.complete`).
        stopped: Why not.
        notes: What else a reader should know.
    """
    found = rows(run, settings)
    seed = int(run.config.get("seed", 0))
    pairs = [
        metrics.paired(found, before, after, seed=seed)
        for before, after in _PAIRS
        if before in settings and after in settings
    ]
    again = metrics.regeneration(found) if "regenerated" in settings else None
    used = [usage.seconds for row in found for name, usage in row.usage.items() if _own(name, settings)]
    accuracies = [metrics.accuracy(found, setting) for setting in settings]
    return Results(
        benchmark=run.name,
        folder=str(run.folder),
        began=run.began,
        complete=complete,
        stopped=None if complete else stopped,
        n=len(found),
        of=run.counts()[0],
        accuracy={accuracy.setting: accuracy.answered.share for accuracy in accuracies},
        n_conflict=again.conflict.count if again else 0,
        improve_rate=again.improve.share if again else None,
        harm_rate=again.harm.share if again else None,
        p_value=next((pair.p_value for pair in pairs if (pair.before, pair.after) == _PAIRS[0]), None),
        usage=run.usage().model_copy(update={"seconds": round(sum(used), 3)}),
        settings=accuracies,
        regeneration=again,
        pairs=pairs,
        categories=metrics.groups(found, settings, lambda row: row.category),
        types=metrics.groups(found, settings, lambda row: row.type),
        calibration=metrics.calibration(found),
        positions=[place for setting in settings if (place := metrics.position(found, setting)) is not None],
        costs=[cost for setting in settings if (cost := metrics.cost(found, setting)) is not None],
        retrieval=_retrieval(run),
        failures=[
            FailedSetting(id=row.id, setting=setting, message=message)
            for row in found
            for setting, message in row.errors.items()
        ],
        provider_failed=any(
            failed.exit_code != InputError.exit_code for stages in run.failures().values() for failed in stages.values()
        ),
        unjudged=sum(row.unjudged > 0 for row in found),
        cs_r=metrics.cs_r_means(found),
        cs_r_weighted=metrics.cs_r_weighted_means(found),
        versions=list(dict.fromkeys(_version(session) for session in run.sessions())),
        notes=list(notes),
        config=run.config,
        rows=found,
    )


def _version(session: Session) -> str:
    return session.regen + (f" ({session.git})" if session.git else "")


def _own(setting: str, settings: Sequence[str]) -> bool:
    """Whether a setting's usage is not part of another one's: that of `rag` is part of `regenerated`."""
    return not (setting == "rag" and "regenerated" in settings)


def _retrieval(run: Run) -> Retrieval | None:
    kept = [stages[RETRIEVAL].data for stages in run.finished().values() if RETRIEVAL in stages]
    if not kept:
        return None
    warnings = [warning for data in kept for warning in dict.fromkeys(data["warnings"])]
    return Retrieval(
        documents=sum(len(data["documents"]) for data in kept) / len(kept),
        without=sum(not data["documents"] for data in kept),
        excluded=sorted({url for data in kept for url in data["excluded"]}),
        warnings={warning: warnings.count(warning) for warning in dict.fromkeys(warnings)},
    )
