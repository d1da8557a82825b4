"""The one interface of every search provider, how one is found by its name, and how it is made."""

from __future__ import annotations

import tomllib
from datetime import date
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self, runtime_checkable
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr, ValidationError

from regen.errors import ConfigurationError, ProviderError
from regen.layers import LayeredSettings, problem
from regen.paths import config_file
from regen.types import Document

Failure = Literal["credentials", "quota", "unavailable", "bad reply"]


class SearchError(ProviderError):
    """A search that failed for good. No match is no failure: that is an empty result.

    `kind` says why: `credentials` are missing or refused (exit code 3), the `quota` is used up, the provider is
    `unavailable` (down, out of time, or too busy after every try), or its `bad reply` cannot be read (exit code 4).
    """

    def __init__(self, message: str, kind: Failure) -> None:
        super().__init__(message)
        self.kind: Failure = kind
        self.exit_code = 3 if kind == "credentials" else 4


class SearchResults(BaseModel):
    """What one search returned: documents, best first, and what went wrong on the way without stopping it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    documents: list[Document] = []
    warnings: list[str] = []


class SearchOptions(BaseModel):
    """What a user asks of a search beside the query. A provider takes what means something to it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    docs: Path | None = None
    recorded: Path | None = None
    sites: tuple[str, ...] = ()
    exclude_sites: tuple[str, ...] = ()
    since: date | None = None
    timeout: float = 20.0
    retries: int = 3


def _key(value: SecretStr) -> SecretStr:
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ValueError("it must be one word of ASCII characters")
    return SecretStr(key)


def _address(value: str) -> str:
    try:
        parts = urlsplit(value.strip())
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole:
        raise ValueError("it must be an address that begins with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("it must hold no user and no password")
    return value.strip().rstrip("/")


Key = Annotated[SecretStr, AfterValidator(_key)]
"""A key or token that can be sent in a header."""

Address = Annotated[str, AfterValidator(_address)]
"""Where an API is, without a slash at its end."""


class ProviderSettings(LayeredSettings):
    """Base of a provider's own settings: keys and addresses, by their usual names.

    A field `brave_api_key` is read from the environment variable BRAVE_API_KEY, else from `.env`, else from
    `brave_api_key` in the config file.
    """

    @classmethod
    def read(cls) -> Self:
        """The settings as the user has them.

        Raises:
            ConfigurationError: one is not valid, or the config file cannot be read.
        """
        try:
            return cls()
        except ValidationError as error:
            name, cause = problem(error)
            raise ConfigurationError(f"{name.upper() or 'A setting'} is not valid: {cause}.") from None
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ConfigurationError(f"The config file {config_file()} is not valid TOML: {error}.") from None


@runtime_checkable
class Search(Protocol):
    """Anything that finds documents."""

    name: str

    def top(self, query: str, k: int = 10) -> SearchResults:
        """The `k` best documents for `query`, ranked from 1, each with a unique id.

        No match is an empty list; a search that failed raises.

        Raises:
            InputError: what the user pointed it at cannot be searched.
            ConfigurationError: a setting or credential is missing or wrong.
            SearchError: the provider failed for good.
        """
        ...


@runtime_checkable
class SearchProvider(Search, Protocol):
    """A place where documents come from, registered under its name."""

    reads_pages: bool
    """Whether its results are web pages, to be fetched and read before they are used."""

    @classmethod
    def configured(cls, options: SearchOptions) -> Self:
        """The provider as the settings and `options` want it. Asks nothing of the network.

        Raises:
            ConfigurationError: a setting or credential is missing; the sentence says which, and where to get it.
        """
        ...


def provider_settings() -> dict[str, type[ProviderSettings]]:
    """The settings that installed providers have of their own, by name, with the class that reads them.

    A provider says which they are in the attribute `settings`.
    """
    classes = [getattr(provider_class(name), "settings", None) for name in provider_names()]
    return {field: found for found in classes if found is not None for field in found.model_fields}


def provider_names() -> list[str]:
    """The names of all providers that are installed."""
    return sorted(point.name for point in entry_points(group="regen.search"))


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
