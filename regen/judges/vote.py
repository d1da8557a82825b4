"""Several judgements as one: of different judges (`ensemble`), or of one that is asked several times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import fsum, isclose
from typing import Any

import dspy

from regen.errors import ConfigurationError, RegenError
from regen.judges import Judge, Progress, make_judge
from regen.judges.module import JointJudge
from regen.models.failures import expected, translate
from regen.parallel import in_turn
from regen.types import Claim, Document, Evidence, Judgement, Stance, Unjudged

# At 0 a model says the same every time.
SAMPLE_TEMPERATURE = 0.7


class EnsembleJudge(JointJudge):
    """A weighted vote of judges; ties are irrelevant.

    Args:
        judges: Names with commas, each with its weight after an equals sign where that isn't 1: `lm=2,contrast`.
    """

    takes = "judges with commas, and their weights (lm=2,contrast)"

    def __init__(self, judges: str = "lm,contrast") -> None:
        super().__init__()
        named = [part.strip().partition("=") for part in judges.split(",") if part.strip()]
        self.names = [name.strip() for name, _, _ in named]
        self.weights = [_weight(name, given) for name, _, given in named]
        if len(self.names) < 2:
            raise ConfigurationError(f"An ensemble of {judges!r} has nothing to vote on: name two judges at least.")
        self.judges = [make_judge(name) for name in self.names]

    @staticmethod
    def parts(judges: str) -> list[str]:
        """The judges that are named."""
        return [part.strip().partition("=")[0].strip() for part in judges.split(",") if part.strip()]

    def judge(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        *,
        question: str | None = None,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> Judgement:
        """See `regen.judges.Judge`. A judge that fails is left out of the vote, with a warning."""
        asked = {"question": question, "exclusive": exclusive}
        return _all(self.names, self.judges, self.weights, claims, documents, asked, progress)


class Consistent(dspy.Module):
    """One judge asked several times, each time a little differently; the majority counts, and ties are irrelevant.

    The confidence of a stance is the share of the samples that agree on it.

    Args:
        judge: One whose replies differ from sample to sample: it asks for words, not for log-probabilities.
        samples: How often it is asked, 2 or more.
    """

    def __init__(self, judge: Judge, samples: int) -> None:
        super().__init__()
        self.inner = judge
        self.samples = samples

    @property
    def identity(self) -> str | None:
        """That of the judge inside."""
        return getattr(self.inner, "identity", None)

    def judge(
        self,
        claims: Sequence[Claim],
        documents: Sequence[Document],
        *,
        question: str | None = None,
        exclusive: bool = False,
        progress: Progress | None = None,
    ) -> Judgement:
        """See `regen.judges.Judge`; `samples` times the calls of the judge inside."""
        names = [f"sample {number}" for number in range(1, self.samples + 1)]
        judges = [_Sample(self.inner, number) for number in range(self.samples)]
        asked = {"question": question, "exclusive": exclusive}
        return _all(names, judges, [1.0] * self.samples, claims, documents, asked, progress)


class _Sample:
    """A judge as it is asked the n-th time."""

    def __init__(self, judge: Judge, number: int) -> None:
        self._judge, self._number = judge, number

    def judge(self, claims: Sequence[Claim], documents: Sequence[Document], **options: Any) -> Judgement:
        lm = dspy.settings.lm
        # Models that reason have no temperature, and differ all the same.
        warm = {"temperature": SAMPLE_TEMPERATURE} if lm.kwargs.get("temperature") is not None else {}
        seed = {"seed": lm.kwargs["seed"] + self._number} if "seed" in lm.kwargs else {}
        with dspy.context(lm=lm.copy(rollout_id=self._number + 1, **warm, **seed)):
            return self._judge.judge(claims, documents, **options)


def vote(
    judgements: Sequence[Judgement], weights: Sequence[float], claims: Sequence[Claim], documents: Sequence[Document]
) -> Judgement:
    """The stances that most of the weight is for; ties are irrelevant.

    Args:
        judgements: At least one.
        weights: One a judgement, above 0.
        claims: Ids unique.
        documents: Ids unique.

    Returns:
        Evidence whose confidence is its share of the weight of those that judged the document, and whose quote and
        reason are those of the first that is for it and has one. A document that none of them judged is unjudged, with
        the first's cause.
    """
    votes: dict[tuple[str, str], list[tuple[float, Evidence]]] = defaultdict(list)
    for weight, judgement in zip(weights, judgements, strict=True):
        failed = {item.document_id for item in judgement.unjudged}
        for item in judgement.evidence:
            if item.document_id not in failed:
                votes[item.claim_id, item.document_id].append((weight, item))
    evidence = [
        _elected(votes[claim.id, document.id])
        for document in documents
        for claim in claims
        if votes[claim.id, document.id]
    ]
    judged = {item.document_id for item in evidence}
    unjudged: dict[str, Unjudged] = {}
    for judgement in judgements:
        for failure in judgement.unjudged:
            if failure.document_id not in judged:
                unjudged.setdefault(failure.document_id, failure)
    return Judgement(
        evidence=evidence,
        unjudged=list(unjudged.values()),
        answers=next((judgement.answers for judgement in judgements if judgement.answers), {}),
        warnings=[warning for judgement in judgements for warning in judgement.warnings],
    )


def _elected(votes: Sequence[tuple[float, Evidence]]) -> Evidence:
    weight_of = {stance: fsum(weight for weight, item in votes if item.stance is stance) for stance in Stance}
    most = max(weight_of.values())
    # 0.1 + 0.2 is a tie with 0.3.
    leading = [stance for stance, weight in weight_of.items() if isclose(weight, most)]
    stance = leading[0] if len(leading) == 1 else Stance.IRRELEVANT
    agreeing = [(weight, item) for weight, item in votes if item.stance is stance]
    partial = sum(weight for weight, item in agreeing if item.partial)
    return Evidence(
        claim_id=votes[0][1].claim_id,
        document_id=votes[0][1].document_id,
        stance=stance,
        quote=next((item.quote for _, item in agreeing if item.quote), ""),
        confidence=weight_of[stance] / sum(weight_of.values()),
        reason=next((item.reason for _, item in agreeing if item.reason), ""),
        partial=stance is Stance.SUPPORTS and 2 * partial > weight_of[stance],
        by=who.pop() if len(who := {item.by for _, item in agreeing}) == 1 else "",
    )


def _all(
    names: Sequence[str],
    judges: Sequence[Any],
    weights: Sequence[float],
    claims: Sequence[Claim],
    documents: Sequence[Document],
    asked: dict[str, Any],
    progress: Progress | None,
) -> Judgement:
    found: list[tuple[float, Judgement]] = []
    warnings: list[str] = []
    error: RegenError | None = None

    def ask(place: int) -> None:
        nonlocal error
        part = _part(progress, place, len(judges))
        try:
            found.append((weights[place], judges[place].judge(claims, documents, **asked, progress=part)))
        except expected() as failed:
            error = translate(failed)
            if error.exit_code == ConfigurationError.exit_code:
                raise error from failed
            warnings.append(f"{names[place]} is left out of the vote: {str(error).rstrip('.')}.")

    in_turn(ask, range(len(judges)))
    if not found:
        assert error is not None
        raise error
    elected = vote([judgement for _, judgement in found], [weight for weight, _ in found], claims, documents)
    return elected.model_copy(update={"warnings": [*elected.warnings, *warnings]})


def _part(progress: Progress | None, place: int, parts: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, total: progress((place * total + done) // parts, total)


def _weight(name: str, given: str) -> float:
    try:
        weight = float(given) if given.strip() else 1.0
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise ConfigurationError(f"The weight {given.strip()!r} of the judge {name.strip()} is not a number above 0.")
    return weight
