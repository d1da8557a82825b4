"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def folder(given: str) -> Path:
    """The path that an option gives; refuses an empty one, which would be the folder one is in."""
    if not given.strip():
        raise typer.BadParameter("it is empty: name a folder.")
    return Path(given)


def file_name(given: str) -> Path:
    """The path that an option gives; refuses an empty one, which would be the folder one is in."""
    if not given.strip():
        raise typer.BadParameter("it is empty: name a file.")
    return Path(given)


def _without_color(given: bool) -> None:
    if given:
        os.environ["NO_COLOR"] = "1"


Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", help="Model that answers: 'embedded', a .gguf file, or PROVIDER/NAME (openai/gpt-4.1-mini)."
    ),
]
JudgeModel = Annotated[
    str | None, typer.Option("--judge-model", help="Model that judges; the answering one if not given.")
]
ApiBase = Annotated[
    str | None, typer.Option("--api-base", help="Address of an OpenAI-compatible API (as http://HOST/v1).")
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        help="How answers are checked: lm (or lm:pair, lm:all), contrast, builtin, cascade (or "
        "cascade:builtin,lm), ensemble (or ensemble:lm,nli:X), nli:MODEL, heuristic (or heuristic:0.6); auto: "
        "the better one for the model.",
    ),
]
Claims = Annotated[
    Literal["atomic", "salient", "merged", "whole"] | None,
    typer.Option(
        "--claims",
        help="What an answer is taken apart into: atomic (every fact), salient (the few that matter), merged (related "
        "statements joined), whole (one claim).",
    ),
]
JudgeSamples = Annotated[
    int | None,
    typer.Option(
        "--judge-samples", metavar="N", min=1, max=20, help="Ask the judge N times; the majority counts (default 1)."
    ),
]
Strategy = Annotated[
    Literal["conflict-score", "vanilla", "pipeline", "taxonomy", "oracle"] | None,
    typer.Option(
        "--strategy",
        help="How to answer: conflict-score (answer, check, answer again), or once and unchecked: vanilla, pipeline "
        "(the kind of conflict first), taxonomy (kind and answer in one call), oracle (by --gold-kind).",
    ),
]
Kinds = Annotated[
    Literal["off", "rules", "model"] | None,
    typer.Option(
        "--kinds",
        help="Find the kind of conflict, so that the second answer does what that kind needs: by rules (no call) or by "
        "the model; off is the default.",
    ),
]
GoldKind = Annotated[
    Literal["no-conflict", "complementary", "opinions", "outdated", "misinformation"] | None,
    typer.Option("--gold-kind", help="With --strategy oracle: the kind of conflict that is known to be right."),
]
Credibility = Annotated[
    Literal["off", "weight", "filter"] | None,
    typer.Option(
        "--credibility",
        help="How far each source can be relied on: have what it says weigh by that (weight), or not count what those "
        "say that cannot be (filter). Default: off.",
    ),
]
CredibilityList = Annotated[
    Path | None,
    typer.Option(
        "--credibility-list",
        metavar="FILE",
        help="Text file with a source and its weight on each line (example.org 0.9); with --credibility, which has the "
        "model assess the others.",
    ),
]
Program = Annotated[
    Path | None,
    typer.Option("--program", metavar="DIR", help="Use the prompts that regen optimize wrote into this folder."),
]
Docs = Annotated[
    Path | None,
    typer.Option("--docs", help="Folder of documents (md, txt, html, pdf, docx).", parser=folder, metavar="DIR"),
]
_SEARCH = "Search"
Search = Annotated[
    str | None,
    typer.Option(
        "--search",
        "-s",
        help="Where documents come from: local (--docs), a web provider, or several with commas. See regen doctor.",
        rich_help_panel=_SEARCH,
    ),
]
Site = Annotated[
    list[str] | None, typer.Option("--site", help="Only results from this site; repeatable.", rich_help_panel=_SEARCH)
]
ExcludeSite = Annotated[
    list[str] | None,
    typer.Option("--exclude-site", help="No results from this site; repeatable.", rich_help_panel=_SEARCH),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="No results known to be older (2025-01-31).", rich_help_panel=_SEARCH),
]
Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="Add what was found to this JSONL file.", rich_help_panel=_SEARCH),
]
Recorded = Annotated[
    Path | None,
    typer.Option(
        "--recorded",
        metavar="FILE",
        help="Search a file that --record wrote; nothing else, unless --search names it.",
        rich_help_panel=_SEARCH,
    ),
]
Refresh = Annotated[
    bool, typer.Option("--refresh", help="Fetch pages anew, whatever is cached.", rich_help_panel=_SEARCH)
]
Snippets = Annotated[
    bool, typer.Option("--snippets", help="Go by the snippets; don't read the pages.", rich_help_panel=_SEARCH)
]
AllowPrivate = Annotated[
    bool,
    typer.Option(
        "--allow-private", help="Read pages on private addresses as well (an intranet's).", rich_help_panel=_SEARCH
    ),
]
K = Annotated[
    int | None, typer.Option("-k", metavar="N", min=1, max=100, help="How many documents to read (default 10).")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="A document that supports only part of a claim does not support it.")
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Seed of the model and of every shuffle (default 0).")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, whatever happens.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the answer alone, and no progress.")]
# Every console that is made afterwards goes by the variable.
NoColor = Annotated[
    bool,
    typer.Option("--no-color", is_eager=True, callback=_without_color, help="No colours; NO_COLOR=1 does the same."),
]


def search_flags(
    docs: Path | None,
    search: str | None,
    *,
    sites: list[str] | None = None,
    exclude_sites: list[str] | None = None,
    since: str | None = None,
    recorded: Path | None = None,
    snippets: bool = False,
    allow_private: bool = False,
) -> dict[str, Any]:
    """The settings that the options of a search give; None where an option was not given."""
    # Flags come first: a folder or a recording that is named there is searched, whatever the environment names.
    given = ["local"] * (docs is not None) + ["recorded"] * (recorded is not None)
    return {
        "docs": docs,
        "search": search or ",".join(given) or None,
        "sites": sites or None,
        "exclude_sites": exclude_sites or None,
        "since": since,
        "recorded": recorded,
        "read_pages": False if snippets else None,
        "allow_private": allow_private or None,
    }


def is_text(given: str) -> bool:
    """Whether it is not blank, and without bytes that are no UTF-8, which Python keeps as lone surrogates."""
    return bool(given.strip()) and not any("\ud800" <= sign <= "\udfff" for sign in given)
