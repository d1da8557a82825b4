"""Kinds of conflict between documents (Cattan et al. 2025), what an answer should do about each, and a free guess.

The guess goes by the form of the question, by dates, versions, hosts and words of denial; no model is called here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from regen.errors import InputError
from regen.fence import one_line
from regen.quotes import sentences
from regen.readings import bearing, content, numbers
from regen.types import ConflictReport, Document, Evidence, FoundKind, Kind, Strategy

MEANING = {
    Kind.NO_CONFLICT: "the documents agree on one answer, at most in other words or at another precision",
    Kind.COMPLEMENTARY: "the documents give different answers that are all right together, such as parts of a list or "
    "readings of a question that can be understood in several ways",
    Kind.OPINIONS: "the documents hold opposing views, or report research that came to different results",
    Kind.OUTDATED: "some documents were overtaken by newer ones: what they say was right once",
    Kind.MISINFORMATION: "some documents say what is plainly false, and others what is right",
}
"""What each kind is, as a clause."""

EXPECTED = {
    Kind.NO_CONFLICT: "Give the one answer plainly, without speaking of a disagreement.",
    Kind.COMPLEMENTARY: "Bring all parts together in one answer: say which answer holds for what, and leave out none.",
    Kind.OPINIONS: "Set out the opposing views evenly, each with who holds it, and take no side.",
    Kind.OUTDATED: "Give what the newest documents say as the answer, and say what it replaced.",
    Kind.MISINFORMATION: "Give what is right alone: pass over what is false, and repeat none of it as a fact.",
}
"""What an answer should do about each kind, as an instruction; an answer can be judged by it."""

# Strategies that are about how an answer is written, which no choice is.
_WRITES = ("pipeline", "taxonomy", "oracle")
# Words by which a model may call a kind. The order does not count: a text that names two kinds names none.
_NAMES = {
    Kind.NO_CONFLICT: re.compile(r"\bno conflicts?\b"),
    Kind.COMPLEMENTARY: re.compile(r"\bcomplementary\b"),
    Kind.OPINIONS: re.compile(r"\bopinions?\b|\bresearch outcomes\b"),
    Kind.OUTDATED: re.compile(r"\boutdated\b|\bfreshness\b"),
    Kind.MISINFORMATION: re.compile(r"\bmisinformation\b"),
}
_ASKS_OPINION = re.compile(
    r"^\W*should\b|\b(?:should (?:i|we|you|one|people|children|everyone|everybody)|best(?! ?-?sell)|better|worse|worst"
    r"|worth|good|bad|recommend\w*|overrated|underrated|justified|ethical|fair|favou?rite|opinion)\b",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|will|would|has|have|had)(?:n['\u2019]t)?\b", re.IGNORECASE
)
_ASKS_NOW = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|current(?:ly)?|now(?:adays)?|today|still|so far|this (?:year|month|season)"
    r"|to date)\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\b(?:when|how (?:much|many|old|long|tall|high|far)|what (?:year|date|day))\b", re.IGNORECASE
)
_REJECTS = re.compile(
    r"\b(?:myths?|misconceptions?|hoax(?:es)?|fake|debunk\w*|disproved|false(?:ly)?|untrue|not true"
    r"|no (?:basis|truth|evidence)|fabricated|conspiracy)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\b(?:v|version)[ .]?(\d{1,4}(?:\.\d{1,4}){0,3})\b", re.IGNORECASE)
_CAPITALIZED = re.compile(r"\b[A-Z][\w'\u2019-]*")
# Hosts of which anybody may write anything, with their subdomains.
_ANYBODY = (
    "reddit.com quora.com facebook.com instagram.com tiktok.com twitter.com x.com tumblr.com blogspot.com wordpress.com"
    " medium.com substack.com pinterest.com 4chan.org answers.com youtube.com"
).split()
# Documents agree where this share of those that give an answer has one word or number of it in common.
AGREED = 0.5


def catalogue(behaviour: bool) -> str:
    """The kinds for a prompt, one a line: what each is, and with `behaviour` what an answer should do about it."""
    return "\n".join(f"{kind}: {MEANING[kind]}.{f' {EXPECTED[kind]}' if behaviour else ''}" for kind in Kind)


def named(text: str) -> Kind | None:
    """The one kind that a text names, in whatever case and with whatever marks; None where it is none, or several."""
    plain = re.sub(r"[\s_-]+", " ", text.casefold())
    found = [kind for kind, words in _NAMES.items() if words.search(plain)]
    return found[0] if len(found) == 1 else None


def guess(question: str, documents: Sequence[Document], report: ConflictReport | None = None) -> FoundKind:
    """The kind of conflict by rules alone, the same for the same input.

    With a report, what its most disputed claim's two sides are tells the kind. Without one, nothing says whether the
    documents contradict each other, so the form of the question and the words that they share have to do.

    Args:
        question: What the documents answer.
        documents: Those of the report, in the same order.
        report: Of an answer to the question, judged against them.

    Returns:
        The kind, and in a sentence why. It holds no text of a document.
    """
    sides = most_disputed(report) if report else None
    if sides is not None:
        kind, reason = _of_sides(question, documents, *sides)
    elif report is not None and report.judged and report.claims:
        kind, reason = _of_answers(question, documents)
    else:
        kind, reason = _of_question(question, documents) or _of_answers(question, documents)
    return FoundKind(kind=kind, reason=reason, by="rules")


def gold_kind(strategy: Strategy, kind: str | None, *, choosing: bool) -> Kind | None:
    """The kind that the caller gave, checked.

    Raises:
        InputError: there is no such kind, or `oracle` has none, or another strategy has one, or there are choices for
            a strategy that is about how an answer is written.
    """
    if choosing and strategy in _WRITES:
        raise InputError(
            f"The strategy {strategy} is about how an answer is written: leave out the choices, or take vanilla or "
            "conflict-score."
        )
    if (kind is None) == (strategy == "oracle"):
        raise InputError(
            "The strategy oracle needs the kind of conflict that is known to be right: give it (--gold-kind)."
            if kind is None
            else f"The strategy {strategy} takes no known kind of conflict: that is for the strategy oracle."
        )
    if kind is not None and kind not in list(Kind):
        raise InputError(f"There is no kind of conflict {one_line(str(kind), 40)!r}; there are: {', '.join(Kind)}.")
    return None if kind is None else Kind(kind)


def most_disputed(report: ConflictReport) -> tuple[list[Evidence], list[Evidence]] | None:
    """Both sides of the claim in conflict that most documents take sides on; None where no claim is in conflict."""
    both = [report.sides(claim_id) for claim_id in report.in_conflict]
    return max(both, key=lambda pair: (min(map(len, pair)), len(pair[0]) + len(pair[1])), default=None)


def _of_sides(
    question: str, documents: Sequence[Document], plus: Sequence[Evidence], minus: Sequence[Evidence]
) -> tuple[Kind, str]:
    number = {document.id: place for place, document in enumerate(documents, 1)}
    by_id = {document.id: document for document in documents}
    sides = [[by_id[item.document_id] for item in side] for side in (plus, minus)]
    if _ASKS_OPINION.search(question):
        return Kind.OPINIONS, "the question asks for an opinion, and documents hold opposing ones"
    rejecting = [any(_REJECTS.search(item.quote) for item in side) for side in (plus, minus)]
    if rejecting[0] != rejecting[1]:
        return Kind.MISINFORMATION, "one side calls what the other says false, a myth or the like"
    newer = _ordered([[document.dated for document in side] for side in sides])
    if newer is not None:
        return Kind.OUTDATED, f"one side, {_cited(sides[newer], number)}, is newer than all of the other"
    newer = _ordered([[_version(document) for document in side] for side in sides])
    if newer is not None:
        return Kind.OUTDATED, f"one side, {_cited(sides[newer], number)}, is of a later version than the other"
    open_to_all = [all(_is_anybodys(document) for document in side) for side in sides]
    if open_to_all[0] != open_to_all[1]:
        side = sides[open_to_all.index(True)]
        return Kind.MISINFORMATION, f"only pages where anybody may write are on one side: {_cited(side, number)}"
    return Kind.OPINIONS, "documents contradict each other, and nothing tells which side is older or false"


def _of_question(question: str, documents: Sequence[Document]) -> tuple[Kind, str] | None:
    """What the form of the question says, where nothing is known of what the documents say to it."""
    if _ASKS_OPINION.search(question):
        return Kind.OPINIONS, "the question asks for an opinion"
    if _ASKS_NOW.search(question) and _overtaken(question, documents):
        return Kind.OUTDATED, "the question asks for what is so now, and newer documents answer it otherwise"
    if _ASKS_WHETHER.search(question):
        return Kind.OPINIONS, "the question asks whether something is so, on which sources often differ"
    return None


def _of_answers(question: str, documents: Sequence[Document]) -> tuple[Kind, str]:
    """Whether the documents' sentences on the question have an answer in common."""
    answers = [found for document in documents if (found := _answer_words(question, document))]
    counts = Counter(word for found in answers for word in found)
    if len(answers) > 1 and max(counts.values()) < AGREED * len(answers):
        return Kind.COMPLEMENTARY, "the documents answer with different things, and none contradicts another"
    return Kind.NO_CONFLICT, "nothing shows that the documents contradict each other"


def _answer_words(question: str, document: Document) -> frozenset[str]:
    """The names, or where a number is asked for the numbers, in the sentence of a document that fits the question best.

    Words of the question are left out.
    """
    best = max(sentences(document.text), key=lambda sentence: bearing(sentence, question), default="")
    if _ASKS_NUMBER.search(question):
        return numbers(best) - numbers(question)
    return content(" ".join(_CAPITALIZED.findall(best))) - content(question)


def _overtaken(question: str, documents: Sequence[Document]) -> bool:
    """Whether the newest dated document shares no answer with any of those from years before it."""
    dated = [(document.dated, found) for document in documents if (found := _answer_words(question, document))]
    known = sorted(((when, found) for when, found in dated if when is not None), key=lambda item: item[0])
    if len(known) < 2:
        return False
    last, newest = known[-1]
    older = [found for when, found in known if when.year < last.year]
    return any(not found & newest for found in older)


def _ordered(sides: Sequence[Sequence[Any]]) -> int | None:
    """The side, 0 or 1, all of whose values are known and later than all of the other's; None where there is none."""
    for later, earlier in ((0, 1), (1, 0)):
        high = [value for value in sides[later] if value is not None]
        low = [value for value in sides[earlier] if value is not None]
        whole = len(high) == len(sides[later]) and len(low) == len(sides[earlier])
        if whole and high and low and min(high) > max(low):
            return later
    return None


def _version(document: Document) -> tuple[int, ...] | None:
    """The version that a document's title, or else its address, names; None where it is none, or several."""
    for text in (document.title, document.url):
        found = {tuple(map(int, version.split("."))) for version in _VERSION.findall(text)}
        if len(found) == 1:
            return found.pop()
    return None


def _is_anybodys(document: Document) -> bool:
    return any(f".{document.host}".endswith(f".{site}") for site in _ANYBODY)


def _cited(documents: Sequence[Document], number: dict[str, int]) -> str:
    return "".join(f"[{place}]" for place in sorted(number[document.id] for document in documents))
