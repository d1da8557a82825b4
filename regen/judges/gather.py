"""Puts together what was found out about each document, and keeps apart what could not be found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from regen.judges import Progress
from regen.models.failures import translate
from regen.parallel import run_all
from regen.types import Document, Unjudged

Out = TypeVar("Out")


def each_document(
    work: Callable[[Document], Out], documents: Sequence[Document], progress: Progress | None = None
) -> tuple[dict[str, Out], list[Unjudged]]:
    """`work` on every document at the same time: what it gave, by document id, and those it failed for.

    Raises:
        Exception: what `work` raised, when it failed for every document.
    """
    results = run_all(work, documents, progress)
    good = {
        document.id: result
        for document, result in zip(documents, results, strict=True)
        if not isinstance(result, Exception)
    }
    failed = [
        (document, result) for document, result in zip(documents, results, strict=True) if isinstance(result, Exception)
    ]
    if failed and not good:
        raise failed[0][1]
    return good, [
        Unjudged(document_id=document.id, cause=str(translate(error)).rstrip(".")) for document, error in failed
    ]
