"""Puts together what was found out about each document, and keeps apart what could not be found out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from regen.citations import attribution
from regen.errors import ConfigurationError, ProviderError
from regen.fence import one_line, printable
from regen.judges import Progress
from regen.models.failures import expected, translate
from regen.parallel import run_all
from regen.readings import is_reported
from regen.types import Claim, Document, Unjudged

Out = TypeVar("Out")


def each_document(
    work: Callable[[Document], Out], documents: Sequence[Document], progress: Progress | None = None
) -> tuple[dict[str, Out], list[Unjudged]]:
    """`work` on every document at the same time: what it gave, by document id, and those a model failed for.

    Raises:
        ConfigurationError: as soon as every document fails for a key or a setting: no other call would do better.
    """
    results = list(zip(documents, run_all(work, documents, expected(), progress), strict=True))
    failed = {document.id: translate(result) for document, result in results if isinstance(result, Exception)}
    good = {document.id: result for document, result in results if not isinstance(result, Exception)}
    for error in failed.values():
        if isinstance(error, ConfigurationError) and not good:
            raise error
    return good, [Unjudged(document_id=name, cause=str(error).rstrip(".")) for name, error in failed.items()]


def is_of_others(claim: Claim, document: Document) -> bool:
    """Whether a claim only says what others than this document say, which it cannot contradict by saying otherwise."""
    return document.id not in claim.sources if claim.sources else is_reported(claim.text)


def hypotheses(claims: Sequence[Claim], question: str | None, exclusive: bool) -> list[str]:
    """What judges without a language model compare documents with: each claim, on one line.

    A rival answer is no statement, so it stands after its question, as Kuhn et al. 2023 (semantic uncertainty) give
    answers to NLI models: to rewrite both as a sentence would take another model.
    """
    asked = f"{one_line(question, 400)} " if exclusive and question else ""
    return [asked + on_one_line(attribution(claim.text)[1]) for claim in claims]


def on_one_line(text: str) -> str:
    """`text` without line ends and without characters that cannot be seen."""
    return " ".join(printable(text).split())


def refuse_nothing(judged: Collection[str], unjudged: Sequence[Unjudged]) -> None:
    """Raises `ProviderError`, with the first cause, when no document at all could be judged."""
    if unjudged and not judged:
        raise ProviderError(f"No document could be judged: {unjudged[0].cause}.")
