"""What a run shows of a judge: every figure in one object, worked out from the run's store alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from eval_conflictbench.metrics import UNJUDGED, ClassScores, Scores, scores
from eval_conflictbench.runner import CONFLICT, JUDGING, found, labels_of, meant, sides
from regen.output import Failure
from regen.runs import Run
from regen.types import ConflictReport, Record, Usage


class Said(Record):
    """What a judge took one document for."""

    document: str
    stance: str
    quote: str
    reason: str


class Miss(Record):
    """An item on which the judge and people do not agree, or that it judged only in part."""

    id: str
    dataset: str
    claim: str
    meant: str
    found: str
    sides: list[Said]
    causes: list[str] = Field(description="Why it, or one of its documents, could not be judged.")


class JudgeFigures(Record):
    """The figures of a run."""

    benchmark: str
    folder: str
    began: datetime
    complete: bool = Field(description="Whether nothing is left to do; else the figures are over what was done.")
    stopped: str | None = Field(description="Why it is not complete, where that is known.")
    judge: str
    n: int = Field(description="Items that were judged, or that the judge failed on.")
    of: int = Field(description="Items of the run.")
    unjudged: int = Field(description="Items that the judge failed on: never right.")
    partly_judged: int = Field(
        description="Items in which it found a conflict, though some of their documents could not be judged."
    )
    accuracy: float | None
    macro_f1: float | None = Field(description="Mean F1 of the labels that some item has.")
    precision: float | None = Field(description="Of the label `conflict`; null for single stances.")
    recall: float | None = Field(description="Of the label `conflict`; null for single stances.")
    f1: float | None = Field(description="Of the label `conflict`; null for single stances.")
    overall: Scores = Field(description="The same with 95% intervals.")
    classes: list[ClassScores] = Field(description="By label. The recall of one is the accuracy on its items.")
    confusion: dict[str, dict[str, int]] = Field(description="Counts by the label that is meant, then what was found.")
    datasets: dict[str, Scores] = Field(description="By dataset, where there are several.")
    pairs: int = Field(description="Claims times documents.")
    decided_by: dict[str, int] = Field(description="Pairs by the judge that decided them, where there are several.")
    pairs_per_second: float | None = Field(
        description="Over the time that items took one by one, waiting included; null where calls came of batches, or "
        "a run was gone on with."
    )
    lm_calls: int
    usage: Usage = Field(description="Of all calls of the run.")
    warnings: dict[str, int] = Field(description="What went wrong on the way, and for how many items.")
    notes: list[str]
    versions: list[str] = Field(description="Of regen, of every session, with the git commit where there is one.")
    config: dict[str, Any]


Printed = JudgeFigures | Failure
"""What `regen eval stance` and `conflictbench` print with --json, when all went well or not."""


class JudgeResults(JudgeFigures):
    """The figures, and every item that was judged otherwise than people did."""

    misses: list[Miss]


def results(run: Run, *, complete: bool, stopped: str | None, notes: Sequence[str] = ()) -> JudgeResults:
    """The figures of a run, finished or not."""
    items, finished, failures = run.items(), run.finished(), run.failures()
    outcomes: list[tuple[str, str]] = []
    datasets: dict[str, list[tuple[str, str]]] = {}
    misses: list[Miss] = []
    warnings: Counter[str] = Counter()
    decided_by: Counter[str] = Counter()
    pairs, partly, seconds = 0, 0, 0.0
    for name, data in items.items():
        done, failed = finished.get(name, {}).get(JUDGING), failures.get(name, {}).get(JUDGING)
        if done is None and failed is None:
            continue
        report = ConflictReport.model_validate(done.data["report"]) if done else ConflictReport()
        outcome = meant(data), found(data, report) if done else UNJUDGED
        outcomes.append(outcome)
        datasets.setdefault(data["dataset"], []).append(outcome)
        pairs, seconds = pairs + len(report.evidence), seconds + (done.usage.seconds if done else 0.0)
        decided_by.update(evidence.by for evidence in report.evidence if evidence.by)
        in_part = bool(report.unjudged)
        partly += in_part
        warnings.update({*report.warnings, *([failed.message] if failed else [])})
        causes = [failed.message] if failed else [f"{one.document_id}: {one.cause}" for one in report.unjudged]
        if outcome[0] != outcome[1] or in_part:
            misses.append(_miss(name, data, outcome, report, causes))
    labels = labels_of(next(iter(items.values())))
    overall = scores(outcomes, labels)
    conflict = next((one for one in overall.classes if one.label == CONFLICT), None)
    sessions, usage = run.sessions(), run.usage()
    versions = [f"{one.regen} ({one.git})" if one.git else one.regen for one in sessions]
    timed = seconds > 0 and len(sessions) == 1 and not run.batched()
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
        partly_judged=partly,
        accuracy=overall.accuracy.value,
        macro_f1=overall.macro_f1.value,
        precision=conflict.precision if conflict else None,
        recall=conflict.recall if conflict else None,
        f1=conflict.f1.value if conflict else None,
        overall=overall,
        classes=overall.classes,
        confusion=overall.confusion,
        datasets={name: scores(part, labels) for name, part in datasets.items()} if len(datasets) > 1 else {},
        pairs=pairs,
        decided_by=dict(decided_by.most_common()),
        pairs_per_second=pairs / seconds if timed else None,
        lm_calls=usage.calls,
        usage=usage,
        warnings=dict(warnings.most_common()),
        notes=list(notes),
        versions=list(dict.fromkeys(versions)),
        config=run.config,
        misses=misses,
    )


def _miss(name: str, data: dict[str, Any], outcome: tuple[str, str], report: ConflictReport, causes: list[str]) -> Miss:
    return Miss(
        id=name,
        dataset=data["dataset"],
        claim=data["claim"],
        meant=outcome[0],
        found=outcome[1],
        sides=[
            Said(document=one.document_id, stance=one.stance.value, quote=one.quote, reason=one.reason)
            for one in sides(report)
        ],
        causes=causes,
    )
