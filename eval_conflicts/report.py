"""What is seen of a run's figures: tables on the terminal, `report.md`, and `results.json`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eval_conflictbench.metrics import UNJUDGED
from eval_conflictbench.report import figure
from eval_conflicts.metrics import Judged
from eval_conflicts.results import ConflictsResults
from eval_truthfulqa.metrics import Share
from eval_truthfulqa.report import interval, ratio
from regen.fence import one_line, printable
from regen.reporting import plain, put, templates
from regen.runs import Run
from regen.types import Kind

_TEMPLATES = Path(__file__).parent / "templates"


def write(run: Run, results: ConflictsResults) -> Path:
    """Writes the two files into the run's folder, and gives the path of the one to read."""
    put(run.folder / "results.json", results.model_dump_json(indent=2) + "\n")
    environment = templates(_TEMPLATES, html=False)
    environment.filters |= {"figure": figure, "share": share, "short": lambda text: one_line(text, 300)}
    text = environment.get_template("report.md.j2").render(
        results=results,
        kinds=[*Kind],
        labels=[*Kind, UNJUDGED],
        config={name: plain(value) for name, value in results.config.items()},
    )
    put(run.folder / "report.md", text)
    return run.folder / "report.md"


def share(part: Share) -> str:
    """Counts, percent and interval; a dash over no items."""
    return f"{ratio(part)} ({interval(part)})" if part.of else ratio(part)


def show(results: ConflictsResults, out: Console) -> None:
    """The main figures: how well the kind is told, overall and by kind, and the three metrics by strategy."""
    kinds = _table("kind of conflict by", "right", "macro-F1 (95%)", "named none")
    for one in results.kinds:
        none = str(one.by_rules) if one.by_rules else ""
        kinds.add_row(printable(one.by), ratio(one.accuracy), figure(one.macro_f1), none)
    out.print(kinds)
    telling = [one for one in results.kinds if one.by in ("rules", "model", "conflict-score", "taxonomy")]
    by_kind = _table("right by kind", *(one.by for one in telling))
    for kind in Kind if telling else ():
        by_kind.add_row(kind, *(_counts(one.of_kind[kind]) for one in telling))
    out.print(Text())
    out.print(by_kind)
    metrics = _table("strategy", "adheres", "right answer", "grounded", "calls", "tokens")
    costs = {cost.setting: cost for cost in results.costs}
    for of in results.strategies:
        spent = costs.get(of.strategy)
        tokens = [f"{spent.calls:.1f}", f"{spent.prompt_tokens + spent.completion_tokens:,.0f}"] if spent else ["", ""]
        metrics.add_row(of.strategy, *map(_cell, (of.adherence, of.answer_recall, of.grounding)), *tokens)
    out.print(Text())
    out.print(metrics)
    out.print("Below each share its 95% interval; calls and tokens are those of an answer.", style="dim")


def cost_line(results: ConflictsResults) -> str:
    """What an item took, all strategies and judgements together."""
    one = results.per_item
    if one is None:
        return "Nothing was asked yet."
    return (
        f"An item took on average {one.calls:.1f} calls, {one.prompt_tokens:,.0f} prompt tokens "
        f"({one.cached_tokens:,.0f} cached), {one.completion_tokens:,.0f} new and {one.seconds:,.1f} s, all included."
    )


def unjudged_lines(results: ConflictsResults) -> list[str]:
    """What could not be answered or judged, a sentence each."""
    lines = []
    for of in results.strategies:
        counts = {"adherence": of.adherence, "answer recall": of.answer_recall, "grounding": of.grounding}
        told = [f"{what} {part.unjudged}" for what, part in counts.items() if part.unjudged]
        if told:
            lines.append(f"{of.strategy}: not judged, and in no share: {', '.join(told)}.")
    return lines


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _cell(part: Judged) -> Text:
    return Text.assemble(ratio(part.share), ("\n" + interval(part.share), "dim")) if part.share.of else Text("\u2013")


def _counts(part: Share) -> str:
    return f"{part.count}/{part.of}" if part.of else "\u2013"
