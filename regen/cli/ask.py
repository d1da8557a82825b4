"""`regen ask`: one question, a session of them, or a file of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regen import settings as settings_module
from regen.cli import options, render
from regen.cli.terminal import Steps, complain, console
from regen.errors import InputError, RegenError
from regen.settings import Settings

if TYPE_CHECKING:
    from regen.types import Result


def ask(
    question: Annotated[str | None, typer.Argument(help="What to ask; without it, a session begins.")] = None,
    docs: options.Docs = None,
    choice: Annotated[
        list[str] | None, typer.Option("--choice", "-c", help="An answer to choose from; give two or more.")
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="Documents to retrieve (10).")] = None,
    max_rounds: Annotated[int | None, typer.Option("--max-rounds", help="Regenerations at most (1).")] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    strict: options.Strict = False,
    seed: options.Seed = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file with a question a line; prints JSONL.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="With --file: add to this file; skip what it holds.")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
) -> None:
    """Answer a question from documents, show where they disagree about the answer, and answer again."""
    from regen.output import ask_output, failure

    try:
        if question is not None and file is not None:
            raise InputError("Give a question or --file, not both.")
        if out is not None and file is None:
            raise InputError("--out goes with --file.")
        chosen = settings_module.load(
            {
                "docs": docs,
                "k": k,
                "max_rounds": max_rounds,
                "model": model,
                "judge_model": judge_model,
                "api_base": api_base,
                "judge": judge,
                "support": "strict" if strict else None,
                "seed": seed,
            }
        )
        if question is not None and not question.strip():
            raise InputError("The question is empty: ask something.")
        if question is None and file is None and (json or not sys.stdin.isatty()):
            raise InputError("There is no question: give one, or a file of them with --file.")
        agent = Agent(chosen, quiet=quiet or json, no_color=no_color)
        if file is not None:
            _file(agent, file, out, choice)
        elif question is None:
            _session(agent, choice, no_color)
        else:
            result = agent.ask(question, choice)
            if json:
                print(ask_output(result).model_dump_json(indent=2))
            elif quiet:
                render.answer_alone(result, console(no_color=no_color))
            else:
                render.result(result, console(no_color=no_color))
    except RegenError as error:
        if not json:
            raise
        print(failure(error, question=question).model_dump_json(indent=2))
        complain(error)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        if json:
            print(failure(RegenError("Interrupted."), question=question).model_dump_json(indent=2))
        raise


class Agent:
    """The program, its models and its search, set up once for any number of questions."""

    def __init__(self, settings: Settings, *, quiet: bool, no_color: bool = False) -> None:
        from search import provider_class

        if settings.docs is None:
            raise InputError("There is nothing to search: name a folder of documents with --docs.")
        self.steps = Steps(quiet=quiet, no_color=no_color)
        search: Any = provider_class("local")
        self.search = search(settings.docs)
        # A folder that can't be searched is told before a model is fetched for it.
        with self.steps.live():
            self.search.prepare(lambda done, total: self.steps("reading documents", done, total))
        self._settings, self._quiet = settings, quiet
        self._program: Any = None

    def ask(self, question: str, choices: list[str] | None = None) -> Result:
        """One question. Raises what `regen.Regen` raises, with a model's failure in one sentence."""
        from regen.models.failures import translate

        try:
            return self._ask(question, choices)
        except RegenError:
            raise
        except Exception as error:
            raise translate(error) from error

    def _ask(self, question: str, choices: list[str] | None) -> Result:
        from regen.program import Regen, result_of

        if self._program is None:
            from regen.cli.setup import use_models

            judge_lm = use_models(self._settings, quiet=self._quiet)
            self._program = Regen(
                self.search,
                self._settings.judge,
                k=self._settings.k,
                max_rounds=self._settings.max_rounds,
                support=self._settings.support,
                check_quotes=self._settings.check_quotes,
                seed=self._settings.seed,
                judge_lm=judge_lm,
                on_step=self.steps,
            )
        with self.steps.live():
            return result_of(self._program(question=question, choices=choices))


def _file(agent: Agent, file: Path, out: Path | None, choices: list[str] | None) -> None:
    from regen.batch import Lines, finished, read_lines
    from regen.output import ask_output, failure

    done = finished(out, "question") if out else set()
    questions = [line for _, line in read_lines(file) if line not in done]
    lines = Lines(out, sys.stdout)
    failed: RegenError | None = None
    try:
        for number, question in enumerate(questions, 1):
            agent.steps.prefix = f"{number} of {len(questions)}: "
            try:
                lines.write(ask_output(agent.ask(question, choices)))
            except RegenError as error:
                failed = error
                lines.write(failure(error, question=question))
                complain(f"{question}: {error}")
    finally:
        lines.close()
    if failed:
        raise typer.Exit(failed.exit_code)


def _session(agent: Agent, choices: list[str] | None, no_color: bool) -> None:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory

    from regen.paths import cache_dir

    history = cache_dir() / "history"
    history.parent.mkdir(parents=True, exist_ok=True)
    prompt: PromptSession[str] = PromptSession(history=FileHistory(str(history)))
    shown = console(no_color=no_color)
    shown.print("Ask a question; Ctrl-D ends the session, Ctrl-C an answer.", style="dim")
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
            render.result(agent.ask(question, choices), shown)
        except RegenError as error:
            complain(error)
        except KeyboardInterrupt:
            complain("Interrupted: ask again, or end with Ctrl-D.")
