"""Runs on disk: a folder whose SQLite store keeps every model call and every finished stage of every item.

A run that was killed at any moment goes on where it was: what is finished is read, not done again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

from regen.errors import InputError, RegenError
from regen.types import Record, Usage

STORE = "run.sqlite"
_FORMAT = 1
_TABLES = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE items (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
CREATE TABLE stages (
    item TEXT NOT NULL, stage TEXT NOT NULL, data TEXT NOT NULL, usage TEXT NOT NULL, PRIMARY KEY (item, stage)
);
CREATE TABLE failures (
    item TEXT NOT NULL, stage TEXT NOT NULL, message TEXT NOT NULL, exit_code INTEGER NOT NULL,
    PRIMARY KEY (item, stage)
);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, item TEXT NOT NULL, stage TEXT NOT NULL, request TEXT NOT NULL, nth INTEGER NOT NULL,
    model TEXT NOT NULL, counts TEXT NOT NULL, response TEXT
);
CREATE INDEX calls_of ON calls (item, stage, request, nth);
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY, began TEXT NOT NULL, ended TEXT, how TEXT, regen TEXT NOT NULL, git TEXT
);
"""
# Made whenever a run is begun: those of before have it not. A batch that has not ended has calls under way.
_BATCHES = """
CREATE TABLE IF NOT EXISTS batches (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, endpoint TEXT NOT NULL, model TEXT NOT NULL,
    calls TEXT NOT NULL, provider_id TEXT, status TEXT, ended TEXT
)
"""
# Differences between two configurations that one sentence names at most.
_NAMED = 4


class Finished(Record):
    """What a finished stage of an item led to."""

    data: dict[str, Any]
    usage: Usage


class Failed(Record):
    """Why a stage of an item failed for good."""

    message: str
    exit_code: int


class Session(Record):
    """One process that worked on a run."""

    began: datetime
    ended: datetime | None
    how: str | None
    regen: str
    git: str | None


class Call(NamedTuple):
    """One model call of a stage: the `nth` with this request in it."""

    item: str
    stage: str
    request: str
    nth: int


class KeptReply(NamedTuple):
    """What a call led to."""

    model: str
    counts: Mapping[str, Any]
    response: Mapping[str, Any]


class Batch(Record):
    """Calls that were sent to a provider together, or were about to be.

    `key` is ours, `provider_id` the provider's own, which is not known before the provider has answered.
    """

    number: int
    key: str
    endpoint: str
    model: str
    calls: list[Call]
    provider_id: str | None


class ItemChange(Record):
    """An item that two runs answered differently."""

    id: str
    question: str
    before: str
    after: str
    mended: bool
    spoiled: bool


class StageChange(Record):
    """One stage in two runs, over the items that both answered in it."""

    stage: str
    n: int
    right_before: int
    right_after: int
    changed: list[ItemChange]


class Run:
    """One run. Made by `begin`, which writes, or by `read`, which doesn't; safe to use from several threads."""

    def __init__(self, folder: Path, *, writes: bool) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        file = folder / STORE
        try:
            where = f"{file.resolve().as_uri()}?mode={'rwc' if writes else 'ro'}"
            self._db = sqlite3.connect(where, uri=True, check_same_thread=False, isolation_level=None, timeout=30)
            if writes:
                self._db.execute("PRAGMA journal_mode = WAL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _FORMAT) or (not writes and version == 0):
                raise InputError(f"{file} was not written by this version of regen: name another folder.")
        except sqlite3.Error as error:
            raise InputError(f"{file} cannot be used as a run ({error}): name another folder.") from None
        self._version = version

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The run in a folder, to be looked at.

        Raises:
            InputError: there is none, or it is not readable.
        """
        if not (folder / STORE).is_file():
            raise InputError(f"There is no run in {folder}: `regen runs list` shows those that there are.")
        return cls(folder, writes=False)

    @classmethod
    @contextmanager
    def begin(
        cls, folder: Path, name: str, config: Mapping[str, Any], items: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> Iterator[Self]:
        """A new run in `folder`, or the one that is there; while inside, no other process works on it.

        Args:
            folder: New, empty, or one of a run with the same name and configuration.
            name: Of the benchmark.
            config: JSON values; whatever changes the figures, and no secret.
            items: Each with its id, in order.

        Raises:
            InputError: other files, another run or another process is there, or the folder cannot be written.
        """
        from filelock import FileLock, Timeout

        if folder.is_dir() and not (folder / STORE).exists() and any(folder.iterdir()):
            raise InputError(f"{folder} holds other files and no run: name a new folder with --run.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be made: {error.strerror}.") from None
        lock = FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise InputError(f"Another process works on the run in {folder}: wait for it.") from None
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}.") from None
        try:
            run = cls(folder, writes=True)
            try:
                run._begin(name, json.loads(json.dumps(config)), items)
                yield run
            finally:
                run.close()
        finally:
            lock.release()

    def close(self) -> None:
        """Closes the store."""
        with self._lock:
            self._db.close()

    @property
    def name(self) -> str:
        """Of the benchmark."""
        return str(self._value("name"))

    @property
    def config(self) -> dict[str, Any]:
        """The configuration that it was begun with."""
        return dict(self._value("config"))

    @property
    def began(self) -> datetime:
        """When it was begun."""
        return datetime.fromisoformat(self._value("began"))

    def items(self) -> dict[str, dict[str, Any]]:
        """Every item's data by its id, in order."""
        return {name: json.loads(data) for name, data in self._all("SELECT id, data FROM items ORDER BY place")}

    def finished(self, item: str | None = None) -> dict[str, dict[str, Finished]]:
        """The finished stages by item and stage; those of one item where it is named."""
        found: dict[str, dict[str, Finished]] = {}
        where, values = ("", ()) if item is None else (" WHERE item = ?", (item,))
        for name, stage, data, usage in self._all(f"SELECT item, stage, data, usage FROM stages{where}", values):
            done = Finished(data=json.loads(data), usage=Usage.model_validate_json(usage))
            found.setdefault(name, {})[stage] = done
        return found

    def failures(self) -> dict[str, dict[str, Failed]]:
        """The stages that failed for good, by item and stage."""
        found: dict[str, dict[str, Failed]] = {}
        for item, stage, message, code in self._all("SELECT item, stage, message, exit_code FROM failures"):
            found.setdefault(item, {})[stage] = Failed(message=message, exit_code=code)
        return found

    def counts(self) -> tuple[int, int, int]:
        """How many items there are, have a finished stage, and have one that failed."""
        row = self._all(
            "SELECT (SELECT count(*) FROM items), (SELECT count(DISTINCT item) FROM stages),"
            " (SELECT count(DISTINCT item) FROM failures)"
        )[0]
        return int(row[0]), int(row[1]), int(row[2])

    def sessions(self) -> list[Session]:
        """The processes that worked on it, in order; one without an end was killed, or still works."""
        return [
            Session(
                began=datetime.fromisoformat(began),
                ended=datetime.fromisoformat(ended) if ended else None,
                how=how,
                regen=regen,
                git=git,
            )
            for began, ended, how, regen, git in self._all(
                "SELECT began, ended, how, regen, git FROM sessions ORDER BY id"
            )
        ]

    def usage(self) -> Usage:
        """What all calls of the run took, those of stages that were never finished with them; no seconds."""
        from regen.usage import usage_of

        rows = self._all("SELECT model, counts FROM calls")
        return usage_of([(model, json.loads(counts)) for model, counts in rows])

    def keep(self, item: str, stage: str, data: Mapping[str, Any], usage: Usage) -> None:
        """Keeps a finished stage; on disk when it returns."""
        with self._transaction() as db:
            db.execute("INSERT INTO stages VALUES (?, ?, ?, ?)", (item, stage, _json(data), usage.model_dump_json()))
            # The stage holds what the replies led to: only what they cost is still of use.
            db.execute("UPDATE calls SET response = NULL WHERE item = ? AND stage = ?", (item, stage))

    def fail(self, item: str, stage: str, message: str, exit_code: int) -> None:
        """Keeps why a stage failed for good."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", (item, stage, _text(message), exit_code))

    def forget_failures(self) -> None:
        """Has what failed done again, with new replies."""
        with self._transaction() as db:
            db.execute(
                "UPDATE calls SET response = NULL WHERE (item, stage) IN (SELECT item, stage FROM failures)",
            )
            db.execute("DELETE FROM failures")

    def reply(self, call: Call) -> KeptReply | None:
        """The kept reply to a call."""
        rows = self._all(
            "SELECT model, counts, response FROM calls WHERE item = ? AND stage = ? AND request = ? AND nth = ?"
            " AND response IS NOT NULL",
            call,
        )
        return KeptReply(rows[0][0], json.loads(rows[0][1]), json.loads(rows[0][2])) if rows else None

    def keep_reply(self, call: Call, reply: KeptReply) -> None:
        """Keeps the reply to a call, and what it cost.

        When it returns, no end of this process can lose it; a power cut can, until the next stage of any item is kept.
        To wait for the disk with each reply would keep the other calls waiting.
        """
        with self._transaction(waits=False) as db:
            _insert(db, call, reply)

    def batches(self) -> list[Batch]:
        """The batches whose calls are under way, in the order in which they were made."""
        names = "number, key, endpoint, model, calls, provider_id"
        return [
            Batch(number=number, key=key, endpoint=endpoint, model=model, calls=json.loads(calls), provider_id=name)
            for number, key, endpoint, model, calls, name in self._all(
                f"SELECT {names} FROM batches WHERE ended IS NULL ORDER BY number"
            )
        ]

    def begin_batch(self, key: str, endpoint: str, model: str, calls: Sequence[Call]) -> None:
        """Notes a batch that is about to be made of some calls."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO batches (key, endpoint, model, calls) VALUES (?, ?, ?, ?)",
                (key, endpoint, model, _json(calls)),
            )

    def name_batch(self, key: str, provider_id: str) -> None:
        """Notes by which id the provider knows a batch."""
        with self._transaction() as db:
            db.execute("UPDATE batches SET provider_id = ? WHERE key = ?", (provider_id, key))

    def forget_batch(self, key: str) -> None:
        """Forgets a batch that the provider never made."""
        with self._transaction() as db:
            db.execute("DELETE FROM batches WHERE key = ?", (key,))

    def end_batch(self, key: str, status: str, replies: Mapping[Call, KeptReply]) -> None:
        """Notes that no further reply will come of a batch, and keeps those that came; all or nothing of it."""
        with self._transaction() as db:
            for call, reply in replies.items():
                _insert(db, call, reply)
            db.execute("UPDATE batches SET status = ?, ended = ? WHERE key = ?", (status, _now(), key))

    def batched(self) -> int:
        """How many calls came of batches."""
        return int(self._all("SELECT count(*) FROM calls WHERE json_extract(counts, '$.batch')")[0][0])

    @contextmanager
    def session(self) -> Iterator[Callable[[str], None]]:
        """Notes when a process works on the run, with which version, and how that ends: call what it gives to say."""
        from regen import __version__

        with self._transaction() as db:
            cursor = db.execute(
                "INSERT INTO sessions (began, regen, git) VALUES (?, ?, ?)", (_now(), __version__, git_version())
            )
        said: list[str] = []
        try:
            yield said.append
        except BaseException as error:
            said.append(str(error) or type(error).__name__)
            raise
        finally:
            how = said[0] if said else "The run is complete."
            with self._transaction() as db:
                db.execute(
                    "UPDATE sessions SET ended = ?, how = ? WHERE id = ?", (_now(), _text(how), cursor.lastrowid)
                )

    def _begin(self, name: str, config: dict[str, Any], items: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        if self._version == 0:
            with self._transaction() as db:
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                values = {"name": name, "config": config, "began": _now()}
                db.executemany("INSERT INTO run VALUES (?, ?)", [(key, _json(value)) for key, value in values.items()])
                rows = [(place, item, _json(data)) for place, (item, data) in enumerate(items)]
                db.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
                db.execute(f"PRAGMA user_version = {_FORMAT}")
        else:
            if self.name != name:
                raise InputError(f"{self.folder} holds a run of {self.name}, not of {name}: name another with --run.")
            if changed := differences(self.config, config):
                raise InputError(
                    f"The run in {self.folder} was begun with other settings ({'; '.join(changed)}): give the same, or "
                    "name another folder with --run."
                )
            if list(self.items()) != [item for item, _ in items]:
                raise InputError(f"The run in {self.folder} has other items: name another folder with --run.")
        with self._transaction() as db:
            db.execute(_BATCHES)
        record = {"name": name, "began": self._value("began"), "config": config}
        written, file = json.dumps(record, indent=2, ensure_ascii=False) + "\n", self.folder / "config.json"
        if not file.is_file() or file.read_text("utf-8", errors="replace") != written:
            file.write_text(written, "utf-8")

    def _value(self, key: str) -> Any:
        rows = self._all("SELECT value FROM run WHERE key = ?", (key,))
        try:
            return json.loads(rows[0][0])
        except (IndexError, ValueError):
            raise InputError(f"{self.folder / STORE} cannot be read as a run (it has no {key}).") from None

    def _all(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.folder / STORE} cannot be read as a run ({error}).") from None

    @contextmanager
    def _transaction(self, *, waits: bool = True) -> Iterator[sqlite3.Connection]:
        """Writes all or nothing of what is done inside; where it `waits`, it and all before it is on the disk then."""
        try:
            with self._lock:
                self._db.execute(f"PRAGMA synchronous = {'FULL' if waits else 'NORMAL'}")
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                except BaseException:
                    self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise RegenError(f"{self.folder / STORE} cannot be written ({error}).") from None


def differences(there: Mapping[str, Any], here: Mapping[str, Any], *, most: int | None = _NAMED) -> list[str]:
    """What differs between two configurations, each as a clause; those beyond `most` are only counted."""
    names = [name for name in {**there, **here} if there.get(name) != here.get(name)]
    named = [f"{name} was {_said(there.get(name))} and is {_said(here.get(name))}" for name in names[:most]]
    return named if len(named) == len(names) else [*named, f"and {len(names) - len(named)} more"]


def compared(a: Run, b: Run) -> list[StageChange]:
    """Two runs item by item, for every stage that both have answers of.

    An answer is a stage's `choice`, an index into the item's `choices`, and right where it is the item's `answer`.
    The answer that `regenerated` was made from, its `first`, is that of `rag`.
    Items are the same where their ids, questions, claims and choices are.
    """
    items = {name: data for name, data in a.items().items() if "choices" in data and "answer" in data}
    others = b.items()
    before, after = a.finished(), b.finished()
    found: dict[str, list[tuple[str, Any, Any]]] = {}
    for name, data in items.items():
        if all(others.get(name, {}).get(key) == data.get(key) for key in ("question", "claim", "choices")):
            now = _answers(after.get(name, {}))
            for stage, was in _answers(before.get(name, {})).items():
                if stage in now:
                    found.setdefault(stage, []).append((name, was, now[stage]))
    return [
        StageChange(
            stage=stage,
            n=len(pairs),
            right_before=sum(was == items[name]["answer"] for name, was, _ in pairs),
            right_after=sum(now == items[name]["answer"] for name, _, now in pairs),
            changed=[_change(name, items[name], was, now) for name, was, now in pairs if was != now],
        )
        for stage, pairs in found.items()
    ]


def _answers(stages: Mapping[str, Finished]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, kept in stages.items():
        if "first" in kept.data:
            found[name.replace("regenerated", "rag", 1)] = kept.data["first"]
        if "choice" in kept.data:
            found[name] = kept.data["choice"]
    return found


def _change(name: str, data: Mapping[str, Any], was: int, now: int) -> ItemChange:
    return ItemChange(
        id=name,
        question=data.get("claim") or data["question"],
        before=data["choices"][was],
        after=data["choices"][now],
        mended=now == data["answer"],
        spoiled=was == data["answer"],
    )


def runs_in(folder: Path) -> list[Path]:
    """The folders with a run in them: `folder` itself and those right below it, the newest last.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.")
    stores = [file for file in [folder / STORE, *folder.glob(f"*/{STORE}")] if file.is_file()]
    return [file.parent for file in sorted(stores, key=lambda file: file.stat().st_mtime)]


def git_version() -> str | None:
    """The commit that regen runs from, with `-dirty` where files were changed; None where it is an installed copy."""
    top = Path(__file__).resolve().parent.parent
    if not (top / ".git").exists():
        return None
    command = ["git", "-C", os.fspath(top), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip() or None
    except (OSError, subprocess.SubprocessError):
        return None


def _insert(db: sqlite3.Connection, call: Call, reply: KeptReply) -> None:
    db.execute(
        "INSERT INTO calls (item, stage, request, nth, model, counts, response) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*call, reply.model, _json(reply.counts), _json(reply.response)),
    )


def _said(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:59]}\u2026"


def _json(value: Any) -> str:
    # In ASCII: SQLite takes no half of a surrogate pair, which a model can write.
    return json.dumps(value)


def _text(message: str) -> str:
    return message.encode("utf-8", "backslashreplace").decode("utf-8")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
