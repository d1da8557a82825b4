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


def check_judge(name: str) -> None:
    """Raises `ConfigurationError` where no installed package registers the judge that `name` begins with."""
    kind = name.partition(":")[0]
    if kind not in ("auto", *_installed()):
        raise _unknown(kind)


def make_judge(name: str, *, samples: int = 1, seed: int = 0) -> Judge:
    """The judge of a name, such as `lm` or `lm:pair`.

    Args:
        name: As it is registered; after a colon may stand what the judge's attribute `takes` describes.
        samples: How often it is asked, at a temperature above 0; the majority counts (`regen.judges.vote`).
        seed: Of what the judge shuffles.

    Raises:
        ConfigurationError: no installed package registers that name, or it takes nothing of what stands after the
            colon, or several samples are asked of a judge that says the same each time.
    """
    kind, colon, argument = name.partition(":")
    if kind not in _installed():
        raise _unknown(kind)
    factory = _installed()[kind].load()
    takes = getattr(factory, "takes", None)
    if colon and not (takes and argument):
        has = f"takes {takes} after a colon" if takes else "takes nothing after its name"
        raise ConfigurationError(f"The judge {kind} {has}: {name!r} is not one.")
    judge: Judge = factory(argument) if argument else factory()
    _seed(judge, seed)
    if samples > 1 and not asks_model(name):
        raise ConfigurationError(f"The judge {name} says the same each time: leave --judge-samples out.")
    if samples > 1:
        from regen.judges.vote import Consistent

        judge = Consistent(judge, samples)
    return judge


def default_judge(lm: Any, *, asked: bool = True) -> str:
    """The judge that "auto" stands for (what was measured: `benchmarks/README.md`).

    For a weak model it is one that reads and chooses, or, where there is nothing to read for, one without a model; for
    others one that gives verdicts.

    Args:
        lm: Whatever has its name in `model`: a DSPy LM or a `ModelChoice`.
        asked: Whether claims answer a question that the judge is given.
    """
    if not str(getattr(lm, "model", "")).startswith("embedded/"):
        return "lm"
    return "contrast" if asked else "builtin"


def asks_model(name: str) -> bool:
    """Whether the judge of a name asks a language model; one that says nothing of it does.

    One that is made of others, and says which in `parts`, asks it where one of them does.
    """
    kind, _, argument = name.partition(":")
    if kind not in _installed():
        return True
    factory = _installed()[kind].load()
    parts = factory.parts(argument) if hasattr(factory, "parts") else []
    return any(map(asks_model, parts)) if parts else bool(getattr(factory, "asks_model", True))


def _seed(judge: Any, seed: int) -> None:
    if hasattr(judge, "seed"):
        judge.seed = seed
    for part in getattr(judge, "judges", ()):
        _seed(part, seed)


def _unknown(kind: str) -> ConfigurationError:
    known = [name for name in ("auto", *judge_names()) if name != kind]
    return ConfigurationError(f"There is no judge {kind!r}; there are: {', '.join(known)}.")


@cache
def _installed() -> dict[str, EntryPoint]:
    """The judges by name. Looking through every installed package takes milliseconds, and each program asks."""
    return {point.name: point for point in entry_points(group="regen.judges")}
