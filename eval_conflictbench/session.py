"""One session of measuring a judge: the model and the judge made, the run gone through, the figures shown."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from regen.cli.evaluating import (
    RunPlan,
    batch_notes,
    check_batches,
    check_waiting,
    go_through,
    items_at_once,
    tell_stopped,
    tell_warnings,
)
from regen.cli.runs import RUNS
from regen.cli.setup import check, make_model
from regen.cli.terminal import Steps, complain, console
from regen.errors import InputError, ProviderError
from regen.fence import printable

if TYPE_CHECKING:
    from eval_conflictbench.data import ConflictItem, StancePair
    from eval_conflictbench.results import JudgeResults
    from regen.claims import ClaimKind
    from regen.compiled import Compiled
    from regen.judges import Judge
    from regen.models.choice import Role


@dataclass(frozen=True)
class Plan(RunPlan):
    """What is to be judged, and how.

    `data` says which items they are, for the run's configuration. `program` has the prompts, where they are compiled
    ones. `claims` is what an item's claim is taken apart into.
    """

    name: str
    items: Sequence[ConflictItem | StancePair]
    program: Compiled | None = None
    claims: ClaimKind = "whole"


def evaluate(plan: Plan) -> None:
    """Goes through a run, or what is left of it, and shows its figures.

    Raises:
        InputError: the run's folder belongs to another run, or one that waits for batches; a batch of a judge that asks
            no model.
        ConfigurationError: the model or the judge cannot be had.
        ProviderError: the model failed ten items in a row, or a batch.
        KeyboardInterrupt: Ctrl-C, once what was paid for is kept and the figures are written.
        typer.Exit: with 4 where the judge failed on items, with 5 where a limit ended the run.
    """
    from regen.judges import asks_model, default_judge
    from regen.models import choose

    settings, steps = plan.settings, Steps(quiet=plan.quiet)
    if settings.judge == "auto":
        name = default_judge(choose(settings, "judge"), asked=any(item.question for item in plan.items))
        settings = settings.model_copy(update={"judge": name})
    with_model = asks_model(settings.judge) or plan.claims != "whole"
    roles: list[Role] = ["judge"] if with_model else []
    check(settings, *roles)
    if plan.program:
        plan.program.check_unseen([item.claim, item.question] for item in plan.items)
    if plan.batch and not with_model:
        raise InputError(f"The judge {settings.judge} asks no model: leave --batch out.")
    if plan.batch:
        check_batches(settings, "judge")
    with steps.live():
        steps("loading")
        import dspy

        from eval_conflictbench import report
        from eval_conflictbench.results import results
        from eval_conflictbench.runner import Decomposer, kept, stage
        from regen.journal import Calls, Journal
        from regen.judges import make_judge
        from regen.models.server import cores
        from regen.outbox import Outbox
        from regen.runs import Run

        lm = make_model(settings, "judge", steps) if with_model else None
        with dspy.context(lm=lm) if lm else nullcontext():

            def new_judge() -> Judge:
                judge = make_judge(settings.judge, samples=settings.judge_samples, seed=settings.seed)
                has_prompts = hasattr(judge, "named_predictors")
                if plan.program and not has_prompts and plan.claims == "whole":
                    raise InputError(
                        f"The judge {settings.judge} has no prompts, so that --program has nothing to give it."
                    )
                if plan.program and has_prompts:
                    plan.program.apply(judge, "judge.")
                return judge

            judge = new_judge()
            decomposer = None if plan.claims == "whole" else Decomposer(plan.claims)
            if decomposer and plan.program:
                plan.program.apply(decomposer)
    folder = plan.run or RUNS / f"{plan.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    items = [(item.id, kept(item)) for item in plan.items]
    written: list[JudgeResults] = []
    with Run.begin(folder, plan.name, _config(plan, settings.judge, judge, decomposer, lm), items) as run:
        check_waiting(run, plan.batch)
        if plan.retry_failed:
            run.forget_failures()
        outbox = Outbox(run, retries=settings.retries) if plan.batch else None
        calls = Calls(run, max_calls=plan.max_calls, max_cost=plan.max_cost)
        journal = Journal(calls, concurrency=settings.concurrency, outbox=outbox)
        checked: Any = {"support": settings.support, "check_quotes": settings.check_quotes}
        stages = [stage(new_judge, decomposer, **checked)]

        def write(complete: bool, stopped: str | None) -> int:
            written.append(results(run, complete=complete, stopped=stopped, notes=batch_notes(run)))
            report.write(run, written[-1])
            return written[-1].n

        with dspy.context(lm=journal.lm(lm)) if lm else nullcontext():
            # A judge without a model takes a core for a pair.
            at_once = items_at_once(settings, "judge") if with_model else cores()
            go_through(run, journal, stages, at_once=at_once, quiet=plan.quiet, write=write)
    _end(plan, written[-1], folder)


def _config(plan: Plan, name: str, judge: Any, decomposer: Any, lm: Any) -> dict[str, Any]:
    """Everything that the figures depend on, and no secret."""
    from regen.models import choose
    from regen.models.wire import without_credentials
    from regen.prompts import prompts_hash

    settings = plan.settings
    prompted = [part for part in (judge, decomposer) if hasattr(part, "named_predictors")]
    address = choose(settings, "judge").api_base if lm else None
    return {
        "judge": name,
        "judge_samples": settings.judge_samples,
        "model": lm.model if lm else None,
        "api_base": without_credentials(address) if address else None,
        **plan.data,
        "seed": settings.seed,
        "support": settings.support,
        "check_quotes": settings.check_quotes,
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "claims": None if plan.claims == "whole" else plan.claims,
        "prompts": prompts_hash(*prompted) if prompted else None,
        "judge_files": getattr(judge, "identity", None),
        "program": plan.program.sha256 if plan.program else None,
    }


def _end(plan: Plan, results: JudgeResults, folder: Path) -> None:
    if plan.json:
        print(results.model_dump_json(indent=2, exclude={"misses"}))
    else:
        show(results, folder / "report.md")
    tell_stopped(results.complete, results.stopped)
    tell_warnings(results.warnings, f"of {results.n} items", folder / "report.md")
    if results.unjudged:
        complain(f"{results.unjudged} of {results.of} items could not be judged. --retry-failed has them done again.")
        raise typer.Exit(ProviderError.exit_code)


def show(results: JudgeResults, report: Path) -> None:
    """Prints the figures."""
    from eval_conflictbench.report import figure
    from regen.cli.progress import spent_words
    from regen.reporting import percent

    out = console()
    table = Table(box=None, pad_edge=False)
    for name in ("label", "items", "precision", "recall", "F1 (95%)"):
        table.add_column(name, justify="left" if name == "label" else "right")
    for part, classes in [("", results.classes), *((name, one.classes) for name, one in results.datasets.items())]:
        for one in classes:
            label = Text(printable(f"{part}: {one.label}" if part else one.label))
            table.add_row(label, str(one.n), percent(one.precision), percent(one.recall), figure(one.f1))
    out.print(table)
    speed = f", {results.pairs_per_second:,.1f} pairs a second" if results.pairs_per_second else ""
    out.print(
        f"accuracy {percent(results.accuracy)}, macro-F1 {percent(results.macro_f1)} over {results.n} items{speed}",
        soft_wrap=True,
    )
    out.print(spent_words(results.usage), style="dim")
    out.print(Text(f"Report: {printable(str(report))}"), soft_wrap=True)
