"""The report of a run: `report.md`, with the items to read on which judge and people differ, and `results.json`."""

from __future__ import annotations

from pathlib import Path

from eval_conflictbench.metrics import UNJUDGED, Interval
from eval_conflictbench.results import JudgeResults
from regen.fence import one_line
from regen.reporting import percent, plain, put, templates
from regen.runs import Run

# Items that `report.md` names; `results.json` has them all.
MOST = 100
_TEMPLATES = Path(__file__).parent / "templates"


def write(run: Run, results: JudgeResults) -> Path:
    """Writes the two files into the run's folder, and gives the path of the one to read."""
    put(run.folder / "results.json", results.model_dump_json(indent=2) + "\n")
    environment = templates(_TEMPLATES, html=False)
    environment.filters |= {"figure": figure, "short": lambda text: one_line(text, 120)}
    text = environment.get_template("report.md.j2").render(
        results=results,
        labels=[*results.confusion, UNJUDGED],
        most=MOST,
        config={name: plain(value) for name, value in results.config.items()},
    )
    put(run.folder / "report.md", text)
    return run.folder / "report.md"


def figure(part: Interval) -> str:
    """A figure in percent, with its interval."""
    if part.value is None or part.low is None or part.high is None:
        return percent(part.value)
    return f"{percent(part.value)} ({100 * part.low:.1f} to {100 * part.high:.1f})"
