"""The language model as judge: one call a document gives its stance on all claims, each with a quote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from regen.adapter import PlainAdapter
from regen.errors import ProviderError
from regen.fence import fence, one_line
from regen.judges import Progress
from regen.judges.gather import each_document
from regen.types import Claim, Document, Evidence, Judgement, Stance
from signatures import JudgeDocument, Verdict


class LMJudge(dspy.Module):
    """Asks for verdicts. Right for strong models; a weak one hardly ever says "irrelevant"."""

    def __init__(self) -> None:
        super().__init__()
        self.verdict = dspy.Predict(JudgeDocument)

    def forward(self, claims: Sequence[Claim], documents: Sequence[Document], **options: Any) -> Any:
        """As `judge`, in a `dspy.Prediction`, so that an optimizer can compile the judge alone."""
        return dspy.Prediction(judgement=self.judge(claims, documents, **options))

    def judge(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        *,
        question: str | None = None,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> Judgement:
        """See `regen.judges.Judge`. N calls for N documents, whatever the number of claims."""
        if not claims or not documents:
            return Judgement()
        texts = [one_line(claim.text, 600) for claim in claims]
        if exclusive and question:
            texts = [f'The answer to "{one_line(question, 400)}" is: {text}' for text in texts]
        numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))

        def one(document: Document) -> list[Evidence]:
            return _evidence(self._verdicts(document, numbered, len(claims)), claims, document)

        found, unjudged = each_document(one, documents, progress)
        return Judgement(evidence=[item for items in found.values() for item in items], unjudged=unjudged)

    def _verdicts(self, document: Document, claims: str, count: int) -> list[Verdict]:
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            for attempt in range(2):
                # A reply that misses a claim is asked for once more, a little warmer: at 0 it would come back the same.
                config = {"temperature": 0.3, "rollout_id": attempt} if attempt else {}
                verdicts: list[Verdict] = self.verdict(document=fence(document), claims=claims, config=config).verdicts
                if {verdict.claim for verdict in verdicts} >= set(range(1, count + 1)):
                    return verdicts
        raise ProviderError(f"the judge's reply left out some of the {count} claims, twice")


def _evidence(verdicts: Sequence[Verdict], claims: Sequence[Claim], document: Document) -> list[Evidence]:
    first: dict[int, Verdict] = {}
    for verdict in verdicts:
        first.setdefault(verdict.claim, verdict)
    return [
        Evidence(
            claim_id=claim.id,
            document_id=document.id,
            stance=Stance.SUPPORTS if first[number].stance == "partially supports" else Stance(first[number].stance),
            partial=first[number].stance == "partially supports",
            quote=first[number].quote,
            confidence=first[number].confidence,
        )
        for number, claim in enumerate(claims, 1)
    ]
