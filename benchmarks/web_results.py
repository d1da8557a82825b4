"""Long, dirty, real web text: `regen ask --json` over the search results of CONFLICTS, written out as files.

    python benchmarks/web_results.py ../shared/data/conflicts_dev.jsonl --limit 10 --out web_results.jsonl

Every finished question is in the output file before the next begins; run it again to go on, or to print the table.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import tempfile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from regen.cli.app import run
from regen.output import AskOutput, Failure

OUTPUT: TypeAdapter[AskOutput | Failure] = TypeAdapter(AskOutput | Failure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("ask", nargs="*", help="options for regen ask, after --")
    options = parser.parse_args()
    items = [json.loads(line) for line in options.data.read_text(encoding="utf-8").splitlines()]
    random.Random(options.seed).shuffle(items)
    done = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    with options.out.open("a", encoding="utf-8") as out:
        for item in items[len(done) : options.limit]:
            with tempfile.TemporaryDirectory() as folder:
                write(item, Path(folder))
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    code = run(["ask", item["query"], "--docs", folder, "--json", *options.ask])
            row = {"query": item["query"], "exit": code, "printed": printed.getvalue()}
            done.append(json.dumps(row))
            out.write(done[-1] + "\n")
            out.flush()
    report([json.loads(line) for line in done[: options.limit]])


def write(item: dict[str, Any], folder: Path) -> None:
    """One search result a file, with its date where one is known."""
    for document in item["retrieved_docs"]:
        dated = f"date: {document['timestamp']}\n" if document.get("timestamp") else ""
        text = document["snippet"]
        (folder / f"{document['doc_id']}.md").write_text(f"---\n{dated}---\n{text}\n", encoding="utf-8")


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
