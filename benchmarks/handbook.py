"""The example handbook: are its five planted conflicts found, and do ten undisputed facts stay undisputed?

    python benchmarks/handbook.py --out handbook.jsonl

Every finished question is in the output file before the next begins; run it again to go on, or to print the table.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from regen import Regen, Result, result_of, settings
from regen.models import choose, make_lm
from search.local import LocalSearch

HERE = Path(__file__).parent
FOLDER = HERE.parent / "examples" / "company-handbook"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", help="ids of questions")
    options = parser.parse_args()
    questions = [json.loads(line) for line in (HERE / "handbook.jsonl").read_text(encoding="utf-8").splitlines()]
    if options.only:
        questions = [item for item in questions if item["id"] in options.only]
    done = {}
    if options.out.exists():
        done = {row["id"]: row for row in map(json.loads, options.out.read_text().splitlines())}
    todo = [item for item in questions if item["id"] not in done]
    if todo:
        import dspy

        chosen = settings.load()
        dspy.configure(lm=make_lm(choose(chosen), chosen))
        program = Regen(LocalSearch(FOLDER))
    with options.out.open("a", encoding="utf-8") as out:
        for item in todo:
            result = result_of(program(question=item["question"]))
            done[item["id"]] = {"id": item["id"], "result": result.model_dump(mode="json")}
            out.write(json.dumps(done[item["id"]]) + "\n")
            out.flush()
            print(f"{len(done)} of {len(questions)}: {item['id']}", flush=True)
    report(questions, done)


def report(questions: list[dict[str, Any]], done: dict[str, dict[str, Any]]) -> None:
    """Prints the table: what is planted, what is reported to the user, and what the final answer names."""
    print(
        f"{'question':18}{'planted':9}{'reported':10}{'right':7}{'regenerated':13}{'calls':>6}{'tokens':>8}{'seconds':>9}"
    )
    right_conflicts = right_facts = 0
    for item in questions:
        result = Result.model_validate(done[item["id"]]["result"])
        initial = result.initial_report
        disputed = [claim for claim in initial.claims if initial.sides(claim.id)[1]]
        reported = bool(disputed) or len(result.document_answers) > 1
        names = [side.lower() in result.answer.text.lower() for side in item["answers"]]
        # A disputed question is answered right by the newer side, or by naming both.
        newer = names[item["answers"].index(item["newer"])] if item["newer"] else names[0]
        right_conflicts += item["conflict"] and reported
        right_facts += not item["conflict"] and not reported
        print(
            f"{item['id']:18}{'yes' if item['conflict'] else 'no':9}{'yes' if reported else 'no':10}"
            f"{'yes' if newer else 'no':7}{'yes' if result.regenerated else 'no':13}{result.usage.calls:>6}"
            f"{result.usage.prompt_tokens - result.usage.cached_tokens:>8}{result.usage.seconds:>9.0f}"
        )
    planted = sum(item["conflict"] for item in questions)
    print(f"planted conflicts reported: {right_conflicts} of {planted}")
    print(f"undisputed facts without a conflict: {right_facts} of {len(questions) - planted}")


if __name__ == "__main__":
    main()
