"""`regen eval conflicts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regen.cli import options, run_options


def conflicts(
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Items of CONFLICTS, as its authors published them: JSONL.")
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAMES",
            show_default="all",
            help="What is compared, with commas: vanilla, conflict-score, pipeline, oracle, taxonomy (see regen ask).",
        ),
    ] = "vanilla,conflict-score,pipeline,oracle,taxonomy",
    kinds: Annotated[
        Literal["rules", "model"],
        typer.Option(
            "--kinds",
            help="What tells pipeline and conflict-score the kind of conflict. The rules are measured either way, the "
            "model only where it is named.",
        ),
    ] = "model",
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N items.")] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", min=1, help="N of them, drawn by --seed in the kinds' proportions."),
    ] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
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
    """Measure on CONFLICTS how well the kind of conflict is told, and what each strategy makes of it.

    Of the kinds: accuracy, macro-F1 and confusion, beside what always saying the
    same reaches. Of the answers: whether they do what the kind needs and hold the
    right answer (asked of the model that judges), and how many of their sentences
    with facts are supported by what they cite (by --judge).

    Every call is kept in the run's folder before it is used, so the same command
    with --run goes on after any end. The folder gets report.md and results.json.
    Exit code 4: a model failed items; 5: a limit ended the run.
    """
    from eval_conflicts.data import load
    from eval_conflicts.runner import in_order
    from eval_conflicts.session import Plan, evaluate
    from eval_truthfulqa.data import stratified
    from eval_truthfulqa.options import names
    from regen.cli.evaluating import file_hash
    from regen.settings import load as load_settings

    asked = in_order(names(strategy))
    given: dict[str, Any] = {"model": model, "judge_model": judge_model, "api_base": api_base, "judge": judge}
    given |= {"judge_samples": judge_samples, "seed": seed, "concurrency": concurrency}
    settings = load_settings(given | {"support": "strict" if strict else None})
    items = load(data)
    if sample is not None:
        items = stratified(items, lambda item: item.kind, sample, settings.seed)
    part = {"limit": limit, "sample": sample}
    evaluate(
        Plan(
            items=items[:limit],
            strategies=asked,
            kinds=kinds,
            settings=settings,
            data={"data": data.name, "data_sha256": file_hash(data), "part": part},
            run=run,
            batch=batch,
            max_calls=max_calls,
            max_cost=max_cost,
            retry_failed=retry_failed,
            json=json,
            quiet=quiet,
        )
    )
