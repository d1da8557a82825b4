"""The log of conflicts: one line a question, on disk, and what the lines of some days show when they are put together.

A question on which documents conflict is written down with what they conflict on. One on which they do not is counted
with the documents that were read for it, without its words, since a rate needs it.
"""

from __future__ import annotations

import codecs
import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError

from regen.errors import InputError
from regen.paths import lock_of
from regen.types import Decision, Document, Evidence, Record, Result

QUOTE_CHARACTERS = 240
LOCK_SECONDS = 10.0


class LogRecord(Record):
    """Base of what stands in a line: keys that a newer version added are passed over."""

    model_config = ConfigDict(extra="ignore")


class LoggedSide(LogRecord):
    """One document on one side of a claim."""

    id: str
    url: str
    title: str
    published: date | None = Field(description="Publication date, where one is known that is not only its file's.")
    quote: str = Field(description="Found in the document, cut; empty where the judge gave none.")


class LoggedClaim(LogRecord):
    """A claim of the first answer on which documents conflict: D+ and D-."""

    claim: str
    supports: list[LoggedSide]
    contradicts: list[LoggedSide]


class LogLine(LogRecord):
    """One question. Only where documents conflict does it say which question, and on what."""

    time: AwareDatetime
    conflict: bool | None = Field(
        description="Null where nothing was checked: no document could be judged, or the strategy checks nothing."
    )
    documents: list[str] = Field(description="What was read: addresses, or ids of documents without one.")
    question: str | None = None
    claims: list[LoggedClaim] = []
    decision: Decision | None = None


class BadLine(Record):
    """A line that could not be read."""

    line: int
    cause: str


class About(Record):
    """A claim that documents were in conflict on, and in how many questions."""

    claim: str
    conflicts: int


class DocumentConflicts(Record):
    """How often one document took a side in a conflict."""

    id: str = Field(description="As in the last conflict.")
    url: str
    title: str
    published: date | None
    conflicts: int = Field(description="Questions in which it took a side on a claim in conflict.")
    asks: int = Field(description="Questions that it was read for.")
    share: float = Field(description="conflicts / asks, in [0, 1].")
    last: date = Field(description="Day of the last conflict (UTC).")
    claims: list[About] = Field(description="What the conflicts were on, most often first, three at most.")


class PairConflicts(Record):
    """How often two documents took opposite sides on a claim. The newer one is second, where both have dates."""

    ids: tuple[str, str]
    urls: tuple[str, str]
    published: tuple[date | None, date | None]
    conflicts: int = Field(description="Questions in which they did.")
    last: date
    claims: list[About]


class DayConflicts(Record):
    """The questions of one day (UTC)."""

    day: date
    asks: int
    conflicts: int
    unchecked: int


class ConflictsOutput(Record):
    """What `regen conflicts --json` prints."""

    since: date | None
    lines: int = Field(description="Good lines of the file, those before `since` among them.")
    first: date | None = Field(description="The first and the last day with a question.")
    last: date | None
    asks: int
    conflicts: int = Field(description="Questions with a claim in conflict.")
    unchecked: int = Field(description="Questions of which nothing was checked; not among the conflicts.")
    share: float | None = Field(description="conflicts / (asks - unchecked); null where that is 0.")
    documents: list[DocumentConflicts] = Field(description="Those with most conflicts, as many as --top says.")
    documents_in_all: int
    pairs: list[PairConflicts]
    pairs_in_all: int
    days: list[DayConflicts]
    bad_lines: list[BadLine]


def line_of(result: Result, time: datetime) -> LogLine:
    """What the log says of a result: the claims of the first answer that documents conflict on, before any mending."""
    report = result.initial_report
    documents = list(dict.fromkeys(_place(document) for document in result.documents))
    if not (result.checked and report.judged):
        return LogLine(time=time, conflict=None, documents=documents)
    if not report.in_conflict:
        return LogLine(time=time, conflict=False, documents=documents)
    by_id = {document.id: document for document in result.documents}
    claims = []
    for claim in report.claims:
        if claim.id in report.in_conflict:
            plus, minus = report.sides(claim.id)
            supports, contradicts = ([_side(item, by_id) for item in side] for side in (plus, minus))
            claims.append(LoggedClaim(claim=claim.text, supports=supports, contradicts=contradicts))
    return LogLine(
        time=time,
        conflict=True,
        documents=documents,
        question=result.question,
        claims=claims,
        decision=result.decision,
    )


def append(path: Path, line: LogLine) -> None:
    """Adds a line, in one write and with the file locked against other processes; then it is on the disk.

    A line that broke off, as when the disk was full, is ended first, so that this one is not lost with it.

    Raises:
        OSError: it could not be written, or not in full, or another process held the file for `LOCK_SECONDS`.
    """
    from filelock import FileLock, Timeout

    try:
        with FileLock(lock_of(path), timeout=LOCK_SECONDS), path.open("a+b", buffering=0) as file:
            data = line.model_dump_json().encode() + b"\n"
            if size := file.seek(0, os.SEEK_END):
                file.seek(size - 1)
                data = data if file.read(1) == b"\n" else b"\n" + data
            if file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
    except Timeout:
        raise OSError(errno.EAGAIN, "another process holds it") from None


def logged(result: Result, path: Path) -> Result:
    """The result, after a line on it was added to the log; with a warning where it could not be. Never raises for that.

    Args:
        result: Of one question.
        path: The log; it need not exist, its folder must.
    """
    try:
        append(path, line_of(result, datetime.now(UTC)))
    except (OSError, ValueError, RuntimeError) as error:
        # ValueError: a text with half a character in it; RuntimeError: a link to itself, or no locks on this system.
        cause = error.strerror if isinstance(error, OSError) else None
        warning = f"The conflicts of this question were not logged: {path}: {cause or error}."
        return result.model_copy(update={"warnings": [*result.warnings, warning]})
    return result


def read(path: Path) -> Iterator[LogLine | BadLine]:
    """The lines of a log, those that are none among them.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                text = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                if text.strip():
                    yield _line(number, text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def summary(lines: Iterable[LogLine | BadLine], *, since: date | None = None, top: int = 10) -> ConflictsOutput:
    """What the lines of a log show together, whatever order they stand in.

    Args:
        lines: As `read` gives them.
        since: The first day (UTC) that counts; None: all.
        top: How many documents and pairs to give.
    """
    asks: Counter[str] = Counter()
    documents: dict[str, _Tally] = {}
    pairs: dict[tuple[str, str], _Tally] = {}
    days: dict[date, Counter[str]] = {}
    known: dict[str, tuple[datetime, LoggedSide]] = {}
    bad: list[BadLine] = []
    read = 0
    for line in lines:
        if isinstance(line, BadLine):
            bad.append(line)
            continue
        read += 1
        day = line.time.astimezone(UTC).date()
        if since and day < since:
            continue
        kind = "unchecked" if line.conflict is None else "conflict" if line.conflict else "none"
        days.setdefault(day, Counter())[kind] += 1
        asks.update(set(line.documents))
        taken: dict[str, set[str]] = {}
        opposed: dict[tuple[str, str], set[str]] = {}
        for claim in line.claims if line.conflict else ():
            for side in (*claim.supports, *claim.contradicts):
                place = _place(side)
                taken.setdefault(place, set()).add(claim.claim)
                known[place] = max(known.get(place, (line.time, side)), (line.time, side), key=_when)
            for one, other in product(claim.supports, claim.contradicts):
                a, b = sorted((_place(one), _place(other)))
                if a != b:
                    opposed.setdefault((a, b), set()).add(claim.claim)
        for place, claims in taken.items():
            documents.setdefault(place, _Tally()).add(day, claims)
        for pair, claims in opposed.items():
            pairs.setdefault(pair, _Tally()).add(day, claims)
    totals = sum(days.values(), Counter())
    checked = totals["conflict"] + totals["none"]
    side_of = {place: side for place, (_, side) in known.items()}
    return ConflictsOutput(
        since=since,
        lines=read,
        first=min(days, default=None),
        last=max(days, default=None),
        asks=totals.total(),
        conflicts=totals["conflict"],
        unchecked=totals["unchecked"],
        share=totals["conflict"] / checked if checked else None,
        documents=[
            _document(side_of[place], tally, max(asks[place], tally.conflicts))
            for place, tally in sorted(documents.items(), key=lambda item: (-item[1].conflicts, item[0]))[:top]
        ],
        documents_in_all=len(documents),
        pairs=[
            _pair(side_of[a], side_of[b], tally)
            for (a, b), tally in sorted(pairs.items(), key=lambda item: (-item[1].conflicts, item[0]))[:top]
        ],
        pairs_in_all=len(pairs),
        days=[
            DayConflicts(day=day, asks=n.total(), conflicts=n["conflict"], unchecked=n["unchecked"])
            for day, n in sorted(days.items())
        ],
        bad_lines=bad,
    )


@dataclass
class _Tally:
    """Conflicts of one document or pair."""

    conflicts: int = 0
    last: date = date.min
    claims: Counter[str] = field(default_factory=Counter)

    def add(self, day: date, claims: Iterable[str]) -> None:
        self.conflicts += 1
        self.last = max(self.last, day)
        self.claims.update(claims)

    def about(self) -> list[About]:
        most = sorted(self.claims.items(), key=lambda item: (-item[1], item[0]))[:3]
        return [About(claim=claim, conflicts=count) for claim, count in most]


def _when(found: tuple[datetime, LoggedSide]) -> tuple[datetime, str, str]:
    # The last so that the order of lines does not matter where two have the same time.
    return found[0], found[1].id, found[1].title


def _document(side: LoggedSide, tally: _Tally, asks: int) -> DocumentConflicts:
    return DocumentConflicts(
        id=side.id,
        url=side.url,
        title=side.title,
        published=side.published,
        conflicts=tally.conflicts,
        asks=asks,
        share=tally.conflicts / asks,
        last=tally.last,
        claims=tally.about(),
    )


def _pair(one: LoggedSide, other: LoggedSide, tally: _Tally) -> PairConflicts:
    if one.published and other.published and other.published < one.published:
        one, other = other, one
    return PairConflicts(
        ids=(one.id, other.id),
        urls=(one.url, other.url),
        published=(one.published, other.published),
        conflicts=tally.conflicts,
        last=tally.last,
        claims=tally.about(),
    )


def _side(item: Evidence, by_id: dict[str, Document]) -> LoggedSide:
    document = by_id[item.document_id]
    quote = " ".join(item.quote.split())
    if len(quote) > QUOTE_CHARACTERS:
        quote = quote[: QUOTE_CHARACTERS - 1] + "\u2026"
    return LoggedSide(id=document.id, url=document.url, title=document.title, published=document.dated, quote=quote)


def _place(document: Document | LoggedSide) -> str:
    """What tells documents of different questions apart: passages of one file are one document."""
    return document.url or document.id


def _line(number: int, raw: bytes) -> LogLine | BadLine:
    try:
        line = LogLine.model_validate_json(raw)
        line.time.astimezone(UTC)
        return line
    except OverflowError:
        return BadLine(line=number, cause="time: it is out of range")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        if first["type"] == "json_invalid":
            return BadLine(line=number, cause="it is not JSON")
        return BadLine(line=number, cause=f"{place}: {first['msg']}" if place else first["msg"])
