"""The provider `local`: a folder of Markdown, text, HTML, PDF and Word files."""

from __future__ import annotations

import hashlib
import sqlite3
import stat
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

from regen.errors import ConfigurationError, InputError, ProviderError
from regen.paths import cache_dir
from regen.types import Document
from search.base import SearchOptions, SearchResults
from search.folder import READABLE, Listing, listing
from search.index import Hit, Index
from search.store import Passage, Store, wipe
from search.text import is_unspaced, one_line

PASSAGES_PER_FILE = 2  # of one file in one result list, at most
LOCK_SECONDS = 600  # to wait for another process that is indexing the same folder

# The index holds words, as spaces and marks tell them apart.
_WORDS_ALONE = (
    "The query is in a language without spaces between words, of which the search of a folder finds only what stands "
    "between spaces or marks: ask another provider."
)

_T = TypeVar("_T")


class LocalSearch:
    """Search over the documents in `folder` and its subfolders.

    What was read is kept in `cache` (default: `index` in the user's cache folder), never in `folder`, and only files
    whose size or time of change differ are read again. A file that cannot be read is a warning of every search.
    """

    name = "local"
    reads_pages = False

    def __init__(self, folder: Path, *, cache: Path | None = None) -> None:
        self.folder = folder
        self._cache = cache
        self._mended: list[str] = []  # a warning for each time that damage was found, kept for the next search

    @classmethod
    def configured(cls, options: SearchOptions) -> LocalSearch:
        """See `search.base.SearchProvider`."""
        if options.docs is None:
            raise ConfigurationError("The search provider local needs a folder of documents: name one with --docs.")
        return cls(options.docs)

    def prepare(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring the index up to date. `progress` gets how many files were read, and how many there are to read.

        Raises:
            InputError: the folder is missing, is no folder, or holds no readable document.
            ConfigurationError: the cache cannot be written.
            ProviderError: another process has been indexing the folder for ten minutes.
        """
        self._with_index(lambda store, index: None, progress)

    def top(self, query: str, k: int = 10) -> SearchResults:
        """The `k` passages that match `query` best by BM25, words in the title counting twice.

        Distinct files come first: the best passage of each file is chosen, best first, up to `k`; only where files
        run out are second passages added, and never a third. Those chosen are then ranked by score; equal scores stand
        in the order of their paths. No match is an empty list.

        Raises:
            InputError, ConfigurationError, ProviderError: as `prepare`, which it does first.
        """

        def find(store: Store, index: Index) -> list[Passage]:
            return [store.passage(hit.passage) for hit in _diverse(index.search(query), k)]

        passages, warnings = self._with_index(find)
        if not passages and is_unspaced(query):
            warnings = [*warnings, _WORDS_ALONE]
        return self._results(passages, warnings)

    def everything(self, progress: Callable[[int, int], None] | None = None) -> SearchResults:
        """Every passage of every file, in the order of path and number, ranked by it. Neighbours overlap.

        Args:
            progress: As in `prepare`.

        Raises:
            InputError, ConfigurationError, ProviderError: as `prepare`, which it does first.
        """
        return self._results(*self._with_index(lambda store, _: store.passages(), progress))

    def _results(self, passages: list[Passage], warnings: list[str]) -> SearchResults:
        now = datetime.now(UTC)
        root = self.folder.resolve()
        documents = [
            Document.model_validate(
                {
                    "id": passage.path if passage.of == 1 else f"{passage.path}#{passage.number}",
                    "text": passage.text,
                    "title": passage.title,
                    "url": (root / passage.path).as_uri(),
                    "snippet": one_line(passage.text),
                    "published": date.fromisoformat(passage.published) if passage.published else None,
                    "published_from": passage.published_from,
                    "rank": rank,
                    "source": self.name,
                    "retrieved_at": now,
                }
            )
            for rank, passage in enumerate(passages, 1)
        ]
        return SearchResults(documents=documents, warnings=warnings)

    def _with_index(
        self, use: Callable[[Store, Index], _T], progress: Callable[[int, int], None] | None = None
    ) -> tuple[_T, list[str]]:
        """What `use` makes of store and index once they are up to date, and the warnings."""
        from filelock import FileLock, Timeout

        folder = _checked(self.folder)
        cache = self._cache or cache_dir() / "index"
        home = cache / hashlib.sha256(str(folder).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        found = listing(folder)

        def attempt() -> tuple[_T, list[str]]:
            with closing(Store(home)) as store:
                store.update(found.files, progress)
                warnings = sorted(found.warnings + store.warnings())
                if not store.count():
                    raise InputError(_nothing_readable(self.folder, found, warnings))
                index = Index(store)
                if index.damaged:
                    self._mended.append(f"The full-text index of {self.folder} was damaged, and was built again.")
                return use(store, index), warnings + self._mended

        try:
            home.mkdir(parents=True, exist_ok=True)
            with FileLock(home / "lock", timeout=LOCK_SECONDS):
                try:
                    return attempt()
                except sqlite3.DatabaseError as error:
                    wipe(home)
                    self._mended.append(f"The index of {self.folder} was damaged ({error}); all was read again.")
                    return attempt()
        except Timeout:
            raise ProviderError(
                f"Another process has been indexing {self.folder} for {LOCK_SECONDS // 60} minutes; try again later."
            ) from None
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"The cache folder {cache} cannot be used ({error}); set REGEN_CACHE_DIR to one that can be written."
            ) from error


def _checked(folder: Path) -> Path:
    """The folder's absolute path, without links in it."""
    try:
        found = folder.stat()
        resolved = folder.resolve()
    except (OSError, ValueError) as error:
        problem = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be opened ({error})"
    else:
        if stat.S_ISDIR(found.st_mode):
            return resolved
        problem = "is not a folder"
    raise InputError(f"The documents folder {folder} {problem}; name a folder that holds your documents.")


def _diverse(hits: list[Hit], k: int) -> list[Hit]:
    """The hits of one result list, by the rule in `LocalSearch.top`. `hits` are ranked, and stay so."""
    rounds: list[list[int]] = [[] for _ in range(PASSAGES_PER_FILE)]
    seen: Counter[int] = Counter()
    for place, hit in enumerate(hits):
        if seen[hit.file] < PASSAGES_PER_FILE:
            rounds[seen[hit.file]].append(place)
            seen[hit.file] += 1
    chosen = [place for one in rounds for place in one][: max(k, 0)]
    return [hits[place] for place in sorted(chosen)]


def _nothing_readable(folder: Path, found: Listing, warnings: list[str]) -> str:
    parts = [f"There is no readable document in {folder}: looked for {', '.join(READABLE)}"]
    if found.others:
        parts.append(f"{found.others} {'file' if found.others == 1 else 'files'} of another kind")
    if warnings:
        more = "" if len(warnings) == 1 else ", and more"
        parts.append(f"{len(warnings)} that could not be read ({warnings[0].removesuffix('.')}{more})")
    counts = f"; found {' and '.join(parts[1:])}" if parts[1:] else ""
    return f"{parts[0]}{counts}. Name a folder that holds such files."
