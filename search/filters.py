"""Which results a user wants: by site, and by date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from pydantic import BaseModel, ConfigDict

from regen.types import Document
from search.base import SearchOptions
from search.urls import is_web, on_site


def time_range(since: date, ranges: Mapping[str, int], today: date | None = None) -> str | None:
    """The shortest of an engine's time ranges, in days up to now, that has all of the day `since` in it, or None."""
    days = ((today or date.today()) - since).days + 1
    return min((name for name, limit in ranges.items() if days <= limit), key=ranges.__getitem__, default=None)


class Filters(BaseModel):
    """Only these sites, none of those, nothing known to be older than a date."""

    model_config = ConfigDict(frozen=True)

    sites: tuple[str, ...] = ()
    exclude_sites: tuple[str, ...] = ()
    since: date | None = None

    @classmethod
    def of(cls, options: SearchOptions) -> Filters:
        """Those that a user asked for."""
        return cls(sites=options.sites, exclude_sites=options.exclude_sites, since=options.since)

    def wants(self, url: str, published: date | None) -> bool:
        """Whether a result passes; one without a date does, whatever `since` says, and a file of any site."""
        if self.since and published and published < self.since:
            return False
        if not is_web(url):
            return True
        if self.sites and not on_site(url, self.sites):
            return False
        return not on_site(url, self.exclude_sites)

    def keep(self, documents: Sequence[Document]) -> tuple[list[Document], list[str]]:
        """The documents that pass, and a warning where some of them have no date to go by."""
        kept = [document for document in documents if self.wants(document.url, document.dated)]
        undated = sum(document.dated is None for document in kept)
        if not (self.since and undated):
            return kept, []
        return kept, [
            f"{undated} of {len(kept)} results have no publication date, so they may be older than "
            f"{self.since.isoformat()}."
        ]
