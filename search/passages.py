"""Passages: a text cut into overlapping windows that begin and end where a sentence or a section does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

MAX_WORDS = 300  # a passage holds at most this many words, its repeated heading not counted
MIN_WORDS = 200  # from here on a passage ends at the end of a paragraph, or where the next section begins
OVERLAP_WORDS = 40  # whole sentences of at most this many words stand in two neighbouring passages

WORD_CHARACTERS = 8  # a "word" of text without spaces (Chinese, a data dump) is this many characters
_BREAK = re.compile(r"(?m:^#{1,6}[ \t].*\n+)|\n\n+|[.!?…][\"'”’)\]]*\s+|[。！？]\s*|\n(?=[ \t]*(?:[-*+|#]|\d+[.)] ))")  # noqa: RUF001


@dataclass(frozen=True)
class Unit:
    """One sentence, list item or heading: text[start:end], white space after it included."""

    start: int
    end: int
    words: int
    heading: str | None
    ends_paragraph: bool


def passages(text: str) -> list[str]:
    """`text` in passages of 200 to 300 words; one passage where it has 300 words or fewer, none where it is blank.

    Each passage is a slice of `text`, so that what is quoted from it stands in the file. A passage that begins inside
    a section of a Markdown text has the section's heading before the slice. A heading never ends a passage, and the
    overlap never reaches back over a heading.
    """
    if not text.strip():
        return []
    if count_words(text) <= MAX_WORDS:
        return [text.strip()]
    units = units_of(text)
    found: list[str] = []
    first, heading = 0, ""
    while first < len(units):
        start = _overlap_start(units, first)
        last = _window_end(units, start, first)
        body = text[units[start].start : units[last - 1].end].strip()
        found.append(f"{heading}\n\n{body}" if heading and units[start].heading is None else body)
        heading = next((unit.heading for unit in reversed(units[first:last]) if unit.heading), heading)
        first = last
    return found


def first_heading(text: str) -> str | None:
    """The words of the first Markdown heading of `text` outside code fences, or None."""
    fenced = False
    for line in text.splitlines():
        fenced ^= _is_fence(line)
        if not fenced and (heading := _heading(line)):
            return re.sub(r"\s#+$", "", heading.lstrip("#")).strip()
    return None


def _overlap_start(units: list[Unit], first: int) -> int:
    """The unit where the passage begins whose first new unit is `first`."""
    start, overlap = first, 0
    while start > 0 and not units[start].heading and not units[start - 1].heading:
        overlap += units[start - 1].words
        if overlap > OVERLAP_WORDS or overlap + units[first].words > MAX_WORDS:
            break
        start -= 1
    return start


def _window_end(units: list[Unit], start: int, first: int) -> int:
    """The index after the last unit of the passage that begins at `start` and has `first` as its first new unit."""
    words = sum(unit.words for unit in units[start : first + 1])
    last, paragraph = first + 1, 0
    while last < len(units) and words + units[last].words <= MAX_WORDS:
        if words >= MIN_WORDS and units[last].heading:
            break
        if words >= MIN_WORDS and units[last - 1].ends_paragraph:
            paragraph = last
        words += units[last].words
        last += 1
    if last == len(units):
        return last
    if not units[last].heading and not units[last - 1].ends_paragraph:
        last = paragraph or last
    while last > first + 1 and units[last - 1].heading:
        last -= 1
    return last


def units_of(text: str) -> list[Unit]:
    """`text` in units that cover it whole; none has more than MAX_WORDS words."""
    cuts = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    units: list[Unit] = []
    fenced = False
    for start, end in pairwise(cuts):
        piece = text[start:end]
        if not piece:
            continue
        heading = None if fenced else _heading(piece.rstrip())
        fenced ^= sum(_is_fence(line) for line in piece.splitlines()) % 2 == 1
        for begin, stop in _pieces(text, start, end):
            ends_paragraph = stop == end and piece.endswith("\n\n")
            units.append(Unit(begin, stop, count_words(text[begin:stop]), heading, ends_paragraph))
    return units


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """text[start:end] in pieces of at most MIN_WORDS words, where it has too many for one passage."""
    if count_words(text[start:end]) <= MAX_WORDS:
        return [(start, end)]
    pieces, begin, words = [], start, 0.0
    for word in re.finditer(rf"\S{{1,{WORD_CHARACTERS * MIN_WORDS}}}\s*", text[start:end]):
        size = max(1, len(word.group()) / WORD_CHARACTERS)
        if words and words + size > MIN_WORDS:
            pieces.append((begin, start + word.start()))
            begin, words = start + word.start(), 0.0
        words += size
    return [*pieces, (begin, end)]


def count_words(text: str) -> int:
    """The words of `text`; where there are few blanks, as in Chinese, every eight characters count as one."""
    return max(len(text.split()), len(text) // WORD_CHARACTERS)


def _heading(line: str) -> str | None:
    """The Markdown heading `line`, or None where it is none."""
    marks = len(line) - len(line.lstrip("#"))
    words = line[marks:]
    is_heading = 1 <= marks <= 6 and words[:1] in (" ", "\t") and "\n" not in line and len(words.split()) <= 40
    return line.strip() if is_heading and words.strip() else None


def _is_fence(line: str) -> bool:
    return line.lstrip().startswith(("```", "~~~"))
