"""The language model as judge: one call a document gives its stance on all claims, each with a quote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from regen.adapter import PlainAdapter
from regen.choosing import again
from regen.errors import ProviderError
from regen.fence import fence, one_line
from regen.judges import Progress
from regen.judges.gather import each_document, refuse_nothing
from regen.readings import agreed, is_none
from regen.types import Claim, Document, Evidence, Judgement, Stance
from signatures import JudgeDocument, Verdict

# New tokens that the verdict on one claim may take, its quote included.
_TOKENS = 160


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

        asked = one_line(question or "", 400)
        number_of = {document.id: number for number, document in enumerate(documents, 1)}

        def one(document: Document) -> tuple[list[Verdict], str]:
            return self._verdicts(fence(document, number_of[document.id]), asked, numbered, len(claims))

        found, unjudged = each_document(one, documents, progress)
        refuse_nothing(found, unjudged)
        judged = [document for document in documents if document.id in found]
        answered = {name: answer for name, (_, answer) in found.items() if question and not is_none(answer)}
        return Judgement(
            evidence=[item for document in judged for item in _evidence(found[document.id][0], claims, document)],
            unjudged=unjudged,
            answers=agreed(answered),
        )

    def _verdicts(self, fenced: str, question: str, claims: str, count: int) -> tuple[list[Verdict], str]:
        """The verdicts on all claims, and the document's own answer to the question, in a line."""
        lm = self.verdict.lm or dspy.settings.lm
        room = max(lm.kwargs.get("max_tokens") or 0, _TOKENS * count)
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            for attempt in range(2):
                # A reply that misses a claim is asked for once more, a little warmer: at 0 it would come back the same.
                config = {**again(lm, attempt), "max_tokens": room} if "max_tokens" in lm.kwargs else again(lm, attempt)
                reply = self.verdict(document=fenced, question=question, claims=claims, config=config)
                verdicts: list[Verdict] = reply.verdicts
                if {verdict.claim for verdict in verdicts} >= set(range(1, count + 1)):
                    return verdicts, one_line(str(reply.answer or ""), 160)
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
