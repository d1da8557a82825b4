"""What a judge is measured on: a stance that people saw, or a claim whose documents conflict or don't."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from regen.types import Document, Record, Stance, Text


class StancePair(Record):
    """A claim, a document, and the stance that people saw in it."""

    id: str = Field(min_length=1)
    claim: Text
    document: Document
    stance: Stance
    question: str | None = None
    dataset: str = ""


class ConflictItem(Record):
    """A claim, its documents, and whether some of them support it and others contradict it."""

    id: str = Field(min_length=1)
    claim: Text
    documents: list[Document] = Field(min_length=1)
    conflict: bool
    question: str | None = None
    dataset: str = ""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len({document.id for document in self.documents}) < len(self.documents):
            raise ValueError("two documents have the same id")
        return self


def document(given: str | Mapping[str, Any], place: int) -> Document:
    """A text, or what is known of a document, as the document that stands at a place, from 1."""
    values = {"text": given} if isinstance(given, str) else dict(given)
    known = {name: values[name] for name in Document.model_fields if name in values}
    return Document.model_validate({"id": str(place), "rank": place, **known})
