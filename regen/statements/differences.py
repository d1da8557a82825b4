"""In what two sentences differ that seem to be about one thing.

Two sentences of one company's documents share most of their words without being about the same thing: another product,
another year, another group of people. So a difference counts only where nothing else tells the two subjects apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from regen.readings import stem
from regen.statements.circumstances import is_history, opposed, other_basis
from regen.statements.sentences import PLAIN_WORD, POSSESSIVE, Statement, is_denial, name_places
from regen.statements.values import ANY_MONTH, comparable, same_value
from regen.statements.words import (
    DENIABLE,
    EMPTY,
    INTO,
    IS,
    LINKING,
    MOVES,
    ONCE,
    OPPOSITES,
    POSTS,
    PREFIXES,
    PREFIXES_OF_DENIABLE,
    PREPOSITIONS,
    REJECTED,
    ROLES,
    SAYS_LITTLE,
    SIGNS,
    SWAPS,
)

_EFFECTIVE = re.compile(
    r"\b(?:from|since|as of|starting|effective|until|beginning|before|after)(?: on)?\s+"
    rf"(?:\d|{ANY_MONTH})",
    re.IGNORECASE,
)
_SWAPPED_STEMS = frozenset(stem(word) for pair in SWAPS for word in pair)

Kind = Literal["number", "date", "denial", "direction", "name"]


@dataclass(frozen=True)
class Difference:
    """What two statements on one thing differ in: in words, and what each of them says, where both say something."""

    kind: Kind
    what: str
    said: tuple[str, str] | None = None

    def reason(self, *, exchanged: bool = False) -> str:
        """In words, with what the first says first, or what the second says where they are `exchanged`."""
        if self.said is None:
            return self.what
        return f"{self.what}: {' / '.join(self.said[::-1] if exchanged else self.said)}"


def difference(a: Statement, b: Statement) -> Difference | None:
    """In what two sentences differ that seem to be about the same thing; None where nothing is to be seen.

    Args:
        a: One sentence.
        b: Another one, whose words are mostly the same.
    """
    swapped = _swapped(a, b)
    found = swapped or _apparent(a, b)
    return None if found is None or is_history(a, b) or (not swapped and opposed(a, b)) else found


def _apparent(a: Statement, b: Statement) -> Difference | None:
    """In what they differ, if both say it of the same time and under the same conditions."""
    if a.which and b.which and not a.which & b.which:
        return None
    only_a, only_b = a.names - b.names, b.names - a.names
    if only_a and only_b:
        return None if _denial(a, b) or _kinds_that_differ(a, b) else _by_names(a, b, only_a, only_b)
    kinds = _kinds_that_differ(a, b)
    moves = _moves(a, b)
    if moves:
        return None if kinds.keys() & {"date", "weekday", "ordinal"} or other_thing(a, b) else moves
    if kinds:
        return _by_values(a, b, kinds)
    denial = _denial(a, b)
    if (_agree(a, b) and not REJECTED & {*a.sequence, *b.sequence}) or other_thing(a, b, SIGNS):
        return None
    return denial


def _by_values(a: Statement, b: Statement, kinds: Mapping[str, tuple[str, str]]) -> Difference | None:
    kinds = dict(kinds)
    # When a figure took effect is no second difference.
    if len(kinds) > 1 and "date" in kinds and any(_takes_effect(side) for side in (a, b)):
        del kinds["date"]
    if len(kinds) != 1 or _denial(a, b) or other_thing(a, b) or other_basis(a, b):
        return None
    # Members and non-members are two groups.
    if ("non" in a.words) != ("non" in b.words):
        return None
    ((kind, said),) = kinds.items()
    # What is open to more counts as the same amount, which it need not be.
    if kind == "per" and any(value.within for value in (*a.values, *b.values)):
        return None
    once = (a.words | b.words) & ONCE
    if (kind == "date" and not once) or (kind == "weekday" and not once and not _on_some_day(a, b)):
        return None
    return Difference("date" if kind in ("date", "weekday", "clock") else "number", f"{_NAMED[kind]} differ", said)


def _on_some_day(a: Statement, b: Statement) -> bool:
    """Whether they say the same of two days, and do not begin with them: "On Mondays there is soup" is a menu."""
    return (a.words <= b.words or b.words <= a.words) and not all(side.sequence[:2] == ("~on", "") for side in (a, b))


_NAMED = {
    "money": "amounts", "percent": "percentages", "span": "lengths of time", "bytes": "sizes", "count": "numbers",
    "date": "dates", "weekday": "days of the week", "clock": "times of day", "often": "frequencies",
    "ordinal": "ordinal numbers",
    "per": "what they are counted by",
}  # fmt: skip


def _by_names(a: Statement, b: Statement, only_a: frozenset[str], only_b: frozenset[str]) -> Difference | None:
    if not any(a.words & role - a.names and b.words & role - b.names for role in ROLES):
        return None
    here, there = (name_places(side, only) for side, only in ((a, only_a), (b, only_b)))
    if len(here) != 1 or len(there) != 1:
        return None
    if not all(_fills_role(side, phrase) for side, (phrase,) in ((a, here), (b, there))):
        return None
    # Who leads two things is named in both: these are two, and not two leaders of one.
    both = [name_places(side, a.names & b.names) for side in (a, b)]
    if all(
        any(_fills_role(side, phrase, surely=True) for phrase in places)
        for side, places in zip((a, b), both, strict=True)
    ):
        return None
    if other_thing(a, b, only_a | only_b):
        return None
    return Difference(
        "name",
        "names differ",
        (_as_written(a, *a.sequence[slice(*here[0])]), _as_written(b, *b.sequence[slice(*there[0])])),
    )


def _fills_role(side: Statement, phrase: tuple[int, int], *, surely: bool = False) -> bool:
    """Whether a name is who or where: after "by" or "is", or before "leads"; and, unless `surely`, after "in" or "at".

    What somebody leads, or what is somewhere, may be several things.
    """
    sequence = [word for word in side.sequence[: phrase[0]] if word not in ("~the", "~a", "~now", "~our")]
    after = [word for word in side.sequence[phrase[1] : phrase[1] + 4] if word not in ("~the", "~a", "~now", "~our")]
    if sequence:
        return sequence[-1] in (IS if surely else INTO) | POSTS
    if not after or after[0] not in ("~is", "~was"):
        return bool(after) and any(after[0] in role for role in ROLES)
    return len(after) > 1 and after[1] in POSTS


def other_thing(a: Statement, b: Statement, ignored: Collection[str] = ()) -> bool:
    """Whether both have another word in the same place: before the same noun, or after the same preposition.

    "Hourly staff" and "salaried staff" are others, and so are "for visitors" and "for tenants". A verb in that place
    tells nothing.
    """
    ours, others = a.words - b.words, b.words - a.words

    def slots(side: Statement, only: frozenset[str]) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        sequence = side.sequence
        for place, word in enumerate(sequence):
            if word not in only or word in SAYS_LITTLE or word in ignored:
                continue
            after = sequence[place + 1] if place + 1 < len(sequence) else ""
            if after and not after.startswith("~"):
                found.setdefault(("before", after), set()).add(word)
            ahead = sequence[place - 1] if place else ""
            if ahead.removeprefix("~") in PREPOSITIONS or ahead in LINKING:
                found.setdefault(("after", ahead), set()).add(word)
        return found

    here, there = slots(a, ours), slots(b, others)
    return bool(here.keys() & there.keys())


def _moves(a: Statement, b: Statement) -> Difference | None:
    """The opposite ways in which they say that something went; None where one says of none, or of both."""
    here, there = ({way for way, words in MOVES.items() if side.words & words} for side in (a, b))
    if len(here) != 1 or len(there) != 1 or here == there or a.denies % 2 != b.denies % 2:
        return None
    one, other = (min(side.words & (MOVES["up"] | MOVES["down"])) for side in (a, b))
    return Difference("direction", "directions differ", (_as_written(a, one), _as_written(b, other)))


def _denial(a: Statement, b: Statement) -> Difference | None:
    """What one of them denies that the other does not; None where nothing, or where it cancels out."""
    opposite = _opposite(a, b) or _opposite(b, a)[::-1]
    if (a.denies + b.denies + bool(opposite)) % 2 == 0:
        return None
    if opposite:
        one, other = opposite
        return Difference("denial", "opposites", (_as_written(a, one), _as_written(b, other)))
    words = PLAIN_WORD.findall((a if a.denies % 2 else b).text)
    said = next((word for word in words if is_denial(word)), "without")
    return Difference("denial", f"only one of them denies: {said}")


def _swapped(a: Statement, b: Statement) -> Difference | None:
    """Opposites such as before and after, where nothing else differs."""
    if (a.words ^ b.words) - _SWAPPED_STEMS or a.which != b.which or a.denies % 2 != b.denies % 2:
        return None
    here, there = ([word.lower() for word in PLAIN_WORD.findall(side.text)] for side in (a, b))
    for pair in SWAPS:
        ours, others = pair.intersection(here), pair.intersection(there)
        same = {*here} - pair - EMPTY == {*there} - pair - EMPTY
        if len(ours) == 1 and len(others) == 1 and ours != others and same and not _kinds_that_differ(a, b):
            return Difference("denial", "opposites", (min(ours), min(others)))
    return None


def _opposite(a: Statement, b: Statement) -> tuple[str, ...]:
    """A word of the one and its opposite in the other, where neither has both."""
    ours, others = frozenset(a.sequence), frozenset(b.sequence)
    for plus, minus in OPPOSITES:
        affirms, denies = frozenset(plus.split()), frozenset(minus.split())
        if ours & affirms and others & denies and not (ours & denies or others & affirms - {"~can", "~may", "~must"}):
            return min(ours & affirms), min(others & denies)
    # As written: a stem such as "form" is shared by words that are no opposites of each other.
    here, there = ({word.lower() for word in PLAIN_WORD.findall(side.text)} for side in (a, b))
    for word in sorted(here - there - {"less", "till"}):
        for prefix in (*PREFIXES, *(PREFIXES_OF_DENIABLE if word in DENIABLE else ())):
            if len(word) > 3 and prefix + word in there:
                return stem(word), stem(prefix + word)
    return ()


def _as_written(side: Statement, *stems: str) -> str:
    shown = {stem(POSSESSIVE.sub("", word.lower())): word for word in PLAIN_WORD.findall(side.text)}
    return " ".join(shown.get(stemmed, stemmed.removeprefix("~")) for stemmed in stems)


def _takes_effect(side: Statement) -> bool:
    """Whether it says from when on something holds."""
    return _EFFECTIVE.search(side.text) is not None


def _kinds_that_differ(a: Statement, b: Statement) -> dict[str, tuple[str, str]]:
    """The kinds of values that both have and of which none is the same, with how they stand there."""
    found = {}
    for kind in dict.fromkeys(value.kind for value in a.values):
        here, there = ([value for value in side.values if value.kind == kind] for side in (a, b))
        if kind in ("count", "span", "money", "ordinal"):
            pairs = [(one, other) for one in here for other in there if comparable(one, other)]
            here = [one for one in here if any(one is first for first, _ in pairs)]
            there = [other for other in there if any(other is second for _, second in pairs)]
        if not here or not there:
            continue
        met = [one for one in here if any(same_value(one, other) for other in there)]
        back = [other for other in there if any(same_value(one, other) for one in here)]
        if len(met) == len(here) or len(back) == len(there) or (met and len(here) != len(there)):
            continue
        ours = [value.shown for value in here if value not in met]
        theirs = [value.shown for value in there if value not in back]
        found[kind] = (", ".join(ours), ", ".join(theirs))
    return found


def _agree(a: Statement, b: Statement) -> bool:
    """Whether both give the same amount: then one puts in other words what the other denies, as a rule."""
    amounts = ("count", "span", "money", "percent", "bytes")
    return any(
        one.kind == other.kind and one.kind in amounts and comparable(one, other) and same_value(one, other)
        for one in a.values
        for other in b.values
    )
