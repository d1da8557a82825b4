"""Citations: which documents an answer cites, and what happens to those that are not there."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regen.citations import attribution, check_citations, name_sources, without_citations
from regen.types import Document

DOCUMENTS = [Document(id=name, text="Text.") for name in ("a.md", "b.md", "c.md")]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("It opened in 1969 [2].", ["b.md"]),
        ("It opened [2] and closed [1].", ["b.md", "a.md"]),
        ("It opened [2][1], and again [2].", ["b.md", "a.md"]),
        ("It opened.", []),
        ("See [2024] and [note] and x[i].", []),
    ],
)
def test_cited_documents_come_in_order_of_first_mention(text: str, cited: list[str]) -> None:
    assert check_citations(text, DOCUMENTS) == (text, cited, [])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("This is stated in [2] and [9].", "This is stated in [2]."),
        ("This is stated in [9] and [2].", "This is stated in [2]."),
        ("This is stated in [1], [2], and [9].", "This is stated in [1] and [2]."),
        ("[2], [9] and [3] agree.", "[2] and [3] agree."),
        ("This is stated in [8] and [9].", "This is stated."),
        ("It opened [2], and so did others [9].", "It opened [2], and so did others."),
        ("It opened ([9]) in May [[8]].", "It opened in May."),
        ("According to [9], it opened.", "it opened."),
        ("Call f() and g[] [9].", "Call f() and g[]."),
        ("[9] It opened [[8]2].", "It opened [2]."),
    ],
)
def test_nothing_is_left_of_a_citation_that_was_taken_out(text: str, left: str) -> None:
    assert check_citations(text, DOCUMENTS)[0] == left


@pytest.mark.parametrize("written", ["[1, 3]", "[1,3]", "[1; 3]", "[ 1 , 3 ]"])
def test_a_list_of_numbers_becomes_one_citation_each(written: str) -> None:
    assert check_citations(f"It opened {written}.", DOCUMENTS) == ("It opened [1][3].", ["a.md", "c.md"], [])


@pytest.mark.parametrize("written", ["[1-3]", "[1\u20133]"])
def test_a_range_of_numbers_becomes_one_citation_each(written: str) -> None:
    text, cited, _ = check_citations(f"It opened {written}.", DOCUMENTS)
    assert (text, cited) == ("It opened [1][2][3].", ["a.md", "b.md", "c.md"])


@pytest.mark.parametrize("number", [0, 4, 999])
def test_a_citation_of_no_document_is_removed(number: int) -> None:
    text, cited, _ = check_citations(f"It opened [{number}].", DOCUMENTS)
    assert (text, cited) == ("It opened.", [])


def test_a_citation_that_was_removed_is_told_once() -> None:
    _, _, warnings = check_citations("It opened [4], and closed [4].", DOCUMENTS)
    assert warnings == ["The answer cites [4], and there is no such document: the citation was removed."]


def test_the_citations_beside_a_removed_one_stay() -> None:
    text, cited, warnings = check_citations("It opened [1, 4, 2].", DOCUMENTS)
    assert (text, cited, len(warnings)) == ("It opened [1][2].", ["a.md", "b.md"], 1)


def test_a_range_that_ends_past_the_last_document_keeps_the_documents_in_it() -> None:
    text, cited, warnings = check_citations("It opened [2-900].", DOCUMENTS)
    assert (text, cited, len(warnings)) == ("It opened [2][3].", ["b.md", "c.md"], 1)


@settings(max_examples=100, deadline=None)
@example(parts=["[", "[0]", "7", "]"])
@example(parts=["[3]", "[", "[0]", "1", "]"])
@given(parts=st.lists(st.sampled_from(["[1]", "[2, 9]", "[0]", "[1-5]", "[3-1]", " ", "word", "[", "]", "7"])))
def test_every_citation_that_is_left_points_to_a_document_that_is_listed(parts: list[str]) -> None:
    text, cited, _ = check_citations("".join(parts), DOCUMENTS)
    assert list(dict.fromkeys(re.findall(r"\[(\d+)\]", text))) == [
        str([document.id for document in DOCUMENTS].index(name) + 1) for name in cited
    ]


def test_a_text_without_its_citations_keeps_everything_else() -> None:
    assert without_citations("It opened [2] in [2024], and closed [1, 3].") == "It opened in [2024], and closed."


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[1] says 12 euros.", "document 1 says 12 euros."),
        ("[2] (2019-01-31) and [3] state 10 euros [2].", "documents 2 and 3 state 10 euros [2]."),
        (
            "[2] (2019-01-31) and [3] contradict this by stating that it is 10 euros.",
            "documents 2 and 3 contradict this by stating that it is 10 euros.",
        ),
        ("The fee is 12 euros [1].", "The fee is 12 euros [1]."),
        ("The fee is 12 euros [1] contradicting itself.", "The fee is 12 euros [1] contradicting itself."),
        ("[1] (unlike [3]) says 12 euros.", "document 1 says 12 euros."),
        ("It is 12 euros. [1]\n[3] says 10 euros.", "It is 12 euros. [1]\ndocument 3 says 10 euros."),
        ("It is closed [1] and [2] says it is open.", "It is closed [1] and document 2 says it is open."),
        ("But [1] and [2] say it is open.", "But documents 1 and 2 say it is open."),
        ("[1], [2], and [3] say 12 euros.", "documents 1 and 2 and 3 say 12 euros."),
        ("[1, 2] and [4-6] say 12 euros.", "documents 1 and 2 and 4 and 5 and 6 say 12 euros."),
    ],
)
def test_citations_that_are_the_subject_are_named(text: str, named: str) -> None:
    assert name_sources(text) == named


DISAGREEING = "contradicts contradicted disputes disputed denies denied supports supported".split()


@pytest.mark.parametrize(
    ("text", "numbers", "said"),
    [
        ("document 1 says 12 euros.", {1}, "12 euros."),
        ("Documents 2 and 3 both state that it is 10 euros.", {2, 3}, "it is 10 euros."),
        ("documents 2 and 3 contradict this by stating that it is 10 euros.", {2, 3}, "it is 10 euros."),
        *((f"document 1 {verb} this by saying it is 10 euros.", {1}, "it is 10 euros.") for verb in DISAGREEING),
        ("However, document 2 contradicts this, stating that it is 10 euros.", {2}, "it is 10 euros."),
        (f"document {'1' * 5000} says that it is 10 euros.", set(), f"document {'1' * 5000} says that it is 10 euros."),
        ("document 1 mentions that it is 10 euros.", {1}, "it is 10 euros."),
        ("document 1 indicated it is 10 euros.", {1}, "it is 10 euros."),
        ("documents 2 and 3 contradict this.", set(), "documents 2 and 3 contradict this."),
        ("The fee is 12 euros.", set(), "The fee is 12 euros."),
    ],
)
def test_what_a_text_says_that_documents_say_is_told_from_who_says_it(text: str, numbers: set[int], said: str) -> None:
    assert attribution(text) == (numbers, said)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(f"[{number}]" for number in range(60)) + " x",
        "5" + " " * 200_000 + ".",
        "[1]" * 20_000 + " x",
        "[1] (a) and " * 10_000,
        ("[1]" + " " * 50) * 2_000 + "x",
    ],
    ids=["numbers", "spaces", "citations", "brackets", "gaps"],
)
def test_no_text_makes_the_search_for_citations_run_away(text: str) -> None:
    """With a pattern that can split its text in many ways, either would run for hours."""
    assert without_citations(name_sources(text)).split()
