"""What every provider of results shares: paging to k, one entry a page, and the filters a user asked for."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

from pydantic import BaseModel, ConfigDict

from regen.types import Document
from search.base import ProviderSettings, SearchError, SearchOptions, SearchResults
from search.filters import Filters
from search.http import HttpClient
from search.text import clean, one_line
from search.urls import canonical, is_web

# Results to ask for at once at least: duplicates and filters take some away, and most APIs charge by the page.
SMALLEST_PAGE = 10
# Pages to ask for beyond those that hold k results, where duplicates and filters leave fewer.
SPARE_PAGES = 2


class Hit(BaseModel):
    """One result as a search API gives it. One that has no `url` on the web needs an `id`."""

    model_config = ConfigDict(frozen=True)

    url: str = ""
    id: str = ""
    title: str = ""
    snippet: str = ""
    text: str = ""
    published: date | None = None


class Page(BaseModel):
    """One page of results. `more` says whether there can be another one; `warnings` what is to be known of it."""

    model_config = ConfigDict(frozen=True)

    hits: list[Hit]
    more: bool
    warnings: list[str] = []


class WebSearch(ABC):
    """A provider of results. A new one says its name, its page size, and how to get one page.

    Args:
        options: What the user asks of the search.
        client: Talks to the API.
    """

    name: str
    settings: type[ProviderSettings]
    """Its own settings, for `regen config`."""
    page_size: int
    """Results of one page at most."""
    most: int | None = None
    """Results of one query at most, where the API has such a limit."""
    reads_pages: bool = True
    """Whether results are web pages, to be fetched and read; else the documents are whole as they are."""

    def __init__(self, options: SearchOptions, client: HttpClient) -> None:
        self.options, self.client = options, client
        self.filters = Filters.of(options)

    @abstractmethod
    def page(self, query: str, number: int, size: int) -> Page:
        """Page `number`, from 0, of the results for `query`, `size` of them at most.

        Raises:
            SearchError: the search failed for good.
        """

    def top(self, query: str, k: int = 10) -> SearchResults:
        """See `search.base.SearchProvider`.

        Pages are asked for until there are `k` results or no more. Results with the same canonical address are one;
        those of sites that were not asked for and those known to be older than `since` are left out. Where a later page
        fails, the results of those before it are returned, with a warning.
        """
        query = " ".join(clean(query).split())
        size = min(self.page_size, max(k, SMALLEST_PAGE))
        found: dict[str, Hit] = {}
        warnings: list[str] = []
        nowhere = 0
        for number in range(-(-k // size) + SPARE_PAGES):
            try:
                page = self.page(query, number, size)
            except SearchError as error:
                if not found:
                    raise
                warnings.append(f"Only the first {len(found)} results were found: {error}")
                break
            warnings += page.warnings
            for hit in page.hits:
                place = hit.url if is_web(hit.url) else " ".join(clean(hit.id).split())
                nowhere += not place
                if place and self.filters.wants(hit.url, hit.published):
                    found.setdefault(canonical(place), hit)
            if len(found) >= k or not page.more:
                break
        if nowhere:
            warnings.append(
                f"{nowhere} of the results of {self.client.provider} have no web address, and are left out."
            )
        kept = dict(list(found.items())[: max(k, 0)])
        if self.most is not None and k > self.most:
            warnings.append(f"{self.client.provider} gives at most {self.most} results for a query.")
        return SearchResults(documents=self._documents(kept), warnings=list(dict.fromkeys(warnings)))

    def _documents(self, hits: dict[str, Hit]) -> list[Document]:
        now = datetime.now(UTC)
        return [
            Document(
                id=place,
                url=hit.url if is_web(hit.url) else "",
                title=one_line(clean(hit.title)),
                snippet=one_line(clean(hit.snippet)),
                text=clean(hit.text or hit.snippet),
                published=hit.published,
                published_from="provider" if hit.published else None,
                rank=rank,
                source=self.name,
                retrieved_at=now,
            )
            for rank, (place, hit) in enumerate(hits.items(), 1)
        ]


def client_for(
    provider: str,
    options: SearchOptions,
    *,
    access: str,
    secrets: Sequence[str] = (),
    sleep: Callable[[float], None] = time.sleep,
) -> HttpClient:
    """The HTTP client of a provider, as patient as the user wants it."""
    return HttpClient(
        provider,
        access=access,
        timeout=options.timeout,
        retries=options.retries,
        secrets=tuple(secrets),
        sleep=sleep,
    )
