"""Single stances: pairs of claim and document labelled by people, judged by the embedded model with each judge.

    python benchmarks/stances.py ../shared/data/factcheck_stance_dev.jsonl --each 15 --out stances.jsonl

Draws as many pairs of each of three stances (complete and partial support are one). Every judged pair is in the output
file before the next begins; run it again to go on, or to print the table.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from regen import Claim, Document, settings
from regen.judges import make_judge
from regen.models import choose, make_lm
from regen.models.failures import expected

STANCES = {
    "completely-support": "supports",
    "partially-support": "supports",
    "refute": "contradicts",
    "irrelevant": "irrelevant",
}
LABELS = ("supports", "contradicts", "irrelevant")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--each", type=int, default=15, help="pairs of each stance")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    random.Random(options.seed).shuffle(rows)
    pairs = [row for label in LABELS for row in [r for r in rows if STANCES[r["stance"]] == label][: options.each]]
    random.Random(options.seed).shuffle(pairs)
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    todo = [(judge, row) for row in pairs for judge in ("lm", "contrast")][len(done) :]
    if todo:
        import dspy

        chosen = settings.load()
        dspy.configure(lm=make_lm(choose(chosen), chosen))
        judges = {name: make_judge(name) for name in ("lm", "contrast")}
    with options.out.open("a", encoding="utf-8") as out:
        for name, row in todo:
            claim, document = Claim(id="c", text=row["claim"]), Document(id="d", text=row["evidence"])
            try:
                found = judges[name].judge([claim], [document]).evidence[0].stance.value
            except expected() as error:  # a judge that fails is a row of the table
                found = f"failed: {type(error).__name__}"
            done.append({"judge": name, "gold": STANCES[row["stance"]], "found": found})
            out.write(json.dumps(done[-1]) + "\n")
            out.flush()
    report(done)


def report(rows: list[dict[str, Any]]) -> None:
    """Prints for each judge its confusion matrix, accuracy and macro-F1."""
    for judge in dict.fromkeys(row["judge"] for row in rows):
        of_judge = [row for row in rows if row["judge"] == judge]
        counts = Counter((row["gold"], row["found"]) for row in of_judge)
        print(
            f"{judge}: accuracy {sum(counts[label, label] for label in LABELS)}/{len(of_judge)}, macro-F1 "
            f"{sum(f1(counts, label) for label in LABELS) / len(LABELS):.2f}"
        )
        for gold in LABELS:
            print(f"  {gold:12} " + "  ".join(f"{found} {counts[gold, found]}" for found in LABELS))
        failed = sum(row["found"].startswith("failed") for row in of_judge)
        print(f"  failed: {failed}")


def f1(counts: Counter[tuple[str, str]], label: str) -> float:
    """F1 of one label; 0 where it is neither meant nor found."""
    right = counts[label, label]
    meant = sum(n for (gold, _), n in counts.items() if gold == label)
    found = sum(n for (_, guess), n in counts.items() if guess == label)
    return 2 * right / (meant + found) if meant + found else 0.0


if __name__ == "__main__":
    main()
