"""The plain adapter: what a prompt looks like, and what is read from a reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dspy
import pytest

from regen.adapter import PlainAdapter
from signatures import AnswerQuestion, ChooseAnswer, ExtractClaims, JudgeDocument

ADAPTER = PlainAdapter()
INPUTS = {"documents": '<document number="1">\nText.\n</document>', "question": "How much is it?"}
DEMO = {**INPUTS, "question": "And before?", "answer": "Ten euros [1]."}


def messages(signature: Any, inputs: dict[str, Any], demos: list[dict[str, Any]] | None = None) -> list[dict[str, str]]:
    found: list[dict[str, str]] = ADAPTER.format(signature, demos or [], inputs)
    return found


@pytest.mark.parametrize(
    ("signature", "more"), [(AnswerQuestion, {}), (ChooseAnswer, {"options": "A: 10 euros\nB: 12 euros"})]
)
@pytest.mark.parametrize("demos", [[], [DEMO]])
def test_a_prompt_with_feedback_begins_with_the_whole_prompt_without_it(
    signature: Any, more: dict[str, str], demos: list[dict[str, Any]]
) -> None:
    first = messages(signature, {**INPUTS, **more}, demos)
    second = messages(signature, {**INPUTS, **more, "feedback": "One side.\nOther side."}, demos)
    assert second[:-1] == first[:-1]
    assert second[-1]["content"].startswith(first[-1]["content"])
    assert second[-1]["content"].endswith("\n\nFeedback:\nOne side.\nOther side.")


def test_documents_come_first_and_without_a_label() -> None:
    assert messages(AnswerQuestion, INPUTS)[-1]["content"] == f"{INPUTS['documents']}\n\nQuestion: How much is it?"


def test_an_input_that_is_not_given_leaves_no_trace() -> None:
    assert messages(AnswerQuestion, {**INPUTS, "feedback": None}) == messages(AnswerQuestion, INPUTS)


def test_the_instructions_are_the_system_message_and_say_what_to_reply_with() -> None:
    system = messages(AnswerQuestion, INPUTS)[0]
    assert system["role"] == "system"
    assert system["content"].startswith("Answer the question from the documents")
    assert system["content"].endswith("\n\nReply with one to three sentences with citations.")


def test_instructions_that_say_what_to_reply_with_are_left_as_they_are() -> None:
    assert messages(ChooseAnswer, INPUTS)[0]["content"].count("Reply with") == 1


def test_there_are_no_field_markers() -> None:
    assert not any("[[" in message["content"] for message in messages(AnswerQuestion, INPUTS, [DEMO]))


def test_an_example_is_not_said_to_lack_what_may_be_left_out() -> None:
    shown = {"role": "user", "content": f"{INPUTS['documents']}\n\nQuestion: And before?"}
    for demo in (DEMO, {**DEMO, "feedback": None}):
        assert messages(AnswerQuestion, INPUTS, [demo])[1] == shown
    whole = messages(AnswerQuestion, INPUTS, [{**DEMO, "feedback": "One side."}])
    assert whole[1]["content"] == f"{shown['content']}\n\nFeedback: One side."


def test_a_demonstration_is_a_turn_of_its_own() -> None:
    _, asked, answered, question = messages(AnswerQuestion, INPUTS, [DEMO])
    assert (asked["role"], asked["content"].endswith("Question: And before?")) == ("user", True)
    assert answered == {"role": "assistant", "content": "Ten euros [1]."}
    assert question["content"].endswith("Question: How much is it?")


def test_a_demonstration_of_a_list_has_one_item_a_line() -> None:
    demo = {"response": "It is cheap and new.", "claims": ["It is cheap.", "It is new."]}
    assert messages(ExtractClaims, {"response": "x"}, [demo])[2]["content"] == "It is cheap.\nIt is new."


def test_what_is_written_for_a_demonstration_is_read_back() -> None:
    claims = ["It is cheap.", "It is new."]
    written = ADAPTER.format_assistant_message_content(ExtractClaims, {"claims": claims})
    assert ADAPTER.parse(ExtractClaims, written) == {"claims": claims}


@pytest.mark.parametrize(
    ("reply", "claims"),
    [
        ("One.\nTwo.", ["One.", "Two."]),
        ("1. One.\n2) Two.\n(3) Three.\n10: Ten.", ["One.", "Two.", "Three.", "Ten."]),
        ("- One.\n* Two.\n\u2022 Three.", ["One.", "Two.", "Three."]),
        ("\n  One.  \n\n\nTwo.\n", ["One.", "Two."]),
        ("1969 was the year.", ["1969 was the year."]),
        ("3.5 percent pay.", ["3.5 percent pay."]),
        ("Here are the claims:\n- One.", ["One."]),
        ("None", []),
        ("(none)", []),
        ("", []),
    ],
)
def test_a_list_is_read_from_lines_whatever_their_bullets(reply: str, claims: list[str]) -> None:
    assert ADAPTER.parse(ExtractClaims, reply) == {"claims": claims}


def test_a_text_is_read_as_it_is() -> None:
    assert ADAPTER.parse(AnswerQuestion, "\n1. Ten euros [1].\nMore.\n") == {"answer": "1. Ten euros [1].\nMore."}


def test_an_output_of_objects_goes_through_json(scripted_lm: Callable[..., Any]) -> None:
    lm = scripted_lm(lambda *_: '{"verdicts": [{"claim": 1, "quote": "q", "stance": "supports", "confidence": 0.5}]}')
    with dspy.context(lm=lm, adapter=ADAPTER):
        (verdict,) = dspy.Predict(JudgeDocument)(document="d", claims="1. c").verdicts
    assert (verdict.stance, verdict.confidence) == ("supports", 0.5)
    assert lm.engine.requests[0].config.response_format is not None


def test_an_output_of_text_asks_for_no_format(scripted_lm: Callable[..., Any]) -> None:
    lm = scripted_lm(lambda *_: "Ten euros [1].")
    with dspy.context(lm=lm, adapter=ADAPTER):
        assert dspy.Predict(AnswerQuestion)(**INPUTS).answer == "Ten euros [1]."
    assert lm.engine.requests[0].config.response_format is None


def test_the_schema_of_a_reply_is_made_once_a_signature(
    scripted_lm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dspy.adapters import json_adapter

    make, made = json_adapter._get_structured_outputs_response_format, []

    def counted(signature: Any, *more: Any) -> Any:
        made.append(signature)
        return make(signature, *more)

    monkeypatch.setattr(json_adapter, "_get_structured_outputs_response_format", counted)
    lm = scripted_lm(lambda *_: '{"n": 1, "m": 2}')
    one, other = dspy.Signature("text -> n: int, m: int"), dspy.Signature("text -> m: int, n: int")
    with dspy.context(lm=lm, adapter=ADAPTER):
        for signature in (one, one, other, one):
            assert dspy.Predict(signature)(text="t").n == 1
    assert made == [one, other]
    formats = [request.config.response_format for request in lm.engine.requests]
    assert formats[0] == formats[1] == formats[3] != formats[2]


ONE = '{"claim": 1, "quote": "ten\\neuros", "stance": " Supports", "confidence": 2}'
OTHER = '{"claim": "2", "quote": null, "stance": "irrelevant", "confidence": null}'


@pytest.mark.parametrize(
    "reply",
    [
        f'{{"answer": "ten", "verdicts": [{ONE}, {OTHER}]}}',
        f'{{"verdicts": [{ONE}], "answer": null}}',
        f'{{"verdicts": [{ONE}], "answer": 10, "more": 1}}',
        f'{{"verdicts": [{ONE}]}}',
        f'```json\n{{"answer": "ten", "verdicts": [{OTHER},]}}\n```',
        f'{{"answer": "ten\neuros", "verdicts": [{ONE}',
    ],
)
def test_a_reply_is_read_as_dspy_reads_it(scripted_lm: Callable[..., Any], reply: str) -> None:
    with dspy.context(lm=scripted_lm(lambda *_: reply), adapter=ADAPTER):
        read = dspy.Predict(JudgeDocument)(document="d", claims="1. c")
    assert dict(read) == dspy.JSONAdapter().parse(JudgeDocument, reply)
