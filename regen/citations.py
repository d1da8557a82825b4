"""Inline citations `[n]`: which documents an answer cites, and whether they are there."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from regen.types import Document

_CITED = r"\[\s*\d{1,3}(?:\s*[-\u2013,;]\s*\d{1,3})*\s*\]"
_CITATION = re.compile(rf"((?:(?<![ \t])[ \t]+)?)({_CITED})")
# What documents do that are the subject of a sentence: "[1] says", "[2] (2024) and [3] contradict this by stating".
_SAYS = (
    r"(?:also |both |all )?"
    r"(?:(?:contradict(?:s|ed)?|dispute[sd]?|den(?:y|ies|ied)|support(?:s|ed)?) (?:this|that|it|them),? (?:by )?"
    r"(?:saying|stating|reporting|announcing|claiming|noting|confirming|repeating|writing|giving|mentioning|indicating)"
    r"|(?:say|state|report|announce|claim|note|confirm|repeat|write|give|mention|indicate|said|wrote|gave)(?:s|d|es|ed)?)"
    r"\b"
)
_SAYING = re.compile(_SAYS, re.IGNORECASE)
_NUMBERS = r"\d{1,3}(?:[ \t]*[-\u2013,;][ \t]*\d{1,3})*"
# Citations one after another, on one line, as a subject has them; what stands in brackets after one is no part of them.
_RUN = re.compile(
    rf"(?:\[[ \t]*(?:{_NUMBERS})[ \t]*\](?:[ \t]*\([^()\n]*\))?(?:[ \t]*(?:,[ \t]*(?:and\b|&)?|and\b|&))?[ \t]*)+",
    re.IGNORECASE,
)
_ONE = re.compile(rf"\[[ \t]*({_NUMBERS})[ \t]*\][^\[\]]*")
# After another word than these, the first of several citations belongs to what stands before it.
_JOINS = re.compile(r"(?:^|[.!?:;,(\n]|\b(?:and|or|but|while|whereas|although|though|that|as|yet))\s*$", re.IGNORECASE)
_ATTRIBUTION = re.compile(
    r"(?:(?:however|but|and|yet|meanwhile|in contrast|by contrast|on the other hand),? )?"
    rf"documents? (\d{{1,3}}(?:(?:, | and )\d{{1,3}})*) {_SAYS}[ :]*(?:that\b)?",
    re.IGNORECASE,
)
_PARENTHESIS = re.compile(r"\([^()]*\)")
# Citations in a list, and the word that leads to it: "in [1], [2] and [3]".
_LIST = re.compile(
    r"(?P<lead>(?<![ \t])[ \t]*)(?P<word>(?:\b(?:in|by|from|of|to|see|per|with|according to)[ \t]{1,3})?)"
    rf"(?P<list>{_CITED}(?:[ \t]{{0,3}}(?:,[ \t]{{0,3}})?(?:(?:and|or|&)[ \t]{{0,3}}|;[ \t]{{0,3}})?{_CITED})*)",
    re.IGNORECASE,
)
# Where a list went whole, with the brackets around it, and a mark that nothing stands before any more.
_GONE = "\ue000"
_AROUND = re.compile(
    rf"[ \t]?\([ \t]*{_GONE}[ \t]*\)|[ \t]?\[[ \t]*{_GONE}[ \t]*\]"
    rf"|(?:^|(?<=[.!?] )){_GONE}[ \t]*(?:[,;][ \t]*)?|{_GONE}"
)
_ONE_CITED = re.compile(f"({_CITED})")
# A range is read as far as this.
_MOST_CITED = 999
_PART = re.compile(r"(\d+)(?:\s*[-\u2013]\s*(\d+))?")


def check_citations(
    text: str, documents: Sequence[Document], without: Collection[str] = ()
) -> tuple[str, list[str], list[str]]:
    """Takes out citations that point to no document, or to one of those set aside, whose ids are in `without`.

    Returns:
        The text with every citation left as `[n]`, the ids of the documents cited in order of first mention, and a
        warning for each citation that was taken out.
    """
    cited: dict[str, None] = {}
    warnings: dict[str, None] = {}

    def there(citation: str) -> str:
        """The citation, each of its numbers by itself, without those that point nowhere."""
        kept = ""
        for number in _numbers(citation, len(documents)):
            exists = 1 <= number <= len(documents)
            if exists and documents[number - 1].id in without:
                warnings[f"The answer cites [{number}], which was set aside: the citation was removed."] = None
            elif exists:
                cited[documents[number - 1].id] = None
                kept += f"[{number}]"
            else:
                warnings[f"The answer cites [{number}], and there is no such document: the citation was removed."] = (
                    None
                )
        return kept

    def keep(match: re.Match[str]) -> str:
        pieces = _ONE_CITED.split(match["list"])
        kept = [there(piece) for piece in pieces[1::2]]
        if all(kept):
            return (
                match["lead"]
                + match["word"]
                + "".join(between + one for between, one in zip(pieces[::2], kept, strict=False))
            )
        left = [one for one in kept if one]
        if not left:
            return _GONE
        between = "".join(pieces[2:-1:2])
        if any(map(str.isalpha, between)):
            said = " and ".join([", ".join(left[:-1]), left[-1]] if left[1:] else left)
        else:
            said = (", " if "," in between else "").join(left)
        return match["lead"] + match["word"] + said

    # What is left around a citation that was taken out may be one itself.
    text = text.replace(_GONE, "")
    while (checked := _AROUND.sub("", _LIST.sub(keep, text))) != text:
        cited.clear()
        text = checked
    return text, list(cited), list(warnings)


def name_sources(text: str) -> str:
    """The text with citations that are its subject as words: "[1] and [2] say" becomes "documents 1 and 2 say"."""

    def name(match: re.Match[str]) -> str:
        if not _SAYING.match(text, match.end()):
            return match.group()
        cited = list(_ONE.finditer(_PARENTHESIS.sub("", match.group())))
        kept = ""
        if len(cited) > 1 and not _JOINS.search(text[max(0, match.start() - 20) : match.start()]):
            kept = cited.pop(0).group()
        numbers = [number for one in cited for number in _numbers(one.group(1), _MOST_CITED)]
        return f"{kept}document{'s' if len(numbers) > 1 else ''} {' and '.join(map(str, numbers))} "

    return _RUN.sub(name, text)


def attribution(text: str) -> tuple[frozenset[int], str]:
    """The numbers of the documents that a text says something of, and what it says they say.

    "documents 1 and 2 say that it is open" gives ({1, 2}, "it is open"); a text of another kind (set(), itself).
    """
    found = _ATTRIBUTION.match(text.strip())
    if found is None:
        return frozenset(), text
    return frozenset(map(int, re.findall(r"\d+", found.group(1)))), text.strip()[found.end() :].strip()


def without_citations(text: str) -> str:
    """The text without its citations."""
    return _CITATION.sub("", text)


def _numbers(cited: str, count: int) -> list[int]:
    """The numbers in a list of numbers and of ranges of them ("1, 3-5"); of a range past `count`, its end alone."""
    numbers: list[int] = []
    for first, last in _PART.findall(cited):
        low, high = sorted((int(first), int(last or first)))
        numbers += range(low, min(high, count) + 1)
        if high > count:
            numbers.append(high)
    return numbers
