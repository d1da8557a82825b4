"""The commands put together, and how every one of them ends: with an answer, or with a sentence and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from regen.cli import models
from regen.cli.ask import ask
from regen.cli.config import config
from regen.cli.doctor import doctor
from regen.cli.schema import schema
from regen.cli.score import score
from regen.cli.terminal import complain
from regen.errors import RegenError

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
        bool | None, typer.Option("--version", is_eager=True, callback=lambda given: _version(given), help="Say which.")
    ] = None,
) -> None:
    """Answer from search results, find where the sources disagree about the answer, and answer again."""


app.command("ask")(ask)
app.command("score")(score)
app.add_typer(models.app, name="models")
app.command("doctor")(doctor)
app.command("config")(config)
app.command("schema")(schema)


def main() -> None:
    """Runs the command line and ends the process with its exit code."""
    _load_keys(Path(".env"))
    for point in entry_points(group="regen.commands"):
        app.add_typer(point.load(), name=point.name)
    try:
        app()
    except RegenError as error:
        complain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        complain("Interrupted.")
        # Threads may still wait for a model; their answers are of no use any more.
        sys.stdout.flush()
        os._exit(128 + signal.SIGINT)
    except BrokenPipeError:
        # The reader of a pipe went away (`regen ask ... | head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _version(given: bool | None) -> None:
    if given:
        from regen import __version__

        typer.echo(f"regen {__version__}")
        raise typer.Exit


def _load_keys(file: Path) -> None:
    """Puts the providers' keys of a `.env` file into the environment. Settings read their own part of it."""
    if file.is_file():
        from dotenv import dotenv_values

        for name, value in dotenv_values(file).items():
            if value is not None and not name.startswith("REGEN_"):
                os.environ.setdefault(name, value)
