"""How results look on a terminal. Text of documents and models is shown as it is, never taken for markup."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regen.fence import one_line, printable
from regen.types import ConflictReport, Document, Evidence, Result, Scores, Usage

_QUOTE = 160
_SHOWN = 4


def answer_alone(result: Result, out: Console) -> None:
    """The answer and nothing else."""
    out.print(Text(printable(result.answer.text)), soft_wrap=True)


def result(result: Result, out: Console) -> None:
    """The answer, what the sources disagree on, what changed, the sources, and what it cost."""
    numbers = {document.id: number for number, document in enumerate(result.documents, 1)}
    out.print()
    out.print(Padding(Text(printable(result.answer.text), style="bold"), (0, 0, 0, 2)))
    if result.answer.probabilities and result.choices:
        shares = "   ".join(
            f"{one_line(choice, 40)} {share:.0%}"
            for choice, share in zip(result.choices, result.answer.probabilities, strict=True)
        )
        out.print(Text(f"  {shares}", style="dim"))
    _disagreement(result, numbers, out)
    _changes(result, out)
    _sources(result, out)
    for warning in result.warnings:
        out.print(Text(f"  ! {printable(warning)}", style="yellow"))
    out.print()
    out.print(Text("  " + cost_line(result.usage), style="dim"))


def report(report: ConflictReport, documents: Sequence[Document], usage: Usage, out: Console) -> None:
    """A scored response."""
    numbers = {document.id: number for number, document in enumerate(documents, 1)}
    by_id = {document.id: document for document in documents}
    out.print(Text.assemble(("CS-C ", "bold"), f"{report.cs_c:.2f}", ("   CS-R ", "bold"), f"{report.cs_r:.2f}"))
    for claim in report.claims:
        plus, minus = report.sides(claim.id)
        mark, style = ("!", "red") if plus and minus else ("-", "yellow") if minus else ("+", "green")
        if not plus and not minus:
            mark, style = "?", "dim"
        out.print(Text.assemble((f"{mark} ", style), printable(claim.text)))
        for label, side in (("for", plus), ("against", minus)):
            _side(label, side, numbers, by_id, out)
    if not report.claims:
        out.print(Text("No claim was found in the response.", style="dim"))
    for warning in report.warnings:
        out.print(Text(f"! {printable(warning)}", style="yellow"))
    out.print(Text(cost_line(usage), style="dim"))


def cost_line(usage: Usage) -> str:
    """One line: calls, tokens, cached tokens, price where known, seconds."""
    price = "" if usage.cost_usd is None else f", ${usage.cost_usd:.4f}"
    return (
        f"{usage.calls} model calls, {usage.prompt_tokens:,} prompt tokens ({usage.cached_tokens:,} cached), "
        f"{usage.completion_tokens:,} new tokens{price}, {usage.seconds:.1f} s"
    )


def _disagreement(result: Result, numbers: dict[str, int], out: Console) -> None:
    by_id = {document.id: document for document in result.documents}
    disputed = [
        (claim.text, *result.initial_report.sides(claim.id))
        for claim in result.initial_report.claims
        if result.initial_report.sides(claim.id)[1]
    ]
    out.print()
    if not disputed and len(result.document_answers) < 2:
        out.print(Text("  The sources don't disagree about this answer.", style="green"))
        return
    out.print(Text("  What the sources disagree on", style="bold red"))
    for text, plus, minus in disputed:
        out.print(Padding(Text(printable(text)), (0, 0, 0, 2)))
        _side("for", plus, numbers, by_id, out)
        _side("against", minus, numbers, by_id, out)
    if len(result.document_answers) > 1:
        given = "; ".join(
            f"{one_line(item.answer, 60)}: {'documents' if len(item.document_ids) > 1 else 'document'} "
            + ", ".join(str(numbers[document_id]) for document_id in item.document_ids)
            for item in result.document_answers
        )
        out.print(Padding(Text(f"Documents' own answers: {given}"), (0, 0, 0, 2)))


def _side(
    label: str, evidence: Sequence[Evidence], numbers: dict[str, int], by_id: dict[str, Document], out: Console
) -> None:
    for item in evidence[:_SHOWN]:
        document = by_id[item.document_id]
        date = document.published.isoformat() if document.published else "undated"
        quote = f' "{one_line(item.quote, _QUOTE)}"' if item.quote else ""
        line = Text.assemble(
            (f"{label:8}", "green" if label == "for" else "red"),
            f"[{numbers[item.document_id]}] ",
            (date, "cyan"),
            quote,
        )
        out.print(Padding(line, (0, 0, 0, 4)))
    if len(evidence) > _SHOWN:
        rest = ", ".join(f"[{numbers[item.document_id]}]" for item in evidence[_SHOWN:])
        out.print(Padding(Text(f"{label:8}and {rest}"), (0, 0, 0, 4)))


def _changes(result: Result, out: Console) -> None:
    if not result.rounds:
        return
    out.print()
    first, last = result.initial_answer, result.rounds[-1].answer
    if result.regenerated:
        out.print(Text("  What changed", style="bold"))
        out.print(Padding(_difference(first.text, result.answer.text), (0, 0, 0, 2)))
    else:
        out.print(Text("  Answered again, and kept the first answer", style="bold"))
        if last.text != first.text:
            out.print(Padding(Text(f"second answer: {printable(last.text)}", style="dim"), (0, 0, 0, 2)))
    out.print(Padding(Text(f"Because {result.decision.reason}.", style="dim"), (0, 0, 0, 2)))


def _difference(before: str, after: str) -> Text:
    """The words of both answers: those that went struck through, those that came underlined."""
    old, new = printable(before).split(), printable(after).split()
    text = Text()
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            text.append(" ".join(old[a:b]) + " ")
            continue
        if a < b:
            text.append("[-" + " ".join(old[a:b]) + "-]", style="red")
            text.append(" ")
        if c < d:
            text.append("{+" + " ".join(new[c:d]) + "+}", style="green")
            text.append(" ")
    text.rstrip()
    return text


def _sources(result: Result, out: Console) -> None:
    out.print()
    out.print(Text("  Sources", style="bold"))
    cited = set(result.answer.citations)
    for number, document in enumerate(result.documents, 1):
        date = document.published.isoformat() if document.published else "undated"
        title = one_line(document.title or document.id, 60)
        line = Text.assemble(f"{number:>4} ", (date, "cyan"), f"  {title}", (f"  {document.id}", "dim"))
        if document.id in cited:
            line.stylize("bold")
        out.print(line, overflow="ellipsis", no_wrap=True)


def scores_line(before: Scores, after: Scores) -> str:
    """CS-C and CS-R of the first answer and of the kept one."""
    return f"CS-C {before.cs_c:.2f} -> {after.cs_c:.2f}, CS-R {before.cs_r:.2f} -> {after.cs_r:.2f}"
