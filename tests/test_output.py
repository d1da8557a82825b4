"""What the command line prints as JSON: its keys, and that it is what its schema says."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, Literal

import jsonschema
import pytest

from regen.conflict import aggregate
from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
from regen.output import ask_output, failure, schema, score_output
from regen.types import (
    Answer,
    Claim,
    ConflictReport,
    Credibility,
    Decision,
    Document,
    DocumentAnswer,
    Evidence,
    FoundKind,
    Judgement,
    Kind,
    Result,
    Round,
    Stance,
    Unjudged,
    Usage,
)

DOCUMENTS = [
    Document(id="old.md", text="The fee is 10 euros.", rank=1),
    Document(id="new.md", text="The fee is 12 euros.", published=date(2024, 5, 1), rank=2),
    Document(id="lost.md", text="Lost.", rank=3),
]
USAGE = Usage(calls=9, prompt_tokens=900, cached_tokens=400, completion_tokens=50, seconds=1.5)


def report(text: str, stances: str) -> ConflictReport:
    claims = [Claim(id="c1", text=text), Claim(id="c2", text="Dogs pay half.")]
    evidence = [
        Evidence(claim_id="c1", document_id=document.id, stance=Stance(stance), quote=document.text, confidence=0.9)
        for document, stance in zip(DOCUMENTS, stances.split(), strict=False)
    ]
    none = [Evidence(claim_id="c2", document_id=document.id, stance=Stance.IRRELEVANT) for document in DOCUMENTS[:2]]
    lost = Unjudged(document_id="lost.md", cause="it timed out")
    return aggregate(claims, DOCUMENTS, Judgement(evidence=[*evidence, *none], unjudged=[lost]))


FIRST = report("The fee is 10 euros.", "supports contradicts")
SECOND = report("The fee is 12 euros, and was 10.", "supports supports")
RESULT = Result(
    question="How much is the fee?",
    documents=DOCUMENTS,
    answer=Answer(text="12 euros [2], and 10 before [1].", citations=["new.md", "old.md"]),
    initial_answer=Answer(text="10 euros [1].", citations=["old.md"]),
    initial_report=FIRST,
    report=SECOND,
    rounds=[
        Round(
            feedback="The feedback.",
            answer=Answer(text="12 euros [2], and 10 before [1].", citations=["new.md", "old.md"]),
            report=SECOND,
            decision=Decision(kept="regenerated", reason="fewer documents contradict it"),
        )
    ],
    decision=Decision(kept="regenerated", reason="fewer documents contradict it"),
    document_answers=[DocumentAnswer(answer="12 euros", document_ids=["new.md"])],
    usage=USAGE,
    warnings=["Document lost.md was not judged: it timed out."],
)


def printed(item: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(item.model_dump_json())
    return found


def test_a_result_is_what_the_schema_of_ask_says() -> None:
    jsonschema.validate(printed(ask_output(RESULT)), schema("ask"))


def test_a_result_with_choices_is_what_the_schema_of_ask_says() -> None:
    chosen = Answer(text="12 euros", choice=1, probabilities=[0.25, 0.75])
    result = RESULT.model_copy(update={"choices": ["10 euros", "12 euros"], "answer": chosen, "rounds": []})
    jsonschema.validate(printed(ask_output(result)), schema("ask"))


def test_a_result_with_a_kind_is_what_the_schema_of_ask_says_and_shows_it() -> None:
    kind = FoundKind(kind=Kind.OUTDATED, reason="[2] is newer", by="rules")
    found = printed(ask_output(RESULT.model_copy(update={"kind": kind})))
    jsonschema.validate(found, schema("ask"))
    assert found["kind"] == {"kind": "outdated", "reason": "[2] is newer", "by": "rules"}


def test_an_answer_that_was_not_checked_has_no_scores() -> None:
    found = printed(ask_output(RESULT.model_copy(update={"strategy": "vanilla", "rounds": []})))
    jsonschema.validate(found, schema("ask"))
    assert (found["strategy"], found["scores"]) == ("vanilla", {"initial": None, "final": None})


def test_a_score_is_what_the_schema_of_score_says() -> None:
    jsonschema.validate(printed(score_output(FIRST, USAGE, "1")), schema("score"))


@pytest.mark.parametrize("of", ["ask", "score"])
def test_an_error_is_what_the_schema_says(of: Literal["ask", "score"]) -> None:
    jsonschema.validate(printed(failure(InputError("The question is empty."), question="")), schema(of))


def test_the_schema_refuses_what_is_not_printed() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**printed(ask_output(RESULT)), "more": 1}, schema("ask"))


@pytest.mark.parametrize("key", sorted(printed(ask_output(RESULT))))
def test_the_schema_asks_for_every_key(key: str) -> None:
    found = printed(ask_output(RESULT))
    del found[key]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema("ask"))


def test_the_schema_asks_for_every_key_of_a_document() -> None:
    found = printed(ask_output(RESULT))
    del found["documents"][0]["published"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema("ask"))


def test_the_keys_of_an_answer() -> None:
    assert list(printed(ask_output(RESULT))) == [
        "question",
        "answer",
        "choice",
        "initial_answer",
        "regenerated",
        "decision",
        "strategy",
        "kind",
        "rounds",
        "scores",
        "initial_claims",
        "claims",
        "unjudged",
        "discounted",
        "document_answers",
        "documents",
        "citations",
        "set_aside",
        "usage",
        "warnings",
        "made_from",
    ]


def test_both_answers_and_both_scores_are_printed() -> None:
    found = printed(ask_output(RESULT))
    assert (found["initial_answer"], found["answer"]) == ("10 euros [1].", "12 euros [2], and 10 before [1].")
    # Two claims, one of them in conflict: CS-C 1/2, CS-R (1/2 + 0) / 2. The second answer's: none.
    assert found["scores"] == {
        "initial": {"cs_c": 0.5, "cs_r": 0.25, "cs_r_weighted": None},
        "final": {"cs_c": 0.0, "cs_r": 0.0, "cs_r_weighted": None},
    }


def test_claims_are_those_of_the_answer_that_was_kept() -> None:
    assert [claim["text"] for claim in printed(ask_output(RESULT))["claims"]] == [
        "The fee is 12 euros, and was 10.",
        "Dogs pay half.",
    ]


def test_a_claim_in_conflict_says_so_and_shows_its_evidence() -> None:
    first, second = printed(score_output(FIRST, USAGE))["claims"]
    assert (first["in_conflict"], second["in_conflict"]) == (True, False)
    assert first["evidence"] == [
        {"document": "old.md", "stance": "supports", "quote": "The fee is 10 euros.", "confidence": 0.9, "reason": ""},
        {
            "document": "new.md",
            "stance": "contradicts",
            "quote": "The fee is 12 euros.",
            "confidence": 0.9,
            "reason": "",
        },
    ]


def test_a_round_shows_its_feedback_answer_scores_and_decision() -> None:
    (found,) = printed(ask_output(RESULT))["rounds"]
    assert (found["feedback"], found["scores"]["cs_r"], found["decision"]["kept"]) == (
        "The feedback.",
        0.0,
        "regenerated",
    )


def test_a_score_names_what_is_unverified_and_what_was_not_judged() -> None:
    found = printed(score_output(FIRST, USAGE))
    assert (found["unverified"], found["unjudged"]) == (["Dogs pay half."], ["lost.md"])


def weighed(report: ConflictReport) -> ConflictReport:
    judged = Judgement(evidence=report.evidence, unjudged=report.unjudged)
    weights = {"old.md": 1.0, "new.md": 0.5, "lost.md": 0.1}
    credibility = [
        Credibility(document_id=name, weight=one, reason="r", source="list") for name, one in weights.items()
    ]
    return aggregate(report.claims, DOCUMENTS, judged, credibility=credibility, threshold=0.3)


def test_credibility_stands_with_its_document_and_the_weighted_score_beside_the_plain_one() -> None:
    result = RESULT.model_copy(update={"initial_report": weighed(FIRST), "report": weighed(SECOND)})
    found = printed(ask_output(result))
    jsonschema.validate(found, schema("ask"))
    # By hand, the second claim without evidence: (0.5 / 1.5 + 0) / 2.
    assert found["scores"]["initial"]["cs_r_weighted"] == pytest.approx(1 / 6)
    assert [document["credibility"]["weight"] for document in found["documents"]] == [1.0, 0.5, 0.1]
    assert found["discounted"] == ["lost.md"]


def test_a_score_has_the_credibility_of_each_document() -> None:
    found = printed(score_output(weighed(FIRST), USAGE))
    jsonschema.validate(found, schema("score"))
    assert [item["document_id"] for item in found["credibility"]] == ["old.md", "new.md", "lost.md"]
    assert (found["cs_r_weighted"], found["discounted"]) == (pytest.approx(1 / 6), ["lost.md"])


def test_where_credibility_is_off_its_keys_are_null_or_empty() -> None:
    asked, scored = printed(ask_output(RESULT)), printed(score_output(FIRST, USAGE))
    assert [document["credibility"] for document in asked["documents"]] == [None] * 3
    assert (asked["discounted"], scored["discounted"], scored["credibility"], scored["cs_r_weighted"]) == (
        [],
        [],
        [],
        None,
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("No."), 2), (ConfigurationError("No."), 3), (ProviderError("No."), 4), (RegenError("No."), 1)],
)
def test_an_error_has_its_sentence_and_exit_code(error: RegenError, code: int) -> None:
    assert printed(failure(error, id="7"))["error"] == {"message": "No.", "exit_code": code}
