"""Which search to use, and the search that names and options ask for, put together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regen.errors import ConfigurationError
from search.base import Search, SearchOptions, provider_class
from search.combined import CombinedSearch, Reader
from search.filters import Filters
from search.recorded import Recording

# Web providers in the order in which they are taken when none is named and their keys are set.
WITH_KEYS = ("brave", "tavily", "serper", "google", "vertex", "searxng", "opensearch")
WITHOUT_KEY = "ddgs"


def chosen(named: str | None, options: SearchOptions) -> tuple[list[str], str]:
    """The providers to ask, and why, as one clause.

    Those that are named; else the folder of documents or the recording that is given; else the first one of the web
    whose credentials are set; else the one that needs none.

    Raises:
        ConfigurationError: a name is empty, or stands twice; a key that is set is not valid.
    """
    if named is not None:
        names = [name.strip() for name in named.split(",")]
        if not all(names) or len(set(names)) < len(names):
            raise ConfigurationError(f"--search takes different providers' names with commas, not {named!r}.")
        return names, "the command line (--search, --docs, --recorded) or REGEN_SEARCH names it"
    if options.docs is not None:
        return ["local"], "a folder of documents is named"
    if options.recorded is not None:
        return ["recorded"], "a recording is named"
    for name in WITH_KEYS:
        provider = provider_class(name)
        if (own := getattr(provider, "settings", None)) is not None:
            own.read()  # A key that is set and not valid is told, not passed over.
        try:
            provider.configured(options)
        except ConfigurationError:
            continue
        return [name], "its credentials are set"
    return [WITHOUT_KEY], "no folder is named and no search key is set, and it needs none"


def make_search(
    names: Sequence[str], options: SearchOptions, *, reader: Reader | None = None, record: Path | None = None
) -> Search:
    """The search over all of `names`.

    Args:
        names: Providers, at least one.
        options: What the user asks of them.
        reader: Reads the pages behind web results; None leaves them at their snippets.
        record: A file to which every search is added.

    Raises:
        ConfigurationError: no such provider, or one that misses a setting.
        InputError: a recording that cannot be read or written.
    """
    providers = [provider_class(name).configured(options) for name in names]
    found = CombinedSearch(providers, reader, Filters.of(options))
    return Recording(found, record) if record else found
