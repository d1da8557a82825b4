"""The judge without any model of language or of stances: sentences on the same topic, and what differs in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regen.errors import ConfigurationError
from regen.judges import Progress
from regen.judges.differences import differences
from regen.judges.gather import each_document, hypotheses, on_one_line, refuse_nothing
from regen.models import embeddings
from regen.quotes import sentence_spans
from regen.types import Claim, Document, Evidence, Judgement, Stance

THRESHOLD = 0.68
"""Similarity from which on two texts are on the same topic, as the article *RAG conflict* (2026) has it."""


class HeuristicJudge:
    """Takes a document that is on a claim's topic and differs from it for one that contradicts it.

    The document's sentence that is most similar to the claim speaks for it, with the one that follows, which often says
    what becomes of it ("Some think so. They are wrong."). If its similarity is below the threshold, the document is
    irrelevant. Else it contradicts where their numbers don't overlap, or where one has a word that denies or gives a
    direction and the other has none (`regen.judges.differences`), and supports where nothing differs. These are the
    rules of the article *RAG conflict* (2026), which compares whole documents.

    The quote is that sentence, with the following one where that makes a difference. The reason says what differs, or
    how similar it is. There is no confidence: nothing here is a probability.

    Args:
        threshold: Cosine of two sentence embeddings, above 0 and below 1, as a number or written as one. See
            `regen.judges.calibration` for one that fits one's own documents.

    Raises:
        ConfigurationError: the threshold is no such number, or the embeddings' files are missing.
    """

    asks_model = False
    takes = "a similarity threshold (heuristic:0.6)"

    def __init__(self, threshold: float | str = THRESHOLD) -> None:
        self.threshold = _threshold(threshold)
        self.files = embeddings.files()

    @property
    def identity(self) -> str:
        """The SHA-256 of the files of the embeddings."""
        return self.files.sha256()

    def judge(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        *,
        question: str | None = None,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> Judgement:
        """See `regen.judges.Judge`."""
        if not claims or not documents:
            return Judgement()
        embedder = embeddings.load()
        compared = hypotheses(claims, question, exclusive)
        vectors = embedder.embed(compared)

        def one(document: Document) -> list[Evidence]:
            spans = sentence_spans(document.text)
            if not spans:
                return [_irrelevant(claim.id, document.id, "it says nothing") for claim in claims]
            similar = embedder.embed([on_one_line(document.text[start:end]) for start, end in spans]) @ vectors.T
            return [
                self._evidence(claim.id, document, spans, hypothesis, similar[:, place])
                for place, (claim, hypothesis) in enumerate(zip(claims, compared, strict=True))
            ]

        found, unjudged = each_document(one, documents, progress)
        refuse_nothing(found, unjudged)
        evidence = [item for document in documents for item in found.get(document.id, [])]
        return Judgement(evidence=evidence, unjudged=unjudged)

    def _evidence(
        self, claim: str, document: Document, spans: Sequence[tuple[int, int]], hypothesis: str, similar: Any
    ) -> Evidence:
        best = int(similar.argmax())
        similarity = f"similarity {similar[best]:.2f}"
        if similar[best] < self.threshold:
            return _irrelevant(claim, document.id, f"nothing on the topic ({similarity} at most)")
        start, end = spans[best]
        sentence, passage = (document.text[start:to] for to in (end, spans[min(best + 1, len(spans) - 1)][1]))
        alone, differ = (differences(hypothesis, on_one_line(text)) for text in (sentence, passage))
        return Evidence(
            claim_id=claim,
            document_id=document.id,
            stance=Stance.CONTRADICTS if differ else Stance.SUPPORTS,
            quote=sentence if alone == differ else passage,
            reason="; ".join(differ) or f"on the topic ({similarity}), and nothing differs",
        )


def _irrelevant(claim: str, document: str, reason: str) -> Evidence:
    return Evidence(claim_id=claim, document_id=document, stance=Stance.IRRELEVANT, reason=reason)


def _threshold(given: float | str) -> float:
    try:
        threshold = float(given)
    except ValueError:
        threshold = 0.0
    if not 0 < threshold < 1:
        raise ConfigurationError(f"The judge heuristic takes a similarity threshold between 0 and 1, not {given!r}.")
    return threshold
