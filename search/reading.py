"""Reads the pages that a search found, and keeps of each the passage that answers best."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import httpcore2

from regen.types import Document
from search.base import SearchResults
from search.fetch import PER_HOST, Fetched, FetchOptions, Outcome, Refused, fetch
from search.guard import Resolve, resolve
from search.pagecache import CacheError, PageCache
from search.parse import Page
from search.sandbox import ParserProcess
from search.text import UnreadableError, clean, one_line
from search.urls import canonical
from search.windows import best_window

PARSE_SECONDS = 5.0  # for the parser to make text of one page
ALL_PAGES_SECONDS = 20.0  # for the parser, over all pages of one call


class PageReader:
    """Puts the best passage of its page in place of each search result's snippet.

    Args:
        deadline: Seconds for fetching all pages of one call; what has come by then is read.
        allow_private: Whether pages of the own network and machine may be fetched.
        refresh: Whether pages are fetched anew though they are in the cache.
        cache: The folder of the cache; the user's cache folder where None.
        per_host: Pages fetched from one host at a time.
        resolve: Finds the addresses of a host, where it is not the system that does.
        backend: Opens the connections, once their addresses have been checked; sockets where None.

    One reader can be used by several threads.
    """

    def __init__(
        self,
        *,
        deadline: float = 15.0,
        allow_private: bool = False,
        refresh: bool = False,
        cache: Path | None = None,
        per_host: int = PER_HOST,
        resolve: Resolve = resolve,
        backend: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._options = FetchOptions(deadline, allow_private, per_host, resolve, backend)
        self._refresh = refresh
        self._cache = PageCache(cache)
        self._parser = ParserProcess()

    def read(self, documents: Sequence[Document], query: str) -> SearchResults:
        """The same documents, in the same order, each with the passage of its page that answers `query` best.

        Title and date are the page's where the search gave none; the address is where it led to. A page that can't be
        read leaves its document as it was, and a warning says which and why. A document without a web address stays as
        it is.

        Raises:
            ConfigurationError: the environment names certificates that cannot be loaded.
        """
        wanted = {place: urldefrag(document.url)[0] for place, document in enumerate(documents) if document.url}
        pages, trouble = self._pages(list(dict.fromkeys(wanted.values())))
        read, warnings = [], []
        for place, document in enumerate(documents):
            if place not in wanted:
                read.append(document)
                continue
            new, said = _with_page(document, pages[wanted[place]], query)
            read.append(new)
            warnings += [f"{_name(document)} {warning}" for warning in said]
        return SearchResults(documents=read, warnings=warnings + trouble)

    def _pages(self, urls: Sequence[str]) -> tuple[dict[str, Page | Refused], list[str]]:
        """Each address with its page, or why there is none; and what is wrong with the cache."""
        pages: dict[str, Page | Refused] = {}
        trouble: dict[str, None] = {}
        private = self._options.allow_private
        for url in () if self._refresh else urls:
            try:
                page = self._cache.get(url, private=private)
            except CacheError as error:
                trouble[f"{error}, so every page was fetched; delete it, or set REGEN_CACHE_DIR."] = None
                break
            if page is not None:
                pages[url] = page
        missing = [url for url in urls if url not in pages]
        for url, outcome in self._fetched(missing):
            pages[url] = outcome
            if isinstance(outcome, Page):
                try:
                    self._cache.put(url, outcome, private=private)
                except CacheError as error:
                    trouble.setdefault(f"{error}, so no page was kept; delete it, or set REGEN_CACHE_DIR.")
        return pages, list(trouble)[:1]

    def _fetched(self, urls: Sequence[str]) -> Iterator[tuple[str, Page | Refused]]:
        if not urls:
            return
        # While the first pages are on their way.
        self._parser.start()
        left = ALL_PAGES_SECONDS
        for url, outcome in fetch(urls, self._options):
            # Not counted is the time that others keep the parser busy: what is read must not depend on them.
            with self._parser.turn():
                began = time.monotonic()
                page = self._parsed(outcome, min(PARSE_SECONDS, left))
                left -= time.monotonic() - began
            yield url, page

    def _parsed(self, outcome: Outcome, seconds: float) -> Page | Refused:
        if isinstance(outcome, Refused):
            return outcome
        if seconds <= 0:
            return Refused("no time was left to read it")
        try:
            page = self._parser.parse(outcome, seconds)
        except UnreadableError as error:
            return Refused(str(error))
        return page.model_copy(update={"url": outcome.url, "warnings": [*_cut(outcome), *page.warnings]})


def _cut(page: Fetched) -> list[str]:
    return [f"only its first {len(page.data) / 1e6:.0f} MB were read"] if page.cut else []


def _with_page(document: Document, page: Page | Refused, query: str) -> tuple[Document, list[str]]:
    """The document with the best passage of its page, and what to say of it after its name."""
    if isinstance(page, Page) and len(page.text) < len(document.snippet):
        # A page of "enable JavaScript" or "accept cookies" is no evidence.
        page = Refused("it holds less text than its snippet")
    if isinstance(page, Refused):
        used = (
            "only its snippet was used"
            if document.text.strip() == document.snippet
            else "what the search gave was used"
        )
        return document, [f"could not be read ({page.cause}): {used}."]
    update: dict[str, object] = {"text": best_window(page.text, query)}
    if page.url and canonical(page.url) != canonical(document.url):
        update["url"] = page.url
    if not document.title:
        update["title"] = page.title
    if document.published is None and page.published is not None:
        update |= {"published": page.published, "published_from": "metadata"}
    return document.model_copy(update=update), [f"was not read whole: {warning}." for warning in page.warnings]


def _name(document: Document) -> str:
    """What a page is called in a warning: its host and title, since an address can be long, or hold a secret."""
    try:
        host = urlsplit(document.url).hostname
    except ValueError:
        host = None
    name = one_line(clean(host or document.url.partition(":")[0] + ":"))[:100]
    return f"{name} ({one_line(clean(document.title))[:60]})" if document.title else name
