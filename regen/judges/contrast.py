"""The judge for weak models: it lets the model read and choose, not pass verdicts.

Asked for a verdict, a small model says "supports" to nearly everything. Asked which of several answers a document
gives, it is nearly always right. So each document that has a sentence on the question is first asked for its own
answer; answers that agree are put together; then each of these documents chooses among what is left. A document
supports the claims that state its answer and contradicts those that state another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import dspy

from regen.adapter import PlainAdapter
from regen.choosing import choose
from regen.citations import attribution
from regen.errors import ConfigurationError
from regen.fence import fence, one_line
from regen.judges import Judge, Progress, make_judge
from regen.judges.differences import differences
from regen.judges.gather import each_document, is_of_others, refuse_nothing
from regen.judges.module import JudgeModule
from regen.models.failures import expected, translate
from regen.quiet import cut_on_purpose
from regen.quotes import sentences
from regen.readings import (
    asks_who,
    bare,
    bearing,
    best_sentence,
    content,
    fits,
    grounding,
    group,
    in_full,
    is_none,
    is_yes_or_no,
    made_up,
    names_somebody,
    negative,
    numbers,
    rejects,
    same_answer,
)
from regen.types import Claim, Document, Evidence, Judgement, Stance, Unjudged
from search.text import is_unspaced
from signatures import AskAbout, ReadDocument

Out = TypeVar("Out")

# A document gives an answer when it is this much likelier (natural log) than every other one. Below it, the choice is
# habit: on RAMDocs' development part, documents about something else stay under it and those that answer are above.
MARGIN = 1.2
# Of rival answers that are given, and not read from the documents, a document mentions at most one as a rule: where it
# has the words of the one it leans to, a smaller lead is enough.
RIVAL_MARGIN = 0.6
# Answers beyond these, those that fewest documents give, are not set against each other.
MAX_ANSWERS = 6
# A document that has less than this part of an answer's content words does not give it, whatever the model says: asked
# about something else, a small one repeats the question.
GROUNDED = 0.6
# A document whose sentence and title share less than this part of what the question is about answers something else:
# asked when a firm was founded, a small model gives the one date that it finds.
BEARING = 0.4
# A document with a sentence that has every word of the answer read in it, and this part of what the question is about,
# gives that answer if it has no words of another one: it need not choose.
PLAIN = 0.6
# A document with a sentence that has this part of a claim's content words says it, if these are so many; one without an
# answer of its own only where it has all of them.
SAID = 0.7
SAID_WORDS = 4
# A document that shares less than this part of a claim's content words, or of those of a choice that are not in the
# question, has no bearing on it.
MIN_SHARED = 0.3
SOMETHING_ELSE = "something else"
_UNSPACED = "the judge contrast cannot read a language without spaces between words; name another judge, as --judge lm"
# What was asked is kept for this many questions to single documents.
_KNOWN = 4096


class ContrastJudge(JudgeModule):
    """Sets alternatives against each other, in both orders where the model gives log-probabilities."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.seed = seed
        self.ask = dspy.Predict(AskAbout)
        self.read = dspy.Predict(ReadDocument)
        self._known: dict[tuple[Any, ...], Any] = {}

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
        nothing = is_unspaced(question or " ".join(claim.text for claim in claims))
        readable = [item for item in documents if not (nothing or is_unspaced(f"{item.title} {item.text}"))]
        names = {item.id for item in readable}
        unread = [Unjudged(document_id=item.id, cause=_UNSPACED) for item in documents if item.id not in names]
        refuse_nothing(names, unread)
        documents = readable
        if exclusive and question and len(claims) > 1:
            found, heard = self._rivals(claims, documents, question, progress)
        elif question:
            found, heard = self._answers(claims, documents, question, progress)
        else:
            found, heard = self._unasked(claims, documents, progress)
        # A document that is not read can take a side all the same.
        heard |= {item.document_id for item in found.evidence if item.stance is not Stance.IRRELEVANT}
        refuse_nothing(heard, found.unjudged)
        return found.model_copy(update={"unjudged": [*found.unjudged, *unread]})

    def _rivals(
        self, claims: Sequence[Claim], documents: Sequence[Document], question: str, progress: Progress | None
    ) -> tuple[Judgement, set[str]]:
        """Claims that are rival answers: each document that mentions one chooses among them. Also as `_answers`."""
        options = [claim.text for claim in claims]
        near = [item for item in documents if any(_mentions(item, option, question) for option in options)]
        chosen, unjudged = each_document(
            lambda d: self._choice(fence(d), question, options, RIVAL_MARGIN), near, progress
        )
        evidence = []
        answers: dict[str, str] = {}
        sides: dict[str, tuple[int | None, float | None]] = {**chosen}
        failed = {item.document_id for item in unjudged}
        for document in documents:
            if document.id in failed:
                continue
            option, confidence = sides.get(document.id, (None, None))
            if option is not None and not _mentions(document, options[option], question):
                option, confidence = None, None
            if option is not None:
                answers[document.id] = options[option]
            said = answers.get(document.id, "")
            for place, claim in enumerate(claims):
                stance = _stance(option, {place})
                evidence.append(_evidence(claim, document, stance, confidence, said, question))
        return Judgement(evidence=evidence, unjudged=unjudged, answers=answers), set(chosen)

    def _answers(
        self, claims: Sequence[Claim], documents: Sequence[Document], question: str, progress: Progress | None
    ) -> tuple[Judgement, set[str]]:
        """Claims of a free answer to a question: against the documents' own answers, or else one by one.

        Also the ids of the documents that the model was asked about and did not fail on.
        """
        steps = _Steps(progress, 2 * len(documents))
        near = [document for document in documents if _is_on(document, question)]
        read, unjudged = each_document(lambda d: self._read(fence(d), question), near, steps.part(0))
        readers = [document for document in documents if document.id in read and not is_none(read[document.id])]
        # What a small model makes up, or says of something else, would only draw other documents away from theirs.
        standing = [document for document in readers if _stands(document, read[document.id], question)]
        answers = _of_one_kind([(read[document.id], document) for document in standing], question)
        groups = group(answers)[:MAX_ANSWERS]
        options = [min((answers[place] for place in places), key=len) for places in groups]
        own = len(options)
        stated, lost = self._all_stated(claims, question, options)
        claims = [claim for claim in claims if claim.id in stated]
        # Only documents that answered can take a side: the model seldom says "neither" of its own accord.
        sides: dict[str, tuple[int | None, float | None]] = {
            document.id: (side, None)
            for document in standing
            if (side := _plainly(document, read[document.id], options, question)) is not None
        }
        possible = {
            document.id: _possible(document, read[document.id], options, question)
            for document in readers
            if document.id not in sides
        }
        if undecided := [document for document in readers if possible.get(document.id)]:
            shown = _as_options(options, answers, question)

            def choice(document: Document) -> tuple[int | None, float]:
                # What only a claim says is offered where it could be given: so most documents need not choose anew
                # when a second answer's claims are judged, and no choice is lost to what would not be taken from them.
                places = [place for place in range(len(options)) if place < own or place in possible[document.id]]
                texts = [shown[place] for place in places] + [SOMETHING_ELSE] * (len(places) == 1)
                chosen, sure = self._choice(fence(document), question, texts)
                return None if chosen is None else [*places, len(options)][chosen], sure

            chosen_by, failed = each_document(choice, undecided, steps.part(1))
            sides |= chosen_by
            unjudged = [*unjudged, *failed]
        evidence = []
        silent = {name for name, answer in read.items() if is_none(answer)}
        failed_ids = {item.document_id for item in unjudged}
        judged = [document for document in documents if document.id not in failed_ids]
        given = {
            document.id: found
            for document in judged
            if (found := _given(document, read.get(document.id, ""), sides.get(document.id), options, question))
        }
        for claim in claims:
            for document in judged if stated[claim.id] else ():
                side, said = given.get(document.id, (None, ""))
                chosen, sure = sides.get(document.id, (None, 1.0 if document.id in silent else None))
                stance = _stance(side, stated[claim.id])
                if stance is Stance.CONTRADICTS and is_of_others(claim, document):
                    stance = Stance.IRRELEVANT
                elif stance is not Stance.SUPPORTS and _says(document, attribution(claim.text)[1], said, question):
                    # A document can say more than one thing about a question, and was asked for one.
                    stance, sure, said = Stance.SUPPORTS, None, claim.text
                # How sure the choice is says nothing of a stance that is not the choice's.
                confidence = None if stance is Stance.IRRELEVANT and chosen is not None else sure
                evidence.append(_evidence(claim, document, stance, confidence, said, question))
        rest = self._statements([claim for claim in claims if not stated[claim.id]], judged)
        steps.end()
        unjudged = [*unjudged, *rest.unjudged]
        if lost:
            known = {item.document_id for item in unjudged}
            unjudged += [Unjudged(document_id=item.id, cause=lost) for item in documents if item.id not in known]
        return Judgement(
            evidence=[*evidence, *rest.evidence],
            unjudged=unjudged,
            answers={name: options[side] for name, (side, _) in given.items()},
        ), {document.id for document in near if claims} - failed_ids

    def _unasked(
        self, claims: Sequence[Claim], documents: Sequence[Document], progress: Progress | None
    ) -> tuple[Judgement, set[str]]:
        """Claims without a question: each is judged by the question that it answers. Also as `_answers`."""
        evidence: list[Evidence] = []
        heard: set[str] = set()
        unjudged: dict[str, Unjudged] = {}
        steps = _Steps(progress, len(claims) * len(documents))
        for place, claim in enumerate(claims):
            try:
                question = self._question(claim.text)
            except expected() as error:
                why = _cause(error)
                unjudged |= {item.id: Unjudged(document_id=item.id, cause=why) for item in documents}
                continue
            found, of_claim = self._answers([claim], documents, question, steps.part(place, len(claims)))
            evidence += found.evidence
            heard |= of_claim
            unjudged |= {item.document_id: item for item in found.unjudged}
        return Judgement(evidence=evidence, unjudged=list(unjudged.values())), heard

    def _statements(self, claims: Sequence[Claim], documents: Sequence[Document]) -> Judgement:
        """Claims that state no document's answer: by judges without a model, in the documents that share their words.

        Asked whether such a claim is true, a small model says so of what supports it, and never that it is denied. Of
        the contradictions that these judges find a third is none, so only their support counts.
        """
        evidence: list[Evidence] = []
        failed: dict[str, Unjudged] = {}
        for claim in claims:
            near = [item for item in documents if grounding(claim.text, f"{item.title} {item.text}") >= MIN_SHARED]
            found = _without_model().judge([claim], near)
            failed |= {item.document_id: item for item in found.unjudged}
            taken = {item.document_id: item for item in found.evidence if item.stance is Stance.SUPPORTS}
            for item in documents:
                if item.id not in failed:
                    irrelevant = Evidence(claim_id=claim.id, document_id=item.id, stance=Stance.IRRELEVANT)
                    evidence.append(taken.get(item.id, irrelevant))
        return Judgement(evidence=evidence, unjudged=list(failed.values()))

    def _question(self, claim: str) -> str:
        """The question that a claim answers."""

        def ask() -> str:
            with cut_on_purpose(), dspy.context(adapter=PlainAdapter()):
                reply = self.ask(statement=one_line(claim, 600), config={"max_tokens": 60})
            return one_line(bare(str(reply.question)), 300) or f"Is it true that {claim}"

        return self._once((claim,), ask)

    def _read(self, fenced: str, question: str) -> str:
        """What a document says about a question, in a sentence."""

        def ask() -> str:
            # As in `choose`: an answer this short has no room for the field markers of other adapters.
            with cut_on_purpose(), dspy.context(adapter=PlainAdapter()):
                reply = self.read(document=fenced, question=question, config={"max_tokens": 40})
            return one_line(bare(str(reply.answer)), 160)

        return self._once((fenced, question), ask)

    def _choice(
        self, fenced: str, question: str, options: Sequence[str], margin: float = MARGIN
    ) -> tuple[int | None, float]:
        """The option that a document gives, or None, and how sure that is."""

        def ask() -> list[float]:
            inputs = {"document": fenced, "question": question}
            return choose(self.read, options, inputs, neither=True, seed=self.seed)

        return pick(self._once((fenced, question, *options), ask), margin)

    def _all_stated(
        self, claims: Sequence[Claim], question: str, options: list[str]
    ) -> tuple[dict[str, set[int]], str]:
        """As `_stated` for each claim, by its id; without those the model failed for, and why it did."""
        stated: dict[str, set[int]] = {}
        lost = ""
        for claim in claims:
            try:
                stated[claim.id] = self._stated(attribution(claim.text)[1], question, options)
            except expected() as error:
                lost = _cause(error)
        return stated, lost

    def _stated(self, claim: str, question: str, options: list[str]) -> set[int]:
        """Which of the answers a claim states; an answer that is not among them yet is added."""
        if any(map(is_yes_or_no, options)) and not (is_yes_or_no(claim) or bearing(claim, question) >= BEARING):
            # "Yes" agrees with all that doesn't deny, so a claim about something else would state it.
            return set()
        same = {place for place, option in enumerate(options) if same_answer(claim, option)}
        if same:
            return same
        answer = self._read(one_line(claim, 600), question)
        if is_none(answer) or not content(answer) <= content(f"{claim} {question}"):
            return set()
        same = {place for place, option in enumerate(options) if same_answer(answer, option)}
        if not same and len(options) < MAX_ANSWERS:
            options.append(one_line(claim, 160))
            same = {len(options) - 1}
        return same

    def _once(self, asked: tuple[str, ...], ask: Callable[[], Out]) -> Out:
        """What was asked before, of the same model with the same prompt: a second answer is judged by it, too."""
        lm = self.read.lm or dspy.settings.lm
        key = (lm, self.read.signature.instructions, repr(self.read.demos), *asked)
        if key in (known := self._known):
            found: Out = known[key]
            return found
        if len(known) >= _KNOWN:
            # Another thread may still be looking into the old one.
            self._known = known = {}
        found = known[key] = ask()
        return found


def pick(scores: Sequence[float], margin: float = MARGIN) -> tuple[int | None, float]:
    """The option that leads every other by `margin`, or None, with its probability among all options.

    Args:
        scores: Log-probability of each option, and last of "neither".
        margin: In natural log.
    """
    options = list(scores[:-1])
    best = max(range(len(options)), key=options.__getitem__)
    rest = [score for place, score in enumerate(scores) if place != best]
    if options[best] - max(rest) >= margin:
        return best, min(1.0, math.exp(options[best]))
    return None, 1.0 - min(1.0, math.exp(options[best]))


def _cause(error: Exception) -> str:
    """Why the model failed, for one of its calls; a key or a setting that is wrong is raised: no other would do."""
    cause = translate(error)
    if isinstance(cause, ConfigurationError):
        raise cause from None
    return str(cause).rstrip(".")


@cache
def _without_model() -> Judge:
    """The vote of the two judges that ask no model: both seldom find the same side where there is none.

    Of 246 irrelevant documents they agree on a side for 8, where `builtin` alone takes one for a fifth.
    """
    return make_judge("ensemble:builtin,heuristic")


class _Steps:
    """One count of progress over several passes."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total = progress, total

    def part(self, place: int, parts: int = 2) -> Progress | None:
        """The progress of one of equal parts, from 0."""
        progress = self.progress
        if progress is None:
            return None
        return lambda done, total: progress((place * total + done) * self.total // (parts * total), self.total)

    def end(self) -> None:
        if self.progress:
            self.progress(self.total, self.total)


def _is_on(document: Document, question: str) -> bool:
    """Whether a document can give an answer at all: without such a sentence, none that is read in it would stand."""
    parts = sentences(document.text) or [""]
    return any(bearing(f"{document.title} {part}", question) >= BEARING for part in parts)


def _possible(document: Document, read: str, options: Sequence[str], question: str) -> set[int]:
    """Which of the answers a document would be taken to give, if it chose them."""
    places = range(len(options))
    return {place for place in places if _given(document, read, (place, None), options, question)}


def _given(
    document: Document, read: str, chosen: tuple[int | None, float | None] | None, options: Sequence[str], question: str
) -> tuple[int, str] | None:
    """Which of the answers a document gives, and in which words, if its text bears that out and is on the question."""
    side = chosen[0] if chosen else None
    if side is None or side >= len(options):
        return None
    said = read if same_answer(read, options[side]) else options[side]
    if not _stands(document, said, question):
        return None
    # "Yes" stands in any text: what is quoted for it is what is asked about.
    return side, question if is_yes_or_no(said) else said


def _plainly(document: Document, read: str, options: Sequence[str], question: str) -> int | None:
    """The one answer that a document gives for sure: read in one of its sentences, and it gives none of the others."""
    same = [place for place, option in enumerate(options) if same_answer(read, option)]
    if len(same) != 1 or is_yes_or_no(read):
        return None
    sentence = best_sentence(document.text, read, question)
    if any(of(sentence) != of(read) for of in (negative, rejects)):
        return None
    if grounding(read, sentence, question) < 1 or bearing(sentence, question) < PLAIN:
        return None
    text = f"{document.title} {document.text}"
    for place, other in enumerate(options):
        named = numbers(other) <= numbers(text) and grounding(other, text, question) >= MIN_SHARED
        if place not in same and (named or is_yes_or_no(other)):
            return None
    return same[0]


def _of_one_kind(read: Sequence[tuple[str, Document]], question: str) -> list[str]:
    """The answers that can be rivals: where somebody is asked for, a role contradicts no name."""
    named = {answer for answer, document in read if names_somebody(answer, document.text)}
    answers = [answer for answer, _ in read]
    return [answer for answer in answers if answer in named] if named and asks_who(question) else answers


def _stands(document: Document, answer: str, question: str) -> bool:
    """Whether an answer is one to the question, and a document's text bears it out and is on the question."""
    text = f"{document.title} {document.text}"
    if not fits(answer, question) or made_up(answer, question, text):
        return False
    if grounding(answer, text) < GROUNDED or not numbers(answer) <= numbers(text):
        return False
    wanted = question if is_yes_or_no(answer) else answer
    shown = f"{document.title} {best_sentence(document.text, wanted, question)}"
    return bearing(shown, question) >= BEARING


def _as_options(options: Sequence[str], answers: Sequence[str], question: str) -> list[str]:
    """Answers as options: a bare "Yes" or "No" as a statement, which a small model goes by far more surely."""
    yes, no = in_full(question, answers)
    return [(no if negative(option) else yes) if is_yes_or_no(option) else option for option in options]


def _says(document: Document, claim: str, own: str, question: str) -> bool:
    """Whether a document says a claim in nearly its words, in another sentence than that of its own answer, if any.

    In that sentence, the few words that differ would be those that the two answers differ in.
    """
    sentence = best_sentence(document.text, claim)
    if own and sentence == best_sentence(document.text, own, question):
        return False
    if numbers(sentence) != numbers(claim) or rejects(sentence) != rejects(claim) or differences(claim, sentence):
        return False
    share = SAID if own else 1.0
    return len(content(claim)) >= SAID_WORDS and grounding(claim, sentence) >= share


def _mentions(document: Document, option: str, question: str) -> bool:
    """Whether a document has words of a choice: one that gives a third answer is pushed to one of two as well."""
    return grounding(option, f"{document.title} {document.text}", question) >= MIN_SHARED


def _stance(side: int | None, stated: set[int]) -> Stance:
    """The stance of a document that gives the answer `side` towards a claim that states the answers `stated`."""
    if side is None:
        return Stance.IRRELEVANT
    if side in stated:
        return Stance.SUPPORTS
    return Stance.IRRELEVANT if len(stated) > 1 else Stance.CONTRADICTS


def _evidence(
    claim: Claim,
    document: Document,
    stance: Stance,
    confidence: float | None,
    *wanted: str,
) -> Evidence:
    quote = "" if stance is Stance.IRRELEVANT else best_sentence(document.text, *wanted) or document.title
    return Evidence(
        claim_id=claim.id,
        document_id=document.id,
        stance=stance,
        quote=quote,
        confidence=confidence,
    )
