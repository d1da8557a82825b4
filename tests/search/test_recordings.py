"""Recordings of searches: written while others search, and searched instead of them."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from regen.errors import ConfigurationError, InputError
from regen.types import Document
from search.base import SearchOptions, SearchResults, provider_class
from search.filters import Filters, time_range
from search.recorded import RecordedSearch, Recording


class Fixed:
    name = "fixed"

    def top(self, query: str, k: int = 10) -> SearchResults:
        documents = [
            Document(id=f"https://{site}/{query}", url=f"https://{site}/{query}", text=site, rank=rank)
            for rank, site in enumerate(["a.org", "b.org", "c.org"], 1)
        ]
        return SearchResults(documents=documents[:k], warnings=["b.org was slow"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "recording.jsonl"


def test_what_was_recorded_comes_back_whole(file: Path) -> None:
    found = Recording(Fixed(), file).top("gulls", 3)
    assert RecordedSearch(file).top("gulls", 3) == found


def test_case_and_spaces_of_a_query_do_not_matter(file: Path) -> None:
    Recording(Fixed(), file).top("Do gulls  fly?", 3)
    assert len(RecordedSearch(file).top(" do GULLS fly? ", 3).documents) == 3


def test_a_recording_says_who_was_asked_and_when(file: Path) -> None:
    Recording(Fixed(), file).top("gulls")
    line = json.loads(file.read_text())
    assert (line["query"], line["k"], line["search"]) == ("gulls", 10, "fixed")
    assert line["recorded_at"].startswith("20")


def test_of_a_query_that_was_recorded_twice_the_last_counts(file: Path) -> None:
    recording = Recording(Fixed(), file)
    recording.top("gulls", 3)
    recording.top("gulls", 1)
    assert len(RecordedSearch(file).top("gulls", 1).documents) == 1


def test_a_query_that_was_not_recorded_is_no_empty_result(file: Path) -> None:
    Recording(Fixed(), file).top("gulls")
    with pytest.raises(InputError, match=r"1 recorded searches, but none for 'terns'"):
        RecordedSearch(file).top("terns")


def test_fewer_recorded_documents_than_asked_for_are_told(file: Path) -> None:
    Recording(Fixed(), file).top("gulls", 2)
    found = RecordedSearch(file).top("gulls", 5)
    assert found.warnings[-1] == "The recorded search asked for 2 documents, so there may be fewer than 5."


def test_fewer_are_wanted_than_were_recorded(file: Path) -> None:
    Recording(Fixed(), file).top("gulls", 3)
    assert [item.rank for item in RecordedSearch(file).top("gulls", 2).documents] == [1, 2]


def test_recorded_results_are_filtered_and_ranked_anew(file: Path) -> None:
    Recording(Fixed(), file).top("gulls", 3)
    options = SearchOptions(recorded=file, exclude_sites=("a.org",))
    found = RecordedSearch.configured(options).top("gulls", 3)
    assert [(item.text, item.rank) for item in found.documents] == [("b.org", 1), ("c.org", 2)]


@pytest.mark.parametrize(
    ("line", "message"), [("{", "line 1: the line"), ('{"query": "q"}', "line 1: k: "), ("[1]", "line 1: the line")]
)
def test_a_line_that_is_no_recorded_search_is_told(file: Path, line: str, message: str) -> None:
    file.write_text(line)
    with pytest.raises(InputError, match=message):
        RecordedSearch(file)


def test_a_missing_file_is_told(file: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        RecordedSearch(file)


def test_without_a_file_there_is_nothing_to_search() -> None:
    with pytest.raises(ConfigurationError, match="--recorded"):
        RecordedSearch.configured(SearchOptions())


def test_a_file_that_cannot_be_written_is_told_before_the_search(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        Recording(Fixed(), tmp_path / "gone" / "recording.jsonl")


def test_it_is_found_by_name() -> None:
    assert provider_class("recorded") is RecordedSearch


def test_what_is_known_to_be_older_is_left_out_and_what_has_no_date_is_told() -> None:
    documents = [
        Document(id="old", text="", published=date(2019, 12, 31)),
        Document(id="new", text="", published=date(2020, 1, 1)),
        Document(id="undated", text=""),
    ]
    kept, warnings = Filters(since=date(2020, 1, 1)).keep(documents)
    assert [item.id for item in kept] == ["new", "undated"]
    assert warnings == ["1 of 2 results have no publication date, so they may be older than 2020-01-01."]


def test_a_file_is_of_no_site() -> None:
    assert Filters(sites=("a.org",), exclude_sites=("b.org",)).wants("file:///notes.md", None)


@pytest.mark.parametrize(
    ("since", "expected"),
    [(date(2026, 5, 10), "day"), (date(2026, 5, 9), "month"), (date(2026, 4, 11), "month"), (date(2024, 1, 1), None)],
)
def test_a_time_range_has_all_of_its_first_day_in_it(since: date, expected: str | None) -> None:
    assert time_range(since, {"day": 1, "month": 30, "year": 365}, today=date(2026, 5, 10)) == expected


def test_a_line_that_broke_off_is_cut_when_the_recording_goes_on(file: Path) -> None:
    Recording(Fixed(), file).top("gulls", 1)
    with file.open("a") as recording:
        recording.write('{"query": "terns", "k"')
    Recording(Fixed(), file).top("terns", 1)
    assert [json.loads(line)["query"] for line in file.read_text().splitlines()] == ["gulls", "terns"]


@pytest.mark.parametrize("text", ["Dear diary", "Dear diary\n", '{"a": 1}\n'])
def test_a_file_of_something_else_is_refused_and_left_alone(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError, match="something else than recorded searches"):
        Recording(Fixed(), file)
    assert file.read_text() == text


def test_a_whole_line_that_lost_only_its_end_stays(file: Path) -> None:
    Recording(Fixed(), file).top("gulls", 1)
    file.write_text(file.read_text().rstrip("\n"))
    Recording(Fixed(), file).top("terns", 1)
    assert [json.loads(line)["query"] for line in file.read_text().splitlines()] == ["gulls", "terns"]
