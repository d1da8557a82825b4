"""What an evaluation asks: a question, its choices, and its documents where it brings its own."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from regen.types import Document, Record, Text


class ChoiceItem(Record):
    """One question with choices."""

    id: str = Field(min_length=1)
    question: Text
    choices: list[Text] = Field(min_length=2, max_length=25)
    answer: int = Field(ge=0, strict=True, description="Index of the right choice.")
    documents: list[Document] | None = Field(default=None, description="None where they are to be searched for.")
    category: str = ""
    type: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.answer >= len(self.choices):
            raise ValueError(f"answer {self.answer} is none of the {len(self.choices)} choices, which count from 0")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError("two choices are the same")
        ids = [document.id for document in self.documents or ()]
        if len(set(ids)) < len(ids):
            raise ValueError("two documents have the same id")
        return self
