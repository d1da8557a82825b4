"""Fences documents in prompts: what a document says is data, and nothing in it can end its fence."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regen.types import Document

# What could end a document's own fence, a field of one of DSPy's adapters, or a turn of a chat template.
# In full width, or with what cannot be seen between, it is read as the same; these fillers count as letters.
_BETWEEN = r"[\W\u115f\u1160\u17b4\u17b5\u3164\uffa0]"
_WORD = f"{_BETWEEN}{{0,3}}".join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in "document")
_FENCE = re.compile(rf"[<\uff1c\ufe64](?={_BETWEEN}{{0,20}}{_WORD})", re.IGNORECASE)
_FIELD = re.compile(r"\[\[(?=\s*##)")
_TURN = re.compile(
    r"<(?=[|\uff5c])|(?<=[|\uff5c])>|\[(?=/?(?:INST|SYSTEM_PROMPT)\])|<(?=/?(?:s|bos|eos|SYS|(?:start|end)_of_turn)>)",
    re.IGNORECASE,
)
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    """`text` without control and invisible characters, such as those that move a terminal's cursor."""
    return _CONTROL.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


def harmless(text: str) -> str:
    """`text` printable, and with every mark broken that could end a fence or a turn of a conversation."""
    text = _FENCE.sub("\u2039", printable(text.replace("\u00ad", "")))
    text = _FIELD.sub("[ [", text)
    return _TURN.sub(lambda mark: {"<": "\u2039", ">": "\u203a", "[": "("}[mark.group()], text)


def fence(document: Document, number: int | None = None, *, hosts: bool = False) -> str:
    """One document as it stands in a prompt: its number, title, date, host if wanted, and text inside a fence."""
    head = "" if number is None else f' number="{number}"'
    if document.title:
        head += f' title="{_attribute(document.title)}"'
    if document.dated:
        head += f' date="{document.dated.isoformat()}"'
    if hosts and (host := document.host):
        head += f' host="{_attribute(host)}"'
    return f"<document{head}>\n{harmless(document.text).strip()}\n</document>"


def fence_all(documents: Sequence[Document], without: Collection[str] = (), *, hosts: bool = False) -> str:
    """Documents numbered from 1, in the order given; citations `[n]` refer to these numbers.

    Those whose ids are in `without` are left out, and the others keep their numbers.
    """
    return "\n\n".join(
        fence(document, number, hosts=hosts)
        for number, document in enumerate(documents, 1)
        if document.id not in without
    )


def one_line(text: str, limit: int) -> str:
    """`text` made harmless, on one line, cut at a word to at most `limit` characters."""
    line = " ".join(harmless(text).split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rsplit(" ", 1)[0] + "\u2026"


def _attribute(text: str) -> str:
    return one_line(text, 120).translate({ord('"'): "'", ord("<"): "\u2039", ord(">"): "\u203a"})
