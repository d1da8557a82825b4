"""Several providers as one: how their lists are merged, which pages are read, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from regen.types import Document
from search.base import SearchError, SearchResults
from search.combined import CombinedSearch, fuse
from search.filters import Filters


def doc(name: str, source: str = "one", **more: object) -> Document:
    return Document.model_validate({"id": name, "text": name, "source": source, **more})


class Fixed:
    reads_pages = False

    def __init__(self, name: str, *ids: str, warnings: Sequence[str] = (), fails: SearchError | None = None) -> None:
        self.name, self.ids, self.warnings, self.fails = name, ids, list(warnings), fails
        self.prepared = 0

    def prepare(self, progress: object = None) -> None:
        self.prepared += 1

    def top(self, query: str, k: int = 10) -> SearchResults:
        if self.fails:
            raise self.fails
        documents = [doc(name, self.name, rank=rank) for rank, name in enumerate(self.ids[:k], 1)]
        return SearchResults(documents=documents, warnings=self.warnings)


class Web(Fixed):
    reads_pages = True


class Reader:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, documents: Sequence[Document], query: str) -> SearchResults:
        self.asked += [document.id for document in documents]
        read = [document.model_copy(update={"text": f"page of {document.id}"}) for document in documents]
        return SearchResults(documents=read, warnings=["one page was cut"])


DOWN = SearchError("It is down.", "unavailable")


def test_one_list_stays_as_it_is() -> None:
    assert [item.id for item in fuse([[doc("b"), doc("a"), doc("c")]])] == ["b", "a", "c"]


def test_a_document_of_two_lists_comes_before_those_of_one() -> None:
    # 1/61 + 1/62 > 1/61 > 1/62
    merged = fuse([[doc("a"), doc("b")], [doc("b", "two"), doc("c", "two")]])
    assert [(item.id, item.rank, item.source) for item in merged] == [
        ("b", 1, "one,two"),
        ("a", 2, "one"),
        ("c", 3, "two"),
    ]


def test_of_equal_scores_the_first_list_comes_first() -> None:
    assert [item.id for item in fuse([[doc("a")], [doc("b")]])] == ["a", "b"]


def test_of_a_document_in_two_lists_the_longest_text_and_a_date_are_kept() -> None:
    short = doc("a", published=date(2024, 5, 1), published_from="provider")
    long = doc("a", "two").model_copy(update={"text": "a longer text"})
    (merged,) = fuse([[short], [long]])
    assert (merged.text, merged.published, merged.published_from) == ("a longer text", date(2024, 5, 1), "provider")


def test_no_more_than_k_documents_come_of_all_providers_together() -> None:
    found = CombinedSearch([Fixed("one", "a", "b", "c"), Fixed("two", "d", "e", "f")]).top("q", 4)
    assert [item.id for item in found.documents] == ["a", "d", "b", "e"]


def test_one_that_fails_beside_others_is_a_warning() -> None:
    found = CombinedSearch([Fixed("one", fails=DOWN), Fixed("two", "a", warnings=["slow"])]).top("q")
    assert [item.id for item in found.documents] == ["a"]
    assert found.warnings == ["The search provider one failed, and the others went on: It is down.", "slow"]


def test_where_all_fail_the_first_error_is_raised() -> None:
    with pytest.raises(SearchError, match="It is down"):
        CombinedSearch([Fixed("one", fails=DOWN), Fixed("two", fails=SearchError("No.", "quota"))]).top("q")


def test_a_search_that_failed_is_not_empty_because_another_found_nothing() -> None:
    with pytest.raises(SearchError, match="It is down"):
        CombinedSearch([Fixed("one", fails=DOWN), Fixed("two")]).top("q")


def test_a_mistake_in_a_provider_is_not_taken_for_a_failed_search() -> None:
    broken = Fixed("one")
    broken.top = None  # type: ignore[assignment, method-assign]
    with pytest.raises(TypeError):
        CombinedSearch([broken, Fixed("two", "a")]).top("q")


def test_only_pages_of_web_results_are_read() -> None:
    reader = Reader()
    found = CombinedSearch([Web("web", "a", "both"), Fixed("local", "b", "both")], reader).top("q")
    assert sorted(reader.asked) == ["a", "both"]
    assert {item.id: item.text for item in found.documents} == {"a": "page of a", "both": "page of both", "b": "b"}
    assert found.warnings == ["one page was cut"]


def test_without_a_reader_results_stay_at_what_the_provider_returned() -> None:
    assert CombinedSearch([Web("web", "a")]).top("q").documents[0].text == "a"


def test_a_page_that_is_not_in_the_list_any_more_is_not_read() -> None:
    reader = Reader()
    CombinedSearch([Web("web", "a", "b", "c")], reader).top("q", 1)
    assert reader.asked == ["a"]


def test_all_providers_are_prepared_and_named() -> None:
    providers = [Fixed("one"), Fixed("two")]
    search = CombinedSearch(providers)
    search.prepare()
    assert (search.name, [item.prepared for item in providers]) == ("one,two", [1, 1])


class Moved(Reader):
    """Each page leads to another site, and is from 2010."""

    def read(self, documents: Sequence[Document], query: str) -> SearchResults:
        update = {"url": "https://key.example/page", "published": date(2010, 1, 1), "published_from": "metadata"}
        return SearchResults(documents=[document.model_copy(update=update) for document in documents])


def test_a_page_that_led_to_an_excluded_site_is_left_out() -> None:
    filters = Filters(exclude_sites=("key.example",))
    found = CombinedSearch([Web("web", "a"), Fixed("local", "b")], Moved(), filters).top("q")
    assert [(item.id, item.rank) for item in found.documents] == [("b", 1)]
    assert found.warnings[0].startswith("1 result was left out after reading")


def test_a_page_whose_own_date_is_too_old_is_left_out_and_undated_ones_are_told() -> None:
    filters = Filters(since=date(2020, 1, 1))
    found = CombinedSearch([Web("web", "a"), Fixed("local", "b")], Moved(), filters).top("q")
    assert [item.id for item in found.documents] == ["b"]
    assert found.warnings[-1] == "1 of 1 results have no publication date, so they may be older than 2020-01-01."


def test_a_recorded_result_of_a_web_provider_is_not_read_again() -> None:
    class Again(Fixed):
        def top(self, query: str, k: int = 10) -> SearchResults:
            return SearchResults(documents=[doc("a", "web")])

    reader = Reader()
    CombinedSearch([Again("recorded"), Web("web", "b")], reader).top("q")
    assert reader.asked == ["b"]
