"""SearXNG, a metasearch engine that one hosts: https://docs.searxng.org/dev/search_api.html"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from regen.errors import ConfigurationError
from search.base import Address, ProviderSettings, SearchOptions
from search.filters import time_range
from search.http import Verdict
from search.replies import Day, Items, Reply, Text, read, read_each
from search.text import clean, one_line
from search.urls import with_sites
from search.web import Hit, Page, WebSearch, client_for

_RANGES = {"day": 1, "month": 30, "year": 365}


class SearxngSettings(ProviderSettings):
    """Where the instance is."""

    searxng_url: Address | None = None


class _Response(Reply):
    results: list[Any]
    unresponsive_engines: Items = []


class _Result(Reply):
    url: str
    title: Text = ""
    content: Text = ""
    publishedDate: Day = None  # noqa: N815 (the name in the reply)


class Searxng(WebSearch):
    """Search with an instance of SearXNG that allows the format json.

    It gives as many results a page as its engines do. Sites are filtered with operators that each engine may or may
    not know, dates by its time ranges.
    """

    name = "searxng"
    settings = SearxngSettings
    page_size = 10

    def __init__(
        self, options: SearchOptions, settings: SearxngSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if settings.searxng_url is None:
            raise ConfigurationError(
                "The search provider searxng needs an instance: host one (https://docs.searxng.org), and set "
                "SEARXNG_URL to its address."
            )
        self._url = f"{settings.searxng_url.removesuffix('/search')}/search"
        access = "check SEARXNG_URL, and that the instance's settings.yml lists json under search.formats"
        super().__init__(options, client_for("SearXNG", options, access=access, sleep=sleep))

    @classmethod
    def configured(cls, options: SearchOptions) -> Searxng:
        """See `search.base.SearchProvider`."""
        return cls(options, SearxngSettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`. No result while engines failed is a failure: none of them may have searched."""
        options = self.options
        params = {
            "q": with_sites(query, options.sites, options.exclude_sites),
            "format": "json",
            "pageno": number + 1,
            "time_range": time_range(options.since, _RANGES) if options.since else None,
        }
        reply = self.client.json("GET", self._url, params=params, classify=_classify)
        response = read(self.client, _Response, reply)
        results, warnings = read_each(self.client, _Result, response.results)
        failed = ", ".join(_engine(engine) for engine in response.unresponsive_engines)
        if failed and not results and number == 0:
            raise self.client.unavailable(f"its engines did not answer: {failed}")
        if failed:
            warnings.append(f"SearXNG searched without engines that did not answer: {failed}.")
        hits = [
            Hit(url=result.url, title=result.title, snippet=result.content, published=result.publishedDate)
            for result in results
        ]
        return Page(hits=hits, more=bool(hits), warnings=warnings)


def _engine(value: object) -> str:
    """An engine that did not answer, as [name, cause]."""
    parts = value if isinstance(value, list) else [value]
    return one_line(clean(" ".join(str(part)[:80] for part in parts[:2])))


def _classify(status: int, text: str) -> Verdict | None:
    """Where the API is not, or its format is not allowed, the instance's address or settings are wrong."""
    return "credentials" if status == 404 else None
