"""What a run of CONFLICTS shows: every figure in one object, worked out from the run's store alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from eval_conflicts import metrics
from eval_conflicts.grounding import Sentence, cited_sentences
from eval_conflicts.metrics import Answered, KindFigures, Row, StrategyFigures
from eval_conflicts.runner import (
    ADHERENCE,
    GROUNDING,
    JUDGEMENTS,
    KIND_BY,
    RECALL,
    Finding,
    Teller,
    has_one_answer,
    item_of,
    stage_of,
)
from eval_truthfulqa.metrics import Cost, mean_cost
from regen.errors import InputError
from regen.output import Failure
from regen.runs import Failed, Finished, Run
from regen.types import FoundKind, Record, Usage


class FailedStage(Record):
    """A stage of an item that failed for good."""

    id: str
    stage: str
    message: str


class ConflictsFigures(Record):
    """The figures of a run, as `regen eval conflicts` prints them with --json. An interval is a 95% one."""

    benchmark: str
    folder: str
    began: datetime
    complete: bool = Field(description="Whether nothing is left to do; else the figures are over what was done.")
    stopped: str | None = Field(description="Why it is not complete, where that is known.")
    n: int = Field(description="Items that something is known of.")
    of: int = Field(description="Items of the run.")
    kinds: list[KindFigures] = Field(
        description="By rules alone, by the model, and by the strategies that tell the kind themselves; then what "
        "always saying the same reaches."
    )
    strategies: list[StrategyFigures]
    costs: list[Cost] = Field(
        description="Means: of telling the kind, of an answer of each strategy, and of each judgement of an answer."
    )
    usage: Usage = Field(description="Of the whole run, unfinished stages with it. Its seconds are those of all items.")
    per_item: Cost | None = Field(description="The same, divided by `n`.")
    unjudged: dict[str, int] = Field(description="Why answers, or sentences, could not be judged, and how many.")
    warnings: dict[str, int] = Field(description="What went wrong while answering, and for how many answers.")
    failures: list[FailedStage]
    provider_failed: bool = Field(description="Whether a model failed for good; else it was the items.")
    versions: list[str] = Field(description="Versions of regen that worked on the run; figures of several are mixed.")
    notes: list[str]
    config: dict[str, Any]


Printed = ConflictsFigures | Failure
"""What `regen eval conflicts` prints with --json, when all went well or not."""


class ConflictsResults(ConflictsFigures):
    """What `results.json` holds: the figures of a run, and the items that they come from."""

    rows: list[Row]


def results(
    run: Run, strategies: Sequence[str], *, complete: bool, stopped: str | None, notes: Sequence[str] = ()
) -> ConflictsResults:
    """The figures of a run, finished or not."""
    items, finished, failures = run.items(), run.finished(), run.failures()
    rows = [
        _row(data, finished.get(name, {}), failures.get(name, {}), strategies, run.config["kinds"])
        for name, data in items.items()
        if name in finished or name in failures
    ]
    tellers = list(dict.fromkeys(by for row in rows for by in row.told))
    stages = [(stage, done.usage) for of_item in finished.values() for stage, done in of_item.items()]
    usage = run.usage().model_copy(update={"seconds": round(sum(used.seconds for _, used in stages), 3)})
    found = [one for row in rows for answer in row.answers.values() for one in _judged(answer)]
    failed = [(name, stage, one) for name, of_item in failures.items() for stage, one in of_item.items()]
    return ConflictsResults(
        benchmark=run.name,
        folder=str(run.folder),
        began=run.began,
        complete=complete,
        stopped=None if complete else stopped,
        n=len(rows),
        of=len(items),
        kinds=[metrics.told(rows, by) for by in tellers] + (metrics.baselines(rows) if rows else []),
        strategies=[metrics.answered(rows, strategy) for strategy in strategies],
        costs=_costs(stages, strategies),
        usage=usage,
        per_item=_per_item(usage, len(rows)),
        unjudged=dict(Counter(one.cause for one in found if one.cause).most_common()),
        warnings=_warnings(finished, strategies),
        failures=[FailedStage(id=name, stage=stage, message=one.message) for name, stage, one in failed],
        provider_failed=any(one.exit_code != InputError.exit_code for _, _, one in failed),
        versions=list(dict.fromkeys(f"{s.regen} ({s.git})" if s.git else s.regen for s in run.sessions())),
        notes=list(notes),
        config=run.config,
        rows=rows,
    )


def _row(
    data: Mapping[str, Any],
    done: Mapping[str, Finished],
    failed: Mapping[str, Failed],
    strategies: Sequence[str],
    kinds: Teller,
) -> Row:
    item = item_of(data)
    told: dict[str, FoundKind | None] = {}
    unnamed: dict[str, str] = {}
    answers: dict[str, Answered] = {}
    for by, stage in KIND_BY.items():
        if stage in done:
            told[by] = FoundKind.model_validate(done[stage].data["kind"])
            if done[stage].data["said"] is not None:
                unnamed[by] = done[stage].data["said"]
        elif stage in failed:
            told[by] = None
    for strategy in strategies:
        if strategy not in done:
            continue
        kept = done[strategy].data
        kind = FoundKind.model_validate(kept["kind"]) if kept["kind"] else None
        if kind and strategy in ("conflict-score", "taxonomy"):
            told[strategy] = kind
            if kind.by == "rules" and (strategy == "taxonomy" or kinds == "model"):
                unnamed[strategy] = kind.reason
        text, cited = kept["answer"]["text"], kept["answer"]["citations"]
        finding = {what: _finding(done, failed, stage_of(strategy, what)) for what in (ADHERENCE, RECALL)}
        answers[strategy] = Answered(
            text=text,
            cited=cited,
            kind=kind,
            adherence=finding[ADHERENCE],
            recall=finding[RECALL] if has_one_answer(item) else None,
            sentences=_sentences(done, failed, stage_of(strategy, GROUNDING), cited_sentences(text, item.documents)),
        )
    errors = {stage: one.message for stage, one in failed.items()}
    if "pipeline" in strategies and KIND_BY[kinds] in errors:
        errors["pipeline"] = errors[KIND_BY[kinds]]
    return Row(
        id=item.id,
        question=item.question,
        kind=item.kind,
        right_answer=item.right_answer,
        told=told,
        unnamed=unnamed,
        answers=answers,
        errors=errors,
    )


def _finding(done: Mapping[str, Finished], failed: Mapping[str, Failed], stage: str) -> Finding | None:
    if stage in failed:
        return Finding(yes=None, cause=failed[stage].message)
    kept = done[stage].data if stage in done else None
    return Finding.model_validate(kept) if kept else None


def _sentences(
    done: Mapping[str, Finished], failed: Mapping[str, Failed], stage: str, unjudged: Sequence[Sentence]
) -> list[Sentence] | None:
    if stage in failed:
        # Those that cite nothing are known not to be supported, whoever judges.
        cause = failed[stage].message
        return [one.model_copy(update={"cause": cause}) if one.cited else one for one in unjudged]
    return [Sentence.model_validate(one) for one in done[stage].data["sentences"]] if stage in done else None


def _judged(answer: Answered) -> list[Finding | Sentence]:
    return [one for one in (answer.adherence, answer.recall, *(answer.sentences or [])) if one is not None]


def _costs(stages: Sequence[tuple[str, Usage]], strategies: Sequence[str]) -> list[Cost]:
    names = {stage_of(strategy, what): what for strategy in strategies for what in JUDGEMENTS}
    used: dict[str, list[Usage]] = {name: [] for name in (KIND_BY["model"], *strategies, *JUDGEMENTS)}
    for stage, usage in stages:
        if (name := names.get(stage, stage)) in used:
            used[name].append(usage)
    return [cost for name, of_name in used.items() if (cost := mean_cost(name, of_name)) is not None]


def _per_item(usage: Usage, n: int) -> Cost | None:
    shares = {name: value / n for name, value in usage if value is not None} if n else None
    return Cost(setting="item", **{"cost_usd": None, **shares}) if shares else None


def _warnings(finished: Mapping[str, Mapping[str, Finished]], strategies: Sequence[str]) -> dict[str, int]:
    told = Counter(
        warning
        for of_item in finished.values()
        for strategy in strategies
        if strategy in of_item
        for warning in dict.fromkeys(of_item[strategy].data["warnings"])
    )
    return dict(told.most_common())
