"""Serper, the results of Google's search by its own key: https://serper.dev"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from typing import Any

from regen.errors import ConfigurationError
from search.base import Address, Key, ProviderSettings, SearchOptions
from search.http import Verdict
from search.replies import Day, Items, Reply, Text, read, read_each
from search.urls import with_sites
from search.web import Hit, Page, WebSearch, client_for


class SerperSettings(ProviderSettings):
    """Where Serper is, and the key for it."""

    serper_api_key: Key | None = None
    serper_url: Address = "https://google.serper.dev/search"


class _Response(Reply):
    searchParameters: Any = None  # noqa: N815 (the name in the reply; every one has it)
    organic: Items = []


class _Result(Reply):
    link: str
    title: Text = ""
    snippet: Text = ""
    date: Day = None


class Serper(WebSearch):
    """Search with Serper: 10 results a page (more cost double); filters by site with operators, by date natively."""

    name = "serper"
    settings = SerperSettings
    page_size = 10

    def __init__(
        self, options: SearchOptions, settings: SerperSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if settings.serper_api_key is None:
            raise ConfigurationError(
                "The search provider serper needs a key: get one at https://serper.dev, and set SERPER_API_KEY."
            )
        self._key = settings.serper_api_key.get_secret_value()
        self._url = settings.serper_url
        super().__init__(
            options, client_for("Serper", options, access="check SERPER_API_KEY", secrets=[self._key], sleep=sleep)
        )

    @classmethod
    def configured(cls, options: SearchOptions) -> Serper:
        """See `search.base.SearchProvider`."""
        return cls(options, SerperSettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`."""
        options = self.options
        body: dict[str, object] = {
            "q": with_sites(query, options.sites, options.exclude_sites),
            "num": size,
            "page": number + 1,
        }
        if options.since:
            body["tbs"] = f"cdr:1,cd_min:{_american(options.since)},cd_max:{_american(date.today())}"
        reply = self.client.json("POST", self._url, body=body, headers={"x-api-key": self._key}, classify=_classify)
        results, warnings = read_each(self.client, _Result, read(self.client, _Response, reply).organic)
        hits = [
            Hit(url=result.link, title=result.title, snippet=result.snippet, published=result.date)
            for result in results
        ]
        return Page(hits=hits, more=bool(hits), warnings=warnings)


def _american(day: date) -> str:
    return f"{day.month}/{day.day}/{day.year}"


def _classify(status: int, text: str) -> Verdict | None:
    """Credits that are used up are status 400 here."""
    return "quota" if status == 400 and "credits" in text else None
