"""Batches on disk: lines in, lines out, each finished one kept before the next begins, resumed where they broke off."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TextIO, TypeVar

from regen.errors import ConfigurationError, InputError, RegenError
from regen.fence import one_line
from regen.output import failure
from regen.paths import lock_of
from regen.types import Record

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from pydantic import ValidationError

Item = TypeVar("Item")


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line of a UTF-8 file that isn't blank.

    Raises:
        InputError: the file is missing, not readable, or not UTF-8.
    """
    try:
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if line:
                    yield number, line
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}: not UTF-8 text ({error.reason}): save it as UTF-8.") from None


def read_json(text: str, where: str) -> Any:
    """The value that a text in JSON holds.

    Raises:
        InputError: it is no JSON, or holds half of a character (a lone surrogate); named as `where`.
    """
    try:
        value = json.loads(text)
        check_whole(value, where)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON ({error.msg}).") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: a number is too long, or it is nested too deep.") from None
    return value


def check_whole(value: Any, where: str) -> None:
    """Raises InputError where a value of JSON holds half of a character (a lone surrogate)."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: holds half a character (a lone surrogate).") from None


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong with what a line holds, with the field it is in."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    why = first["msg"].removeprefix("Value error, ")
    return f"{field}: {why}" if field else why


def is_id(value: Any) -> bool:
    """Whether a value that a line holds can name it: a text or a whole number."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def made_from(given: Any, settings: Any) -> str:
    """What a result is made from: eight hex digits of a SHA-256 over the input, "-", and as many over the settings.

    Args:
        given: The input, as values that JSON has.
        settings: What decides the result besides, likewise.
    """
    hashes = [hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:8] for one in (given, settings)]
    return "-".join(hashes)


# What a line begins with, however soon it broke off.
_FIRST_KEYS = (b'{"id"', b'{"question"')


def finished(path: Path, key: str, made: Mapping[str, str] | None = None) -> set[str]:
    """The `key` of every line of an output file that holds a result; a line that broke off is cut away.

    Args:
        path: The file; it need not exist.
        key: The field that names a line's item.
        made: By item, what its result would be made from now (`made_from`). A line that does not say what it was made
            from is taken as it is.

    Raises:
        InputError: the file is not readable, holds something else than results, or one that was made from another
            input, or with other settings.
    """
    done: set[str] = set()
    try:
        with path.open("r+b") as file:
            whole = 0
            for line in file:
                try:
                    item = json.loads(line) if line.strip() else None
                except (ValueError, RecursionError):
                    if line.endswith(b"\n") or not any(line.startswith(first[: len(line)]) for first in _FIRST_KEYS):
                        raise InputError(
                            f"{path} holds lines that are not JSON: name another file with --out."
                        ) from None
                    file.truncate(whole)
                    break
                whole += len(line)
                if isinstance(item, dict) and _is_result(item) and item.get(key) is not None:
                    name = str(item[key])
                    done.add(name)
                    before = item.get("made_from")
                    if made and name in made and before not in (None, made[name]):
                        same_input = str(before).partition("-")[0] == made[name].partition("-")[0]
                        what = "with other settings" if same_input else "from another input"
                        raise InputError(
                            f"{path} holds a result for {one_line(name, 60)!r} that was made {what}: name another file "
                            "with --out, or take that line out to have it made again."
                        )
                if not line.endswith(b"\n"):
                    # Only the line's end was lost: without one, the next result would stand on the same line.
                    file.write(b"\n")
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    return done


def _is_result(item: dict[str, Any]) -> bool:
    """Whether a line holds what was asked for: neither an error nor an answer that could not be checked."""
    scores, rounds = item.get("scores", {"initial": True}), item.get("rounds", [])
    if "error" in item or not isinstance(scores, dict) or not isinstance(rounds, list):
        return False
    return scores.get("initial") is not None and all(
        isinstance(one, dict) and one.get("scores") is not None for one in rounds
    )


def run(
    items: Sequence[tuple[str, Item]],
    work: Callable[[Item], tuple[Record, RegenError | None]],
    lines: Lines,
    *,
    key: Literal["id", "question"],
    begin: Callable[[int, int], None],
    complain: Callable[[str], None],
) -> int:
    """`work` on every item, one after another, each result written before the next item begins.

    Args:
        items: Each with its name, which stands in its line of output as `key`.
        work: Gives what to write, and what is wrong with it all the same.
        lines: Where it is written.
        key: What an item's name is called.
        begin: Called with the number of an item, from 1, and how many there are.
        complain: Called with a sentence on each item that failed.

    Returns:
        The exit code of the last item that did not end with 0, else 0.

    Raises:
        RegenError: at once, where a key or a setting is wrong (exit code 3), since no other item would fare better.
    """
    code = 0
    for number, (name, item) in enumerate(items, 1):
        begin(number, len(items))
        try:
            result, wrong = work(item)
            lines.write(result)
            if wrong and wrong.exit_code == ConfigurationError.exit_code:
                raise wrong
            code = wrong.exit_code if wrong else code
        except RegenError as error:
            if error.exit_code == ConfigurationError.exit_code:
                raise
            code = error.exit_code
            lines.write(failure(error, **{key: name}))
            complain(f"{name}: {error}")
    return code


class Lines:
    """Where the results of a batch go: a file that is added to by one process at a time, or standard output.

    Raises:
        InputError: the file cannot be written, or another process is adding to it.
    """

    def __init__(self, path: Path | None, stdout: TextIO) -> None:
        if path and path.exists() and not path.is_file():
            raise InputError(f"{path} is no file that can be added to: name another one with --out.")
        self._lock = _lock(path) if path else None
        try:
            self._file: TextIO = path.open("a", encoding="utf-8") if path else stdout
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.") from None
        self._keep = path is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, item: Record) -> None:
        """Writes one pydantic object as a line, and sees it to the disk before it returns."""
        self._file.write(item.model_dump_json() + "\n")
        self._file.flush()
        if self._keep:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        if self._keep:
            self._file.close()
        if self._lock:
            self._lock.release()


def _lock(path: Path) -> BaseFileLock:
    from filelock import FileLock, Timeout

    lock = FileLock(lock_of(path))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"Another process is adding to {path}: wait for it, or name another file with --out."
        ) from None
    return lock
