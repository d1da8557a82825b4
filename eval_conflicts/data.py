"""The lines of CONFLICTS (Cattan et al. 2025; google-research-datasets/rag_conflicts, Apache-2.0)."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from eval_conflictbench.rows import Row, Rows
from regen.errors import InputError
from regen.fence import one_line
from regen.program import check_ids
from regen.types import Document, Kind, Record, Text

LABELS = {
    "No conflict": Kind.NO_CONFLICT,
    "Complementary information": Kind.COMPLEMENTARY,
    "Conflicting opinions and research outcomes": Kind.OPINIONS,
    "Conflict due to outdated information": Kind.OUTDATED,
    "Conflict due to misinformation": Kind.MISINFORMATION,
}
ONE_ANSWER = (Kind.NO_CONFLICT, Kind.OUTDATED, Kind.MISINFORMATION)
"""The kinds that leave one answer right."""


class Item(Record):
    """A query, what a search engine found for it, and how experts say that this relates."""

    id: str = Field(min_length=1)
    question: Text
    kind: Kind
    documents: list[Document] = Field(min_length=1)
    right_answer: str = Field(default="", description="Empty where there is none, as for matters of opinion.")


def load(path: Path) -> list[Item]:
    """The items of a file of JSON Lines (or of one JSON array), in its order.

    A row has `id`, `query`, `conflict_type`, `gold_answer` and `retrieved_docs`, each of these with `doc_id`, `snippet`
    (the passage of at most 512 tokens that the authors kept of the page), `source_url` and `timestamp`, its date.

    Raises:
        InputError: the file cannot be read, a row is not an item (with its line), or two have one id.
    """
    places: dict[str, str] = {}
    found = Rows(path, "CONFLICTS").read(items)
    for where, item in found:
        if item.id in places:
            raise InputError(f"{path}, {where}: the id {item.id!r} stands in {places[item.id]} as well.")
        places[item.id] = where
        try:
            check_ids(item.documents)
        except InputError as error:
            raise InputError(f"{path}, {where}: {error}") from None
    if not found:
        raise InputError(f"There is no item in {path}.")
    return [item for _, item in found]


def items(row: Row, _: int) -> list[Item]:
    """The item of a row: see `load`."""
    documents = [
        {
            "id": found["doc_id"],
            "rank": place,
            "text": found["snippet"],
            "url": found.get("source_url") or "",
            "published": found.get("timestamp") or None,
            "published_from": "provider" if found.get("timestamp") else None,
        }
        for place, found in enumerate(row["retrieved_docs"], 1)
    ]
    if row["conflict_type"] not in list(LABELS):
        raise KeyError(f"conflict_type: {one_line(str(row['conflict_type']), 60)}")
    known = {"id": row["id"], "question": row["query"], "kind": LABELS[row["conflict_type"]], "documents": documents}
    return [Item.model_validate({**known, "right_answer": row.get("gold_answer") or ""})]
