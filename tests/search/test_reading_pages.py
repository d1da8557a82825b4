"""Reading the pages of search results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hostile import INSTRUCTION, SENTENCE, Internet, Reply, Site, article, pages, serving

from regen.fence import fence
from regen.types import Document
from search.base import SearchResults
from search.fetch import Fetched
from search.reading import PageReader
from search.sandbox import ParserProcess
from search.text import UnreadableError

QUERY = "When was the observatory opened to visitors?"
SNIPPET = "What the search says of it."


@pytest.fixture(scope="module")
def parser() -> ParserProcess:
    """One parser for all tests, since it takes a second to start."""
    return ParserProcess()


@pytest.fixture
def internet() -> Internet:
    return Internet()


@pytest.fixture
def site(pdf: Callable[..., bytes]) -> Iterator[Site]:
    with serving(pages(pdf(SENTENCE, CreationDate="D:20200102030405"))) as running:
        yield running


@pytest.fixture
def reader(internet: Internet, parser: ParserProcess, tmp_path: Path) -> Callable[..., PageReader]:
    """Makes a reader on the small internet, with a cache of its own."""

    def make(**settings: Any) -> PageReader:
        settings = {"cache": tmp_path / "pages", "deadline": 10.0, "backend": internet} | settings
        made = PageReader(resolve=internet.resolve, **settings)
        made._parser = parser
        return made

    return make


def found(*urls: str, **fields: Any) -> list[Document]:
    """Search results with these addresses."""
    return [
        Document(id=f"d{n}", url=url, text=SNIPPET, snippet=SNIPPET, rank=n, source="web", **fields)
        for n, url in enumerate(urls, 1)
    ]


def read_one(reader: PageReader, url: str, **fields: Any) -> tuple[Document, list[str]]:
    results = reader.read(found(url, **fields), QUERY)
    return results.documents[0], results.warnings


def test_the_text_of_a_page_takes_the_place_of_its_snippet(site: Site, reader: Callable[..., PageReader]) -> None:
    document, warnings = read_one(reader(), site.url("/ordinary"))
    assert SENTENCE in document.text and document.snippet == SNIPPET
    assert (document.title, document.published, document.published_from) == ("A page", date(2021, 3, 4), "metadata")
    assert warnings == []


def test_title_and_date_that_the_search_gave_stay(site: Site, reader: Callable[..., PageReader]) -> None:
    given: dict[str, Any] = {"title": "Given", "published": date(2024, 5, 6), "published_from": "provider"}
    document, _ = read_one(reader(), site.url("/ordinary"), **given)
    assert document.model_dump(include=set(given)) == given


def test_every_document_stays_in_its_place_with_its_id_and_rank(site: Site, reader: Callable[..., PageReader]) -> None:
    documents = found(*(site.url(path) for path in ("/404", "/ordinary", "/moved", "/image", "/plain")))
    read = reader().read(documents, QUERY).documents
    assert [(d.id, d.rank) for d in read] == [(d.id, d.rank) for d in documents]
    assert [SENTENCE in document.text for document in read] == [False, True, True, False, True]


def test_a_document_has_the_address_that_its_page_was_found_at(site: Site, reader: Callable[..., PageReader]) -> None:
    for _ in range(2):  # fetched, and from the cache
        (document,) = reader().read(found(site.url("/moved")), QUERY).documents
        assert document.url == site.url("/ordinary")


def test_a_warning_names_the_page_by_its_title_as_well(site: Site, reader: Callable[..., PageReader]) -> None:
    results = reader().read(found(site.url("/404"), title="Gulls"), QUERY)
    assert results.warnings == ["site.example (Gulls) could not be read (status 404): only its snippet was used."]


@pytest.mark.parametrize("status", [404, 403, 500])
def test_a_page_that_cannot_be_read_keeps_its_snippet_and_a_warning_says_why(
    status: int, site: Site, reader: Callable[..., PageReader]
) -> None:
    documents = found(site.url("/ordinary"), site.url(f"/{status}"))
    results = reader().read(documents, QUERY)
    assert results.documents[1] == documents[1]
    assert results.warnings == [f"site.example could not be read (status {status}): only its snippet was used."]


def test_a_pdf_is_read_with_its_date(site: Site, reader: Callable[..., PageReader]) -> None:
    document, warnings = read_one(reader(), site.url("/pdf"))
    assert (document.text, document.published, warnings) == (SENTENCE, date(2020, 1, 2), [])


@pytest.mark.parametrize(
    ("path", "words"), [("/wrong-charset", "Café Noël"), ("/wrong-charset-too", "Обсерватория на холме")]
)
def test_a_page_with_a_wrong_charset_is_read_right(
    path: str, words: str, site: Site, reader: Callable[..., PageReader]
) -> None:
    document, _ = read_one(reader(), site.url(path))
    assert words in document.text


@pytest.mark.parametrize("path", ["/100-mb", "/endless", "/gzip-bomb"])
def test_of_a_page_without_an_end_the_beginning_is_read_and_a_warning_says_so(
    path: str, site: Site, reader: Callable[..., PageReader]
) -> None:
    document, warnings = read_one(reader(), site.url(path))
    assert document.text.startswith("The page begins here, and this sentence is its first.")
    assert "site.example was not read whole: only its first 5 MB were read." in warnings


def test_what_a_page_tells_the_model_to_do_is_kept_and_stays_in_its_fence(
    site: Site, reader: Callable[..., PageReader]
) -> None:
    document, _ = read_one(reader(), site.url("/instructs"))
    assert INSTRUCTION in document.text
    fenced = fence(document, 1)
    assert fenced.count("</document>") == 1 and fenced.endswith("</document>")
    assert "[[ ##" not in fenced and "<|im_start|>" not in fenced


def test_control_characters_are_taken_out_of_text_and_title(site: Site, reader: Callable[..., PageReader]) -> None:
    site.replies["/title"] = Reply(b"<title>\x1b[31mRed&#27;[0m</title><p>" + SENTENCE.encode())
    results = reader().read(found(site.url("/escapes"), site.url("/title")), QUERY)
    assert SENTENCE in results.documents[0].text and SENTENCE in results.documents[1].text
    assert all(c.isprintable() or c == "\n" for document in results.documents for c in document.text + document.title)


@pytest.mark.parametrize("path", ["/pdf-broken", "/binary", "/empty", "/script-only", "/deep"])
def test_a_page_without_readable_text_keeps_its_snippet(
    path: str, site: Site, reader: Callable[..., PageReader]
) -> None:
    document, warnings = read_one(reader(), site.url(path))
    assert document.text == SNIPPET
    assert len(warnings) == 1 and warnings[0].startswith("site.example could not be read (")


def test_a_page_that_says_less_than_its_snippet_is_no_better(site: Site, reader: Callable[..., PageReader]) -> None:
    site.replies["/consent"] = Reply(article("Enable cookies."))
    snippet = "The observatory was opened to visitors in 1912, says the page that this snippet was taken from."
    document = Document(id="d", url=site.url("/consent"), text=snippet, snippet=snippet)
    results = reader().read([document], QUERY)
    assert results.documents == [document]
    assert "it holds less text than its snippet" in results.warnings[0]


def test_of_a_long_page_the_passage_that_answers_is_kept(site: Site, reader: Callable[..., PageReader]) -> None:
    filler = "\n\n".join(
        f"Paragraph {n} is about the weather in the valley, and about nothing else." for n in range(150)
    )
    site.replies["/long"] = Reply(article(f"{filler}\n\n{SENTENCE}\n\n{filler}"))
    document, _ = read_one(reader(), site.url("/long"))
    assert SENTENCE in document.text and len(document.text.split()) < 400


def test_a_name_that_resolves_to_this_machine_is_not_asked(
    site: Site, internet: Internet, reader: Callable[..., PageReader]
) -> None:
    internet.names["rebinds.example"] = ["127.0.0.1"]
    _, warnings = read_one(reader(), site.url("/ordinary", "rebinds.example"))
    assert warnings == [
        "rebinds.example could not be read (it leads to a private address (127.0.0.1)): only its snippet was used."
    ]
    assert not site.seen


def test_private_addresses_are_read_where_that_is_allowed(site: Site, parser: ParserProcess, tmp_path: Path) -> None:
    allowed = PageReader(allow_private=True, cache=tmp_path / "pages")
    allowed._parser = parser
    document, _ = read_one(allowed, site.url("/ordinary", "127.0.0.1"))
    assert SENTENCE in document.text


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://user:secret@site.example/", "site.example"),
        ("file:///etc/passwd", "file:"),
        ("javascript:alert('secret')", "javascript:"),
    ],
)
def test_no_warning_shows_more_of_an_address_than_its_host(
    url: str, name: str, reader: Callable[..., PageReader]
) -> None:
    document, warnings = read_one(reader(), url)
    assert document.text == SNIPPET
    assert warnings[0].startswith(f"{name} could not be read (it leads to an address ")
    assert "secret" not in warnings[0]


def test_a_document_without_an_address_is_left_alone(reader: Callable[..., PageReader]) -> None:
    documents = [Document(id="given", text="A passage.")]
    assert reader().read(documents, QUERY) == SearchResults(documents=documents)


def test_a_page_is_fetched_once_and_then_comes_from_the_cache(site: Site, reader: Callable[..., PageReader]) -> None:
    first = reader().read(found(site.url("/ordinary"), site.url("/ordinary#part")), QUERY)
    assert reader().read(found(site.url("/ordinary"), site.url("/ordinary#part")), QUERY) == first
    assert site.seen["/ordinary"] == 1


def test_the_passage_of_a_cached_page_is_chosen_anew(site: Site, reader: Callable[..., PageReader]) -> None:
    filler = "\n\n".join(
        f"Paragraph {n} is about the weather in the valley, and about nothing else." for n in range(150)
    )
    site.replies["/long"] = Reply(article(f"{filler}\n\n{SENTENCE}\n\n{filler}"))
    read_one(reader(), site.url("/long"))
    [document] = reader().read(found(site.url("/long")), "What is paragraph 149 about?").documents
    assert "Paragraph 149" in document.text and SENTENCE not in document.text


def test_refresh_fetches_anew_and_keeps_what_came(site: Site, reader: Callable[..., PageReader]) -> None:
    read_one(reader(), site.url("/ordinary"))
    site.replies["/ordinary"] = Reply(article("The page has another text by now, which says something else."))
    document, _ = read_one(reader(refresh=True), site.url("/ordinary"))
    again, _ = read_one(reader(), site.url("/ordinary"))
    assert "another text by now" in document.text and again == document


def test_a_failure_is_not_kept(site: Site, reader: Callable[..., PageReader]) -> None:
    site.replies["/later"] = Reply(status=503)
    read_one(reader(), site.url("/later"))
    site.replies["/later"] = site.replies["/ordinary"]
    document, _ = read_one(reader(), site.url("/later"))
    assert SENTENCE in document.text


def test_a_cache_that_cannot_be_used_is_one_warning(
    site: Site, reader: Callable[..., PageReader], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    results = reader(cache=tmp_path / "file").read(found(site.url("/ordinary"), site.url("/plain")), QUERY)
    assert all(SENTENCE in document.text for document in results.documents)
    assert len(results.warnings) == 1
    assert results.warnings[0].startswith("The cache of pages in ") and "REGEN_CACHE_DIR" in results.warnings[0]


def test_it_reads_inside_a_running_event_loop(site: Site, reader: Callable[..., PageReader]) -> None:
    async def inside() -> SearchResults:
        return reader().read(found(site.url("/ordinary")), QUERY)

    assert SENTENCE in asyncio.run(inside()).documents[0].text


def test_nothing_to_read_is_no_failure(reader: Callable[..., PageReader]) -> None:
    assert reader().read([], QUERY) == SearchResults()


def test_a_page_that_takes_too_long_is_given_up_and_the_next_one_is_read(parser: ParserProcess) -> None:
    slow = Fetched(article("An ordinary page."), "html", "utf-8", "http://site.example/")
    parser.parse(slow, 10.0)
    with pytest.raises(UnreadableError, match="reading it took more than 0 seconds"):
        parser.parse(slow, 0.0)
    assert "An ordinary page." in parser.parse(slow, 10.0).text


def test_a_parser_that_dies_costs_one_page(parser: ParserProcess) -> None:
    page = Fetched(article("An ordinary page."), "html", "utf-8", "http://site.example/")
    parser.parse(page, 10.0)
    assert parser._process is not None
    parser._process.kill()
    parser._process.wait()
    with pytest.raises(UnreadableError, match="its parser broke down"):
        parser.parse(page, 10.0)
    assert "An ordinary page." in parser.parse(page, 10.0).text


def test_the_parser_ends_with_its_owner() -> None:
    owner = ParserProcess()
    owner.start()
    process = owner._process
    assert process is not None
    del owner
    assert process.poll() is not None


def test_the_parser_has_no_key_of_the_user_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "secret")
    environment = Path(f"/proc/{os.getpid()}/environ")
    if not environment.exists():
        pytest.skip("needs /proc to look at another process")
    owner = ParserProcess()
    page = Fetched(article("An ordinary page."), "html", "utf-8", "http://site.example/")
    owner.parse(page, 10.0)
    assert owner._process is not None
    assert b"secret" not in Path(f"/proc/{owner._process.pid}/environ").read_bytes()
