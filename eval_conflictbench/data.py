"""Labelled data for judges: regen's own lines, and the public sets, each by a reader of its own."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from regen.batch import read_lines
from regen.errors import InputError
from regen.types import Document, Record, Stance

Row = Mapping[str, Any]

# Documents of other questions beside those that support, in items without a conflict (Liu et al. 2026, appendix).
_OTHERS = 2
_FEVER = {"SUPPORTS": "supports", "REFUTES": "contradicts", "NOT_ENOUGH_INFO": "irrelevant"}


class StancePair(Record):
    """A claim, a document, and the stance that people saw in it."""

    id: str = Field(min_length=1)
    claim: str = Field(min_length=1)
    document: Document
    stance: Stance
    question: str | None = None
    dataset: str = ""


class ConflictItem(Record):
    """A claim, its documents, and whether some of them support it and others contradict it."""

    id: str = Field(min_length=1)
    claim: str = Field(min_length=1)
    documents: list[Document] = Field(min_length=1)
    conflict: bool
    question: str | None = None
    dataset: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len({document.id for document in self.documents}) < len(self.documents):
            raise ValueError("two documents have the same id")
        return self


Out = TypeVar("Out", StancePair, ConflictItem)
Reader = Callable[[Row, int, Sequence[Row], int], list[Out]]
"""Makes the items of one row: given the row, its number from 1, all rows, and a seed."""


def _plain_pair(row: Row, number: int, _: Sequence[Row], __: int) -> list[StancePair]:
    """`{"claim", "document", "stance"}`, with `id`, `question` and `dataset` where they are known."""
    document = _document(row["document"], 1)
    values = {name: row[name] for name in ("question", "dataset") if name in row}
    pair = {"id": str(row.get("id", number)), "claim": row["claim"], "stance": row["stance"], "document": document}
    return [StancePair.model_validate({**pair, **values})]


def _factcheck(row: Row, number: int, _: Sequence[Row], __: int) -> list[StancePair]:
    """Factcheck-GPT (Wang et al. 2024, yuxiaw/Factcheck-GPT): partial support is support."""
    stances = {"completely-support": "supports", "partially-support": "supports", "refute": "contradicts"}
    stance = stances.get(row["stance"]) or str(row["stance"])
    return [_pair(f"factcheck-{number}", row["claim"], row["evidence"], stance, "factcheck")]


def _healthver(row: Row, number: int, _: Sequence[Row], __: int) -> list[StancePair]:
    """HealthVer (Sarrouti et al. 2021, sarrouti/HealthVer)."""
    stances = {"Supports": "supports", "Refutes": "contradicts", "Neutral": "irrelevant"}
    return [_pair(f"healthver-{number}", row["claim"], row["evidence"], stances[row["label"]], "healthver")]


def _climate_pairs(row: Row, _: int, __: Sequence[Row], ___: int) -> list[StancePair]:
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


def _plain_item(row: Row, _: int, __: Sequence[Row], ___: int) -> list[ConflictItem]:
    """`{"id", "claim", "documents": [{"text", ...}], "conflict": bool}`, with `question` and `dataset` if known."""
    if not isinstance(row["documents"], list) or not isinstance(row["id"], str | int):
        raise TypeError
    documents = [_document(given, place) for place, given in enumerate(row["documents"], 1)]
    values = {name: row[name] for name in ("question", "dataset") if name in row}
    item = {"id": str(row["id"]), "claim": row["claim"], "documents": documents, "conflict": row["conflict"]}
    return [ConflictItem.model_validate({**item, **values}, strict=True)]


def _ramdocs(row: Row, number: int, rows: Sequence[Row], seed: int) -> list[ConflictItem]:
    """RAMDocs (Wang et al. 2025, HanNight/RAMDocs): documents of a right and of wrong answers, or of the right one."""
    if not row["gold_answers"]:
        return []
    answer = row["gold_answers"][0]
    plus = [document["text"] for document in row["documents"] if document["answer"] == answer]
    minus = [document["text"] for document in row["documents"] if document["answer"] in row["wrong_answers"]]
    name = f"ramdocs-{number}"
    given = [other for other in rows if other.get("documents")]
    others = [other["documents"][0]["text"] for other in _others(row, given, name, seed)]
    return _both(name, row["question"], answer, plus, minus, others)


def _conflict_nq(row: Row, _: int, rows: Sequence[Row], seed: int) -> list[ConflictItem]:
    """ConflictNQ (4-en/ConflictNQ): a real passage against a counterfactual one, or the real one alone."""
    name = f"conflict_nq-{row['id']}"
    plus, minus = ([row[f"{kind}_passages"][0]["passage"]] for kind in ("real", "fake"))
    given = [other for other in rows if other.get("real_passages")]
    others = [other["real_passages"][0]["passage"] for other in _others(row, given, name, seed)]
    return _both(name, row["cleaned_question"], row["real_short_answer"], plus, minus, others)


def _climate_item(row: Row, _: int, __: Sequence[Row], ___: int) -> list[ConflictItem]:
    """Climate-FEVER: a claim is in conflict where people called it disputed, and not where they called it supported."""
    if row["claim_label"] not in ("DISPUTED", "SUPPORTS"):
        return []
    return [
        ConflictItem(
            id=f"climate-{row['claim_id']}",
            claim=row["claim"],
            documents=_documents([evidence["evidence"] for evidence in row["evidences"]]),
            conflict=row["claim_label"] == "DISPUTED",
            dataset="climate_fever",
        )
    ]


PAIRS: dict[str, Reader[StancePair]] = {
    "plain": _plain_pair,
    "factcheck": _factcheck,
    "healthver": _healthver,
    "climate_fever": _climate_pairs,
}
ITEMS: dict[str, Reader[ConflictItem]] = {
    "plain": _plain_item,
    "ramdocs": _ramdocs,
    "conflict_nq": _conflict_nq,
    "climate_fever": _climate_item,
}


def load(path: Path, format: str, readers: Mapping[str, Reader[Out]], *, seed: int = 0) -> list[Out]:
    """The labelled items of a JSONL file, in its order.

    Args:
        path: The file.
        format: One of `readers`.
        readers: `PAIRS` or `ITEMS`.
        seed: Draws the documents of other questions that stand in items without a conflict.

    Raises:
        InputError: the file cannot be read, a line is not an item (with its number), or two have one id.
    """
    rows: list[Row] = []
    numbers: list[int] = []
    for number, line in read_lines(path):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{path}, line {number}: not JSON.") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: not an item of the format {format!r}.")
        rows.append(row)
        numbers.append(number)
    found: list[Out] = []
    lines: dict[str, int] = {}
    for place, (number, row) in enumerate(zip(numbers, rows, strict=True), 1):
        try:
            items = readers[format](row, place, rows, seed)
        except KeyError as error:
            raise InputError(f"{path}, line {number}: {error} is missing or unknown.") from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            why = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{path}, line {number}: {where + ': ' if where else ''}{why}.") from None
        except (TypeError, ValueError, AttributeError, IndexError):
            raise InputError(f"{path}, line {number}: not an item of the format {format!r}.") from None
        for item in items:
            if item.id in lines:
                raise InputError(f"{path}, line {number}: the id {item.id!r} stands in line {lines[item.id]} as well.")
            lines[item.id] = number
        found += items
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


def _both(
    name: str, question: str, answer: str, plus: list[str], minus: list[str], others: list[str]
) -> list[ConflictItem]:
    """The item with both sides, where there are both, and the one with the supporting side and two that say nothing."""
    if not plus:
        return []
    claim = f'The answer to "{question}" is: {answer}'
    common = {"claim": claim, "question": question, "dataset": name.rpartition("-")[0]}
    found = [ConflictItem(id=f"{name}-0", documents=_documents([plus[0], *others]), conflict=False, **common)]
    if minus:
        found.insert(0, ConflictItem(id=f"{name}-1", documents=_documents([*plus, *minus]), conflict=True, **common))
    return found


def _others(row: Row, rows: Sequence[Row], name: str, seed: int) -> list[Row]:
    rest = [other for other in rows if other is not row]
    return random.Random(f"{seed}:{name}").sample(rest, min(_OTHERS, len(rest)))


def _pair(id: str, claim: str, text: str, stance: str, dataset: str) -> StancePair:
    return StancePair(id=id, claim=claim, document=_document(text, 1), stance=Stance(stance), dataset=dataset)


def _documents(texts: Sequence[str]) -> list[Document]:
    return [_document(text, place) for place, text in enumerate(texts, 1)]


def _document(given: Any, place: int) -> Document:
    values = {"text": given} if isinstance(given, str) else dict(given)
    known = {name: values[name] for name in Document.model_fields if name in values}
    return Document.model_validate({"id": str(place), "rank": place, **known})
