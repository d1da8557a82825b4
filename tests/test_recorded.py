"""The program against what the real embedded model said, recorded."""

from __future__ import annotations

import asyncio
from typing import Any

import dspy
import pytest
from recorded import MODEL, Endpoint, cassette

from regen import Document, Regen, Stance, result_of, score
from regen.models import choose, make_lm
from regen.settings import load

QUESTION = "How many requests a minute does the Tidewater API allow?"
DOCUMENTS = [
    Document(
        id="guide",
        title="Tidewater API guide",
        text="The Tidewater API allows 60 requests a minute. Requests beyond that are refused with status 429.",
        published="2023-05-02",
    ),
    Document(
        id="changelog",
        title="Tidewater API changelog",
        text="From this release on, the rate limit is raised: the Tidewater API allows 300 requests a minute.",
        published="2025-09-10",
    ),
    Document(
        id="lunch",
        title="Canteen",
        text="The canteen serves lunch from noon to two o'clock. On Fridays there is soup.",
        published="2024-01-15",
    ),
]


def use(endpoint: Endpoint) -> Any:
    settings = load({"model": MODEL, "api_base": endpoint.api_base, "api_key": endpoint.api_key, "timeout": 600.0})
    lm = make_lm(choose(settings), settings)
    dspy.configure(lm=lm)
    return lm


def test_a_conflict_is_found_fed_back_and_answered_again(recording: bool) -> None:
    with cassette("ask", record=recording) as endpoint:
        use(endpoint)
        result = result_of(Regen(judge="contrast")(question=QUESTION, documents=DOCUMENTS))
    assert result.initial_report.in_conflict
    assert {item.answer for item in result.document_answers} and len(result.document_answers) == 2
    assert len(result.rounds) == 1
    assert "300" in result.answer.text


def test_the_second_answer_reads_the_first_ones_prompt_from_the_cache(recording: bool) -> None:
    if recording:
        pytest.skip("recorded by the test before this one")
    with cassette("ask", record=False) as endpoint:
        lm = use(endpoint)
        result_of(Regen(judge="contrast")(question=QUESTION, documents=DOCUMENTS))
        calls = [call for call in lm.history if "Answer the question" in call["messages"][0]["content"]]
    first, second = (call["messages"] for call in calls)
    assert second[0] == first[0]
    assert second[1]["content"].startswith(first[1]["content"])
    cached = calls[1]["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached > 0.9 * (calls[0]["usage"]["prompt_tokens"] - 10)


def test_a_choice_is_made_by_log_probabilities_in_both_orders(recording: bool) -> None:
    choices = ["60 requests a minute", "300 requests a minute"]
    with cassette("choices", record=recording) as endpoint:
        use(endpoint)
        result = result_of(Regen(judge="contrast")(question=QUESTION, choices=choices, documents=DOCUMENTS))
    stances = {item.document_id: item.stance for item in result.report.evidence}
    assert stances["lunch"] is Stance.IRRELEVANT
    assert {stances["guide"], stances["changelog"]} == {Stance.SUPPORTS, Stance.CONTRADICTS}
    assert result.answer.probabilities is not None and sum(result.answer.probabilities) == pytest.approx(1)


def test_the_lm_judge_reads_structured_verdicts(recording: bool) -> None:
    with cassette("score-lm", record=recording) as endpoint:
        use(endpoint)
        report = score("The Tidewater API allows 60 requests a minute.", DOCUMENTS[:2], judge="lm")
    assert [claim.text for claim in report.claims]
    assert not report.unjudged
    assert next(item for item in report.evidence if item.document_id == "guide").stance is Stance.SUPPORTS


def test_the_answer_can_be_streamed(recording: bool) -> None:
    async def chunks() -> list[Any]:
        program = dspy.streamify(Regen(judge="contrast", max_rounds=0))
        return [chunk async for chunk in program(question=QUESTION, documents=DOCUMENTS[:1])]

    with cassette("stream", record=recording) as endpoint:
        use(endpoint)
        received = asyncio.run(chunks())
    assert isinstance(received[-1], dspy.Prediction)
    assert len(received) > 5
