"""`regen models`: the local models that are there; fetches, checks and removes them."""

from __future__ import annotations

from typing import Annotated

import typer

from regen.cli.terminal import Steps, console

app = typer.Typer(invoke_without_command=True, help="List, fetch, check, remove local models.")


@app.callback()
def models(context: typer.Context) -> None:
    """List the local models."""
    if context.invoked_subcommand is None:
        show()


@app.command("list")
def show() -> None:
    """List the local models, and the one that is fetched when it is first needed."""
    from regen.models import weights
    from regen.settings import load

    out = console()
    named = load().model_path
    if named:
        out.print(f"REGEN_MODEL_PATH or the config file names {named}, which is used instead.", soft_wrap=True)
    found = weights.installed()
    for item in found:
        state = "" if item.complete else "  broken off; to go on: regen models pull"
        out.print(f"{item.name}  {item.size / 1e6:,.0f} MB  {item.path}{state}", soft_wrap=True)
    if weights.EMBEDDED.name not in {item.name for item in found}:
        size = weights.EMBEDDED.size / 1e6
        out.print(f"{weights.EMBEDDED.name}  {size:,.0f} MB  not fetched yet: regen models pull", soft_wrap=True)


@app.command()
def pull() -> None:
    """Fetch the embedded model, or go on where that broke off."""
    from regen.models import weights

    steps = Steps()
    with steps.live():
        path = weights.fetch(steps.transfer("fetching the embedded model"), steps.note)
    console().print(str(path), soft_wrap=True)


@app.command()
def verify() -> None:
    """Check the embedded model's SHA-256."""
    from regen.models import weights

    steps = Steps()
    with steps.live():
        path = weights.verify(steps.transfer("checking"))
    console().print(f"{path} is what it should be.", soft_wrap=True)


@app.command()
def remove(name: Annotated[str, typer.Argument(help="As `regen models` lists it.")]) -> None:
    """Remove a model from the cache."""
    from regen.models import weights

    freed = weights.remove(name)
    console().print(f"Removed {name}: {freed / 1e6:,.0f} MB freed.")
