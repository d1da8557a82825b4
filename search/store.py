"""The store of one folder, in the user's cache: what was read from each file, cut into passages.

It is brought up to date file by file, in transactions, so that a run that was killed loses only its last seconds.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from search.files import read
from search.folder import Entry
from search.passages import passages
from search.text import Content, UnreadableError

FORMAT = 1  # to be raised with every change to the schema, to how files are read, and to how passages are cut
CHECKPOINT_SECONDS = 2.0  # of reading files, after which what was read is saved
_SCHEMA = """
    CREATE TABLE state (generation INTEGER NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO state VALUES (0, 0);
    CREATE TABLE files (
        id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
        title TEXT NOT NULL, published TEXT, published_from TEXT, passages INTEGER NOT NULL, warnings TEXT NOT NULL
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
        number INTEGER NOT NULL, text TEXT NOT NULL
    );
    CREATE INDEX passages_of_file ON passages (file);
"""
_PASSAGES = (
    "SELECT path, number, files.passages, text, title, published, published_from"
    " FROM passages JOIN files ON files.id = file"
)


@dataclass(frozen=True)
class Passage:
    """One passage, and its file. `number` counts from 1; `of` is how many passages the file has."""

    path: str
    number: int
    of: int
    text: str
    title: str
    published: str | None
    published_from: str | None


class Store:
    """The store in the folder `home`. One process at a time may use it; the caller sees to that.

    Every method raises sqlite3.DatabaseError where the store is damaged, and OSError where `home` can't be written.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self._passing: list[str] = []  # warnings of this run alone
        self._db = self._connect()
        # This looks at the pages: a damaged file is to be told from one of another format.
        self._db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if self._db.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
            self.close()
            wipe(home)
            self._db = self._connect()
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")

    def close(self) -> None:
        """Let go of the store; what was not saved is dropped."""
        self._db.close()

    def update(self, files: Mapping[str, Entry], progress: Callable[[int, int], None] | None = None) -> None:
        """Read the files that are new or changed, and forget those that are gone.

        `progress` is called after each file that was read, with how many were, and how many there are to read.
        """
        rows = self._db.execute("SELECT path, size, mtime_ns FROM files")
        known = {path: (size, mtime_ns) for path, size, mtime_ns in rows}
        gone = known.keys() - files.keys()
        changed = sorted(path for path, entry in files.items() if known.get(path) != (entry.size, entry.mtime_ns))
        outdated = [(path,) for path in [*gone, *changed] if path in known]
        self._db.executemany("DELETE FROM files WHERE path = ?", outdated)
        altered = bool(outdated)
        saved = time.monotonic()
        for done, path in enumerate(changed, 1):
            altered |= self._add(path, files[path])
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                self._save()
                saved = time.monotonic()
            if progress:
                progress(done, len(changed))
        if altered:
            self._save()

    def count(self) -> int:
        """How many passages there are."""
        return int(self._db.execute("SELECT count(*) FROM passages").fetchone()[0])

    def warnings(self) -> list[str]:
        """What went wrong with files when they were read."""
        rows = self._db.execute("SELECT warnings FROM files WHERE warnings != '[]' ORDER BY path")
        return [warning for (warnings,) in rows for warning in json.loads(warnings)] + self._passing

    def passage(self, key: int) -> Passage:
        """The passage with that key, and what is known of its file."""
        return Passage(*self._db.execute(f"{_PASSAGES} WHERE passages.id = ?", (key,)).fetchone())

    def passages(self) -> list[Passage]:
        """Every passage, in the order of path and number."""
        return [Passage(*row) for row in self._db.execute(f"{_PASSAGES} ORDER BY path, number")]

    def texts(self) -> Iterator[tuple[int, int, str, str]]:
        """Every passage in the order of path and number: its key, the key of its file, the file's title, the text."""
        yield from self._db.execute(
            "SELECT passages.id, file, title, text FROM passages JOIN files ON files.id = file ORDER BY path, number"
        )

    @property
    def generation(self) -> int:
        """A number that grows with every change, and never comes back."""
        return int(self._db.execute("SELECT generation FROM state").fetchone()[0])

    @property
    def checksum(self) -> int:
        """The checksum of the full-text index, which `keep_checksum` saved."""
        return int(self._db.execute("SELECT checksum FROM state").fetchone()[0])

    def keep_checksum(self, checksum: int) -> None:
        """Save the checksum of the full-text index."""
        self._db.execute("UPDATE state SET checksum = ?", (checksum,))
        self._db.commit()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.home / "passages.sqlite")
        db.execute("PRAGMA foreign_keys = ON")
        return db

    def _add(self, path: str, entry: Entry) -> bool:
        """Read one file into the store; false where that failed for a cause that may be gone the next time."""
        try:
            content = read(entry)
            warnings = [f"{path}: {warning}." for warning in content.warnings]
        except UnreadableError as error:
            content, warnings = Content(""), [f"{path} was not read: {error}."]
            if not error.lasting:
                self._passing += warnings
                return False
        texts = passages(content.text)
        file = self._db.execute(
            "INSERT INTO files (path, size, mtime_ns, title, published, published_from, passages, warnings)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                path,
                entry.size,
                entry.mtime_ns,
                content.title,
                content.published.isoformat() if content.published else None,
                content.published_from,
                len(texts),
                json.dumps(warnings),
            ),
        ).lastrowid
        self._db.executemany(
            "INSERT INTO passages (file, number, text) VALUES (?, ?, ?)",
            [(file, number, text) for number, text in enumerate(texts, 1)],
        )
        return True

    def _save(self) -> None:
        self._db.execute("UPDATE state SET generation = generation + 1")
        self._db.commit()


def wipe(home: Path) -> None:
    """Delete everything in `home` but the lock, which another process may be waiting for."""
    for path in home.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "lock":
            path.unlink()
