"""`regen eval reports`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regen.cli import options, run_options


def reports(
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help='JSONL: {"id", "topic" (or "question"), "documents"}.')
    ],
    format: Annotated[
        Literal["plain", "conflicts"],
        typer.Option("--format", help="What the lines look like: as above, or those of CONFLICTS."),
    ] = "plain",
    category: Annotated[
        list[str] | None, typer.Option("--category", help="Only items of this category; repeatable.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="N of them, drawn by --seed; or all there are.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N items.")] = None,
    settings: Annotated[
        str,
        typer.Option(
            "--settings",
            metavar="NAMES",
            show_default="all",
            help="What is compared, with commas: the prompts plain, balanced and super-balanced, and rewritten (with "
            "plain, whose report it begins with).",
        ),
    ] = "plain,balanced,super-balanced,rewritten",
    max_rounds: Annotated[
        int | None,
        typer.Option("--max-rounds", metavar="N", min=1, max=10, help="How often to write again at most (default 1)."),
    ] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    claims: options.Claims = None,
    strict: options.Strict = False,
    seed: options.Seed = None,
    run: run_options.RunFolder = None,
    batch: run_options.Batch = False,
    concurrency: run_options.Concurrency = None,
    max_calls: run_options.MaxCalls = None,
    max_cost: run_options.MaxCost = None,
    retry_failed: run_options.RetryFailed = False,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Write reports over documents that conflict, by three prompts and by writing again, and score them all.

    The mean CS-C and CS-R of each, as in Table 3 of ConflictScore (Liu et al.
    2026). Every call is kept in the run's folder before it is used, so the same
    command with --run goes on after any end. The folder gets report.md and
    results.json. Exit code 4: a provider failed items; 5: a limit ended the run.
    """
    from eval_reports.data import load, select
    from eval_reports.runner import in_order
    from eval_reports.session import Plan, evaluate
    from eval_truthfulqa.options import names
    from regen.cli.evaluating import file_hash
    from regen.settings import load as load_settings

    asked = in_order(names(settings))
    flags: dict[str, Any] = {"model": model, "judge_model": judge_model, "api_base": api_base, "judge": judge}
    flags |= {"judge_samples": judge_samples, "claims": claims, "seed": seed, "max_rounds": max_rounds}
    flags |= {"concurrency": concurrency, "support": "strict" if strict else None}
    given = load_settings(flags)
    items = select(load(data, format), categories=category or (), sample=sample, seed=given.seed, limit=limit)
    part = {"category": category or [], "sample": sample, "limit": limit}
    evaluate(
        Plan(
            items=items,
            asked=asked,
            settings=given,
            data={"data": data.name, "format": format, "data_sha256": file_hash(data), "part": part},
            run=run,
            batch=batch,
            max_calls=max_calls,
            max_cost=max_cost,
            retry_failed=retry_failed,
            json=json,
            quiet=quiet,
        )
    )
