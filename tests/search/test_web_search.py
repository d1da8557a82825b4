"""What is made of pages of results, whoever gave them: paging, one entry a page, filters, warnings."""

from __future__ import annotations

from datetime import date

import pytest

from search.base import SearchError, SearchOptions
from search.http import HttpClient
from search.web import Hit, Page, WebSearch


class Stub(WebSearch):
    """Gives the pages it is told to give; an error among them is raised."""

    name = "stub"
    page_size = 10

    def __init__(self, *pages, **options):
        super().__init__(SearchOptions(**options), HttpClient("The stub"))
        self.pages, self.asked = pages, []

    def page(self, query, number, size):
        self.asked.append((query, number, size))
        page = self.pages[number] if number < len(self.pages) else []
        if isinstance(page, Exception):
            raise page
        hits = [hit if isinstance(hit, Hit) else Hit(url=hit, title="t") for hit in page]
        return Page(hits=hits, more=number + 1 < len(self.pages))


def urls(results):
    return [document.url for document in results.documents]


def many(start, count):
    return [f"https://a.example/{n}" for n in range(start, start + count)]


DOWN = SearchError("The stub cannot be reached.", "unavailable")


def test_pages_are_joined_up_to_k():
    stub = Stub(many(0, 10), many(10, 10), many(20, 10))
    assert (urls(stub.top("q", 15)), len(stub.asked)) == (many(0, 15), 2)


def test_paging_ends_where_there_is_no_more():
    stub = Stub(many(0, 10))
    assert (len(stub.top("q", 50).documents), len(stub.asked)) == (10, 1)


def test_an_empty_page_among_others_does_not_end_the_search():
    assert urls(Stub([], many(0, 3)).top("q")) == many(0, 3)


def test_pages_that_bring_nothing_new_are_not_asked_for_without_end():
    stub = Stub(*[many(0, 1)] * 50)
    assert (urls(stub.top("q", 10)), len(stub.asked)) == (many(0, 1), 3)


def test_few_results_are_asked_for_as_a_page():
    stub = Stub(many(0, 10))
    assert (len(stub.top("q", 1).documents), stub.asked) == (1, [("q", 0, 10)])


def test_two_spellings_of_an_address_are_one_result_at_the_better_place():
    found = Stub(["https://www.a.example/x/", "https://b.example", "http://a.example/x#part"]).top("q")
    assert [(document.rank, document.url) for document in found.documents] == [
        (1, "https://www.a.example/x/"),
        (2, "https://b.example"),
    ]


@pytest.mark.parametrize(
    "url",
    ["", "javascript:alert(1)", "file:///etc/passwd", "ftp://a.example", "//a.example", "https://", "http://[::1",
     "https://a.example/\x1b[31m", "https://a.example/a b", "https://a.example:99999/",
     "https://a.example/" + "x" * 5000],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_left_out_with_a_warning(url):
    results = Stub([url, "https://a.example"]).top("q")
    assert urls(results) == ["https://a.example"]
    assert results.warnings == ["1 of the results of The stub have no web address, and are left out."]


def test_a_document_without_an_address_is_kept_under_its_id():
    (found,) = Stub([Hit(id="stub:\x1b[1", text="t")]).top("q").documents
    assert (found.id, found.url) == ("stub:[1", "")


def test_the_sites_asked_for_and_their_subdomains_are_kept():
    pages = ["https://a.example/1", "https://sub.a.example/2", "https://nota.example/3", "https://b.example/a.example"]
    assert urls(Stub(pages, sites=("a.example",)).top("q")) == pages[:2]


def test_excluded_sites_are_left_out():
    pages = ["https://a.example/1", "https://sub.a.example./2", "https://a.example:8080/3", "https://b.example/4"]
    assert urls(Stub(pages, exclude_sites=("a.example",)).top("q")) == pages[3:]


def test_results_known_to_be_older_are_left_out_and_undated_ones_stay():
    hits = [
        Hit(url="https://a.example/1", published=date(2023, 12, 31)),
        Hit(url="https://a.example/2", published=date(2024, 1, 1)),
        Hit(url="https://a.example/3"),
    ]
    results = Stub(hits, since=date(2024, 1, 1)).top("q")
    assert urls(results) == ["https://a.example/2", "https://a.example/3"]


def test_a_first_page_that_fails_is_a_failure():
    with pytest.raises(SearchError):
        Stub(DOWN, many(0, 10)).top("q")


def test_a_later_page_that_fails_is_a_warning_with_its_cause():
    results = Stub(many(0, 10), DOWN).top("q", 20)
    assert len(results.documents) == 10
    assert results.warnings == ["Only the first 10 results were found: The stub cannot be reached."]


def test_text_of_strangers_is_cleaned():
    hit = Hit(url="https://a.example", title="\x1b[31mred\nline", snippet="a\tb\ud800", text="one\x00\n\n\n\ntwo")
    (found,) = Stub([hit]).top("q").documents
    assert (found.title, found.snippet, found.text) == ("[31mred line", "a b?", "one\n\ntwo")


def test_a_result_without_text_has_its_snippet_as_text():
    (found,) = Stub([Hit(url="https://a.example", snippet="s")]).top("q").documents
    assert found.text == "s"


def test_the_query_is_asked_on_one_line_of_printable_text():
    stub = Stub([])
    stub.top(" two\nlines \ud800\x1b of " + "long " * 100)
    assert stub.asked[0][0] == ("two lines ? of " + "long " * 100).strip()
