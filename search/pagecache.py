"""What was read from pages, kept on disk for some days, so that the same page is not asked for again and again."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path
from typing import Any

import diskcache
from pydantic import ValidationError

from regen.paths import cache_dir
from search.parse import Page

DAYS = 7.0  # that a page is kept
LARGEST = 500_000_000  # bytes of all pages together; the ones that were kept first go first

# Raised with every change of what is read from a page.
_VERSION = 2
_BUSY_SECONDS = 5.0
# The last two: a file that is no database, and one that another version wrote.
_UNUSABLE = (OSError, sqlite3.Error, diskcache.Timeout, ValueError, TypeError)


class CacheError(Exception):
    """The cache cannot be used. The message is the cause."""


class PageCache:
    """Pages by their address: text, title and date as they were read, not what the server sent.

    Opened when it is first used. Pages of the own network have entries of their own, so that they are never given to
    a reader that may not ask for them. What is asked for is kept as a hash, since some addresses hold a secret.
    """

    def __init__(self, folder: Path | None = None, *, days: float = DAYS) -> None:
        self.folder = folder or cache_dir() / "pages"
        self._seconds = days * 24 * 3600
        self._opened: diskcache.Cache | None = None

    def get(self, url: str, *, private: bool = False) -> Page | None:
        """The page as it was read, or None where it is not there or too old.

        Raises:
            CacheError: the cache cannot be used.
        """
        try:
            found = self._cache().get(_key(url, private))
        except _UNUSABLE as error:
            raise self._unusable(error) from error
        try:
            return Page.model_validate_json(found) if isinstance(found, str) else None
        except ValidationError:
            return None

    def put(self, url: str, page: Page, *, private: bool = False) -> None:
        """Keep a page.

        Raises:
            CacheError: the cache cannot be used.
        """
        try:
            self._cache().set(_key(url, private), page.model_dump_json(), expire=self._seconds)
        except _UNUSABLE as error:
            raise self._unusable(error) from error

    def _cache(self) -> diskcache.Cache:
        if self._opened is None:
            self._opened = diskcache.Cache(
                str(self.folder), timeout=_BUSY_SECONDS, disk=_Texts, size_limit=LARGEST, cull_limit=50
            )
        return self._opened

    def _unusable(self, error: Exception) -> CacheError:
        cause = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return CacheError(f"The cache of pages in {self.folder} cannot be used ({cause})")


def _key(url: str, private: bool) -> str:
    return hashlib.sha256(f"{_VERSION} {private} {url}".encode("utf-8", "surrogatepass")).hexdigest()


class _Texts(diskcache.Disk):
    """Texts only: an entry that holds a pickle, which would be code to run, is not ours."""

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode == diskcache.core.MODE_PICKLE:
            raise ValueError("it holds something that regen did not put there")
        return super().fetch(mode, filename, value, read)
