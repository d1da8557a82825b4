"""Text, title and date of one fetched page. Run as a module, it does so for a parent process (`search.sandbox`)."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict

from search import formats
from search.files import quiet
from search.formats import Kind
from search.passages import first_heading
from search.text import Content, UnreadableError, clean, decode, one_line

MAX_CHARACTERS = 1_000_000  # of a page's text, about 400 pages of a book; what is beyond is left out

# What is quoted from a page is looked for in its text, so that its words stay as they are, marks and all.
_ESCAPE = re.compile(r"(?P<slashes>\\+)(?P<mark>[*_`~\[\]<])|(?m:^)(?P<number>\d{0,9})\\(?=[#>+.)-])")
_MEMORY = 2_000_000_000  # bytes that reading a page may take


class Page(BaseModel):
    """What was read from one page. Warnings go after the name of the page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    url: str = ""
    """Where it was found in the end, after redirects."""
    title: str = ""
    published: date | None = None
    warnings: list[str] = []


def parse(data: bytes, kind: Kind, charset: str | None = None) -> Page:
    """What `data` says. It is hostile: this can take for ever, or all memory, so a process of its own runs it.

    Raises:
        UnreadableError: whatever is wrong with it; nothing else is raised.
    """
    try:
        if not data.strip():
            raise UnreadableError("it is empty")
        with quiet():
            content = _content(data, kind, charset)
    except UnreadableError:
        raise
    except Exception as error:  # a damaged page can make its parser raise anything
        raise UnreadableError(f"it is damaged ({type(error).__name__}: {one_line(clean(str(error)))})") from error
    text = clean(content.text)
    if not text:
        raise UnreadableError("no text was found in it")
    warnings = list(content.warnings)
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
        warnings.append(f"only the first {MAX_CHARACTERS:,} characters of its text were read")
    title = one_line(clean(content.title)) or first_heading(text) or ""
    return Page(text=text, title=title, published=content.published, warnings=warnings)


def _content(data: bytes, kind: Kind, charset: str | None) -> Content:
    if kind == "pdf":
        return formats.pdf(data)
    if kind == "docx":
        return formats.docx(data)
    if data.count(0) * 100 < len(data):  # more of them are UTF-16, or no text at all
        data = data.replace(b"\0", b" ")
    utf8 = _as_utf8(data)
    if kind == "text":
        return Content(utf8 if utf8 is not None else decode(data, charset))
    content = formats.html(data, charset) if utf8 is None else formats.html(utf8.encode(), "utf-8")
    return replace(content, text=_ESCAPE.sub(_unescaped, content.text))


def _unescaped(found: re.Match[str]) -> str:
    """Undoes trafilatura: a backslash before each mark of Markdown, and two for each that was there before it."""
    if found["slashes"]:
        return "\\" * (len(found["slashes"]) // 2) + found["mark"]
    return found["number"] or ""


def _as_utf8(data: bytes) -> str | None:
    """The text in `data` if it is UTF-8 with hardly an error, which no other encoding looks like by chance.

    That goes before what server and page declare, which is wrong more often, and spares a page that was cut inside a
    character.
    """
    text = data.decode("utf-8", "replace")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    errors = text.count("\N{REPLACEMENT CHARACTER}")
    return text if beyond_ascii and errors * 20 <= beyond_ascii else None


def main() -> None:
    """Reads pages from standard input until it ends; writes what they say to standard output, one JSON value a line.

    Before each page comes a line of JSON with its `kind`, its `charset`, and its `size` in bytes. The first line
    written is `{}`: all is loaded.
    """
    # What a library prints must not get between the lines.
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    _limit_memory()
    import trafilatura  # noqa: F401  (the slowest to load, and nearly every page needs it)

    print("{}", file=out, flush=True)
    source: BinaryIO = sys.stdin.buffer
    for line in iter(source.readline, b""):
        head = json.loads(line)
        try:
            page = parse(source.read(head["size"]), head["kind"], head["charset"])
            reply: dict[str, object] = {"page": page.model_dump(mode="json")}
        except UnreadableError as error:
            reply = {"cause": str(error)}
        print(json.dumps(reply), file=out, flush=True)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not there on Windows
        return
    with suppress(OSError, ValueError):  # a lower limit is set already, or the system has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main()
