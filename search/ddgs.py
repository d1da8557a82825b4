"""Web search without a key, by the package ddgs, which asks public search engines: https://github.com/deedy5/ddgs"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from math import ceil

from search.base import ProviderSettings, SearchError, SearchOptions
from search.filters import time_range
from search.http import PassingError, patiently
from search.replies import Reply, Text, read_each
from search.urls import with_sites
from search.web import Hit, Page, WebSearch, client_for

_RANGES = {"d": 1, "w": 7, "m": 30, "y": 365}


class DdgsSettings(ProviderSettings):
    """Which search engines to ask, separated by commas, and for which region."""

    ddgs_backend: str = "auto"
    ddgs_region: str = "us-en"


class _Result(Reply):
    href: str
    title: Text = ""
    body: Text = ""


class Ddgs(WebSearch):
    """Search with public engines, as many results a page as they give. Sites are filtered with operators, dates by
    the engines' time ranges where they have them; results have no dates.
    """

    name = "ddgs"
    settings = DdgsSettings
    page_size = 10

    def __init__(
        self, options: SearchOptions, settings: DdgsSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._settings = settings
        client = client_for("ddgs", options, access="name another provider with --search", sleep=sleep)
        client.hide(os.environ.get("DDGS_PROXY", ""))
        super().__init__(options, client)

    @classmethod
    def configured(cls, options: SearchOptions) -> Ddgs:
        """See `search.base.SearchProvider`."""
        return cls(options, DdgsSettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`. The package takes an engine that refuses for one that finds nothing, so that no result at
        all is a failure: it cannot be told from one, and engines refuse far more often than they find nothing.
        """
        results, warnings = read_each(
            self.client,
            _Result,
            patiently(lambda: self._ask(query, number, size), self.client.retries, self.client.sleep),
        )
        if not results and number == 0:
            raise SearchError(
                "The search engines that ddgs asks gave no result: they may refuse programs at the moment, or know "
                "nothing; try again later, ask in other words, or name another provider with --search.",
                "unavailable",
            )
        hits = [Hit(url=result.href, title=result.title, snippet=result.body) for result in results]
        return Page(hits=hits, more=bool(hits), warnings=warnings)

    def _ask(self, query: str, number: int, size: int) -> list[object]:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        options = self.options
        try:
            found: object = DDGS(timeout=max(1, ceil(options.timeout))).text(
                with_sites(query, options.sites, options.exclude_sites),
                region=self._settings.ddgs_region,
                timelimit=time_range(options.since, _RANGES) if options.since else None,
                max_results=size,
                page=number + 1,
                backend=self._settings.ddgs_backend,
            )
        except RatelimitException as error:
            raise PassingError(_quota(error)) from None
        except TimeoutException:
            cause = f"no answer within {options.timeout:g} seconds"
            raise PassingError(self.client.unavailable(cause)) from None
        except DDGSException as error:
            if "No results found" in str(error):
                return []
            # What follows the first bracket is written for those who maintain the package.
            raise PassingError(self.client.unavailable(str(error).partition("(")[0].strip())) from None
        except Exception as error:  # noqa: BLE001 (pages of strangers, read by several parsers: anything can break)
            raise self.client.bad_reply(f"{type(error).__name__}: {error}") from None
        if not isinstance(found, list):
            raise self.client.bad_reply("no list of results")
        return found


def _quota(error: Exception) -> SearchError:
    return SearchError(
        f"The search engines that ddgs asks give no more searches at this pace ({type(error).__name__}); wait, or "
        "name another provider with --search.",
        "quota",
    )
