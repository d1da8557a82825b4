"""`regen program`: compiled programs, to be looked at."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from regen.cli import options
from regen.cli.terminal import console, hang
from regen.fence import printable

if TYPE_CHECKING:
    from regen.compiled import Card

app = typer.Typer(help="Look at compiled programs.", no_args_is_help=True)


@app.callback()
def program() -> None:
    """Look at compiled programs."""


@app.command()
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What regen optimize wrote.")],
    json: options.Json = False,
    no_color: options.NoColor = False,
) -> None:
    """Show a compiled program: its card, and each prompt with what is different from the default one."""
    from regen.compiled import Compiled, markdown

    compiled = Compiled.read(folder)
    if json:
        print(compiled.card.model_dump_json(indent=2))
        return
    out = console()
    out.print(Text(printable(markdown(compiled.card))), soft_wrap=True)
    for name, default, now in _prompts(compiled):
        out.print(Text(f"\n{name}", style="bold"))
        for line in _differences(default.signature.instructions, now.signature.instructions):
            style = {"+": "green", "-": "red"}.get(line[:1], "")
            hang(out, Text(line[:2], style=style), Text(printable(line[2:]), style=style))
        for number, demo in enumerate(now.demos, 1):
            out.print(Text(f"+ example {number}", style="green"))
            for field, value in dict(demo).items():
                for line in f"{field}: {value}".splitlines():
                    hang(out, Text("+   ", style="green"), Text(printable(line), style="green"))


def _prompts(compiled: Any) -> list[tuple[str, Any, Any]]:
    from regen.program import Regen

    default, now = (_program(compiled.card, Regen) for _ in range(2))
    compiled.apply(now)
    before = dict(default.named_predictors())
    return [(name, before[name], predictor) for name, predictor in now.named_predictors()]


def _program(card: Card, make: Any) -> Any:
    return make(None, card.judge, claim_kind=card.claims)


def _differences(default: str, now: str) -> Sequence[str]:
    """The lines of a prompt: those that stayed indented, new ones with a plus, and those that went with a minus."""
    if default == now:
        return [f"  {line}" for line in (*now.splitlines(), "(as by default)")]
    return [line for line in difflib.ndiff(default.splitlines(), now.splitlines()) if not line.startswith("?")]
