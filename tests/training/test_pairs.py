"""The pairs that the built-in judge learns from: what is changed is changed, and nothing is in two parts."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from regen.quotes import sentences
from training.changes import asserted, changed, declared, denied, names_in, rejected, statements
from training.pairs import CONTRADICTS, FILES, IRRELEVANT, SUPPORTS, labelled, made, parts

PASSAGE = (
    "Harbor Hall was opened by Ada Brook in March 1931. The hall holds 1,200 people. "
    "It was closed for two years after the flood. Visitors reach it from the northern gate."
)


def fact(claim: str, evidence: str, stance: str) -> dict[str, str]:
    return {"claim": claim, "evidence": evidence, "stance": stance}


def ram(question: str, *documents: tuple[str, str, str], wrong: tuple[str, ...] = ()) -> dict[str, Any]:
    given = [{"text": text, "type": kind, "answer": answer} for text, kind, answer in documents]
    gold = [answer for _, kind, answer in documents if kind == "correct"]
    return {"question": question, "documents": given, "gold_answers": gold, "wrong_answers": list(wrong)}


def nq(question: str, real: str, fake: str) -> dict[str, Any]:
    row: dict[str, Any] = {"question": question.lower(), "cleaned_question": question}
    for kind, answer in (("real", real), ("fake", fake)):
        row |= {f"{kind}_answer": f"It is {answer}.", f"{kind}_short_answer": answer}
        row[f"{kind}_passages"] = [{"passage": f"People say that the color of the hall is {answer}."}]
    return row


@pytest.fixture
def part() -> dict[str, list[dict[str, Any]]]:
    return {
        "factcheck_stance": [
            fact("Harbor Hall was opened in 1931.", PASSAGE, "completely-support"),
            fact("Harbor Hall was opened in 1950.", PASSAGE, "refute"),
            fact("Harbor Hall serves soup.", PASSAGE, "irrelevant"),
        ],
        "ramdocs": [
            ram(
                "When was Harbor Hall opened?",
                ("It was opened in 1931.", "correct", "1931"),
                ("It was opened in 1950.", "misinfo", "1950"),
                ("It is in the harbor.", "noise", "unknown"),
                wrong=("1950",),
            ),
            ram("Who opened Cliff House?", ("Cliff House was opened by Ben Ode.", "correct", "Ben Ode")),
        ],
        "conflict_nq": [nq("What color is the hall?", "blue", "red"), nq("What color is the gate?", "white", "gray")],
    }


def test_statements_stand_alone_and_are_shortened() -> None:
    found = statements(sentences(PASSAGE))
    assert (0, "Harbor Hall was opened by Ada Brook in March 1931.") in found
    assert all(place != 2 for place, _ in found)  # "It" says nothing by itself
    long = "The hall (built of stone) was opened by Ada Brook in March 1931, which many people came from afar to see."
    assert statements([long]) == [(0, "The hall was opened by Ada Brook in March 1931.")]


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_statement_says_something_else_in_the_same_words(seed: int) -> None:
    text = "Harbor Hall was opened by Ada Brook in March 1931."
    found = changed(text, random.Random(seed), ["Ben Ode"])
    assert found is not None
    old, new = found
    assert old in text
    assert text.replace(old, new) != text


def test_there_may_be_nothing_to_change() -> None:
    assert changed("Gulls swim well.", random.Random(0), []) is None


def test_a_denial_denies_once() -> None:
    assert denied("The hall was opened in 1931.") == "The hall was not opened in 1931."
    assert denied("The hall has been closed since.") == "The hall has not been closed since."
    assert denied("The hall is not open.") is None
    assert denied("Gulls swim well.") is None


def test_a_rejected_view_is_in_what_rejects_it() -> None:
    said = {rejected("The hall holds 1,200 people.", random.Random(seed)) for seed in range(60)}
    assert len(said) >= 10
    assert all("hall holds 1,200 people" in one for one in said)


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("What is the capital of Norway?", "Oslo", "The capital of Norway is Oslo."),
        ("When was Harbor Hall opened?", "1931", "Harbor Hall was opened in 1931."),
        ("Who opened Harbor Hall?", "Ada Brook", "Ada Brook opened Harbor Hall."),
        ("Where is Harbor Hall?", "Norway", "Harbor Hall is in Norway."),
        ("Why do gulls swim?", "for food", None),
        (
            "Why do gulls swim?",
            "gulls are birds that live by the sea and eat fish",
            "Gulls are birds that live by the sea and eat fish.",
        ),
    ],
)
def test_a_question_and_its_answer_as_a_sentence(question: str, answer: str, sentence: str | None) -> None:
    assert declared(question, answer) == sentence


def test_an_asserted_answer_holds_the_answer_in_every_wording() -> None:
    said = {asserted("Who opened Harbor Hall?", "Ada Brook.", random.Random(seed)) for seed in range(40)}
    assert len(said) == 3
    assert all("Ada Brook" in one and "Harbor Hall" in one for one in said)


def test_labels_of_the_sets(part: dict[str, Any]) -> None:
    pairs = labelled(part, random.Random(0))
    of = {(pair.source, pair.text, pair.stance) for pair in pairs if "1931" in pair.claim}
    assert ("ramdocs", "It was opened in 1931.", SUPPORTS) in of
    assert ("ramdocs", "It was opened in 1950.", CONTRADICTS) in of
    assert ("ramdocs", "It is in the harbor.", IRRELEVANT) in of
    nq_pairs = {(pair.claim, pair.text, pair.stance) for pair in pairs if pair.source == "conflict_nq"}
    blue = "People say that the color of the hall is blue."
    assert {stance for claim, text, stance in nq_pairs if text == blue and "blue" in claim and "hall" in claim} == {
        SUPPORTS
    }
    assert {stance for claim, text, stance in nq_pairs if text == blue and "red" in claim} == {CONTRADICTS}
    assert [pair.stance for pair in pairs if pair.source == "factcheck_stance"] == [SUPPORTS, CONTRADICTS, IRRELEVANT]


def test_made_pairs_say_what_they_are_made_for(part: dict[str, Any]) -> None:
    pairs = [pair for seed in range(30) for pair in made(part, random.Random(seed))]
    for pair in pairs:
        bare = pair.claim.rstrip(".").lower()
        if pair.source == "made":
            assert pair.stance == SUPPORTS
            assert bare[8:] in pair.text.lower()
        if pair.source == "without":
            assert pair.stance == IRRELEVANT
            assert bare not in pair.text.lower()
    assert {pair.stance for pair in pairs} == {SUPPORTS, CONTRADICTS, IRRELEVANT}
    # A claim by itself must not tell: changed ones are supported by some texts and contradicted by others.
    changed_claims = {pair.claim for pair in pairs if pair.source == "changed"}
    assert {pair.stance for pair in pairs if pair.claim in changed_claims} >= {SUPPORTS, CONTRADICTS}


def test_the_same_seed_makes_the_same_pairs(part: dict[str, Any]) -> None:
    assert made(part, random.Random(3)) == made(part, random.Random(3))
    assert made(part, random.Random(3)) != made(part, random.Random(4))


def test_names_are_found_inside_sentences() -> None:
    assert names_in([PASSAGE]) == ["Hall", "Ada Brook", "March"]


def test_no_claim_question_or_evidence_is_in_two_parts(tmp_path: Path) -> None:
    # Claims share evidence in chains: 0 and 1, 1 and 2, and so on up to 9, then anew.
    facts = [
        fact(f"Claim {n - n % 10 + k}", f"Text {n}", "irrelevant")
        for n in range(300)
        for k in (n % 10, min(9, n % 10 + 1))
    ]
    sets = {
        "factcheck_stance": facts,
        "ramdocs": [ram(f"Question {n % 100}") for n in range(200)],
        "conflict_nq": [nq(f"Question {n}?", "a", "b") for n in range(100)],
    }
    for name, rows in sets.items():
        (tmp_path / FILES[name]).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = parts(tmp_path)
    for name, keys in (("factcheck_stance", ("claim", "evidence")), ("ramdocs", ("question",))):
        for key in keys:
            seen = [{row[key] for row in found[name][part]} for part in ("train", "held", "test")]
            assert all(seen)
            assert not (seen[0] & seen[1] or seen[0] & seen[2] or seen[1] & seen[2])
    assert {name: sum(map(len, found[name].values())) for name in sets} == {
        name: len(rows) for name, rows in sets.items()
    }
