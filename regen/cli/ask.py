"""`regen ask`: one question, a session of them, or a file of them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regen.cli import options
from regen.cli.setup import check, deciding, make_model, one_sentence, source_list, with_program
from regen.cli.terminal import Steps, complain, console
from regen.errors import CancelledError, InputError, RegenError, UnfinishedError

if TYPE_CHECKING:
    from regen.compiled import Compiled
    from regen.credibility import SourceList
    from regen.settings import Settings
    from regen.types import Result


def ask(
    question: Annotated[str | None, typer.Argument(help="What to ask; without it, a session begins.")] = None,
    docs: options.Docs = None,
    search: options.Search = None,
    choice: Annotated[
        list[str] | None, typer.Option("--choice", "-c", help="An answer to choose from; give two or more.")
    ] = None,
    k: options.K = None,
    max_rounds: Annotated[
        int | None,
        typer.Option("--max-rounds", metavar="N", min=0, max=10, help="How often to answer again at most (default 1)."),
    ] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    claims: options.Claims = None,
    strategy: options.Strategy = None,
    kinds: options.Kinds = None,
    gold_kind: options.GoldKind = None,
    credibility: options.Credibility = None,
    credibility_list: options.CredibilityList = None,
    program: options.Program = None,
    strict: options.Strict = False,
    resolve: Annotated[
        Literal["none", "recency"] | None,
        typer.Option(
            "--resolve",
            help="recency: of documents that contradict each other, answer again from the newest alone. Undated ones "
            "are kept, and all where a question asks for an opinion. Default none: from all documents.",
        ),
    ] = None,
    log_conflicts: Annotated[
        Path | None,
        typer.Option(
            "--log-conflicts",
            metavar="FILE",
            parser=options.file_name,
            help="Add a line on each question to this JSONL file; see regen conflicts. Privacy: a question on which "
            "documents conflict is written to it, with quotes; of others which documents were read.",
        ),
    ] = None,
    seed: options.Seed = None,
    site: options.Site = None,
    exclude_site: options.ExcludeSite = None,
    since: options.Since = None,
    record: options.Record = None,
    recorded: options.Recorded = None,
    refresh: options.Refresh = False,
    snippets: options.Snippets = False,
    allow_private: options.AllowPrivate = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="Text file with a question on each line; prints JSONL."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="With --file: add to this file, and skip the questions that it answers with the same settings.",
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
) -> None:
    """Answer a question from documents, show where they disagree about the answer, and answer again."""
    from regen.kinds import gold_kind as gold_kind_of
    from regen.settings import load

    if question is not None and file is not None:
        raise InputError("Give a question or --file, not both.")
    if out is not None and file is None:
        raise InputError("--out goes with --file.")
    if out is not None and record is not None and out.resolve() == record.resolve():
        raise InputError("--out and --record take different files.")
    if question is not None and not options.is_text(question):
        raise InputError("The question is empty, or not text: ask something.")
    if question is None and file is None and (json or sys.stdin is None or not sys.stdin.isatty()):
        raise InputError("There is no question: give one, or a file of them with --file.")
    if choice is not None and (len(set(choice)) < 2 or not all(map(options.is_text, choice))):
        raise InputError("Give --choice at least twice, with different answers, or not at all.")
    flags: dict[str, Any] = {
        "k": k,
        "max_rounds": max_rounds,
        "model": model,
        "judge_model": judge_model,
        "judge": judge,
        "judge_samples": judge_samples,
        "claims": claims,
        "strategy": strategy,
        "kinds": kinds,
        "credibility": credibility,
        "credibility_list": credibility_list,
    }
    flags |= {"resolve": resolve, "log_conflicts": log_conflicts}
    flags |= {"api_base": api_base, "support": "strict" if strict else None, "seed": seed}
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
    settings, compiled = with_program(load(flags), program)
    others = {"--out": out, "--record": record, "--file": file, "--recorded": recorded}
    check_log(settings.log_conflicts, {**others, "--credibility-list": settings.credibility_list})
    gold_kind_of(settings.strategy, gold_kind, choosing=choice is not None)
    sources = source_list(settings, credibility_list)

    def agent() -> Agent:
        return Agent(settings, compiled, gold_kind, sources, quiet=quiet, record=record, refresh=refresh)

    if file is not None:
        given = deciding(settings, compiled, sources, "answer", "judge", searches=True)
        _file(agent, file, out, choice, [given, choice, gold_kind])
    elif question is None:
        _session(agent(), choice, quiet)
    else:

        def show(result: Result) -> None:
            _show(result, json=json, quiet=quiet)

        result = agent().show(show, question, choice)
        if error := _not_judged(result):
            if json or quiet:
                complain(f"The answer could not be checked: {error}")
            raise typer.Exit(error.exit_code)


def check_log(log: Path | None, others: dict[str, Path | None]) -> None:
    """Refuses a log of conflicts that is a file with something else in it."""
    for option, other in others.items():
        if log is not None and other is not None and log.resolve() == other.resolve():
            raise InputError(f"--log-conflicts and {option} take different files.")


class Agent:
    """The program, its models and its search, set up once for any number of questions."""

    def __init__(
        self,
        settings: Settings,
        compiled: Compiled | None,
        gold_kind: str | None,
        sources: SourceList | None,
        *,
        quiet: bool,
        record: Path | None,
        refresh: bool,
    ) -> None:
        from regen.cli import searching
        from regen.resolution import check_rounds

        check_rounds(settings.resolve, settings.max_rounds)
        check(settings, "answer", "judge")
        self.steps = Steps(quiet=quiet)
        # A folder that can't be searched is told before a model is fetched for it.
        self.search = searching.prepared(settings, self.steps, record=record, refresh=refresh)
        self._settings, self._compiled, self._quiet = settings, compiled, quiet
        self._gold_kind, self._sources = gold_kind, sources
        self._program: Any = None
        self._so_far: Result | None = None

    def _keep(self, result: Result) -> None:
        self._so_far = result

    def show(self, show: Callable[[Result], None], question: str, choices: list[str] | None = None) -> Result:
        """As `ask`, and shows the result; where it is interrupted or fails, what there was of it.

        Raises:
            UnfinishedError: there was something, and it was shown.
        """
        try:
            result = self.ask(question, choices)
        except (RegenError, KeyboardInterrupt) as error:
            if self._so_far is None:
                raise
            cause, code = "Interrupted in the middle", CancelledError.exit_code
            if isinstance(error, RegenError):
                cause, code = f"{error} This is what there was", error.exit_code
            so_far = self._so_far
            kept = so_far.decision.kept == "first"
            stopped = f"{cause}: {so_far.decision.reason if kept else 'the answer that was given again is shown'}."
            if so_far.initial_report.judged:
                so_far = self._logged(so_far)
            else:
                so_far = so_far.model_copy(update={"warnings": [*so_far.warnings, stopped]})
            with _uninterrupted():
                show(so_far)
                sys.stdout.flush()  # The process may end without waiting for the calls that are still under way.
            raise UnfinishedError(stopped, code) from None
        show(result)
        return result

    def ask(self, question: str, choices: list[str] | None = None) -> Result:
        """One question. Raises what `regen.Regen` raises, with a model's failure in one sentence."""
        self._so_far = None
        with self.steps.live(), one_sentence():
            self._program = self._program or self._load()
            from regen.program import result_of

            result = result_of(self._program(question=question, choices=choices, kind=self._gold_kind))
        return self._logged(result)

    def _logged(self, result: Result) -> Result:
        if self._settings.log_conflicts is None:
            return result
        from regen.conflictlog import logged

        found = logged(result, self._settings.log_conflicts)
        if self._quiet and found is not result:
            complain(found.warnings[-1])  # shown nowhere else
        return found

    def _load(self) -> Any:
        settings, steps = self._settings, self.steps
        steps("loading")
        import dspy

        from regen.program import Regen

        dspy.configure(lm=make_model(settings, "answer", steps))
        program = Regen(
            self.search,
            settings.judge,
            k=settings.k,
            max_rounds=settings.max_rounds,
            support=settings.support,
            check_quotes=settings.check_quotes,
            seed=settings.seed,
            judge_lm=make_model(settings, "judge", steps) if settings.judge_model else None,
            judge_samples=settings.judge_samples,
            claim_kind=settings.claims,
            resolve=settings.resolve,
            strategy=settings.strategy,
            kinds=settings.kinds,
            credibility=settings.credibility,
            credibility_list=self._sources,
            credibility_threshold=settings.credibility_threshold,
            on_step=steps,
            on_result=self._keep,
        )
        return self._compiled.apply(program) if self._compiled else program


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """While inside, a second Ctrl-C does not cut off what is shown for the first."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _show(result: Result, *, json: bool = False, quiet: bool = False) -> None:
    from regen.cli import render
    from regen.output import ask_output

    if json:
        print(ask_output(result).model_dump_json(indent=2))
    elif quiet:
        render.answer_alone(result, console())
    else:
        render.result(result, console())


def _not_judged(result: Result) -> RegenError | None:
    """The judge's failure, where no document could be judged."""
    from regen.program import not_judged

    return not_judged(result)


def _file(
    make_agent: Callable[[], Agent], file: Path, out: Path | None, choices: list[str] | None, given: list[Any]
) -> None:
    from regen import batch
    from regen.output import AskOutput, ask_output

    if out is not None and out.exists() and out.samefile(file):
        raise InputError(f"{out} is the file of questions: name another file with --out.")
    asked = list(dict.fromkeys(line for _, line in batch.read_lines(file)))
    if not asked:
        raise InputError(f"There is no question in {file}.")
    with batch.Lines(out, sys.stdout) as lines:
        made = {question: batch.made_from(question, given) for question in asked}
        done = batch.finished(out, "question", made) if out else set()
        questions = [(question, question) for question in asked if question not in done]
        if not questions:
            complain(f"{out} holds the answers to all questions of {file}.")
            return
        agent = make_agent()

        def one(question: str) -> tuple[AskOutput, RegenError | None]:
            result = agent.ask(question, choices)
            return ask_output(result, made[question]), _not_judged(result)

        code = batch.run(questions, one, lines, key="question", begin=agent.steps.item, complain=complain)
    if code:
        raise typer.Exit(code)


def _session(agent: Agent, choices: list[str] | None, quiet: bool) -> None:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory

    from regen.paths import cache_dir

    history = cache_dir() / "history"
    history.parent.mkdir(parents=True, exist_ok=True)
    prompt: PromptSession[str] = PromptSession(history=FileHistory(str(history)))
    console().print("Ask a question; Ctrl-D ends the session, Ctrl-C an answer.", style="dim")
    while True:
        try:
            question = prompt.prompt("> ").strip()
        except EOFError:
            return
        except KeyboardInterrupt:
            continue
        if not question:
            continue
        try:
            agent.show(lambda result: _show(result, quiet=quiet), question, choices)
        except RegenError as error:
            complain(error)
        except KeyboardInterrupt:
            complain("Interrupted: ask again, or end with Ctrl-D.")
