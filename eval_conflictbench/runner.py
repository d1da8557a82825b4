"""What is asked of a judge about an item, and what its answer is taken for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dspy

from eval_conflictbench.data import ConflictItem, StancePair
from regen.adapter import PlainAdapter
from regen.claims import ClaimKind, claim_predictor, find_claims
from regen.conflict import Support, aggregate
from regen.errors import ConfigurationError, ProviderError
from regen.journal import Ledger
from regen.judges import Judge
from regen.runner import Stage
from regen.types import Claim, ConflictReport, Document, Evidence, Stance

JUDGING = "judging"
CONFLICT, NONE = "conflict", "no conflict"
STANCES = tuple(stance.value for stance in Stance)

_CLAIM = "c1"


class Decomposer(dspy.Module):
    """Takes an item's claim apart, as if it were a response."""

    def __init__(self, kind: ClaimKind) -> None:
        super().__init__()
        self.kind: ClaimKind = kind
        self.claims = claim_predictor(kind)

    def forward(self, claim: str, question: str | None, documents: Sequence[Document]) -> Any:
        """A `dspy.Prediction` with `claims` and `warnings`."""
        warnings: list[str] = []
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            claims = find_claims(self.claims, claim, question, warnings, kind=self.kind, documents=documents)
        if not claims:
            warnings.append("No claim was found in it, so no document could contradict one.")
        return dspy.Prediction(claims=claims, warnings=warnings)


def stage(
    make_judge: Callable[[], Judge],
    decomposer: Decomposer | None = None,
    *,
    support: Support,
    check_quotes: bool,
) -> Stage:
    """The one stage of every item: its claim is judged against its documents, and the report is kept.

    Each item has a judge of its own: one that remembers what it asked would answer an item from another one's calls.
    Without a decomposer, the claim is judged as it stands.
    """

    def work(data: Mapping[str, Any], _: Mapping[str, Mapping[str, Any]], __: Ledger) -> Mapping[str, Any]:
        claim, documents, warnings = str(data["claim"]), documents_of(data), list[str]()
        claims = [Claim(id=_CLAIM, text=claim)]
        if decomposer:
            apart = decomposer(claim=claim, question=data["question"], documents=documents)
            claims, warnings = apart.claims, apart.warnings
        judgement = make_judge().judge(claims, documents, question=data["question"])
        report = aggregate(claims, documents, judgement, support=support, check_quotes=check_quotes)
        report = report.model_copy(update={"warnings": [*warnings, *report.warnings]})
        if report.unjudged and not report.in_conflict:
            # What was not judged may be the other side.
            first = report.unjudged[0]
            kind = ConfigurationError if first.exit_code == ConfigurationError.exit_code else ProviderError
            raise kind(f"{first.cause}.")
        # As an evaluation of answers keeps it, so that `regen runs diff` compares two judges as well.
        return {"report": report.model_dump(mode="json"), "choice": labels_of(data).index(found(data, report))}

    return Stage(JUDGING, work)


def kept(item: ConflictItem | StancePair) -> dict[str, Any]:
    """An item as a run keeps it: with its labels as choices, of which the one that people gave is right."""
    data = item.model_dump(mode="json")
    return {**data, "choices": list(labels_of(data)), "answer": labels_of(data).index(meant(data))}


def labels_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """What an item can be taken for."""
    return STANCES if "stance" in data else (CONFLICT, NONE)


def documents_of(data: Mapping[str, Any]) -> list[Document]:
    """The documents of an item, of either kind."""
    given = data["documents"] if "documents" in data else [data["document"]]
    return [Document.model_validate(document) for document in given]


def meant(data: Mapping[str, Any]) -> str:
    """What people said of an item."""
    return str(data["stance"]) if "stance" in data else CONFLICT if data["conflict"] else NONE


def found(data: Mapping[str, Any], report: ConflictReport) -> str:
    """What a judge said of an item. A conflict needs one document on each side."""
    if "stance" in data:
        return report.evidence[0].stance.value
    return CONFLICT if report.in_conflict else NONE


def sides(report: ConflictReport) -> list[Evidence]:
    """The evidence that takes a side."""
    return [item for item in report.evidence if item.stance is not Stance.IRRELEVANT]
