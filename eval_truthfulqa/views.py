"""Each item of a run as a report shows it: what was answered, what the documents say of it, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import Row
from eval_truthfulqa.runner import RETRIEVAL, REVERSED
from regen.fence import one_line
from regen.runs import Finished, Run
from regen.types import ConflictReport, Decision, Document, Record, Result, Stance
from search.urls import is_web

Kind = Literal["mended", "spoiled", "wrong", "right", "failed"]
KINDS: tuple[Kind, ...] = ("mended", "spoiled", "wrong", "right", "failed")

# Characters of a document's text that are shown, and of all documents' together: a browser opens what 790 items with
# ten documents each come to.
LONGEST = 2000
_ALTOGETHER = 16_000_000


class Given(Record):
    """What one setting answered, with the choices in the order that was drawn and, where asked, in the other one."""

    setting: str
    answer: str | None
    right: bool
    reversed: str | None
    right_reversed: bool
    errors: list[str]


class Side(Record):
    """What one document says of a claim."""

    number: int
    stance: str
    quote: str
    aside: bool
    reason: str


class Judged(Record):
    """One claim, and the documents by what they say of it."""

    text: str
    in_conflict: bool
    sides: list[Side]
    irrelevant: list[int]


class Attempt(Record):
    """The first answer, or a regenerated one, with what checking it showed."""

    name: str
    answer: str
    right: bool
    feedback: str
    cs_r: float | None
    cs_r_weighted: float | None
    claims: list[Judged]
    unjudged: list[tuple[int, str]]
    same: bool
    decision: str


class Source(Record):
    """A document that was read. `text` is its beginning, where `length` is more."""

    number: int
    title: str
    url: str
    followed: bool
    about: str
    text: str
    length: int


class View(Record):
    """One item."""

    number: int
    id: str
    kind: Kind
    category: str
    type: str
    question: str
    choices: list[str]
    right: int
    before: str
    after: str
    conflict: bool | None
    cs_r: float | None
    cs_r_kept: float | None
    answers: list[Given]
    attempts: list[Attempt]
    decision: str
    documents: list[Source]
    warnings: list[str]
    excluded: list[str]


def compared(settings: Sequence[str]) -> tuple[str, str]:
    """The two settings that tell an item's kind: `rag` and `regenerated`, or the first and the last of others."""
    return ("rag", "regenerated") if "regenerated" in settings else (settings[0], settings[-1])


def kind(row: Row, settings: Sequence[str]) -> Kind:
    """Mended, spoiled, right or wrong in both settings that are compared; failed where one of them has no answer."""
    before, after = (row.correct(setting) for setting in compared(settings))
    if before is None or after is None:
        return "failed"
    if before is after:
        return "right" if after else "wrong"
    return "mended" if after else "spoiled"


def titles(settings: Sequence[str]) -> dict[Kind, str]:
    """What the kinds are called where these settings were asked."""
    both = " in both" if len(set(compared(settings))) == 2 else ""
    return {
        "mended": "Mended",
        "spoiled": "Spoiled",
        "wrong": f"Wrong{both}",
        "right": f"Right{both}",
        "failed": "Without an answer",
    }


def views(run: Run, rows: Sequence[Row], settings: Sequence[str]) -> list[View]:
    """Every item that something is known of, in the order of the run."""
    items, finished = run.items(), run.finished()
    read = {row.id: _documents(items[row.id], finished.get(row.id, {})) for row in rows}
    longest = min(LONGEST, _ALTOGETHER // max(1, sum(map(len, read.values()))))
    return [
        _view(number, row, items[row.id], finished.get(row.id, {}), read[row.id], settings, longest)
        for number, row in enumerate(rows, 1)
    ]


def _documents(data: Mapping[str, Any], stages: Mapping[str, Finished]) -> list[Document]:
    own = data.get("documents")
    found = own if own is not None else stages[RETRIEVAL].data["documents"] if RETRIEVAL in stages else []
    return [Document.model_validate(document) for document in found]


def _view(
    number: int,
    row: Row,
    data: Mapping[str, Any],
    stages: Mapping[str, Finished],
    documents: Sequence[Document],
    settings: Sequence[str],
    longest: int,
) -> View:
    item = ChoiceItem.model_validate(data)
    retrieval = stages[RETRIEVAL].data if RETRIEVAL in stages else {"warnings": [], "excluded": []}
    before, after = (item.choices[row.answers[name]] if name in row.answers else "" for name in compared(settings))
    again = stages.get("regenerated")
    result = Result.model_validate(again.data["result"]) if again else None
    return View(
        number=number,
        id=item.id,
        kind=kind(row, settings),
        category=item.category,
        type=item.type,
        question=item.question,
        choices=item.choices,
        right=item.answer,
        before=before,
        after=after,
        conflict=row.conflict,
        cs_r=row.cs_r,
        cs_r_kept=row.cs_r_kept,
        answers=[_given(row, item, setting) for setting in settings],
        attempts=_attempts(result, again.data["order"], item, documents) if result and again else [],
        decision=_said(result.decision) if result else "",
        documents=[
            _source(place, document, longest, result.report if result else ConflictReport())
            for place, document in enumerate(documents, 1)
        ],
        warnings=[*retrieval["warnings"], *(result.warnings if result else [])],
        excluded=retrieval["excluded"],
    )


def _given(row: Row, item: ChoiceItem, setting: str) -> Given:
    chosen, other = row.answers.get(setting), row.reversed.get(setting)
    return Given(
        setting=setting,
        answer=None if chosen is None else item.choices[chosen],
        right=chosen == item.answer,
        reversed=None if other is None else item.choices[other],
        right_reversed=other == item.answer,
        errors=[row.errors[name] for name in (setting, setting + REVERSED) if name in row.errors],
    )


def _attempts(result: Result, order: Sequence[int], item: ChoiceItem, documents: Sequence[Document]) -> list[Attempt]:
    numbers = {document.id: number for number, document in enumerate(documents, 1)}
    alone = "" if result.rounds else _said(result.decision)
    tried = [("First answer", result.initial_answer, result.initial_report, "", alone)]
    tried += [
        (
            "Answered again" if len(result.rounds) == 1 else f"Answered again, round {place}",
            one.answer,
            one.report,
            one.feedback,
            _said(one.decision),
        )
        for place, one in enumerate(result.rounds, 1)
    ]
    return [
        Attempt(
            name=name,
            answer=answer.text,
            right=answer.choice is not None and order[answer.choice] == item.answer,
            feedback=feedback,
            cs_r=report.cs_r if report.judged else None,
            cs_r_weighted=report.cs_r_weighted if report.judged else None,
            claims=_judged(report, numbers),
            unjudged=[(numbers[one.document_id], one.cause) for one in report.unjudged],
            same=any(report == earlier for _, _, earlier, *_ in tried[:place]),
            decision=decision,
        )
        for place, (name, answer, report, feedback, decision) in enumerate(tried)
    ]


def _said(decision: Decision) -> str:
    return f"The {decision.kept} answer was kept: {decision.reason}."


def _judged(report: ConflictReport, numbers: Mapping[str, int]) -> list[Judged]:
    found = []
    for claim in report.claims:
        plus, minus = report.sides(claim.id)
        found.append(
            Judged(
                text=claim.text,
                in_conflict=claim.id in report.in_conflict,
                sides=[
                    Side(
                        number=numbers[one.document_id],
                        stance=one.stance.value,
                        quote=one.quote,
                        aside=one.document_id in report.discounted,
                        reason=one.reason,
                    )
                    for one in (*plus, *minus, *report.not_counted(claim.id))
                ],
                irrelevant=[
                    numbers[one.document_id]
                    for one in report.evidence
                    if one.claim_id == claim.id and one.stance is Stance.IRRELEVANT
                ],
            )
        )
    return found


def _source(number: int, document: Document, longest: int, report: ConflictReport) -> Source:
    about = [document.published.isoformat() if document.published else "", document.source]
    if document.published_from == "mtime":
        about[0] += " (when the file was last written)"
    for one in report.credibility:
        if one.document_id == document.id:
            aside = ", discounted" if one.document_id in report.discounted else ""
            about.append(f"weight {one.weight:.2f}{aside} ({one.reason})")
    return Source(
        number=number,
        title=one_line(document.title or document.url, 120) or f"Document {number}",
        url=document.url,
        followed=is_web(document.url),
        about=", ".join(filter(None, about)),
        text=document.text[:longest],
        length=len(document.text),
    )
