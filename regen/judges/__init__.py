"""Judges: who says what a document says. One protocol, found by name through entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from regen.errors import ConfigurationError
from regen.types import Claim, Document, Judgement

Progress = Callable[[int, int], None]


class Judge(Protocol):
    """Says for each claim and document what the document's stance is."""

    def judge(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        *,
        question: str | None = None,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> Judgement:
        """One stance for each claim and document, or the document among those that could not be judged.

        Args:
            claims: Claims of one response; ids unique.
            documents: Ids unique.
            question: What the response answers, where it answers something.
            exclusive: The claims are rival answers to the question, of which one at most is right.
            progress: Called with documents judged and documents in all.

        Raises:
            ProviderError: no document at all could be judged.
        """
        ...


def judge_names() -> list[str]:
    """The names of all judges that are installed."""
    return sorted(_installed())


def make_judge(name: str, **options: Any) -> Judge:
    """The judge registered under `name`.

    Raises:
        ConfigurationError: no installed package registers that name.
    """
    found = _installed()
    if name not in found:
        raise ConfigurationError(f"There is no judge {name!r}; there are: {', '.join(['auto', *sorted(found)])}.")
    judge: Judge = found[name].load()(**options)
    return judge


@cache
def _installed() -> dict[str, EntryPoint]:
    """The judges by name. Looking through every installed package takes milliseconds, and each program asks."""
    return {point.name: point for point in entry_points(group="regen.judges")}
