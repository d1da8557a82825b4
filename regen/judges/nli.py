"""The judge that asks a cross-encoder for natural language inference (NLI), and no language model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from regen.errors import ConfigurationError
from regen.judges import Progress
from regen.judges.gather import each_document, hypotheses, is_of_others, on_one_line, refuse_nothing
from regen.models import crossencoder
from regen.models.crossencoder import CrossEncoder
from regen.quotes import sentences
from regen.readings import content
from regen.types import Claim, Document, Evidence, Judgement, Stance


class NLIJudge:
    """Takes what a document entails for what it supports.

    The premise is a window of the document, the hypothesis a claim, or a question and a rival answer to it.

    A document that is too long to be read at once is read in windows that overlap by a third and begin and end where
    sentences do. A window takes a side when that is its likeliest label; of those that take one, the one that is
    surest decides, the earliest of equals. It is SummaC's maximum over premises (Laban et al. 2022), with support and
    contradiction set against each other. Where no window takes a side, the document is irrelevant.

    The quote is the sentence of the deciding window that by itself is likeliest to have its stance. The confidence is
    the model's own probability of the stance in that window; of an irrelevant document, that of the window that is the
    least sure of it.

    Args:
        model: As in `regen.models.crossencoder.find`.

    Raises:
        ConfigurationError: no model is named, there is none of that name, or it is of another kind.
        ProviderError: the Hugging Face hub cannot be reached.
    """

    asks_model = False
    # How many sentences of a window, those that share most words with the hypothesis, may become its quote; None: all.
    quotable: int | None = None
    takes: str | None = "a model (a folder, or org/name or org/name@revision on the Hugging Face hub)"

    def __init__(self, model: str | None = None) -> None:
        if not model:
            raise ConfigurationError(f"The judge nli needs {self.takes} after a colon: {crossencoder.EXAMPLE}, say.")
        # The model itself is not kept here: a program must be able to be copied.
        self.files = crossencoder.find(model)
        crossencoder.load(self.files)

    @property
    def identity(self) -> str:
        """The SHA-256 of the model's files."""
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
        """See `regen.judges.Judge`. A claim of which only the beginning can be read is in the warnings."""
        if not claims or not documents:
            return Judgement()
        model = crossencoder.load(self.files)
        read, warnings = [], []
        for claim, whole in zip(claims, hypotheses(claims, question, exclusive), strict=True):
            read.append(_beginning(model, whole))
            if read[-1] != whole:
                warnings.append(f"Claim {claim.id} is too long for the NLI model: only its beginning was judged.")

        def one(document: Document) -> list[Evidence]:
            text = _Text.of(document, model)
            found = [
                (claim, _evidence(model, text, hypothesis, claim.id, document.id, self.quotable))
                for claim, hypothesis in zip(claims, read, strict=True)
            ]
            return [
                item.model_copy(update={"stance": Stance.IRRELEVANT, "quote": "", "confidence": 1.0})
                if item.stance is Stance.CONTRADICTS and is_of_others(claim, document)
                else item
                for claim, item in found
            ]

        found, unjudged = each_document(one, documents, progress)
        refuse_nothing(found, unjudged)
        evidence = [item for document in documents for item in found.get(document.id, [])]
        return Judgement(evidence=evidence, unjudged=unjudged, warnings=warnings)


@dataclass(frozen=True)
class _Text:
    """A document's text on one line, and where its sentences and the model's tokens begin and end in it."""

    text: str
    sentences: list[tuple[int, int]]
    tokens: list[tuple[int, int]]

    @classmethod
    def of(cls, document: Document, model: CrossEncoder) -> _Text:
        lines = [line for sentence in sentences(document.text) if (line := on_one_line(sentence))]
        spans, start = [], 0
        for line in lines:
            spans.append((start, start + len(line)))
            start += len(line) + 1
        text = " ".join(lines)
        return cls(text, spans, model.tokens(text))

    def windows(self, room: int) -> list[tuple[int, int]]:
        """Where windows of at most `room` tokens begin and end. None where there is no token."""
        if not self.tokens:
            return []
        ends = [end for _, end in self.tokens]
        starts = [bisect_right(ends, start) for start, _ in self.sentences]
        found, first = [], 0
        while True:
            last = min(first + room, len(ends))
            if last < len(ends):
                last = max((start for start in starts if first + room // 3 < start <= last), default=last)
            found.append((self.tokens[first][0], ends[last - 1]))
            if last == len(ends):
                return found
            back = last - room // 3
            first = min((start for start in starts if back <= start < last), default=back)

    def parts(self, start: int, end: int) -> list[str]:
        """The sentences of a window, as far as they are in it; what has no letter and no digit is none."""
        cut = [self.text[max(start, first) : min(end, last)].strip() for first, last in self.sentences]
        return [part for part in cut if any(map(str.isalnum, part))]


def _evidence(
    model: CrossEncoder, text: _Text, hypothesis: str, claim_id: str, document_id: str, quotable: int | None
) -> Evidence:
    windows = text.windows(model.room(hypothesis))
    found = model.probabilities([text.text[start:end] for start, end in windows], hypothesis)
    sides = [
        (of[stance], place, stance)
        for place, of in enumerate(found)
        for stance in (Stance.SUPPORTS, Stance.CONTRADICTS)
        if of[stance] > max(other for label, other in of.items() if label is not stance)
    ]
    if not sides:
        sure = min((of[Stance.IRRELEVANT] for of in found), default=None)
        return Evidence(claim_id=claim_id, document_id=document_id, stance=Stance.IRRELEVANT, confidence=sure)
    confidence, place, stance = max(sides, key=lambda side: (side[0], -side[1]))
    parts = text.parts(*windows[place])
    if quotable is not None and len(parts) > quotable:
        words = content(hypothesis)
        parts = sorted(parts, key=lambda part: -len(words & content(part)))[:quotable]
    said = model.probabilities(parts, hypothesis) if len(parts) > 1 else []
    best = max(range(len(said)), key=lambda number: said[number][stance], default=0)
    return Evidence(
        claim_id=claim_id,
        document_id=document_id,
        stance=stance,
        quote=parts[best] if parts else "",
        confidence=confidence,
    )


def _beginning(model: CrossEncoder, hypothesis: str) -> str:
    """As much of a hypothesis as leaves half of the model's tokens to the premise."""
    tokens, most = model.tokens(hypothesis), model.max_tokens // 2
    return hypothesis if len(tokens) <= most else hypothesis[: tokens[most - 1][1]]
