"""Labelled data as `dspy.Example`s: TruthfulQA, sets with choices and documents, stances of documents, one's own."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy

from eval_choices.data import load as load_choices
from eval_conflictbench.data import PAIRS, StancePair
from eval_conflictbench.data import load as load_pairs
from eval_truthfulqa.data import load as load_truthfulqa
from eval_truthfulqa.items import ChoiceItem
from regen.compiled import question_key
from regen.compiling import asked
from regen.errors import InputError
from search.base import Search

Refused = Callable[[str], bool]


def from_choices(items: Sequence[ChoiceItem]) -> list[Any]:
    """Examples of questions with choices, for a `Regen`; those without documents are to be given some.

    An example shows its choices in an order drawn by its id: many sets have the right one first.
    """
    found = []
    for item in items:
        order = list(range(len(item.choices)))
        random.Random(item.id).shuffle(order)
        example = dspy.Example(
            question=item.question,
            choices=[item.choices[place] for place in order],
            documents=item.documents,
            answer=order.index(item.answer),
        )
        found.append(example.with_inputs("question", "choices", "documents"))
    return found


def from_pairs(pairs: Sequence[StancePair]) -> list[Any]:
    """Examples of claims and documents, for the judge of a `Regen`."""
    return [
        dspy.Example(claim=pair.claim, document=pair.document, question=pair.question, stance=pair.stance).with_inputs(
            "claim", "document", "question"
        )
        for pair in pairs
    ]


def _truthfulqa(path: Path) -> list[Any]:
    return from_choices(
        [
            ChoiceItem(id=item.id, question=item.question, choices=[item.right, item.wrong], answer=0)
            for item in load_truthfulqa(path)
        ]
    )


def _choices(name: str) -> Callable[[Path], list[Any]]:
    return lambda path: from_choices(load_choices(path, name)[0])


def _pairs(name: str) -> Callable[[Path], list[Any]]:
    return lambda path: from_pairs(load_pairs(path, name, PAIRS))


FORMATS: dict[str, Callable[[Path], list[Any]]] = {
    "choices": _choices("plain"),
    "ramdocs": _choices("ramdocs"),
    "conflict_nq": _choices("conflict_nq"),
    "truthfulqa": _truthfulqa,
    "stance": _pairs("plain"),
    "factcheck": _pairs("factcheck"),
    "healthver": _pairs("healthver"),
    "climate_fever": _pairs("climate_fever"),
}
"""Readers of files. `choices` and `stance` are the lines that `regen eval choices` and `regen eval stance` take."""


def load(path: Path, format: str) -> list[Any]:
    """The examples of a file.

    Raises:
        InputError: it cannot be read, or a line is no item, with its number.
    """
    return FORMATS[format](path)


def split(examples: Sequence[Any], shares: Sequence[float], seed: int) -> list[list[Any]]:
    """Examples in parts, by question: those of one question, however it is written, are in one part.

    Args:
        examples: Of one kind.
        shares: Of the questions, for each part, adding up to 1.
        seed: Draws which question goes where; the examples of a part stay in their order.
    """
    keys = list(dict.fromkeys(question_key(asked(example)) for example in examples))
    random.Random(seed).shuffle(keys)
    ends = [round(sum(shares[: place + 1]) * len(keys)) for place in range(len(shares))]
    part_of = {key: next(part for part, end in enumerate(ends) if place < end) for place, key in enumerate(keys)}
    parts: list[list[Any]] = [[] for _ in shares]
    for example in examples:
        parts[part_of[question_key(asked(example))]].append(example)
    return parts


def with_documents(
    examples: Sequence[Any], search: Search, k: int, tell: Callable[[str, int, int], None], refused: Refused
) -> tuple[list[Any], Counter[str]]:
    """Examples with what a search finds for them, and its warnings with how many questions they are about.

    Those for which it finds nothing are left out, and among the warnings.

    Args:
        examples: Those that have documents keep them.
        search: Asked for the others.
        k: How many documents each gets.
        tell: Told the step, and how many of how many are done.
        refused: Tells the addresses of pages that are left out.

    Raises:
        InputError: nothing is found for any.
    """
    found = []
    warnings: Counter[str] = Counter()
    for place, example in enumerate(examples):
        tell("searching", place, len(examples))
        documents = example.documents
        if documents is None:
            results = search.top(example.question, k)
            documents = [document for document in results.documents if not refused(document.url)]
            warnings.update(set(results.warnings))
        if documents:
            found.append(example.copy(documents=documents))
        else:
            warnings["Nothing was found, and the question is left out."] += 1
    if not found:
        why = " ".join(warning for warning, _ in warnings.most_common(3))
        raise InputError(f"No document was found for any of the questions: name others. {why}")
    return found, warnings
