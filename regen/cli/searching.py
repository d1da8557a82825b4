"""The search that the settings ask for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from regen.cli.terminal import Steps
    from regen.settings import Settings
    from search import Search, SearchOptions


def search_options(settings: Settings) -> SearchOptions:
    """What the settings ask of a search."""
    from search import SearchOptions

    return SearchOptions(
        docs=settings.docs,
        recorded=settings.recorded,
        sites=settings.sites,
        exclude_sites=settings.exclude_sites,
        since=settings.since,
        timeout=settings.search_timeout,
        retries=settings.retries,
    )


def prepared(settings: Settings, steps: Steps, *, record: Path | None = None, refresh: bool = False) -> Search:
    """The search that the settings ask for, with its index up to date where it has one.

    Raises:
        ConfigurationError: no such provider, or one that misses a setting.
        InputError: a folder or a recording that cannot be read or written.
    """
    from search.build import chosen, make_search
    from search.reading import PageReader

    options = search_options(settings)
    names, _ = chosen(settings.search, options)
    reader = PageReader(deadline=settings.page_deadline, allow_private=settings.allow_private, refresh=refresh)
    if options.docs is not None and "local" not in names:
        steps.note(f"{options.docs} is not searched: --search names {', '.join(names)}, and not local.")
    if options.sites and names == ["local"]:
        steps.note("--site is about results of the web: the files of a folder are of no site, and all are searched.")
    found = make_search(names, options, reader=reader if settings.read_pages else None, record=record)
    prepare = getattr(found, "prepare", None)
    if prepare is not None:
        with steps.live():
            prepare(lambda done, total: steps("reading documents", done, total))
    return found
