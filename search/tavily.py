"""Tavily, a search made for language models: https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from regen.errors import ConfigurationError
from search.base import Address, Key, ProviderSettings, SearchOptions
from search.http import Verdict
from search.replies import Day, Reply, Text, read, read_each
from search.urls import site_name
from search.web import Hit, Page, WebSearch, client_for


class TavilySettings(ProviderSettings):
    """Where Tavily is, and the key for it."""

    tavily_api_key: Key | None = None
    tavily_url: Address = "https://api.tavily.com/search"


class _Response(Reply):
    results: list[Any]


class _Result(Reply):
    url: str
    title: Text = ""
    content: Text = ""
    published_date: Day = None


class Tavily(WebSearch):
    """Search with Tavily: 20 results and no further page; filters by site and date natively."""

    name = "tavily"
    settings = TavilySettings
    page_size = 20
    most = 20

    def __init__(
        self, options: SearchOptions, settings: TavilySettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if settings.tavily_api_key is None:
            raise ConfigurationError(
                "The search provider tavily needs a key: get one at https://app.tavily.com, and set TAVILY_API_KEY."
            )
        self._key = settings.tavily_api_key.get_secret_value()
        self._url = settings.tavily_url
        super().__init__(
            options, client_for("Tavily", options, access="check TAVILY_API_KEY", secrets=[self._key], sleep=sleep)
        )

    @classmethod
    def configured(cls, options: SearchOptions) -> Tavily:
        """See `search.base.SearchProvider`."""
        return cls(options, TavilySettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`."""
        options = self.options
        body = {
            "query": query,
            "max_results": size,
            "include_domains": [site_name(site) for site in options.sites] or None,
            "exclude_domains": [site_name(site) for site in options.exclude_sites] or None,
            "start_date": options.since.isoformat() if options.since else None,
        }
        reply = self.client.json(
            "POST",
            self._url,
            body={name: value for name, value in body.items() if value is not None},
            headers={"authorization": f"Bearer {self._key}"},
            classify=_classify,
        )
        results, warnings = read_each(self.client, _Result, read(self.client, _Response, reply).results)
        hits = [
            Hit(
                url=result.url,
                title=result.title,
                snippet=result.content,
                text=result.content,
                published=result.published_date,
            )
            for result in results
        ]
        return Page(hits=hits, more=False, warnings=warnings)


def _classify(status: int, text: str) -> Verdict | None:
    """432 is the limit of the plan, 433 that of paying as one goes."""
    return "quota" if status in (432, 433) else None
