"""What a run shows of a judge: every figure in one object, worked out from the run's store alone."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from eval_conflictbench.metrics import UNJUDGED, ClassScores, Interval, Scores, scores
from eval_conflictbench.runner import CONFLICT, JUDGING, documents_of, found, labels_of, meant, sides
from regen.output import Failure
from regen.runs import Run
from regen.types import ConflictReport, Record, Usage


class Said(Record):
    """What a judge took one document for."""

    document: str
    stance: str
    quote: str


class Miss(Record):
    """An item on which the judge and people do not agree."""

    id: str
    dataset: str
    claim: str
    meant: str
    found: str
    sides: list[Said]
    cause: str | None = Field(description="Why it is unjudged.")


class JudgeFigures(Record):
    """The figures of a run. An interval is a 95% one."""

    benchmark: str
    folder: str
    began: datetime
    complete: bool = Field(description="Whether every item was judged; else the figures are over those that were.")
    stopped: str | None = Field(description="Why it is not complete, where that is known.")
    judge: str
    n: int = Field(description="Items that were judged, or that the judge failed on.")
    of: int = Field(description="Items of the run.")
    unjudged: int
    accuracy: float | None
    macro_f1: float | None = Field(description="Mean F1 of the labels that some item has.")
    precision: float | None = Field(description="Of the label `conflict`; null for single stances.")
    recall: float | None = Field(description="Of the label `conflict`; null for single stances.")
    f1: Interval | None = Field(description="Of the label `conflict`; null for single stances.")
    classes: list[ClassScores] = Field(description="By label. The recall of one is the accuracy on its items.")
    confusion: dict[str, dict[str, int]] = Field(description="Counts by the label that is meant, then what was found.")
    datasets: dict[str, Scores] = Field(description="The same by dataset, where there are several.")
    pairs: int = Field(description="Claims times documents.")
    pairs_per_second: float | None = Field(description="Over the time that items took, one after another.")
    lm_calls: int
    usage: Usage = Field(description="Of all calls of the run.")
    config: dict[str, Any]


Printed = JudgeFigures | Failure
"""What `regen eval stance` and `conflictbench` print with --json, when all went well or not."""


class JudgeResults(JudgeFigures):
    """The figures, and every item that was judged otherwise than people did."""

    misses: list[Miss]


def results(run: Run, *, complete: bool, stopped: str | None) -> JudgeResults:
    """The figures of a run, finished or not."""
    items, finished, failures = run.items(), run.finished(), run.failures()
    outcomes: list[tuple[str, str]] = []
    datasets: dict[str, list[tuple[str, str]]] = {}
    misses: list[Miss] = []
    pairs, seconds = 0, 0.0
    for name, data in items.items():
        done, failed = finished.get(name, {}).get(JUDGING), failures.get(name, {}).get(JUDGING)
        if done is None and failed is None:
            continue
        report = ConflictReport.model_validate(done.data["report"]) if done else None
        outcome = meant(data), found(data, report)
        outcomes.append(outcome)
        datasets.setdefault(data["dataset"], []).append(outcome)
        if done:
            pairs, seconds = pairs + len(documents_of(data)), seconds + done.usage.seconds
        if outcome[0] != outcome[1]:
            why = failed.message if failed else report.unjudged[0].cause if report and report.unjudged else None
            misses.append(_miss(name, data, outcome, report, why if outcome[1] == UNJUDGED else None))
    labels = labels_of(next(iter(items.values())))
    overall = scores(outcomes, labels)
    conflict = next((one for one in overall.classes if one.label == CONFLICT), None)
    usage = run.usage()
    return JudgeResults(
        benchmark=run.name,
        folder=str(run.folder),
        began=run.began,
        complete=complete,
        stopped=stopped,
        judge=run.config["judge"],
        n=overall.n,
        of=len(items),
        unjudged=overall.unjudged,
        accuracy=overall.accuracy.value,
        macro_f1=overall.macro_f1.value,
        precision=conflict.precision if conflict else None,
        recall=conflict.recall if conflict else None,
        f1=conflict.f1 if conflict else None,
        classes=overall.classes,
        confusion=overall.confusion,
        datasets={name: scores(part, labels) for name, part in datasets.items()} if len(datasets) > 1 else {},
        pairs=pairs,
        pairs_per_second=pairs / seconds if seconds else None,
        lm_calls=usage.calls,
        usage=usage,
        config=run.config,
        misses=misses,
    )


def _miss(
    name: str, data: dict[str, Any], outcome: tuple[str, str], report: ConflictReport | None, cause: str | None
) -> Miss:
    return Miss(
        id=name,
        dataset=data["dataset"],
        claim=data["claim"],
        meant=outcome[0],
        found=outcome[1],
        sides=[Said(document=one.document_id, stance=one.stance.value, quote=one.quote) for one in sides(report)],
        cause=cause,
    )
