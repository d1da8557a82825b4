"""ConflictScore as a plain metric over (response, documents), for the answers of any system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy

from regen.adapter import PlainAdapter
from regen.claims import ClaimKind, claim_predictor, find_claims
from regen.conflict import Support, aggregate
from regen.credibility import THRESHOLD, Mode, SourceList, make_assessor
from regen.errors import InputError
from regen.judges import Judge, default_judge, make_judge
from regen.program import check_ids
from regen.types import ConflictReport, Document


class Scorer(dspy.Module):
    """Scores responses: takes each apart into claims, judges them against its documents, aggregates."""

    def __init__(
        self,
        judge: str | Judge = "auto",
        *,
        judge_samples: int = 1,
        claim_kind: ClaimKind = "atomic",
        support: Support = "partial",
        check_quotes: bool = True,
        credibility: Mode = "off",
        credibility_list: SourceList | Path | str | None = None,
        credibility_threshold: float = THRESHOLD,
    ) -> None:
        super().__init__()
        self.claim_kind: ClaimKind = claim_kind
        self.claims = claim_predictor(claim_kind)
        # For responses to no question, where that is another one.
        self.unasked: Judge | None = None
        if judge == "auto":
            judge = default_judge(dspy.settings.lm)
            if (unasked := default_judge(dspy.settings.lm, asked=False)) != judge:
                self.unasked = make_judge(unasked)
        self.judge = make_judge(judge, samples=judge_samples) if isinstance(judge, str) else judge
        self.support: Support = support
        self.check_quotes = check_quotes
        self.assessor = make_assessor(credibility, credibility_list)
        self.threshold = credibility_threshold if credibility == "filter" else 0.0

    def forward(
        self,
        response: str,
        documents: Sequence[Document | str],
        question: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """As `score`, in a `dspy.Prediction` with the field `report`."""
        if not response.strip():
            raise InputError("The response is empty: there is nothing to score.")
        found = [_document(item, number) for number, item in enumerate(documents, 1)]
        if not found:
            raise InputError("There are no documents to score the response against.")
        check_ids(found)
        warnings: list[str] = []
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            claims = find_claims(self.claims, response, question, warnings, kind=self.claim_kind, documents=found)
            if not claims:
                warnings.append("The response makes no claim that can be checked: its scores of 0 say nothing of it.")
            judge = self.judge if question or self.unasked is None else self.unasked
            judgement = judge.judge(claims, found, question=question, progress=progress)
            credibility, told = self.assessor.weights(found) if self.assessor else ([], [])
        warnings += told
        report = aggregate(
            claims,
            found,
            judgement,
            support=self.support,
            check_quotes=self.check_quotes,
            credibility=credibility,
            threshold=self.threshold,
        )
        return dspy.Prediction(report=report.model_copy(update={"warnings": [*warnings, *report.warnings]}))


def score(
    response: str,
    documents: Sequence[Document | str],
    question: str | None = None,
    *,
    judge: str | Judge = "auto",
    judge_samples: int = 1,
    claim_kind: ClaimKind = "atomic",
    support: Support = "partial",
    check_quotes: bool = True,
    credibility: Mode = "off",
    credibility_list: SourceList | Path | str | None = None,
    credibility_threshold: float = THRESHOLD,
) -> ConflictReport:
    """ConflictScore of a response against documents (Liu et al. 2026), with the model DSPy is configured for.

    Args:
        response: Any system's answer, not empty.
        documents: What it was, or should have been, based on; a plain text counts as a document.
        question: What the response answers; judges that read do better with it.
        judge: As in `regen.Regen`, but that "auto" is `builtin` for the embedded model where there is no question.
        judge_samples: As in `regen.Regen`.
        claim_kind: As in `regen.Regen`.
        support: "partial" or "strict".
        check_quotes: As in `regen.Regen`.
        credibility: As in `regen.Regen`; so are `credibility_list` and `credibility_threshold`.

    Returns:
        The report, with CS-C and CS-R in [0, 1], lower is better, and weighted CS-R unless `credibility` is "off".

    Raises:
        InputError: an empty response, no documents, or two of one id.
        ConfigurationError: no such judge.
    """
    scorer = Scorer(
        judge,
        judge_samples=judge_samples,
        claim_kind=claim_kind,
        support=support,
        check_quotes=check_quotes,
        credibility=credibility,
        credibility_list=credibility_list,
        credibility_threshold=credibility_threshold,
    )
    report: ConflictReport = scorer(response=response, documents=documents, question=question).report
    return report


def _document(item: Document | str, number: int) -> Document:
    return item if isinstance(item, Document) else Document(id=f"d{number}", text=item)
