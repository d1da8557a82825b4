"""A small world to evaluate in: items with documents, and a model that reads them well but answers in haste."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy
from scripted import system_text

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import SETTINGS, Row
from eval_truthfulqa.runner import Evaluation, rows
from regen import Regen
from regen.errors import ProviderError
from regen.journal import Calls, Journal
from regen.outbox import Outbox
from regen.runner import complete, work_through
from regen.runs import Run
from regen.types import Document

_OPTION = re.compile(r"^([A-Z]): (.*)$", re.MULTILINE)


def item(number: int, *, right: int = 2, wrong: int = 1) -> ChoiceItem:
    """A question with `right` documents for its right choice, and `wrong` for the other one."""
    texts = [f"Page {page}: it is true-{number}." for page in range(right)]
    texts += [f"Page {page}: people say false-{number}." for page in range(wrong)]
    return ChoiceItem(
        id=f"i{number}",
        question=f"What is said of matter {number}?",
        choices=[f"true-{number}", f"false-{number}"],
        answer=0,
        documents=[Document(id=f"d{place}", text=text, rank=place) for place, text in enumerate(texts, 1)],
        category="odd" if number % 2 else "even",
    )


class Hasty:
    """Takes the wrong choice of odd matters at first, whatever the documents; with feedback, the right one.

    Matters in `broken` are refused, and with `broken_judge` every judgement. `calls` counts what was answered.
    """

    def __init__(self) -> None:
        self.broken: set[int] = set()
        self.broken_judge = False
        self.calls = 0
        self.before: Any = None

    def __call__(self, _: str, user: str, request: Any) -> str:
        if self.before is not None:
            self.before(self.calls)
        system = system_text(request)
        number = int(re.findall(r"(?:matter|true-|false-)\s?(\d+)", user)[-1])
        if number in self.broken or (self.broken_judge and "You read one document" in system):
            raise ProviderError("The endpoint went away.")
        self.calls += 1
        wanted = "false" if number % 2 and "Feedback" not in user else "true"
        if "You read one document" in system:
            wanted = "true" if "true-" in user.partition("</document>")[0] else "false"
        options = _OPTION.findall(user)
        return next(letter for letter, text in options if text.startswith(wanted))


class Quiet:
    """A board that counts."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.items = 0
        self.batches: list[tuple[int, int, int]] = []

    def stage(self, name: str, seconds: float | None) -> None:
        self.stages.append(name)

    def item(self) -> None:
        self.items += 1

    def batch(self, number: int, done: int, total: int) -> None:
        self.batches.append((number, done, total))


ITEMS = [item(number) for number in range(1, 7)]


class Bench:
    """Runs evaluations in one folder with one model."""

    def __init__(self, folder: Path, make_lm: Callable[..., Any]) -> None:
        self.folder, self.model, self.board = folder, Hasty(), Quiet()
        self.make_lm, self.lm, self.journal = make_lm, make_lm(self.model), None

    def run(
        self,
        items: Sequence[ChoiceItem] = ITEMS,
        *,
        config: dict[str, Any] | None = None,
        settings: Sequence[Any] = SETTINGS,
        search: Any = None,
        retry: bool = False,
        both_orders: bool = False,
        exclude: Sequence[str] = (),
        batch: bool = False,
        judge: str = "contrast",
        judge_lm: Any = None,
        **limits: Any,
    ) -> list[Row]:
        data = [(one.id, one.model_dump(mode="json")) for one in items]
        with Run.begin(self.folder, "choices", config or {}, data) as run:
            if retry:
                run.forget_failures()
            outbox = Outbox(run, retries=2) if batch else None
            self.journal = Journal(Calls(run, **limits), concurrency=4, outbox=outbox)
            judge_lm = self.journal.lm(judge_lm) if judge_lm is not None else None
            with dspy.context(lm=self.journal.lm(self.lm)):
                evaluation = Evaluation(
                    settings,
                    lambda: Regen(judge=judge, shuffle=False, judge_lm=judge_lm),
                    search=search,
                    exclude=exclude,
                    both_orders=both_orders,
                )
                stages = evaluation.stages()
                work_through(run, self.journal, stages, self.board, at_once=3)
                self.complete = complete(run, stages)
                self.spent = run.usage()
            return rows(run, settings)


def figures(found: Sequence[Row]) -> list[Row]:
    """The rows without the seconds, which no two runs share."""
    return [
        row.model_copy(
            update={"usage": {name: used.model_copy(update={"seconds": 0.0}) for name, used in row.usage.items()}}
        )
        for row in found
    ]
