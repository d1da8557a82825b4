"""The report of a run: `report.md`, `report.html` in one file that loads nothing, and `results.json`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import Paired, Row, Share
from eval_truthfulqa.results import Results
from eval_truthfulqa.runner import RETRIEVAL
from regen.fence import one_line, printable
from regen.runs import Finished, Run
from regen.types import Document, Record, Result

# Mended and spoiled items that are shown with their conflicts, of each kind.
EXAMPLES = 30
_TEMPLATES = Path(__file__).parent / "templates"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#|~!])")


class Side(Record):
    """What one document says in a conflict."""

    number: int
    title: str
    link: str
    date: str
    stance: str
    quote: str


class Example(Record):
    """An item whose answer changed from right to wrong or back."""

    id: str
    question: str
    kind: str
    right: str
    first: str
    second: str
    cs_r: float | None
    conflict: bool
    reason: str
    feedback: str
    sides: list[Side]


def write(run: Run, results: Results) -> Path:
    """Writes the three files into the run's folder, and gives the HTML report's path."""
    _put(run.folder / "results.json", results.model_dump_json(indent=2) + "\n")
    examples = examples_of(run, results.rows)
    _put(run.folder / "report.md", rendered("report.md.j2", results, examples))
    html = run.folder / "report.html"
    _put(html, rendered("report.html.j2", results, examples))
    return html


def rendered(template: str, results: Results, examples: Sequence[Example]) -> str:
    """One of the templates, filled in. Nothing that comes from a document or a model is taken for markup."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=template.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"percent": percent, "interval": interval, "share": ratio, "md": _md, "number": _number}
    environment.filters |= {"p": p_value, "points": points}
    kinds = {kind: [example for example in examples if example.kind == kind] for kind in ("mended", "spoiled")}
    return environment.get_template(template).render(
        results=results,
        kinds=kinds,
        most=EXAMPLES,
        settings=[accuracy.setting for accuracy in results.settings],
        config={name: _plain(value) for name, value in results.config.items()},
    )


def examples_of(run: Run, rows: Sequence[Row]) -> list[Example]:
    """The items that answering again mended or spoiled, up to `EXAMPLES` of each."""
    items, finished = run.items(), run.finished()
    changed = [row for row in rows if {"rag", "regenerated"} <= row.answers.keys()]
    mended = [row for row in changed if not row.correct("rag") and row.correct("regenerated")]
    spoiled = [row for row in changed if row.correct("rag") and not row.correct("regenerated")]
    return [
        _example(row, kind, ChoiceItem.model_validate(items[row.id]), finished[row.id])
        for kind, part in (("mended", mended), ("spoiled", spoiled))
        for row in part[:EXAMPLES]
    ]


def _example(row: Row, kind: str, item: ChoiceItem, stages: Mapping[str, Finished]) -> Example:
    documents = item.documents
    if documents is None:
        documents = [Document.model_validate(document) for document in stages[RETRIEVAL].data["documents"]]
    result = Result.model_validate(stages["regenerated"].data["result"])
    numbered = {document.id: (number, document) for number, document in enumerate(documents, 1)}
    sides = []
    for evidence in result.initial_report.evidence:
        number, document = numbered[evidence.document_id]
        if evidence.stance != "irrelevant":
            sides.append(
                Side(
                    number=number,
                    title=one_line(document.title or document.url or f"document {number}", 120),
                    link=document.url if document.url.lower().startswith(("http://", "https://")) else "",
                    date=document.published.isoformat() if document.published else "",
                    stance=evidence.stance.value,
                    quote=printable(evidence.quote),
                )
            )
    return Example(
        id=item.id,
        question=printable(item.question),
        kind=kind,
        right=printable(item.choices[item.answer]),
        first=printable(item.choices[row.answers["rag"]]),
        second=printable(item.choices[row.answers["regenerated"]]),
        cs_r=row.cs_r,
        conflict=bool(row.conflict),
        reason=result.decision.reason,
        feedback=printable(result.rounds[-1].feedback) if result.rounds else "",
        sides=sorted(sides, key=lambda side: side.stance, reverse=True),
    )


def _put(path: Path, text: str) -> None:
    """Writes a file as one step: a report is never half of one."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8", errors="replace")
    os.replace(fresh, path)  # noqa: PTH105


def percent(value: float | None) -> str:
    """A part of 1 in percent; a dash where there is none."""
    return "\u2013" if value is None else f"{100 * value:.1f}%"


def points(value: float | None) -> str:
    """A difference of two parts of 1, in percentage points with its sign."""
    return "\u2013" if value is None else f"{100 * value:+.1f} points"


def p_value(pair: Paired) -> str:
    """A pair's p-value; a dash where no item changed, of which no test can say anything."""
    if not pair.mended + pair.spoiled:
        return "\u2013"
    return "< 0.0001" if pair.p_value < 0.0001 else f"{pair.p_value:.4f}"


def interval(part: Any) -> str:
    """The interval of a figure with `low` and `high`: in percent, or in points where it is a difference."""
    if part.low is None:
        return ""
    if hasattr(part, "difference"):
        return f"{100 * part.low:+.1f} to {100 * part.high:+.1f}"
    return f"{100 * part.low:.1f} to {100 * part.high:.1f}%"


def ratio(part: Share) -> str:
    """Counts and percent; a dash over no items."""
    return "\u2013" if part.of == 0 else f"{part.count}/{part.of} = {percent(part.share)}"


def _number(value: float | None, digits: int = 1) -> str:
    return "\u2013" if value is None else f"{value:,.{digits}f}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_plain, value)) or "none"
    if isinstance(value, dict):
        given = {name: part for name, part in value.items() if part not in (None, [], "")}
        return ", ".join(f"{name} {_plain(part)}" for name, part in given.items()) or "all"
    return "none" if value is None else str(value)


def _md(text: object) -> str:
    """A text as Markdown shows it: on one line, and no sign of it markup."""
    line = escape(" ".join(printable(str(text)).split()), quote=False)
    return _MARKDOWN.sub(r"\\\1", line)
