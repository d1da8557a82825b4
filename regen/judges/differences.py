"""What can differ between two statements on the same topic: their numbers, and words that deny or give a direction."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

NEGATION = frozenset(
    "not no never none nobody nothing nowhere neither nor cannot without isn't aren't wasn't weren't don't doesn't "
    "didn't hasn't haven't hadn't can't couldn't won't wouldn't shouldn't mustn't ain't false untrue incorrect wrong "
    "mistaken myth myths misconception misconceptions fallacy hoax debunked disproved disproven refuted rejected "
    "denied denies deny contrary".split()
)
"""Words that deny."""

UP = frozenset(
    "increase increases increased increasing rise rises rose risen rising grow grows grew grown growing growth gain "
    "gains gained climb climbs climbed climbing higher more above exceed exceeds exceeded surge surged raise raises "
    "raised up upward improve improves improved improvement expand expands expanded expansion".split()
)
DOWN = frozenset(
    "decrease decreases decreased decreasing fall falls fell fallen falling decline declines declined declining shrink "
    "shrinks shrank shrunk shrinking loss drop drops dropped dropping lower less fewer below reduce reduces reduced "
    "reduction cut cuts down downward worsen worsens worsened plunge plunged contract contracted contraction".split()
)
DIRECTION = UP | DOWN
"""Words that say which way something goes."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_QUOTES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
_NUMBER = re.compile(
    r"(?P<money>[$\u20ac\u00a3\u00a5]\s?)?(?<![^\W_])(?<![^\W\d_]-)(?<![^\W_][.,])(?P<digits>[0-9]++(?:[.,][0-9]++)*+)"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b)|[\s-]?(?P<scale>(?i:thousand|million|billion|trillion|mn|bn))\b"
    r"|(?P<letter>[KMBTkmbt])\b|(?!(?i:st|nd|rd|th)\b))"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_POWERS = {"thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "b": 9, "trillion": 12, "t": 12}
_YEARS = range(1900, 2100)
_SMALL = range(1, 10)
# More digits than a `Decimal` keeps: no amount of anything.
_LONGEST = 28
_SHOWN = 5


def numbers(text: str) -> dict[Decimal, str]:
    """The numbers of a text by their value, each as it first stands there, in order.

    Thousands separators do not count, and a word such as "million" multiplies. Bare integers from 1 to 9 and from 1900
    to 2099, which are mostly years, are left out: as a rule they say nothing that two statements could differ in. An
    integer with a percent or currency sign, or with such a word, is not bare. What is part of a name ("A380",
    "COVID-19"), has several points ("3.11.4") or only says which one it is ("21st") is no number.
    """
    found: dict[Decimal, str] = {}
    for match in _NUMBER.finditer(text):
        digits, scale, letter = match["digits"], match["scale"], match["letter"]
        if len(digits) > _LONGEST or not (_THOUSANDS.fullmatch(digits) or _PLAIN.fullmatch(digits)):
            continue
        # "12m" without a currency is as a rule a length.
        if letter and (match["money"] or letter.isupper() or letter == "k"):
            scale = letter
        bare = digits.isdigit() and not (scale or match["percent"] or match["money"])
        if bare and len(digits) <= 4 and (int(digits) in _SMALL or int(digits) in _YEARS):
            continue
        value = Decimal(digits.replace(",", "")) * 10 ** (_POWERS[scale.lower()] if scale else 0)
        found.setdefault(value.normalize(), " ".join(match[0].split()))
    return found


def words(text: str, wanted: frozenset[str]) -> list[str]:
    """The words of a text that are among those that are wanted, in lower case, each once, in order."""
    return list(dict.fromkeys(word for word in _WORD.findall(text.translate(_QUOTES).lower()) if word in wanted))


def differences(claim: str, text: str) -> list[str]:
    """How a text differs from a claim, each difference in words; nothing where it does not.

    Their numbers differ when both have some and none is in both. One denies when it has a word of `NEGATION` and the
    other has none. Their directions differ when one has a word for up, or for down, and the other has no word for the
    same way. The claim and the text exchanged differ in the same.
    """
    return [*_numbers_differ(claim, text), *_one_denies(claim, text), *_directions_differ(claim, text)]


def _numbers_differ(claim: str, text: str) -> list[str]:
    claimed, here = numbers(claim), numbers(text)
    if not claimed or not here or claimed.keys() & here.keys():
        return []
    return [f"numbers differ: {_list(here.values())} here, {_list(claimed.values())} in the claim"]


def _one_denies(claim: str, text: str) -> list[str]:
    claimed, here = words(claim, NEGATION), words(text, NEGATION)
    if bool(claimed) == bool(here):
        return []
    return [f"only the {'document' if here else 'claim'} denies: {_list(here or claimed)}"]


def _directions_differ(claim: str, text: str) -> list[str]:
    here, claimed = [], []
    for way in (UP, DOWN):
        in_claim, in_text = words(claim, way), words(text, way)
        if bool(in_claim) != bool(in_text):
            claimed += in_claim
            here += in_text
    if here and claimed:
        return [f"directions differ: {_list(here)} here, {_list(claimed)} in the claim"]
    if here or claimed:
        return [f"only the {'document' if here else 'claim'} gives the direction: {_list(here or claimed)}"]
    return []


def _list(said: Iterable[str]) -> str:
    """At most five of them."""
    first = list(said)
    return ", ".join(first[:_SHOWN]) + (", ..." if len(first) > _SHOWN else "")
