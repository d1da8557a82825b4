"""What every provider of web results shares: paging to k, one entry a page, and the filters a user asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import UTC, date, datetime
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from regen.types import Document
from search.base import SearchOptions, SearchResults
from search.text import clean, one_line
from search.urls import canonical

# A provider whose results are all filtered out is asked for this many pages at most.
MOST_PAGES = 10


class Hit(BaseModel):
    """One result as a search API gives it."""

    model_config = ConfigDict(frozen=True)

    url: str
    title: str = ""
    snippet: str = ""
    text: str = ""
    published: date | None = None


class Page(BaseModel):
    """One page of results. `more` says whether there can be another one; `warnings` what the provider said of it."""

    model_config = ConfigDict(frozen=True)

    hits: list[Hit]
    more: bool
    warnings: list[str] = []


class WebSearch(ABC):
    """A provider of web results. A new one says its name, its page size, and how to get one page."""

    name: str
    page_size: int
    """Results of one page at most."""

    def __init__(self, options: SearchOptions) -> None:
        self.options = options

    @abstractmethod
    def page(self, query: str, number: int, size: int) -> Page:
        """Page `number`, from 0, of the results for `query`, `size` of them at most.

        Raises:
            SearchError: the search failed for good.
        """

    def top(self, query: str, k: int = 10) -> SearchResults:
        """See `search.base.SearchProvider`.

        Pages are asked for until there are `k` results or no more. Results with the same canonical address are one;
        those of sites that were not asked for and those known to be older than `since` are left out. A result without
        a date stays, and a warning says how many there are.
        """
        size = min(self.page_size, max(k, 1))
        found: dict[str, Hit] = {}
        warnings: list[str] = []
        for number in range(MOST_PAGES):
            page = self.page(query, number, size)
            warnings += page.warnings
            for hit in page.hits:
                if hit.url and self._wanted(hit):
                    found.setdefault(canonical(hit.url), hit)
            if len(found) >= k or not page.more or not page.hits:
                break
        hits = list(found.values())[:k]
        undated = sum(hit.published is None for hit in hits)
        if self.options.since and undated:
            warnings.append(
                f"{undated} of {len(hits)} results have no date, so they may be older than "
                f"{self.options.since.isoformat()}."
            )
        return SearchResults(documents=self._documents(hits), warnings=list(dict.fromkeys(warnings)))

    def _wanted(self, hit: Hit) -> bool:
        options = self.options
        if hit.published and options.since and hit.published < options.since:
            return False
        if options.sites and not on_site(hit.url, options.sites):
            return False
        return not on_site(hit.url, options.exclude_sites)

    def _documents(self, hits: Sequence[Hit]) -> list[Document]:
        now = datetime.now(UTC)
        return [
            Document(
                id=canonical(hit.url),
                url=hit.url,
                title=one_line(clean(hit.title)),
                snippet=one_line(clean(hit.snippet)),
                text=clean(hit.text or hit.snippet),
                published=hit.published,
                published_from="provider" if hit.published else None,
                rank=rank,
                source=self.name,
                retrieved_at=now,
            )
            for rank, hit in enumerate(hits, 1)
        ]


def on_site(url: str, sites: Sequence[str]) -> bool:
    """Whether an address belongs to one of `sites`: a host with all its subdomains, or a host and a path."""
    parts = urlsplit(url)
    host, path = (parts.hostname or "").removeprefix("www."), parts.path.rstrip("/") + "/"
    for site in sites:
        wanted, _, below = site.split("://")[-1].lower().removeprefix("www.").partition("/")
        same = host == wanted or host.endswith("." + wanted)
        if same and (not below.strip("/") or path.lower().startswith(f"/{below.strip('/')}/")):
            return True
    return False


def with_sites(query: str, sites: Sequence[str], exclude: Sequence[str] = ()) -> str:
    """A query with the operators that most web searches know for sites."""
    only = " OR ".join(f"site:{site}" for site in sites)
    wanted = [f"({only})" if len(sites) > 1 else only] if only else []
    return " ".join([query, *wanted, *(f"-site:{site}" for site in exclude)])
