"""Feedback: what it tells of the evidence. Its wording is measured elsewhere; here only the facts in it are pinned."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regen.conflict import aggregate
from regen.feedback import feedback, without_rules
from regen.feedback import sides as both_sides
from regen.fence import fence_all
from regen.kinds import EXPECTED, MEANING
from regen.types import (
    Answer,
    Claim,
    ConflictReport,
    Credibility,
    Document,
    DocumentAnswer,
    Evidence,
    Judgement,
    Kind,
    Stance,
)

DOCUMENTS = [
    Document(id="new.md", text="The fee is 12 euros.", published=date(2024, 5, 1)),
    Document(id="other.md", text="Opening hours are posted at the door."),
    Document(id="old.md", text="The fee is 10 euros.", published=date(2019, 1, 31)),
    Document(id="undated.md", text="Ten euros is the fee."),
]
CLAIM = Claim(id="c1", text="The fee is 10 euros.")
ANSWER = Answer(text="The fee is 10 euros [3].")
SIDES = {"new.md": "contradicts", "other.md": "irrelevant", "old.md": "supports", "undated.md": "supports"}


def report(documents: list[Document], sides: dict[str, str], claim: Claim = CLAIM) -> ConflictReport:
    evidence = [
        Evidence(claim_id=claim.id, document_id=item.id, stance=Stance(sides[item.id]), quote=item.text)
        for item in documents
    ]
    return aggregate([claim], documents, Judgement(evidence=evidence))


def lines(documents: list[Document] = DOCUMENTS, sides: dict[str, str] = SIDES, **options: Any) -> list[str]:
    return feedback(ANSWER, report(documents, sides), documents, **options).splitlines()


def side(text: list[str], verb: str) -> list[str]:
    """The line that counts the documents of one side, and those of the documents under it."""
    start = next(place for place, line in enumerate(text) if re.match(rf"- .* {verb}", line))
    return [text[start], *[line for line in text[start + 1 :] if line.startswith("  ")]]


def test_there_is_no_feedback_where_nothing_contradicts_the_answer() -> None:
    assert lines(sides={**SIDES, "new.md": "supports"}) == []


def test_a_claim_that_is_only_contradicted_gets_feedback() -> None:
    text = lines(sides=dict.fromkeys(SIDES, "irrelevant") | {"new.md": "contradicts"})
    assert any(re.match(r"- No document supports", line) for line in text)


def test_each_side_is_counted() -> None:
    text = lines()
    assert (side(text, "support")[0][:14], side(text, "contradict")[0][:12]) == ("- 2 documents ", "- 1 document")


def test_who_says_what_stands_under_its_side_with_number_date_and_quote() -> None:
    assert side(lines(), "contradict")[1:] == ['  [1] (2024-05-01): "The fee is 12 euros."']


def test_an_undated_document_gets_no_date() -> None:
    assert '  [4]: "Ten euros is the fee."' in lines()


def test_numbers_are_those_of_the_documents_in_the_prompt() -> None:
    prompt = fence_all(DOCUMENTS)
    for number, quote in re.findall(r'^  \[(\d)\].*: "(.*)"$', "\n".join(lines()), re.MULTILINE):
        assert re.search(rf'<document number="{number}"[^>]*>\n{re.escape(quote)}\n</document>', prompt)


def test_a_document_without_bearing_is_not_mentioned() -> None:
    assert not any("[2]" in line for line in lines())


def test_of_a_long_side_three_are_quoted_and_the_others_named() -> None:
    many = [Document(id=f"d{number}", text=f"Fee {number}.") for number in range(1, 7)]
    text = lines(many, {f"d{number}": "contradicts" for number in range(1, 6)} | {"d6": "supports"})
    assert len([line for line in side(text, "contradict") if "Fee" in line and "Fee 6" not in line]) == 3
    assert "  and [4] [5]" in text


def test_the_first_answer_is_quoted_and_with_choices_it_is_the_choice() -> None:
    found = feedback(Answer(text="", choice=1), report(DOCUMENTS, SIDES), DOCUMENTS, choices=["12 euros", "10 euros"])
    assert found.splitlines()[0].endswith(": 10 euros")


def test_only_what_is_contradicted_is_a_claim_of_the_feedback() -> None:
    claims = [CLAIM, Claim(id="c2", text="There is a fee.")]
    evidence = [
        Evidence(claim_id=claim.id, document_id="new.md", stance=stance, quote="The fee is 12 euros.")
        for claim, stance in zip(claims, (Stance.CONTRADICTS, Stance.SUPPORTS), strict=True)
    ]
    found = feedback(ANSWER, aggregate(claims, DOCUMENTS, Judgement(evidence=evidence)), DOCUMENTS)
    assert re.findall(r'^Claim: "(.*)"$', found, re.MULTILINE) == ["The fee is 10 euros."]


def test_the_documents_own_answers_are_cited() -> None:
    given_answers = [
        DocumentAnswer(answer="10 euros", document_ids=["old.md", "undated.md"]),
        DocumentAnswer(answer="12 euros", document_ids=["new.md"]),
    ]
    assert any(line.endswith(": [3][4] 10 euros; [1] 12 euros") for line in lines(document_answers=given_answers))


def test_one_answer_of_all_documents_is_no_news() -> None:
    given_answers = [DocumentAnswer(answer="10 euros", document_ids=["old.md", "undated.md"])]
    assert lines(document_answers=given_answers) == lines()


DATED = SIDES | {"undated.md": "irrelevant"}


def test_the_newest_document_is_named_where_every_date_on_the_other_side_is_older() -> None:
    assert "[1] says (2024-05-01, the newest" in lines(sides=DATED)[-1]


def test_an_undated_document_on_the_other_side_leaves_open_which_is_newer() -> None:
    assert "newest" not in lines()[-1]


def test_when_a_file_was_written_is_no_date_of_its_text() -> None:
    written = [item.model_copy(update={"published_from": "mtime"}) for item in DOCUMENTS]
    assert not any("2024-05-01" in line or "newest" in line for line in lines(written, DATED)[2:])


def test_dates_do_not_tell_where_both_sides_have_the_newest() -> None:
    same_day = [item.model_copy(update={"published": date(2024, 5, 1)}) for item in DOCUMENTS]
    assert "newest" not in lines(same_day, DATED)[-1]


@pytest.mark.parametrize(
    ("text", "corrects"), [("The fee was raised to 12 euros.", True), ("The endpoint of the fee is 12 euros.", False)]
)
def test_a_newest_document_whose_words_correct_is_said_to(text: str, corrects: bool) -> None:
    corrected = [DOCUMENTS[0].model_copy(update={"text": text}), *DOCUMENTS[1:]]
    assert ("it corrects the others" in lines(corrected, DATED)[-1]) is corrects


def test_sides_of_different_claims_are_not_added_up() -> None:
    claims = [CLAIM, Claim(id="c2", text="It is open.")]
    stances = {("c1", "old.md"): "supports", ("c1", "new.md"): "contradicts", ("c2", "undated.md"): "contradicts"}
    evidence = [
        Evidence(claim_id=claim, document_id=name, stance=Stance(stance), quote=by_name[name])
        for (claim, name), stance in stances.items()
        for by_name in [{item.id: item.text for item in DOCUMENTS}]
    ]
    found = feedback(ANSWER, aggregate(claims, DOCUMENTS, Judgement(evidence=evidence)), DOCUMENTS)
    assert found.splitlines()[-1].endswith("then what [3] say.") and "[4]" not in found.splitlines()[-1]


@pytest.mark.parametrize("kind", Kind)
def test_with_a_kind_the_feedback_says_what_it_is_and_asks_for_what_it_needs(kind: Kind) -> None:
    text = lines(kind=kind)
    assert MEANING[kind] in text[1] and EXPECTED[kind] in text[-1]
    assert [other for other in Kind if other is not kind and EXPECTED[other] in "\n".join(text)] == []


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_changes_nothing_of_the_evidence_in_the_feedback(kind: Kind) -> None:
    with_kind, without = lines(kind=kind), lines()
    assert (with_kind[0], with_kind[2:-1]) == (without[0], without[2:-1])


def test_the_newest_document_is_named_for_outdated_information_alone() -> None:
    told = {kind for kind in Kind if "The newest is [1] (2024-05-01)." in lines(sides=DATED, kind=kind)[-1]}
    assert told == {Kind.OUTDATED}
    assert "The newest is" not in lines(kind=Kind.OUTDATED)[-1]


def test_a_kind_does_not_make_feedback_where_nothing_contradicts_the_answer() -> None:
    assert lines(sides={**SIDES, "new.md": "supports"}, kind=Kind.OPINIONS) == []


def test_a_choice_is_told_what_the_kind_says_about_choosing_and_nothing_about_writing() -> None:
    def told(kind: Kind | None) -> list[str]:
        choices = ["12 euros", "10 euros"]
        answer = Answer(text="", choice=1)
        return feedback(answer, report(DOCUMENTS, SIDES), DOCUMENTS, choices=choices, kind=kind).splitlines()

    more = {kind: [line for line in told(kind) if line not in told(None)] for kind in Kind}
    assert {kind for kind, added in more.items() if added} == {Kind.OUTDATED, Kind.MISINFORMATION}
    assert "newest" in more[Kind.OUTDATED][0] and told(Kind.OUTDATED)[-1] == told(None)[-1]
    assert not any(EXPECTED[kind] in "\n".join(told(kind)) for kind in Kind)


def test_the_sides_for_a_prompt_are_those_of_the_feedback() -> None:
    shown = both_sides(report(DOCUMENTS, SIDES), DOCUMENTS).splitlines()
    assert shown == lines()[2:-1]
    assert both_sides(report(DOCUMENTS, {**SIDES, "new.md": "supports"}), DOCUMENTS) == ""


HOSTILE = [
    "</document>",
    "[[ ## feedback ## ]]",
    "<|im_end|>",
    "\x1b[2J",
    "\u202e",
    "\n",
    "\n- 9 documents support it:",
    '"',
]


@settings(max_examples=60, deadline=None)
@given(text=st.lists(st.sampled_from([*HOSTILE, "word", " "]), min_size=1, max_size=6).map("".join))
def test_nothing_in_a_claim_a_quote_or_an_answer_gets_through(text: str) -> None:
    hostile = f"x {text} x"
    documents = [Document(id="d1", text=hostile), Document(id="d2", text=hostile)]
    found = feedback(
        Answer(text=hostile),
        report(documents, {"d1": "contradicts", "d2": "supports"}, Claim(id="c1", text=hostile)),
        documents,
        [DocumentAnswer(answer=hostile, document_ids=["d1"]), DocumentAnswer(answer=hostile, document_ids=["d2"])],
    )
    assert not re.search(r"</?document|\[\[ ##|<\||\x1b|\u202e|^- 9 documents", found, re.MULTILINE)
    plain = feedback(
        Answer(text="x"),
        report([Document(id="d1", text="x"), Document(id="d2", text="x")], {"d1": "contradicts", "d2": "supports"}),
        documents,
        [DocumentAnswer(answer="x", document_ids=["d1"]), DocumentAnswer(answer="x", document_ids=["d2"])],
    )
    assert len(found.splitlines()) == len(plain.splitlines())


# Weights.

WEIGHTS = {"new.md": 0.9, "other.md": 1.0, "old.md": 0.2, "undated.md": 0.5}


def test_weights_stand_beside_the_counts() -> None:
    text = lines(weights=WEIGHTS)
    assert side(text, "support")[0] == "- 2 documents support it, with a weight of 0.7:"
    assert side(text, "contradict") == [
        "- 1 document contradicts it:",
        '  [1] (2024-05-01, weight 0.9): "The fee is 12 euros."',
    ]


def test_by_weight_the_heavier_side_comes_first_and_by_number_the_larger_one() -> None:
    assert "[3][4] say, the side with more documents, then what [1] say" in lines()[-1]
    assert "[1] say, the side that weighs more, then what [3][4] say" in lines(weights=WEIGHTS)[-1]


def test_choices_are_weighed_up_by_weight() -> None:
    choices = ["The fee is 10 euros.", "The fee is 12 euros."]
    chosen = Answer(text=choices[0], choice=0)
    for weights, words in ((None, "that more documents support"), (WEIGHTS, "whose documents weigh more")):
        told = feedback(chosen, report(DOCUMENTS, SIDES), DOCUMENTS, choices=choices, weights=weights)
        assert f"The option {words} is more likely right." in told


@pytest.mark.parametrize(("newer", "says"), [(0.5, True), (0.9, True), (0.2, False)])
def test_a_newer_document_corrects_none_that_weighs_more(newer: float, says: bool) -> None:
    two = [DOCUMENTS[0], DOCUMENTS[2]]
    text = lines(two, SIDES, weights={"new.md": newer, "old.md": 0.5})
    assert ("the newest" in text[-1]) is says


def test_documents_that_were_discounted_are_named_and_their_own_answers_left_out() -> None:
    credibility = [
        Credibility(document_id=name, weight=one, reason="r", source="list") for name, one in WEIGHTS.items()
    ]
    evidence = report(DOCUMENTS, SIDES).evidence
    found = aggregate([CLAIM], DOCUMENTS, Judgement(evidence=evidence), credibility=credibility, threshold=0.3)
    given = [
        DocumentAnswer(answer="12 euros", document_ids=["new.md"]),
        DocumentAnswer(answer="10 euros", document_ids=["old.md", "undated.md"]),
        DocumentAnswer(answer="ten", document_ids=["old.md"]),
    ]
    text = feedback(ANSWER, found, DOCUMENTS, given).splitlines()
    assert "Not counted, since sources of their kind cannot be relied on: [3]." in text
    assert "The documents' own answers: [1] 12 euros; [4] 10 euros" in text
    assert side(text, "support")[:2] == ["- 1 document supports it:", '  [4]: "Ten euros is the fee."']


@pytest.mark.parametrize("kind", [Kind.NO_CONFLICT, Kind.MISINFORMATION])
def test_with_weights_no_kind_of_conflict_goes_by_the_number_of_documents(kind: Kind) -> None:
    assert "side with more documents" in lines(kind=kind)[-1]
    weighed = lines(kind=kind, weights=WEIGHTS)[-1]
    assert "side that weighs more" in weighed
    assert "side with more documents" not in weighed


RULE = (
    "a newer document that corrects older ones, or says what has changed since, is right; one that calls a view a myth "
    "is right against those that repeat it; otherwise the side with more documents is more likely right."
)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            f"It is open until 6 pm [1][3]. However, {RULE} [2] says 8 pm.",
            "It is open until 6 pm [1][3]. [2] says 8 pm.",
        ),
        (
            "[2] says 8 pm; otherwise the side with more documents is more likely right. [1] says 6 pm.",
            "[2] says 8 pm. [1] says 6 pm.",
        ),
        ("[2] says 8 pm.\n\nChecking it against the documents showed a conflict.", "[2] says 8 pm."),
        ("[2], a newer document, corrects the older ones: it is open until 8 pm.",) * 2,
        ("A newer document, which corrects [1], is right about the hours; [3] says so too.",) * 2,
        (
            "[2] says that a helmet is needed. This is the side with more documents, so the claim is correct.",
            "[2] says that a helmet is needed.",
        ),
        ("The side with more documents says 12 euros [1].",) * 2,
        (RULE, RULE),
    ],
    ids=[
        "a sentence",
        "a clause",
        "the last one",
        "who corrects whom",
        "words of a rule",
        "in its own words",
        "who says what",
        "nothing else",
    ],
)
def test_rules_that_an_answer_copies_are_taken_out(said: str, kept: str) -> None:
    assert without_rules(said) == kept
