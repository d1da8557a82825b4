"""What a response claims: every fact by itself, or fewer and larger claims, which cost fewer judgements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import dspy

from regen.citations import attribution, name_sources, without_citations
from regen.fence import harmless
from regen.quotes import sentences
from regen.readings import content, is_none, is_reported
from regen.types import Claim, Document
from signatures import ExtractClaims, ExtractMergedClaims, ExtractSalientClaims

ClaimKind = Literal["atomic", "salient", "merged", "whole"]
"""Every fact, the few that matter, related statements joined, or the response as it stands."""

# Claims beyond these are not judged, and a warning says so.
MAX_CLAIMS = 20
# Texts cover another when they have all of its numbers and this part of its content words.
_COVERED = 0.6
_SIGNATURES = {"salient": ExtractSalientClaims, "merged": ExtractMergedClaims}


def claim_predictor(kind: ClaimKind) -> Any:
    """The DSPy predictor that takes a response apart."""
    return dspy.Predict(_SIGNATURES.get(kind, ExtractClaims))


def find_claims(
    predictor: Any,
    response: str,
    question: str | None,
    warnings: list[str],
    *,
    kind: ClaimKind = "atomic",
    documents: Sequence[Document] = (),
) -> list[Claim]:
    """The claims of a response, at most `MAX_CLAIMS`, without repeats; a warning says what was left out.

    A weak model forgets some, and who said them. So where all claims are wanted, a sentence that says who says
    something is one claim as it stands, and so is one with a number or a citation that the claims together don't cover.

    Args:
        predictor: From `claim_predictor`; not asked where the whole response is the claim.
        response: Any text.
        question: What it answers, where it answers something.
        warnings: Added to.
        kind: What the response is taken apart into.
        documents: Those that the response numbers, in that order.
    """
    named = name_sources(harmless(response))
    if kind == "whole":
        whole = without_citations(named).strip()
        return [] if not whole or is_none(whole) else [_claim(1, whole, documents)]
    texts = list(predictor(question=question, response=without_citations(named)).claims)
    # Before citations are words, a sentence that begins with one is told from the sentence before it.
    parts = [name_sources(part) for part in sentences(harmless(response))]
    for sentence in parts if kind == "atomic" else ():
        bare = without_citations(sentence)
        if attribution(bare)[0] or is_reported(bare):
            texts = [text for text in texts if not _covers([bare], text)]
        factual = attribution(bare)[0] or bare != sentence or any(character.isdigit() for character in bare)
        if factual and not _covers(texts, bare):
            texts.append(bare)
    if not texts:
        # A weak model may find none at all; what only says that there is no answer stays none.
        texts = [bare for sentence in parts if not is_none(bare := without_citations(sentence))]
    texts = list(dict.fromkeys(texts))
    if len(texts) > MAX_CLAIMS:
        warnings.append(f"The response makes {len(texts)} claims; the first {MAX_CLAIMS} were judged.")
    return [_claim(number, text, documents) for number, text in enumerate(texts[:MAX_CLAIMS], 1)]


def _claim(number: int, text: str, documents: Sequence[Document]) -> Claim:
    named = attribution(text)[0]
    sources = [document.id for place, document in enumerate(documents, 1) if place in named]
    return Claim(id=f"c{number}", text=text, sources=sources)


def _covers(texts: Sequence[str], other: str) -> bool:
    words, said = content(other), frozenset[str]().union(*map(content, texts))
    numbers = {word for word in words if word[0].isdigit()}
    return numbers <= said and len(words & said) >= _COVERED * len(words)
