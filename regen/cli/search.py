"""`regen search`: what a search provider returns for a query."""

from __future__ import annotations

from typing import Annotated

import typer

from regen.cli import options
from regen.cli.terminal import Steps, console
from regen.errors import InputError


def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    provider: Annotated[
        str | None, typer.Option("--provider", "--search", "-p", "-s", help="Which to ask, or several with commas.")
    ] = None,
    docs: options.Docs = None,
    k: options.K = None,
    site: options.Site = None,
    exclude_site: options.ExcludeSite = None,
    since: options.Since = None,
    record: options.Record = None,
    recorded: options.Recorded = None,
    refresh: options.Refresh = False,
    snippets: options.Snippets = False,
    allow_private: options.AllowPrivate = False,
    json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    no_color: options.NoColor = False,
) -> None:
    """Show what a search returns, as `ask` would read it: documents, dates, sources and warnings."""
    from regen.cli import searching
    from regen.settings import load

    if not options.is_text(query):
        raise InputError("The query is empty, or not text: say what to search for.")
    given = options.search_flags(
        docs,
        provider,
        sites=site,
        exclude_sites=exclude_site,
        since=since,
        recorded=recorded,
        snippets=snippets,
        allow_private=allow_private,
    )
    settings = load({**given, "k": k})
    steps = Steps(quiet=quiet)
    found = searching.prepared(settings, steps, record=record, refresh=refresh)
    with steps.live():
        steps("searching")
        results = found.top(query.strip(), settings.k)
    if json:
        from regen.output import SearchOutput

        output = SearchOutput(query=query, search=found.name, documents=results.documents, warnings=results.warnings)
        print(output.model_dump_json(indent=2))
    else:
        from regen.cli import render

        render.search_results(results.documents, results.warnings, console())
