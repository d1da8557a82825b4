"""Resolution before answering: of documents that contradict each other, older ones are set aside for the newest.

Documents are the nodes of a graph and contradictions its edges. Each connected component is a conflict of its own and
is resolved on its own, so that a newer document never puts aside one that it has nothing to do with. Pure: no model is
called here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Literal

from regen.errors import InputError
from regen.feedback import feedback
from regen.fence import one_line
from regen.types import Answer, ConflictReport, Document, DocumentAnswer, Kind, Record, SetAside

Resolving = Literal["none", "recency"]
Edge = tuple[str, str]
"""The ids of two documents that contradict each other, in the order of the alphabet."""

# Documents set aside that the feedback names, and characters of a title.
_NAMED = 10
_TITLE = 100
# Words of a question that asks for a view: people may differ on it, and the newest view is not the right one for it.
# What is best before, best known or the best seller is a fact, and so is what something is worth in money.
_OPINION = re.compile(
    r"\b(?:should(?:n['\u2019]t)?|ought|worst|better|worthwhile|overrated|underrated|favou?rites?|opinions?"
    r"|(?:un|im)?(?:ethical|moral)|(?:good|bad) idea"
    r"|best(?![- ](?:before|by|known|sell\w*)\b)"
    r"|worth (?:it|the|\w+ing)"
    r"|(?:do|would) (?:you|people|experts) think)\b",
    re.IGNORECASE,
)


class Resolution(Record):
    """What is kept of some documents, and what is set aside. Both are in the order that the documents came in."""

    kept: list[Document]
    set_aside: list[SetAside] = []
    undated: list[str] = []
    """Ids of the documents without a date in a conflict of which others were set aside: they are kept."""


def edges(report: ConflictReport, document_answers: Sequence[DocumentAnswer] = ()) -> frozenset[Edge]:
    """Which documents contradict each other.

    Two do where one supports and the other contradicts the same claim of the report, or where their own answers to the
    question differ. A document that was not judged has no edge.

    Args:
        report: Of a response, over the documents.
        document_answers: What documents answer themselves, each answer once, with the documents that give it.
    """
    found: set[Edge] = set()
    for claim in report.claims:
        plus, minus = report.sides(claim.id)
        found |= {_edge(one.document_id, other.document_id) for one, other in product(plus, minus)}
    for one_answer, other_answer in combinations(document_answers, 2):
        found |= {_edge(*pair) for pair in product(one_answer.document_ids, other_answer.document_ids)}
    return frozenset(found)


def resolve(documents: Sequence[Document], edges: Collection[Edge], *, allowed: bool = True) -> Resolution:
    """Sets older documents aside for newer ones that they are in conflict with.

    Of each connected component of the graph, the documents of the newest date are kept, all of them where several have
    it, and those of older dates are set aside. A document without a date is kept, since nobody knows whether it is
    older; the date of a file's last change is none (`Document.dated`). So a component without dates, or with one date,
    stays whole, and so does a document without edges. The order of documents and edges does not matter.

    Args:
        documents: Ids unique.
        edges: Of these documents. They may form rings.
        allowed: Whether the newest is right for the question; where it is not, as where opinions differ, all are kept.

    Raises:
        ValueError: an edge to a document that is not among them.
    """
    by_id = {document.id: document for document in documents}
    if unknown := {name for edge in edges for name in edge} - by_id.keys():
        raise ValueError(f"edges to unknown documents: {sorted(unknown)}")
    aside: dict[str, SetAside] = {}
    undated: set[str] = set()
    for component in _components(edges) if allowed else ():
        dates = {name: day for name in component if (day := by_id[name].dated)}
        latest = max(dates.values(), default=None)
        newest = [name for name in component if dates.get(name) == latest]
        older = [name for name, day in dates.items() if latest and day < latest]
        for name in older:
            rivals = [other for other in newest if _edge(name, other) in edges]
            why = f"a newer document ({latest}) contradicts it"
            if not rivals:
                why = f"it is part of the same conflict as a newer document ({latest})"
            aside[name] = SetAside(document_id=name, newer_id=(rivals or newest)[0], reason=why)
        if older:
            undated |= set(component) - dates.keys()
    return Resolution(
        kept=[document for document in documents if document.id not in aside],
        set_aside=[aside[document.id] for document in documents if document.id in aside],
        undated=[document.id for document in documents if document.id in undated],
    )


def is_opinion(question: str) -> bool:
    """Whether a question asks for a view rather than for a fact, by its words."""
    return _OPINION.search(question) is not None


def check_rounds(resolving: Resolving, max_rounds: int) -> None:
    """Raises `InputError` where documents are to be set aside for a second answer, and none is to be given."""
    if resolving != "none" and max_rounds == 0:
        raise InputError(f"--resolve {resolving} is for a second answer: take a --max-rounds of 1 or more.")


def answers_among(document_answers: Sequence[DocumentAnswer], documents: Sequence[Document]) -> list[DocumentAnswer]:
    """The answers that some of the documents give, each with those of them alone."""
    ids = {document.id for document in documents}
    left = [
        DocumentAnswer(answer=item.answer, document_ids=[name for name in item.document_ids if name in ids])
        for item in document_answers
    ]
    return [item for item in left if item.document_ids]


def resolved_feedback(
    answer: Answer,
    report: ConflictReport,
    documents: Sequence[Document],
    resolution: Resolution,
    document_answers: Sequence[DocumentAnswer] = (),
    choices: Sequence[str] | None = None,
    kind: Kind | None = None,
    weights: Mapping[str, float] | None = None,
) -> str:
    """The feedback on a first answer after documents were set aside: which, that they are older, and what to do.

    Args:
        answer: The first answer.
        report: Of that answer, over the documents that are kept.
        documents: All of them, in the order that their numbers go by.
        resolution: What was kept and set aside; something was.
        document_answers: Those of the documents that are kept.
        choices: The choices, where there are any.
        kind: As in `feedback`.
        weights: As in `feedback`.
    """
    numbers = {document.id: number for number, document in enumerate(documents, 1)}
    by_id = {document.id: document for document in documents}
    lines = [
        "Documents contradict each other. Older ones were set aside for newer ones, and are no longer among the "
        "documents above:"
    ]
    for item in resolution.set_aside[:_NAMED]:
        older, newer = by_id[item.document_id], by_id[item.newer_id]
        name = one_line(older.title or older.id, _TITLE).replace('"', "'")
        lines.append(f'- "{name}" ({older.dated}), older than [{numbers[newer.id]}] ({newer.dated})')
    if len(resolution.set_aside) > _NAMED:
        lines.append(f"- and {len(resolution.set_aside) - _NAMED} more")
    about_kept = feedback(answer, report, documents, document_answers, choices, kind, weights)
    if about_kept and (choices or report.in_conflict):
        # What is kept is in conflict itself, or there is a choice to be made.
        return "\n".join([*lines, about_kept])
    first = choices[answer.choice] if choices and answer.choice is not None else answer.text
    lines.insert(0, f"Your first answer was: {one_line(first, 600)}")
    if choices:
        return "\n".join([*lines, "Reply with the letter of the right option and nothing else."])
    for claim in report.claims:
        for against in report.sides(claim.id)[1][:1]:
            day = by_id[against.document_id].dated
            said = one_line(against.quote, 240).replace('"', "'")
            lines.append(
                f'Not so: "{one_line(claim.text, 300)}", for [{numbers[against.document_id]}]'
                f"{f' ({day})' if day else ''} says otherwise" + (f': "{said}"' if said else ".")
            )
    cited = sorted({numbers[item.newer_id] for item in resolution.set_aside})
    lines.append(
        "Write the answer again from the documents above alone, in at most three sentences with citations: first what "
        f"{''.join(f'[{number}]' for number in cited)} {'says' if len(cited) == 1 else 'say'}, then, where it is said "
        "there, what that replaced."
    )
    return "\n".join(lines)


def _edge(one: str, other: str) -> Edge:
    return (one, other) if one < other else (other, one)


def _components(edges: Collection[Edge]) -> Iterator[list[str]]:
    """The connected components with an edge, each in the order of the alphabet, as they are."""
    near: dict[str, set[str]] = {}
    for one, other in edges:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    seen: set[str] = set()
    for start in sorted(near):
        if start in seen:
            continue
        reached, rest = {start}, [start]
        while rest:
            new = near[rest.pop()] - reached
            reached |= new
            rest += new
        seen |= reached
        yield sorted(reached)
