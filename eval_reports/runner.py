"""An evaluation of reports: what each setting writes about an item, and the rows of figures that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from eval_reports.data import ReportItem
from eval_reports.metrics import SETTINGS, Row, Scored, Setting
from regen.errors import InputError
from regen.journal import Ledger
from regen.program import not_judged, result_of
from regen.report import ReportWriter, Style
from regen.runner import Stage
from regen.runs import Run
from regen.types import ConflictReport, Usage

MakeWriter = Callable[[Style, bool], ReportWriter]
"""Makes the writer of one item: in a style, and whether it writes again."""


def in_order(settings: Sequence[str]) -> list[Setting]:
    """The settings that are named, in their usual order, with `plain` where `rewritten` is, which begins with it.

    Raises:
        InputError: there is no such setting, or none is named.
    """
    unknown = next((name for name in settings if name not in SETTINGS), None)
    if unknown is not None or not settings:
        raise InputError(f"There is no setting {unknown or ''!r}; there are: {', '.join(SETTINGS)}.")
    wanted = {*settings, *(["plain"] if "rewritten" in settings else [])}
    return [name for name in SETTINGS if name in wanted]


def stages(settings: Sequence[Setting], make_writer: MakeWriter) -> list[Stage]:
    """A stage of every item for each setting; `plain` and `rewritten` are one, so that they share the first report."""
    names = [name for name in settings if _source(name, settings) == name]
    return [Stage(name, partial(_write, name, make_writer)) for name in names]


def _write(
    name: Setting, make_writer: MakeWriter, data: Mapping[str, Any], _: Mapping[str, Mapping[str, Any]], ledger: Ledger
) -> Mapping[str, Any]:
    item = ReportItem.model_validate(data)
    writer = make_writer("plain", True) if name == "rewritten" else make_writer(name, False)
    first: list[Usage] = []

    def on_step(step: str, _: int = 0, __: int = 0) -> None:
        if step == "writing again" and not first:
            first.append(ledger.usage())

    writer.on_step = on_step
    result = result_of(writer(question=item.topic, documents=item.documents))
    if error := not_judged(result):
        # A report that could not be checked has no score: it counts as failed.
        raise error
    return {
        "first_usage": (first or [ledger.usage()])[0].model_dump(),
        # The program does not know which of its calls came at the price of a batch; the documents are the item's own.
        "result": result.model_dump(mode="json", exclude={"documents", "usage"}),
    }


def rows(run: Run, settings: Sequence[Setting]) -> list[Row]:
    """One row for each item that something is known of: a finished stage, or one that failed."""
    finished, failures = run.finished(), run.failures()
    found = []
    for name, data in run.items().items():
        done, failed = finished.get(name, {}), failures.get(name, {})
        if not done and not failed:
            continue
        reports: dict[str, Scored] = {}
        errors: dict[str, str] = {}
        for setting in settings:
            source = _source(setting, settings)
            if kept := done.get(source):
                result, is_first = kept.data["result"], setting != "rewritten"
                answer, report = ("initial_answer", "initial_report") if is_first else ("answer", "report")
                usage = Usage.model_validate(kept.data["first_usage"]) if is_first else kept.usage
                reports[setting] = _scored(result[answer]["text"], result[report], usage)
            elif why := failed.get(source):
                errors[setting] = why.message
        again = done["rewritten"].data["result"] if "rewritten" in done else None
        found.append(
            Row(
                id=name,
                topic=data["topic"],
                category=data["category"],
                reports=reports,
                rewritten=None if again is None else bool(again["rounds"]),
                kept=None if again is None else again["decision"]["kept"] == "regenerated",
                errors=errors,
            )
        )
    return found


def warnings(run: Run) -> list[str]:
    """What went wrong on the way, each warning once an item."""
    return [
        warning
        for stages in run.finished().values()
        for warning in dict.fromkeys(warning for kept in stages.values() for warning in kept.data["result"]["warnings"])
    ]


def _scored(text: str, kept: Mapping[str, Any], usage: Usage) -> Scored:
    report = ConflictReport.model_validate(kept)
    return Scored(
        text=text,
        cs_c=report.cs_c,
        cs_r=report.cs_r,
        claims=len(report.claims),
        in_conflict=len(report.in_conflict),
        unverified=len(report.unverified),
        unjudged=len(report.unjudged),
        usage=usage,
    )


def _source(setting: Setting, settings: Sequence[Setting]) -> Setting:
    """The stage that a setting's report comes from."""
    return "rewritten" if setting == "plain" and "rewritten" in settings else setting
