"""The curve of a cascade: how much is sent on to the dear judge as the cheap one must be surer, and what F1 that gives.

    python benchmarks/judges.py held_out --judges builtin lm --each 20 --sets RAMDocs
    python benchmarks/cascade.py runs/judges/builtin-RAMDocs-20 runs/judges/lm-RAMDocs-20

No model is asked: both runs have judged the same items, and what the cascade would say is put together from what they
said. So the dear judge must be one that reads each document by itself, such as `lm`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from eval_conflictbench.metrics import Scores, scores
from eval_conflictbench.runner import CONFLICT, JUDGING, documents_of, found, labels_of, meant
from regen.conflict import aggregate
from regen.errors import InputError
from regen.judges.cascade import SURE, doubts
from regen.runs import Run
from regen.types import ConflictReport, Judgement, Stance

STEPS = [step / 20 for step in range(10, 20)]
# What else than the judge both runs must have in common.
ALIKE = ("data_sha256", "part", "seed", "claims", "support", "check_quotes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cheap", type=Path)
    parser.add_argument("dear", type=Path)
    options = parser.parse_args()
    try:
        with closing(Run.read(options.cheap)) as cheap, closing(Run.read(options.dear)) as dear:
            config, items, first, second = dear.config, dear.items(), reports(cheap), reports(dear)
            unlike = [name for name in ALIKE if cheap.config.get(name) != config.get(name)]
    except InputError as error:
        parser.error(str(error))
    if unlike:
        parser.error(f"the runs are not of the same items, judged in the same way: they differ in {', '.join(unlike)}")
    both = [name for name in items if name in first and name in second and first[name].claims == second[name].claims]
    if len(both) < len(items):
        print(f"{len(items) - len(both)} of {len(items)} items are left out: not both runs judged the same of them.")
    if not both:
        parser.error("no item is judged in both runs")
    print(f"{'sure from':>12}{'sent on':>9}{'F1':>7}{'95%':>14}   right by label, over {len(both)} items")
    bounds = [("first alone", None), *((f"{step:.2f}", dict.fromkeys(Stance, step)) for step in STEPS)]
    bounds += [("second alone", dict.fromkeys(Stance, 2.0)), ("default", SURE)]
    for name, sure in bounds:
        outcomes, sent, pairs = [], 0, 0
        for item in both:
            on = doubts(first[item].evidence, sure) if sure else set()
            evidence = [one for one in first[item].evidence if one.document_id not in on]
            evidence += [one for one in second[item].evidence if one.document_id in on]
            documents = documents_of(items[item])
            sent, pairs = sent + len(on), pairs + len(documents)
            # Quotes were checked when these were judged.
            report = aggregate(second[item].claims, documents, Judgement(evidence=evidence), check_quotes=False)
            outcomes.append((meant(items[item]), found(items[item], report)))
        show(name, sent / pairs, scores(outcomes, labels_of(items[both[0]])))


def reports(run: Run) -> Mapping[str, ConflictReport]:
    """What a judge said of each item, by id; without items of which it could not judge some document."""
    done: dict[str, Any] = {
        name: stages[JUDGING].data["report"] for name, stages in run.finished().items() if JUDGING in stages
    }
    read = {name: ConflictReport.model_validate(report) for name, report in done.items()}
    return {name: report for name, report in read.items() if not report.unjudged}


def show(name: str, sent: float, found: Scores) -> None:
    """One row."""
    conflict = next((label.f1 for label in found.classes if label.label == CONFLICT), found.macro_f1)
    interval = f"[{conflict.low:.2f}, {conflict.high:.2f}]" if conflict.low is not None else "-"
    by_label = ", ".join(f"{label.label} {label.recall or 0:.0%}" for label in found.classes)
    print(f"{name:>12}{sent:>9.0%}{conflict.value or 0:>7.2f}{interval:>14}   {by_label}")


if __name__ == "__main__":
    main()
