"""Files of questions with choices and documents: regen's own lines, RAMDocs and ConflictNQ."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from eval_truthfulqa.items import ChoiceItem
from regen.batch import first_problem, is_id, read_json, read_lines
from regen.errors import InputError
from regen.types import Document, Record


def plain(row: Mapping[str, Any], number: int) -> ChoiceItem | None:
    """`{"id", "question", "choices", "answer", "documents"}`: `answer` is the index of the right choice.

    A document is a text, or an object with `text` and, where they are known, `title`, `url`, `published` and `id`.
    An item can have a `category` and a `type`; other keys are left alone.
    """
    if not is_id(row["id"]) or not isinstance(row["documents"], list):
        raise TypeError
    documents = [
        {"id": str(place), "rank": place, **_known(Document, {"text": given} if isinstance(given, str) else given)}
        for place, given in enumerate(row["documents"], 1)
    ]
    return ChoiceItem.model_validate({**_known(ChoiceItem, row), "id": str(row["id"]), "documents": documents})


def ramdocs(row: Mapping[str, Any], number: int) -> ChoiceItem | None:
    """RAMDocs (Wang et al. 2025, HanNight/RAMDocs): an item wherever there are both right and wrong answers."""
    if not row["gold_answers"] or not row["wrong_answers"] or row["gold_answers"][0] == row["wrong_answers"][0]:
        return None
    return ChoiceItem(
        id=f"ramdocs-{number}",
        question=row["question"],
        choices=[row["gold_answers"][0], row["wrong_answers"][0]],
        answer=0,
        documents=_documents([document["text"] for document in row["documents"]]),
    )


def conflict_nq(row: Mapping[str, Any], number: int) -> ChoiceItem | None:
    """ConflictNQ (4-en/ConflictNQ): one real passage against one counterfactual, in an order drawn by the item's id."""
    if row["real_short_answer"] == row["fake_short_answer"]:
        return None
    texts = [row["real_passages"][0]["passage"], row["fake_passages"][0]["passage"]]
    random.Random(row["id"]).shuffle(texts)
    return ChoiceItem(
        id=str(row["id"]),
        question=row["cleaned_question"],
        choices=[row["real_short_answer"], row["fake_short_answer"]],
        answer=0,
        documents=_documents(texts),
    )


FORMATS: dict[str, Callable[[Mapping[str, Any], int], ChoiceItem | None]] = {
    "plain": plain,
    "ramdocs": ramdocs,
    "conflict_nq": conflict_nq,
}


def load(path: Path, format: str = "plain") -> tuple[list[ChoiceItem], int]:
    """The items of a JSONL file, and how many of its lines are none (no right or no wrong answer).

    Raises:
        InputError: the file cannot be read, a line is not an item, or two have one id; with the line's number.
    """
    items: list[ChoiceItem] = []
    lines: dict[str, int] = {}
    left_out = 0
    for number, line in read_lines(path):
        row = read_json(line, f"{path}, line {number}")
        try:
            item = FORMATS[format](row, number)
        except KeyError as error:
            raise InputError(f"{path}, line {number}: {error} is missing.") from None
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {first_problem(error)}.") from None
        except (ValueError, TypeError, AttributeError, IndexError):
            raise InputError(f"{path}, line {number}: not an item of the format {format!r}.") from None
        if item is None:
            left_out += 1
            continue
        if item.id in lines:
            raise InputError(f"{path}, line {number}: the id {item.id!r} stands in line {lines[item.id]} as well.")
        lines[item.id] = number
        items.append(item)
    if not items:
        raise InputError(f"There is no item in {path}.")
    return items, left_out


def _known(record: type[Record], given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in record.model_fields if name in given}


def _documents(texts: list[str]) -> list[Document]:
    return [Document(id=str(number), text=text, rank=number) for number, text in enumerate(texts, 1)]
