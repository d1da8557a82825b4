"""Binary choice with documents given: accuracy of `rag` and of `regenerated`, improve rate and harm rate.

    python benchmarks/choices.py ramdocs data/ramdocs_dev.jsonl --limit 60 --out ramdocs.jsonl
    python benchmarks/choices.py conflict_nq data/conflict_nq_dev.jsonl --limit 60 --out conflict_nq.jsonl

Every finished item is in the output file before the next begins; run it again to go on, or to print the table.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regen import Document, Regen, result_of, settings
from regen.models import choose, make_lm


def ramdocs(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Items of RAMDocs with both kinds of answer: question, right answer, wrong answer, documents."""
    for row in rows:
        if row["gold_answers"] and row["wrong_answers"]:
            yield (
                row["question"],
                row["gold_answers"][0],
                row["wrong_answers"][0],
                [d["text"] for d in row["documents"]],
            )


def conflict_nq(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Items of ConflictNQ, one real passage against one counterfactual, in an order drawn by the item's id."""
    for row in rows:
        texts = [row["real_passages"][0]["passage"], row["fake_passages"][0]["passage"]]
        random.Random(row["id"]).shuffle(texts)
        yield row["cleaned_question"], row["real_short_answer"], row["fake_short_answer"], texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=["ramdocs", "conflict_nq"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()

    rows = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    items = list({"ramdocs": ramdocs, "conflict_nq": conflict_nq}[options.format](rows))
    random.Random(options.seed).shuffle(items)
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    todo = items[len(done) : options.limit]
    if todo:
        import dspy

        chosen = settings.load()
        dspy.configure(lm=make_lm(choose(chosen), chosen))
        program = Regen()
    with options.out.open("a", encoding="utf-8") as out:
        for question, right, wrong, texts in todo:
            choices = [right, wrong]
            random.Random(f"{options.seed}:{question}").shuffle(choices)
            documents = [Document(id=str(number), text=text) for number, text in enumerate(texts, 1)]
            result = result_of(program(question=question, choices=choices, documents=documents))
            row = {"right": choices.index(right), **result.model_dump(mode="json", exclude={"documents"})}
            done.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(f"{len(done)} of {min(options.limit, len(items))}", flush=True)
    report(done[: options.limit])


def report(rows: list[dict[str, Any]]) -> None:
    """Prints the table."""
    first = [row["initial_answer"]["choice"] == row["right"] for row in rows]
    final = [row["answer"]["choice"] == row["right"] for row in rows]
    conflict = [bool(row["initial_report"]["in_conflict"]) for row in rows]
    wrong = [place for place, right in enumerate(first) if conflict[place] and not right]
    right = [place for place, right in enumerate(first) if conflict[place] and right]
    n = len(rows)
    usage = [row["usage"] for row in rows]
    print(f"items                {n}")
    print(f"rag                  {sum(first)}/{n} = {sum(first) / n:.1%}")
    print(f"regenerated          {sum(final)}/{n} = {sum(final) / n:.1%}")
    print(f"conflict detected    {sum(conflict)}/{n}")
    print(f"improve rate         {sum(final[place] for place in wrong)}/{len(wrong)}")
    print(f"harm rate            {sum(not final[place] for place in right)}/{len(right)}")
    for key in ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "seconds"):
        print(f"{key + ' an item':20} {sum(item[key] for item in usage) / n:.1f}")


if __name__ == "__main__":
    main()
