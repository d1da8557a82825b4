"""Which of two answers is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regen.conflict import among
from regen.types import ConflictReport, Decision, Document, Stance

Correction = tuple[str, list[str]]
"""The id of a document, and those of the older ones that it corrects."""

# How the reason of a decision tells of the sides: more against it, less, no more, and as much against another choice.
_COUNTED = (
    "more documents contradict",
    "fewer documents contradict",
    "no more documents contradict it, and it knows of them",
    "the documents speak no less against the other choice",
)
_WEIGHED = (
    "documents of more weight contradict",
    "documents of less weight contradict",
    "documents of no more weight contradict it, and it knows of them",
    "the documents weigh no less against the other choice",
)


def keep_better(
    before: ConflictReport,
    after: ConflictReport,
    *,
    same: bool = False,
    choosing: bool = False,
    weights: Mapping[str, float] | None = None,
) -> Decision:
    """Whether a regenerated answer takes the place of the one before it.

    It does when its CS-R is lower, or equal with no more claims contradicted; never when it says the same. Of two
    choices with an equal CS-R the second is a claim newly contradicted, so the first stays. With `weights` it goes by
    the weighted CS-R.
    """
    was, now = (_score(report, weights) for report in (before, after))
    contradicted = [sum(bool(report.sides(claim.id)[1]) for claim in report.claims) for report in (before, after)]
    scores = f"{'' if weights is None else 'weighted '}CS-R {was:.2f} before, {now:.2f} after"
    more, fewer, no_more, no_less = _COUNTED if weights is None else _WEIGHED
    if same:
        return Decision(kept="first", reason=f"the regenerated answer says the same ({scores})")
    if {item.document_id for item in after.unjudged} - {item.document_id for item in before.unjudged}:
        return Decision(kept="first", reason="not every document could be judged for the regenerated answer")
    if after.claims == [] and before.claims:
        return Decision(kept="first", reason="the regenerated answer makes no claim that can be checked")
    if now > was:
        return Decision(kept="first", reason=f"{more} the regenerated answer ({scores})")
    if now == was and contradicted[1] > contradicted[0]:
        return Decision(kept="first", reason=f"more of the regenerated answer's claims are contradicted ({scores})")
    supported = [any(report.sides(claim.id)[0] for claim in report.claims) for report in (before, after)]
    if supported[0] and not supported[1]:
        return Decision(kept="first", reason=f"no document supports the regenerated answer ({scores})")
    if now < was:
        return Decision(kept="regenerated", reason=f"{fewer} it ({scores})")
    if choosing:
        return Decision(kept="first", reason=f"{no_less} ({scores})")
    return Decision(kept="regenerated", reason=f"{no_more} ({scores})")


def keep_corrected(
    before: ConflictReport,
    after: ConflictReport,
    documents: Sequence[Document],
    correction: Correction | None,
    weights: Mapping[str, float] | None = None,
    *,
    threshold: float = 0.0,
    same: bool = False,
) -> Decision | None:
    """As `keep_better`, for an answer that says what a newer document does, which corrects older ones.

    On the claims on which that document takes a side, the older ones are not counted; then its CS-R must be lower.

    Args:
        before: Of the answer that there is.
        after: Of the regenerated one.
        documents: All that were read.
        correction: What `regen.feedback.corrected` finds about the answer that there is.
        weights: As in `keep_better`.
        threshold: Of credibility, below which documents are discounted.
        same: As in `keep_better`.

    Returns:
        A decision for the regenerated answer, or None where this gives no reason to keep it.
    """
    if correction is None:
        return None
    newest, past = correction
    stances = {item.stance for item in after.evidence if item.document_id == newest}
    if Stance.SUPPORTS not in stances or Stance.CONTRADICTS in stances:
        return None
    compared = [among(_without(item, newest, past), documents, threshold=threshold) for item in (before, after)]
    decision = keep_better(*compared, same=same, weights=weights)
    if decision.kept == "first" or _score(compared[1], weights) >= _score(compared[0], weights):
        return None
    cited = "".join(f"[{number}]" for number, document in enumerate(documents, 1) if document.id in past)
    return decision.model_copy(
        update={"reason": f"{decision.reason}, not counting {cited}, which a newer document corrects"}
    )


def _score(report: ConflictReport, weights: Mapping[str, float] | None) -> float:
    return report.cs_r if weights is None else report.cs_r_weighted or 0.0


def _without(report: ConflictReport, newest: str, past: Sequence[str]) -> ConflictReport:
    """A report in which some documents have no stance on the claims on which the newest one takes a side."""
    told = {
        item.claim_id for item in report.evidence if item.document_id == newest and item.stance is not Stance.IRRELEVANT
    }
    evidence = [
        item.model_copy(update={"stance": Stance.IRRELEVANT})
        if item.claim_id in told and item.document_id in past
        else item
        for item in report.evidence
    ]
    return report.model_copy(update={"evidence": evidence})
