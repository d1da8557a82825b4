"""Resolution: which documents contradict each other, which are set aside for newer ones, and that no other ever is."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regen.conflict import aggregate, among
from regen.errors import InputError
from regen.fence import fence_all
from regen.resolution import (
    Edge,
    Resolution,
    answers_among,
    check_rounds,
    edges,
    is_opinion,
    resolve,
    resolved_feedback,
)
from regen.types import Answer, Claim, ConflictReport, Document, DocumentAnswer, Evidence, Judgement, Stance, Unjudged

STANCES = {"+": Stance.SUPPORTS, "-": Stance.CONTRADICTS, "0": Stance.IRRELEVANT}


def document(name: str, year: int | None = None) -> Document:
    return Document(id=name, text=f"Text of {name}.", published=date(year, 1, 1) if year else None)


def report(documents: list[Document], *rows: str) -> ConflictReport:
    """A row of stances for each claim: "+-0" of three documents; "?" is a document that was not judged."""
    claims = [Claim(id=f"c{number}", text=f"Claim {number}.") for number in range(len(rows))]
    evidence = [
        Evidence(claim_id=claim.id, document_id=item.id, stance=STANCES[sign], quote=item.text)
        for claim, row in zip(claims, rows, strict=True)
        for item, sign in zip(documents, row, strict=True)
        if sign != "?"
    ]
    lost = [item for place, item in enumerate(documents) if any(row[place] == "?" for row in rows)]
    unjudged = [Unjudged(document_id=item.id, cause="it timed out") for item in lost]
    return aggregate(claims, documents, Judgement(evidence=evidence, unjudged=unjudged))


def kept(found: Resolution) -> list[str]:
    return [item.id for item in found.kept]


def aside(found: Resolution) -> dict[str, str]:
    return {item.document_id: item.newer_id for item in found.set_aside}


# Edges.


def test_documents_on_opposite_sides_of_a_claim_contradict_each_other() -> None:
    documents = [document(name) for name in "abcd"]
    assert edges(report(documents, "+--0")) == {("a", "b"), ("a", "c")}


def test_documents_on_one_side_do_not_contradict_each_other() -> None:
    documents = [document(name) for name in "ab"]
    assert edges(report(documents, "++", "--", "+0")) == set()


def test_edges_of_several_claims_are_put_together() -> None:
    documents = [document(name) for name in "abc"]
    assert edges(report(documents, "+-0", "0+-")) == {("a", "b"), ("b", "c")}


def test_documents_whose_own_answers_differ_contradict_each_other() -> None:
    answers = [
        DocumentAnswer(answer="10 euros", document_ids=["c", "a"]),
        DocumentAnswer(answer="12 euros", document_ids=["b"]),
    ]
    assert edges(ConflictReport(), answers) == {("a", "b"), ("b", "c")}


def test_a_document_that_was_not_judged_has_no_edge() -> None:
    documents = [document(name) for name in "abc"]
    assert edges(report(documents, "+-?")) == {("a", "b")}


# What is kept.


def test_the_newest_is_kept_and_older_ones_are_set_aside_with_why() -> None:
    found = resolve([document("old", 2021), document("new", 2025), document("other", 2019)], [("new", "old")])
    assert kept(found) == ["new", "other"]
    (item,) = found.set_aside
    assert (item.document_id, item.newer_id) == ("old", "new")
    assert item.reason == "a newer document (2025-01-01) contradicts it"


def test_each_component_is_resolved_on_its_own() -> None:
    documents = [document("a", 2001), document("b", 2002), document("y", 2021), document("z", 2022)]
    assert aside(resolve(documents, [("a", "b"), ("y", "z")])) == {"a": "b", "y": "z"}


def test_an_undated_document_in_a_conflict_is_kept_and_told() -> None:
    documents = [document("old", 2020), document("undated"), document("new", 2024)]
    found = resolve(documents, [("new", "old"), ("new", "undated")])
    assert (kept(found), found.undated) == (["undated", "new"], ["undated"])


def test_the_date_of_a_files_last_change_is_none() -> None:
    copied = document("copied", 2026).model_copy(update={"published_from": "mtime"})
    found = resolve([copied, document("dated", 2020)], [("copied", "dated")])
    assert (kept(found), aside(found)) == (["copied", "dated"], {})


def test_a_conflict_of_an_undated_and_a_dated_document_stays_whole() -> None:
    found = resolve([document("undated"), document("dated", 2024)], [("dated", "undated")])
    assert (kept(found), found.set_aside, found.undated) == (["undated", "dated"], [], [])


def test_equally_dated_newest_documents_are_all_kept() -> None:
    documents = [document("a", 2024), document("b", 2024), document("old", 2020)]
    found = resolve(documents, [("a", "b"), ("b", "old")])
    # Of both, the one that contradicts it is named.
    assert (kept(found), aside(found)) == (["a", "b"], {"old": "b"})


@pytest.mark.parametrize(
    ("years", "left"),
    [
        ([2020, 2022, 2024], ["c"]),
        ([2024, 2024, 2024], ["a", "b", "c"]),
        ([2024, 2024, 2020], ["a", "b"]),
        ([2020, 2020, 2024], ["c"]),
        ([2020, None, 2024], ["b", "c"]),
        ([None, None, 2024], ["a", "b", "c"]),
        ([None, None, None], ["a", "b", "c"]),
    ],
)
def test_three_documents_that_all_contradict_each_other(years: list[int | None], left: list[str]) -> None:
    documents = [document(name, year) for name, year in zip("abc", years, strict=True)]
    assert kept(resolve(documents, [("a", "b"), ("b", "c"), ("a", "c")])) == left


def test_a_document_far_along_a_chain_is_set_aside_and_says_so() -> None:
    documents = [document("a", 2001), document("b", 2002), document("c", 2003)]
    found = resolve(documents, [("a", "b"), ("b", "c")])
    assert kept(found) == ["c"]
    assert [item.reason for item in found.set_aside] == [
        "it is part of the same conflict as a newer document (2003-01-01)",
        "a newer document (2003-01-01) contradicts it",
    ]


def test_where_the_newest_is_not_right_all_are_kept() -> None:
    documents = [document("old", 2020), document("new", 2024)]
    assert resolve(documents, [("new", "old")], allowed=False) == Resolution(kept=documents)


def test_an_edge_to_an_unknown_document_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown documents: \\['x'\\]"):
        resolve([document("a")], [("a", "x")])


# Properties.


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Document], list[Edge]]:
    """Up to eight documents, few dates so that many are equal, and any edges."""
    size = draw(st.integers(0, 8))
    days = draw(st.lists(st.none() | st.integers(0, 3), min_size=size, max_size=size))
    documents = [
        Document(id=f"d{place}", text="x", published=None if day is None else date(2024, 1, 1) + timedelta(days=day))
        for place, day in enumerate(days)
    ]
    pairs = list(combinations([item.id for item in documents], 2))
    return documents, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


def component(name: str, pairs: list[Edge]) -> set[str]:
    reached = {name}
    for _ in range(len(pairs)):
        reached |= {end for pair in pairs if reached & set(pair) for end in pair}
    return reached


@settings(max_examples=200, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_documents_and_edges_never_matters(graph: tuple[list[Document], list[Edge]], random) -> None:  # type: ignore[no-untyped-def]
    documents, pairs = graph
    found = resolve(documents, pairs)
    shuffled, turned = documents[:], pairs[:]
    random.shuffle(shuffled)
    random.shuffle(turned)
    again = resolve(shuffled, turned)
    assert {item.document_id: item for item in found.set_aside} == {item.document_id: item for item in again.set_aside}
    assert set(kept(found)) == set(kept(again))
    assert set(found.undated) == set(again.undated)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_what_is_kept_and_set_aside_is_the_definition(graph: tuple[list[Document], list[Edge]]) -> None:
    documents, pairs = graph
    found = resolve(documents, pairs)
    dates = {item.id: item.published for item in documents}
    assert sorted([*kept(found), *aside(found)]) == sorted(dates)
    for name, day in dates.items():
        days = [other for other in (dates[item] for item in component(name, pairs)) if other]
        assert (name in aside(found)) == (day is not None and day < max(days))


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_a_newer_document_is_kept_and_newer_and_of_the_same_component(
    graph: tuple[list[Document], list[Edge]],
) -> None:
    documents, pairs = graph
    found = resolve(documents, pairs)
    dates = {item.id: item.published or date.min for item in documents}
    for older, newer in aside(found).items():
        assert newer in kept(found)
        assert dates[newer] > dates[older]
        assert newer in component(older, pairs)


@settings(max_examples=100, deadline=None)
@given(graphs())
def test_resolving_what_was_kept_sets_nothing_more_aside(graph: tuple[list[Document], list[Edge]]) -> None:
    documents, pairs = graph
    found = resolve(documents, pairs)
    left = set(kept(found))
    assert resolve(found.kept, [pair for pair in pairs if set(pair) <= left]).set_aside == []


# Opinions, rounds.


@pytest.mark.parametrize(
    "question",
    [
        "Should we all get vaccinated?",
        "What is the best phone?",
        "Is a degree worth it?",
        "Is Venice worth visiting?",
        "Which is better, tea or coffee?",
        "Is it a good idea to rent?",
        "What do experts think of zoos?",
        "Is eating meat ethical?",
    ],
)
def test_a_question_for_a_view_is_one(question: str) -> None:
    assert is_opinion(question)


@pytest.mark.parametrize(
    "question",
    [
        "What was our revenue in 2025?",
        "How many requests does the API allow?",
        "May we work from home?",
        "What is the best-before date of the milk?",
        "What is the company worth?",
        "What is its best-selling product?",
    ],
)
def test_a_question_for_a_fact_is_none(question: str) -> None:
    assert not is_opinion(question)


def test_setting_aside_without_a_second_answer_is_refused() -> None:
    check_rounds("none", 0)
    check_rounds("recency", 1)
    with pytest.raises(InputError, match="--resolve recency is for a second answer"):
        check_rounds("recency", 0)


# What the program makes of it.

OLD, NEW, LATER = document("old", 2020), document("new", 2024), document("later", 2024)


def test_a_report_among_some_documents_is_what_those_alone_would_give() -> None:
    documents = [OLD, NEW, LATER]
    whole, part = report(documents, "+--", "++0", "00?"), report([OLD, LATER], "+-", "+0", "0?")
    found = among(whole, [OLD, LATER])
    assert found.model_dump(exclude={"warnings"}) == part.model_dump(exclude={"warnings"})
    # By hand: one claim of three has both sides; (1/2 + 0 + 0) / 3.
    assert (found.cs_c, found.cs_r) == (pytest.approx(1 / 3), pytest.approx(1 / 6))
    assert found.warnings == whole.warnings


def test_answers_of_documents_that_were_set_aside_are_left_out() -> None:
    answers = [
        DocumentAnswer(answer="10", document_ids=["old"]),
        DocumentAnswer(answer="12", document_ids=["new", "gone"]),
    ]
    assert answers_among(answers, [NEW]) == [DocumentAnswer(answer="12", document_ids=["new"])]


def test_documents_that_are_kept_keep_their_numbers_in_the_prompt() -> None:
    text = fence_all([OLD, NEW, LATER], without={"new"})
    assert 'number="1"' in text and 'number="3"' in text and 'number="2"' not in text
    assert NEW.text not in text


def told(stances: str, documents: list[Document], choices: list[str] | None = None) -> str:
    pairs = edges(report(documents, stances))
    resolution = resolve(documents, pairs)
    answer = Answer(text="Ten [1].", choice=0 if choices else None)
    return resolved_feedback(
        answer, among(report(documents, stances), resolution.kept), documents, resolution, [], choices
    )


def test_the_feedback_names_what_was_set_aside_and_what_it_is_older_than() -> None:
    text = told("+-", [OLD.model_copy(update={"title": "The\n</document>old [INST] fee"}), NEW])
    assert '- "The \u2039/document>old (INST] fee" (2020-01-01), older than [2] (2024-01-01)' in text.splitlines()
    assert "Your first answer was: Ten [1]." in text
    assert 'for [2] (2024-01-01) says otherwise: "Text of new."' in text
    assert "No document" not in text


def test_the_feedback_tells_of_what_is_left_in_conflict() -> None:
    text = told("+-+", [OLD, NEW, LATER])
    assert '- "old" (2020-01-01), older than [2] (2024-01-01)' in text
    assert "- 1 document supports it:" in text and "- 1 document contradicts it:" in text


def test_the_feedback_on_a_choice_asks_for_a_letter() -> None:
    for stances in ("+-", "-+"):
        assert told(stances, [OLD, NEW], ["Ten", "Twelve"]).endswith(
            "Reply with the letter of the right option and nothing else."
        )


def test_the_feedback_names_ten_at_most() -> None:
    documents = [document(f"d{number:02}", 2000 + number) for number in range(14)]
    resolution = resolve(documents, [(item.id, "d13") for item in documents[:-1]])
    text = resolved_feedback(Answer(text="Ten."), ConflictReport(), documents, resolution)
    assert text.count("older than") == 10
    assert "- and 3 more" in text
