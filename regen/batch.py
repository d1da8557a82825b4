"""Batches on disk: lines in, lines out, each finished one kept before the next begins, resumed where they broke off."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from regen.errors import InputError


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


def finished(path: Path, key: str) -> set[str]:
    """The `key` of every line of an output file that holds a result; a line that broke off is cut away.

    Raises:
        InputError: the file is not readable, or holds something else than results.
    """
    done: set[str] = set()
    try:
        with path.open("r+b") as file:
            whole = 0
            for line in file:
                try:
                    item = json.loads(line) if line.strip() else None
                except (ValueError, RecursionError):
                    if line.endswith(b"\n") or not line.startswith((b'{"id"', b'{"question"')):
                        raise InputError(
                            f"{path} holds lines that are not JSON: name another file with --out."
                        ) from None
                    file.truncate(whole)
                    break
                whole += len(line)
                if isinstance(item, dict) and "error" not in item and item.get(key) is not None:
                    done.add(str(item[key]))
                if not line.endswith(b"\n"):
                    # Only the line's end was lost: without one, the next result would stand on the same line.
                    file.write(b"\n")
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    return done


class Lines:
    """Where the results of a batch go: a file that is added to, or standard output."""

    def __init__(self, path: Path | None, stdout: TextIO) -> None:
        try:
            self._file: TextIO = path.open("a", encoding="utf-8") if path else stdout
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.") from None
        self._keep = path is not None

    def write(self, item: Any) -> None:
        """Writes one pydantic object as a line, and sees it to the disk before it returns."""
        self._file.write(item.model_dump_json() + "\n")
        self._file.flush()
        if self._keep:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        if self._keep:
            self._file.close()
