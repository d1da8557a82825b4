"""The data that crosses regen's boundaries: documents, claims, evidence, reports, answers, results.

This module is a leaf: it imports nothing of ours, so that every room can share it.
"""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from regen.hosts import host_of


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is blank")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
"""A text that says something."""


class Record(BaseModel):
    """Base of every record here: immutable, and strict about unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


class Document(Record):
    """One search result, with the passage that was read from it."""

    id: str = Field(description="Unique within one result list; citations and evidence refer to it.")
    text: str = Field(description="The passage that was read.")
    title: str = ""
    url: str = Field(default="", description="Where it came from: a web address or a file: address.")
    snippet: str = Field(default="", description="The search engine's own excerpt.")
    published: date | None = Field(default=None, description="Publication date, where one is known.")
    published_from: Literal["front matter", "metadata", "name", "mtime", "provider"] | None = Field(
        default=None, description="What the publication date was read from."
    )
    rank: int = Field(default=0, ge=0, description="Place in the result list, from 1; 0 where there is none.")
    source: str = Field(default="", description="The provider that returned it.")
    retrieved_at: datetime | None = None

    @property
    def dated(self) -> date | None:
        """The publication date, unless it is only when a file was last written: that says little about its text."""
        return None if self.published_from == "mtime" else self.published

    @property
    def host(self) -> str:
        """The host of its address, without "www."; "" where it has none that is beyond doubt."""
        return host_of(self.url) or ""


class Claim(Record):
    """One self-contained factual statement taken from a response."""

    id: str
    text: str
    sources: list[str] = Field(
        default=[], description="Ids of the documents that it says something of: what others say cannot contradict it."
    )


class Stance(StrEnum):
    """What a document says about a claim."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    IRRELEVANT = "irrelevant"


class Evidence(Record):
    """The stance of one document towards one claim."""

    claim_id: str
    document_id: str
    stance: Stance
    quote: str = Field(default="", description="Copied from the document, and checked to stand in it.")
    confidence: float | None = Field(default=None, ge=0, le=1, description="The judge's probability of the stance.")
    partial: bool = Field(default=False, description="Supports only part of the claim.")
    by: str = Field(default="", description="The judge that decided, where several could have.")
    reason: str = Field(default="", description="Why, in the judge's own words; empty where it gives none.")


class Unjudged(Record):
    """A document that a judge could not judge: never counted as irrelevant."""

    document_id: str
    cause: str
    exit_code: int = Field(default=4, description="3 where a key or a setting is wrong; 4 where a model failed.")


class Judgement(Record):
    """What a judge returns: its evidence, what it could not judge, and what documents answer themselves."""

    evidence: list[Evidence] = []
    unjudged: list[Unjudged] = []
    answers: dict[str, str] = Field(
        default={},
        description="What a document itself answers to the question, by its id; the same words where agreed.",
    )
    warnings: list[str] = []


class Credibility(Record):
    """How far one document can be relied on as a source. Says nothing about whether its claims are true."""

    document_id: str
    weight: float = Field(ge=0, le=1, description="What its evidence weighs.")
    level: Literal["high", "medium", "low", "unknown"] | None = Field(
        default=None, description="The model's assessment; null where it was not asked, or gave none."
    )
    reason: str
    source: Literal["list", "model", "default"] = Field(
        description="What the weight comes from: the user's list, the model, or neither of them, which is weight 1."
    )


class ConflictReport(Record):
    """ConflictScore of one response (Liu et al. 2026): its claims, the evidence, and two scores in [0, 1]."""

    claims: list[Claim] = []
    evidence: list[Evidence] = []
    cs_c: float = Field(default=0.0, ge=0, le=1, description="Claims in conflict / claims. 0 without claims.")
    cs_r: float = Field(
        default=0.0, ge=0, le=1, description="Mean over claims of |D-| / (|D+| + |D-|). 0 without claims."
    )
    cs_r_weighted: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Mean over claims of W(D-) / (W(D+) + W(D-)), W the sum of the documents' weights; null without.",
    )
    in_conflict: list[str] = Field(default=[], description="Ids of the claims with D+ and D- both non-empty.")
    unverified: list[str] = Field(default=[], description="Ids of the claims with D+ and D- both empty.")
    unjudged: list[Unjudged] = []
    credibility: list[Credibility] = Field(default=[], description="Of each document; empty where it is off.")
    discounted: list[str] = Field(
        default=[], description="Ids of the documents whose evidence counts for no side, for want of credibility."
    )
    warnings: list[str] = []

    @property
    def judged(self) -> bool:
        """Whether there is any evidence: without it, its scores say nothing about a response that makes claims."""
        return bool(self.evidence) or not self.unjudged

    def sides(self, claim_id: str) -> tuple[list[Evidence], list[Evidence]]:
        """The evidence of D+ and of D- for one claim, in the order of the report."""
        of_claim = [e for e in self.evidence if e.claim_id == claim_id and e.document_id not in self.discounted]
        return (
            [e for e in of_claim if e.stance is Stance.SUPPORTS],
            [e for e in of_claim if e.stance is Stance.CONTRADICTS],
        )

    def not_counted(self, claim_id: str) -> list[Evidence]:
        """The evidence for or against one claim that counts for no side, since its document was discounted."""
        return [
            e
            for e in self.evidence
            if e.claim_id == claim_id and e.document_id in self.discounted and e.stance is not Stance.IRRELEVANT
        ]


class Kind(StrEnum):
    """How documents relate that answer one question (Cattan et al. 2025)."""

    NO_CONFLICT = "no-conflict"
    COMPLEMENTARY = "complementary"
    OPINIONS = "opinions"
    OUTDATED = "outdated"
    MISINFORMATION = "misinformation"


class FoundKind(Record):
    """The kind of conflict that was found between the documents, and what it was found by."""

    kind: Kind
    reason: str = Field(description="Why, in a sentence; where a model gave it, in the model's words.")
    by: Literal["rules", "model", "gold"] = Field(description="gold: it was given by the caller.")


Strategy = Literal["conflict-score", "vanilla", "pipeline", "taxonomy", "oracle"]
"""How an answer comes about: see `regen.strategies`."""


class Answer(Record):
    """One answer of the model."""

    text: str
    choice: int | None = Field(default=None, ge=0, description="Index into `choices`, where there are choices.")
    citations: list[str] = Field(default=[], description="Ids of the documents it cites, in order of first mention.")
    probabilities: list[float] | None = Field(
        default=None,
        description="One for each choice, summing to 1; where the model gives log-probabilities. Those of a second "
        "answer have the documents' stances in them.",
    )


class DocumentAnswer(Record):
    """An answer that documents themselves give to the question, and which ones give it."""

    answer: str
    document_ids: list[str]


class Scores(Record):
    """The scores of one answer."""

    cs_c: float
    cs_r: float
    cs_r_weighted: float | None = Field(
        default=None, description="CS-R by the documents' weights; null where credibility is off."
    )


class Decision(Record):
    """Which answer was kept, and why."""

    kept: Literal["first", "regenerated"]
    reason: str


class Round(Record):
    """One regeneration: the feedback that was given, the answer that came back, and what was decided."""

    feedback: str
    answer: Answer
    report: ConflictReport
    decision: Decision


class SetAside(Record):
    """A document that the second answer was not given, since a newer one contradicts it (`regen.resolution`)."""

    document_id: str
    newer_id: str = Field(
        description="A newest document of the same conflict; one that contradicts it, where one does."
    )
    reason: str


class Usage(Record):
    """What one run cost. Tokens are the provider's own counts."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = Field(default=0, description="Prompt tokens that the provider read from its cache.")
    completion_tokens: int = 0
    cost_usd: float | None = Field(default=None, description="The provider's list price, where it is known.")
    seconds: float = 0.0


class Result(Record):
    """Everything that one question led to."""

    question: str
    choices: list[str] | None = None
    documents: list[Document] = []
    answer: Answer
    initial_answer: Answer
    initial_report: ConflictReport
    report: ConflictReport = Field(
        description="Of the answer that was kept; where documents were set aside, over the others."
    )
    rounds: list[Round] = []
    decision: Decision
    strategy: Strategy = Field(default="conflict-score", description="How it was answered; only this one is checked.")
    kind: FoundKind | None = Field(default=None, description="The kind of conflict, where it was asked for.")
    document_answers: list[DocumentAnswer] = []
    set_aside: list[SetAside] = Field(default=[], description="Documents that the second answer was not given.")
    usage: Usage = Usage()
    warnings: list[str] = []

    @property
    def regenerated(self) -> bool:
        """Whether a regenerated answer took the place of the first."""
        return self.decision.kept == "regenerated"

    @property
    def checked(self) -> bool:
        """Whether the answer was to be checked against the documents: without that, its scores say nothing."""
        return self.strategy == "conflict-score"
