"""The judge for weak models: it lets the model read and choose, not pass verdicts.

Asked for a verdict, a small model says "supports" to nearly everything. Asked which of several answers a document
gives, it is nearly always right. So each document is first asked for its own answer to the question; answers that
agree are put together; then each document chooses among what is left. A document supports the claims that state its
answer and contradicts those that state another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import dspy

from regen.adapter import PlainAdapter
from regen.choosing import choose
from regen.fence import fence, one_line
from regen.judges import Progress
from regen.judges.gather import each_document
from regen.quiet import cut_on_purpose
from regen.readings import bare, best_sentence, content, group, is_none, same_answer
from regen.types import Claim, Document, Evidence, Judgement, Stance
from signatures import ReadDocument

# A document gives an answer when it is this much likelier (natural log) than every other one. Below it, the choice is
# habit: on RAMDocs' development part, documents about something else stay under it and those that answer are above.
MARGIN = 1.2
# A small model says "no" of documents about something else as well: a denial must be this much likelier to count.
DENIAL_MARGIN = 2.0
# Answers beyond these, those that fewest documents give, are not set against each other.
MAX_ANSWERS = 6
# A document that shares less than this part of a claim's content words has no bearing on it.
MIN_SHARED = 0.3
_YES_NO = ("Yes, the document says so", "No, the document says otherwise")


class ContrastJudge(dspy.Module):
    """Sets alternatives against each other, in both orders where the model gives log-probabilities."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.seed = seed
        self.read = dspy.Predict(ReadDocument)

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
        """See `regen.judges.Judge`."""
        if not claims or not documents:
            return Judgement()
        if exclusive and question and len(claims) > 1:
            return self._rivals(claims, documents, question, progress)
        if question:
            return self._answers(claims, documents, question, progress)
        return self._statements(claims, documents, progress)

    def _rivals(
        self, claims: Sequence[Claim], documents: Sequence[Document], question: str, progress: Progress | None
    ) -> Judgement:
        """Claims that are rival answers: each document chooses among them."""
        options = [claim.text for claim in claims]
        chosen, unjudged = each_document(lambda d: self._choice(d, question, options), documents, progress)
        evidence = []
        for document in documents:
            if document.id in chosen:
                option, confidence = chosen[document.id]
                answer = None if option is None else options[option]
                for place, claim in enumerate(claims):
                    stance = _stance(option, place)
                    evidence.append(_evidence(claim, document, stance, confidence, answer, answer or ""))
        return Judgement(evidence=evidence, unjudged=unjudged)

    def _answers(
        self, claims: Sequence[Claim], documents: Sequence[Document], question: str, progress: Progress | None
    ) -> Judgement:
        """Claims of a free answer to a question: against the documents' own answers, or else one by one."""
        steps = _Steps(progress, 2 * len(documents))
        read, unjudged = each_document(lambda d: self._read(d, question), documents, steps.part(0))
        readers = [document for document in documents if document.id in read and not is_none(read[document.id])]
        groups = group([read[document.id] for document in readers])[:MAX_ANSWERS]
        options = [min((read[readers[place].id] for place in places), key=len) for places in groups]
        place_of = {readers[place].id: number for number, places in enumerate(groups) for place in places}
        chosen: dict[str, tuple[int | None, float]] = {
            document.id: (place_of.get(document.id), 1.0) for document in documents if document.id in read
        }
        if len(options) > 1:
            # Only documents that answered can take a side: the model seldom says "neither" of its own accord.
            sides, failed = each_document(lambda d: self._choice(d, question, options), readers, steps.part(1))
            chosen.update(sides)
            for item in failed:
                del chosen[item.document_id]
            unjudged = [*unjudged, *failed]
        evidence = []
        loose = []
        for claim in claims:
            stated = self._stated(claim, question, options)
            if stated is None:
                loose.append(claim)
                continue
            for document in documents:
                if document.id in chosen:
                    option, confidence = chosen[document.id]
                    answer = None if option is None else options[option]
                    wanted = read.get(document.id) or answer or ""
                    stance = _stance(option, stated)
                    evidence.append(_evidence(claim, document, stance, confidence, answer, wanted, question))
        failed_ids = {item.document_id for item in unjudged}
        rest = self._statements(loose, [d for d in documents if d.id not in failed_ids], None)
        steps.end()
        return Judgement(evidence=[*evidence, *rest.evidence], unjudged=[*unjudged, *rest.unjudged])

    def _statements(
        self, claims: Sequence[Claim], documents: Sequence[Document], progress: Progress | None
    ) -> Judgement:
        """Claims that stand alone: each against its denial, in the documents that share its words."""

        def one(document: Document) -> list[Evidence]:
            return [self._statement(claim, document) for claim in claims]

        if not claims or not documents:
            return Judgement()
        found, unjudged = each_document(one, documents, progress)
        return Judgement(evidence=[item for items in found.values() for item in items], unjudged=unjudged)

    def _statement(self, claim: Claim, document: Document) -> Evidence:
        words = content(claim.text)
        if len(words & content(f"{document.title} {document.text}")) < MIN_SHARED * len(words):
            return Evidence(claim_id=claim.id, document_id=document.id, stance=Stance.IRRELEVANT)
        inputs = {"document": fence(document), "question": f"Is it true that {one_line(claim.text, 600)}"}
        yes, no, neither = choose(self.read, _YES_NO, inputs, neither=True, seed=self.seed)
        stance, confidence = Stance.IRRELEVANT, 1.0 - math.exp(max(yes, no))
        if yes - max(no, neither) >= MARGIN:
            stance, confidence = Stance.SUPPORTS, math.exp(yes)
        elif no - max(yes, neither) >= DENIAL_MARGIN:
            stance, confidence = Stance.CONTRADICTS, math.exp(no)
        return _evidence(claim, document, stance, confidence, None, claim.text)

    def _read(self, document: Document, question: str) -> str:
        # As in `choose`: an answer this short has no room for the field markers of other adapters.
        with cut_on_purpose(), dspy.context(adapter=PlainAdapter()):
            answer = str(self.read(document=fence(document), question=question, config={"max_tokens": 40}).answer)
        return one_line(bare(answer), 160)

    def _choice(self, document: Document, question: str, options: Sequence[str]) -> tuple[int | None, float]:
        """The option that a document gives, or None, and how sure that is."""
        inputs = {"document": fence(document), "question": question}
        scores = choose(self.read, options, inputs, neither=True, seed=self.seed)
        return pick(scores)

    def _stated(self, claim: Claim, question: str, options: Sequence[str]) -> int | None:
        """Which of the documents' answers a claim states, if any."""
        same = [place for place, option in enumerate(options) if same_answer(claim.text, option)]
        if len(same) == 1 or not options:
            return same[0] if same else None
        if len(options) == 1:
            return None
        inputs = {"document": one_line(claim.text, 600), "question": question}
        scores = choose(self.read, options, inputs, neither=True, seed=self.seed)
        return pick(scores)[0]


def pick(scores: Sequence[float]) -> tuple[int | None, float]:
    """The option that leads every other by `MARGIN`, or None, with its probability among all options.

    Args:
        scores: Log-probability of each option, and last of "neither".
    """
    options = list(scores[:-1])
    best = max(range(len(options)), key=options.__getitem__)
    rest = [score for place, score in enumerate(scores) if place != best]
    if options[best] - max(rest) >= MARGIN:
        return best, min(1.0, math.exp(options[best]))
    return None, 1.0 - min(1.0, math.exp(options[best]))


class _Steps:
    """One count of progress over two passes."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total = progress, total

    def part(self, place: int) -> Progress | None:
        progress = self.progress
        if progress is None:
            return None
        return lambda done, total: progress(place * self.total // 2 + done * (self.total // 2) // total, self.total)

    def end(self) -> None:
        if self.progress:
            self.progress(self.total, self.total)


def _stance(option: int | None, stated: int) -> Stance:
    if option is None:
        return Stance.IRRELEVANT
    return Stance.SUPPORTS if option == stated else Stance.CONTRADICTS


def _evidence(
    claim: Claim,
    document: Document,
    stance: Stance,
    confidence: float,
    answer: str | None,
    *wanted: str,
) -> Evidence:
    quote = "" if stance is Stance.IRRELEVANT else best_sentence(document.text, *wanted)
    return Evidence(
        claim_id=claim.id,
        document_id=document.id,
        stance=stance,
        quote=quote,
        confidence=confidence,
        answer=answer,
    )
