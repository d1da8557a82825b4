"""Whether the titles of two documents say that they are about two things of one kind: two recipes, two towns, two jobs.

A title is taken apart like a sentence (`regen.statements`). The words that only one of two titles has tell the things
apart, unless they say what sort of text it is, who wrote it, or when. "Travel policy 2023" and "Expenses FAQ" are texts
of two sorts, which may well speak of one thing; "Job posting: clerk" and "Job posting: cook" do not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from regen.readings import stem
from regen.statements import Statement
from regen.statements.values import MONTHS
from regen.statements.words import LINKING

_SORTS = frozenset(
    map(
        stem,
        "policy policies handbook guide guides guideline guidelines faq question questions answer answers help "
        "announcement announcing update updates updated draft notice newsletter news bulletin wiki page pages note "
        "notes memo minutes meeting summary overview introduction intro introducing welcome report reports checklist "
        "rule rules regulations bylaws statute statutes procedure procedures process routine runbook postmortem "
        "incident schedule manual reference documentation docs readme changelog release releases letter email mail "
        "message blog post article slides training onboarding poster flyer presentation press kit form template plan "
        "plans protocol change changes info information detail details basics tips instructions terms conditions "
        "contract agreement chronicle history story facts".split(),
    )
)
"""Words for what sort of text a document is."""
_GENERIC = (
    _SORTS
    | frozenset(
        map(
            stem,
            "about working final internal public new old latest revised restated former previous current version hr it "
            "people finance engineering support legal team teams staff employee employees company office department "
            "manager managers colleagues everyone us our customers residents members tenants year years annual yearly "
            "monthly weekly quarterly spring summer autumn fall winter today now".split(),
        )
    )
    | frozenset(map(stem, MONTHS))
)
"""Words that tell no thing from another: those, and who wrote a document, for whom, and when."""
_SAYS_IT = frozenset("~is ~are ~was ~were ~has ~have ~had ~can ~may ~must ~will ~should ~do ~does".split())
_SERIES = 3
_SHARE = 0.25
_SHORT = 2  # words, without verbs that say little and what is counted


@dataclass(frozen=True)
class Titled:
    """What a document is about by its title, its words, and how many sentences it has."""

    title: Statement
    words: frozenset[str]
    sentences: int


def may_be_two(x: Titled, y: Titled) -> bool:
    """Whether two titles may name two things of one kind.

    Then both are of one sort, and each title has words of its own, none of which stands in the other document.
    """
    ours, others = _own(x, y), _own(y, x)
    return bool(ours and others) and not ours & y.words and not others & x.words and _sort(x) == _sort(y)


def named_apart(x: Titled, y: Titled, a: Statement, b: Statement, known: Collection[str]) -> bool:
    """Whether two titles name two things, of which the sentences leave it to their documents which they are about.

    Args:
        x: The one document.
        y: The other.
        a: What the one says.
        b: What the other says.
        known: Words, as stems, that are no names.
    """
    if not may_be_two(x, y):
        return False
    names = not (_own(x, y) | _own(y, x)) & frozenset(known)
    if _same_frame(x, y, names):
        return True
    return not _sort(x) and all(_leans(side, names) for side in (a, b))


def differ_throughout(x: Titled, y: Titled, differences: int, ways: int) -> bool:
    """Whether two documents are about two things of one kind, by their titles and by how much they differ in.

    Two recipes differ in the time, the heat and the servings, two texts on one thing as a rule in one of them; and what
    three documents say in three ways is as a rule said of three things.

    Args:
        x: The one document.
        y: The other.
        differences: In how many sentences the documents seem to contradict each other.
        ways: In how many ways documents that may be about other things say what the two sentences say, these included.
    """
    if not may_be_two(x, y):
        return False
    short = not _sort(x) and differences > 1 and differences >= _SHARE * min(x.sentences, y.sentences)
    return short or differences >= _SERIES or ways >= _SERIES


def _own(one: Titled, other: Titled) -> frozenset[str]:
    """The words by which a title tells what it is about from what another one is about."""
    return one.title.words - other.title.words - _GENERIC


def _sort(of: Titled) -> frozenset[str]:
    """The words of a title that say what sort of text it is."""
    return of.title.words & _SORTS


def _same_frame(x: Titled, y: Titled, names: bool) -> bool:
    """Whether two titles are the same but for one thing, as in "Job posting: cook" and "Job posting: clerk".

    "Account settings" and "Account security" are two sides of one thing: there the words of their own follow upon a
    common one. Where titles have only the sort of text in common ("Guide to Hambrook"), what differs must be `names`.
    """
    common = x.title.words & y.title.words
    frames = []
    for title in (x.title, y.title):
        frame = list[str]()
        for word in title.sequence:
            if not word or word.startswith("~") or word in common:
                frame.append(word)
            elif not frame or frame[-1] != "*":
                if frame and frame[-1] and not frame[-1].startswith("~"):
                    return False
                frame.append("*")
        frames.append(frame)
    return frames[0] == frames[1] and bool(common - _GENERIC or (common and names))


def _leans(side: Statement, names: bool) -> bool:
    """Whether a short sentence leaves it to its document what it is about: "Bake for 30 minutes" begins with a verb.

    So does "The cable is 2 meters long", but only a document about something with a name (`names`) is sure to be about
    the thing that has the cable.
    """
    counted = {stem(word.lower()) for value in side.values for word in value.shown.split()}
    if len(side.words - LINKING - counted) > _SHORT:
        return False
    first, *rest = side.sequence[1:] if side.sequence[0] == "~not" else side.sequence
    if first == "~the":
        return names
    begins_with_verb = bool(first) and not first.startswith("~") and bool(rest) and (not rest[0] or rest[0][0] == "~")
    return begins_with_verb and not any(word in _SAYS_IT | LINKING for word in rest)
