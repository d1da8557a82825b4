"""Small sets of stances to compile a judge on: as many pairs of each label, and no claim in two of the sets.

    python benchmarks/stance_sets.py data/factcheck_stance_dev.jsonl sets

writes `train.jsonl`, `val.jsonl` and `test.jsonl`, lines of Factcheck-GPT as they were. Of its pairs 61% are irrelevant
and 5% refuted, so that a judge that never says "contradicts" would be right on most of them.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Supports, contradicts, irrelevant.
LABELS = {"completely-support": "s", "partially-support": "s", "refute": "c", "irrelevant": "i"}
# The share of the claims, and pairs of each label: those that are drawn, and how many of them are written.
SETS = {"train": (3 / 9, 14, 8), "val": (2 / 9, 8, 4), "test": (4 / 9, 20, 10)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="Factcheck-GPT, as JSON Lines")
    parser.add_argument("out", type=Path, help="folder for the three sets")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    claims = sorted({row["claim"] for row in rows})
    random.Random(7).shuffle(claims)
    options.out.mkdir(parents=True, exist_ok=True)
    share_before = 0.0
    for name, (share, most, each) in SETS.items():
        first, last = (int(len(claims) * edge + 1e-9) for edge in (share_before, share_before + share))
        share_before += share
        own = set(claims[first:last])
        found = drawn([row for row in rows if row["claim"] in own], name, most, each)
        lines = [json.dumps(row) + "\n" for row in found]
        (options.out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        print(f"{name}: {len(found)} pairs of {len(own)} claims")


def drawn(rows: Sequence[Mapping[str, Any]], name: str, most: int, each: int) -> list[Mapping[str, Any]]:
    """`each` pairs of each label, the claims that have few of them before in turn."""
    found: list[Mapping[str, Any]] = []
    for label in "sci":
        those = [row for row in rows if LABELS[row["stance"]] == label]
        random.Random(name + label).shuffle(those)
        pairs_of: Counter[str] = Counter()
        picked: list[Mapping[str, Any]] = []
        for limit in (1, 2, most):
            for row in those:
                if len(picked) < most and row not in picked and pairs_of[row["claim"]] < limit:
                    picked.append(row)
                    pairs_of[row["claim"]] += 1
        found += picked
    random.Random(1).shuffle(found)
    kept: Counter[str] = Counter()
    small = []
    for row in found:
        kept[LABELS[row["stance"]]] += 1
        if kept[LABELS[row["stance"]]] <= each:
            small.append(row)
    return small


if __name__ == "__main__":
    main()
