"""Inline citations `[n]`: which documents an answer cites, and whether they are there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from regen.types import Document

_CITATION = re.compile(r"[ \t]*\[((?:\d{1,3})(?:\s*[,;]\s*\d{1,3})*)\]")


def check_citations(text: str, documents: Sequence[Document]) -> tuple[str, list[str], list[str]]:
    """Takes out citations that point to no document.

    Returns:
        The text with every citation left as `[n]`, the ids of the documents cited in order of first mention, and a
        warning for each citation that was taken out.
    """
    cited: dict[str, None] = {}
    warnings: dict[str, None] = {}

    def keep(match: re.Match[str]) -> str:
        kept = ""
        for number in map(int, re.findall(r"\d+", match.group(1))):
            if 1 <= number <= len(documents):
                cited[documents[number - 1].id] = None
                kept += f"[{number}]"
            else:
                warnings[f"The answer cites [{number}], and there is no such document: the citation was removed."] = (
                    None
                )
        space = re.match(r"[ \t]*", match.group())
        return (space.group() if space and kept else "") + kept

    return _CITATION.sub(keep, text), list(cited), list(warnings)


def without_citations(text: str) -> str:
    """The text without its citations."""
    return _CITATION.sub("", text)
