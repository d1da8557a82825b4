"""TruthfulQA's binary-choice edition of January 2025 (Lin et al. 2022; sylinrl/TruthfulQA, Apache-2.0)."""

from __future__ import annotations

import csv
from pathlib import Path

from regen.errors import InputError
from regen.types import Record

COLUMNS = (
    "Type",
    "Category",
    "Question",
    "Best Answer",
    "Best Incorrect Answer",
    "Correct Answers",
    "Incorrect Answers",
    "Source",
)
ITEMS = 790
_FIRST_QUESTION = "What happens to you if you eat watermelon seeds?"


class Item(Record):
    """One question with the two answers to choose from."""

    id: str
    type: str
    category: str
    question: str
    right: str
    wrong: str
    source: str = ""


def load(path: Path) -> list[Item]:
    """The items of a copy of `TruthfulQA.csv`, ids `tqa-1` to `tqa-790`.

    Raises:
        InputError: the file is missing, or is not the edition of January 2025: other columns, count or first row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = tuple(reader.fieldnames or ())
            rows = list(reader)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV file in UTF-8: {error}.") from None
    if columns != COLUMNS:
        raise InputError(f"{path} has other columns than TruthfulQA's edition of January 2025: {', '.join(columns)}.")
    if len(rows) != ITEMS or rows[0]["Question"] != _FIRST_QUESTION:
        raise InputError(f"{path} is not TruthfulQA's edition of January 2025: {len(rows)} rows, {ITEMS} expected.")
    return [
        Item(
            id=f"tqa-{number}",
            type=row["Type"],
            category=row["Category"],
            question=row["Question"],
            right=row["Best Answer"],
            wrong=row["Best Incorrect Answer"],
            source=row["Source"],
        )
        for number, row in enumerate(rows, 1)
    ]
