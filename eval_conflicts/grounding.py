"""Factual grounding: whether the documents that a sentence of an answer cites bear it out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import Field

from regen.citations import attribution, check_citations, name_sources, without_citations
from regen.conflict import Support, aggregate
from regen.fence import harmless
from regen.judges import Judge
from regen.judges.gather import each_document, refuse_nothing
from regen.quotes import sentences
from regen.readings import is_none
from regen.types import Claim, ConflictReport, Document, Record, Stance

_LEADING = re.compile(r"(?:\[\d+\]\s*)+")
# What only says that there is no answer, of all documents; `is_none` knows it of one.
_DECLINES = re.compile(
    r"^\W*(?:none of )?(?:the |these |any )?(?:\w+ )?(?:documents|sources|passages|search results) "
    r"(?:do|does|did)(?: not|n['\u2019]t) ",
    re.IGNORECASE,
)


class Sentence(Record):
    """A sentence of an answer that states facts."""

    text: str = Field(description="Without its citations.")
    cited: list[str] = Field(description="Ids of the documents that it cites.")
    supported: bool | None = Field(
        description="Whether one of those supports it, false where it cites none; null where that could not be judged."
    )
    cause: str = Field(default="", description="Why it could not.")


def cited_sentences(answer: str, documents: Sequence[Document]) -> list[Sentence]:
    """The sentences of an answer that state facts, none of those that cite something judged yet.

    A sentence states facts unless it asks, announces a list, or only says that the documents have no answer. It cites
    what stands in it, right after it ("It is open. [2]"), or is its subject ("[2] says that it is open").

    Args:
        answer: With citations `[n]`, counted from 1 in `documents`.
        documents: What it was given from, in that order.
    """
    parts: list[str] = []
    for part in sentences(name_sources(harmless(answer))):
        leading = _LEADING.match(part)
        if leading and parts and (leading.group() == part or without_citations(parts[-1]) == parts[-1]):
            parts[-1] += f" {leading.group().strip()}"
            part = part[leading.end() :]
        if any(map(str.isalnum, without_citations(part))):
            parts.append(part)
    found = []
    for part in parts:
        _, cited, _ = check_citations(part, documents)
        numbers, said = attribution(without_citations(part))
        named = [document.id for number, document in enumerate(documents, 1) if number in numbers]
        said = said.strip(" -*\u2022\t")
        if not (is_none(said) or _DECLINES.match(said) or said.endswith(("?", ":"))):
            cited = list(dict.fromkeys([*named, *cited]))
            found.append(Sentence(text=said, cited=cited, supported=None if cited else False))
    return found


def grounded(
    judge: Judge,
    question: str,
    answer: str,
    documents: Sequence[Document],
    *,
    support: Support = "partial",
    check_quotes: bool = True,
) -> list[Sentence]:
    """The sentences of an answer that state facts, each judged against every document that it cites, and no other.

    One that supports it is enough. Where none does and one of them could not be judged, neither can the sentence.

    Args:
        judge: Is asked about one document and the sentences that cite it at a time.
        question: What the answer answers.
        answer: As in `cited_sentences`.
        documents: As in `cited_sentences`.
        support: Whether a document that supports a part of a sentence supports it.
        check_quotes: Whether support without a quote found in the document counts for nothing.

    Raises:
        ProviderError: no document that is cited could be judged.
    """
    found = cited_sentences(answer, documents)

    def report_of(document: Document) -> ConflictReport:
        claims = [Claim(id=str(n), text=one.text) for n, one in enumerate(found) if document.id in one.cited]
        judgement = judge.judge(claims, [document], question=question)
        return aggregate(claims, [document], judgement, support=support, check_quotes=check_quotes)

    cited = [document for document in documents if any(document.id in one.cited for one in found)]
    reports, unjudged = each_document(report_of, cited)
    unjudged = [*unjudged, *(item for report in reports.values() for item in report.unjudged)]
    refuse_nothing([name for name, report in reports.items() if report.judged], unjudged)
    supported = {
        (item.claim_id, name)
        for name, report in reports.items()
        for item in report.evidence
        if item.stance is Stance.SUPPORTS
    }
    causes = {item.document_id: item.cause for item in unjudged}
    judged = []
    for number, one in enumerate(found):
        by = [name for name in one.cited if (str(number), name) in supported]
        cause = next((causes[name] for name in one.cited if name in causes), "")
        known = {"supported": True} if by else {"supported": None, "cause": cause} if cause else {"supported": False}
        judged.append(one.model_copy(update=known))
    return judged
