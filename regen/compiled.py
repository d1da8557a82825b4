"""The folder of a compiled program: its prompts as DSPy's state in JSON, and a card that says what they are worth.

It is read without running anything that is in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError

from regen.errors import InputError
from regen.fence import one_line
from regen.types import Record, Usage

PROGRAM, CARD = "program.json", "card.json"
# A program that was compiled without credibility can be asked with it, which then has its default prompt.
_LATER = "assessor."


class Score(Record):
    """A mean over items, or of the labels' F1, with its 95% interval: a percentile bootstrap over items, 2,000
    resamples.
    """

    mean: float
    low: float
    high: float
    n: int
    failed: int = Field(default=0, description="Items on which the program failed: they count as 0.")


class DataSet(Record):
    """A set of examples: how many, of how many questions, and a hash over all of them."""

    n: int
    questions: int
    sha256: str


class Card(Record):
    """What a compiled program is: how it came about, what it was trained on, and how good it is."""

    optimizer: str
    metric: str
    budget: str
    only: str | None = Field(default=None, description="The part that was compiled; all that is used where null.")
    predictors: list[str] = Field(description="The predictors that were compiled.")
    seed: int
    model: str
    prompt_model: str
    judge: str
    claims: str
    base: Score | None = Field(default=None, description="The default prompts on held-back items.")
    compiled: Score | None = Field(default=None, description="The compiled prompts on the same items.")
    difference: Score | None = Field(default=None, description="Compiled minus base, item by item.")
    base_macro_f1: Score | None = Field(default=None, description="Of stances: the mean F1 of the default prompts.")
    compiled_macro_f1: Score | None = Field(default=None, description="Of stances: that of the compiled prompts.")
    validation: float | None = Field(default=None, description="The best score on the items that chose among prompts.")
    finished: bool = Field(default=False, description="False while it is compiled, and where that was broken off.")
    stopped: str | None = Field(default=None, description="What ended it before the optimizer did.")
    failed_calls: int = Field(default=0, description="Calls that failed for good while it was compiled.")
    failed_answers: int = Field(default=0, description="Answers that failed while it was compiled: each counts as 0.")
    data: dict[str, DataSet]
    seen: list[str] = Field(description="Hashes of the normalised questions of training and validation.")
    signatures: dict[str, str] = Field(description="A hash over the default prompt of each predictor.")
    prompts: str = Field(description="`regen.prompts.prompts_hash` of the compiled program.")
    usage: Usage = Usage()
    versions: dict[str, str]
    written: datetime = Field(default_factory=lambda: datetime.now(UTC))

    def scores(self) -> dict[str, Score | None]:
        """What it is worth on held-back items, by what people call it."""
        return {
            "default prompts": self.base,
            "compiled": self.compiled,
            "difference": self.difference,
            "default, macro-F1": self.base_macro_f1,
            "compiled, macro-F1": self.compiled_macro_f1,
        }


class Compiled:
    """A compiled program as it was read.

    Args:
        folder: Where it was.
        card: Its card.
        state: Of each predictor, by name, as `dspy.Module.save` writes it.
        sha256: Of the file with the state.
    """

    def __init__(self, folder: Path, card: Card, state: dict[str, Any], sha256: str) -> None:
        self.folder, self.card, self.state, self.sha256 = folder, card, state, sha256

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The program in a folder.

        Raises:
            InputError: there is none, or it is not readable, or of another version of regen.
        """
        from regen import __version__

        try:
            raw, card = (folder / PROGRAM).read_bytes(), (folder / CARD).read_text("utf-8")
            state = {_plain(name): one for name, one in json.loads(raw).items()}
            version = json.loads(card)["versions"]["regen"]
        except OSError:
            raise InputError(f"There is no compiled program in {folder}: `regen optimize` writes them.") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"What is in {folder} cannot be read as a compiled program.") from None
        if version != __version__:
            raise InputError(
                f"The program in {folder} was compiled with regen {version}, and this is {__version__}: its prompts "
                "may not fit. Compile it again."
            )
        try:
            return cls(folder, Card.model_validate_json(card), state, hashlib.sha256(raw).hexdigest())
        except ValidationError as error:
            what = ".".join(map(str, error.errors()[0]["loc"]))
            raise InputError(f"The card in {folder} cannot be read: {what} is missing or wrong.") from None

    def apply(self, module: Any, prefix: str = "") -> Any:
        """Gives a module's predictors the compiled prompts, and returns it. No model is taken from the folder.

        Args:
            module: `Regen`, a `Scorer`, or a judge, fresh.
            prefix: What the module's predictors are called by in a `Regen`: "judge." for a judge alone.

        Raises:
            InputError: a predictor has another signature than the one that was compiled, or there is none for it.
        """
        from regen.strategies import PREDICTORS

        def is_own(name: str) -> bool:
            # What is compiled is the default strategy: what others ask beside it stays as it is, and so does what
            # came to regen later than the program.
            return name.startswith((*PREDICTORS, _LATER)) and name not in self.card.signatures

        for name, mine in prompt_hashes(module, prefix).items():
            if is_own(name):
                continue
            if (compiled := self.card.signatures.get(name)) is None or name not in self.state:
                raise InputError(
                    f"The program in {self.folder} has no prompt for {name}: it was compiled for --judge "
                    f"{self.card.judge} and --claims {self.card.claims}."
                )
            if compiled != mine:
                raise InputError(
                    f"The program in {self.folder} was compiled for another signature of {name} than this regen "
                    "has: compile it again."
                )
        for name, predictor in _predictors(module, prefix):
            if is_own(name):
                continue
            try:
                predictor.load_state({**self.state[name], "lm": None})
            except (KeyError, TypeError, ValueError, AttributeError):
                raise InputError(f"The prompt of {name} in {self.folder} cannot be read: compile it again.") from None
        return module

    def check_unseen(self, items: Iterable[Sequence[str | None]]) -> None:
        """Raises InputError where items to be evaluated were in training: see `refuse_leaks`."""
        refuse_leaks(items, self.card.seen, f"the training of the program in {self.folder}")


def refuse_leaks(items: Iterable[Sequence[str | None]], seen: Iterable[str], where: str) -> None:
    """Refuses items that were seen before, however their capitals, spaces and punctuation were.

    Args:
        items: Each by its question, its claim, or both.
        seen: Keys of what was seen.
        where: It was seen.

    Raises:
        InputError: some were, with how many of them.
    """
    known, given = set(seen), list(items)
    leaked = [text for texts in given if (text := next((t for t in texts if t and question_key(t) in known), None))]
    if leaked:
        raise InputError(
            f"{len(leaked)} of the {len(given)} items to evaluate on {'was' if len(leaked) == 1 else 'were'} in "
            f"{where}, {one_line(leaked[0], 80)!r} first: leave them out."
        )


def question_key(question: str) -> str:
    """A hash that questions share which differ in capitals, spaces and punctuation only."""
    folded = unicodedata.normalize("NFKC", question).casefold()
    # Vowel signs of some scripts are marks, not letters.
    plain = "".join(sign for sign in folded if sign.isalnum() or unicodedata.category(sign).startswith("M"))
    return hashlib.sha256((plain or folded).encode("utf-8", "replace")).hexdigest()[:16]


def prompt_hashes(module: Any, prefix: str = "") -> dict[str, str]:
    """A hash over the prompt of each predictor of a fresh module: its instructions and fields, by its name."""
    from pydantic import TypeAdapter

    found = {}
    for name, predictor in _predictors(module, prefix):
        fields = [
            [field, str(info.json_schema_extra), TypeAdapter(info.annotation).json_schema()]
            for field, info in predictor.signature.fields.items()
        ]
        said = json.dumps([predictor.signature.instructions, fields], sort_keys=True)
        found[name] = hashlib.sha256(said.encode()).hexdigest()[:16]
    return found


def write(folder: Path, program: Any, card: Card) -> None:
    """Writes a program and its card, each file as one step.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f".new-{PROGRAM}"
    program.save(fresh)
    os.replace(fresh, folder / PROGRAM)  # noqa: PTH105 (whatever stands there)
    for name, text in ((CARD, card.model_dump_json(indent=2)), ("card.md", markdown(card))):
        fresh = folder / f".new-{name}"
        fresh.write_text(text + "\n", "utf-8")
        os.replace(fresh, folder / name)  # noqa: PTH105


def markdown(card: Card) -> str:
    """A card for people."""
    lines = ["# A compiled program", ""]
    if not card.finished:
        lines += ["It is not finished: these are the best prompts so far, not yet scored on held-back items.", ""]
    lines += [f"| {card.metric}, or as named, on held-back items | mean | 95% | n |", "|---|---|---|---|"]
    for name, score in card.scores().items():
        if score is not None:
            lines.append(f"| {name} | {score.mean:.3f} | {score.low:.3f} to {score.high:.3f} | {score.n} |")
    usage = card.usage
    cost = "" if usage.cost_usd is None else f", ${usage.cost_usd:,.4f}"
    failed = {}
    if card.failed_calls or card.failed_answers:
        failed["failed on the way"] = f"{card.failed_calls:,} calls, {card.failed_answers:,} answers, which count as 0"
    facts = {
        "optimizer": f"{card.optimizer}, budget {card.budget}, seed {card.seed}",
        "predictors": ", ".join(card.predictors),
        "model": card.model,
        "prompt model": card.prompt_model,
        "judge, claims": f"{card.judge}, {card.claims}",
        "validation score": "none" if card.validation is None else f"{card.validation:.3f}",
        "usage": f"{usage.calls:,} calls, {usage.prompt_tokens + usage.completion_tokens:,} tokens{cost}",
        **failed,
        **{f"{name} data": f"{one.n} items, SHA-256 {one.sha256[:16]}" for name, one in card.data.items()},
        "prompts": card.prompts,
        "versions": ", ".join(f"{name} {version}" for name, version in card.versions.items()),
    }
    lines += ["", *(f"- {name}: {value}" for name, value in facts.items())]
    return "\n".join([*lines, *([f"- ended early: {card.stopped}"] if card.stopped else [])])


def _predictors(module: Any, prefix: str) -> list[tuple[str, Any]]:
    """Predictors by their names in a `Regen`."""
    return [(_plain(f"{prefix}{name}"), predictor) for name, predictor in module.named_predictors()]


def _plain(name: str) -> str:
    """The name of a predictor; a judge that is asked several times has those that it has when it is asked once."""
    return name.replace("judge.inner.", "judge.")
