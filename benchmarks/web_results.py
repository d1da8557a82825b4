"""Long, dirty, real web text: `regen ask --json` over the search results of CONFLICTS.

    python benchmarks/web_results.py data/conflicts_dev.jsonl --limit 10 --out web_results.jsonl
    python benchmarks/web_results.py data/conflicts_dev.jsonl --limit 10 --recorded --out recorded.jsonl

With `--recorded`, the first ten results of each query are asked as a recording of a web search instead. Every finished
question is in the output file before the next begins; run it again to go on, or to print the table.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from regen.cli.app import run
from regen.output import AskOutput, Failure
from regen.types import Document
from search.recorded import Recorded
from search.text import clean
from search.windows import best_window

OUTPUT: TypeAdapter[AskOutput | Failure] = TypeAdapter(AskOutput | Failure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recorded", action="store_true", help="as a recorded web search, not as files")
    parser.add_argument("ask", nargs="*", help="options for regen ask, after --")
    options = parser.parse_args()
    items = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    random.Random(options.seed).shuffle(items)
    done = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    with options.out.open("a", encoding="utf-8") as out:
        for item in items[len(done) : options.limit]:
            with tempfile.TemporaryDirectory() as folder:
                found = record(item, Path(folder)) if options.recorded else write(item, Path(folder))
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    code = run(["ask", item["query"], *found, "--json", *options.ask])
            row = {"query": item["query"], "exit": code, "printed": printed.getvalue()}
            done.append(json.dumps(row))
            out.write(done[-1] + "\n")
            out.flush()
    report([json.loads(line) for line in done[: options.limit]])


def write(item: dict[str, Any], folder: Path) -> list[str]:
    """One search result a file, with its date where one is known; the options that search them."""
    for document in item["retrieved_docs"]:
        dated = f"date: {document['timestamp']}\n" if document.get("timestamp") else ""
        text = document["snippet"]
        (folder / f"{document['doc_id']}.md").write_text(f"---\n{dated}---\n{text}\n", encoding="utf-8")
    return ["--docs", str(folder)]


def record(item: dict[str, Any], folder: Path) -> list[str]:
    """The first ten search results as a recording, each cut to the window that fits the query; the options for it."""
    documents = []
    for rank, result in enumerate(item["retrieved_docs"][:10], 1):
        published = day(result.get("timestamp"))
        document = Document(
            id=result["source_url"],
            url=result["source_url"],
            text=best_window(clean(result["snippet"]), item["query"]),
            published=published,
            published_from="provider" if published else None,
            rank=rank,
            source="conflicts",
        )
        documents.append(document)
    by_id = {document.id: document for document in documents}
    file = folder / "recording.jsonl"
    line = Recorded(query=item["query"], k=10, search="conflicts", documents=list(by_id.values()))
    file.write_text(line.model_dump_json() + "\n", encoding="utf-8")
    return ["--search", "recorded", "--recorded", str(file)]


def day(timestamp: str | None) -> date | None:
    """The date that a timestamp begins with, if it does."""
    try:
        return date.fromisoformat((timestamp or "")[:10])
    except ValueError:
        return None


def report(rows: list[dict[str, Any]]) -> None:
    """Prints a line a question: what came back, what it cost, and every warning."""
    print(f"{'exit':5}{'documents':>10}{'claims':>8}{'conflict':>10}{'calls':>7}{'tokens':>8}{'seconds':>9}  question")
    for row in rows:
        output = OUTPUT.validate_json(row["printed"])
        if isinstance(output, Failure):
            print(f"{row['exit']:<5}{output.error.message}")
            continue
        usage = output.usage
        print(
            f"{row['exit']:<5}{len(output.documents):>10}{len(output.claims):>8}"
            f"{sum(claim.in_conflict for claim in output.initial_claims):>10}{usage.calls:>7}"
            f"{usage.prompt_tokens - usage.cached_tokens:>8}{usage.seconds:>9.0f}  {row['query'][:50]}"
        )
        for warning in output.warnings:
            print(f"     ! {warning}")


if __name__ == "__main__":
    main()
