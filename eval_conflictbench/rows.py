"""The rows of a file of labelled data: JSON Lines or one JSON array, with errors that say where a row stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from regen.batch import check_whole, first_problem, read_json, read_lines
from regen.errors import InputError

Row = Mapping[str, Any]

Made = TypeVar("Made")


class Rows:
    """The rows of a file, in its order.

    Args:
        path: A file of one JSON object a line, or of one array of objects.
        format: What its rows are said to be.

    Raises:
        InputError: the file cannot be read, or holds something else than JSON objects (with the line or item).
    """

    def __init__(self, path: Path, format: str) -> None:
        self.path = path
        self.format = format
        lines = list(read_lines(path))
        self._rows = self._array(lines) if lines and lines[0][1].startswith("[") else self._lines(lines)

    def read(self, make: Callable[[Row, int], list[Made]]) -> list[tuple[str, Made]]:
        """What is made of each row, given the row and its number from 1, with where the row stands ("line 3").

        Raises:
            InputError: nothing can be made of a row; with where it stands.
        """
        found: list[tuple[str, Made]] = []
        for number, (where, row) in enumerate(self._rows, 1):
            try:
                found += [(where, made) for made in make(row, number)]
            except KeyError as error:
                raise InputError(f"{self.path}, {where}: {error} is missing or unknown.") from None
            except ValidationError as error:
                raise InputError(f"{self.path}, {where}: {first_problem(error)}.") from None
            except (TypeError, ValueError, AttributeError, IndexError):
                raise self._no_item(where) from None
        return found

    def _lines(self, lines: list[tuple[int, str]]) -> list[tuple[str, Row]]:
        return [
            self._checked(read_json(line, f"{self.path}, line {number}"), f"line {number}") for number, line in lines
        ]

    def _array(self, lines: list[tuple[int, str]]) -> list[tuple[str, Row]]:
        try:
            rows = json.loads("\n".join(line for _, line in lines))
        except json.JSONDecodeError as error:
            # Blank lines are left out of `lines`.
            raise InputError(f"{self.path}, line {lines[error.lineno - 1][0]}: not JSON ({error.msg}).") from None
        except (ValueError, RecursionError):
            raise InputError(f"{self.path}: not JSON.") from None
        for number, row in enumerate(rows, 1):
            check_whole(row, f"{self.path}, item {number}")
        return [self._checked(row, f"item {number}") for number, row in enumerate(rows, 1)]

    def _checked(self, row: Any, where: str) -> tuple[str, Row]:
        if not isinstance(row, dict):
            raise self._no_item(where)
        return where, row

    def _no_item(self, where: str) -> InputError:
        return InputError(f"{self.path}, {where}: not an item of the format {self.format!r}.")
