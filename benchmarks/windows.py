"""How often the window that is kept of a long page holds the answer, against the page's first 512 tokens.

    python benchmarks/windows.py ../shared/data/conflict_nq_dev.jsonl

A page is made of each item: its passage that holds the short answer, at a place drawn by the seed among as many
passages of other items as `--others` says, none of which holds that answer. The question is the item's own.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
from math import sqrt
from pathlib import Path
from typing import Any

from search.windows import best_window, windows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--others", type=int, nargs="+", default=[10, 30, 100], help="passages of other items in a page"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    items = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    passages = [(n, passage["passage"]) for n, item in enumerate(items) for passage in item["real_passages"]]
    chance = random.Random(options.seed)
    for others in options.others:
        pages = [
            page for n, item in enumerate(items) if (page := made_page(n, item, passages, others, chance)) is not None
        ]
        words = statistics.median(len(text.split()) for text, _, _ in pages)
        kept = sum(holds(best_window(text, question), answer) for text, question, answer in pages)
        first = sum(holds(windows(text)[0], answer) for text, _, answer in pages)
        print(f"{others} other passages, {len(pages)} pages, {words:.0f} words each (median):")
        for name, right in (("kept window", kept), ("first 512 tokens", first)):
            low, high = wilson(right, len(pages))
            print(f"  {name:17} {right}/{len(pages)} = {right / len(pages):.1%}  [{low:.1%}, {high:.1%}]")


def made_page(
    number: int, item: dict[str, Any], passages: list[tuple[int, str]], others: int, chance: random.Random
) -> tuple[str, str, str] | None:
    """Text, question and answer; None where no passage of the item holds its short answer."""
    answer = item["real_short_answer"]
    own = next((p["passage"] for p in item["real_passages"] if holds(p["passage"], answer)), None)
    if own is None or not plain(answer):
        return None
    foreign = [text for n, text in passages if n != number and not holds(text, answer)]
    chosen = chance.sample(foreign, min(others, len(foreign)))
    chosen.insert(chance.randint(0, len(chosen)), own)
    return "\n\n".join(chosen), item["question"], answer


def holds(text: str, answer: str) -> bool:
    """Whether the answer stands in the text, without regard to case and punctuation."""
    return f" {plain(answer)} " in f" {plain(text)} "


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def wilson(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share (Wilson 1927)."""
    share, spread = right / of, z * z / of
    middle = share + spread / 2
    reach = z * sqrt(share * (1 - share) / of + spread / (4 * of))
    return (middle - reach) / (1 + spread), (middle + reach) / (1 + spread)


if __name__ == "__main__":
    main()
