"""`regen conflicts`: what a log of conflicts shows, after some days of questions."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regen.cli import options
from regen.cli.terminal import complain, console, hang
from regen.errors import InputError
from regen.fence import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from regen.conflictlog import About, BadLine, ConflictsOutput, DayConflicts, DocumentConflicts, PairConflicts

_TOLD = 5  # bad lines, each in a sentence
_DAYS = 31
_BAR = 20
_CLAIM = 160


def conflicts(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What --log-conflicts of regen ask wrote.")],
    since: Annotated[
        datetime | None,
        typer.Option("--since", metavar="DATE", formats=["%Y-%m-%d"], help="Only questions since this day (UTC)."),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, max=1000, help="How many documents and pairs to show.")
    ] = 10,
    json: options.Json = False,
    no_color: options.NoColor = False,
) -> None:
    """Show which documents conflict most, on what, with which others, and on how many questions of each day.

    The file holds the questions on which documents conflicted, in full, with
    quotes from the documents; of the other questions only when they were asked
    and which documents were read.
    """
    from regen.conflictlog import read, summary

    found = summary(read(file), since=since.date() if since else None, top=top)
    if found.bad_lines and not found.lines:
        raise InputError(
            f"{file} holds no line of a log of conflicts (line {found.bad_lines[0].line}: {found.bad_lines[0].cause}): "
            "name a file that --log-conflicts wrote."
        )
    if json:
        print(found.model_dump_json(indent=2))
    else:
        _show(found, console())
    _tell(file, found.bad_lines)


def _tell(file: Path, bad: Sequence[BadLine]) -> None:
    for item in bad[:_TOLD]:
        complain(f"{file}, line {item.line}: {item.cause}.")
    if bad:
        complain(f"{len(bad)} bad {'line was' if len(bad) == 1 else 'lines were'} passed over.")


def _show(found: ConflictsOutput, out: Console) -> None:
    since = f" since {found.since}" if found.since else ""
    if not found.asks:
        out.print(f"No question was logged{since}.")
        return
    out.print()
    span = f"{found.first}" if found.first == found.last else f"{found.first} to {found.last}"
    line = Text.assemble(("  Questions ", "bold"), f"{found.asks:,}  ", (span, "cyan"))
    if found.share is not None:
        line.append(f"  on {found.conflicts:,} ({_percent(found.share)}) the documents conflict")
    hang(out, "", line)
    if found.unchecked:
        many = "1 more could" if found.unchecked == 1 else f"{found.unchecked:,} could"
        hang(
            out,
            "  ! ",
            Text(
                f"{many} not be checked, and {'is' if found.unchecked == 1 else 'are'} left out of the share.",
                style="yellow",
            ),
        )
    if found.documents:
        out.print()
        _heading(out, "Documents that conflict most", found.documents, found.documents_in_all)
        for document in found.documents:
            _document(document, out)
        out.print()
        _heading(out, "Pairs that contradict each other most", found.pairs, found.pairs_in_all)
        for pair in found.pairs:
            _pair(pair, out)
    out.print()
    _days(found.days, out)


def _heading(out: Console, title: str, shown: Sequence[object], in_all: int) -> None:
    rest = f" ({len(shown)} of {in_all})" if len(shown) < in_all else ""
    out.print(Text.assemble((f"  {title}", "bold"), (rest, "dim")))


def _document(item: DocumentConflicts, out: Console) -> None:
    head = Text.assemble(f"  {item.conflicts:>5}  ", (f"{_day(item.published):12}", "cyan"))
    hang(out, head, Text(_place(item.id, item.url), style="bold"))
    of = f"{_percent(item.share)} of the {item.asks:,} questions it was read for"
    if item.asks == 1:
        of = "the 1 question it was read for"
    said = Text(f"in {of}, last on {item.last}", style="dim")
    hang(out, " " * 9, said)
    _about(item.claims, out)


def _pair(item: PairConflicts, out: Console) -> None:
    older, newer = item.published
    for place, (id, url, day) in enumerate(zip(item.ids, item.urls, item.published, strict=True)):
        count = "" if place else f"{item.conflicts}"
        head = Text.assemble(f"  {count:>5}  ", (f"{_day(day):12}", "cyan"))
        line = Text(_place(id, url), style="bold")
        if place and older and newer and older < newer:
            line.append("  newer", style="green")
        hang(out, head, line)
    hang(out, " " * 9, Text(f"last on {item.last}", style="dim"))
    _about(item.claims, out)


def _about(claims: Sequence[About], out: Console) -> None:
    for item in claims:
        head = Text.assemble(" " * 9, (f"{item.conflicts}\u00d7  ", "dim"))
        hang(out, head, Text(f'"{one_line(item.claim, _CLAIM)}"'))


def _days(days: Sequence[DayConflicts], out: Console) -> None:
    heading = Text.assemble(("By day (UTC)", "bold"), ("  with a conflict, of all that could be checked", "dim"))
    hang(out, "  ", heading)
    if len(days) > _DAYS:
        out.print(f"  {len(days) - _DAYS} earlier days are left out; --json has them.", style="dim")
    most = max(day.asks for day in days[-_DAYS:])
    for day in days[-_DAYS:]:
        checked = day.asks - day.unchecked
        # A day with a conflict is never shown without one.
        full, part = (-(-_BAR * n // most) for n in (checked, day.conflicts))
        share = _percent(day.conflicts / checked) if checked else "-"
        line = Text.assemble("  ", (f"{day.day}  ", "cyan"), f"{day.conflicts:>5} of {checked:>5}  {share:>4}  ")
        if line.cell_len + _BAR <= out.width:
            line.append("\u2588" * part, style="red")
            line.append("\u2591" * (full - part), style="dim")
        line.rstrip()
        out.print(line)


def _place(id: str, url: str) -> str:
    """The address of a page; the path of a file in its folder."""
    return printable(one_line(url if url.startswith(("http://", "https://")) else id, 300))


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _day(day: date | None) -> str:
    return day.isoformat() if day else "undated"
