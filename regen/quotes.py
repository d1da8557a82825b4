"""Finds quotes in documents, so that a judge's word can be checked."""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz import fuzz

# A quote is found when this share of its characters lines up with the document (rapidfuzz's ratio, 0 to 100).
FUZZY_RATIO = 92.0
# Shorter quotes match by chance, so they must stand in the document letter by letter.
FUZZY_FROM = 24

_FOLD = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n{2,}|\n(?=\s*(?:[-*#|]|\d+\.))")


def find_quote(quote: str, text: str) -> str | None:
    """The part of `text` that `quote` was copied from, or None.

    Case, white space, and the shapes of quotation marks and dashes do not count. Beyond that, a quote of at least
    `FUZZY_FROM` characters may differ in up to `100 - FUZZY_RATIO` percent of them. Cuts (`...`) at the ends are
    taken off; every part between inner cuts must be found.
    """
    parts = [part.strip(" \"'") for part in re.split(r"\.{3,}|\u2026", quote)]
    parts = [part for part in parts if part]
    if not parts:
        return None
    folded, places = _fold(text)
    found = [_locate(_fold(part)[0], folded) for part in parts]
    spans = [span for span in found if span is not None]
    if len(spans) < len(parts):
        return None
    start, end = max(spans, key=lambda span: span[1] - span[0])
    return text[places[start] : places[end - 1] + 1].strip()


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, each as it stands there."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def _locate(part: str, text: str) -> tuple[int, int] | None:
    if not part:
        return None
    at = text.find(part)
    if at >= 0:
        return at, at + len(part)
    if len(part) < FUZZY_FROM or len(part) > len(text):
        return None
    best = fuzz.partial_ratio_alignment(part, text, score_cutoff=FUZZY_RATIO)
    return (best.dest_start, best.dest_end) if best and best.dest_end > best.dest_start else None


def _fold(text: str) -> tuple[str, list[int]]:
    """`text` folded for comparison, and for each of its characters the place it came from."""
    kept: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for folded in unicodedata.normalize("NFKC", character).translate(_FOLD).casefold():
            letter = " " if folded.isspace() else folded
            if letter == " " and (not kept or kept[-1] == " "):
                continue
            kept.append(letter)
            places.append(place)
    while kept and kept[-1] == " ":
        kept.pop()
        places.pop()
    return "".join(kept), places
