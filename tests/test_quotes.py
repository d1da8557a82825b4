"""Quotes: what counts as copied from a document, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regen.fence import printable
from regen.quotes import FUZZY_FROM, find_quote, sentences

TEXT = "The museum opened in 1969.  It's said that \u201cnobody\u201d came \u2014 at first.\n\nToday it has two floors."

# Among them characters that grow when they are folded, such as \u00df and \ufb03, and some that cannot be seen.
hostile = st.text(
    st.sampled_from(
        "aB1 \n\t\u00a0.-'\"\u201c\u2019\u2014\u00df\u0130\ufb03\u0149\u2026\u00a8\u0301"
        "\u200b\u00ad\u4e2d\U0001f44d\x07"
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("opened in 1969", "opened in 1969"),
        ("THE MUSEUM OPENED", "The museum opened"),
        ("1969. It's", "1969.  It's"),
        ("said that\n'nobody'", None),
        ('said that "nobody" came - at first', "said that \u201cnobody\u201d came \u2014 at first"),
        ("It\u2019s said", "It's said"),
        ("came \u2013 at first. Today", "came \u2014 at first.\n\nToday"),
        ("\ufb01rst", "first"),
        ('"opened in 1969"', "opened in 1969"),
        ("\u201copened in 1969\u201d", "opened in 1969"),
        ("'opened in 1969'", "opened in 1969"),
        ("opened in 1970", None),
        ("three floors", None),
    ],
)
def test_case_space_and_the_shapes_of_marks_do_not_count(quote: str, found: str | None) -> None:
    assert find_quote(quote, TEXT) == found


@pytest.mark.parametrize("quote", ["", "   ", '""', "...", "\u2026", ".", "-", " \u2014 ", "\u201c\u201d"])
def test_a_quote_without_a_letter_or_a_digit_is_no_quote(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


@pytest.mark.parametrize("quote", ["... opened in 1969", "opened in 1969...", "\u2026opened in 1969 \u2026.."])
def test_cuts_at_the_ends_are_taken_off(quote: str) -> None:
    assert find_quote(quote, TEXT) == "opened in 1969"


def test_a_quote_with_a_cut_inside_is_found_by_its_longest_part() -> None:
    assert find_quote("opened in 1969 ... two floors", TEXT) == "opened in 1969"


def test_every_part_between_cuts_must_be_found() -> None:
    assert find_quote("opened in 1969 ... three floors", TEXT) is None


# 24 different letters: one other letter leaves a ratio of 2 * 23 / 48 = 95.8, two leave 91.7; 92 are needed.
ALPHABET = "abcdefghijklmnopqrstuvwx"


def test_a_long_quote_may_differ_a_little() -> None:
    assert len(ALPHABET) == FUZZY_FROM
    assert find_quote("abcdef" + "0" + ALPHABET[7:], f"9 {ALPHABET} 8") == ALPHABET


def test_a_long_quote_may_not_differ_more() -> None:
    assert find_quote("abcdef" + "0" + ALPHABET[7:16] + "0" + ALPHABET[17:], f"9 {ALPHABET} 8") is None


def test_a_short_quote_may_not_differ_at_all() -> None:
    assert find_quote("abcdef" + "0" + ALPHABET[7:-1], f"9 {ALPHABET} 8") is None


def test_what_is_returned_for_a_quote_that_differs_is_what_the_document_says() -> None:
    text = "Officials said that the bridge is not safe for lorries over ten tonnes."
    quote = "the bridge is not safe for lorrys over ten tonnes"
    assert find_quote(quote, text) == "the bridge is not safe for lorries over ten tonnes"


def test_a_quote_longer_than_its_document_is_not_found() -> None:
    assert find_quote(ALPHABET * 2, ALPHABET) is None


@settings(max_examples=100, deadline=None)
@given(text=hostile, data=st.data())
def test_any_slice_of_a_text_with_a_letter_in_it_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    if any(map(str.isalnum, quote)):
        assert find_quote(quote, text) is not None


@settings(max_examples=100, deadline=None)
@given(text=hostile, data=st.data())
def test_any_slice_of_what_a_prompt_shows_of_a_text_is_found(text: str, data: st.DataObject) -> None:
    shown = printable(text)
    start = data.draw(st.integers(0, len(shown)))
    quote = shown[start : data.draw(st.integers(start, len(shown)))]
    if any(map(str.isalnum, quote)):
        assert find_quote(quote, text) is not None


@settings(max_examples=100, deadline=None)
@given(quote=hostile, text=hostile)
def test_what_is_returned_is_a_part_of_the_text(quote: str, text: str) -> None:
    found = find_quote(quote, text)
    assert found is None or (found and found in text)


def test_a_character_that_grows_when_folded_does_not_shift_the_quote() -> None:
    assert find_quote("opened in 1969", "\u0130\ufb03\u00df\u0149 opened in 1969.") == "opened in 1969"


def test_a_quote_without_the_documents_soft_hyphens_is_found() -> None:
    assert find_quote("a contradiction", "It is a contra\u00addiction.") == "a contra\u00addiction"


def test_a_closing_mark_that_stands_alone_ends_a_sentence() -> None:
    assert sentences('He says "All may go. "\nThen "Who?" he asks.') == ['He says "All may go.', 'Then "Who?" he asks.']


def test_sentences_are_told_apart_by_their_ends_lines_and_list_marks() -> None:
    text = "One is 1.5 m. Two (really?) \u2026 Is it?\n\nA heading\n- an item\n- another\n1. a third"
    assert sentences(text) == [
        "One is 1.5 m.",
        "Two (really?) \u2026 Is it?",
        "A heading",
        "- an item",
        "- another",
        "1. a third",
    ]


@settings(max_examples=60, deadline=None)
@given(text=hostile)
def test_every_sentence_stands_in_the_text(text: str) -> None:
    assert all(sentence and sentence in text for sentence in sentences(text))


def test_every_sentence_with_a_word_in_it_can_be_quoted() -> None:
    assert all(find_quote(sentence, TEXT) == sentence for sentence in sentences(TEXT))
