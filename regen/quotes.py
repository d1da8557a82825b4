"""Finds quotes in documents, so that a judge's word can be checked."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

# A quote is found when this share of its characters lines up with the document (rapidfuzz's ratio, 0 to 100).
FUZZY_RATIO = 92.0
# Shorter quotes match by chance, so they must stand in the document letter by letter.
FUZZY_FROM = 24

_FOLD = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
_SENTENCE = re.compile(r"(?<=[.!?])\s?[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n{2,}|\n(?=\s*(?:[-*#|]|\d+\.))")


def find_quote(quote: str, text: str) -> str | None:
    """The part of `text` that `quote` was copied from, or None.

    Case, white space, what cannot be seen, and the shapes of quotation marks and dashes do not count. Beyond that, a
    quote of at least `FUZZY_FROM` characters may differ in up to `100 - FUZZY_RATIO` percent of them. Cuts (`...`) at
    the ends are taken off; every part between inner cuts must be found. Without a letter or a digit it is no quote.
    """
    parts = [_fold(part)[0].strip(" \"'") for part in re.split(r"\.{3,}|\u2026", quote)]
    parts = [part for part in parts if any(map(str.isalnum, part))]
    if not parts:
        return None
    folded, places = _fold(text)
    found = [_locate(part, folded) for part in parts]
    spans = [span for span in found if span is not None]
    if len(spans) < len(parts):
        return None
    start, end = max(spans, key=lambda span: span[1] - span[0])
    return text[places[start] : places[end - 1] + 1].strip()


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order, each as it stands there."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each of the sentences of `text` begins and ends; what has no letter and no digit is none."""
    found, end = [], 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        if any(map(str.isalnum, sentence)):
            found.append((start, end))
    return found


def _locate(part: str, text: str) -> tuple[int, int] | None:
    at = text.find(part)
    if at >= 0:
        return at, at + len(part)
    if len(part) < FUZZY_FROM or len(part) > len(text):
        return None
    best = fuzz.partial_ratio_alignment(part, text, score_cutoff=FUZZY_RATIO)
    if best is None or best.dest_end <= best.dest_start:
        return None
    start, end = best.dest_start, best.dest_end
    # The best stretch is as long as the quote, and can begin or end inside a word.
    while start > 0 and text[start - 1 : start + 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1 : end + 1].isalnum():
        end += 1
    return start, end


def _fold(text: str) -> tuple[str, list[int]]:
    """`text` folded for comparison, and for each of its characters the place it came from."""
    kept: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in _letters(character):
            if letter == " " and (not kept or kept[-1] == " "):
                continue
            kept.append(letter)
            places.append(place)
    while kept and kept[-1] == " ":
        kept.pop()
        places.pop()
    return "".join(kept), places


@lru_cache(maxsize=8192)
def _letters(character: str) -> str:
    if character == "\u00ad":
        return ""
    # Prompts show what cannot be seen as a space (`regen.fence.printable`).
    if unicodedata.category(character) in {"Cc", "Cf", "Cn"}:
        return " "
    folded = unicodedata.normalize("NFKC", character).translate(_FOLD).casefold()
    return "".join(" " if letter.isspace() else letter for letter in folded)
