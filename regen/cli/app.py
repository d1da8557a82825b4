"""The commands put together, and how every one of them ends: with an answer, or with a sentence and an exit code."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from regen.cli import models, program, runs
from regen.cli.ask import ask
from regen.cli.check import check
from regen.cli.config import config
from regen.cli.conflicts import conflicts
from regen.cli.doctor import doctor
from regen.cli.report import report
from regen.cli.schema import schema
from regen.cli.score import score
from regen.cli.search import search
from regen.cli.terminal import complain
from regen.errors import CancelledError, ConfigurationError, InputError, RegenError, UnfinishedError

app = typer.Typer(
    name="regen",
    help="Answer from search results, find where the sources disagree about the answer, and answer again.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def regen(
    version: Annotated[
        bool | None,
        typer.Option("--version", is_eager=True, callback=lambda given: _version(given), help="Show the version."),
    ] = None,
) -> None:
    """Answer from search results, find where the sources disagree about the answer, and answer again."""


app.command("ask")(ask)
app.command("report")(report)
app.command("score")(score)
app.command("search")(search)
app.command("check")(check)
app.command("conflicts")(conflicts)
app.add_typer(models.app, name="models")
evals = typer.Typer(
    help="Measure what answering again does, how good a judge is, or what strategies make of conflicts.",
    no_args_is_help=True,
)
app.add_typer(evals, name="eval")
app.add_typer(runs.app, name="runs")
app.add_typer(program.app, name="program")
app.command("doctor")(doctor)
app.command("config")(config)
app.command("schema")(schema)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    code = run(sys.argv[1:])
    if threading.active_count() > 1:
        # Threads still wait for a model whose answers nobody wants any more.
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Runs one command line. Returns its exit code; with `--json`, an error is one JSON object on standard output."""
    for stream in (sys.stdout, sys.stderr):
        # Whatever the terminal's own encoding is: nothing that a document holds may fail to be printed.
        getattr(stream, "reconfigure", lambda **_: None)(encoding="utf-8", errors="replace")
    # What comes of a reply that was cut is told by what was asked for it.
    logging.getLogger("dspy.clients.lm").setLevel(logging.ERROR)
    try:
        with _noticed() as interrupted:
            return _run(arguments)
    except RegenError as error:
        # What an interrupt breaks off in a library, such as an import, can come out as a failure of that library.
        return _fail(CancelledError("Interrupted.") if interrupted.is_set() else error, arguments)


@contextmanager
def _noticed() -> Iterator[threading.Event]:
    """While inside, the event tells whether Ctrl-C was pressed, whatever became of the exception."""
    pressed, before = threading.Event(), signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield pressed
        return

    def note(number: int, frame: FrameType | None) -> None:
        pressed.set()
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _run(arguments: list[str]) -> int:
    try:
        _load_keys(Path(".env"))
        _tell_misspelt(Path(".env"))
        _add_commands()
        if "eval" in arguments:
            _add_evals()
        code = int(app(arguments, prog_name="regen", standalone_mode=False) or 0)
        print(end="", flush=True)
        # Typer makes this code of a KeyboardInterrupt.
        return code if code != CancelledError.exit_code else _fail(CancelledError("Interrupted."), arguments)
    except typer.TyperException as error:
        message, context = error.format_message(), getattr(error, "ctx", None)
        if not message:
            return 2  # Without any arguments, the help was shown instead.
        end = "" if message.endswith((".", "?")) else "."
        command = context.command_path if context else "regen"
        return _fail(InputError(f"{message}{end} See {command} --help."), arguments)
    except UnfinishedError as error:
        # With --json, the one object on standard output is what there was.
        complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        return _fail(CancelledError("Interrupted."), arguments)
    except SystemExit as end:
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        # Rich and Typer exit so where the reader of a pipe went away (`regen check | head`): nothing is wrong.
        _print_no_more()
        return 0
    except OSError as error:
        _print_no_more()
        if isinstance(error, BrokenPipeError):
            return 0
        return _fail(RegenError(f"The system refused to read or write: {error}."), arguments)


def _print_no_more() -> None:
    """What is still to be printed has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: RegenError, arguments: list[str]) -> int:
    if "--json" in arguments:
        from regen.output import failure

        try:
            print(failure(error).model_dump_json(), flush=True)
        except OSError:
            _print_no_more()
    complain(error)
    return error.exit_code


def _add_commands() -> None:
    """Adds the commands that installed packages register in the entry point group `regen.commands`: each a function, or
    a Typer app with commands of its own."""
    there = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    for point in entry_points(group="regen.commands"):
        if point.name in there:
            continue
        command = point.load()
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=point.name)
        else:
            app.command(point.name)(command)


def _add_evals() -> None:
    """Adds the benchmarks that installed packages register, each a function in the entry point group `regen.evals`."""
    there = {command.name for command in evals.registered_commands}
    for point in entry_points(group="regen.evals"):
        if point.name not in there:
            evals.command(point.name)(point.load())


def _version(given: bool | None) -> None:
    if given:
        from regen import __version__

        typer.echo(f"regen {__version__}")
        raise typer.Exit


def _tell_misspelt(file: Path) -> None:
    """Warns of variables that look like a setting and are none: they would be passed over in silence."""
    from dotenv import dotenv_values

    names = [*os.environ, *(dotenv_values(file) if file.is_file() else ())]
    # These two are read before there are settings, which take a while to load.
    given = [name for name in names if name.startswith("REGEN_") and name not in ("REGEN_CONFIG", "REGEN_CACHE_DIR")]
    if not given:
        return
    from regen.settings import misspelt

    for name, meant in misspelt(given).items():
        complain(f"{name} is no setting and is passed over: is {meant} meant?")


def _load_keys(file: Path) -> None:
    """Puts the providers' keys of a `.env` file into the environment. Settings read their own part of it."""
    if file.is_file():
        from dotenv import dotenv_values

        try:
            for name, value in dotenv_values(file).items():
                if value is not None and not name.startswith("REGEN_"):
                    os.environ.setdefault(name, value)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"The file .env in this folder cannot be read: {error}.") from None
