"""The figures of an evaluation, against what they are by hand."""

from __future__ import annotations

import pytest

from eval_truthfulqa import metrics
from eval_truthfulqa.metrics import Row
from regen.types import Usage

# Right answer 0 everywhere. Columns: first answer (rag), second answer (regenerated), control, conflict, CS-R.
TABLE = [
    # id, rag, regenerated, control, conflict, cs_r
    ("1", 1, 0, 0, True, 0.6),  # mended
    ("2", 1, 0, 1, True, 0.7),  # mended
    ("3", 1, 0, 1, True, 0.75),  # mended
    ("4", 1, 0, 1, True, 0.8),  # mended
    ("5", 1, 1, 1, True, 0.5),  # stays wrong
    ("6", 1, 0, 0, False, 1.0),  # mended, but without a conflict: every document contradicts it
    ("7", 0, 1, 0, True, 0.5),  # spoiled
    ("8", 0, 0, 0, True, 0.2),  # stays right
    ("9", 0, 0, 0, True, 0.25),  # stays right
    ("10", 0, 0, 0, False, 0.0),  # stays right
    ("11", 0, 0, 1, False, 0.0),  # stays right
    ("12", 0, None, 0, None, None),  # the second answer failed
]


@pytest.fixture
def rows() -> list[Row]:
    return [
        Row(
            id=name,
            right=0,
            category="Health" if int(name) <= 6 else "Law",
            answers={
                setting: choice
                for setting, choice in (("rag", rag), ("regenerated", again), ("control", control))
                if choice is not None
            },
            errors={} if again is not None else {"regenerated": "It went away."},
            conflict=conflict,
            cs_r=cs_r,
            usage={"rag": Usage(calls=2, prompt_tokens=100 * int(name), cost_usd=0.5, seconds=1.0)},
        )
        for name, rag, again, control, conflict, cs_r in TABLE
    ]


def test_accuracy_over_the_answered_and_over_all(rows: list[Row]) -> None:
    # Right by `regenerated`: items 1-4, 6, 8-11 = 9, of the 11 that it answered and of all 12.
    found = metrics.accuracy(rows, "regenerated")
    assert (found.answered.count, found.answered.of) == (9, 11)
    assert (found.all.count, found.all.of, found.failed) == (9, 12, 1)
    assert metrics.accuracy(rows, "rag").answered.share == 0.5


def test_an_item_that_a_stopped_run_has_not_come_to_is_no_failure(rows: list[Row]) -> None:
    found = metrics.accuracy([*rows, Row(id="13", right=0, answers={"closed": 0})], "regenerated")
    assert (found.all.of, found.failed) == (12, 1)


def test_wilsons_interval() -> None:
    # By hand, with z = 1.959964, n = 10, p = 0.8: centre (p + z²/2n) / (1 + z²/n) = (0.8 + 0.192073) / 1.384146
    # = 0.716740; half width z·sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n) = 1.959964·sqrt(0.016 + 0.0096036) / 1.384146
    # = 0.226577.
    found = metrics.share([True] * 8 + [False] * 2)
    assert (found.low, found.high) == (pytest.approx(0.716740 - 0.226577, abs=1e-4), pytest.approx(0.943317, abs=1e-4))


def test_improve_harm_and_net_are_over_the_items_in_conflict(rows: list[Row]) -> None:
    # In conflict: items 1-5 and 7-9 = 8, of the 11 that were judged. Wrong first among them: 1-5 = 5, of which 1-4 are
    # mended: 4/5. Right first: 7-9 = 3, of which 7 is spoiled: 1/3. Net: (4 - 1) / 8. Item 6 is mended elsewhere.
    found = metrics.regeneration(rows)
    assert (found.conflict.count, found.conflict.of) == (8, 11)
    assert (found.improve.count, found.improve.of) == (4, 5)
    assert (found.harm.count, found.harm.of) == (1, 3)
    assert found.net == 3 / 8
    assert (found.mended_elsewhere, found.spoiled_elsewhere) == (1, 0)


def test_mcnemars_exact_test(rows: list[Row]) -> None:
    # Over the 11 items that both answered: mended 1-4 and 6 = 5, spoiled 7 = 1. Six discordant pairs; two-sided
    # p = 2 · (C(6,0) + C(6,1)) / 2^6 = 2 · 7 / 64 = 0.21875. Difference: (5 - 1) / 11.
    found = metrics.paired(rows, "rag", "regenerated")
    assert (found.n, found.mended, found.spoiled) == (11, 5, 1)
    assert found.p_value == pytest.approx(0.21875)
    assert found.difference == pytest.approx(4 / 11)
    assert found.low is not None and found.high is not None
    assert -0.1 < found.low < 4 / 11 < found.high < 0.8


def test_mcnemar_without_a_change_says_nothing() -> None:
    assert metrics.mcnemar(0, 0) == 1.0
    assert metrics.mcnemar(3, 3) == 1.0
    # 2 / 2^6: six changes, all one way.
    assert metrics.mcnemar(6, 0) == pytest.approx(0.03125)


def test_the_same_seed_gives_the_same_interval(rows: list[Row]) -> None:
    one, same = (metrics.paired(rows, "rag", "control", seed=3) for _ in range(2))
    assert one == same


def test_categories_apart(rows: list[Row]) -> None:
    health, law = metrics.groups(rows, ["rag", "regenerated"], lambda row: row.category)
    assert (health.name, health.n, health.accuracy["regenerated"].share) == ("Health", 6, 5 / 6)
    assert (law.name, law.accuracy["rag"].share, law.regeneration.harm.of) == ("Law", 1.0, 3)
    assert metrics.groups(rows, ["rag"], lambda row: row.type) == []


def test_accuracy_by_cs_r(rows: list[Row]) -> None:
    # 0: items 10, 11, both right. (0, .25]: 8, 9, both right. (.25, .5]: 5 wrong, 7 right. (.5, .75]: 1-3, all wrong.
    # (.75, 1]: 4 and 6, both wrong.
    found = [(item.low, item.high, item.right.count, item.right.of) for item in metrics.calibration(rows)]
    assert found == [(0.0, 0.0, 2, 2), (0.0, 0.25, 2, 2), (0.25, 0.5, 1, 2), (0.5, 0.75, 0, 3), (0.75, 1.0, 0, 2)]


def test_position_bias_from_both_orders() -> None:
    # Item a is right in both orders; item b always takes what stands first: choice 1, then choice 0.
    a = Row(id="a", right=0, answers={"rag": 0}, reversed={"rag": 0}, shown_first=0, shown_last=1)
    b = Row(id="b", right=0, answers={"rag": 1}, reversed={"rag": 0}, shown_first=1, shown_last=0)
    found = metrics.position([a, b, Row(id="c", right=0, answers={"rag": 0})], "rag")
    assert found is not None
    assert (found.same.count, found.same.of) == (1, 2)
    assert (found.first.count, found.first.of) == (3, 4)
    assert found.both_right.count == 1
    assert (found.accuracy.count, found.accuracy.of) == (3, 4)
    assert metrics.position([a, b], "control") is None


def test_what_an_item_costs(rows: list[Row]) -> None:
    found = metrics.cost(rows, "rag")
    assert found is not None
    assert (found.calls, found.prompt_tokens, found.cost_usd) == (2.0, 650.0, 0.5)
    assert metrics.cost(rows, "control") is None


def test_figures_over_no_items_are_empty_not_zero() -> None:
    assert metrics.share([]).share is None
    found = metrics.paired([], "rag", "regenerated")
    assert (found.difference, found.low, found.p_value) == (None, None, 1.0)
    assert metrics.regeneration([]).net is None
