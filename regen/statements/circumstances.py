"""What keeps two sentences from contradicting each other although they differ: another time, bound, condition or basis.

"In 2019 employees had 25 days of leave" is history beside "Employees have 28 days of leave"; a minimum is no maximum,
and a price without tax none with it.
"""

from __future__ import annotations

import re

from regen.readings import stem
from regen.statements.sentences import PLAIN_WORD, Statement
from regen.statements.words import MOVES

_USED_TO = re.compile(
    r"(?<!is )(?<!are )(?<!be )\bused to (?:be|have|cost|get|pay|take|last|need|open|close|run|earn|work|allow)\b",
    re.IGNORECASE,
)
# What took effect once may still hold.
_STILL = re.compile(
    r"\b(?:since\b|as of\b|from now\b|effective\b|to date\b|starting\b"
    r"|from (?=\d{4}\b|\d{1,2} [a-z]|jan|feb|mar|apr|may|june?\b|july?\b|aug|sep|oct|nov|dec))",
    re.IGNORECASE,
)
_CHANGED = frozenset(
    "founded established launched opened closed acquired built introduced retired discontinued signed incorporated "
    "born inaugurated completed merged moved released switched began adopted joined started ended certified changed "
    "set lowered raised replaced abolished banned allowed forbidden prohibited made decided agreed approved restated "
    "corrected extended shortened doubled halved cut renamed named found proved proven discovered".split()
)
_WAS = frozenset("was were had did cost paid got took held kept ran sold stood went came began ate drank".split())
_THEN = re.compile(
    r"\b(?:previously|formerly|originally|initially|at first|back then|in the beginning|(?:years|months) ago)\b",
    re.IGNORECASE,
)
_IS = frozenset("is are has have do does am be can may must will shall get gets need needs costs now today".split())
_OPPOSED = [
    tuple(frozenset(side.split()) for side in sides)
    for sides in (
        ("minimum min lowest smallest shortest earliest", "maximum max highest largest longest latest"),
        ("old former previous outgoing", "new current incoming"),
        ("indoor indoors inside", "outdoor outdoors outside"),
        ("inbound incoming", "outbound outgoing"),
        ("internal internally", "external externally"),
        ("domestic", "international foreign abroad"),
        ("weekday weekdays", "weekend weekends"),
        ("daytime", "night nighttime overnight"),
        ("summer", "winter"),
        ("net", "gross"),
        ("adult adults", "child children"),
    )
]
_SKIPPED = r"(?:(?:an?|the|any|your|their|local|sales|income|own|valid)\s+)*"
_CONDITIONS = [
    tuple(re.compile(rf"\b{word}\s+{_SKIPPED}([^\W\d_]+)", re.IGNORECASE) for word in words)
    for words in (("with", "without"), ("before", "after"))
]
_TAX = r"(?:VAT|tax(?:es)?|GST|dut(?:y|ies)|shipping|postage|delivery|breakfast|tips?|fees?|service|insurance)"
_WITHOUT_TAX = re.compile(
    rf"\b(?:plus|without|excl\w*\.?(?: of)?|before|net of|not including)\s+{_SKIPPED}({_TAX})\b"
    rf"|\b({_TAX})\s+(?:is |are )?(?:excluded|extra|not included)\b",
    re.IGNORECASE,
)
_WITH_TAX = re.compile(
    rf"\b(?:with|(?<!not )incl\w*\.?(?: of)?|after)\s+{_SKIPPED}({_TAX})\b"
    rf"|\b({_TAX})\s+(?:is |are )?included\b",
    re.IGNORECASE,
)


def is_history(a: Statement, b: Statement) -> bool:
    """Whether one tells how something was in some year or once, and the other how it is."""
    if _years(a) & _years(b):
        return False
    return (_was(a) and not _was_at_all(b)) or (_was(b) and not _was_at_all(a))


def opposed(a: Statement, b: Statement) -> bool:
    """Whether they speak of opposite bounds, kinds or conditions: a minimum and a maximum, with a car and without."""
    here, there = (_plain(side) for side in (a, b))
    for one, other in _OPPOSED:
        for ours, others in ((here, there), (there, here)):
            if ours & one and others & other and not (ours & other or others & one):
                return True
    return any(_across(sides, a, b) for sides in _CONDITIONS)


def other_basis(a: Statement, b: Statement) -> bool:
    """Whether an amount of the one is without a tax or charge that one of the other includes."""
    return _across((_WITH_TAX, _WITHOUT_TAX), a, b)


def _across(sides: tuple[re.Pattern[str], ...], a: Statement, b: Statement) -> bool:
    """Whether one has a word after the one pattern that the other has after the other one."""
    one, other = sides

    def found(pattern: re.Pattern[str], side: Statement) -> set[str]:
        return {stem(word.lower()) for match in pattern.finditer(side.text) for word in match.groups() if word}

    return bool(found(one, a) & found(other, b) or found(one, b) & found(other, a))


def _plain(side: Statement) -> frozenset[str]:
    return frozenset(word.lower() for word in PLAIN_WORD.findall(side.text) if word != "May")


def _years(side: Statement) -> frozenset[float]:
    return frozenset(value.amount[0] for value in side.values if value.kind == "date" and value.amount[0])


def _was_at_all(side: Statement) -> bool:
    """Whether it is in the past tense, by its verbs."""
    words = _plain(side)
    if _USED_TO.search(side.text):
        return True
    return not words & _IS and (bool(words & _WAS) or any(len(word) > 4 and word.endswith("ed") for word in words))


def _was(side: Statement) -> bool:
    """Whether it says how something was then, and not what was changed then."""
    if _STILL.search(side.text) or _plain(side) & _CHANGED or side.words & (MOVES["up"] | MOVES["down"]):
        return False
    return _was_at_all(side) and any((_years(side), _USED_TO.search(side.text), _THEN.search(side.text)))
