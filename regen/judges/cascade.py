"""The judge that asks a cheap judge first, and a dear one only where the cheap one is not sure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dspy

from regen.errors import ConfigurationError
from regen.judges import Judge, Progress, default_judge, make_judge
from regen.judges.module import JointJudge
from regen.models.failures import expected, translate
from regen.types import Claim, Document, Evidence, Judgement, Stance, Unjudged

# From here on the built-in judge is right at least as often as a small model that reads and chooses (four times in
# five), on the held-back tenth of its pairs. It is seldom surer than 0.87.
SURE = {Stance.SUPPORTS: 0.75, Stance.CONTRADICTS: 0.85, Stance.IRRELEVANT: 0.8}


class CascadeJudge(JointJudge):
    """Two judges: the second is asked of the documents that the first is not sure of, whole.

    A document goes on where the first judge gives some claim a stance with less confidence than `sure`, or could not
    judge it. What the second then says of it replaces what the first said. `Evidence.by` names who decided.

    Args:
        given: Up to three parts with commas: the first judge, the second, and how sure the first must be, in [0, 1].
            `0.95` or `builtin,lm:pair,0.95`, say. Without a second one it is the one that suits the model.
    """

    takes = "judges with commas and how sure the first must be (0.95, or builtin,lm:pair,0.95)"

    def __init__(self, given: str = "") -> None:
        super().__init__()
        parts, sure = _read(given)
        if len(parts) > 2 or (given and not parts and sure is None):
            raise ConfigurationError(f"The judge cascade takes {self.takes}: {given!r} is not that.")
        self.sure = SURE if sure is None else dict.fromkeys(Stance, sure)
        self.names = [*parts, *["builtin", default_judge(dspy.settings.lm)][len(parts) :]]
        self.judges = [make_judge(name) for name in self.names]

    @staticmethod
    def parts(given: str) -> list[str]:
        """The judges that are named; the second one, where it isn't, asks a model."""
        named, _ = _read(given)
        return [*named, *["builtin", "lm"][len(named) :]]

    def judge(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        *,
        question: str | None = None,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> Judgement:
        """See `regen.judges.Judge`."""
        cheap, dear = self.judges
        asked: dict[str, Any] = {"question": question, "exclusive": exclusive}
        try:
            first = cheap.judge(claims, documents, **asked)
        except expected() as error:
            cause = translate(error)
            if cause.exit_code == ConfigurationError.exit_code:
                raise
            why = Unjudged(document_id="", cause=str(cause).rstrip("."))
            first = Judgement(unjudged=[why.model_copy(update={"document_id": item.id}) for item in documents])
        doubtful = doubts(first.evidence, self.sure) | {item.document_id for item in first.unjudged}
        left = [document for document in documents if document.id in doubtful]
        kept = [_by(item, self.names[0]) for item in first.evidence if item.document_id not in doubtful]
        if not left:
            if progress:
                progress(len(documents), len(documents))
            return first.model_copy(update={"evidence": kept})
        second = self._second(dear, claims, left, {**asked, "progress": progress}, bool(kept))
        return Judgement(
            evidence=[*kept, *(_by(item, self.names[1]) for item in second.evidence)],
            unjudged=second.unjudged,
            answers={name: said for name, said in first.answers.items() if name not in doubtful} | second.answers,
            warnings=[*first.warnings, *second.warnings],
        )

    @staticmethod
    def _second(
        judge: Judge, claims: Sequence[Claim], documents: Sequence[Document], asked: dict[str, Any], has_more: bool
    ) -> Judgement:
        """What the second judge finds; where it fails on everything, what the first was sure of still holds."""
        try:
            return judge.judge(claims, documents, **asked)
        except expected() as error:
            cause = translate(error)
            if not has_more or cause.exit_code == ConfigurationError.exit_code:
                raise
            why = str(cause).rstrip(".")
            return Judgement(unjudged=[Unjudged(document_id=document.id, cause=why) for document in documents])


def doubts(evidence: Iterable[Evidence], sure: Mapping[Stance, float]) -> set[str]:
    """The ids of the documents that take some stance without a confidence, or with one below the bound for it."""
    return {item.document_id for item in evidence if item.confidence is None or item.confidence < sure[item.stance]}


def _by(item: Evidence, name: str) -> Evidence:
    return item.model_copy(update={"by": item.by or name})


def _read(given: str) -> tuple[list[str], float | None]:
    parts = [part.strip() for part in given.split(",") if part.strip()]
    return (parts[:-1], _number(parts[-1])) if parts and _is_number(parts[-1]) else (parts, None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise ConfigurationError(f"The cascade's first judge can be sure from 0 to 1, not {text}.")
    return value
