"""How often the window that is kept of a long page holds the answer, against the page's first 512 tokens.

    python benchmarks/windows.py data/conflict_nq_dev.jsonl

A page is made of a relevant passage, at a place drawn by the seed, among as many passages of other items as `--others`
says. The question is the item's own. Two things are counted: whether the answer stands in the window word for word,
over every real or counterfactual passage that holds its short answer so (no other passage of its page does); and
whether half of the relevant passage is in the window (or the window is in it by half), over the real passage of every
item.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
from collections import Counter
from math import sqrt
from pathlib import Path

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
    for others in options.others:
        chance = random.Random(f"{options.seed} {others}")
        answers, places = Counter[str](), Counter[str]()
        with_answer, all_pages, words = 0, 0, []
        for number, item in enumerate(items):
            foreign = [text for n, text in passages if n != number]
            for side in ("real", "fake"):
                answer = item[f"{side}_short_answer"]
                own = [passage["passage"].strip() for passage in item[f"{side}_passages"]]
                holding = [text for text in own if holds(text, answer)]
                if side == "real":
                    text, start = made_page(own[0], foreign, others, chance)
                    all_pages += 1
                    words.append(len(text.split()))
                    for name, window in chosen(text, item["question"]).items():
                        places[name] += covers(text, window, start, len(own[0]))
                if holding:
                    silent = [text for text in foreign if not holds(text, answer)]
                    text, _ = made_page(holding[0], silent, others, chance)
                    with_answer += 1
                    for name, window in chosen(text, item["question"]).items():
                        answers[name] += holds(window, answer)
        print(f"{others} other passages, {statistics.median(words):.0f} words a page (median):")
        for what, counts, of in (("answer", answers, with_answer), ("passage", places, all_pages)):
            for name in ("kept window", "first 512 tokens"):
                low, high = wilson(counts[name], of)
                print(f"  {what:7}  {name:16}  {counts[name]}/{of} = {counts[name] / of:.1%}  [{low:.1%}, {high:.1%}]")


def made_page(own: str, foreign: list[str], others: int, chance: random.Random) -> tuple[str, int]:
    """The text of a page, and where in it the relevant passage begins."""
    parts = [text.strip() for text in chance.sample(foreign, min(others, len(foreign)))]
    place = chance.randint(0, len(parts))
    before = "".join(f"{part}\n\n" for part in parts[:place])
    return before + "\n\n".join([own, *parts[place:]]), len(before)


def chosen(text: str, question: str) -> dict[str, str]:
    return {"kept window": best_window(text, question), "first 512 tokens": windows(text)[0]}


def covers(text: str, window: str, start: int, length: int) -> bool:
    """Whether text[start : start + length] and the window share at least half of the shorter one."""
    begin = text.index(window)
    shared = min(begin + len(window), start + length) - max(begin, start)
    return shared * 2 >= min(len(window), length)


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
