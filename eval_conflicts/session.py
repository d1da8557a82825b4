"""One session of measuring on CONFLICTS: the models and the judge made, the run gone through, the figures shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from regen.cli.terminal import Steps, complain, console
from regen.fence import printable

if TYPE_CHECKING:
    from eval_conflicts.data import Item
    from eval_conflicts.results import ConflictsResults
    from eval_conflicts.runner import Evaluation, Teller
    from regen.program import Regen
    from regen.types import Strategy


@dataclass(frozen=True)
class Plan(RunPlan):
    """What is to be measured, and how. `data` says which items they are, for the run's configuration."""

    items: Sequence[Item]
    strategies: Sequence[Strategy]
    kinds: Teller


def evaluate(plan: Plan) -> None:
    """Goes through a run, or what is left of it, and shows its figures.

    Raises:
        InputError: the run's folder belongs to another run, or one that waits for batches.
        ConfigurationError: a model or the judge cannot be had.
        ProviderError: the model failed ten items in a row, or a batch.
        KeyboardInterrupt: Ctrl-C, once what was paid for is kept and the figures are written.
        typer.Exit: with 4 where a model failed items, with 5 where a limit ended the run.
    """
    settings, steps = plan.settings, Steps(quiet=plan.quiet)
    check(settings, "answer", "judge")
    if plan.batch:
        check_batches(settings, "answer", "judge")
    with steps.live():
        steps("loading")
        import dspy

        from eval_conflicts import report
        from eval_conflicts.results import results
        from eval_conflicts.runner import kept
        from regen.journal import Calls, Journal
        from regen.judges import default_judge
        from regen.outbox import Outbox
        from regen.runs import Run

        lm = make_model(settings, "answer", steps)
        judge_lm = make_model(settings, "judge", steps) if settings.judge_model else None
    judge = default_judge(judge_lm or lm) if settings.judge == "auto" else settings.judge
    with dspy.context(lm=lm):
        config = _config(plan, lm, judge_lm, judge)
    folder = plan.run or RUNS / f"conflicts-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    written: list[ConflictsResults] = []
    with Run.begin(folder, "conflicts", config, [(item.id, kept(item)) for item in plan.items]) as run:
        check_waiting(run, plan.batch)
        if plan.retry_failed:
            run.forget_failures()
        outbox = Outbox(run, retries=settings.retries) if plan.batch else None
        calls = Calls(run, max_calls=plan.max_calls, max_cost=plan.max_cost)
        journal = Journal(calls, concurrency=settings.concurrency, outbox=outbox)

        def write(complete: bool, stopped: str | None) -> int:
            notes = batch_notes(run)
            written.append(results(run, plan.strategies, complete=complete, stopped=stopped, notes=notes))
            report.write(run, written[-1])
            return written[-1].n

        with dspy.context(lm=journal.lm(lm)):
            stages = _evaluation(plan, judge, journal.lm(judge_lm) if judge_lm is not None else None).stages()
            at_once = items_at_once(settings, "answer", "judge")
            go_through(run, journal, stages, at_once=at_once, quiet=plan.quiet, write=write)
    _end(plan, written[-1], folder)


def _evaluation(plan: Plan, judge: str, judge_lm: Any) -> Evaluation:
    from eval_conflicts.runner import Evaluation
    from regen.judges import make_judge
    from regen.program import Regen

    settings = plan.settings

    def make_program(strategy: Strategy) -> Regen:
        return Regen(
            None,
            judge,
            max_rounds=settings.max_rounds,
            support=settings.support,
            check_quotes=settings.check_quotes,
            seed=settings.seed,
            judge_lm=judge_lm,
            judge_samples=settings.judge_samples,
            claim_kind=settings.claims,
            strategy=strategy,
            kinds=plan.kinds if strategy == "conflict-score" else "off",
        )

    return Evaluation(
        plan.strategies,
        plan.kinds,
        make_program,
        lambda: make_judge(judge, samples=settings.judge_samples, seed=settings.seed),
        judge_lm=judge_lm,
        support=settings.support,
        check_quotes=settings.check_quotes,
        seed=settings.seed,
    )


def _config(plan: Plan, lm: Any, judge_lm: Any, judge: str) -> dict[str, Any]:
    """Everything that the figures depend on, and no secret."""
    from regen.prompts import prompts_hash

    settings = plan.settings
    programs = _evaluation(plan, judge, judge_lm).programs()
    return {
        **configured(settings, lm, judge_lm, judge),
        "strategies": list(plan.strategies),
        "kinds": plan.kinds,
        **plan.data,
        "claims": settings.claims,
        "prompts": prompts_hash(*programs),
        "judge_files": next((found for one in programs if (found := _files(one))), None),
    }


def _files(program: Any) -> str | None:
    return getattr(getattr(program, "judge", None), "identity", None)


def _end(plan: Plan, results: ConflictsResults, folder: Path) -> None:
    from eval_conflicts.report import cost_line, show, unjudged_lines
    from regen.cli.progress import spent_words

    if plan.json:
        print(results.model_dump_json(indent=2, exclude={"rows"}))
    else:
        out = console()
        show(results, out)
        out.print(cost_line(results), style="dim", soft_wrap=True)
        out.print(f"In all {spent_words(results.usage)}.", style="dim", soft_wrap=True)
        out.print(Text(f"Report: {printable(str(folder / 'report.md'))}"), soft_wrap=True)
    tell_stopped(results.complete, results.stopped)
    for line in unjudged_lines(results):
        complain(line)
    tell_warnings(results.warnings, "answers", folder / "report.md")
    tell_failures(results.failures, results.of, provider_failed=results.provider_failed)
