"""ConflictScore's aggregation (Liu et al. 2026): from stances to CS-C and CS-R. Pure: no model is called here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import fsum
from typing import Literal

from regen.quotes import find_quote
from regen.types import Claim, ConflictReport, Credibility, Document, Evidence, Judgement, Stance, Unjudged

Support = Literal["partial", "strict"]


def aggregate(
    claims: Sequence[Claim],
    documents: Sequence[Document],
    judgement: Judgement,
    *,
    support: Support = "partial",
    check_quotes: bool = True,
    credibility: Sequence[Credibility] = (),
    threshold: float = 0.0,
) -> ConflictReport:
    """The conflict report of a response. The same for the same evidence, in whatever order it came in.

    For each claim, D+ are the documents that support it and D- those that contradict it. CS-C is the share of claims
    with both non-empty; CS-R is the mean over claims of |D-| / (|D+| + |D-|), to which a claim with neither adds 0.
    Both are in [0, 1], lower is better, and both are 0 without claims. Weighted CS-R is the same mean with the sums of
    the documents' weights in place of their numbers.

    Args:
        claims: The response's claims, ids unique.
        documents: The documents that were judged, ids unique.
        judgement: At most one stance for each claim and document.
        support: Under "partial", a document that supports part of a claim is in D+; under "strict" it is not.
        check_quotes: Whether a stance whose quote is not found in its document counts as irrelevant.
        credibility: At most one for each document; a document without one weighs 1. Empty: no CS-R is weighted.
        threshold: Documents that weigh less, or nothing, are discounted: their evidence stays, and counts for no side.

    Returns:
        The report. A document without a stance on some claim is in `unjudged`, never counted as irrelevant.

    Raises:
        ValueError: ids that are not unique or not known, or two stances of one document on one claim.
    """
    claim_order = _order("claim", [claim.id for claim in claims])
    by_id = {document.id: document for document in documents}
    document_order = _order("document", [document.id for document in documents])
    evidence: dict[tuple[str, str], Evidence] = {}
    dropped: Counter[str] = Counter()
    for item in judgement.evidence:
        pair = (item.claim_id, item.document_id)
        if item.claim_id not in claim_order or item.document_id not in document_order:
            raise ValueError(f"evidence for an unknown claim or document: {pair}")
        if pair in evidence:
            raise ValueError(f"two stances of one document on one claim: {pair}")
        checked = _check(item, by_id[item.document_id], support, check_quotes)
        if checked.stance is not item.stance and not (item.partial and support == "strict"):
            dropped[item.document_id] += 1
        evidence[pair] = checked

    unjudged = {item.document_id: item for item in judgement.unjudged}
    for document in documents:
        missing = sum((claim.id, document.id) not in evidence for claim in claims)
        if missing and document.id not in unjudged:
            cause = f"the judge returned no stance on {missing} of {len(claims)} claims"
            unjudged[document.id] = Unjudged(document_id=document.id, cause=cause)

    weights = {item.document_id: item.weight for item in credibility}
    _order("credibility", [item.document_id for item in credibility])
    if not weights.keys() <= document_order.keys():
        raise ValueError(f"credibility of an unknown document: {sorted(weights.keys() - document_order.keys())}")
    discounted = {name for name, weight in weights.items() if weight == 0 or weight < threshold}

    in_conflict, unverified, ratios, weighted = [], [], [], []
    for claim in claims:
        counted = [item for (one, name), item in evidence.items() if one == claim.id and name not in discounted]
        plus_evidence = [item for item in counted if item.stance is Stance.SUPPORTS]
        minus_evidence = [item for item in counted if item.stance is Stance.CONTRADICTS]
        plus, minus = len(plus_evidence), len(minus_evidence)
        ratios.append(minus / (plus + minus) if plus + minus else 0.0)
        against = weigh(minus_evidence, weights)
        weighted.append(float(against / (weigh(plus_evidence, weights) + against)) if minus else 0.0)
        if plus and minus:
            in_conflict.append(claim.id)
        if not plus and not minus:
            unverified.append(claim.id)

    known = sorted(unjudged.values(), key=lambda item: document_order.get(item.document_id, len(document_order)))
    warnings = [*judgement.warnings, *_not_judged(known)]
    warnings += [
        f"Document {name}: {dropped[name]} of its stances came without a quote found in it, and count as irrelevant."
        for name in sorted(dropped, key=lambda name: document_order[name])
    ]
    not_counted = sorted(discounted, key=lambda name: document_order[name])
    warnings += _discounted(not_counted, threshold)
    return ConflictReport(
        claims=list(claims),
        evidence=sorted(evidence.values(), key=lambda e: (claim_order[e.claim_id], document_order[e.document_id])),
        cs_c=len(in_conflict) / len(claims) if claims else 0.0,
        cs_r=_mean(ratios),
        cs_r_weighted=_mean(weighted) if credibility else None,
        in_conflict=in_conflict,
        unverified=unverified,
        unjudged=known,
        credibility=sorted(credibility, key=lambda item: document_order[item.document_id]),
        discounted=not_counted,
        warnings=warnings,
    )


def among(report: ConflictReport, documents: Sequence[Document], *, threshold: float = 0.0) -> ConflictReport:
    """The report of the same response over some of its documents alone, scored anew; it warns of what it warned of."""
    ids = {document.id for document in documents}
    judgement = Judgement(
        evidence=[item for item in report.evidence if item.document_id in ids],
        unjudged=[item for item in report.unjudged if item.document_id in ids],
    )
    # Its quotes were checked before, and its support was.
    credibility = [item for item in report.credibility if item.document_id in ids]
    narrowed = aggregate(
        report.claims, documents, judgement, check_quotes=False, credibility=credibility, threshold=threshold
    )
    return narrowed.model_copy(update={"warnings": report.warnings})


def weigh(evidence: Sequence[Evidence], weights: Mapping[str, float] | None) -> Fraction:
    """The sum of the weights of the documents that pieces of evidence are from; how many they are without weights.

    Exact, so that two answers with the same evidence never differ in the last digit.
    """
    if weights is None:
        return Fraction(len(evidence))
    return sum((Fraction(str(weights.get(item.document_id, 1.0))) for item in evidence), Fraction(0))


def _discounted(ids: Sequence[str], threshold: float) -> list[str]:
    if not ids:
        return []
    how = f"below {threshold:g}" if threshold else "0"
    if len(ids) == 1:
        return [f"Document {ids[0]} was discounted: its weight is {how}, so what it says counts for no side."]
    named = ", ".join(ids)
    return [f"Documents {named} were discounted: their weights are {how}, so what they say counts for no side."]


def _not_judged(unjudged: Sequence[Unjudged]) -> list[str]:
    by_cause: dict[str, list[str]] = {}
    for item in unjudged:
        by_cause.setdefault(item.cause, []).append(item.document_id)
    return [
        f"Document {ids[0]} was not judged: {cause}."
        if len(ids) == 1
        else f"Documents {', '.join(ids)} were not judged: {cause}."
        for cause, ids in by_cause.items()
    ]


def _check(item: Evidence, document: Document, support: Support, check_quotes: bool) -> Evidence:
    if item.stance is Stance.IRRELEVANT:
        return item.model_copy(update={"quote": ""})
    left_out = item.stance is Stance.SUPPORTS and item.partial and support == "strict"
    # A title is as much the document's word as its text is, and of some results there is nothing else.
    quote = None if left_out else find_quote(item.quote, document.text) or find_quote(item.quote, document.title)
    if left_out or (quote is None and check_quotes):
        # The reason was one for the stance that does not count.
        return item.model_copy(update={"stance": Stance.IRRELEVANT, "quote": "", "reason": ""})
    if quote is None:
        # An unchecked quote is never shown as one.
        return item.model_copy(update={"quote": ""})
    return item.model_copy(update={"quote": quote})


def _mean(values: Sequence[float]) -> float:
    # fsum is exact, so that the order of claims does not show in the last digit.
    return min(1.0, fsum(values) / len(values)) if values else 0.0


def _order(what: str, ids: Sequence[str]) -> dict[str, int]:
    order = {name: place for place, name in enumerate(ids)}
    if len(order) < len(ids):
        raise ValueError(f"{what} ids are not unique: {[name for name, n in Counter(ids).items() if n > 1]}")
    return order
