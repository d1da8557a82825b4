"""The figures of CONFLICTS: pure functions over rows, one row an item. An interval is a 95% one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field

from eval_conflictbench.metrics import UNJUDGED, ClassScores, Interval, scores
from eval_conflicts.grounding import Sentence
from eval_conflicts.runner import Finding
from eval_truthfulqa.metrics import Share, share
from regen.types import FoundKind, Kind, Record


class Answered(Record):
    """An answer, and what was judged of it; null is what was not asked, or not come to yet."""

    text: str
    cited: list[str] = Field(description="Ids of the documents that it cites.")
    kind: FoundKind | None = Field(default=None, description="What it was given by; null where it was by none.")
    adherence: Finding | None = None
    recall: Finding | None = None
    sentences: list[Sentence] | None = None


class Row(Record):
    """One item."""

    id: str
    question: str
    kind: Kind = Field(description="By experts.")
    right_answer: str = ""
    told: dict[str, FoundKind | None] = Field(
        default={}, description="The kind by each that tells it; null where it failed."
    )
    unnamed: dict[str, str] = Field(
        default={}, description="What the model replied where it named no kind, so that the rules had to tell it."
    )
    answers: dict[str, Answered] = {}
    errors: dict[str, str] = Field(default={}, description="Why it failed, by stage.")


class Judged(Record):
    """A share over what could be judged. What could not counts for neither side."""

    share: Share
    unjudged: int


class KindFigures(Record):
    """How well the kind of conflict is told: over all items that it was told of, or could not be."""

    by: str
    n: int
    unjudged: int = Field(description="Items whose kind could not be told: never right.")
    by_rules: int = Field(description="Items whose kind a model did not name, so that the rules told it.")
    accuracy: Share
    of_kind: dict[Kind, Share] = Field(description="The same by the kind that is right.")
    macro_f1: Interval = Field(description="Mean F1 of the kinds that some item has.")
    classes: list[ClassScores]
    confusion: dict[str, dict[str, int]] = Field(description="Counts by the kind that is right, then the one told.")


class StrategyFigures(Record):
    """How well a strategy answers: the three metrics of Cattan et al. (2025)."""

    strategy: str
    answered: int
    failed: int = Field(description="Items that it could not answer; they are in none of the shares.")
    adherence: Judged = Field(description="Answers that do what their item's kind needs.")
    adherence_of_kind: dict[Kind, Share]
    answer_recall: Judged = Field(description="Answers that hold the right one, where the kind leaves one right.")
    grounding: Judged = Field(
        description="Sentences with facts that a document which they cite supports; those of one answer are not "
        "independent, so the interval is somewhat too narrow."
    )
    uncited: int = Field(description="Sentences with facts that cite no document: not supported.")
    without_facts: int = Field(description="Answers without a sentence that states facts.")


def told(rows: Sequence[Row], by: str) -> KindFigures:
    """How well `by` tells the kind, over the rows that it told, or failed on."""
    return _kinds(
        by,
        [(row.kind, found.kind if (found := row.told[by]) else UNJUDGED) for row in rows if by in row.told],
        sum(by in row.unnamed for row in rows),
    )


def baselines(rows: Sequence[Row]) -> list[KindFigures]:
    """What always saying "no conflict" reaches, and always saying what most of these items are."""
    most = max(Kind, key=Counter(row.kind for row in rows).__getitem__)
    return [
        _kinds(by, [(row.kind, always) for row in rows])
        for by, always in ((f"always {Kind.NO_CONFLICT}", Kind.NO_CONFLICT), (f"majority ({most})", most))
    ]


def answered(rows: Sequence[Row], strategy: str) -> StrategyFigures:
    """The figures of a strategy."""
    pairs = [(row.kind, row.answers[strategy]) for row in rows if strategy in row.answers]
    adherence = [(kind, one.adherence.yes) for kind, one in pairs if one.adherence]
    per_answer = [one.sentences for _, one in pairs if one.sentences is not None]
    found = [sentence for of_answer in per_answer for sentence in of_answer]
    return StrategyFigures(
        strategy=strategy,
        answered=len(pairs),
        failed=sum(strategy in row.errors for row in rows),
        adherence=_judged(yes for _, yes in adherence),
        adherence_of_kind={kind: _judged(yes for one, yes in adherence if one is kind).share for kind in Kind},
        answer_recall=_judged(one.recall.yes for _, one in pairs if one.recall),
        grounding=_judged(sentence.supported for sentence in found),
        uncited=sum(not sentence.cited for sentence in found),
        without_facts=per_answer.count([]),
    )


def _judged(findings: Iterable[bool | None]) -> Judged:
    known = list(findings)
    return Judged(share=share(yes for yes in known if yes is not None), unjudged=known.count(None))


def _kinds(by: str, outcomes: Sequence[tuple[Kind, str]], by_rules: int = 0) -> KindFigures:
    # As plain texts, by which the counts of a report are looked up.
    found = scores([(meant.value, str(said)) for meant, said in outcomes], [kind.value for kind in Kind])
    return KindFigures(
        by=by,
        n=found.n,
        unjudged=found.unjudged,
        by_rules=by_rules,
        accuracy=share(meant == said for meant, said in outcomes),
        of_kind={kind: share(kind == said for meant, said in outcomes if meant is kind) for kind in Kind},
        macro_f1=found.macro_f1,
        classes=found.classes,
        confusion=found.confusion,
    )
