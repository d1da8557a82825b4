"""How results look on a terminal. Text of documents and models is shown as it is, never taken for markup."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from regen.cli.terminal import NARROWEST, hang
from regen.fence import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

    from regen.types import Claim, ConflictReport, Credibility, Document, DocumentAnswer, Evidence, Result, Usage

_QUOTE = 160
_PASSAGE = 300
_SHOWN = 4


def answer_alone(result: Result, out: Console) -> None:
    """The answer and nothing else."""
    out.print(Text(printable(result.answer.text)), soft_wrap=True)


def result(result: Result, out: Console) -> None:
    """The answer, what the sources disagree on, what changed, the sources, and what it cost."""
    out.print()
    hang(out, "  ", Text(printable(result.answer.text), style="bold"))
    _choices(result, out)
    if result.checked:
        _disagreement(result, out)
    else:
        out.print()
        out.print(Text(f"  Not checked: {result.decision.reason}.", style="yellow"))
    _set_aside(result, out)
    _kind(result, out)
    _changes(result, out)
    _sources(result.documents, result.answer.citations, out, result.report)
    _end(result.warnings, result.usage, out)


def reports(result: Result) -> list[tuple[str, ConflictReport]]:
    """The reports that were written on a topic, by what they are called, with their scores."""
    again = [
        (f"rewritten {number}" if number > 1 else "rewritten", one.report)
        for number, one in enumerate(result.rounds, 1)
    ]
    return [("first", result.initial_report), *again]


def written(result: Result, out: Console) -> None:
    """A report on a topic, the scores of all that were written, what the sources disagree on, and what it cost."""
    out.print()
    hang(out, "  ", Text(printable(result.answer.text)))
    out.print()
    out.print(Text("  Scores", style="bold"))
    for name, found in reports(result):
        said = (
            f"CS-C {found.cs_c:.2f}  CS-R {found.cs_r:.2f}  {len(found.claims)} claims: {len(found.in_conflict)} in "
            f"conflict, {len(found.unverified)} unverified"
        )
        hang(out, f"  {name:13}", Text(said if found.judged else "could not be checked: see the warnings"))
    kept = f"the {'rewritten' if result.regenerated else 'first'} report: {result.decision.reason}."
    hang(out, f"  {'kept':13}", Text(kept, style="dim"))
    _disagreement(result, out, "report")
    if still := result.regenerated and _disputed(result.report):
        out.print()
        out.print(Text("  What they still disagree on in the rewritten report", style="bold red"))
        _claims(still, result.report, _Sides(result.documents, out), out)
    _sources(result.documents, result.answer.citations, out, result.report)
    _end(result.warnings, result.usage, out)


def report(report: ConflictReport, documents: Sequence[Document], usage: Usage, out: Console) -> None:
    """A scored response."""
    out.print()
    scores = Text.assemble(("  CS-C ", "bold"), f"{report.cs_c:.2f}", ("   CS-R ", "bold"), f"{report.cs_r:.2f}")
    if report.cs_r_weighted is not None:
        scores.append("   weighted CS-R ", style="bold").append(f"{report.cs_r_weighted:.2f}")
    out.print(scores)
    sides = _Sides(documents, out)
    for claim in report.claims:
        plus, minus = report.sides(claim.id)
        discounted = report.not_counted(claim.id)
        out.print()
        hang(out, "  ", Text(printable(claim.text)))
        if plus or minus or discounted:
            sides.show(plus, minus, discounted)
        else:
            out.print(Text("    no document supports or contradicts it", style="yellow"))
    if not report.claims:
        out.print(Text("  No claim was found in the response.", style="yellow"))
    _sources(documents, (), out, report)
    _end(report.warnings, usage, out)


def search_results(documents: Sequence[Document], warnings: Sequence[str], out: Console) -> None:
    """What a search returned: for each document its title, date, place and source, and how its text begins."""
    for number, document in enumerate(documents, 1):
        out.print()
        head = Text.assemble(f"  {f'[{number}]':5}", (f"{_date(document.published):12}", "cyan"))
        hang(out, head, Text(one_line(document.title, 200) or "(no title)", style="bold"))
        hang(out, " " * 7, Text(printable(f"{_place(document)}  {document.source}"), style="dim"))
        hang(out, " " * 7, Text(one_line(document.text, _PASSAGE)))
    if not documents:
        out.print("  Nothing was found.", style="yellow")
    if warnings:
        out.print()
    for warning in warnings:
        hang(out, "  ! ", Text(printable(warning), style="yellow"))


def cost_line(usage: Usage) -> str:
    """One line: calls, tokens, cached tokens, price where known, seconds."""
    calls = "1 model call" if usage.calls == 1 else f"{usage.calls} model calls"
    price = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
    return (
        f"{calls}, {usage.prompt_tokens:,} prompt tokens ({usage.cached_tokens:,} cached), "
        f"{usage.completion_tokens:,} new{price}, {usage.seconds:.1f} s"
    )


def _choices(result: Result, out: Console) -> None:
    if not result.choices:
        return
    out.print()
    for place, choice in enumerate(result.choices):
        share = f"{result.answer.probabilities[place]:>4.0%}  " if result.answer.probabilities else ""
        chosen = place == result.answer.choice
        line = Text(f"{share}{printable(choice)}", style="" if chosen else "dim")
        hang(out, "  > " if chosen else "    ", line)


def _disagreement(result: Result, out: Console, what: str = "answer") -> None:
    report = result.initial_report
    disputed = _disputed(report)
    if not report.judged:
        out.print()
        out.print(Text(f"  The {what} could not be checked against the documents: see the warnings.", style="yellow"))
    elif disputed:
        out.print()
        out.print(Text("  What the sources disagree on", style="bold red"))
    elif len(result.document_answers) < 2 and len(report.unverified) < len(report.claims):
        out.print()
        out.print(Text(f"  No disagreement of the sources about this {what} was found.", style="green"))
    elif not report.claims:
        out.print()
        out.print(Text(f"  The {what} makes no claim that can be checked.", style="yellow"))
    sides = _Sides(result.documents, out)
    _claims(disputed, report, sides, out)
    if len(result.document_answers) > 1:
        _document_answers(result.document_answers, sides, out)
    unverified = [claim for claim in result.report.claims if claim.id in result.report.unverified]
    if unverified:
        _unverified(unverified, out)


def _disputed(report: ConflictReport) -> list[Claim]:
    return [claim for claim in report.claims if report.sides(claim.id)[1]]


def _claims(claims: Sequence[Claim], report: ConflictReport, sides: _Sides, out: Console) -> None:
    for place, claim in enumerate(claims):
        if place:
            out.print()
        hang(out, "  ", Text(printable(claim.text)))
        sides.show(*report.sides(claim.id), report.not_counted(claim.id))


def _kind(result: Result, out: Console) -> None:
    if result.kind is None:
        return
    out.print()
    found = result.kind
    by = {"rules": "by rules", "model": "by the model", "gold": "given"}[found.by]
    reason = f"{found.kind}, {by}: {one_line(found.reason, _QUOTE)}"
    hang(out, Text("  Kind of conflict  ", style="bold"), Text(reason))


def _document_answers(answers: Sequence[DocumentAnswer], sides: _Sides, out: Console) -> None:
    out.print()
    out.print(Text("  What the documents themselves answer", style="bold"))
    for item in answers:
        cited = "".join(f"[{sides.numbers[document_id]}]" for document_id in item.document_ids)
        hang(out, "  ", Text.assemble(one_line(item.answer, _QUOTE), (f"  {cited}", "cyan")))


def _unverified(claims: Sequence[Claim], out: Console) -> None:
    out.print()
    out.print(Text("  What no document supports or contradicts", style="bold yellow"))
    for claim in claims:
        hang(out, "  ", Text(printable(claim.text)))


class _Sides:
    """Shows the documents for and against a claim, by their numbers."""

    def __init__(self, documents: Sequence[Document], out: Console) -> None:
        self.numbers = {document.id: number for number, document in enumerate(documents, 1)}
        self._documents, self._out = documents, out

    def show(self, plus: Sequence[Evidence], minus: Sequence[Evidence], discounted: Sequence[Evidence] = ()) -> None:
        """Both sides; a side without documents is told, too. What is discounted counts for neither."""
        for label, style, side in (("for", "green", plus), ("against", "red", minus)):
            for item in side[:_SHOWN]:
                number = self.numbers[item.document_id]
                date = _date(self._documents[number - 1].dated)
                head = Text.assemble("    ", (f"{label:9}", style), f"{f'[{number}]':5}", (f"{date:12}", "cyan"))
                said = Text(f'"{one_line(item.quote, _QUOTE)}"' if item.quote else "(no quote)")
                if item.reason:
                    said.append(f"\n{one_line(item.reason, _QUOTE)}", style="dim")
                hang(self._out, head, said)
            if len(side) > _SHOWN:
                rest = "".join(f"[{self.numbers[item.document_id]}]" for item in side[_SHOWN:])
                hang(self._out, f"    {label:9}", Text(f"and {rest}"))
            if not side:
                self._out.print(Text.assemble("    ", (f"{label:9}", style), ("no document", "dim")))
        for item in discounted:
            head = Text(f"    {'discounted ':9}{f'[{self.numbers[item.document_id]}]':5}", style="dim")
            quote = f': "{one_line(item.quote, _QUOTE)}"' if item.quote else ""
            hang(self._out, head, Text(f"{item.stance.value} it{quote}", style="dim"))


def _set_aside(result: Result, out: Console) -> None:
    """The documents that the second answer was not given, and for which newer ones."""
    if not result.set_aside:
        return
    numbers = {document.id: number for number, document in enumerate(result.documents, 1)}
    out.print()
    out.print(Text("  What was set aside before answering again", style="bold"))
    for item in result.set_aside:
        number = numbers[item.document_id]
        head = Text.assemble(f"  {f'[{number}]':5}", (f"{_date(result.documents[number - 1].dated):12}", "cyan"))
        hang(out, head, Text(f"{item.reason}: [{numbers[item.newer_id]}]"))


def _changes(result: Result, out: Console) -> None:
    if not result.rounds:
        return
    out.print()
    reason = Text(f"{result.decision.reason}.", style="dim")
    first, last = result.initial_answer.text, result.rounds[-1].answer.text
    if result.regenerated:
        out.print(Text("  What changed", style="bold"))
        before, after = _difference(first, result.answer.text)
        hang(out, "  first answer  ", before)
        hang(out, "  now           ", after)
    else:
        out.print(Text("  Answered again, and kept the first answer", style="bold"))
        if last != first:
            hang(out, "  second answer ", Text(printable(last)))
    hang(out, "  because       ", reason)


def _difference(before: str, after: str) -> tuple[Text, Text]:
    """Both answers, with the words coloured that went and those that came."""
    old, new = printable(before).split(), printable(after).split()
    first, now = Text(), Text()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = tag == "equal"
        first.append(" ".join([*old[a:b], ""]), style="" if same else "red")
        now.append(" ".join([*new[c:d], ""]), style="" if same else "green")
    return first, now


def _sources(documents: Sequence[Document], cited: Collection[str], out: Console, report: ConflictReport) -> None:
    credibility = {item.document_id: item for item in report.credibility}
    out.print()
    out.print(Text("  Sources, and what they weigh" if credibility else "  Sources", style="bold"))
    titles = [one_line(document.title, max(NARROWEST, out.width // 2 - 10)) for document in documents]
    widest = max(map(cell_len, titles), default=0)
    for number, (document, title) in enumerate(zip(documents, titles, strict=True), 1):
        line = Text.assemble(
            f"  {f'[{number}]':5}",
            _weight(credibility.get(document.id), discounted=document.id in report.discounted),
            (f"{_date(document.published):12}", "cyan"),
            set_cell_size(title, widest),
        )
        line.append("  " * bool(widest) + one_line(_place(document), 500), style="dim")
        if document.published_from == "mtime":
            line.append(", dated by the file", style="dim")
        if document.id in cited:
            line.stylize("bold")
        out.print(line, overflow="ellipsis", no_wrap=True)


def _weight(credibility: Credibility | None, *, discounted: bool) -> Text:
    """A column with a document's weight, and where the model gave it, its level; empty where credibility is off."""
    if credibility is None:
        return Text()
    level = "discounted" if discounted else credibility.level or credibility.source
    return Text(f"{credibility.weight:.2f} {level:11}", style="yellow" if discounted else "")


def _place(document: Document) -> str:
    return document.url if document.url.startswith(("http://", "https://")) else document.id


def _end(warnings: Sequence[str], usage: Usage, out: Console) -> None:
    if warnings:
        out.print()
    for warning in warnings:
        hang(out, "  ! ", Text(printable(warning), style="yellow"))
    out.print()
    hang(out, "  ", Text(cost_line(usage), style="dim"))


def _date(published: date | None) -> str:
    return published.isoformat() if published else "undated"
