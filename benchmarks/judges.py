"""Judges against people, side by side: every judge on every labelled set, as `regen eval` measures it.

    python benchmarks/judges.py held_out --judges builtin
    python benchmarks/judges.py held_out --judges contrast cascade --each 20

`held_out` is the folder of rows that `training/train.py` left out; `debunking.jsonl` and `plain.jsonl` beside this file
are the other sets. Each run keeps every call in its folder, so the same command goes on after any end, and prints the
whole table.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from pathlib import Path

from pydantic import TypeAdapter

from eval_conflictbench.results import JudgeFigures
from regen.cli.app import run
from regen.errors import CancelledError
from regen.output import Failure

HERE = Path(__file__).parent
PRINTED: TypeAdapter[JudgeFigures | Failure] = TypeAdapter(JudgeFigures | Failure)
# The name of each set, the command that measures on it, its file and that file's format.
SETS = (
    ("Factcheck-GPT", "stance", "factcheck_stance_dev.jsonl", "factcheck"),
    ("RAMDocs", "conflictbench", "ramdocs_dev.jsonl", "ramdocs"),
    ("ConflictNQ", "conflictbench", "conflict_nq_dev.jsonl", "conflict_nq"),
    ("debunking", "stance", HERE / "debunking.jsonl", "plain"),
    ("plain", "stance", HERE / "plain.jsonl", "plain"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--judges", nargs="+", required=True)
    parser.add_argument("--claims", default="whole", help="of the sets of conflicts: as `regen eval conflictbench`")
    parser.add_argument("--each", type=int, help="so many items of every label, drawn by the seed")
    parser.add_argument("--sets", nargs="+", choices=[name for name, *_ in SETS])
    parser.add_argument("--runs", type=Path, default=Path("runs/judges"))
    options = parser.parse_args()
    print(
        f"{'judge':28}{'set':15}{'n':>5}{'F1':>7}{'95%':>14}  {'right by label':44}"
        f"{'pairs/s':>9}{'calls':>7}{'tokens':>8}  sent on"
    )
    for judge in options.judges:
        for name, command, file, format in SETS:
            if options.sets and name not in options.sets:
                continue
            data = options.data / file
            folder = options.runs / f"{judge.replace('/', '_')}-{name}-{options.each or 'all'}"
            if options.claims != "whole" and command == "conflictbench":
                folder = folder.with_name(f"{folder.name}-{options.claims}")
            arguments = ["eval", command, "--data", str(data), "--format", format, "--judge", judge]
            arguments += ["--run", str(folder), "--json", "--quiet"]
            arguments += ["--each", str(options.each)] if options.each else []
            arguments += ["--claims", options.claims] if command == "conflictbench" else []
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                code = run(arguments)
            if code == CancelledError.exit_code:
                raise SystemExit(code)
            _show(judge, name, PRINTED.validate_json(printed.getvalue()))


def _show(judge: str, name: str, found: JudgeFigures | Failure) -> None:
    if isinstance(found, Failure):
        print(f"{judge:28}{name:15}{found.error.message}")
        return
    # Of conflict where there is one to find, else the mean over the stances.
    f1 = found.overall.macro_f1
    if found.f1 is not None:
        f1 = next(label.f1 for label in found.classes if label.label == "conflict")
    by_label = ", ".join(f"{label.label} {label.recall or 0:.0%}" for label in found.classes)
    tokens = found.usage.prompt_tokens - found.usage.cached_tokens
    sent = list(found.decided_by.values())
    print(
        f"{judge:28}{name:15}{found.n:>5}{_figure(f1.value):>7}{f'[{_figure(f1.low)}, {_figure(f1.high)}]':>14}  "
        f"{by_label:44}{found.pairs_per_second or 0:>9.1f}{found.lm_calls / found.n:>7.1f}{tokens / found.n:>8.0f}"
        f"  {', '.join(f'{who} {count / sum(sent):.0%}' for who, count in found.decided_by.items())}",
        flush=True,
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
