"""`regen eval choices`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eval_truthfulqa import options as ours
from regen.cli import options, run_options


def choices(
    data: Annotated[
        Path,
        typer.Option(
            "--data", metavar="FILE", help='JSONL: {"id", "question", "choices", "answer" (an index), "documents"}.'
        ),
    ],
    format: Annotated[
        Literal["plain", "ramdocs", "conflict_nq"],
        typer.Option("--format", help="What the lines look like: as above, or those of a known set."),
    ] = "plain",
    limit: ours.Limit = None,
    settings: ours.SettingNames = ours.ALL_SETTINGS,
    both_orders: ours.BothOrders = False,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    credibility: options.Credibility = None,
    credibility_list: options.CredibilityList = None,
    program: options.Program = None,
    strict: options.Strict = False,
    max_rounds: ours.Rounds = None,
    seed: options.Seed = None,
    run: run_options.RunFolder = None,
    engine: run_options.Engine = "threads",
    batch: run_options.Batch = False,
    concurrency: run_options.Concurrency = None,
    max_calls: run_options.MaxCalls = None,
    max_cost: run_options.MaxCost = None,
    retry_failed: run_options.RetryFailed = False,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Ask questions with choices that bring their own documents: the settings and figures of `truthfulqa` for any set.

    Every call is kept in the run's folder before it is used, so the same command
    with --run goes on after any end. The folder gets report.html, report.md and
    results.json. Exit code 4: a provider failed items; 5: a limit ended the run.
    """
    from eval_choices.data import load
    from eval_truthfulqa.runner import in_order
    from eval_truthfulqa.session import Plan, evaluate
    from regen.cli.evaluating import file_hash
    from regen.cli.setup import source_list, with_program
    from regen.settings import load as load_settings

    asked = in_order(ours.names(settings))
    named = {"model": model, "judge_model": judge_model, "judge": judge, "api_base": api_base}
    numbers = {"judge_samples": judge_samples, "seed": seed, "max_rounds": max_rounds, "concurrency": concurrency}
    flags: dict[str, Any] = {**named, **numbers, "support": "strict" if strict else None}
    flags |= {"credibility": credibility, "credibility_list": credibility_list}
    given, compiled = with_program(load_settings(flags), program)
    sources = source_list(given, credibility_list)
    items, left_out = load(data, format)
    notes = [f"{left_out} lines of the file are no items: they have no right or no wrong answer."] if left_out else []
    evaluate(
        Plan(
            name="choices",
            items=items[:limit],
            asked=asked,
            settings=given,
            data={"data": data.name, "format": format, "data_sha256": file_hash(data), "part": {"limit": limit}},
            program=compiled,
            sources=sources,
            run=run,
            engine=engine,
            both_orders=both_orders,
            batch=batch,
            max_calls=max_calls,
            max_cost=max_cost,
            retry_failed=retry_failed,
            json=json,
            quiet=quiet,
            notes=notes,
        )
    )
