"""`regen score`: ConflictScore of one response, or of a JSONL file of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regen.cli import options
from regen.cli.setup import check, deciding, make_model, one_sentence, source_list, with_program
from regen.cli.terminal import Steps, complain, console
from regen.errors import InputError

if TYPE_CHECKING:
    from regen.compiled import Compiled
    from regen.credibility import SourceList
    from regen.models.choice import Role
    from regen.settings import Settings
    from regen.types import ConflictReport, Document, Usage
    from search import SearchResults


def score(
    input: Annotated[
        Path | None,
        typer.Argument(help='JSONL: {"id", "response", "documents": [{"text"}]}; "question" if there is one.'),
    ] = None,
    response: Annotated[str | None, typer.Option("--response", "-r", help="A response, or @FILE.")] = None,
    docs: options.Docs = None,
    search: options.Search = None,
    recorded: options.Recorded = None,
    question: Annotated[str | None, typer.Option("--question", help="What the response answers.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Add to this file, and skip what it holds from the same settings."),
    ] = None,
    skip_bad_lines: Annotated[bool, typer.Option("--skip-bad-lines", help="Report bad lines and go on.")] = False,
    k: options.K = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    judge_samples: options.JudgeSamples = None,
    claims: options.Claims = None,
    credibility: options.Credibility = None,
    credibility_list: options.CredibilityList = None,
    program: options.Program = None,
    strict: options.Strict = False,
    seed: options.Seed = None,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print CS-C and CS-R alone, and no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Score how a response holds up against documents that disagree.

    Takes a JSONL file of responses with their documents and prints JSONL, or
    one --response and the --docs to score it against.

    CS-C is the share of claims that documents both support and contradict;
    CS-R is the mean share of documents against a claim. Both are from 0 to 1,
    and lower is better.
    """
    from regen.settings import load

    if (input is None) == (response is None):
        raise InputError("Give either a JSONL file or --response.")
    if input is not None and any(one is not None for one in (docs, search, recorded, question)):
        raise InputError(
            "--docs, --search, --recorded and --question go with --response: each line of a file brings its documents."
        )
    if response is not None and (out is not None or skip_bad_lines):
        raise InputError("--out and --skip-bad-lines go with a JSONL file.")
    flags: dict[str, Any] = {"k": k, "model": model, "judge_model": judge_model, "api_base": api_base, "judge": judge}
    flags |= {"judge_samples": judge_samples, "claims": claims}
    flags |= {"credibility": credibility, "credibility_list": credibility_list}
    flags |= options.search_flags(docs, search, recorded=recorded)
    settings, compiled = with_program(load({**flags, "support": "strict" if strict else None, "seed": seed}), program)
    if _asks_model(settings):
        check(settings, "judge")
    scoring = _Scoring(settings, compiled, source_list(settings, credibility_list), quiet=quiet)
    if input is not None:
        scoring.file(input, out, skip_bad_lines)
        return
    text = _text(response or "")
    found = _search(settings, question or text, scoring.steps)
    documents = list(found.documents)
    scoring.asked([question])
    report, usage = scoring.score(text, documents, question)
    report = report.model_copy(update={"warnings": [*found.warnings, *report.warnings]})
    if json:
        from regen.output import score_output

        print(score_output(report, usage).model_dump_json(indent=2))
    elif quiet:
        print(f"{report.cs_c:.4f} {report.cs_r:.4f}")
    else:
        from regen.cli import render

        render.report(report, documents, usage, console())


_Item = tuple[str, str, "list[Document]", str | None]
"""Id, response, documents, question."""


class _Scoring:
    """The scorer and its model, set up when the first response is scored."""

    def __init__(
        self, settings: Settings, compiled: Compiled | None, sources: SourceList | None, *, quiet: bool
    ) -> None:
        self._settings, self._compiled, self._sources = settings, compiled, sources
        self.steps = Steps(quiet=quiet)
        self._scorer: Any = None

    def asked(self, questions: Iterable[str | None]) -> None:
        """Tells what the responses answer, before the first is scored: where nothing, `auto` may need no model."""
        if self._settings.judge == "auto" and not any(questions):
            from regen.judges import default_judge
            from regen.models import choose

            judge = default_judge(choose(self._settings, "judge"), asked=False)
            self._settings = self._settings.model_copy(update={"judge": judge})

    def score(self, response: str, documents: list[Document], question: str | None) -> tuple[ConflictReport, Usage]:
        """One response. Raises what `regen.Scorer` raises, with a model's failure in one sentence."""
        steps = self.steps
        with steps.live(), one_sentence():
            self._scorer = self._scorer or self._load()
            from regen.usage import metered

            with metered() as meter:
                steps("finding claims")
                prediction = self._scorer(
                    response=response,
                    documents=documents,
                    question=question,
                    progress=lambda done, total: steps("checking", done, total),
                )
                return prediction.report, meter.read()

    def _load(self) -> Any:
        settings = self._settings
        self.steps("loading")
        import dspy

        from regen.scoring import Scorer

        if _asks_model(settings):
            dspy.configure(lm=make_model(settings, "judge", self.steps))
        scorer = Scorer(
            settings.judge,
            judge_samples=settings.judge_samples,
            claim_kind=settings.claims,
            support=settings.support,
            check_quotes=settings.check_quotes,
            credibility=settings.credibility,
            credibility_list=self._sources,
            credibility_threshold=settings.credibility_threshold,
        )
        return self._compiled.apply(scorer) if self._compiled else scorer

    def file(self, path: Path, out: Path | None, skip_bad_lines: bool) -> None:
        """A file of responses; it is read and checked in full before the first one costs anything."""
        from regen import batch
        from regen.output import ScoreOutput, score_output

        items, bad, ids = [], 0, set[str]()
        for number, line in batch.read_lines(path):
            try:
                item = _item(path, number, line)
                if item[0] in ids:
                    raise InputError(f"{path}, line {number}: the id {item[0]!r} stands on an earlier line as well.")
                ids.add(item[0])
                items.append(item)
            except InputError as error:
                if not skip_bad_lines:
                    raise
                bad += 1
                complain(error)
        if bad:
            complain(f"{bad} bad {'line was' if bad == 1 else 'lines were'} skipped.")
        if not items:
            raise InputError(f"There is no response in {path}.")
        if out and out.exists() and out.samefile(path):
            raise InputError(f"{out} is what is to be scored: name another file with --out.")
        self.asked(item[3] for item in items)
        roles: list[Role] = ["judge"] if _asks_model(self._settings) else []
        given = deciding(self._settings, self._compiled, self._sources, *roles)
        made = {
            name: batch.made_from([text, [item.model_dump(mode="json") for item in documents], question], given)
            for name, text, documents, question in items
        }
        with batch.Lines(out, sys.stdout) as lines:
            done = batch.finished(out, "id", made) if out else set()
            left = [(item[0], item) for item in items if item[0] not in done]
            if not left:
                complain(f"{out} holds a score for each id of {path}: name another file with --out to score it again.")

            def one(item: _Item) -> tuple[ScoreOutput, None]:
                report, usage = self.score(*item[1:])
                return score_output(report, usage, item[0], made[item[0]]), None

            code = batch.run(left, one, lines, key="id", begin=self.steps.item, complain=complain)
        if code:
            raise typer.Exit(code)


def _asks_model(settings: Settings) -> bool:
    """Whether a language model has a part in the scores: it takes claims apart, judges, or assesses sources."""
    from regen.judges import asks_model

    return settings.claims != "whole" or settings.credibility != "off" or asks_model(settings.judge)


def _item(path: Path, number: int, line: str) -> _Item:
    """One line of input, checked."""
    from pydantic import BaseModel, ConfigDict, ValidationError

    class Given(BaseModel):
        model_config = ConfigDict(extra="ignore")
        id: Any = None
        response: str
        documents: list[dict[str, Any] | str]
        question: str | None = None

    from regen.batch import first_problem, is_id, read_json
    from regen.types import Document

    loaded = read_json(line, f"{path}, line {number}")
    try:
        given = Given.model_validate(loaded)
        documents = [
            Document.model_validate({"id": f"d{place}", **({"text": item} if isinstance(item, str) else item)})
            for place, item in enumerate(given.documents, 1)
        ]
    except ValidationError as error:
        raise InputError(f"{path}, line {number}: {first_problem(error)}.") from None
    if not (given.id is None or is_id(given.id)):
        raise InputError(f"{path}, line {number}: the id is neither a text nor a whole number.")
    if not given.response.strip():
        raise InputError(f"{path}, line {number}: the response is empty.")
    if not documents:
        raise InputError(f"{path}, line {number}: there are no documents.")
    if len({document.id for document in documents}) < len(documents):
        raise InputError(f"{path}, line {number}: two documents have the same id.")
    return str(number if given.id is None else given.id), given.response, documents, given.question


def _text(response: str) -> str:
    if response.startswith("@"):
        try:
            response = Path(response[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise InputError(f"The response file {response[1:]} cannot be read: {cause}.") from None
    if not options.is_text(response):
        raise InputError("The response is empty, or not text: there is nothing to score.")
    return response


def _search(settings: Settings, query: str, steps: Steps) -> SearchResults:
    from regen.cli import searching

    if settings.docs is None and settings.search is None and settings.recorded is None:
        raise InputError("There are no documents to score against: name a folder with --docs, or a --search.")
    search = searching.prepared(settings, steps)
    with steps.live():
        steps("searching")
        results = search.top(query, settings.k)
    if not results.documents:
        raise InputError(
            " ".join(["No document has anything on the response: name other documents.", *results.warnings])
        )
    return results
