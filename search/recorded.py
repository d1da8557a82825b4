"""The provider `recorded`: results kept in a JSONL file, for experiments that must see the same documents each time."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from regen.errors import ConfigurationError, InputError
from regen.types import Document
from search.base import Search, SearchOptions, SearchResults
from search.filters import Filters

_BEGINNING = b'{"query"'


class Recorded(BaseModel):
    """One line of a recording: what was asked, of whom and when, and what came back."""

    model_config = ConfigDict(extra="forbid")

    query: str
    k: int
    search: str = ""
    recorded_at: datetime | None = None
    documents: list[Document]
    warnings: list[str] = []


class RecordedSearch:
    """Searches a recording.

    Raises:
        InputError: the file is missing, or one of its lines is no recorded search.
    """

    name = "recorded"
    reads_pages = False

    def __init__(self, file: Path, filters: Filters | None = None) -> None:
        self.file = file
        self.filters = filters or Filters()
        self._found: dict[str, Recorded] = {}
        for number, line in _lines(file):
            try:
                item = Recorded.model_validate_json(line)
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"])) or "the line"
                raise InputError(f"{file}, line {number}: {place}: {first['msg']}.") from None
            self._found[_key(item.query)] = item

    @classmethod
    def configured(cls, options: SearchOptions) -> RecordedSearch:
        """See `search.base.SearchProvider`."""
        if options.recorded is None:
            raise ConfigurationError(
                "The search provider recorded needs a file: name one with --recorded; --record FILE writes it."
            )
        return cls(options.recorded, Filters.of(options))

    def top(self, query: str, k: int = 10) -> SearchResults:
        """What was recorded for `query`, whatever its case and spacing; of several, the last.

        Raises:
            InputError: that query was not recorded.
        """
        item = self._found.get(_key(query))
        if item is None:
            raise InputError(
                f"{self.file} holds {len(self._found)} recorded searches, but none for {query!r}: record it with "
                "--record, or ask in the recorded words."
            )
        kept, _ = self.filters.keep(item.documents)
        warnings = []
        if len(kept) < k and item.k < k:
            warnings.append(f"The recorded search asked for {item.k} documents, so there may be fewer than {k}.")
        documents = [document.model_copy(update={"rank": rank}) for rank, document in enumerate(kept[:k], 1)]
        return SearchResults(documents=documents, warnings=[*item.warnings, *warnings])


class Recording:
    """A provider that writes down what another one returns.

    Args:
        search: What is asked.
        file: Added to, one line a search; each is on disk before the results are used.
    """

    def __init__(self, search: Search, file: Path) -> None:
        self.search = search
        self.file = file
        self.name = search.name
        self._lock = threading.Lock()
        try:
            _mend(file)
        except OSError as error:
            raise InputError(f"{file} cannot be written: {error.strerror}.") from None

    def prepare(self, progress: object = None) -> None:
        """As the provider that is asked does."""
        prepare = getattr(self.search, "prepare", None)
        if prepare is not None:
            prepare(progress)

    def top(self, query: str, k: int = 10) -> SearchResults:
        """See `search.base.SearchProvider`."""
        results = self.search.top(query, k)
        item = Recorded(query=query, k=k, search=self.name, recorded_at=datetime.now(UTC), **dict(results))
        with self._lock, self.file.open("a", encoding="utf-8") as file:
            file.write(item.model_dump_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        return results


def _mend(file: Path) -> None:
    """Makes the file, or cuts away a last line that broke off.

    Raises:
        InputError: it holds something else than a recording.
    """
    if file.exists() and not file.is_file():
        raise InputError(f"{file} is no file that can be added to: name another one with --record.")
    with file.open("a+b") as recording:
        recording.seek(0)
        whole = 0
        for line in recording:
            if _is_recorded(line):
                whole += len(line)
                if not line.endswith(b"\n"):
                    recording.write(b"\n")
            elif line.endswith(b"\n") or not (line.startswith(_BEGINNING) or _BEGINNING.startswith(line)):
                raise InputError(
                    f"{file} holds something else than recorded searches: name another file with --record."
                )
            else:
                recording.truncate(whole)


def _is_recorded(line: bytes) -> bool:
    try:
        Recorded.model_validate_json(line)
    except ValidationError:
        return not line.strip()
    return True


def _key(query: str) -> str:
    return " ".join(query.split()).casefold()


def _lines(file: Path) -> list[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text: it is no recording of searches.") from None
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
