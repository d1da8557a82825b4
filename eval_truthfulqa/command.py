"""`regen eval truthfulqa`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from eval_truthfulqa import options as ours
from regen.cli import options, run_options
from regen.errors import InputError


def truthfulqa(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FILE", help="A copy of TruthfulQA.csv; else it is fetched once.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", metavar="FILE", help="Only the questions in this file, one a line: their words or ids."
        ),
    ] = None,
    limit: ours.Limit = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", help="Only questions of this category; repeatable.")
    ] = None,
    type: Annotated[
        list[str] | None, typer.Option("--type", help="Only Adversarial or Non-Adversarial ones; repeatable.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", min=1, help="N of them, drawn by --seed in the categories' proportions."),
    ] = None,
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
    docs: options.Docs = None,
    k: options.K = None,
    search: options.Search = None,
    site: options.Site = None,
    exclude_site: options.ExcludeSite = None,
    answer_keys: Annotated[
        bool,
        typer.Option(
            "--allow-answer-keys",
            help="Keep pages that publish TruthfulQA with its answers; without it, they are taken out.",
            rich_help_panel="Search",
        ),
    ] = False,
    since: options.Since = None,
    record: options.Record = None,
    recorded: options.Recorded = None,
    refresh: options.Refresh = False,
    snippets: options.Snippets = False,
    allow_private: options.AllowPrivate = False,
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
    """Ask TruthfulQA's 790 questions with two choices each: does answering again mend answers, and does it spoil any.

    Every call is kept in the run's folder before it is used, so the same command
    with --run goes on after any end. The folder gets report.html, report.md and
    results.json. Exit code 4: a provider failed items; 5: a limit ended the run.
    """
    from eval_truthfulqa.data import ANSWER_KEY_SITES, fetched, load, names_answers, read_questions, select
    from eval_truthfulqa.items import ChoiceItem
    from eval_truthfulqa.runner import in_order
    from eval_truthfulqa.session import Plan, evaluate
    from regen.cli.evaluating import file_hash
    from regen.cli.setup import source_list, with_program
    from regen.settings import load as load_settings

    asked = in_order(ours.names(settings))
    flags: dict[str, Any] = {"k": k, "model": model, "judge_model": judge_model, "judge": judge, "api_base": api_base}
    flags |= {"support": "strict" if strict else None, "seed": seed, "max_rounds": max_rounds}
    flags |= {"judge_samples": judge_samples, "concurrency": concurrency}
    flags |= {"credibility": credibility, "credibility_list": credibility_list}
    flags |= options.search_flags(
        docs,
        search,
        sites=site,
        exclude_sites=exclude_site,
        since=since,
        recorded=recorded,
        snippets=snippets,
        allow_private=allow_private,
    )
    given, compiled = with_program(load_settings(flags), program)
    sources = source_list(given, credibility_list)
    if not answer_keys:
        given = given.model_copy(update={"exclude_sites": (*given.exclude_sites, *ANSWER_KEY_SITES)})
    searches = asked != ["closed"]
    if record is not None and not searches:
        raise InputError("--record goes with a setting that searches: rag, control or regenerated.")
    named = read_questions(questions) if questions else []
    file = data or fetched()
    chosen = select(
        load(file),
        questions=named,
        categories=category or (),
        types=type or (),
        sample=sample,
        seed=given.seed,
        limit=limit,
    )
    kept_keys = {"answer_keys": "kept" if answer_keys else "taken out"} if searches else {}
    part: dict[str, object] = {"questions": file_hash(questions)} if questions else {}
    part |= {"category": category or [], "type": type or [], "sample": sample, "limit": limit}
    evaluate(
        Plan(
            name="truthfulqa",
            items=[
                ChoiceItem(
                    id=item.id,
                    question=item.question,
                    choices=[item.right, item.wrong],
                    answer=0,
                    category=item.category,
                    type=item.type,
                )
                for item in chosen
            ],
            asked=asked,
            settings=given,
            data={"data": "TruthfulQA.csv, January 2025", "data_sha256": file_hash(file), "part": part, **kept_keys},
            searches=searches,
            exclude=given.exclude_sites if searches else (),
            refused=None if answer_keys else names_answers,
            program=compiled,
            sources=sources,
            run=run,
            engine=engine,
            both_orders=both_orders,
            batch=batch,
            max_calls=max_calls,
            max_cost=max_cost,
            retry_failed=retry_failed,
            record=record,
            refresh=refresh,
            json=json,
            quiet=quiet,
        )
    )
