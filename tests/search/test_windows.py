"""Which passage of a page is kept."""

from __future__ import annotations

import pytest

from search.passages import Unit, count_words, units_of
from search.windows import WINDOW_WORDS, best_window, windows


def filler(sentences: int, about: str = "weather") -> str:
    return " ".join(f"Sentence {n} says nothing but things about the {about}." for n in range(sentences))


def test_a_short_text_is_one_window() -> None:
    assert windows("  One sentence. And another.\n") == ["One sentence. And another."]


def test_a_blank_text_has_no_window_and_no_best_one() -> None:
    assert windows(" \n ") == []
    assert best_window(" \n ", "anything") == ""


def test_windows_are_slices_of_at_most_512_tokens_and_together_cover_the_text() -> None:
    text = filler(200)
    found = windows(text)
    places = [text.index(window) for window in found]
    assert all(count_words(window) <= WINDOW_WORDS for window in found)
    assert places == sorted(places) and places[0] == 0
    assert all(start <= place + len(window) for place, window, start in zip(places, found, places[1:], strict=False))
    assert text.endswith(found[-1])


def test_windows_begin_and_end_at_sentences() -> None:
    assert all(w.startswith("Sentence") and w.endswith("weather.") for w in windows(filler(200)))


def test_neighbouring_windows_overlap() -> None:
    first, second, *_ = windows(filler(200))
    assert second.partition(".")[0] in first


def test_the_last_window_is_no_shorter_than_the_others_by_much() -> None:
    assert all(count_words(window) > WINDOW_WORDS * 0.9 for window in windows(filler(203)))


def test_a_sentence_longer_than_a_window_is_cut_at_blanks() -> None:
    found = windows("word " * 2000)
    assert len(found) > 4
    assert set(" ".join(found).split()) == {"word"}


def test_a_text_without_blanks_is_cut_too() -> None:
    found = windows("这是一个没有空格的句子。" * 2000)
    assert len(found) > 2
    assert all(count_words(window) <= WINDOW_WORDS for window in found)


def test_the_window_with_the_words_of_the_question_is_kept() -> None:
    text = filler(150) + " The observatory opened its doors in 1912. " + filler(150, "harvest")
    assert "opened its doors in 1912" in best_window(text, "When did the observatories open?")


def test_words_that_every_question_has_do_not_count() -> None:
    text = (
        filler(100)
        + " What is it, and when was it, and where did it go? "
        + filler(100)
        + " An observatory stands here."
    )
    assert "An observatory" in best_window(text, "What is the observatory?")


def test_of_windows_that_rank_the_same_the_earliest_is_kept() -> None:
    text = filler(200)
    assert best_window(text, "Who wrote the symphony?") == windows(text)[0]
    assert best_window(text, "") == windows(text)[0]


def test_each_sentence_is_looked_at_once_however_many_windows_it_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    class Counting:
        def __init__(self, unit: Unit) -> None:
            self.start, self.end, self._words = unit.start, unit.end, unit.words

        @property
        def words(self) -> int:
            nonlocal looked
            looked += 1
            return self._words

    monkeypatch.setattr("search.windows.units_of", lambda text: [Counting(unit) for unit in units_of(text)])
    text = "\u3002" * 5_000
    assert len(windows(text)) > 10
    assert looked == 5_000
