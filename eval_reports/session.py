"""One session of an evaluation of reports: the models made, the run gone through, the figures shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from regen.cli.evaluating import (
    RunPlan,
    batch_notes,
    check_batches,
    check_waiting,
    configured,
    go_through,
    items_at_once,
    tell_failures,
    tell_stopped,
    tell_warnings,
)
from regen.cli.runs import RUNS
from regen.cli.setup import check, make_model
from regen.cli.terminal import Steps, console
from regen.fence import printable

if TYPE_CHECKING:
    from eval_reports.data import ReportItem
    from eval_reports.metrics import Mean, Setting
    from eval_reports.results import ReportResults
    from regen.report import ReportWriter, Style


@dataclass(frozen=True)
class Plan(RunPlan):
    """What is to be written about, and how. `data` says which items they are, for the run's configuration."""

    items: Sequence[ReportItem]
    asked: Sequence[Setting]


def evaluate(plan: Plan) -> None:
    """Goes through a run, or what is left of it, and shows its figures.

    Raises:
        InputError: the run's folder belongs to another run, or one that waits for batches.
        ConfigurationError: a model or the judge cannot be had, or a model not in batches.
        ProviderError: a model failed ten items in a row, or a batch.
        KeyboardInterrupt: Ctrl-C, once what was paid for is kept and the figures are written.
        typer.Exit: with 4 where a provider failed items, with 5 where a limit ended the run.
    """
    settings, steps = plan.settings, Steps(quiet=plan.quiet)
    check(settings, "answer", "judge")
    if plan.batch:
        check_batches(settings, "answer", "judge")
    with steps.live():
        steps("loading")
        import dspy

        from eval_reports import report
        from eval_reports.results import results
        from eval_reports.runner import stages
        from regen.journal import Calls, Journal
        from regen.judges import default_judge
        from regen.outbox import Outbox
        from regen.report import ReportWriter
        from regen.runs import Run

        lm = make_model(settings, "answer", steps)
        judge_lm = make_model(settings, "judge", steps) if settings.judge_model else None
    judge = default_judge(judge_lm or lm) if settings.judge == "auto" else settings.judge

    def writer(style: Style, again: bool, judge_lm: Any) -> ReportWriter:
        return ReportWriter(
            None,
            judge,
            style=style,
            max_rounds=settings.max_rounds if again else 0,
            support=settings.support,
            check_quotes=settings.check_quotes,
            seed=settings.seed,
            judge_lm=judge_lm,
            judge_samples=settings.judge_samples,
            claim_kind=settings.claims,
        )

    with dspy.context(lm=lm):
        styles = [name for name in plan.asked if name != "rewritten"]
        config = _config(plan, lm, judge_lm, judge, [writer(style, False, judge_lm) for style in styles])
    folder = plan.run or RUNS / f"reports-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    written: list[ReportResults] = []
    items = [(item.id, item.model_dump(mode="json")) for item in plan.items]
    with Run.begin(folder, "reports", config, items) as run:
        check_waiting(run, plan.batch)
        if plan.retry_failed:
            run.forget_failures()
        outbox = Outbox(run, retries=settings.retries) if plan.batch else None
        calls = Calls(run, max_calls=plan.max_calls, max_cost=plan.max_cost)
        journal = Journal(calls, concurrency=settings.concurrency, outbox=outbox)
        kept_lm = journal.lm(judge_lm) if judge_lm is not None else None

        def write(complete: bool, stopped: str | None) -> int:
            written.append(results(run, plan.asked, complete=complete, stopped=stopped, notes=batch_notes(run)))
            report.write(run, written[-1])
            return written[-1].n

        with dspy.context(lm=journal.lm(lm)):
            work = stages(plan.asked, lambda style, again: writer(style, again, kept_lm))
            at_once = items_at_once(settings, "answer", "judge")
            go_through(run, journal, work, at_once=at_once, quiet=plan.quiet, write=write)
    _end(plan, written[-1], folder)


def _config(plan: Plan, lm: Any, judge_lm: Any, judge: str, writers: Sequence[ReportWriter]) -> dict[str, Any]:
    """Everything that the figures depend on, and no secret."""
    from regen.prompts import prompts_hash

    settings = plan.settings
    return {
        **configured(settings, lm, judge_lm, judge),
        "claims": settings.claims,
        "settings": list(plan.asked),
        **plan.data,
        "prompts": prompts_hash(*writers),
        "judge_files": getattr(writers[0].judge, "identity", None),
    }


def _end(plan: Plan, results: ReportResults, folder: Path) -> None:
    if plan.json:
        print(results.model_dump_json(indent=2, exclude={"rows"}))
    else:
        show(results, folder / "report.md")
    tell_stopped(results.complete, results.stopped)
    tell_warnings(results.warnings, f"of {results.n} items", folder / "report.md")
    tell_failures(results.failures, results.of, provider_failed=results.provider_failed)


def show(results: ReportResults, report: Path) -> None:
    """The main figures on standard output, and where the report is."""
    from eval_reports.report import signed
    from regen.cli.progress import spent_words
    from regen.reporting import number

    out = console()
    table = _table("setting", "items", "CS-C (95%)", "CS-R (95%)", "claims", "unverified")
    for one in results.settings:
        scores = (_short(one.cs_c), _short(one.cs_r), number(one.claims), number(one.unverified))
        table.add_row(one.setting, str(one.n), *scores)
    out.print(table)
    against = _table("against plain", "items", "CS-C (95%)", "CS-R (95%)")
    for pair in results.pairs:
        against.add_row(pair.after, str(pair.n), signed(pair.cs_c, 2), signed(pair.cs_r, 2))
    if results.pairs:
        out.print(against)
    if "rewritten" in [one.setting for one in results.settings]:
        out.print(f"written again: {results.rewritten} of the plain reports, of which {results.kept} were kept")
    costs = _table("an item took", "calls", "prompt tokens", "cached", "new tokens", "seconds")
    for cost in [one.cost for one in results.settings if one.cost]:
        tokens = (number(part, 0) for part in (cost.prompt_tokens, cost.cached_tokens, cost.completion_tokens))
        costs.add_row(cost.setting, number(cost.calls), *tokens, number(cost.seconds))
    out.print(costs)
    out.print(spent_words(results.usage), style="dim")
    out.print(Text(f"Report: {printable(str(report))}"), soft_wrap=True)


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _short(part: Mean) -> str:
    # Narrower than in the report: two of them stand side by side on 80 columns.
    return "\u2013" if part.mean is None else f"{part.mean:.2f} ({part.low:.2f}\u2013{part.high:.2f})"
