"""`regen report`: a report on a topic, scored, written again, and kept as Markdown where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regen.cli import options
from regen.cli.ask import Agent, check_log
from regen.cli.setup import make_model
from regen.cli.terminal import complain, console
from regen.errors import InputError

if TYPE_CHECKING:
    from regen.report import Style
    from regen.settings import Settings
    from regen.types import ConflictReport, Result


def report(
    topic: Annotated[str, typer.Argument(help="What to write about: a name, a subject or a question.")],
    docs: options.Docs = None,
    search: options.Search = None,
    style: Annotated[
        Literal["plain", "balanced", "super-balanced"],
        typer.Option(
            "--style",
            help="What the model is asked for: a report, one that reflects differing views (balanced), or one that "
            "says with every disputed statement who says what (super-balanced).",
        ),
    ] = "plain",
    k: options.K = None,
    max_rounds: Annotated[
        int | None,
        typer.Option("--max-rounds", metavar="N", min=0, max=10, help="How often to write again at most (default 1)."),
    ] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    claims: options.Claims = None,
    strict: options.Strict = False,
    seed: options.Seed = None,
    site: options.Site = None,
    exclude_site: options.ExcludeSite = None,
    since: options.Since = None,
    record: options.Record = None,
    recorded: options.Recorded = None,
    refresh: options.Refresh = False,
    snippets: options.Snippets = False,
    allow_private: options.AllowPrivate = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", parser=options.file_name, help="Write it to this new file as well, in Markdown."
        ),
    ] = None,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the report alone, and no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Write a report of three paragraphs, show where the documents disagree about it, and write it again.

    Both reports are scored, and the better one is kept. A report makes many
    claims: --claims salient checks the few that matter, with fewer calls. --json
    prints what that of regen ask does (regen schema ask). Credibility, kinds,
    strategies and --resolve are for regen ask alone.
    """
    from regen.program import not_judged
    from regen.reporting import written
    from regen.settings import load

    if not options.is_text(topic):
        raise InputError("The topic is empty, or not text: say what to write about.")
    if out is not None and out.exists():
        raise InputError(f"{out} is there already: name another file with --out.")
    if out is not None and not out.parent.is_dir():
        raise InputError(f"There is no folder {out.parent} for {out.name}: make it, or name another file with --out.")
    flags: dict[str, Any] = {"k": k, "max_rounds": max_rounds, "model": model, "judge_model": judge_model}
    flags |= {"judge": judge, "judge_samples": judge_samples, "claims": claims, "api_base": api_base, "seed": seed}
    flags |= {"support": "strict" if strict else None}
    flags |= options.search_flags(
        docs,
        search,
        sites=site,
        exclude_sites=exclude_site,
        since=since,
        recorded=recorded,
        snippets=snippets,
        allow_private=allow_private,
    )
    settings = load(flags)
    check_log(settings.log_conflicts, {"--out": out, "--record": record, "--recorded": recorded})
    unwritten: list[InputError] = []

    def show(result: Result) -> None:
        if out is not None and (failed := written(out, _markdown(result))):
            unwritten.append(failed)
            complain(failed)
        _show(result, json=json, quiet=quiet)

    result = _Reporter(settings, style, quiet=quiet, record=record, refresh=refresh).show(show, topic)
    for failed in unwritten:
        raise typer.Exit(failed.exit_code)
    if error := not_judged(result):
        if json or quiet:
            complain(f"The report could not be checked: {error}")
        raise typer.Exit(error.exit_code)


class _Reporter(Agent):
    """As `Agent`, with the program that writes reports."""

    def __init__(self, settings: Settings, style: Style, *, quiet: bool, record: Path | None, refresh: bool) -> None:
        settings = settings.model_copy(update={"resolve": "none"})
        super().__init__(settings, None, None, None, quiet=quiet, record=record, refresh=refresh)
        self._style = style

    def _load(self) -> Any:
        settings, steps = self._settings, self.steps
        steps("loading")
        import dspy

        from regen.report import ReportWriter

        dspy.configure(lm=make_model(settings, "answer", steps))
        return ReportWriter(
            self.search,
            settings.judge,
            style=self._style,
            k=settings.k,
            max_rounds=settings.max_rounds,
            support=settings.support,
            check_quotes=settings.check_quotes,
            seed=settings.seed,
            judge_lm=make_model(settings, "judge", steps) if settings.judge_model else None,
            judge_samples=settings.judge_samples,
            claim_kind=settings.claims,
            on_step=steps,
            on_result=self._keep,
        )


def _show(result: Result, *, json: bool, quiet: bool) -> None:
    from regen.cli import render
    from regen.output import ask_output

    if json:
        print(ask_output(result).model_dump_json(indent=2))
    elif quiet:
        render.answer_alone(result, console())
    else:
        render.written(result, console())


def _markdown(result: Result) -> str:
    """The report as Markdown, in which nothing that a document or a model said is markup."""
    from regen.cli.render import cost_line, reports
    from regen.reporting import templates

    environment = templates(Path(__file__).parent / "templates", html=False)
    return environment.get_template("report.md.j2").render(
        result=result,
        paragraphs=_paragraphs(result.answer.text),
        first=_paragraphs(result.initial_answer.text),
        reports=reports(result),
        disputed=_disputed(result.initial_report),
        still=_disputed(result.report) if result.regenerated else [],
        numbers={document.id: number for number, document in enumerate(result.documents, 1)},
        by_id={document.id: document for document in result.documents},
        cost=cost_line(result.usage),
    )


def _paragraphs(text: str) -> list[str]:
    return [part for part in text.split("\n\n") if part.strip()]


def _disputed(report: ConflictReport) -> list[tuple[str, dict[str, Any]]]:
    """The claims that documents contradict, each with its two sides."""
    found = []
    for claim in report.claims:
        plus, minus = report.sides(claim.id)
        if minus:
            found.append((claim.text, {"for": plus, "against": minus}))
    return found
