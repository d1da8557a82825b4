"""What a run shows of reports: every figure in one object, worked out from the run's store alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from eval_reports.metrics import Figure, Paired, Row, Setting, figure, paired
from eval_reports.runner import rows, warnings
from regen.errors import InputError
from regen.output import Failure
from regen.runs import Run
from regen.types import Record, Usage


class FailedReport(Record):
    """A setting of an item that has no report, or none that could be scored, and why."""

    id: str
    setting: str
    message: str


class ReportFigures(Record):
    """The figures of a run. An interval is a 95% one."""

    benchmark: str
    folder: str
    began: datetime
    complete: bool = Field(description="Whether nothing is left to do; else the figures are over what was done.")
    stopped: str | None = Field(description="Why it is not complete, where that is known.")
    n: int = Field(description="Items that something was written for, or failed.")
    of: int = Field(description="Items of the run.")
    settings: list[Figure]
    pairs: list[Paired] = Field(description="Each setting against `plain`.")
    rewritten: int = Field(description="Items whose plain report documents contradict, so that it was written again.")
    kept: int = Field(description="Those of which the report that was written again was kept.")
    failures: list[FailedReport]
    provider_failed: bool = Field(description="Whether a model failed for good; else it was the items.")
    unjudged: int = Field(description="Items of which some documents could not be judged for some report.")
    warnings: dict[str, int] = Field(description="What went wrong on the way, and for how many items.")
    usage: Usage = Field(description="Of all calls of the run.")
    notes: list[str]
    versions: list[str] = Field(description="Of regen, of every session, with the git commit where there is one.")
    config: dict[str, Any]


Printed = ReportFigures | Failure
"""What `regen eval reports` prints with --json, when all went well or not."""


class ReportResults(ReportFigures):
    """The figures, and every report that they come from."""

    rows: list[Row]


def results(
    run: Run, settings: Sequence[Setting], *, complete: bool, stopped: str | None, notes: Sequence[str] = ()
) -> ReportResults:
    """The figures of a run, finished or not."""
    found, seed = rows(run, settings), int(run.config.get("seed", 0))
    others = [name for name in settings if name != "plain"] if "plain" in settings else []
    versions = [f"{one.regen} ({one.git})" if one.git else one.regen for one in run.sessions()]
    return ReportResults(
        benchmark=run.name,
        folder=str(run.folder),
        began=run.began,
        complete=complete,
        stopped=None if complete else stopped,
        n=len(found),
        of=run.counts()[0],
        settings=[figure(found, name, seed) for name in settings],
        pairs=[paired(found, "plain", name, seed) for name in others],
        rewritten=sum(bool(row.rewritten) for row in found),
        kept=sum(bool(row.kept) for row in found),
        failures=[
            FailedReport(id=row.id, setting=name, message=why) for row in found for name, why in row.errors.items()
        ],
        provider_failed=any(
            failed.exit_code != InputError.exit_code for stages in run.failures().values() for failed in stages.values()
        ),
        unjudged=sum(any(report.unjudged for report in row.reports.values()) for row in found),
        warnings=dict(Counter(warnings(run)).most_common()),
        usage=run.usage(),
        notes=list(notes),
        versions=list(dict.fromkeys(versions)),
        config=run.config,
        rows=found,
    )
