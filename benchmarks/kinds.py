"""How well rules alone tell the kind of conflict, on the development part of CONFLICTS (Cattan et al. 2025).

    python benchmarks/kinds.py data/conflicts_dev.jsonl

The items are split in two halves, every other one of each kind. On one half the share of common words from which
documents count as agreed is chosen by macro-F1; the other half is reported, then the same the other way round. Prints
for each half and for both together accuracy, macro-F1 and F1 of each kind, the majority class and always "no conflict"
beside them, and a confusion matrix (rows: labelled; columns: by the rules). No report of conflicts is given to the
rules: that would take a model.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from eval_conflicts.data import Item, load
from regen import kinds
from regen.types import Kind

CANDIDATES = (0.3, 0.4, 0.5, 0.6, 0.7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    items = load(options.data)
    halves: tuple[list[Item], list[Item]] = ([], [])
    for kind in Kind:
        for place, item in enumerate(item for item in items if item.kind is kind):
            halves[place % 2].append(item)
    told: list[Kind] = []
    predicted: list[Kind] = []
    majority: list[Kind] = []
    for number, (chosen_on, reported) in enumerate(((halves[0], halves[1]), (halves[1], halves[0])), 1):
        best = max(CANDIDATES, key=lambda share: macro_f1(labels(chosen_on), by_rules(chosen_on, share)))
        truth, found = labels(reported), by_rules(reported, best)
        most = Counter(labels(chosen_on)).most_common(1)[0][0]
        show(f"half {number}, {len(reported)} items, agreed from {best}", truth, found)
        told, predicted, majority = told + truth, predicted + found, majority + [most] * len(reported)
    show(f"both halves, {len(told)} items", told, predicted)
    show(f"as it ships, agreed from {kinds.AGREED}", labels(items), by_rules(items, kinds.AGREED))
    show("the majority class of the other half", told, majority)
    show("always no-conflict", told, [Kind.NO_CONFLICT] * len(told))
    print("\n" + " " * 16 + "".join(f"{kind:>16}" for kind in Kind))
    pairs = Counter(zip(told, predicted, strict=True))
    for truth_kind in Kind:
        print(f"{truth_kind:16}" + "".join(f"{pairs[truth_kind, kind]:>16}" for kind in Kind))


def labels(items: Sequence[Item]) -> list[Kind]:
    """What people labelled."""
    return [item.kind for item in items]


def by_rules(items: Sequence[Item], agreed: float) -> list[Kind]:
    """What the rules say, with another share from which documents count as agreed."""
    kept, kinds.AGREED = kinds.AGREED, agreed
    try:
        return [kinds.guess(item.question, item.documents).kind for item in items]
    finally:
        kinds.AGREED = kept


def f1(truth: Sequence[Kind], found: Sequence[Kind], kind: Kind) -> float:
    """Of one kind; 0 where it is neither labelled nor found."""
    right = sum(one == other == kind for one, other in zip(truth, found, strict=True))
    total = truth.count(kind) + found.count(kind)
    return 2 * right / total if total else 0.0


def macro_f1(truth: Sequence[Kind], found: Sequence[Kind]) -> float:
    """The mean F1 of the five kinds, each as heavy as the others."""
    return sum(f1(truth, found, kind) for kind in Kind) / len(Kind)


def show(what: str, truth: Sequence[Kind], found: Sequence[Kind]) -> None:
    """One line of figures."""
    right = sum(one == other for one, other in zip(truth, found, strict=True))
    of_each = "  ".join(f"{kind} {f1(truth, found, kind):.2f}" for kind in Kind)
    print(f"{what:45} accuracy {right / len(truth):.2f}  macro-F1 {macro_f1(truth, found):.2f}  ({of_each})")


if __name__ == "__main__":
    main()
