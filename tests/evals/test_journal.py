"""The journal: a model that LiteLLM reaches, replies that are no whole text, and the places that a limit leaves."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import DSPyError

from regen.errors import ProviderError
from regen.journal import Calls, Journal, Stopped
from regen.models.limited import LimitedLM
from regen.runs import Run
from regen.usage import metered

sys.path.append(str(Path(__file__).parents[1] / "cli"))


@pytest.fixture
def lm() -> Iterator[LimitedLM]:
    from fake_model import FakeModel

    fake = FakeModel()
    lm = LimitedLM(
        "openai/fake", engine="litellm", api_base=fake.url, api_key="k", cache=False, num_retries=0, temperature=0.0
    )
    lm.fake = fake
    yield lm
    fake.close()


def test_a_model_behind_litellm_is_asked_once_and_counted_once(lm: LimitedLM, tmp_path: Path) -> None:
    with Run.begin(tmp_path / "run", "test", {}, [("a", {})]) as run:
        for _ in range(2):
            journal = Journal(Calls(run))
            with dspy.context(lm=journal.lm(lm)), metered() as meter, journal.stage("a", "one") as ledger:
                said = dspy.settings.lm("What was the revenue?")
            assert said == ["Revenue in 2025 was $4.2M [1]."]
            assert ledger.usage().calls == 1
            assert meter.read().calls == 1
        assert len(lm.fake.prompts) == 1
        assert run.usage().calls == 1


def test_half_a_character_in_a_reply_is_replaced_now_and_when_it_is_read_again(
    scripted_lm: Callable[..., Any], tmp_path: Path
) -> None:
    lm = scripted_lm(lambda *_: "Paris \ud83d")
    with Run.begin(tmp_path / "run", "test", {}, [("a", {})]) as run:
        for _ in range(2):
            journal = Journal(Calls(run))
            with dspy.context(lm=journal.lm(lm)), journal.stage("a", "one"):
                assert dspy.settings.lm("Where?") == ["Paris \ufffd"]
    assert len(lm.engine.requests) == 1


def test_a_call_that_fails_leaves_its_place_to_one_that_waits(scripted_lm: Callable[..., Any], tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def script(_: str, user: str, __: Any) -> str:
        if user == "first":
            begun.set()
            assert go_on.wait(20)
            raise ProviderError("The endpoint went away.")
        return "Said."

    with Run.begin(tmp_path / "run", "test", {}, [("a", {})]) as run, ThreadPoolExecutor(2) as pool:
        journal = Journal(Calls(run, max_calls=1), concurrency=2)
        lm = journal.lm(scripted_lm(script))

        def ask(text: str) -> Any:
            with dspy.context(lm=lm), journal.stage("a", text):
                return dspy.settings.lm(text)

        first = pool.submit(ask, "first")
        assert begun.wait(20)
        second = pool.submit(ask, "second")
        wait([second], timeout=0.3)
        go_on.set()
        assert second.result(20) == ["Said."]
        assert first.exception() is not None
        with pytest.raises(Stopped, match="The limit of 1 calls"):
            ask("third")


def test_a_reply_that_came_at_the_second_try_is_not_paid_for_again(
    scripted_lm: Callable[..., Any], tmp_path: Path
) -> None:
    failures = iter([True])

    def script(*_: Any) -> str:
        if next(failures, False):
            raise ProviderError("The endpoint went away.")
        return "Said."

    lm = scripted_lm(script)
    with Run.begin(tmp_path / "run", "test", {}, [("a", {})]) as run:
        journal = Journal(Calls(run))
        with dspy.context(lm=journal.lm(lm)), journal.stage("a", "one"):
            with pytest.raises(DSPyError):
                dspy.settings.lm("Well?")
            assert dspy.settings.lm("Well?") == ["Said."]
        again = Journal(Calls(run))
        with dspy.context(lm=again.lm(lm)), again.stage("a", "one"):
            assert dspy.settings.lm("Well?") == ["Said."]
    assert len(lm.engine.requests) == 2


def test_a_call_that_waits_after_a_refusal_is_called_off_at_once(tmp_path: Path) -> None:
    from fake_model import FakeModel

    from regen.models import choose, make_lm
    from regen.settings import load

    fake = FakeModel()
    fake.broken, fake.headers = (429, {"error": {"message": "Slow down."}}), {"Retry-After": "60"}
    given = load({"model": "llamacpp/fake", "api_base": fake.url, "retries": 3})
    with Run.begin(tmp_path / "run", "test", {}, [("a", {})]) as run, ThreadPoolExecutor(1) as pool:
        journal = Journal(Calls(run))
        lm = journal.lm(make_lm(choose(given), given))

        def ask() -> None:
            with journal.stage("a", "one"):
                lm("What was the revenue?")

        waiting = pool.submit(ask)
        while not fake.prompts:
            time.sleep(0.01)
        time.sleep(0.2)
        journal.calls.stop("Enough.")
        with pytest.raises(Stopped):
            waiting.result(timeout=5)
    fake.close()
