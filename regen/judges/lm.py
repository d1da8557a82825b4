"""The language model as judge: it gives its stance on claims, each with a quote, in one call or in many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar, get_args

import dspy
from dspy.utils.exceptions import AdapterParseError

from regen.adapter import PlainAdapter
from regen.choosing import again
from regen.errors import ConfigurationError, ProviderError
from regen.fence import fence, fence_all, one_line
from regen.judges import Progress
from regen.judges.gather import each_document, refuse_nothing
from regen.judges.module import JudgeModule
from regen.models.failures import expected, translate
from regen.parallel import in_turn
from regen.readings import agreed, is_none
from regen.types import Claim, Document, Evidence, Judgement, Stance, Unjudged
from signatures import JudgeDocument, JudgeDocuments, Verdict

Granularity = Literal["document", "pair", "all"]
Out = TypeVar("Out")

# New tokens that the verdict on one claim may take, its quote included.
_TOKENS = 160
# Models and servers refuse a call that asks for more than they can write; few can write less than this.
_MOST_TOKENS = 8000


class LMJudge(JudgeModule):
    """Asks for verdicts. Right for strong models; a weak one hardly ever says "irrelevant".

    Args:
        granularity: What one call is about: a `document` and all claims (N calls for N documents), a `pair` of a
            document and a claim (N x M calls for M claims, as in the paper), or `all` documents and claims (one call).
    """

    takes = "document, pair or all"

    def __init__(self, granularity: str = "document") -> None:
        super().__init__()
        if granularity not in get_args(Granularity):
            raise ConfigurationError(f"The judge lm has no granularity {granularity!r}: name {self.takes}.")
        self.granularity = granularity
        self.verdict = dspy.Predict(JudgeDocuments if granularity == "all" else JudgeDocument)

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
        texts = [one_line(claim.text, 600) for claim in claims]
        if exclusive and question:
            texts = [f'The answer to "{one_line(question, 400)}" is: {text}' for text in texts]
        asked = one_line(question or "", 400)
        if self.granularity == "all":
            found = self._together(claims, texts, documents, asked)
            if progress:
                progress(len(documents), len(documents))
        else:
            found = self._apart(claims, texts, documents, asked, progress)
        refuse_nothing({item.document_id for item in found.evidence}, found.unjudged)
        return found

    def _apart(
        self,
        claims: Sequence[Claim],
        texts: Sequence[str],
        documents: Sequence[Document],
        question: str,
        progress: Progress | None,
    ) -> Judgement:
        """Each document by itself, its claims in one call or in a call each."""
        number_of = {document.id: number for number, document in enumerate(documents, 1)}
        step = 1 if self.granularity == "pair" else len(texts)

        def one(document: Document) -> tuple[list[Verdict], str]:
            fenced = fence(document, number_of[document.id])
            asked = in_turn(
                lambda place: self._verdicts(fenced, question, texts[place : place + step]),
                range(0, len(texts), step),
            )
            answer = next((answer for _, answer in asked if not is_none(answer)), "")
            return [verdict for verdicts, _ in asked for verdict in verdicts], answer

        found, unjudged = each_document(one, documents, progress)
        evidence = [
            _evidence(verdict, claim, document)
            for document in documents
            if document.id in found
            for verdict, claim in zip(found[document.id][0], claims, strict=True)
        ]
        answered = {name: answer for name, (_, answer) in found.items() if question and not is_none(answer)}
        return Judgement(evidence=evidence, unjudged=unjudged, answers=agreed(answered))

    def _verdicts(self, fenced: str, question: str, texts: Sequence[str]) -> tuple[list[Verdict], str]:
        """One document's verdict on each claim, and its own answer to the question, in a line."""

        def read(reply: Any) -> tuple[list[Verdict], str] | None:
            first = _first((verdict.claim, verdict) for verdict in reply.verdicts)
            if not set(range(1, len(texts) + 1)) <= set(first):
                return None
            verdicts = [first[number] for number in range(1, len(texts) + 1)]
            return verdicts, one_line(str(reply.answer or ""), 160)

        inputs = {"document": fenced, "question": question, "claims": _numbered(texts)}
        found = self._asked(inputs, len(texts), read)
        if found is None:
            raise ProviderError(f"the judge's reply left out some of the {len(texts)} claims, twice")
        return found

    def _together(
        self, claims: Sequence[Claim], texts: Sequence[str], documents: Sequence[Document], question: str
    ) -> Judgement:
        """All documents in one call; one whose verdicts are not all there, after a second try, is unjudged."""
        best: dict[tuple[int, int], Verdict] = {}
        pairs = {(place, claim) for place in range(1, len(documents) + 1) for claim in range(1, len(texts) + 1)}

        def read(reply: Any) -> bool | None:
            found = _first(((verdict.document, verdict.claim), verdict) for verdict in reply.verdicts)
            best.update({pair: found[pair] for pair in pairs & found.keys() if pair not in best})
            return True if best.keys() >= pairs else None

        inputs = {"documents": fence_all(documents), "question": question, "claims": _numbered(texts)}
        cause = "the judge's reply left out some of its claims, twice"
        try:
            self._asked(inputs, len(pairs), read)
        except expected() as error:
            if not best:
                raise
            # What the first reply said is kept.
            cause = str(translate(error)).rstrip(".")
        evidence, unjudged = [], []
        for place, document in enumerate(documents, 1):
            verdicts = [best.get((place, number)) for number in range(1, len(texts) + 1)]
            if None in verdicts:
                unjudged.append(Unjudged(document_id=document.id, cause=cause))
            else:
                evidence += [_evidence(v, claim, document) for v, claim in zip(verdicts, claims, strict=True) if v]
        return Judgement(evidence=evidence, unjudged=unjudged)

    def _asked(self, inputs: dict[str, str], count: int, read: Callable[[Any], Out | None]) -> Out | None:
        """What `read` makes of the reply; where it makes nothing of it, or it is no reply at all, of a second one."""
        lm = self.verdict.lm or dspy.settings.lm
        room = max(lm.kwargs.get("max_tokens") or 0, min(_TOKENS * count, _MOST_TOKENS))
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            for attempt in range(2):
                # A little warmer the second time: at 0 the same would come back.
                config = {**again(lm, attempt), "max_tokens": room} if "max_tokens" in lm.kwargs else again(lm, attempt)
                try:
                    found = read(self.verdict(**inputs, config=config))
                except AdapterParseError:
                    if attempt:
                        raise
                    continue
                if found is not None:
                    return found
        return None


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def _first(items: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The first value of each key."""
    found: dict[Any, Any] = {}
    for key, value in items:
        found.setdefault(key, value)
    return found


def _evidence(verdict: Verdict, claim: Claim, document: Document) -> Evidence:
    partly = verdict.stance == "partially supports"
    return Evidence(
        claim_id=claim.id,
        document_id=document.id,
        stance=Stance.SUPPORTS if partly else Stance(verdict.stance),
        partial=partly,
        quote=verdict.quote,
        confidence=verdict.confidence,
    )
