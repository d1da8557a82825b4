"""A small world to evaluate in: items with documents, and a model that reads them well but answers in haste."""

from __future__ import annotations

import re
from typing import Any

from scripted import system_text

from eval_truthfulqa.items import ChoiceItem
from regen.errors import ProviderError
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

    def stage(self, name: str, seconds: float | None) -> None:
        self.stages.append(name)

    def item(self) -> None:
        self.items += 1
