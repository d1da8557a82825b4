"""What is said about the time and the money that a run takes."""

from __future__ import annotations

import pytest

from regen.cli.progress import Remaining, RunBoard, spent_words
from regen.types import Usage


def test_the_time_left_is_unknown_until_every_kind_of_stage_was_seen() -> None:
    remaining = Remaining({"rag": 2, "regenerated": 2})
    remaining.stage("rag", 1.0)
    assert remaining.seconds(1.0) is None


def test_the_time_left_is_what_is_left_at_the_pace_so_far() -> None:
    remaining = Remaining({"rag": 10, "regenerated": 10})
    for _ in range(4):
        remaining.stage("rag", 1.0)
        remaining.stage("regenerated", 9.0)
    # 40 seconds of work in 20 seconds: two at a time. Left: 6 of each, 60 seconds of work.
    assert remaining.seconds(20.0) == pytest.approx(30.0)


def test_what_failed_is_not_waited_for() -> None:
    remaining = Remaining({"rag": 1})
    remaining.stage("rag", None)
    assert remaining.seconds(5.0) == 0.0


def test_a_long_run_tells_how_far_it_is_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("regen.cli.progress.time.monotonic", lambda: now[0])
    board = RunBoard(10, 4, {"rag": 6}, lambda: Usage(calls=3, prompt_tokens=1200, cost_usd=0.25))
    with board.live():
        now[0] = 40.0
        board.stage("rag", 40.0)
        board.item()
    said = capsys.readouterr().err
    assert "4 of 10 items done, 3 calls, 1,200 tokens, $0.2500, about 3 min left" in said


def test_a_batch_tells_how_many_of_its_requests_are_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("regen.cli.progress.time.monotonic", lambda: now[0])
    board = RunBoard(790, 0, {"rag": 790}, lambda: Usage(calls=3, prompt_tokens=1200))
    with board.live():
        now[0] = 40.0
        board.batch(2, 310, 1580)
    assert "0 of 790 items done, 3 calls, 1,200 tokens, batch 2: 310 of 1,580 requests done" in capsys.readouterr().err


def test_a_price_that_is_not_known_is_not_said_to_be_nothing() -> None:
    assert spent_words(Usage(calls=2, prompt_tokens=10, completion_tokens=5)) == "2 calls, 15 tokens"
