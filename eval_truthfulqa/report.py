"""The report of a run: `report.md`, `report.html` in one file that loads nothing, and `results.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval_truthfulqa import plots
from eval_truthfulqa.metrics import Paired, Share
from eval_truthfulqa.results import Results
from eval_truthfulqa.views import KINDS, View, compared, titles, views
from regen.reporting import percent, plain, put, templates
from regen.runs import Run

if TYPE_CHECKING:
    from markupsafe import Markup

# Mended and spoiled items that `report.md` names, of each kind.
EXAMPLES = 30
_TEMPLATES = Path(__file__).parent / "templates"


def write(run: Run, results: Results) -> Path:
    """Writes the three files into the run's folder, and gives the HTML report's path."""
    put(run.folder / "results.json", results.model_dump_json(indent=2) + "\n")
    shown = views(run, results.rows, [accuracy.setting for accuracy in results.settings])
    put(run.folder / "report.md", rendered("report.md.j2", results, shown))
    html = run.folder / "report.html"
    put(html, rendered("report.html.j2", results, shown))
    return html


def rendered(template: str, results: Results, shown: Sequence[View]) -> str:
    """One of the templates, filled in. Nothing that comes from a document or a model is taken for markup."""
    environment = templates(_TEMPLATES, html=template.endswith(".html.j2"))
    environment.filters |= {"interval": interval, "share": ratio, "p": p_value, "points": points}
    settings = [accuracy.setting for accuracy in results.settings]
    return environment.get_template(template).render(
        results=results,
        plots=_plots(results) if environment.autoescape else {},
        kinds={kind: [one for one in shown if one.kind == kind] for kind in KINDS},
        most=EXAMPLES,
        settings=settings,
        compared=compared(settings),
        named=titles(settings),
        config={name: plain(value) for name, value in results.config.items()},
    )


def _plots(results: Results) -> dict[str, Markup]:
    from markupsafe import Markup

    drawn = {
        "accuracy": plots.shares(
            "accuracy", "Accuracy by setting", [(one.setting, one.answered) for one in results.settings]
        ),
        "rates": plots.rates("rates", "Improve rate and harm rate by category", results.categories),
        "cs_r": plots.cs_r("cs-r", "CS-R of the first answers and of those kept", results.rows),
        "calibration": plots.shares(
            "calibration",
            "Accuracy of rag by the CS-R of its answer",
            [(f"CS-R {plots.span(one.low, one.high)}", one.right) for one in results.calibration],
        ),
    }
    return {name: Markup(plot) for name, plot in drawn.items()}


def points(value: float | None) -> str:
    """A difference of two parts of 1, in percentage points with its sign."""
    return "\u2013" if value is None else f"{100 * value:+.1f} points"


def p_value(pair: Paired) -> str:
    """A pair's p-value; a dash where no item changed, of which no test can say anything."""
    if not pair.mended + pair.spoiled:
        return "\u2013"
    return "< 0.0001" if pair.p_value < 0.0001 else f"{pair.p_value:.4f}"


def interval(part: Any) -> str:
    """The interval of a figure with `low` and `high`: in percent, or in points where it is a difference."""
    if part.low is None:
        return ""
    if hasattr(part, "difference"):
        return f"{100 * part.low:+.1f} to {100 * part.high:+.1f}"
    return f"{100 * part.low:.1f} to {100 * part.high:.1f}%"


def ratio(part: Share) -> str:
    """Counts and percent; a dash over no items."""
    return "\u2013" if part.of == 0 else f"{part.count}/{part.of} = {percent(part.share)}"
