"""Brave Search, an index of its own: https://api-dashboard.search.brave.com/documentation"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

from regen.errors import ConfigurationError
from search.base import Address, Key, ProviderSettings, SearchOptions
from search.http import Verdict
from search.replies import Day, Items, Reply, Text, plain, read, read_each
from search.urls import with_sites
from search.web import Hit, Page, WebSearch, client_for

# Limits of the API.
_LAST_PAGE = 9
_MOST_CHARACTERS = 400
_MOST_WORDS = 50


class BraveSettings(ProviderSettings):
    """Where Brave Search is, and the key for it."""

    brave_api_key: Key | None = None
    brave_url: Address = "https://api.search.brave.com/res/v1/web/search"


class _Query(Reply):
    more_results_available: bool = False


class _Web(Reply):
    results: Items = []


class _Response(Reply):
    query: _Query = _Query()
    web: _Web | None = None


class _Result(Reply):
    url: str
    title: Text = ""
    description: Text = ""
    extra_snippets: list[str] | None = None
    page_age: Day = None


class Brave(WebSearch):
    """Search with Brave: 20 results a page, 10 pages; filters by site with operators, by date natively."""

    name = "brave"
    settings = BraveSettings
    page_size = 20

    def __init__(
        self, options: SearchOptions, settings: BraveSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if settings.brave_api_key is None:
            raise ConfigurationError(
                "The search provider brave needs a key: get one at https://brave.com/search/api, and set BRAVE_API_KEY."
            )
        self._key = settings.brave_api_key.get_secret_value()
        self._url = settings.brave_url
        super().__init__(
            options,
            client_for("Brave Search", options, access="check BRAVE_API_KEY", secrets=[self._key], sleep=sleep),
        )

    @classmethod
    def configured(cls, options: SearchOptions) -> Brave:
        """See `search.base.SearchProvider`."""
        return cls(options, BraveSettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`."""
        query, warnings = self._fitting(query)
        since = self.options.since
        response = read(
            self.client,
            _Response,
            self.client.json(
                "GET",
                self._url,
                params={
                    "q": query,
                    "count": size,
                    "offset": number,
                    "result_filter": "web",
                    "text_decorations": "false",
                    "freshness": f"{since.isoformat()}to{max(since, date.today()).isoformat()}" if since else None,
                },
                headers={"x-subscription-token": self._key},
                classify=_classify,
            ),
        )
        results, skipped = read_each(self.client, _Result, response.web.results if response.web else [])
        hits = [
            Hit(
                url=result.url,
                title=plain(result.title),
                snippet=plain(result.description),
                text="\n".join(plain(text) for text in [result.description, *(result.extra_snippets or [])]),
                published=result.page_age,
            )
            for result in results
        ]
        more = response.query.more_results_available and number < _LAST_PAGE
        return Page(hits=hits, more=more, warnings=warnings + skipped)

    def _fitting(self, query: str) -> tuple[str, list[str]]:
        """The query with its operators for sites, cut to what the API takes.

        The words come first; sites that find no room among the operators are left out afterwards.
        """
        words = query.split()
        while words and not _fits(" ".join(words)):
            words.pop()
        cut = " ".join(words)
        asked = with_sites(cut, self.options.sites)
        asked = asked if _fits(asked) else cut
        for site in self.options.exclude_sites:
            longer = with_sites(asked, (), [site])
            asked = longer if _fits(longer) else asked
        return asked, [] if cut == query else [f"Brave Search takes short queries only, and was asked: {cut}"]


def _fits(query: str) -> bool:
    return len(query.split()) <= _MOST_WORDS and len(query) <= _MOST_CHARACTERS


def _classify(status: int, text: str) -> Verdict | None:
    """An unknown key is status 422 here, and a month's quota that is used up 429 like too fast a pace."""
    if "SUBSCRIPTION_TOKEN_INVALID" in text:
        return "credentials"
    return "quota" if status == 429 and "QUOTA_LIMITED" in text else None
