"""What is asked about an item of CONFLICTS: its kind, an answer by each strategy, three judgements of each answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any, Literal, get_args

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import Field

from eval_conflicts.data import ONE_ANSWER, Item
from eval_conflicts.grounding import grounded
from regen.adapter import PlainAdapter
from regen.choosing import choose
from regen.conflict import Support
from regen.errors import InputError, UnreadableError
from regen.fence import harmless, one_line
from regen.journal import Ledger
from regen.judges import Judge
from regen.kinds import guess
from regen.models import gives_logprobs
from regen.models.failures import translate
from regen.program import Regen, not_judged, result_of
from regen.runner import Stage
from regen.strategies import KindFinder
from regen.types import FoundKind, Kind, Record, Strategy
from signatures import (
    AdheresComplementary,
    AdheresMisinformation,
    AdheresNoConflict,
    AdheresOpinions,
    AdheresOutdated,
    IncludesAnswer,
)

# Those that begin with the same prompt stand side by side, so that a cache of prompts is hit.
STRATEGIES: tuple[Strategy, ...] = ("vanilla", "conflict-score", "pipeline", "oracle", "taxonomy")
Teller = Literal["rules", "model"]
KIND_BY: dict[Teller, str] = {"rules": "kind by rules", "model": "kind by model"}
"""The stages that tell the kind."""
ADHERENCE, RECALL, GROUNDING = JUDGEMENTS = ("adherence", "answer recall", "grounding")

_RUBRICS = {
    Kind.NO_CONFLICT: AdheresNoConflict,
    Kind.COMPLEMENTARY: AdheresComplementary,
    Kind.OPINIONS: AdheresOpinions,
    Kind.OUTDATED: AdheresOutdated,
    Kind.MISINFORMATION: AdheresMisinformation,
}
_OPTIONS = ("yes", "no")


class Finding(Record):
    """What a judge said to a question of yes or no."""

    yes: bool | None = Field(description="Null where it could not be told from its reply: neither counts then.")
    probability: float | None = Field(default=None, description="Of yes; where the model gives log-probabilities.")
    cause: str = Field(default="", description="Why it could not be told.")


class Rater(dspy.Module):
    """Says whether an answer does what its kind of conflict needs, and whether it holds the right answer.

    It is shown the question, the right answer and the response, and no document. It chooses between yes and no, with
    log-probabilities in both orders where the model gives them (`regen.choosing`), so that the place decides nothing.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.seed = seed
        self.adheres = {kind.value: dspy.Predict(rubric) for kind, rubric in _RUBRICS.items()}
        self.includes = dspy.Predict(IncludesAnswer)

    def adherence(self, item: Item, response: str) -> Finding:
        """Whether a response does what the item's kind needs."""
        shown = item.right_answer if item.kind in (Kind.OUTDATED, Kind.MISINFORMATION) else ""
        return self._asked(self.adheres[item.kind.value], item, response, shown)

    def recall(self, item: Item, response: str) -> Finding:
        """Whether a response holds the item's right answer."""
        return self._asked(self.includes, item, response, item.right_answer)

    def _asked(self, predictor: Any, item: Item, response: str, right_answer: str) -> Finding:
        inputs = {
            "question": one_line(item.question, 1000),
            "right_answer": one_line(right_answer, 1000) or None,
            # On one line, nothing in it looks like the fields beside it.
            "response": " ".join(harmless(response).split()),
        }
        try:
            yes, no = choose(predictor, _OPTIONS, inputs, seed=self.seed)
        except (UnreadableError, AdapterParseError) as error:
            return Finding(yes=None, cause=str(translate(error)))
        if yes == no:
            return Finding(yes=None, cause="Yes and no are as likely to the judge, once the order is taken out.")
        known = gives_logprobs(predictor.lm or dspy.settings.lm)
        return Finding(yes=yes > no, probability=exp(yes) if known else None)


class Evaluation:
    """The stages of every item.

    Args:
        strategies: Some of `STRATEGIES`, in that order.
        kinds: What tells the kind for `pipeline` and for the feedback of `conflict-score`. With "rules", the model is
            not asked for it.
        make_program: Makes the program of a strategy.
        make_judge: Makes the judge of one answer's grounding.
        judge_lm: The model that judges and tells kinds; the answering one where None.
        support: See `grounded`.
        check_quotes: See `grounded`.
        seed: Of the order of options, where they are shuffled.
    """

    def __init__(
        self,
        strategies: Sequence[Strategy],
        kinds: Teller,
        make_program: Callable[[Strategy], Regen],
        make_judge: Callable[[], Judge],
        *,
        judge_lm: Any = None,
        support: Support = "partial",
        check_quotes: bool = True,
        seed: int = 0,
    ) -> None:
        self.strategies, self.kinds = strategies, kinds
        self._make_program, self._make_judge, self._judge_lm = make_program, make_judge, judge_lm
        self._support: Support = support
        self._check_quotes = check_quotes
        self._rater, self._finder = Rater(seed), KindFinder("model", seed)

    def programs(self) -> list[dspy.Module]:
        """The DSPy modules that say something to a model."""
        answering = [self._make_program(_made_by(strategy)) for strategy in self.strategies]
        return [self._rater, *([self._finder] if self.kinds == "model" else []), *answering]

    def stages(self) -> list[Stage]:
        """The kind, the answers, then what is judged of each answer; judgements with like prompts side by side."""
        told = [Stage(KIND_BY["rules"], self._by_rules)]
        if self.kinds == "model":
            told.append(Stage(KIND_BY["model"], self._by_model))
        needs = {"pipeline": (KIND_BY[self.kinds],)}
        answers = [Stage(name, self._answer(name), needs.get(name, ())) for name in self.strategies]
        works = {ADHERENCE: self._adherence, RECALL: self._recall, GROUNDING: self._grounding}
        judged = [
            Stage(stage_of(strategy, what), self._judged(strategy, works[what]), (strategy,))
            for what in JUDGEMENTS
            for strategy in self.strategies
        ]
        return [*told, *answers, *judged]

    def _by_rules(self, data: Mapping[str, Any], *_: Any) -> Mapping[str, Any]:
        item = item_of(data)
        return _told(guess(item.question, item.documents))

    def _by_model(self, data: Mapping[str, Any], *_: Any) -> Mapping[str, Any]:
        item = item_of(data)
        with self._judging():
            found = self._finder.ask(item.question, item.documents)
        if isinstance(found, str):
            return _told(guess(item.question, item.documents), said=one_line(found, 60))
        return _told(found)

    def _answer(self, strategy: Strategy) -> Callable[..., Mapping[str, Any]]:
        def work(data: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]], _: Ledger) -> Mapping[str, Any]:
            item = item_of(data)
            kind: Kind | None = None
            if strategy == "pipeline":
                kind = FoundKind.model_validate(done[KIND_BY[self.kinds]]["kind"]).kind
            elif strategy == "oracle":
                kind = item.kind
            program = self._make_program(_made_by(strategy))
            result = result_of(program(question=item.question, documents=item.documents, kind=kind))
            if error := not_judged(result):
                # An answer that could not be checked says nothing about checking: it counts as failed.
                raise error
            # The documents are the item's own, and the run counts what calls cost.
            return result.model_dump(mode="json", exclude={"documents", "usage"})

        return work

    def _judged(
        self, strategy: Strategy, work: Callable[[Item, str], Mapping[str, Any]]
    ) -> Callable[..., Mapping[str, Any]]:
        def judged(data: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]], _: Ledger) -> Mapping[str, Any]:
            with self._judging():
                return work(item_of(data), str(done[strategy]["answer"]["text"]))

        return judged

    def _adherence(self, item: Item, response: str) -> Mapping[str, Any]:
        return self._rater.adherence(item, response).model_dump()

    def _recall(self, item: Item, response: str) -> Mapping[str, Any]:
        return self._rater.recall(item, response).model_dump() if has_one_answer(item) else {}

    def _grounding(self, item: Item, response: str) -> Mapping[str, Any]:
        found = grounded(
            self._make_judge(),
            item.question,
            response,
            item.documents,
            support=self._support,
            check_quotes=self._check_quotes,
        )
        return {"sentences": [one.model_dump() for one in found]}

    def _judging(self) -> Any:
        return dspy.context(lm=self._judge_lm or dspy.settings.lm, adapter=dspy.settings.adapter or PlainAdapter())


def in_order(names: Sequence[str]) -> list[Strategy]:
    """The strategies that are named, in the order of `STRATEGIES`.

    Raises:
        InputError: there is no such strategy, or none is named.
    """
    unknown = next((name for name in names if name not in get_args(Strategy)), None)
    if unknown is not None or not names:
        raise InputError(f"There is no strategy {one_line(unknown or '', 40)!r}; there are: {', '.join(STRATEGIES)}.")
    return [name for name in STRATEGIES if name in names]


def stage_of(strategy: str, what: str) -> str:
    """The name of the stage in which something is judged of a strategy's answer."""
    return f"{strategy}: {what}"


def kept(item: Item) -> dict[str, Any]:
    """An item as a run keeps it: with the kinds as choices, so that `regen runs diff` compares who tells them."""
    return {**item.model_dump(mode="json"), "choices": [*Kind], "answer": list(Kind).index(item.kind)}


def item_of(data: Mapping[str, Any]) -> Item:
    """The item of which a run keeps the data."""
    return Item.model_validate({name: data[name] for name in Item.model_fields})


def has_one_answer(item: Item) -> bool:
    """Whether an item's kind leaves one answer right, and people gave it."""
    return item.kind in ONE_ANSWER and bool(item.right_answer)


def _made_by(strategy: Strategy) -> Strategy:
    """The strategy whose program answers. That of `oracle` says of a kind that was told before what `pipeline` would
    say of it, so that it is not asked for twice."""
    return "oracle" if strategy == "pipeline" else strategy


def _told(kind: FoundKind, said: str | None = None) -> dict[str, Any]:
    """A kind that was told; `said` is the model's reply where that names none, so that the rules had to do."""
    return {"kind": kind.model_dump(mode="json"), "said": said, "choice": list(Kind).index(kind.kind)}
