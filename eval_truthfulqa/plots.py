"""The plots of a report: SVG by Matplotlib that stands in the page, with text as text and the page's own colours."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from eval_truthfulqa.metrics import BINS, Group, Row, Share
from regen.fence import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The style sheet's variables, by the colours that stand for them while Matplotlib draws.
_VARIABLES = {
    "#1c1f24": "text",
    "#5b6470": "soft",
    "#d9dde3": "line",
    "#2f6fb2": "bar",
    "#1d7a46": "good",
    "#b3352b": "bad",
}
_COLOURS = {variable: colour for colour, variable in _VARIABLES.items()}
_STYLE = {
    "svg.fonttype": "none",
    # A dollar sign in a category is one.
    "text.parse_math": False,
    "font.size": 13,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": _COLOURS["line"],
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.labelcolor": _COLOURS["soft"],
    "axes.labelsize": 12,
    "grid.color": _COLOURS["line"],
    "grid.linewidth": 1,
    "xtick.color": _COLOURS["soft"],
    "xtick.labelsize": 12,
    "xtick.major.size": 0,
    "ytick.color": _COLOURS["line"],
    "ytick.labelcolor": _COLOURS["text"],
    "ytick.major.size": 0,
    "text.color": _COLOURS["text"],
    "legend.frameon": False,
    "legend.fontsize": 12,
}
# In pixels. Narrow, so that the text can still be read on a telephone.
_WIDTH = 440
_ROW = 27
_LABEL = 28
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


def shares(name: str, title: str, rows: Sequence[tuple[str, Share]]) -> str:
    """How often something is right: a row each, with its interval as a line. Rows over no items are left out.

    Args:
        name: Of the plot, unique in its page.
        title: What it shows, for those who can't see it.
        rows: Each with its label.

    Returns:
        An SVG element, or "" where no row is left.
    """
    shown = [
        (label, part.share, part.low or 0.0, part.high or 0.0, f"{100 * part.share:.1f}% of {part.of}")
        for label, part in rows
        if part.share is not None
    ]
    if not shown:
        return ""
    labels, values, lows, highs, words = zip(*shown, strict=True)
    places = range(len(shown))

    def draw(figure: Figure) -> None:
        axes = _rows(figure, [_short(label) for label in labels])
        axes.hlines(places, lows, highs, colors=_COLOURS["bar"], linewidth=2.5)
        axes.plot(values, places, "o", color=_COLOURS["bar"], markersize=8, clip_on=False)
        right = axes.secondary_yaxis("right")
        right.spines["right"].set_visible(False)
        right.set_yticks(places, labels=words)

    said = (
        f"{label}: {word}, 95% interval {100 * low:.1f} to {100 * high:.1f}%" for label, _, low, high, word in shown
    )
    return _svg(name, title, said, len(shown) * _ROW + 34, draw)


def rates(name: str, title: str, groups: Sequence[Group]) -> str:
    """Improve and harm rate of each group in which a conflict was detected; the larger a point, the more items.

    A row a group, not a point with the two rates for axes: TruthfulQA has 37 categories, many of them with one rate
    only, or with 0 and 0.
    """
    shown = sorted(
        (group for group in groups if group.regeneration.conflict.count),
        key=lambda group: (-group.regeneration.conflict.count, group.name),
    )
    if not shown:
        return ""
    kinds = (
        ("improve rate", [group.regeneration.improve for group in shown], "o", "good", -0.17),
        ("harm rate", [group.regeneration.harm for group in shown], "D", "bad", 0.17),
    )
    most = max(part.of for _, parts, *_ in kinds for part in parts)

    def draw(figure: Figure) -> None:
        from matplotlib.lines import Line2D

        axes = _rows(figure, [f"{_short(group.name)} ({group.regeneration.conflict.count})" for group in shown])
        # With 37 rows, the ones below are far away.
        axes.tick_params(labeltop=True)
        keys = []
        for label, parts, marker, colour, lower in kinds:
            points = [(part.share, place + lower, part.of) for place, part in enumerate(parts) if part.of]
            x, y, of = zip(*points, strict=True) if points else ((), (), ())
            areas = [25 + 75 * count / most for count in of]
            axes.scatter(x, y, s=areas, marker=marker, color=_COLOURS[colour], clip_on=False, zorder=3)
            keys.append(Line2D([], [], linestyle="", marker=marker, markersize=7, color=_COLOURS[colour], label=label))
        figure.legend(handles=keys, loc="outside upper left", ncols=2, handletextpad=0.2, borderpad=0)

    said = (
        f"{group.name}: {group.regeneration.conflict.count} in conflict, "
        + ", ".join(f"{label} {parts[place].count} of {parts[place].of}" for label, parts, *_ in kinds)
        for place, group in enumerate(shown)
    )
    return _svg(name, title, said, len(shown) * _ROW + 72, draw)


def cs_r(name: str, title: str, rows: Sequence[Row]) -> str:
    """How many first answers, and how many of those kept, have a CS-R in each of the bins of `metrics.calibration`."""
    scored = [(row.cs_r, row.cs_r_kept) for row in rows if row.cs_r is not None and row.cs_r_kept is not None]
    if not scored:
        return ""
    bins = list(zip((-1.0, *BINS[:-1]), BINS, strict=True))
    labels = [span(low, high) for low, high in bins]
    sides = [
        (label, [sum(low < value <= high for value in values) for low, high in bins], colour, lower)
        for label, values, colour, lower in zip(
            ("first answer", "answer kept"), zip(*scored, strict=True), ("soft", "bar"), (-0.2, 0.2), strict=True
        )
    ]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for label, counts, colour, lower in sides:
            places = [place + lower for place in range(len(bins))]
            bars = axes.bar(places, counts, 0.36, color=_COLOURS[colour], label=label)
            axes.bar_label(bars, fontsize=12, padding=2)
        axes.set_xticks(range(len(bins)), labels=labels)
        axes.set_yticks([])
        axes.set_xlabel("CS-R")
        figure.legend(loc="outside upper left", ncols=2, handlelength=1, handleheight=1, borderpad=0)

    said = (
        f"CS-R {labels[place]}: " + ", ".join(f"{counts[place]} by the {label}" for label, counts, *_ in sides)
        for place in range(len(bins))
    )
    return _svg(name, title, said, 230, draw)


def span(low: float, high: float) -> str:
    """A bin of CS-R in words."""
    return f"{low:g} to {high:g}" if high else "0"


def _rows(figure: Figure, labels: Sequence[str]) -> Axes:
    """Axes of percents with a row for each label, the first one on top."""
    axes = figure.add_subplot()
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100%"])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels=labels)
    axes.grid(axis="both")
    return axes


def _short(label: str) -> str:
    return _plain(one_line(label, _LABEL))


def _plain(text: str) -> str:
    """A text with a question mark for each character that can't be shown, or that XML can't hold."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _svg(name: str, title: str, said: Iterable[str], height: float, draw: Callable[[Figure], None]) -> str:
    """What `draw` draws, as an element that needs nothing from elsewhere and is the same each time.

    `title` and what is `said` of it stand in for the picture where it can't be seen.
    """
    with _drawing(name):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(_WIDTH / 72, height / 72), layout="constrained")
        draw(figure)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    root = ElementTree.fromstring(file.getvalue())
    for parent in list(root.iter()):
        for style in parent.findall(f"{_SVG}style"):
            # It speaks of every element of the page; the page's own says the same of the plots.
            parent.remove(style)
        _as_in_a_page(parent)
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "class": name}
    root.attrib |= {"aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-text"}
    for place, (tag, text) in enumerate((("title", title), ("desc", "; ".join(said) + "."))):
        element = ElementTree.Element(tag, {"id": f"{name}-{'title' if tag == 'title' else 'text'}"})
        element.text = _plain(text)
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _as_in_a_page(element: ElementTree.Element) -> None:
    """Takes an element out of its namespace, its colours from the style sheet, and ids from what is not referred to."""
    element.tag = element.tag.removeprefix(_SVG)
    if element.tag == "g":
        # They are the same in every plot.
        element.attrib.pop("id", None)
    if target := element.attrib.pop(_LINK, None):
        element.set("href", target)
    if style := element.get("style"):
        kept = [part for part in style.split("; ") if not part.startswith("font-family")]
        element.set("style", "; ".join(map(_coloured, kept)))


def _coloured(declaration: str) -> str:
    colour = declaration.rpartition(": ")[2]
    return declaration.replace(colour, f"var(--{_VARIABLES[colour]})") if colour in _VARIABLES else declaration


@contextmanager
def _drawing(name: str) -> Iterator[None]:
    """Matplotlib with this module's style alone, whatever its own configuration says, and without a word."""
    # It says when it looks for fonts, which takes a moment the first time.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    import matplotlib

    # Ids are made from this salt: with one of its own, no plot refers to a part of another.
    settings: Any = {**_STYLE, "svg.hashsalt": name}
    with matplotlib.rc_context(), warnings.catch_warnings():
        # Its font lacks some scripts; the page's will have them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield
