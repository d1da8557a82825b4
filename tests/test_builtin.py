"""The judge that ships with regen: its files are there, it asks no model, and it says what plain texts say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

import dspy
import pytest

from regen import Regen, result_of
from regen.judges import asks_model, make_judge
from regen.judges.builtin import BuiltinJudge
from regen.types import Claim, Document, Stance

MODEL = files("regen.judges") / "builtin_model"
CLAIM = Claim(id="c1", text="Brindlecart's annual revenue for 2024 was $4.2 million.")
DOCUMENTS = [
    Document(id="same", text="Press release: Brindlecart's annual revenue for 2024 was $4.2 million."),
    Document(id="other", text="Gulls breed on the cliffs near the harbor and leave in autumn."),
]


@pytest.fixture(scope="module")
def judge() -> Iterator[BuiltinJudge]:
    yield BuiltinJudge()


def test_its_files_are_small_enough_to_ship() -> None:
    sizes = [(MODEL / name).read_bytes() for name in ("model.onnx", "tokenizer.json", "config.json")]
    assert 1_000_000 < sum(map(len, sizes)) <= 40_000_000
    assert json.loads(sizes[2])["id2label"] == {"0": "entailment", "1": "neutral", "2": "contradiction"}


def test_it_tells_what_says_the_same_from_what_is_about_something_else(judge: BuiltinJudge) -> None:
    found = {item.document_id: item for item in judge.judge([CLAIM], DOCUMENTS).evidence}
    assert (found["same"].stance, found["same"].quote) == (Stance.SUPPORTS, DOCUMENTS[0].text)
    assert (found["other"].stance, found["other"].quote) == (Stance.IRRELEVANT, "")


@pytest.mark.parametrize(("answer", "stance"), [("July 1918", "supports"), ("May 1925", "contradicts")])
def test_of_rival_answers_it_sees_which_one_a_document_gives(judge: BuiltinJudge, answer: str, stance: str) -> None:
    document = Document(id="d", text="The division was formed on an order of July 1918 from voluntary groups.")
    options = {"question": "When was the division formed?", "exclusive": True}
    assert judge.judge([Claim(id="c1", text=answer)], [document], **options).evidence[0].stance.value == stance


def test_it_says_the_same_whatever_else_it_is_asked(judge: BuiltinJudge) -> None:
    together = {item.document_id: item for item in judge.judge([CLAIM], DOCUMENTS).evidence}
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda document: judge.judge([CLAIM], [document]).evidence[0], DOCUMENTS * 8))
    assert all(item == together[item.document_id] for item in alone)


def test_it_needs_no_model_and_takes_nothing_after_its_name() -> None:
    from regen.errors import ConfigurationError

    assert not asks_model("builtin")
    assert isinstance(make_judge("builtin"), BuiltinJudge)
    with pytest.raises(ConfigurationError, match="takes nothing"):
        make_judge("builtin:large")


def test_a_question_takes_four_calls_at_most(scripted_lm: Callable[..., Any]) -> None:
    """An answer, its claims, and both again: the judge adds none, however many documents there are."""

    def script(system: str, user: str, request: Any) -> str:
        if "List the factual claims" in system:
            return "The division was formed in July 1918."
        return "The division was formed in July 1918 [1]."

    documents = [
        Document(id=f"d{number}", text=f"The division was formed on an order of {when} from voluntary groups.")
        for number, when in enumerate(["July 1918", "May 1925"] * 5)
    ]
    with dspy.context(lm=scripted_lm(script)):
        result = result_of(Regen(judge="builtin")(question="When was the division formed?", documents=documents))
    assert result.initial_report.in_conflict == ["c1"]
    assert result.usage.calls == 4
