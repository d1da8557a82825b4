"""`regen optimize`."""

from __future__ import annotations

import os
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regen.cli import options, run_options
from regen.cli.terminal import Steps, complain, console
from regen.errors import InputError

if TYPE_CHECKING:
    from regen.compiled import Card, Score
    from regen.compiling import Budget
    from regen.settings import Settings

# Of the questions: for training, validation and test.
_SHARES = (0.5, 0.25, 0.25)
_STANCES = ("stance", "factcheck", "healthver", "climate_fever")


def optimize(
    train: Annotated[Path, typer.Option("--train", metavar="FILE", help="What is learnt from.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the program; an own one to go on.")],
    optimizer: Annotated[
        Literal["gepa", "mipro", "bootstrap", "simba", "labeled"],
        typer.Option(
            "--optimizer",
            help="gepa (instructions, from what went wrong), mipro (instructions and examples), bootstrap (examples), "
            "simba (rules and examples), labeled (examples as they are labelled; no search).",
        ),
    ] = "gepa",
    val: Annotated[
        Path | None, typer.Option("--val", metavar="FILE", help="What chooses; a part of --train where not given.")
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="FILE", help="Held back for the final scores; a part of --val, or of --train."),
    ] = None,
    format: Annotated[
        Literal["choices", "ramdocs", "conflict_nq", "truthfulqa", "stance", "factcheck", "healthver", "climate_fever"],
        typer.Option(
            "--format",
            help="What the files hold: choices or stance (lines as regen eval choices and regen eval stance take "
            "them), or a known set.",
        ),
    ] = "choices",
    metric: Annotated[
        Literal["choice", "net", "consistency", "stance", "composite"] | None,
        typer.Option(
            "--metric",
            help="What is to become better: choice (the right one), net (mended minus spoiled), consistency (1 - CS-R),"
            " composite (these three), stance (the judge's; the default with stances).",
        ),
    ] = None,
    harm: Annotated[
        float | None,
        typer.Option("--harm", metavar="WEIGHT", min=0.0, help="With net: what a spoiled answer weighs (default 1)."),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            "--budget", metavar="SIZE", help="light, medium or heavy; or a number of model calls to compile with."
        ),
    ] = "light",
    only: Annotated[
        Literal["answer", "claims", "judge"] | None,
        typer.Option("--only", help="Compile only these prompts; all that the items use where not given."),
    ] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    prompt_model: Annotated[
        str | None,
        typer.Option("--prompt-model", help="Model that writes instructions; the answering one if not given."),
    ] = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    claims: options.Claims = None,
    strict: options.Strict = False,
    seed: options.Seed = None,
    concurrency: run_options.Concurrency = None,
    docs: options.Docs = None,
    k: options.K = None,
    search: options.Search = None,
    recorded: options.Recorded = None,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Compile the prompts on labelled items, and keep the program: for --program of ask, score and eval.

    The folder gets program.json (the prompts), card.json and card.md (what they
    are worth on held-back items), and every call, so that the same command goes
    on after any end. Ctrl-C leaves the best program so far.
    """
    from regen.settings import load as load_settings

    stances = format in _STANCES
    if stances != (metric in (None, "stance")) and (stances or metric == "stance"):
        raise InputError(f"The metric {metric} does not go with the format {format}.")
    if harm is not None and metric != "net":
        raise InputError("--harm goes with --metric net.")
    flags: dict[str, Any] = {"model": model, "judge_model": judge_model, "api_base": api_base, "judge": judge}
    flags |= {"claims": claims, "support": "strict" if strict else None, "seed": seed, "k": k}
    flags |= {"concurrency": concurrency}
    flags |= options.search_flags(docs, search, recorded=recorded)
    settings = load_settings(flags)
    size = _budget(budget)
    # Before DSPy is imported: its optimizers show a bar for each of their steps.
    os.environ.setdefault("TQDM_DISABLE", "1")
    steps = Steps(quiet=quiet)
    sets = _sets((train, val, test), format, settings, steps)
    name = metric or ("stance" if stances else "choice")
    _compile(settings, steps, sets, name, harm, out, optimizer, size, only, prompt_model)
    from regen.compiled import Compiled

    card = Compiled.read(out).card
    if json:
        print(card.model_dump_json(indent=2))
    else:
        show(card, out)


def _budget(given: str) -> Budget | int:
    sizes: tuple[Budget, ...] = ("light", "medium", "heavy")
    if given.isdecimal() and int(given):
        return int(given)
    for size in sizes:
        if given == size:
            return size
    raise InputError(f"--budget is light, medium, heavy or a number of calls, not {given!r}.")


def _sets(
    files: tuple[Path, Path | None, Path | None], format: str, settings: Settings, steps: Steps
) -> tuple[list[Any], list[Any], list[Any]]:
    """Training, validation and test: the files that are given, and parts of them for those that are not."""
    from optimizing.data import load, split

    with steps.live():
        steps("loading")
        train, *others = [load(file, format) if file else [] for file in files]
        val, test = others
        first, second, _ = _SHARES
        if not val and not test:
            train, val, test = split(train, _SHARES, settings.seed)
        elif not test:
            val, test = split(val, (0.5, 0.5), settings.seed)
        elif not val:
            train, val = split(train, (first / (first + second), second / (first + second)), settings.seed)
        if any("claim" not in example and example.documents is None for example in (*train, *val, *test)):
            train, val, test = _found((train, val, test), format, settings, steps)
        return train, val, test


def _found(parts: tuple[list[Any], ...], format: str, settings: Settings, steps: Steps) -> list[list[Any]]:
    """The examples with documents, found as `regen eval truthfulqa` finds them."""
    from eval_truthfulqa.data import ANSWER_KEY_SITES, names_answers
    from optimizing.data import with_documents
    from regen.cli import searching
    from search.urls import on_site

    settings = settings.model_copy(update={"exclude_sites": (*settings.exclude_sites, *ANSWER_KEY_SITES)})
    search = searching.prepared(settings, steps)

    def refused(url: str) -> bool:
        return on_site(url, settings.exclude_sites) or names_answers(url)

    found = []
    for part in parts:
        examples, warnings = with_documents(part, search, settings.k, steps, refused)
        for warning, count in warnings.most_common():
            steps.note(f"{warning} ({count} of {len(part)} questions)")
        found.append(examples)
    return found


def _compile(
    settings: Settings,
    steps: Steps,
    sets: tuple[list[Any], list[Any], list[Any]],
    metric: str,
    harm: float | None,
    out: Path,
    optimizer: Any,
    budget: Budget | int,
    only: Any,
    prompt_model: str | None,
) -> None:
    from functools import partial

    from regen.cli.setup import check, make_model, one_sentence
    from regen.compiled import PROGRAM

    writer = settings.model_copy(update={"model": prompt_model}) if prompt_model else settings
    check(settings, "answer", "judge")
    check(writer, "answer")
    with steps.live():
        steps("loading")
        import logging

        import dspy

        from regen.compiling import optimize as compile_program
        from regen.metrics import METRICS
        from regen.program import Regen

        # What they log of single failures is in the scores, and what ends them is told in a sentence.
        logging.getLogger("dspy").setLevel(logging.CRITICAL)
        lm = make_model(settings, "answer", steps)
        judge_lm = make_model(settings, "judge", steps) if settings.judge_model else None
        prompt_lm = make_model(writer, "answer", steps) if prompt_model else None
        chosen = METRICS[metric] if harm is None else partial(METRICS[metric], harm=harm)
        with dspy.context(lm=lm), one_sentence(), Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            program = Regen(
                None,
                settings.judge,
                max_rounds=settings.max_rounds,
                support=settings.support,
                check_quotes=settings.check_quotes,
                seed=settings.seed,
                judge_lm=judge_lm,
                claim_kind=settings.claims,
            )
            try:
                compile_program(
                    *sets,
                    metric=chosen,
                    out=out,
                    optimizer=optimizer,
                    budget=budget,
                    only=only,
                    program=program,
                    prompt_lm=prompt_lm,
                    seed=settings.seed,
                    concurrency=settings.concurrency,
                    tell=steps,
                    note=steps.note,
                )
            except KeyboardInterrupt:
                there = (out / PROGRAM).exists()
                kept = f"The best program so far is in {out}" if there else "No program was scored in full yet"
                complain(f"{kept}; the same command goes on, and pays for no model call twice.")
                raise


def show(card: Card, out: Path) -> None:
    """What came of it, on standard output."""
    from regen.cli.progress import spent_words

    screen = console()
    for name, score in card.scores().items():
        if score is not None:
            screen.print(f"{name:<18} {_words(score)}", soft_wrap=True)
    if card.stopped:
        screen.print(card.stopped, soft_wrap=True)
    screen.print(spent_words(card.usage), style="dim")
    screen.print(f"Program: {out}  (use it with --program; regen program show {out} prints it)", soft_wrap=True)


def _words(score: Score) -> str:
    failed = f", {score.failed} failed" if score.failed else ""
    return f"{score.mean:6.3f}  95% {score.low:.3f} to {score.high:.3f}  over {score.n} held-back items{failed}"
