"""Reports on disk: templates that take nothing from a document or a model for markup, and files that are never half."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regen.errors import InputError
from regen.fence import printable

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#|~!])")
# What makes a list or a rule of a line that begins with it.
_LEADING = re.compile(r"^(\d{0,9})([-+=.](?=[-+=\s]|$))")


def templates(folder: Path, *, html: bool) -> Environment:
    """The Jinja templates of a folder and those that all reports share, with the filters `md`, `percent` and `number`.

    Every string goes through `printable`; in HTML it is escaped as well, and in Markdown where it goes through `md`.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=html,
        finalize=_finished,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": markdown, "percent": percent, "number": number}
    return environment


def put(path: Path, text: str) -> None:
    """Writes a file as one step: a report is never half of one."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8", errors="replace")
    os.replace(fresh, path)  # noqa: PTH105


def written(path: Path, text: str) -> InputError | None:
    """As `put`, for a file that the user named: what keeps it from being written, if anything.

    What the file would have held was paid for, and is to be shown first.
    """
    try:
        put(path, text)
    except OSError as error:
        with suppress(OSError):
            path.with_name(f".{path.name}.new").unlink(missing_ok=True)
        return InputError(f"{path} was not written ({error.strerror}): name another file.")
    return None


def markdown(text: object) -> str:
    """A text as Markdown shows it: on one line, and no sign of it markup."""
    line = escape(" ".join(printable(str(text)).split()), quote=False)
    return _LEADING.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", line))


def percent(value: float | None) -> str:
    """A part of 1 in percent; a dash where there is none."""
    return "\u2013" if value is None else f"{100 * value:.1f}%"


def number(value: float | None, digits: int = 1) -> str:
    """A number with separators; a dash where there is none."""
    return "\u2013" if value is None else f"{value:,.{digits}f}"


def plain(value: Any) -> str:
    """A setting's value in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or "none"
    if isinstance(value, dict):
        given = {name: part for name, part in value.items() if part not in (None, [], "")}
        return ", ".join(f"{name} {plain(part)}" for name, part in given.items()) or "all"
    return "none" if value is None else str(value)


def _finished(value: Any) -> Any:
    """A value as it goes into a report: no text with control characters, or with such as turn the writing around."""
    return printable(value) if type(value) is str else value
