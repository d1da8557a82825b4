"""`regen runs`: the runs of evaluations that are in a folder, one of them, and two compared item by item."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from regen.cli import options
from regen.cli.terminal import console, hang
from regen.errors import InputError
from regen.fence import one_line, printable

if TYPE_CHECKING:
    from regen.runs import Run

app = typer.Typer(help="Look at runs of evaluations, and compare them.", no_args_is_help=True)

RUNS = Path("runs")
_FAILURES = 10

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")]


@app.command("list")
def list_runs(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="A folder with runs in it.")] = RUNS,
    json: options.Json = False,
    no_color: options.NoColor = False,
) -> None:
    """List the runs in a folder, the newest last; one that cannot be read is listed with the cause."""
    from regen.runs import Run, runs_in

    found = []
    for path in runs_in(folder):
        try:
            found.append(_summary(Run.read(path)))
        except InputError as error:
            found.append({"folder": str(path), "unreadable": str(error)})
    if json:
        _print(found)
        return
    out = console()
    if not found:
        out.print(f"There is no run in {printable(str(folder))}.")
    for run in found:
        if "unreadable" in run:
            hang(out, Text.assemble((printable(run["folder"]), "bold"), "  "), Text(printable(run["unreadable"])))
            continue
        state = "complete" if run["ended"] == "The run is complete." else "not complete"
        counts = f"{run['items_begun']} of {run['items']} items begun"
        failed = f", {run['items_failed']} failed" if run["items_failed"] else ""
        line = Text.assemble((printable(run["folder"]), "bold"), f"  {run['name']}, {run['began'][:16]}, ")
        by = ", ".join(str(name) for key in ("judge", "model") if (name := run["config"].get(key)))
        hang(out, line, Text(f"{counts}{failed}, {state}{', ' if by else ''}{printable(by)}"))


@app.command("show")
def show_run(folder: Folder, json: options.Json = False, no_color: options.NoColor = False) -> None:
    """Show a run: what it was begun with, how it ended, what failed, and what it cost."""
    from regen.cli.progress import spent_words
    from regen.runs import Run

    run = Run.read(folder)
    summary, failures = _summary(run), run.failures()
    sessions = [session.model_dump(mode="json") for session in run.sessions()]
    failed = [
        {"id": item, "stage": stage, "message": failure.message}
        for item, stages in failures.items()
        for stage, failure in stages.items()
    ]
    if json:
        _print({**summary, "sessions": sessions, "failures": failed, "usage": run.usage().model_dump()})
        return
    out = console()
    out.print(Text(f"{run.name}, begun {run.began:%Y-%m-%d %H:%M}", style="bold"))
    total, begun, broken = run.counts()
    out.print(f"  {begun} of {total} items begun, {broken} with a failure; {spent_words(run.usage())}")
    for session in sessions:
        version = f"regen {session['regen']}" + (f" ({session['git']})" if session["git"] else "")
        hang(
            out, f"  {session['began'][:16]}  {version}  ", Text(printable(session["how"] or "killed, or still on it"))
        )
    out.print(Text("Settings", style="bold"))
    for name, value in run.config.items():
        hang(out, f"  {name}: ", Text(printable(value if isinstance(value, str) else _json(value))))
    if failed:
        out.print(Text("Failures", style="bold"))
    for one in failed[:_FAILURES]:
        hang(out, f"  {printable(one['id'])}, {one['stage']}: ", Text(printable(one["message"])))
    if len(failed) > _FAILURES:
        out.print(f"  and {len(failed) - _FAILURES} more")
    for name in ("report.html", "report.md"):
        if (folder / name).is_file():
            out.print(f"Report: {printable(str(folder / name))}", soft_wrap=True)
            break


@app.command("diff")
def diff_runs(
    a: Annotated[Path, typer.Argument(metavar="A", help="The folder of a run.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The folder of another.")],
    json: options.Json = False,
    no_color: options.NoColor = False,
) -> None:
    """Compare two runs item by item: what was begun differently, and which answers changed, for better or worse."""
    from regen.runs import Run, compared, differences

    one, other = Run.read(a), Run.read(b)
    if one.name != other.name:
        raise InputError(f"{a} is a run of {one.name}, and {b} one of {other.name}: name two of one evaluation.")
    changed = differences(one.config, other.config, most=None)
    stages = compared(one, other)
    if json:
        _print({"settings": changed, "stages": [stage.model_dump() for stage in stages]})
        return
    out = console()
    for clause in changed:
        hang(out, "  ", Text(printable(clause)))
    if not stages:
        out.print("The two runs have no answer to the same item.")
    for stage in stages:
        out.print(
            Text.assemble(
                (stage.stage, "bold"),
                f": right in {stage.right_before} of {stage.n} in A and in {stage.right_after} of {stage.n} in B; "
                f"{sum(item.mended for item in stage.changed)} mended, "
                f"{sum(item.spoiled for item in stage.changed)} spoiled",
            )
        )
        for item in stage.changed:
            mark = "+" if item.mended else "-" if item.spoiled else " "
            said = f"{one_line(item.question, 70)}  {one_line(item.before, 40)} \u2192 {one_line(item.after, 40)}"
            hang(out, f"  {mark} {printable(item.id)}  ", Text(said))


def _summary(run: Run) -> dict[str, Any]:
    total, begun, failed = run.counts()
    sessions = run.sessions()
    return {
        "folder": str(run.folder),
        "name": run.name,
        "began": run.began.isoformat(),
        "items": total,
        "items_begun": begun,
        "items_failed": failed,
        "ended": sessions[-1].how if sessions else None,
        "config": run.config,
    }


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _print(value: Any) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, indent=2))
