"""`regen check`: which documents of a folder contradict each other, before anybody asks."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regen.cli import options
from regen.cli.terminal import Steps, complain, console, duration, hang
from regen.errors import ConfigurationError, InputError, ProviderError
from regen.fence import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

    from regen.check import CheckReport, Finding, Step

_QUOTE = 300
_ALSO = 3


def check(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder of documents (md, txt, html, pdf, docx).", parser=options.folder),
    ],
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="NAME",
            help="What decides about two sentences that seem to differ: rules alone, or a judge as well, asked once a "
            "pair, that calls no language model (heuristic, builtin, nli:MODEL).",
        ),
    ] = "rules",
    fail_on: Annotated[
        float | None,
        typer.Option(
            "--fail-on",
            metavar="CONFIDENCE",
            min=0,
            max=1,
            help="End with 1 where a finding has this or more (0 to 1).",
        ),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="How many findings to show in the terminal.")
    ] = 20,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", help="Write all findings to this HTML file too.", parser=options.file_name
        ),
    ] = None,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Find documents in a folder that contradict each other, before anybody asks.

    Amounts, dates, names, denials and directions are found that differ in two
    sentences on the same thing; each sentence is compared with those of other
    documents that it has most words in common with. Shown are both, their dates,
    and which document is newer. The confidence (from about a half to 1) says how
    surely both are about the same; it is no probability. Without --fail-on,
    findings end with 0.
    """
    from regen.check import check as checked
    from regen.cli.setup import one_sentence

    if html is not None and (html.is_dir() or not html.parent.is_dir()):
        raise InputError(f"{html} cannot be written: it is a folder, or there is none for it.")
    if html is not None and html.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{html} would be one of the documents of {folder} next time: name a file outside it.")
    _check_judge(judge)
    steps = Steps(quiet=quiet)
    with steps.live(), one_sentence():
        report = checked(folder, judge, progress=_Left(steps))
    failing = len(report.at_least(fail_on)) if fail_on is not None else 0
    unwritten = _write(html, report, fail_on, failing) if html is not None else None
    if json:
        print(report.model_dump_json(indent=2))
    else:
        _show(report, top, console())
    for warning in report.warnings:
        complain(warning)
    if unwritten:
        complain(unwritten)
        raise typer.Exit(unwritten.exit_code)
    if fail_on is not None and report.unjudged:
        complain(f"{report.unjudged} of {report.suspected} pairs were not judged: nothing is said of them.")
        raise typer.Exit(ProviderError.exit_code)
    if failing:
        complain(f"{failing} {'finding is' if failing == 1 else 'findings are'} at {fail_on:g} or above.")
        raise typer.Exit(1)


class _Left:
    """Shows how much of a step is done, and about how long the rest of it takes by what that much took."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._step, self._began, self._first = "", 0.0, 0

    def __call__(self, step: Step, done: int, total: int) -> None:
        now = time.monotonic()
        if step != self._step:
            self._step, self._began, self._first = step, now, done
        left = (now - self._began) / max(done - self._first, 1) * (total - done)
        words = f", about {duration(left)} left" if done > self._first and left > 1 else ""
        self._steps(f"{step} {done:,}/{total:,}{words}")


def _check_judge(judge: str) -> None:
    """Tells of a judge that cannot be had, before anything is read.

    Raises:
        ConfigurationError: there is none of that name, or it asks a language model.
    """
    from regen.check import RULES
    from regen.judges import asks_model, judge_names, make_judge

    if judge == RULES:
        return
    if judge != "auto" and judge.partition(":")[0] not in judge_names():
        fit = [RULES, *(name for name in judge_names() if not asks_model(name))]
        raise ConfigurationError(f"There is no judge {printable(judge)!r}; for this there are: {', '.join(fit)}.")
    if judge == "auto" or (make_judge(judge) and asks_model(judge)):
        raise ConfigurationError(
            f"--judge {printable(judge)} asks a language model about every pair: take {RULES}, or a judge that asks "
            "none, such as heuristic, builtin or nli:MODEL."
        )


def _write(path: Path, report: CheckReport, fail_on: float | None, failing: int) -> InputError | None:
    from regen.reporting import TEMPLATES, templates, written

    page = templates(TEMPLATES, html=True).get_template("check.html.j2")
    return written(path, page.render(report=report, fail_on=fail_on, failing=failing))


def _show(report: CheckReport, top: int, out: Console) -> None:
    from regen.check import RULES

    out.print()
    count = len(report.findings)
    line = Text.assemble(
        ("Contradictions ", "bold"),
        f"{count:,}  ",
        (f"in {report.documents:,} document{'' if report.documents == 1 else 's'}", "cyan"),
    )
    hang(out, "  ", line)
    share = report.compared / report.sentence_pairs if report.sentence_pairs else 0.0
    work = f"{report.compared:,} pairs of sentences compared, {share:.2%} of all; {report.suspected:,} seemed to differ"
    judge = "" if report.judge == RULES else f", about which {printable(report.judge)} was asked"
    hang(out, "  ", Text(f"{work}{judge}; {duration(report.seconds)}", style="dim"))
    for number, finding in enumerate(report.findings[:top], 1):
        out.print()
        _finding(number, finding, out)
    if count > top:
        out.print()
        out.print(f"  {count - top:,} more with --top {count}, --json or --html.", style="dim")


def _finding(number: int, finding: Finding, out: Console) -> None:
    head = Text.assemble((f"{number:>4}  ", "dim"), (f"{finding.confidence:.2f}  ", "bold"))
    said = Text(one_line(finding.difference, _QUOTE), style="bold")
    if finding.newer != "second":
        said.append(f"  {finding.newer}", style="yellow")
    hang(out, head, said)
    if finding.reason:
        hang(out, " " * 6, Text(one_line(finding.reason, _QUOTE), style="dim"))
    for place, side in enumerate(finding.sides):
        day = side.published.isoformat() if side.published else "undated"
        line = Text(one_line(side.document, _QUOTE))
        if place and finding.newer == "second":
            line.append("  newer", style="green")
        hang(out, Text.assemble(" " * 6, (f"{day:12}", "cyan")), line)
        hang(out, " " * 18, Text(f'"{one_line(side.quote, _QUOTE)}"'))
        if side.also:
            more = f" and {len(side.also) - _ALSO} more" if len(side.also) > _ALSO else ""
            hang(out, " " * 18, Text(f"also {one_line(', '.join(side.also[:_ALSO]), _QUOTE)}{more}", style="dim"))
