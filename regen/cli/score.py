"""`regen score`: ConflictScore of one response, or of a JSONL file of them."""

from __future__ import annotations

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regen import settings as settings_module
from regen.cli import options, render
from regen.cli.terminal import Steps, complain, console
from regen.errors import InputError, RegenError
from regen.settings import Settings

if TYPE_CHECKING:
    from regen.types import ConflictReport, Document, Usage


def score(
    input: Annotated[
        Path | None,
        typer.Argument(help='JSONL: {"id", "response", "documents": [{"text"}]}; "question" if there is one.'),
    ] = None,
    response: Annotated[str | None, typer.Option("--response", "-r", help="A response, or @FILE.")] = None,
    docs: options.Docs = None,
    question: Annotated[str | None, typer.Option("--question", help="What the response answers.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Add to this file; what it holds is skipped.")] = None,
    skip_bad_lines: Annotated[bool, typer.Option("--skip-bad-lines", help="Report bad lines and go on.")] = False,
    k: Annotated[int | None, typer.Option("-k", help="With --docs: documents to judge against (10).")] = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    judge: options.JudgeName = None,
    strict: options.Strict = False,
    seed: options.Seed = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    no_color: options.NoColor = False,
) -> None:
    """Score how a response holds up against documents that disagree (lower is better)."""
    from regen.output import failure, score_output

    try:
        if (input is None) == (response is None):
            raise InputError("Give either a JSONL file or --response.")
        chosen = settings_module.load(
            {
                "docs": docs,
                "k": k,
                "model": judge_model or model,
                "api_base": api_base,
                "judge": judge,
                "support": "strict" if strict else None,
                "seed": seed,
            }
        )
        scoring = _Scoring(chosen, quiet=quiet or json, no_color=no_color)
        if input is not None:
            scoring.file(input, out, skip_bad_lines)
            return
        assert response is not None
        documents = _documents(chosen, question or _text(response))
        report, usage = scoring.score(_text(response), documents, question)
        if json:
            print(score_output(report, usage).model_dump_json(indent=2))
        elif quiet:
            print(f"{report.cs_c:.4f} {report.cs_r:.4f}")
        else:
            render.report(report, documents, usage, console(no_color=no_color))
    except RegenError as error:
        if not json or input is not None:
            raise
        print(failure(error).model_dump_json(indent=2))
        complain(error)
        raise typer.Exit(error.exit_code) from None


class _Scoring:
    """The scorer and its model, set up when the first response is scored."""

    def __init__(self, settings: Settings, *, quiet: bool, no_color: bool) -> None:
        self._settings, self._quiet = settings, quiet
        self._steps = Steps(quiet=quiet, no_color=no_color)
        self._scorer: Any = None

    def score(self, response: str, documents: list[Document], question: str | None) -> tuple[ConflictReport, Usage]:
        from regen.models.failures import translate

        try:
            return self._score(response, documents, question)
        except RegenError:
            raise
        except Exception as error:
            raise translate(error) from error

    def _score(self, response: str, documents: list[Document], question: str | None) -> tuple[ConflictReport, Usage]:
        from regen.cli.setup import use_models
        from regen.scoring import Scorer
        from regen.usage import metered

        if self._scorer is None:
            use_models(self._settings, quiet=self._quiet)
            self._scorer = Scorer(
                self._settings.judge, support=self._settings.support, check_quotes=self._settings.check_quotes
            )
        with metered() as meter, self._steps.live():
            prediction = self._scorer(
                response=response,
                documents=documents,
                question=question,
                progress=lambda done, total: self._steps("checking", done, total),
            )
        return prediction.report, meter.read()

    def file(self, path: Path, out: Path | None, skip_bad_lines: bool) -> None:
        from regen.batch import Lines, finished, read_lines
        from regen.output import failure, score_output

        done = finished(out, "id") if out else set()
        lines = Lines(out, sys.stdout)
        failed: RegenError | None = None
        bad = 0
        try:
            for number, line in read_lines(path):
                try:
                    item_id, response, documents, question = _item(path, number, line)
                except InputError as error:
                    if not skip_bad_lines:
                        raise
                    bad += 1
                    complain(error)
                    continue
                if item_id in done:
                    continue
                self._steps.prefix = f"line {number}: "
                try:
                    report, usage = self.score(response, documents, question)
                    lines.write(score_output(report, usage, item_id))
                except InputError as error:
                    if not skip_bad_lines:
                        raise InputError(f"{path}, line {number}: {error}") from None
                    bad += 1
                    complain(f"{path}, line {number}: {error}")
                except RegenError as error:
                    failed = error
                    lines.write(failure(error, id=item_id))
                    complain(f"{path}, line {number}: {error}")
        finally:
            lines.close()
        if bad:
            complain(f"{bad} bad lines were skipped.")
        if failed:
            raise typer.Exit(failed.exit_code)


def _item(path: Path, number: int, line: str) -> tuple[str, str, list[Document], str | None]:
    """One line of input, checked."""
    from pydantic import BaseModel, ConfigDict, ValidationError

    class Given(BaseModel):
        model_config = ConfigDict(extra="ignore")
        id: str | int | None = None
        response: str
        documents: list[dict[str, Any] | str]
        question: str | None = None

    from regen.types import Document

    try:
        given = Given.model_validate(json_module.loads(line))
        documents = [
            Document.model_validate({"id": f"d{place}", **({"text": item} if isinstance(item, str) else item)})
            for place, item in enumerate(given.documents, 1)
        ]
    except json_module.JSONDecodeError as error:
        raise InputError(f"{path}, line {number}: not JSON ({error.msg}).") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise InputError(f"{path}, line {number}: {place}: {first['msg']}.") from None
    if not given.response.strip():
        raise InputError(f"{path}, line {number}: the response is empty.")
    if not documents:
        raise InputError(f"{path}, line {number}: there are no documents.")
    if len({document.id for document in documents}) < len(documents):
        raise InputError(f"{path}, line {number}: two documents have the same id.")
    return str(number if given.id is None else given.id), given.response, documents, given.question


def _text(response: str) -> str:
    if not response.startswith("@"):
        return response
    try:
        return Path(response[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"The response file {response[1:]} cannot be read: {cause}.") from None


def _documents(settings: Settings, query: str) -> list[Document]:
    from search import provider_class

    if not query.strip():
        raise InputError("The response is empty: there is nothing to score.")
    if settings.docs is None:
        raise InputError("There are no documents to score against: name a folder with --docs.")
    search: Any = provider_class("local")
    results = search(settings.docs).top(query, settings.k)
    for warning in results.warnings:
        complain(warning)
    if not results.documents:
        raise InputError(f"No document in {settings.docs} has anything on the response.")
    return list(results.documents)
