"""How a text is cut into passages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.passages import MAX_WORDS, MIN_WORDS, OVERLAP_WORDS, first_heading, passages


def sentence(name: str, words: int = 10) -> str:
    return f"Sentence {name} " + "word " * (words - 3) + "end."


def prose(count: int) -> str:
    return " ".join(sentence(f"n{n}") for n in range(count))


def test_a_short_text_is_one_passage():
    assert passages("# Remote work\n\nThree days a week.\n") == ["# Remote work\n\nThree days a week."]


@pytest.mark.parametrize("blank", ["", " \n\t\n "])
def test_a_blank_text_has_no_passage(blank):
    assert passages(blank) == []


def test_every_passage_but_the_last_has_200_to_300_words():
    sizes = [len(passage.split()) for passage in passages(prose(200))]
    assert all(MIN_WORDS <= size <= MAX_WORDS for size in sizes[:-1])


def test_a_passage_begins_and_ends_with_a_whole_sentence():
    assert all(p.startswith("Sentence") and p.endswith("end.") for p in passages(prose(200)))


def test_neighbouring_passages_share_whole_sentences_of_at_most_40_words():
    first, second = passages(prose(50))[:2]
    shared = [s for s in second.split("end.") if s.strip() and s.strip() in first]
    assert 0 < sum(len(s.split()) + 1 for s in shared) <= OVERLAP_WORDS


def test_every_sentence_is_in_a_passage():
    found = "\n".join(passages(prose(123)))
    assert all(sentence(f"n{n}") in found for n in range(123))


def test_a_passage_ends_at_a_paragraph_rather_than_fill_up():
    paragraphs = [" ".join(sentence(f"p{p}s{n}") for n in range(11)) for p in range(6)]
    assert passages("\n\n".join(paragraphs))[0] == "\n\n".join(paragraphs[:2])


def test_a_new_section_starts_a_new_passage():
    text = f"# One\n\n{prose(24)}\n\n# Two\n\n{prose(24)}"
    assert [p.splitlines()[0] for p in passages(text)] == ["# One", "# Two"]


def test_a_section_that_goes_on_repeats_its_heading():
    text = f"# One\n\n{prose(60)}"
    assert all(p.startswith("# One\n\nSentence") for p in passages(text))


def test_a_heading_is_never_left_at_the_end_of_a_passage():
    text = f"{prose(25)}\n\n## Two\n\n{sentence('long', 120)}\n\n{prose(40)}"
    assert not any(p.endswith("## Two") for p in passages(text))


def test_a_comment_in_a_code_block_is_no_heading():
    text = f"# One\n\n```\n# comment\nx = 1\n```\n\n{prose(60)}"
    assert all(p.startswith("# One") for p in passages(text))


@pytest.mark.parametrize(
    "text", ["x" * 50_000, "字" * 20_000, "row;" * 9_000, "fifteen-letters " * 900, "a b " * 5_000]
)
def test_text_without_sentences_is_cut_to_size(text):
    assert max(len(p) for p in passages(text)) <= MAX_WORDS * 8


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["\n# H", "## T\n", "word. ", "a " * 80, "\n\n", "- item\n", "```\n", "字。", "x" * 900]))
)
def test_no_part_of_a_text_is_lost(parts):
    found = "\n".join(passages("".join(f"{part} <{n}> " for n, part in enumerate(parts))))
    assert all(f"<{n}>" in found for n in range(len(parts)))


def test_the_first_heading_outside_code_is_found():
    assert first_heading("```\n# no\n```\ntext\n## Remote *work* ##\n# Later") == "Remote *work*"


def test_a_hashtag_is_no_heading():
    assert first_heading("#hashtag\ntext") is None
