"""`regen doctor`: what would be used and why, what is missing, and whether the endpoint answers."""

from __future__ import annotations

import json as json_module
import os
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from regen.cli import options
from regen.cli.terminal import console, hang
from regen.errors import RegenError
from regen.fence import printable

if TYPE_CHECKING:
    from regen.models import ModelChoice
    from regen.settings import Settings
    from search import SearchOptions


def doctor(
    docs: options.Docs = None,
    search: options.Search = None,
    recorded: options.Recorded = None,
    model: options.Model = None,
    judge_model: options.JudgeModel = None,
    api_base: options.ApiBase = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say which model, search and judge would be used and why, and what is missing. Exit 3 if something is."""
    from regen.models import choose
    from regen.paths import cache_dir
    from regen.settings import load

    flags = {"model": model, "judge_model": judge_model, "api_base": api_base}
    chosen = load(flags | options.search_flags(docs, search, recorded=recorded))
    answering = choose(chosen)
    judging = choose(chosen, "judge") if chosen.judge_model else answering
    checks = [
        _model("model", answering, chosen),
        *([_model("judge model", judging, chosen)] if chosen.judge_model else []),
        _judge(chosen, judging),
        *_searches(chosen),
        ("cache", True, str(cache_dir())),
    ]
    good = all(fine for _, fine, _ in checks)
    if json:
        items = [{"name": name, "ok": fine, "detail": detail} for name, fine, detail in checks]
        print(json_module.dumps({"ok": good, "checks": items}, indent=2))
    else:
        out = console()
        for name, fine, detail in checks:
            mark = ("ok      ", "green") if fine else ("missing ", "red")
            hang(out, Text.assemble(mark, (f"{name:14}", "bold")), Text(printable(detail)))
    if not good:
        raise typer.Exit(3)


Check = tuple[str, bool, str]


def _model(name: str, choice: ModelChoice, settings: Settings) -> Check:
    label = choice.model or "the endpoint's only model"
    if choice.missing:
        return name, False, choice.missing
    if choice.kind == "embedded":
        return _embedded(name, choice)
    if choice.kind == "openai-compatible" and choice.api_base:
        return _endpoint(name, choice, settings)
    return name, True, f"{label} through LiteLLM, because {choice.why}; not asked whether it answers"


def _embedded(name: str, choice: ModelChoice) -> Check:
    from regen.models import weights

    if find_spec("xllamacpp") is None:
        return name, False, 'The embedded model needs the extra "local": pip install "regen[local]".'
    there = choice.path is not None or any(item.name == weights.EMBEDDED.name for item in weights.installed())
    state = "" if there else "; it is fetched when first needed (1.1 GB), or now with: regen models pull"
    return name, True, f"{choice.model}, because {choice.why}{state}"


def _endpoint(name: str, choice: ModelChoice, settings: Settings) -> Check:
    from regen.models.served import served_models
    from regen.models.wire import without_credentials

    assert choice.api_base is not None
    address = without_credentials(choice.api_base)
    key = settings.api_key.get_secret_value() if settings.api_key else os.environ.get(choice.key_variable or "")
    try:
        names = served_models(choice.api_base, key)
    except RegenError as error:
        return name, False, str(error)
    label = choice.model or "its only model"
    if not choice.model and len(names) != 1:
        return name, False, f"{address} serves {len(names)} models: name one with --model openai/NAME."
    return name, True, f"{label} at {address}, which answers, because {choice.why}"


def _judge(settings: Settings, judging: ModelChoice) -> Check:
    from regen.errors import ConfigurationError
    from regen.judges import check_judge, default_judge

    if settings.judge == "auto":
        judge = default_judge(judging)
        why = "the embedded model reads and chooses better than it judges"
        return "judge", True, f"{judge}, because {why if judge == 'contrast' else 'the model can give verdicts'}"
    try:
        check_judge(settings.judge)
    except ConfigurationError as error:
        return "judge", False, str(error)
    return "judge", True, f"{settings.judge}, because it is named"


def _searches(settings: Settings) -> list[Check]:
    """The search that would be used, then what the others miss, and what is to be known about one."""
    from regen.cli.searching import search_options
    from search.base import provider_class
    from search.build import chosen

    options = search_options(settings)
    try:
        names, why = chosen(settings.search, options)
        for name in names:
            provider_class(name).configured(options)
    except RegenError as error:
        return [("search", False, str(error)), *_others(options, [])]
    notices = [_notice(name) for name in names]
    if "local" in names:
        assert settings.docs is not None
        problem, count = _folder(settings.docs)
        if problem:
            return [("search", False, problem), *_others(options, names)]
        why += f" ({settings.docs}, {count:,} {'file' if count == 1 else 'files'})"
    detail = f"{', '.join(names)}, because {why}"
    return [
        ("search", True, " ".join([f"{detail}{'.' * any(notices)}", *filter(None, notices)])),
        *_others(options, names),
    ]


def _notice(name: str) -> str:
    """What is to be known about a provider today, or ""."""
    from search.base import provider_class

    notice = getattr(provider_class(name), "notice", None)
    return str(notice(date.today())) if notice else ""


def _others(options: SearchOptions, used: list[str]) -> list[Check]:
    from search.base import provider_class, provider_names

    ready, missing = [], []
    for name in provider_names():
        if name in used:
            continue
        try:
            provider_class(name).configured(options)
        except RegenError:
            missing.append(name)
        else:
            ready.append(name)
    details = [f"ready: {', '.join(ready)}"] * bool(ready) + [f"not set up: {', '.join(missing)}"] * bool(missing)
    return [("other search", True, "; ".join(details))] if details else []


def _folder(folder: Path) -> tuple[str, int]:
    """What is wrong with a folder of documents, or "", and how many files it has."""
    from search.folder import READABLE, listing

    if not folder.is_dir():
        return f"{folder} is not a folder: give --docs another one.", 0
    count = len(listing(folder.resolve()).files)
    return ("" if count else f"There is no document in {folder}: looked for {', '.join(READABLE)}."), count
