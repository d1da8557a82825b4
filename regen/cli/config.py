"""`regen config`: each setting, its value, and where that came from."""

from __future__ import annotations

import json as json_module
from typing import Annotated

import typer

from regen.cli.terminal import console
from regen.fence import printable


def config(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show every setting, its value and where it came from. Secrets are masked."""
    from regen.paths import cache_dir, config_file
    from regen.settings import Settings, load, origins
    from search.base import provider_settings

    settings, came_from = load(), origins()
    shown = {name: _shown(getattr(settings, name)) for name in Settings.model_fields}
    for name, of_provider in provider_settings().items():
        shown[name] = _shown(getattr(of_provider.read(), name))
        came_from[name] = origins(of=of_provider)[name]
    if json:
        print(json_module.dumps({name: {"value": shown[name], "from": came_from[name]} for name in shown}, indent=2))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("setting", "value", "from"):
        table.add_column(heading, overflow="fold")
    for name, value in shown.items():
        table.add_row(name, Text(value), came_from[name], style="dim" if came_from[name] == "default" else "")
    out = console()
    out.print(table)
    out.print(f"\nFlags come first, then REGEN_... in the environment, then .env, then {config_file()}.", style="dim")
    out.print(
        f"Models, indexes and pages are kept in {cache_dir()}; REGEN_CACHE_DIR names another folder.", style="dim"
    )


def _shown(value: object) -> str:
    """As text; pydantic masks a secret itself, and an address may hold one."""
    from regen.models.wire import without_credentials

    text = "" if value is None else printable(str(value))
    return without_credentials(text) if "://" in text else text
