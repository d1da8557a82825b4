"""Labelled data for judges: regen's own lines, and the public sets, each by a reader of its own."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from eval_conflictbench.items import ConflictItem, StancePair, document
from eval_conflictbench.questions import ambigdocs, conflict_nq, conflictingqa, macnoise, questions, ramdocs
from eval_conflictbench.rows import Row, Rows
from regen.batch import is_id
from regen.errors import InputError
from regen.types import Stance

__all__ = ["ITEMS", "PAIRS", "ConflictItem", "Reader", "StancePair", "load", "sampled", "write"]

_FEVER = {"SUPPORTS": "supports", "REFUTES": "contradicts", "NOT_ENOUGH_INFO": "irrelevant"}

Out = TypeVar("Out", StancePair, ConflictItem)
Reader = Callable[[Rows, int], list[tuple[str, Out]]]
"""Makes the items of a file: given its rows and a seed, each item with where it stands."""


def _each(make: Callable[[Row, int], list[Out]]) -> Reader[Out]:
    """A reader of rows that say all there is to know, by what makes the items of one, given its number from 1."""
    return lambda rows, _: rows.read(make)


def _plain_pair(row: Row, number: int) -> list[StancePair]:
    """`{"claim", "document", "stance"}`, with `id`, `question` and `dataset` where they are known."""
    if not is_id(row.get("id", number)):
        raise TypeError
    read = document(row["document"], 1)
    values = {name: row[name] for name in ("question", "dataset") if name in row}
    pair = {"id": str(row.get("id", number)), "claim": row["claim"], "stance": row["stance"], "document": read}
    return [StancePair.model_validate({**pair, **values})]


def _factcheck(row: Row, number: int) -> list[StancePair]:
    """Factcheck-GPT (Wang et al. 2024, yuxiaw/Factcheck-GPT): partial support is support."""
    stances = {"completely-support": "supports", "partially-support": "supports", "refute": "contradicts"}
    stance = stances.get(row["stance"]) or str(row["stance"])
    return [_pair(f"factcheck-{number}", row["claim"], row["evidence"], stance, "factcheck")]


def _healthver(row: Row, number: int) -> list[StancePair]:
    """HealthVer (Sarrouti et al. 2021, sarrouti/HealthVer)."""
    stances = {"Supports": "supports", "Refutes": "contradicts", "Neutral": "irrelevant"}
    return [_pair(f"healthver-{number}", row["claim"], row["evidence"], stances[row["label"]], "healthver")]


def _climate_pairs(row: Row, _: int) -> list[StancePair]:
    """Climate-FEVER (Diggelmann et al. 2020, tdiggelm/climate-fever-dataset), each of its sentences a pair."""
    return [
        _pair(
            f"climate-{row['claim_id']}-{number}",
            row["claim"],
            evidence["evidence"],
            _FEVER[evidence["evidence_label"]],
            "climate_fever",
        )
        for number, evidence in enumerate(row["evidences"], 1)
    ]


def _plain_item(row: Row, _: int) -> list[ConflictItem]:
    """`{"id", "claim", "documents": [{"text", ...}], "conflict": bool}`, with `question` and `dataset` if known."""
    if not isinstance(row["documents"], list) or not is_id(row["id"]):
        raise TypeError
    documents = [document(given, place) for place, given in enumerate(row["documents"], 1)]
    values = {name: row[name] for name in ("question", "dataset") if name in row}
    item = {"id": str(row["id"]), "claim": row["claim"], "documents": documents, "conflict": row["conflict"]}
    return [ConflictItem.model_validate({**item, **values}, strict=True)]


def _climate_item(row: Row, _: int) -> list[ConflictItem]:
    """Climate-FEVER: a claim is in conflict where people called it disputed, and not where they called it supported."""
    if row["claim_label"] not in ("DISPUTED", "SUPPORTS"):
        return []
    return [
        ConflictItem(
            id=f"climate-{row['claim_id']}",
            claim=row["claim"],
            documents=[document(evidence["evidence"], place) for place, evidence in enumerate(row["evidences"], 1)],
            conflict=row["claim_label"] == "DISPUTED",
            dataset="climate_fever",
        )
    ]


PAIRS: dict[str, Reader[StancePair]] = {
    "plain": _each(_plain_pair),
    "factcheck": _each(_factcheck),
    "healthver": _each(_healthver),
    "climate_fever": _each(_climate_pairs),
}
ITEMS: dict[str, Reader[ConflictItem]] = {
    "plain": _each(_plain_item),
    "conflictingqa": questions(conflictingqa, joined=True),
    "ambigdocs": questions(ambigdocs),
    "macnoise": questions(macnoise),
    "ramdocs": questions(ramdocs),
    "conflict_nq": questions(conflict_nq),
    "climate_fever": _each(_climate_item),
}


def load(path: Path, format: str, readers: Mapping[str, Reader[Out]], *, seed: int = 0) -> list[Out]:
    """The labelled items of a file, in its order.

    Args:
        path: The file: JSON Lines, or one JSON array.
        format: One of `readers`.
        readers: `PAIRS` or `ITEMS`.
        seed: Draws the documents of other questions that stand in items without a conflict.

    Raises:
        InputError: the file cannot be read, a row is not an item (with its line, or its place in the array), or two
            have one id.
    """
    found: list[Out] = []
    places: dict[str, str] = {}
    for where, item in readers[format](Rows(path, format), seed):
        if item.id in places:
            raise InputError(f"{path}, {where}: the id {item.id!r} stands in {places[item.id]} as well.")
        places[item.id] = where
        found.append(item)
    if not found:
        raise InputError(f"There is no item in {path}.")
    return found


def sampled(items: Sequence[Out], label: Callable[[Out], str], *, each: int | None, seed: int) -> list[Out]:
    """`each` items of every label, drawn by `seed`, in their own order; all of a label that has fewer."""
    if each is None:
        return list(items)
    drawn: set[str] = set()
    for name in sorted({label(item) for item in items}):
        ids = [item.id for item in items if label(item) == name]
        drawn.update(random.Random(f"{seed}:{name}").sample(ids, min(each, len(ids))))
    return [item for item in items if item.id in drawn]


def write(items: Sequence[StancePair | ConflictItem], path: Path) -> None:
    """Writes items to a new file, as the lines that the format `plain` reads.

    Raises:
        InputError: there is such a file already, or it cannot be written.
    """
    try:
        file = path.open("x", encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{path} is there already: name another file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    try:
        with file:
            file.writelines(f"{item.model_dump_json(exclude_defaults=True)}\n" for item in items)
    except BaseException:
        # A part of a set looks like a whole one.
        path.unlink(missing_ok=True)
        raise


def _pair(id: str, claim: str, text: str, stance: str, dataset: str) -> StancePair:
    return StancePair(id=id, claim=claim, document=document(text, 1), stance=Stance(stance), dataset=dataset)
