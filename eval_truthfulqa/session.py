"""One session of an evaluation: models and search made, the run gone through, the report written."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr
from rich.table import Table
from rich.text import Text

from regen.cli.evaluating import (
    RunPlan,
    batch_notes,
    check_batches,
    check_waiting,
    configured,
    file_hash,
    go_through,
    items_at_once,
    tell_failures,
    tell_stopped,
)
from regen.cli.runs import RUNS
from regen.cli.setup import check, make_model
from regen.cli.terminal import Steps, console
from regen.errors import ConfigurationError, InputError
from regen.fence import printable

if TYPE_CHECKING:
    from eval_truthfulqa.items import ChoiceItem
    from eval_truthfulqa.metrics import Setting
    from eval_truthfulqa.results import Results
    from eval_truthfulqa.runner import Evaluation
    from regen.cluster import Cluster
    from regen.compiled import Compiled
    from regen.credibility import SourceList
    from regen.journal import Journal
    from regen.models.choice import ModelChoice
    from regen.runner import Stage
    from regen.runs import Run
    from regen.settings import Settings

_BOTH_ORDERS = (
    "The model gives log-probabilities, so every answer is the average over both orders of the choices: there is no "
    "position bias left to measure."
)
_ONE_ORDER = (
    "The model gives no log-probabilities, so each item was asked in one order of its choices, drawn by the seed; "
    "--both-orders asks in both, and tells the position bias."
)


Said = tuple[str, str | None]
"""What is said to models: the hash of the prompts, and that of the files of a judge that has a model of its own."""


@dataclass(frozen=True)
class Plan(RunPlan):
    """What is to be evaluated, and how.

    `data` says which items they are, for the run's configuration. `searches` is whether documents are to be found;
    `exclude` are the sites whose pages must not be among them, and `refused` tells other such addresses. `notes` go
    into the report. `program` has the prompts, where they are compiled ones, and `sources` what documents weigh, where
    a list says so.
    """

    name: str
    items: Sequence[ChoiceItem]
    asked: Sequence[Setting]
    searches: bool = False
    exclude: Sequence[str] = ()
    refused: Callable[[str], bool] | None = None
    program: Compiled | None = None
    sources: SourceList | None = None
    engine: Literal["threads", "ray"] = "threads"
    both_orders: bool = False
    record: Path | None = None
    refresh: bool = False
    notes: list[str] = field(default_factory=list)


def evaluate(plan: Plan) -> None:
    """Goes through a run, or what is left of it, and shows its figures.

    Raises:
        InputError: the run's folder belongs to another run, or one that waits for batches; or an item was in the
            training of the compiled program.
        ConfigurationError: a model or a search cannot be had, or a model not in batches.
        ProviderError: the model failed ten items in a row, or a batch.
        KeyboardInterrupt: Ctrl-C, once what was paid for is kept and the report written.
        typer.Exit: with 4 where a provider failed items, with 5 where a limit ended the run.
    """
    check(plan.settings, "answer", "judge")
    if plan.program:
        plan.program.check_unseen([item.question] for item in plan.items)
    if plan.batch and plan.engine == "ray":
        raise InputError("--batch sends the calls from here, and leaves nothing to a Ray cluster: give one of the two.")
    if plan.batch:
        check_batches(plan.settings, "answer", "judge")
    settings, steps = plan.settings, Steps(quiet=plan.quiet)
    with ExitStack() as stack:
        ray = None
        if plan.engine == "ray":
            from regen.cluster import connected

            _check_model(settings)
            with steps.live():
                steps("connecting to Ray")
                ray = stack.enter_context(connected())
        search = None
        if plan.searches:
            from regen.cli import searching

            search = searching.prepared(settings, steps, record=plan.record, refresh=plan.refresh)
        with steps.live():
            steps("loading")
            import dspy

            from regen.journal import Calls, Journal
            from regen.judges import default_judge
            from regen.outbox import Outbox
            from regen.runs import Run

            lm = make_model(settings, "answer", steps)
            judge_lm = make_model(settings, "judge", steps) if settings.judge_model else None
        judge = default_judge(judge_lm or lm) if settings.judge == "auto" else settings.judge
        with dspy.context(lm=lm):
            config = _config(plan, lm, judge_lm, judge, search)
        folder = plan.run or RUNS / f"{plan.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        run = stack.enter_context(
            Run.begin(folder, plan.name, config, [(item.id, item.model_dump(mode="json")) for item in plan.items])
        )
        check_waiting(run, plan.batch)
        if plan.retry_failed:
            run.forget_failures()
        cluster = None
        if ray is not None:
            cluster = stack.enter_context(_cluster(plan, ray, run, judge, (config["prompts"], config["judge_files"])))
            steps.note(cluster.size)
        calls = cluster.calls if cluster else Calls(run, max_calls=plan.max_calls, max_cost=plan.max_cost)
        outbox = Outbox(run, retries=settings.retries) if plan.batch else None
        journal = Journal(calls, concurrency=settings.concurrency, outbox=outbox)
        kept_lm = journal.lm(judge_lm) if judge_lm is not None else None
        evaluation = _evaluation(plan, judge, kept_lm, search)
        with dspy.context(lm=journal.lm(lm)):
            results = _work(plan, run, journal, evaluation, cluster)
    _end(plan, results, folder)


def _check_model(settings: Settings) -> None:
    from regen.models import choose

    if "embedded" in {choose(settings, "answer").kind, choose(settings, "judge").kind}:
        raise ConfigurationError(
            "--engine ray needs a model behind an API (--model, --api-base): every worker would load the embedded one."
        )


def _cluster(plan: Plan, ray: Any, run: Run, judge: str, said: Said) -> Cluster:
    """Workers for the run, to be entered: each is given what makes its models and stages, and their keys."""
    from regen.cluster import Cluster
    from regen.models import choose

    settings = plan.settings
    models = [choose(settings, role) for role in (("answer", "judge") if settings.judge_model else ("answer",))]
    names = {model.key_variable for model in models if model.key_variable and not settings.api_key}
    keys = {name: SecretStr(os.environ[name]) for name in names if name in os.environ}
    return Cluster(
        ray,
        run.folder,
        partial(_on_a_worker, replace(plan, items=()), judge, models, said),
        keys,
        concurrency=settings.concurrency,
        max_calls=plan.max_calls,
        max_cost=plan.max_cost,
    )


def _on_a_worker(
    plan: Plan, judge: str, models: Sequence[ModelChoice], said: Said, journal: Journal
) -> tuple[Any, list[Stage]]:
    """The answering model and the stages, in the process of a worker.

    Raises:
        ConfigurationError: this machine's regen would ask otherwise than that of the run.
    """
    import dspy

    from regen.models import make_lm

    lm, *judge_lm = [journal.lm(make_lm(model, plan.settings)) for model in models]
    with dspy.context(lm=lm):
        evaluation = _evaluation(plan, judge, judge_lm[0] if judge_lm else None)
        if _said(evaluation) != said:
            raise ConfigurationError(
                f"The regen on {platform.node()} has other prompts, or a judge of other files, than the one here: "
                "install the same version on all machines."
            )
        return lm, evaluation.stages()


def _said(evaluation: Evaluation) -> Said:
    from regen.prompts import prompts_hash

    program, *others = evaluation.programs()
    return prompts_hash(program, *others), getattr(program.judge, "identity", None)


def _evaluation(plan: Plan, judge: str, judge_lm: Any, search: Any = None) -> Evaluation:
    from eval_truthfulqa.runner import Evaluation
    from regen.program import Regen

    settings = plan.settings

    def make_program() -> Regen:
        program = Regen(
            None,
            judge,
            k=settings.k,
            max_rounds=settings.max_rounds,
            support=settings.support,
            check_quotes=settings.check_quotes,
            seed=settings.seed,
            shuffle=False,
            judge_lm=judge_lm,
            judge_samples=settings.judge_samples,
            claim_kind=settings.claims,
            credibility=settings.credibility,
            credibility_list=plan.sources,
            credibility_threshold=settings.credibility_threshold,
        )
        return program if plan.program is None else plan.program.apply(program)

    return Evaluation(
        plan.asked,
        make_program,
        search=search,
        k=settings.k,
        exclude=plan.exclude,
        refused=plan.refused,
        seed=settings.seed,
        both_orders=plan.both_orders,
    )


def _work(plan: Plan, run: Run, journal: Journal, evaluation: Evaluation, cluster: Cluster | None) -> Results:
    import dspy

    from eval_truthfulqa import report
    from eval_truthfulqa.results import results as results_of
    from eval_truthfulqa.runner import RETRIEVAL
    from regen.models import gives_logprobs

    stages = evaluation.stages()
    if cluster is not None:
        # Searches stay where the documents, the keys, the recording and the pages that were read are.
        stages = [stage if stage.name == RETRIEVAL else cluster.stage(stage) for stage in stages]
    known = gives_logprobs(dspy.settings.lm)
    order = [] if known is False and plan.both_orders else [_BOTH_ORDERS if known else _ONE_ORDER]
    written: list[Results] = []

    def write(complete: bool, stopped: str | None) -> int:
        notes = [*plan.notes, *order, *batch_notes(run)]
        written.append(results_of(run, plan.asked, complete=complete, stopped=stopped, notes=notes))
        report.write(run, written[-1])
        return written[-1].n

    at_once = items_at_once(plan.settings, "answer", "judge")
    go_through(run, journal, stages, at_once=at_once, quiet=plan.quiet, write=write)
    return written[-1]


def _end(plan: Plan, results: Results, folder: Path) -> None:
    if plan.json:
        print(results.model_dump_json(indent=2, exclude={"rows"}))
    else:
        show(results, folder / "report.html")
    tell_stopped(results.complete, results.stopped)
    tell_failures(results.failures, results.of, provider_failed=results.provider_failed)


def show(results: Results, report: Path) -> None:
    """The main figures on standard output, and where the report is."""
    from eval_truthfulqa.report import interval, p_value, points, ratio
    from regen.cli.progress import spent_words

    out = console()
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    for heading in ("setting", "right", "95%", "failed", "calls an item"):
        table.add_column(heading, justify="left" if heading == "setting" else "right")
    costs = {cost.setting: f"{cost.calls:.1f}" for cost in results.costs}
    for one in results.settings:
        table.add_row(
            one.setting, ratio(one.answered), interval(one.answered), str(one.failed), costs.get(one.setting, "")
        )
    out.print(table)
    if (again := results.regeneration) and again.conflict.of:
        out.print(f"conflict detected  {ratio(again.conflict)}")
        out.print(f"improve rate       {ratio(again.improve)}  {interval(again.improve)}")
        out.print(f"harm rate          {ratio(again.harm)}  {interval(again.harm)}")
    for pair in [pair for pair in results.pairs[:1] if pair.n]:
        out.print(
            f"{pair.before} to {pair.after}: {points(pair.difference)} ({interval(pair)}), {pair.mended} mended, "
            f"{pair.spoiled} spoiled, p {p_value(pair)}",
            soft_wrap=True,
        )
    for place in results.positions:
        out.print(f"{place.setting}: chose what stood first in {ratio(place.first)}", soft_wrap=True)
    out.print(spent_words(results.usage), style="dim")
    out.print(Text(f"Report: {printable(str(report))}"), soft_wrap=True)


def _config(plan: Plan, lm: Any, judge_lm: Any, judge: str, search: Any) -> dict[str, Any]:
    """Everything that the figures depend on, and no secret."""
    settings = plan.settings
    prompts, judge_files = _said(_evaluation(plan, judge, judge_lm))
    config: dict[str, Any] = {
        **configured(settings, lm, judge_lm, judge),
        "settings": list(plan.asked),
        "both_orders": plan.both_orders,
        **plan.data,
        "prompts": prompts,
        "judge_files": judge_files,
        "program": plan.program.sha256 if plan.program else None,
    }
    if settings.credibility != "off":
        config |= {
            "credibility": settings.credibility,
            "credibility_list": file_hash(settings.credibility_list) if settings.credibility_list else None,
            "credibility_threshold": settings.credibility_threshold,
        }
    if search is not None:
        names = search.name.split(",")
        config |= {
            "search": search.name,
            "k": settings.k,
            "docs": str(settings.docs.resolve()) if settings.docs else None,
            "recorded": str(settings.recorded.resolve()) if settings.recorded else None,
            "sites": list(settings.sites),
            "exclude_sites": list(plan.exclude),
            "since": settings.since.isoformat() if settings.since else None,
            "read_pages": settings.read_pages,
            "page_deadline": settings.page_deadline,
            "allow_private": settings.allow_private,
        }
        if settings.docs and "local" in names:
            config |= _folder(settings.docs)
        if settings.recorded and "recorded" in names:
            config["recorded_sha256"] = file_hash(settings.recorded)
        if len(names) > 1:
            # A provider that fails beside others is passed over, so that these decide on the documents.
            config |= {"search_timeout": settings.search_timeout, "retries": settings.retries}
    return config


def _folder(folder: Path) -> dict[str, Any]:
    """What a folder of documents holds: how many, and a hash over their names, sizes and times of change."""
    from search.folder import listing

    entries = sorted((name, entry.size, entry.mtime_ns) for name, entry in listing(folder.resolve()).files.items())
    return {"docs_files": len(entries), "docs_hash": hashlib.sha256(repr(entries).encode()).hexdigest()[:16]}
