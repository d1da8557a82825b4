"""The metrics: their numbers, by hand, and what they tell GEPA."""

from __future__ import annotations

from functools import partial
from typing import Any

import dspy
import pytest
from small_world import example

from regen.metrics import composite, consistency, net_improvement, stance_accuracy, truthful_choice
from regen.types import Answer, Claim, ConflictReport, Document, DocumentAnswer, Evidence, Stance

ONE = example(1)


def report(plus: int = 0, minus: int = 0, *, claims: bool = True) -> ConflictReport:
    stances = [Stance.SUPPORTS] * plus + [Stance.CONTRADICTS] * minus
    evidence = [
        Evidence(claim_id="c1", document_id=f"d{place}", stance=stance, quote=f"words {place}")
        for place, stance in enumerate(stances, 1)
    ]
    cs_r = minus / (plus + minus) if stances else 0.0
    return ConflictReport(claims=[Claim(id="c1", text="It is so.")] if claims else [], evidence=evidence, cs_r=cs_r)


def answered(first: int, last: int, found: ConflictReport | None = None) -> Any:
    answers = [Answer(text=ONE.choices[choice], choice=choice) for choice in (first, last)]
    found = found or report(2, 1)
    return dspy.Prediction(
        initial_answer=answers[0],
        answer=answers[1],
        initial_report=found,
        report=found,
        documents=ONE.documents,
        document_answers=[DocumentAnswer(answer="false-1", document_ids=["d3"])],
    )


@pytest.mark.parametrize(
    ("first", "last", "right", "net"), [(0, 1, 1, 1), (1, 0, 0, 0), (1, 1, 1, 0.5), (0, 0, 0, 0.5)]
)
def test_choices_are_right_or_wrong_and_mended_or_spoiled(first: int, last: int, right: float, net: float) -> None:
    assert truthful_choice(ONE, answered(first, last)) == right
    assert net_improvement(ONE, answered(first, last)) == net


def test_harm_can_weigh_more_and_means_keep_the_order_of_net_improvement() -> None:
    double = partial(net_improvement, harm=2)
    scores = [double(ONE, answered(*pair)) for pair in ((0, 1), (1, 0), (1, 1))]
    # (1 + 2) / 3, (-2 + 2) / 3, (0 + 2) / 3
    assert scores == pytest.approx([1, 0, 2 / 3])


def test_consistency_is_one_minus_cs_r_and_nothing_for_an_answer_that_says_nothing() -> None:
    assert consistency(ONE, answered(0, 0, report(2, 1))) == pytest.approx(2 / 3)
    assert consistency(ONE, answered(0, 0, report(claims=False))) == 0
    said = consistency(ONE, answered(0, 0, report(claims=False)), None, "answer", None).feedback
    assert "makes no claim" in said


def test_the_composite_is_the_weighted_sum() -> None:
    # 0.5 * 1 + 0.25 * 0.5 + 0.25 * 2/3
    assert composite(ONE, answered(1, 1)) == pytest.approx(0.5 + 0.125 + 0.25 * 2 / 3)


@pytest.mark.parametrize("metric", [truthful_choice, net_improvement, composite])
def test_gepa_is_told_the_claim_the_documents_and_what_is_right(metric: Any) -> None:
    told = metric(ONE, answered(0, 0), [], "choose", [])
    assert told.score == metric(ONE, answered(0, 0))
    assert 'The right answer is "true-1"' in told.feedback
    assert 'The answer was "false-1": wrong.' in told.feedback
    assert 'The claim "It is so." is contradicted by document [3] ("words 3")' in told.feedback
    assert 'document [1][2] ("words 1") supports it' in told.feedback
    assert 'The judge took document [3] to answer "false-1".' in told.feedback


def test_a_spoiled_answer_is_called_so() -> None:
    assert "answering again spoiled it" in truthful_choice(ONE, answered(1, 0), None, "choose").feedback


def test_a_plain_number_is_given_unless_a_predictor_is_named() -> None:
    # BootstrapFewShot takes any object for a success.
    assert isinstance(truthful_choice(ONE, answered(0, 0), []), float)


def test_stances_are_compared_with_the_labels() -> None:
    pair = dspy.Example(claim="It is so.", document=Document(id="d", text="No."), stance=Stance.CONTRADICTS)
    found = dspy.Prediction(stance=Stance.SUPPORTS, report=report(1))
    assert stance_accuracy(pair, found) == 0
    said = stance_accuracy(pair, found, None, "judge_verdict").feedback
    assert (
        'was judged supports because of "words 1"' in said and "People who read the document say: contradicts" in said
    )
    assert stance_accuracy(pair, dspy.Prediction(stance=Stance.CONTRADICTS, report=report(0, 1))) == 1
