"""What the command line prints as JSON: one object a question, its schema made from these types."""

from __future__ import annotations

from typing import Any

from pydantic import Field, TypeAdapter

from regen.conflictlog import ConflictsOutput
from regen.errors import RegenError
from regen.types import (
    ConflictReport,
    Credibility,
    Decision,
    Document,
    DocumentAnswer,
    FoundKind,
    Record,
    Result,
    Scores,
    SetAside,
    Stance,
    Strategy,
    Usage,
)


class EvidenceOutput(Record):
    """What one document says about one claim."""

    document: str = Field(description="The document's id.")
    stance: Stance
    quote: str = Field(description="Found in the document; empty for an irrelevant one.")
    confidence: float | None
    reason: str = Field(description="Why, in the judge's own words; empty where it gives none.")


class ClaimOutput(Record):
    """One claim of the answer that was kept."""

    text: str
    in_conflict: bool
    evidence: list[EvidenceOutput]


class RoundOutput(Record):
    """One regeneration."""

    feedback: str
    answer: str
    choice: int | None
    scores: Scores | None
    decision: Decision


class InitialAndFinal(Record):
    """The scores of the first answer and of the one that was kept; null where nothing was checked, or could be."""

    initial: Scores | None
    final: Scores | None


class SourceOutput(Document):
    """A document that was read, and how far it can be relied on."""

    credibility: Credibility | None = Field(default=None, description="Null where credibility is off.")


class AskOutput(Record):
    """What `regen ask --json` prints when all went well."""

    question: str
    answer: str = Field(description="The answer that was kept; with choices, the text of the choice.")
    choice: int | None = Field(description="Place of the answer among the choices, from 0; null without choices.")
    initial_answer: str
    regenerated: bool = Field(description="Whether a regenerated answer took the place of the first.")
    decision: Decision
    strategy: Strategy
    kind: FoundKind | None = Field(description="The kind of conflict; null where it was not asked for.")
    rounds: list[RoundOutput]
    scores: InitialAndFinal
    initial_claims: list[ClaimOutput] = Field(description="Of the first answer.")
    claims: list[ClaimOutput] = Field(description="Of the answer that was kept.")
    unjudged: list[str] = Field(description="Ids of documents that could not be judged.")
    discounted: list[str] = Field(
        description="Ids of documents whose evidence counts for no side, for want of credibility."
    )
    document_answers: list[DocumentAnswer]
    documents: list[SourceOutput]
    citations: list[str] = Field(description="Ids of the documents that the answer cites.")
    set_aside: list[SetAside] = Field(description="Documents that the second answer was not given, with --resolve.")
    usage: Usage
    warnings: list[str]
    made_from: str | None = Field(
        default=None, description="In a file of many, a hash over the input and the settings; null for one alone."
    )


class ErrorOutput(Record):
    """What went wrong, in one sentence, and the exit code that belongs to it."""

    message: str
    exit_code: int


class Failure(Record):
    """What is printed in place of an answer or a score when something went wrong."""

    id: str | None = None
    question: str | None = None
    error: ErrorOutput


class ScoreOutput(Record):
    """What `regen score` prints for one response."""

    id: str | None = None
    cs_c: float
    cs_r: float
    cs_r_weighted: float | None = Field(description="CS-R by the documents' weights; null where credibility is off.")
    claims: list[ClaimOutput]
    unverified: list[str] = Field(description="Claims that no document supports or contradicts.")
    unjudged: list[str] = Field(description="Ids of documents that could not be judged.")
    discounted: list[str] = Field(
        description="Ids of documents whose evidence counts for no side, for want of credibility."
    )
    credibility: list[Credibility] = Field(description="Of each document; empty where it is off.")
    usage: Usage
    warnings: list[str]
    made_from: str | None = Field(
        default=None, description="In a file of many, a hash over the input and the settings; null for one alone."
    )


class SearchOutput(Record):
    """What `regen search --json` prints."""

    query: str
    search: str = Field(description="The providers that were asked, with commas.")
    documents: list[Document]
    warnings: list[str]


def ask_output(result: Result, made_from: str | None = None) -> AskOutput:
    """The JSON of one result."""
    # The last report is over the documents that were kept, where some were set aside.
    first = result.initial_report
    credibility = {item.document_id: item for item in first.credibility}
    return AskOutput(
        question=result.question,
        answer=result.answer.text,
        choice=result.answer.choice,
        initial_answer=result.initial_answer.text,
        regenerated=result.regenerated,
        decision=result.decision,
        strategy=result.strategy,
        kind=result.kind,
        rounds=[
            RoundOutput(
                feedback=item.feedback,
                answer=item.answer.text,
                choice=item.answer.choice,
                scores=_scores(item.report),
                decision=item.decision,
            )
            for item in result.rounds
        ],
        scores=InitialAndFinal(
            initial=_scores(result.initial_report) if result.checked else None,
            final=_scores(result.report) if result.checked else None,
        ),
        initial_claims=_claims(result.initial_report),
        claims=_claims(result.report),
        unjudged=list({item.document_id: None for item in (*first.unjudged, *result.report.unjudged)}),
        discounted=first.discounted,
        document_answers=result.document_answers,
        documents=[
            SourceOutput(**dict(document), credibility=credibility.get(document.id)) for document in result.documents
        ],
        citations=result.answer.citations,
        set_aside=result.set_aside,
        usage=result.usage,
        warnings=result.warnings,
        made_from=made_from,
    )


def score_output(
    report: ConflictReport, usage: Usage, id: str | None = None, made_from: str | None = None
) -> ScoreOutput:
    """The JSON of one scored response."""
    text = {claim.id: claim.text for claim in report.claims}
    return ScoreOutput(
        id=id,
        cs_c=report.cs_c,
        cs_r=report.cs_r,
        cs_r_weighted=report.cs_r_weighted,
        claims=_claims(report),
        unverified=[text[claim_id] for claim_id in report.unverified],
        unjudged=[item.document_id for item in report.unjudged],
        discounted=report.discounted,
        credibility=report.credibility,
        usage=usage,
        warnings=report.warnings,
        made_from=made_from,
    )


def failure(error: RegenError, *, id: str | None = None, question: str | None = None) -> Failure:
    """The JSON of an error."""
    # A file's name need not be text.
    message = str(error).encode(errors="backslashreplace").decode()
    return Failure(id=id, question=question, error=ErrorOutput(message=message, exit_code=error.exit_code))


PRINTED: dict[str, Any] = {
    "ask": AskOutput | Failure,
    "score": ScoreOutput | Failure,
    "search": SearchOutput | Failure,
    "conflicts": ConflictsOutput | Failure,
}
"""What a command prints with `--json`."""


def schema(of: str) -> dict[str, Any]:
    """The JSON schema of what a command prints."""
    return schema_of(PRINTED[of])


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON schema of a type as it is written."""
    return TypeAdapter[Any](kind).json_schema(mode="serialization")


def _scores(report: ConflictReport) -> Scores | None:
    if not report.judged:
        return None
    return Scores(cs_c=report.cs_c, cs_r=report.cs_r, cs_r_weighted=report.cs_r_weighted)


def _claims(report: ConflictReport) -> list[ClaimOutput]:
    return [
        ClaimOutput(
            text=claim.text,
            in_conflict=claim.id in report.in_conflict,
            evidence=[
                EvidenceOutput(
                    document=item.document_id,
                    stance=item.stance,
                    quote=item.quote,
                    confidence=item.confidence,
                    reason=item.reason,
                )
                for item in report.evidence
                if item.claim_id == claim.id
            ],
        )
        for claim in report.claims
    ]
