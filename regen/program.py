"""The program: retrieve, answer, score the answer by its conflicts, feed them back, answer again, keep the better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import exp
from pathlib import Path
from typing import Any, Literal

import dspy

from regen import feedback as feedback_text
from regen import strategies
from regen.adapter import PlainAdapter
from regen.choosing import choose, joined
from regen.citations import check_citations, without_citations
from regen.claims import ClaimKind, claim_predictor, find_claims
from regen.conflict import Support, aggregate, among, weigh
from regen.credibility import THRESHOLD, Mode, SourceList, make_assessor
from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
from regen.fence import fence_all, one_line
from regen.judges import Judge, default_judge, make_judge
from regen.keeping import Correction, keep_better, keep_corrected
from regen.kinds import gold_kind
from regen.models import gives_logprobs
from regen.models.failures import expected, translate
from regen.parallel import in_turn
from regen.resolution import (
    Edge,
    Resolution,
    Resolving,
    answers_among,
    check_rounds,
    edges,
    is_opinion,
    resolve,
    resolved_feedback,
)
from regen.types import (
    Answer,
    Claim,
    ConflictReport,
    Credibility,
    Decision,
    Document,
    DocumentAnswer,
    Evidence,
    FoundKind,
    Judgement,
    Kind,
    Result,
    Round,
    Strategy,
    Unjudged,
)
from regen.usage import metered
from search.base import Search
from signatures import AnswerQuestion, ChooseAnswer

Step = Literal[
    "searching",
    "answering",
    "assessing sources",
    "finding claims",
    "checking",
    "finding the kind",
    "answering again",
    "writing",
    "writing again",
    "checking again",
]
OnStep = Callable[[Step, int, int], None]
OnResult = Callable[[Result], None]


class Regen(dspy.Module):
    """The feedback loop as a DSPy program, with one named predictor a task.

    Args:
        search: Where documents come from, unless `forward` is given them.
        judge: "auto", the name of an installed judge, or a judge. "auto" is `contrast` for the embedded model and
            `lm` for others (what was measured: `benchmarks/README.md`).
        k: Documents to retrieve.
        max_rounds: Regenerations at most; 0 only scores the first answer.
        support: Whether a document that supports part of a claim supports it.
        check_quotes: Whether a stance without a quote found in the document counts as irrelevant.
        seed: Seed of every shuffle.
        shuffle: Whether choices are shuffled where the model gives no log-probabilities; else shown as they are given.
        judge_lm: The model that takes claims apart and judges; the answering one where None.
        judge_samples: How often a judge that is named is asked; the majority counts.
        claim_kind: What an answer is taken apart into (`regen.claims`).
        resolve: With "recency", documents that newer ones contradict are set aside once the first answer is judged, and
            the second is given from the others, whose prompt then cannot begin with that of the first; not where an
            opinion is asked for (`regen.resolution`), and whatever they weigh. With "none", every answer is given from
            all documents.
        strategy: How an answer comes about (`regen.strategies`); only `conflict-score` checks and regenerates it.
        kinds: Whether the kind of conflict is found, so that the feedback asks for what that kind needs: "off", by
            "rules" (no call) or by the "model" (one call, or two where it chooses by log-probabilities). For
            `pipeline`, which always needs it, "off" is "model"; the other strategies make no use of it.
        credibility: Whether documents are assessed as sources (`regen.credibility`): "weight" has their evidence count
            by what they weigh, "filter" discounts the evidence of those that weigh less than `credibility_threshold`.
        credibility_list: What documents weigh, or the file that says so; what it does not name the model assesses.
        credibility_threshold: From 0 to 1.
        on_step: Called with the step, and what is done and in all of it, as the program goes along.
        on_result: Called with what there is so far, before a model is asked for more that may fail or be interrupted:
            the first answer while it is still unchecked, then with its report, and what each further round came to.
    """

    def __init__(
        self,
        search: Search | None = None,
        judge: str | Judge = "auto",
        *,
        k: int = 10,
        max_rounds: int = 1,
        support: Support = "partial",
        check_quotes: bool = True,
        seed: int = 0,
        shuffle: bool = True,
        judge_lm: Any = None,
        judge_samples: int = 1,
        claim_kind: ClaimKind = "atomic",
        resolve: Resolving = "none",
        strategy: Strategy = "conflict-score",
        kinds: strategies.Kinds = "off",
        credibility: Mode = "off",
        credibility_list: SourceList | Path | str | None = None,
        credibility_threshold: float = THRESHOLD,
        on_step: OnStep | None = None,
        on_result: OnResult | None = None,
    ) -> None:
        super().__init__()
        check_rounds(resolve, max_rounds)
        self.search = search
        self.k = k
        self.max_rounds = max_rounds
        self.support: Support = support
        self.check_quotes = check_quotes
        self.seed = seed
        self.shuffle = shuffle
        self.resolve: Resolving = resolve
        self.judge_lm = judge_lm
        self.on_step = on_step
        self.on_result = on_result
        self.answer = dspy.Predict(AnswerQuestion)
        self.choose = dspy.Predict(ChooseAnswer)
        self.claim_kind: ClaimKind = claim_kind
        self.claims = claim_predictor(claim_kind)
        self.credibility: Mode = credibility
        self.threshold = credibility_threshold if credibility == "filter" else 0.0
        self.assessor = make_assessor(credibility, credibility_list)
        self.judge_name = type(judge).__name__
        if isinstance(judge, str):
            with self.judging():
                self.judge_name = default_judge(dspy.settings.lm) if judge == "auto" else judge
                judge = make_judge(self.judge_name, samples=judge_samples, seed=seed)
        self.judge = judge
        strategies.check(strategy, kinds, resolve=resolve, credibility=credibility)
        self.strategy: Strategy = strategy
        self.kinds = strategies.finder(strategy, kinds, seed)
        self.by_kind = strategies.predictor(strategy)

    def forward(
        self,
        question: str,
        choices: Sequence[str] | None = None,
        documents: Sequence[Document] | None = None,
        kind: str | None = None,
    ) -> Any:
        """Answer one question.

        Args:
            question: In natural language, not empty.
            choices: Answers to choose from, two or more; without them the answer is free text.
            documents: What to answer from, ids unique; without them `search` is asked for the top `k`.
            kind: The kind of conflict that is known to be right (`regen.types.Kind`), for the strategy `oracle`.

        Returns:
            A `dspy.Prediction` whose fields are those of `regen.types.Result`, and `regenerated`.

        Raises:
            InputError: an empty question, fewer than two choices, no document on the topic, two of one id, or a kind or
                choices that do not go with the strategy.
            ConfigurationError: neither documents nor a search provider.
            ProviderError: the model or the search failed for good.
        """
        if not question.strip():
            raise InputError("The question is empty: ask something.")
        if choices is not None and len(set(choices)) < 2:
            raise InputError("Give at least two different choices, or none for a free answer.")
        gold = gold_kind(self.strategy, kind, choosing=choices is not None)
        question = question.strip()
        warnings: list[str] = []
        with metered() as meter, dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            found = list(documents) if documents is not None else self._retrieve(question, warnings)
            check_ids(found)
            if not found:
                nothing = f"No document has anything on {one_line(question, 80)!r}: ask in other words, or name others."
                # What could not be read, or searched, may be what has it.
                raise InputError(" ".join([nothing, *warnings]))
            task = self.task(question, choices, found)
            checked = self.strategy == "conflict-score"
            found_kind: FoundKind | None = None
            resolution = Resolution(kept=found)
            first_report = report = _unchecked(found) if checked else ConflictReport()
            rounds: list[Round] = []

            def so_far(first: Answer, kept: Answer, decision: Decision, *more: Round) -> Result:
                return Result(
                    question=question,
                    choices=list(choices) if choices else None,
                    documents=found,
                    answer=kept,
                    initial_answer=first,
                    initial_report=first_report,
                    report=report,
                    rounds=[*rounds, *more],
                    decision=decision,
                    strategy=self.strategy,
                    kind=found_kind,
                    document_answers=task.document_answers,
                    set_aside=resolution.set_aside,
                    usage=meter.read(),
                    warnings=list(dict.fromkeys([*warnings, *task.warnings])),
                )

            def answer_first() -> Answer:
                given = task.answer(None)
                self._tell(lambda: so_far(given, given, Decision(kept="first", reason="it was not checked")))
                return given

            if self.by_kind is not None and isinstance(task, Writing):
                first, found_kind = strategies.answer_by_kind(self, task, gold, warnings)
            else:
                # Neither waits for the other's reply where calls go in batches.
                works: list[Callable[[], Any]] = [answer_first, lambda: self._assess(found, task.warnings)]
                first, task.credibility = in_turn(lambda work: work(), works)
            kept, weights = first, self.weights(task.credibility)
            if checked:
                first_report = report = task.score(first, "checking")
                self._tell(lambda: so_far(first, first, Decision(kept="first", reason="it was not answered again")))
            if checked and self.kinds is not None:
                found_kind = self.find_kind(question, found, first_report, warnings)
            resolution = self._resolution(question, found, task, first_report, found_kind, warnings)
            if resolution.set_aside:
                task.set_aside(resolution)
                # Both answers are compared on the same documents.
                report = among(report, resolution.kept, threshold=self.threshold)
            asked_for = found_kind.kind if found_kind else None
            for number in range(self.max_rounds if checked else 0):
                answers = answers_among(task.document_answers, resolution.kept)
                if number == 0 and resolution.set_aside:
                    text = resolved_feedback(kept, report, found, resolution, answers, choices, asked_for, weights)
                else:
                    text = self.feedback(kept, report, found, answers, choices, asked_for, weights)
                if not text:
                    break
                again = task.answer(text)
                unchecked = Decision(kept="first", reason="the answer that was given again was not checked")
                given_again = Round(feedback=text, answer=again, report=_unchecked(found), decision=unchecked)
                self._tell(partial(so_far, first, kept, unchecked, given_again))
                again_report = task.score(again, "checking again")
                same = _same(kept, again)
                decision = keep_better(report, again_report, same=same, choosing=bool(choices), weights=weights)
                if decision.kept == "first" and not choices and not resolution.set_aside:
                    correction = self.corrected(report, found, weights)
                    decision = (
                        keep_corrected(
                            report, again_report, found, correction, weights, threshold=self.threshold, same=same
                        )
                        or decision
                    )
                rounds.append(Round(feedback=text, answer=again, report=again_report, decision=decision))
                if decision.kept == "first":
                    break
                kept, report = again, again_report
                self._tell(partial(so_far, first, kept, decision))
            decided = _decision(rounds, first_report) if checked else strategies.decision(self.strategy)
            result = so_far(first, kept, decided)
        return dspy.Prediction(**dict(result), regenerated=result.regenerated)

    def task(self, question: str, choices: Sequence[str] | None, documents: list[Document]) -> Writing | _Choosing:
        """What gives answers to the question and scores them."""
        return _Choosing(self, question, list(choices), documents) if choices else Writing(self, question, documents)

    def feedback(self, answer: Answer, report: ConflictReport, documents: Sequence[Document], *more: Any) -> str:
        """What is fed back about an answer, "" where nothing contradicts it: see `regen.feedback.feedback`."""
        return feedback_text.feedback(answer, report, documents, *more)

    def corrected(self, report: ConflictReport, documents: Sequence[Document], *more: Any) -> Correction | None:
        """A document that corrects older ones, and those: see `regen.feedback.corrected`."""
        return feedback_text.corrected(report, documents, *more)

    def _retrieve(self, question: str, warnings: list[str]) -> list[Document]:
        if self.search is None:
            raise ConfigurationError("There is nothing to search: give documents, or a folder with --docs.")
        self.step("searching")
        results = self.search.top(question, self.k)
        warnings += results.warnings
        return list(results.documents)

    def _resolution(
        self,
        question: str,
        documents: list[Document],
        task: Writing | _Choosing,
        report: ConflictReport,
        kind: FoundKind | None,
        warnings: list[str],
    ) -> Resolution:
        """What is kept of the documents, now that the first answer was judged."""
        if self.resolve == "none":
            return Resolution(kept=documents)
        found = task.edges(report)
        resolution = resolve(documents, found)
        # The rules call whatever they cannot tell an opinion; what a model says it is, it says of this question.
        is_known = kind is not None and kind.by != "rules"
        why = _NO_RESOLUTION.get(kind.kind) if kind is not None and is_known else None
        if not is_known and is_opinion(question):
            why = _NO_RESOLUTION[Kind.OPINIONS]
        if resolution.set_aside and why:
            warnings.append(f"{why}: no document was set aside for a newer one.")
            return resolve(documents, found, allowed=False)
        warnings += [
            f"Document {name} is part of a conflict and has no date of its own: it was kept, and may be out of date."
            for name in resolution.undated
        ]
        return resolution

    def find_kind(
        self, question: str, documents: Sequence[Document], report: ConflictReport | None, warnings: list[str]
    ) -> FoundKind:
        """The kind of conflict, by what the strategy has for that; what went wrong is added to `warnings`."""
        assert self.kinds is not None
        self.step("finding the kind")
        with self.judging():
            return self.kinds.find(question, documents, report, warnings)

    def _assess(self, documents: Sequence[Document], warnings: list[str]) -> list[Credibility]:
        """The credibility of each document; of none where it is off."""
        if self.assessor is None:
            return []
        self.step("assessing sources")
        with self.judging():
            found, told = self.assessor.weights(
                documents, lambda done, total: self.step("assessing sources", done, total)
            )
        warnings += told
        return found

    def weights(self, credibility: Sequence[Credibility]) -> dict[str, float] | None:
        """What sides are weighed by, by document id; None where documents are counted."""
        return {item.document_id: item.weight for item in credibility} if self.credibility == "weight" else None

    def step(self, name: Step, done: int = 0, total: int = 0) -> None:
        """Tells `on_step`, where there is one."""
        if self.on_step:
            self.on_step(name, done, total)

    def _tell(self, so_far: Callable[[], Result]) -> None:
        """Tells `on_result`, where there is one."""
        if self.on_result:
            self.on_result(so_far())

    def judging(self) -> Any:
        """The context in which claims are found and judged."""
        return dspy.context(lm=self.judge_lm or dspy.settings.lm)

    def judged(self, judge: Callable[[], Judgement], documents: Sequence[Document]) -> Judgement:
        """What `judge` finds; where the judge fails, every document is unjudged: an answer is never lost for that."""
        try:
            with self.judging():
                return judge()
        except expected() as error:
            cause = translate(error)
            why = Unjudged(document_id="", cause=str(cause).rstrip("."), exit_code=cause.exit_code)
            return Judgement(unjudged=[why.model_copy(update={"document_id": document.id}) for document in documents])


def _unchecked(documents: Sequence[Document]) -> ConflictReport:
    """The report of an answer that is not checked yet."""
    return ConflictReport(unjudged=[Unjudged(document_id=item.id, cause="It was not checked") for item in documents])


def not_judged(result: Result) -> RegenError | None:
    """Why the first answer, or the last one, could not be checked against any document; None where both could."""
    report = result.initial_report
    if report.judged and result.rounds:
        report = result.rounds[-1].report
    if report.judged:
        return None
    kind = ConfigurationError if report.unjudged[0].exit_code == ConfigurationError.exit_code else ProviderError
    return kind(f"{report.unjudged[0].cause}.")


def check_ids(documents: Sequence[Document]) -> None:
    """Raises InputError where two documents have the same id."""
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"Two documents have the same id, {one_line(document.id, 80)!r}: give each its own.")
        seen.add(document.id)


def result_of(prediction: Any) -> Result:
    """The `Result` that a prediction of `Regen` holds."""
    return Result(**{name: prediction[name] for name in Result.model_fields})


# Kinds of conflict in which a newer document does not take the place of an older one.
_NO_RESOLUTION = {
    Kind.OPINIONS: "It is a matter of opinion",
    Kind.COMPLEMENTARY: "The documents complement each other",
}


class Writing:
    """A question answered in free text."""

    def __init__(self, program: Regen, question: str, documents: list[Document]) -> None:
        self.program, self.question, self.documents = program, question, documents
        self.fenced = fence_all(documents)
        self.resolution: Resolution | None = None
        self.warnings: list[str] = []
        self.document_answers: list[DocumentAnswer] = []
        self.credibility: list[Credibility] = []

    def set_aside(self, resolution: Resolution) -> None:
        """From now on answers are given from what is kept, and scored by it; documents keep their numbers."""
        self.resolution = resolution
        self.fenced = fence_all(self.documents, without=_ids_aside(resolution))

    def edges(self, report: ConflictReport) -> frozenset[Edge]:
        """Which documents contradict each other, by what the judge found about the answer that `report` is of."""
        return edges(report, feedback_text.counted(self.document_answers, report.discounted))

    def answer(self, feedback: str | None) -> Answer:
        self.program.step("answering again" if feedback else "answering")
        extra = {"feedback": feedback} if feedback else {}
        reply = str(self.program.answer(documents=self.fenced, question=self.question, **extra).answer)
        if feedback and (own := feedback_text.without_rules(reply)) != reply:
            self.warnings.append("The second answer copied rules that it was given for deciding: they were taken out.")
            reply = own
        return self.taken(reply)

    def taken(self, reply: str) -> Answer:
        """A model's reply as an answer, with its citations checked."""
        reply = reply.strip()
        if not any(map(str.isalnum, without_citations(reply))):
            raise ProviderError("The model returned an empty answer: try again, or name another model.")
        text, citations, warnings = check_citations(reply, self.documents, _ids_aside(self.resolution))
        self.warnings += warnings
        return Answer(text=text, citations=citations)

    def score(self, answer: Answer, step: Step) -> ConflictReport:
        program = self.program
        claims: list[Claim] = []

        def judge() -> Judgement:
            program.step("finding claims")
            claims.extend(
                find_claims(
                    program.claims,
                    answer.text,
                    self.question,
                    self.warnings,
                    kind=program.claim_kind,
                    documents=self.documents,
                )
            )
            program.step(step)
            return program.judge.judge(
                claims,
                self.documents,
                question=self.question,
                progress=lambda done, total: program.step(step, done, total),
            )

        judgement = program.judged(judge, self.documents)
        report = aggregate(
            claims,
            self.documents,
            judgement,
            support=program.support,
            check_quotes=program.check_quotes,
            credibility=self.credibility,
            threshold=program.threshold,
        )
        self.document_answers = self.document_answers or answers_of(judgement, self.documents)
        self.warnings += report.warnings
        # All were judged all the same: what an answer says of document [3] is checked by the numbers of all.
        return among(report, self.resolution.kept, threshold=program.threshold) if self.resolution else report


class _Choosing:
    """A question with choices: every choice is a claim, judged once; an answer is scored by the claim it chose."""

    def __init__(self, program: Regen, question: str, choices: list[str], documents: list[Document]) -> None:
        self.program, self.question, self.choices, self.documents = program, question, choices, documents
        self.fenced = fence_all(documents)
        self.resolution: Resolution | None = None
        self.warnings: list[str] = []
        self.document_answers: list[DocumentAnswer] = []
        self.credibility: list[Credibility] = []
        self.claims = [Claim(id=f"c{number}", text=choice) for number, choice in enumerate(choices, 1)]
        self.judgement: Judgement | None = None

    def set_aside(self, resolution: Resolution) -> None:
        """As in `Writing`."""
        self.resolution = resolution
        self.fenced = fence_all(self.documents, without=_ids_aside(resolution))

    def edges(self, report: ConflictReport) -> frozenset[Edge]:
        """As in `Writing`, by all choices and not only by the one that was chosen."""
        assert self.judgement is not None
        report = self._report(self.claims, self.judgement)
        return edges(report, feedback_text.counted(self.document_answers, report.discounted))

    def answer(self, feedback: str | None) -> Answer:
        self.program.step("answering again" if feedback else "answering")
        inputs = {"documents": self.fenced, "question": self.question}
        if feedback:
            inputs["feedback"] = feedback
        program = self.program
        scores = choose(program.choose, self.choices, inputs, seed=program.seed, shuffle=program.shuffle)
        # Without log-probabilities, the scores only tell which letter the model wrote.
        known = gives_logprobs(program.choose.lm or dspy.settings.lm)
        if feedback and known and self.judgement is not None:
            # Words alone hardly move a weak model.
            report = self._report(self.claims, self.judgement)
            weights = program.weights(self.credibility)
            sides = [[float(weigh(side, weights)) for side in report.sides(claim.id)] for claim in self.claims]
            scores = joined(scores, [(plus, minus) for plus, minus in sides])
        chosen = max(range(len(scores)), key=scores.__getitem__)
        shares = [exp(score) for score in scores] if known else None
        return Answer(text=self.choices[chosen], choice=chosen, probabilities=shares)

    def score(self, answer: Answer, step: Step) -> ConflictReport:
        program = self.program
        if self.judgement is None:
            program.step(step)

            def judge() -> Judgement:
                return program.judge.judge(
                    self.claims,
                    self.documents,
                    question=self.question,
                    exclusive=True,
                    progress=lambda done, total: program.step(step, done, total),
                )

            self.judgement = program.judged(judge, self.documents)
            self.document_answers = answers_of(self.judgement, self.documents)
        assert answer.choice is not None
        claim = self.claims[answer.choice]
        of_claim: list[Evidence] = [item for item in self.judgement.evidence if item.claim_id == claim.id]
        report = self._report([claim], self.judgement.model_copy(update={"evidence": of_claim}))
        self.warnings += report.warnings
        return report

    def _report(self, claims: list[Claim], judgement: Judgement) -> ConflictReport:
        program = self.program
        report = aggregate(
            claims,
            self.documents,
            judgement,
            support=program.support,
            check_quotes=program.check_quotes,
            credibility=self.credibility,
            threshold=program.threshold,
        )
        return among(report, self.resolution.kept, threshold=program.threshold) if self.resolution else report


def answers_of(judgement: Judgement, documents: Sequence[Document]) -> list[DocumentAnswer]:
    """The answers that documents themselves give, as far as the judge read them, those of most documents first."""
    groups: dict[str, list[str]] = {}
    for document in documents:
        if document.id in judgement.answers:
            groups.setdefault(judgement.answers[document.id], []).append(document.id)
    return [
        DocumentAnswer(answer=answer, document_ids=ids)
        for answer, ids in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]


def _ids_aside(resolution: Resolution | None) -> set[str]:
    return {item.document_id for item in resolution.set_aside} if resolution else set()


def _same(one: Answer, other: Answer) -> bool:
    if one.choice is not None:
        return one.choice == other.choice
    return without_citations(one.text).split() == without_citations(other.text).split()


def _decision(rounds: Sequence[Round], first: ConflictReport) -> Decision:
    kept = [item.decision for item in rounds if item.decision.kept == "regenerated"]
    if kept:
        return kept[-1]
    if rounds:
        return rounds[-1].decision
    if not first.judged:
        return Decision(kept="first", reason="it could not be checked against the documents")
    if any(first.sides(claim.id)[1] for claim in first.claims):
        return Decision(kept="first", reason="no regeneration was asked for")
    reason = "no document contradicts it" if first.claims else "it makes no claim that can be checked"
    return Decision(kept="first", reason=reason)
