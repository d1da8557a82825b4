"""A small world to compile in: matters that the model only gets right once it is told to weigh."""

from __future__ import annotations

import json
import re
from typing import Any

import dspy
from scripted import system_text

from regen.types import Document

_OPTION = re.compile(r"^([A-Z]): (.*)$", re.MULTILINE)
BETTER = "Weigh the documents, then choose. Reply with the letter of the right option and nothing else."


def example(number: int) -> Any:
    """A matter with two documents for its right choice and one for the other."""
    texts = [f"Page 1: it is true-{number}.", f"Page 2: it is true-{number}.", f"Page 3: people say false-{number}."]
    documents = [Document(id=f"d{place}", text=text) for place, text in enumerate(texts, 1)]
    values = {"question": f"What is said of matter {number}?", "choices": [f"false-{number}", f"true-{number}"]}
    return dspy.Example(**values, documents=documents, answer=1).with_inputs("question", "choices", "documents")


def pair(number: int, stance: str = "supports") -> Any:
    """A claim and a document that supports it, contradicts it, or is about something else."""
    says = {"supports": f"true-{number}", "contradicts": f"false-{number}", "irrelevant": "nothing"}[stance]
    document = Document(id="d", text=f"A page on matter {number}: it is {says}.")
    values = {"claim": f"Matter {number} is true-{number}.", "document": document, "question": None}
    return dspy.Example(**values, stance=stance).with_inputs("claim", "document", "question")


class Model:
    """Chooses rightly where its instructions say to weigh, or it is shown an example; told to guess, in even matters.

    `before` sees each call.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.before: Any = lambda calls: None
        self.reflected_on: list[str] = []

    def __call__(self, _: str, user: str, request: Any) -> str:
        self.calls += 1
        self.before(self.calls)
        system = system_text(request)
        if "proposed_instruction" in system:
            return json.dumps({"proposed_instruction": BETTER})
        if "new_instruction" in system:
            self.reflected_on.append(user)
            return json.dumps({"new_instruction": BETTER})
        if "Say for each claim" in system:
            return self._judge(user)
        even = int(re.findall(r"matter (\d+)", user)[-1]) % 2 == 0
        right = "Weigh" in system or len(request.messages) > 1 or ("Guess" in system and even)
        wanted = "true" if right else "false"
        return next(letter for letter, text in _OPTION.findall(user) if text.startswith(wanted))

    def _judge(self, user: str) -> str:
        document = user.partition("</document>")[0]
        claims = re.findall(r"^\d+\. (.*)$", user.rpartition("</document>")[2], re.MULTILINE)
        found = re.search(r"(?:true|false)-\d+", document)
        verdicts = []
        for number, claim in enumerate(claims, 1):
            stance = "irrelevant" if found is None else "supports" if found.group() in claim else "contradicts"
            quote = "" if found is None else found.group()
            verdicts.append({"claim": number, "quote": quote, "stance": stance, "confidence": 0.9})
        return json.dumps({"answer": found.group() if found else "", "verdicts": verdicts})


TRAIN, VAL, TEST = ([example(number) for number in numbers] for numbers in (range(6), range(6, 10), range(10, 16)))
