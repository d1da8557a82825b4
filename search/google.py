"""Google's Custom Search JSON API: https://developers.google.com/custom-search/v1/overview

It is closed to new customers, and ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from functools import cached_property
from typing import Any

from regen.errors import ConfigurationError
from search.base import Address, Key, ProviderSettings, SearchError, SearchOptions
from search.googleapi import page_date, service
from search.replies import Items, Reply, Text, read, read_each
from search.urls import site_name, with_sites
from search.web import Hit, Page, WebSearch, client_for

# From this day on, the API does not answer any more.
ENDS = date(2027, 1, 1)
ALTERNATIVES = ("brave", "tavily", "serper", "vertex", "searxng", "ddgs")
# The API gives 100 results for a query, whatever there are.
_MOST = 100


class GoogleSettings(ProviderSettings):
    """The key, the search engine, and where the API is."""

    google_api_key: Key | None = None
    google_cse_id: str | None = None
    google_cse_url: Address = "https://customsearch.googleapis.com"


class _Queries(Reply):
    nextPage: Items = []  # noqa: N815 (the name in the reply)


class _Response(Reply):
    items: Items = []
    queries: _Queries = _Queries()


class _Result(Reply):
    link: str
    title: Text = ""
    snippet: Text = ""
    pagemap: Any = None


class Google(WebSearch):
    """Search with a Programmable Search Engine: 10 results a page, 10 pages.

    One site, to search or to leave out, is filtered natively, several with operators; dates natively, by when Google
    found the page.
    """

    name = "google"
    settings = GoogleSettings
    page_size = 10
    most = _MOST

    def __init__(
        self,
        options: SearchOptions,
        settings: GoogleSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        today: Callable[[], date] = date.today,
    ) -> None:
        if settings.google_api_key is None or settings.google_cse_id is None:
            raise ConfigurationError(
                "The search provider google needs a key and a search engine: set GOOGLE_API_KEY "
                "(https://console.cloud.google.com/apis/credentials) and GOOGLE_CSE_ID "
                "(https://programmablesearchengine.google.com). "
                f"{self.notice(today())}"
            )
        self._key, self._cx = settings.google_api_key.get_secret_value(), settings.google_cse_id
        self._url = settings.google_cse_url
        self._today = today
        access = "check GOOGLE_API_KEY, and that the Custom Search API is enabled for its project"
        super().__init__(
            options, client_for("Google Custom Search", options, access=access, secrets=[self._key], sleep=sleep)
        )

    @classmethod
    def configured(cls, options: SearchOptions) -> Google:
        """See `search.base.SearchProvider`."""
        return cls(options, GoogleSettings.read())

    @staticmethod
    def notice(today: date) -> str:
        """What to know about this provider on a day: that it ends, or ended."""
        when = f"{ENDS.day} {ENDS:%B %Y}"
        others = f"{', '.join(ALTERNATIVES[:-1])} or {ALTERNATIVES[-1]}"
        if today >= ENDS:
            return f"Google's Custom Search JSON API ended on {when}; search with {others} instead."
        return f"Google's Custom Search JSON API takes no new customers, and ends on {when}; {others} can replace it."

    @cached_property
    def _service(self) -> Any:
        return service("customsearch", "v1", self._url, self.client, lambda: {"x-goog-api-key": self._key})

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`."""
        start = number * size + 1
        try:
            reply = self._service.cse().list(**self._parameters(query, start, size)).execute()
        except SearchError as error:
            if self._today() < ENDS:
                raise
            raise SearchError(f"{error} {self.notice(self._today())}", error.kind) from None
        response = read(self.client, _Response, reply)
        results, warnings = read_each(self.client, _Result, response.items)
        hits = [
            Hit(
                url=result.link,
                title=result.title,
                snippet=result.snippet,
                published=page_date(result.pagemap),
            )
            for result in results
        ]
        more = bool(response.queries.nextPage) and start + size <= _MOST
        return Page(hits=hits, more=more, warnings=warnings)

    def _parameters(self, query: str, start: int, size: int) -> dict[str, object]:
        sites, exclude, since = self.options.sites, self.options.exclude_sites, self.options.since
        given: dict[str, object] = {"cx": self._cx, "num": size, "start": start}
        if len(sites) == 1:
            given |= {"siteSearch": site_name(sites[0]), "siteSearchFilter": "i"}
            sites = ()
        elif not sites and len(exclude) == 1:
            given |= {"siteSearch": site_name(exclude[0]), "siteSearchFilter": "e"}
            exclude = ()
        if since:
            given["dateRestrict"] = f"d{max((self._today() - since).days, 0) + 1}"
        return {**given, "q": with_sites(query, sites, exclude)}
