"""The report of a run: `report.md`, with the scores of every item, and `results.json`, with its texts as well."""

from __future__ import annotations

from pathlib import Path

from eval_reports.metrics import Mean
from eval_reports.results import ReportResults
from regen.fence import one_line
from regen.reporting import number, plain, put, templates
from regen.runs import Run

# Items that `report.md` names; `results.json` has them all.
MOST = 100
_TEMPLATES = Path(__file__).parent / "templates"


def write(run: Run, results: ReportResults) -> Path:
    """Writes the two files into the run's folder, and gives the path of the one to read."""
    put(run.folder / "results.json", results.model_dump_json(indent=2) + "\n")
    environment = templates(_TEMPLATES, html=False)
    environment.filters |= {"score": score, "signed": signed, "short": lambda text: one_line(text, 80)}
    text = environment.get_template("report.md.j2").render(
        results=results, most=MOST, config={name: plain(value) for name, value in results.config.items()}
    )
    put(run.folder / "report.md", text)
    return run.folder / "report.md"


def score(part: Mean) -> str:
    """A mean score, with its interval."""
    return _with_interval(part, ".3f")


def signed(part: Mean, digits: int = 3) -> str:
    """A mean difference, with its interval."""
    return _with_interval(part, f"+.{digits}f")


def _with_interval(part: Mean, form: str) -> str:
    if part.mean is None or part.low is None or part.high is None:
        return number(part.mean)
    return f"{part.mean:{form}} ({part.low:{form}} to {part.high:{form}})"
