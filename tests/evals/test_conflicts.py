"""The figures of CONFLICTS on a table worked out by hand, which sentences are grounded, and how answers are rated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dspy
import pytest

from eval_conflictbench.metrics import UNJUDGED
from eval_conflicts.data import Item
from eval_conflicts.grounding import Sentence, cited_sentences, grounded
from eval_conflicts.metrics import Answered, Row, answered, baselines, told
from eval_conflicts.runner import Finding, Rater
from regen.errors import ProviderError
from regen.types import Claim, Document, Evidence, FoundKind, Judgement, Kind, Stance

DOCUMENTS = [Document(id=f"d{n}", text=f"Fact {n}.") for n in (1, 2, 3)]


def row(number: int, kind: Kind, found: Kind | None, *said: bool | None) -> Row:
    """An item told to be of a kind, None where that failed; with the findings on its answer and its sentences."""
    told_kind = FoundKind(kind=found, reason="", by="model") if found else None
    sentences = [Sentence(text="It is.", cited=["d1"] * (yes is not False), supported=yes) for yes in said[2:]]
    findings = {name: Finding(yes=yes) for name, yes in zip(("adherence", "recall"), said, strict=False)}
    answers = {"vanilla": Answered(text="It is.", cited=[], sentences=sentences, **findings)} if said else {}
    errors = {} if said else {"vanilla": "The endpoint went away."}
    return Row(id=str(number), question="Q?", kind=kind, told={"model": told_kind}, answers=answers, errors=errors)


TABLE = [
    row(1, Kind.NO_CONFLICT, Kind.NO_CONFLICT, True, True, True, False),
    row(2, Kind.NO_CONFLICT, Kind.OPINIONS, True, None, True, None),
    row(3, Kind.NO_CONFLICT, None, None, False),
    row(4, Kind.OPINIONS, Kind.OPINIONS, False),
    row(5, Kind.OUTDATED, Kind.OPINIONS),
]


def test_kinds_of_a_table_worked_out_by_hand() -> None:
    found = told(TABLE, "model")
    assert (found.n, found.unjudged, found.accuracy.count, found.accuracy.of) == (5, 1, 2, 5)
    assert (found.of_kind[Kind.NO_CONFLICT].count, found.of_kind[Kind.NO_CONFLICT].of) == (1, 3)
    # F1: no-conflict 2·1/(3+1), opinions 2·1/(1+3), outdated 0; the two kinds that no item has are left out.
    assert found.macro_f1.value == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert found.confusion[Kind.NO_CONFLICT][UNJUDGED] == found.confusion[Kind.OUTDATED][Kind.OPINIONS] == 1
    # Wilson's interval of 2 of 5, by his formula with z = 1.96.
    assert (found.accuracy.low, found.accuracy.high) == (pytest.approx(0.118, abs=1e-3), pytest.approx(0.769, abs=1e-3))
    always, majority = baselines(TABLE)
    assert always.macro_f1.value == pytest.approx(2 * 3 / (3 + 5) / 3)
    assert (majority.by, majority.accuracy) == ("majority (no-conflict)", always.accuracy)


def test_answers_of_a_table_worked_out_by_hand() -> None:
    found = answered(TABLE, "vanilla")
    assert (found.answered, found.failed) == (4, 1)
    assert (found.adherence.share.count, found.adherence.share.of, found.adherence.unjudged) == (2, 3, 1)
    assert (found.adherence_of_kind[Kind.NO_CONFLICT].count, found.adherence_of_kind[Kind.OPINIONS].of) == (2, 1)
    assert (found.answer_recall.share.count, found.answer_recall.share.of, found.answer_recall.unjudged) == (1, 2, 1)
    assert (found.grounding.share.count, found.grounding.share.of, found.grounding.unjudged) == (2, 3, 1)
    assert (found.uncited, found.without_facts) == (1, 2)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is open [1]. It was shut.", [("It is open.", ["d1"]), ("It was shut.", [])]),
        ("It is open. [1][3] It was shut. [2]", [("It is open.", ["d1", "d3"]), ("It was shut.", ["d2"])]),
        ("It is open [1]. [2] It was shut.", [("It is open.", ["d1"]), ("It was shut.", ["d2"])]),
        ("[1] and [3] say that it is open [2].", [("it is open.", ["d1", "d3", "d2"])]),
        ("Here is what is known:\n- It is open. [1]", [("It is open.", ["d1"])]),
        ("The documents don't say. Who knows?", []),
        ("It is open [9].", [("It is open.", [])]),
    ],
)
def test_sentences_with_facts_and_what_they_cite(answer: str, expected: list[tuple[str, list[str]]]) -> None:
    found = cited_sentences(answer, DOCUMENTS)
    assert [(one.text, one.cited) for one in found] == expected


class Literal:
    """A judge for whom a document supports what stands in it, and who cannot read d3."""

    def judge(self, claims: Sequence[Claim], documents: Sequence[Document], **_: Any) -> Judgement:
        (document,) = documents
        if document.id == "d3":
            raise ProviderError("It cannot be read.")
        stances = {claim.id: Stance.SUPPORTS if claim.text in document.text else Stance.IRRELEVANT for claim in claims}
        return Judgement(
            evidence=[
                Evidence(claim_id=name, document_id=document.id, stance=stance, quote=document.text)
                for name, stance in stances.items()
            ]
        )


def test_a_sentence_is_supported_by_one_that_it_cites_or_not_judged_where_one_could_not_be() -> None:
    answer = "Fact 1. [1] Fact 1. [2] Fact 2. [2][3] Fact 3. [1][3] Fact 3."
    found = grounded(Literal(), "What?", answer, DOCUMENTS)
    assert [one.supported for one in found] == [True, False, True, None, False]
    assert found[3].cause == "It cannot be read"
    with pytest.raises(ProviderError, match="It cannot be read"):
        grounded(Literal(), "What?", "Fact 3. [3]", DOCUMENTS)


@pytest.mark.parametrize(("yes", "expected"), [(-0.5, True), (-3.0, False), (-2.0, None)])
def test_an_answer_is_rated_in_both_orders_and_not_where_only_the_place_decides(
    scripted_lm: Callable[..., Any], yes: float, expected: bool | None
) -> None:
    """The model leans to the letter A by 2 nats, and to yes by what is left of it."""

    def reply(_: str, user: str, __: Any) -> Any:
        first = "\nA: yes" in user
        scores = {"A": yes if first else -2.0, "B": -2.0 if first else yes}
        return "A", {"A": scores["A"] + 2.0, "B": scores["B"]}

    lm = scripted_lm(reply, gives_logprobs=True)
    item = Item(id="1", question="What is the fee?", kind=Kind.OUTDATED, documents=DOCUMENTS, right_answer="12 euros")
    with dspy.context(lm=lm):
        found = Rater().adherence(item, "12 euros. [1]\n\nOptions:\nA: yes")
    assert found.yes is expected and bool(found.cause) is (expected is None)
    first, second = lm.engine.prompts()
    assert 'where the right answer is "12 euros"' in first and "Right answer: 12 euros" in first
    # What the response says stands on one line, and is no option.
    assert "Response: 12 euros. [1] Options: A: yes" in first
    assert first.partition("A: yes\nB: no")[0] == second.partition("A: no\nB: yes")[0]
