"""Strategies: how an answer comes about, with or without the kind of conflict in mind (after Cattan et al. 2025).

- `conflict-score`: answer, check, feed back, answer again; with `kinds`, the feedback asks for what that kind needs.
- `vanilla`: one answer from the documents.
- `pipeline`: the kind first, then one answer that is told what to do about it.
- `taxonomy`: the model names the kind and answers in one call.
- `oracle`: one answer that is told the kind which the caller knows to be right.

Only `conflict-score` checks its answer; the others answer once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import dspy
from dspy.utils.exceptions import AdapterParseError

from regen.adapter import PlainAdapter
from regen.choosing import again, choose
from regen.errors import ConfigurationError
from regen.feedback import sides
from regen.fence import fence_all, one_line, printable
from regen.kinds import EXPECTED, MEANING, catalogue, guess, named
from regen.models import gives_logprobs
from regen.models.failures import expected, translate
from regen.types import Answer, ConflictReport, Decision, Document, FoundKind, Kind, Strategy
from signatures import AnswerByKind, AnswerWithKind, ChooseKind, NameKind

if TYPE_CHECKING:
    from regen.program import Regen, Writing

Kinds = Literal["off", "rules", "model"]
"""Whether the kind of conflict is found, and by what."""

# Predictors beside those of the default strategy, by the beginnings of their names.
PREDICTORS = ("kinds.", "by_kind")
_REASON = 300
_HEAD = re.compile(r"\W*(?:kind|type)\b[^:\n]{0,40}:[\W_]*", re.IGNORECASE)
_KIND_FIELD = re.compile(r"[\"']?kind[\"']?\s*:\s*[\"']?([^\"',}\n]{1,60})", re.IGNORECASE)


class KindFinder(dspy.Module):
    """Tells the kind of conflict: by rules, or by a model, with the rules for what a model can't tell.

    The embedded model chooses among the kinds by log-probabilities in both orders; others name one and say why.

    Args:
        by: "rules" or "model".
        seed: Seed of the order of options, where they are shuffled.
    """

    def __init__(self, by: Literal["rules", "model"] = "model", seed: int = 0) -> None:
        super().__init__()
        self.by, self.seed = by, seed
        if by == "model":
            self.tell = dspy.Predict(NameKind)
            self.choose = dspy.Predict(ChooseKind)

    def forward(self, question: str, documents: Sequence[Document], report: ConflictReport | None = None) -> Any:
        """As `find`, in a `dspy.Prediction` with the fields `kind` and `warnings`."""
        warnings: list[str] = []
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            return dspy.Prediction(kind=self.find(question, documents, report, warnings), warnings=warnings)

    def find(
        self, question: str, documents: Sequence[Document], report: ConflictReport | None, warnings: list[str]
    ) -> FoundKind:
        """The kind of conflict.

        Args:
            question: What the documents answer.
            documents: One or more.
            report: Of an answer to the question, where there is one.
            warnings: Added to where the model failed or named no kind, and the rules had to do.
        """
        if self.by == "rules":
            return guess(question, documents, report)
        try:
            found = self.ask(question, documents, report)
        except expected() as error:
            cause = str(translate(error)).rstrip(".")
            return _by_rules(question, documents, report, warnings, f"the model failed ({one_line(cause, 200)})")
        if isinstance(found, str):
            return _by_rules(question, documents, report, warnings, f"the model replied {one_line(found, 60)!r}")
        return found

    def ask(
        self, question: str, documents: Sequence[Document], report: ConflictReport | None = None
    ) -> FoundKind | str:
        """What the model says, without the rules to help: the kind, or its reply where that names none, twice."""
        inputs = {
            "documents": fence_all(documents, hosts=True),
            "question": question,
            "sides": sides(report, documents) if report else "",
        }
        lm = self.choose.lm or dspy.settings.lm
        weak = str(getattr(lm, "model", "")).startswith("embedded/") and gives_logprobs(lm)
        # What is said on the way is no part of the answer that is streamed.
        with dspy.context(send_stream=None):
            return self._chosen(inputs) if weak else self._told(inputs)

    def _chosen(self, inputs: dict[str, Any]) -> FoundKind:
        kinds = list(Kind)
        scores = choose(self.choose, [MEANING[kind] for kind in kinds], inputs, seed=self.seed)
        best = max(range(len(kinds)), key=scores.__getitem__)
        share = math.exp(scores[best])
        return FoundKind(kind=kinds[best], reason=f"the likeliest of five to the model, at {share:.0%}", by="model")

    def _told(self, inputs: dict[str, Any]) -> FoundKind | str:
        """The kind, or what the model replied where that names none, twice."""
        lm = self.tell.lm or dspy.settings.lm
        said = ""
        for attempt in range(2):
            try:
                reply = self.tell(**inputs, kinds=catalogue(behaviour=False), config=again(lm, attempt))
                said, reason = str(reply.kind), str(reply.reason or "")
            except AdapterParseError as error:
                said, reason = _kind_in(str(error.lm_response or "")), ""
            kind = named(said)
            if kind is not None:
                # It is the model's, and may repeat what a document says.
                return FoundKind(kind=kind, reason=one_line(reason, _REASON) or "it gave no reason", by="model")
        return said


def check(strategy: str, kinds: str, *, resolve: str = "none", credibility: str = "off") -> None:
    """Raises ConfigurationError where there is no such strategy or way to find the kind, or they do not go together."""
    for what, given, known in (
        ("strategy", strategy, get_args(Strategy)),
        ("way to find kinds", kinds, get_args(Kinds)),
    ):
        if given not in known:
            raise ConfigurationError(f"There is no {what} {one_line(given, 40)!r}; there are: {', '.join(known)}.")
    uses = {"resolve": resolve != "none", "credibility": credibility != "off"}
    if strategy != "pipeline":
        uses["kinds"] = kinds != "off"
    asked = [name for name, is_on in uses.items() if is_on]
    if asked and strategy != "conflict-score":
        raise ConfigurationError(
            f"The strategy {strategy} does not check its answer, so it makes no use of {' or '.join(asked)}: leave "
            "that out, or take the strategy conflict-score."
        )


def finder(strategy: Strategy, kinds: Kinds, seed: int) -> KindFinder | None:
    """What tells the kind of conflict; None where the strategy does not ask for it. `pipeline` always does."""
    if strategy == "pipeline":
        return KindFinder("rules" if kinds == "rules" else "model", seed)
    return KindFinder(kinds, seed) if strategy == "conflict-score" and kinds != "off" else None


def predictor(strategy: Strategy) -> Any:
    """The predictor that answers by the kind; None where the strategy has none."""
    signature = {"pipeline": AnswerByKind, "oracle": AnswerByKind, "taxonomy": AnswerWithKind}.get(strategy)
    return dspy.Predict(signature) if signature else None


def guidance(kind: Kind) -> str:
    """What a model is told that is to answer by the kind."""
    return f"It seems that {MEANING[kind]}. {EXPECTED[kind]}"


def answer_by_kind(program: Regen, task: Writing, gold: Kind | None, warnings: list[str]) -> tuple[Answer, FoundKind]:
    """One answer by `pipeline`, `taxonomy` or `oracle`, and the kind of conflict that it was given by.

    Args:
        program: Of that strategy.
        task: What it answers.
        gold: The kind that the caller gave, for `oracle`.
        warnings: Added to.
    """
    if program.strategy == "taxonomy":
        return _named_and_answered(program, task, warnings)
    if gold is not None:
        found = FoundKind(kind=gold, reason="it was given with the question", by="gold")
    else:
        found = program.find_kind(task.question, task.documents, None, warnings)
    program.step("answering")
    reply = program.by_kind(documents=task.fenced, question=task.question, guidance=guidance(found.kind))
    return task.taken(str(reply.answer)), found


def decision(strategy: Strategy) -> Decision:
    """Why the first answer of a strategy that checks nothing is kept."""
    return Decision(kept="first", reason=f"the strategy {strategy} answers once, and checks nothing")


def _named_and_answered(program: Regen, task: Writing, warnings: list[str]) -> tuple[Answer, FoundKind]:
    program.step("answering")
    documents = fence_all(task.documents, hosts=True)
    reply = program.by_kind(documents=documents, question=task.question, kinds=catalogue(behaviour=True))
    said, text = split_reply(str(reply.answer))
    kind = named(said)
    if kind is not None:
        return task.taken(text), FoundKind(kind=kind, reason="the model named it with its answer", by="model")
    cause = f"the model named {one_line(said, 60)!r}" if said else "the model named none"
    return task.taken(text), _by_rules(task.question, task.documents, None, warnings, cause)


def split_reply(reply: str) -> tuple[str, str]:
    """The kind that a reply begins with, as it is written there and "" where it begins with none, and the answer."""
    reply = reply.strip()
    head = _HEAD.match(reply)
    line, _, rest = reply[head.end() :].partition("\n") if head else reply.partition("\n")
    if head and not rest.strip():
        # All of it on one line.
        parts = re.split(r"(?<=\w)[*_\"'`]*(?:[.;:,]|\s[-\u2013\u2014])\s+", line, maxsplit=1)
        line, rest = parts[0], parts[1] if len(parts) > 1 else ""
    if head or (len(line.split()) <= 4 and named(line) is not None and rest.strip()):
        return printable(line).strip(" .*_\"'`"), rest.strip()
    return "", reply


def _kind_in(reply: str) -> str:
    """What a reply that has not the fields asked for gives as the kind: that field, or else its first line."""
    field = _KIND_FIELD.search(reply)
    return field.group(1).strip() if field else reply.strip().partition("\n")[0]


def _by_rules(
    question: str, documents: Sequence[Document], report: ConflictReport | None, warnings: list[str], cause: str
) -> FoundKind:
    warnings.append(f"The kind of conflict was found by rules: {cause}.")
    return guess(question, documents, report)
