"""`regen eval stance` and `regen eval conflictbench`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regen.cli import options, run_options
from regen.fence import printable

Data = Annotated[
    Path, typer.Option("--data", metavar="FILE", help="Labelled items: JSONL, or one JSON array, as a set has it.")
]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N items.")]
Each = Annotated[
    int | None,
    typer.Option("--each", metavar="N", min=1, help="N items of each label, drawn by --seed; or all that there are."),
]
Convert = Annotated[
    Path | None,
    typer.Option(
        "--convert", metavar="FILE", help="Write the items to FILE in the plain format, for any system; judge nothing."
    ),
]


def stance(
    data: Data,
    format: Annotated[
        Literal["plain", "factcheck", "healthver", "climate_fever"],
        typer.Option("--format", help='plain: {"claim", "document", "stance"}; else the rows of a known set.'),
    ] = "plain",
    limit: Limit = None,
    each: Each = None,
    convert: Convert = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    program: options.Program = None,
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
    """Measure a judge on single stances that people labelled: precision, recall and F1 of each, macro-F1, confusion.

    Every call is kept in the run's folder before it is used, so the same command
    with --run goes on after any end. The folder gets report.md and results.json.
    Exit code 4: the judge failed on items; 5: a limit ended the run.
    """
    from eval_conflictbench.data import PAIRS

    given = {"model": model, "judge_model": judge_model, "api_base": api_base, "judge": judge, "seed": seed}
    given |= {"judge_samples": judge_samples, "concurrency": concurrency, "support": "strict" if strict else None}
    _measure(
        "stance",
        (PAIRS, lambda item: item.stance.value),
        (data, format, limit, each),
        convert,
        given,
        program,
        run=run,
        batch=batch,
        max_calls=max_calls,
        max_cost=max_cost,
        retry_failed=retry_failed,
        json=json,
        quiet=quiet,
    )


def conflictbench(
    data: Data,
    format: Annotated[
        Literal["plain", "conflictingqa", "ambigdocs", "macnoise", "ramdocs", "conflict_nq", "climate_fever"],
        typer.Option("--format", help='plain: {"id", "claim", "documents", "conflict"}; else the rows of a known set.'),
    ] = "plain",
    limit: Limit = None,
    each: Each = None,
    convert: Convert = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    claims: Annotated[
        Literal["atomic", "salient", "merged", "whole"],
        typer.Option("--claims", help="whole: an item's claim is judged as it stands; else it is taken apart first."),
    ] = "whole",
    program: options.Program = None,
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
    """Measure a judge on claims whose documents conflict or don't: precision, recall and F1 of conflict, by dataset.

    Every call is kept in the run's folder before it is used, so the same command
    with --run goes on after any end. The folder gets report.md and results.json.
    Exit code 4: the judge failed on items; 5: a limit ended the run.
    """
    from eval_conflictbench.data import ITEMS

    given = {"model": model, "judge_model": judge_model, "api_base": api_base, "judge": judge, "seed": seed}
    given |= {"judge_samples": judge_samples, "concurrency": concurrency, "support": "strict" if strict else None}
    _measure(
        "conflictbench",
        (ITEMS, lambda item: str(item.conflict)),
        (data, format, limit, each),
        convert,
        given,
        program,
        claims=claims,
        run=run,
        batch=batch,
        max_calls=max_calls,
        max_cost=max_cost,
        retry_failed=retry_failed,
        json=json,
        quiet=quiet,
    )


def _measure(
    name: str,
    kind: tuple[Mapping[str, Any], Callable[[Any], str]],
    data: tuple[Path, str, int | None, int | None],
    convert: Path | None,
    given: Mapping[str, Any],
    program: Path | None,
    **plan: Any,
) -> None:
    """Has the items of a file judged, or only converted: `kind` is their readers and what tells an item's label."""
    from eval_conflictbench.data import load, sampled, write
    from eval_conflictbench.session import Plan, evaluate
    from regen.cli.evaluating import file_hash
    from regen.cli.setup import with_program
    from regen.settings import load as load_settings

    (readers, label), (file, format, limit, each) = kind, data
    settings, compiled = with_program(load_settings(given), program)
    items = sampled(load(file, format, readers, seed=settings.seed), label, each=each, seed=settings.seed)[:limit]
    if convert:
        write(items, convert)
        typer.echo(f"{len(items)} items in {printable(str(convert))}", err=True)
        return
    part = {"limit": limit, "each": each}
    config = {"data": file.name, "format": format, "data_sha256": file_hash(file), "part": part}
    evaluate(Plan(name=name, items=items, settings=settings, data=config, program=compiled, **plan))
