"""The journal with a model that LiteLLM reaches, whose connection is not an engine of ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import dspy
import pytest

from regen.journal import Journal
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
            journal = Journal(run)
            with dspy.context(lm=journal.lm(lm)), metered() as meter, journal.stage("a", "one") as ledger:
                said = dspy.settings.lm("What was the revenue?")
            assert said == ["Revenue in 2025 was $4.2M [1]."]
            assert ledger.usage().calls == 1
            assert meter.read().calls == 1
        assert len(lm.fake.prompts) == 1
        assert run.usage().calls == 1
