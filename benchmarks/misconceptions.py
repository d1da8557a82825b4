"""Twenty TruthfulQA questions over a folder of pages that hold the truth or repeat the misconception: who was read how.

    regen eval truthfulqa --questions benchmarks/misconceptions.jsonl --docs examples/misconceptions -k 5 --run DIR
    python benchmarks/misconceptions.py DIR

`misconceptions.jsonl` says of each page which side it takes. Prints how many of them were found, and on which side the
judge put each kind of page: `debunking` ones quote the misconception in order to reject it, and `others` are about
another question, so that they take no side.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from eval_truthfulqa.runner import RETRIEVAL
from regen.runs import Run
from regen.types import Result, Stance

LABELS = Path(__file__).parent / "misconceptions.jsonl"
KINDS = ("truth", "debunking", "misconception", "others")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    options = parser.parse_args()
    labels = {row["question"]: row for row in map(json.loads, LABELS.read_text(encoding="utf-8").splitlines())}
    run = Run.read(options.run)
    items, finished = run.items(), run.finished()
    sides: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    found, pages = 0, 0
    for name, stages in finished.items():
        if "regenerated" not in stages:
            continue
        label = labels[items[name]["question"]]
        named = {*label["truth"], *label["misconception"]}
        there = {document["id"].partition("#")[0] for document in stages[RETRIEVAL].data["documents"]}
        found, pages = found + len(named & there), pages + len(named)
        kept = stages["regenerated"].data
        right = kept["first"] == items[name]["answer"]
        for evidence in Result.model_validate({"documents": [], **kept["result"]}).initial_report.evidence:
            side = {Stance.SUPPORTS: right, Stance.CONTRADICTS: not right}.get(evidence.stance)
            page = evidence.document_id.partition("#")[0]
            sides[_kind(page, label)][{True: "right", False: "wrong", None: "none"}[side]] += 1
    print(f"pages found: {found} of {pages}")
    print(f"{'pages':15}{'for the right':>15}{'for the wrong':>15}{'no side':>10}{'judged as labelled':>20}")
    for kind, count in sides.items():
        wanted = {"misconception": "wrong", "others": "none"}.get(kind, "right")
        total = sum(count.values())
        good = f"{count[wanted]}/{total}"
        print(f"{kind:15}{count['right']:>15}{count['wrong']:>15}{count['none']:>10}{good:>20}")


def _kind(page: str, label: dict[str, list[str]]) -> str:
    if page in label["debunking"]:
        return "debunking"
    return next((kind for kind in ("truth", "misconception") if page in label[kind]), "others")


if __name__ == "__main__":
    main()
