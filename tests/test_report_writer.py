"""Reports with a scripted model: how they are asked for, scored, written again, and what is told of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted import system_text, user_text

from regen.errors import InputError
from regen.report import ROOM, ReportWriter
from regen.types import Document

MakeLM = Callable[..., Any]

OLD = Document(id="old.md", text="You pay 10 euros at the door.", rank=1)
NEW = Document(id="new.md", text="Entry costs 12 euros.", rank=2)
GULLS = Document(id="gulls.md", text="Gulls breed there.", rank=3)
DOCUMENTS = [OLD, NEW, GULLS]

FIRST = "The fee is 10 euros [1].\n\nGulls breed there [3].\n\nIt is old."
SECOND = "[1] says that the fee is 10 euros, whereas [2] says 12.\n\nGulls breed there [3].\n\nIt is old."
# What documents say of each claim that is made in one of the two.
SAYS = {
    "The fee is 10 euros.": {OLD.text: "supports", NEW.text: "contradicts"},
    "Gulls breed there.": {GULLS.text: "supports"},
}


def write(system: str, user: str, _: Any) -> str:
    """A model that writes both reports, takes them apart into sentences, and judges by `SAYS`."""
    if "report on the topic" in system:
        return SECOND if "Feedback:" in user else FIRST
    if "List the factual claims" in system:
        return "\n".join(re.findall(r"[^.\n]+\.", user.partition("Response:")[2]))
    document = next(item for item in DOCUMENTS if item.text in user)
    verdicts = []
    for number, claim in re.findall(r"^(\d+)\. (?:.* is: )?(.*)$", user, re.MULTILINE):
        stance = SAYS.get(claim, {}).get(document.text, "irrelevant")
        quote = "" if stance == "irrelevant" else document.text
        verdicts.append({"claim": int(number), "stance": stance, "quote": quote, "confidence": 0.9})
    return json.dumps({"verdicts": verdicts})


def reports_on(lm: Any, writer: ReportWriter | None = None, **inputs: Any) -> Any:
    with dspy.context(lm=lm):
        writer = writer or ReportWriter(judge="lm")
        return writer(**{"question": "The fee and the gulls", "documents": DOCUMENTS, **inputs})


def writings(lm: Any) -> list[Any]:
    return [request for request in lm.engine.requests if "report on the topic" in system_text(request)]


def test_a_report_that_documents_contradict_is_written_again_and_the_better_one_kept(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(write)
    found = reports_on(lm)
    # By hand: of three claims one is in conflict, one document a side, and one is unverified; then none is in conflict.
    assert (found.initial_report.cs_c, found.initial_report.cs_r) == (pytest.approx(1 / 3), pytest.approx(1 / 6))
    assert (found.report.cs_c, found.report.cs_r, found.regenerated) == (0.0, 0.0, True)
    assert (found.initial_answer.text, found.answer.text) == (FIRST, SECOND)
    assert found.answer.citations == ["old.md", "new.md", "gulls.md"]
    assert found.warnings == []


def test_the_second_prompt_begins_with_the_whole_first_one_and_has_all_of_the_first_report(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(write).copy(max_tokens=100)
    feedback = reports_on(lm).rounds[0].feedback
    first, second = writings(lm)
    assert system_text(second) == system_text(first)
    assert user_text(second).startswith(user_text(first)) and user_text(second).endswith(feedback)
    assert FIRST in feedback and NEW.text in feedback and "three paragraphs" in feedback
    # Three paragraphs need more room than what a setting of a short answer leaves.
    assert {request.config.max_tokens for request in (first, second)} == {ROOM}


def test_each_style_asks_for_something_else(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(write)
    for style in ("plain", "balanced", "super-balanced"):
        reports_on(lm, ReportWriter(judge="lm", style=style, max_rounds=0))
    plain, balanced, qualified = map(system_text, writings(lm))
    assert "balanced" not in plain
    assert "reflect all of them" in balanced and "who says what" not in balanced
    assert "who says what" in qualified


def test_a_report_that_ends_at_the_limit_of_tokens_is_told(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(write)
    lm.engine.finish_reason = "length"
    first, again = reports_on(lm).warnings
    assert first.startswith("The first report ends where the model's limit of new tokens was reached")
    assert again.startswith("The report that was written again ends where")


def test_there_are_no_choices(scripted_lm: MakeLM) -> None:
    with pytest.raises(InputError, match="leave out the choices"):
        reports_on(scripted_lm(write), choices=["yes", "no"])


def test_it_is_saved_and_loaded_by_its_predictors(scripted_lm: MakeLM, tmp_path: Path) -> None:
    writer = ReportWriter(judge="lm")
    assert [name for name, _ in writer.named_predictors()] == ["answer", "claims", "judge.verdict"]
    writer.answer.signature = writer.answer.signature.with_instructions("Write a report on the topic in verse.")
    writer.save(tmp_path / "writer.json")
    loaded = ReportWriter(judge="lm", max_rounds=0)
    loaded.load(tmp_path / "writer.json")
    lm = scripted_lm(write)
    reports_on(lm, loaded)
    assert "in verse" in system_text(writings(lm)[0])
