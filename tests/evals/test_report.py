"""The report of a run: that it shows everything, takes nothing for markup, and is the same for the same run."""

from __future__ import annotations

import pytest

from eval_truthfulqa.metrics import Row, paired
from eval_truthfulqa.report import p_value


def row(number: int, rag: int, regenerated: int) -> Row:
    return Row(id=str(number), right=0, answers={"rag": rag, "regenerated": regenerated})


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([], "\u2013"),
        ([row(1, 0, 0), row(2, 1, 1)], "\u2013"),
        # One change: either way is as likely.
        ([row(1, 1, 0)], "1.0000"),
        # 2 / 2^6, and 2 / 2^16.
        ([row(number, 1, 0) for number in range(6)], "0.0312"),
        ([row(number, 1, 0) for number in range(16)], "< 0.0001"),
    ],
)
def test_a_test_over_no_change_is_a_dash(rows: list[Row], shown: str) -> None:
    assert p_value(paired(rows, "rag", "regenerated")) == shown
