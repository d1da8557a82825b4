"""Topics with documents to report on: regen's own lines, and CONFLICTS."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from eval_conflictbench.items import document
from eval_conflictbench.rows import Row, Rows
from eval_conflicts.data import items as conflict_items
from regen.batch import is_id
from regen.errors import InputError
from regen.types import Document, Record, Text


class ReportItem(Record):
    """One topic to write about, and the documents to write from."""

    id: str = Field(min_length=1)
    topic: Text
    documents: list[Document] = Field(min_length=1)
    category: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len({document.id for document in self.documents}) < len(self.documents):
            raise ValueError("two documents have the same id")
        return self


def plain(row: Row, _: int) -> list[ReportItem]:
    """`{"id", "topic" (or "question"), "documents"}`, with a `category` where there is one; see `document`."""
    if not is_id(row["id"]) or not isinstance(row["documents"], list):
        raise TypeError
    topic = row["question"] if "question" in row and "topic" not in row else row["topic"]
    documents = [document(given, place) for place, given in enumerate(row["documents"], 1)]
    category = {"category": row["category"]} if "category" in row else {}
    return [ReportItem.model_validate({"id": str(row["id"]), "topic": topic, "documents": documents, **category})]


def conflicts(row: Row, number: int) -> list[ReportItem]:
    """CONFLICTS, as `eval_conflicts.data.load` says: the kind of conflict is the category."""
    return [
        ReportItem(id=item.id, topic=item.question, documents=item.documents, category=row["conflict_type"])
        for item in conflict_items(row, number)
    ]


FORMATS: dict[str, Callable[[Row, int], list[ReportItem]]] = {"plain": plain, "conflicts": conflicts}


def load(path: Path, format: str = "plain") -> list[ReportItem]:
    """The items of a file of JSON Lines, or of one JSON array, in its order.

    Raises:
        InputError: the file cannot be read, a row is not an item (with its line, or its place in the array), or two
            have one id.
    """
    found: list[ReportItem] = []
    places: dict[str, str] = {}
    for where, item in Rows(path, format).read(FORMATS[format]):
        if item.id in places:
            raise InputError(f"{path}, {where}: the id {item.id!r} stands in {places[item.id]} as well.")
        places[item.id] = where
        found.append(item)
    if not found:
        raise InputError(f"There is no item in {path}.")
    return found


def select(
    items: Sequence[ReportItem],
    *,
    categories: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> list[ReportItem]:
    """A part of the items, in their order.

    Args:
        items: All of them.
        categories: Only these, in any case of letters; all where empty.
        sample: So many of what is left, drawn by `seed`; all where there are fewer.
        seed: Of the sample.
        limit: Only the first so many of what is left then.

    Raises:
        InputError: a category that no item has.
    """
    there = {item.category.casefold() for item in items}
    if unknown := [name for name in categories if name.casefold() not in there]:
        raise InputError(
            f"No item has the category {unknown[0]!r}; there are: "
            f"{', '.join(sorted({item.category for item in items} - {''})) or 'none'}."
        )
    wanted = {name.casefold() for name in categories}
    kept = [item for item in items if not wanted or item.category.casefold() in wanted]
    if sample is not None and sample < len(kept):
        drawn = set(random.Random(seed).sample(range(len(kept)), sample))
        kept = [item for place, item in enumerate(kept) if place in drawn]
    return kept[:limit]
