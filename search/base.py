"""The one interface of every search provider, and how a provider is found by its name."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from regen.errors import ConfigurationError
from regen.types import Document


class SearchResults(BaseModel):
    """What one search returned: documents, best first, and what went wrong on the way without stopping it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: list[Document] = []
    warnings: list[str] = []


@runtime_checkable
class SearchProvider(Protocol):
    """A place where documents come from."""

    name: str

    def top(self, query: str, k: int = 10) -> SearchResults:
        """The `k` best documents for `query`, ranked from 1, each with a unique id.

        No match is an empty list; a search that failed raises.

        Raises:
            InputError: what the user pointed it at cannot be searched.
            ConfigurationError: a setting or credential is missing or wrong.
            ProviderError: the provider failed for good.
        """
        ...


def provider_class(name: str) -> type[SearchProvider]:
    """The provider registered under `name` in the entry point group `regen.search`.

    Raises:
        ConfigurationError: no installed package registers that name.
    """
    found = {point.name: point for point in entry_points(group="regen.search")}
    if name not in found:
        raise ConfigurationError(f"There is no search provider {name!r}; there are: {', '.join(sorted(found))}.")
    loaded: type[SearchProvider] = found[name].load()
    return loaded
