"""`regen check` on folders with planted contradictions: what it finds, what it makes up, and how long it takes.

    python benchmarks/check.py                          # 500, 1,000 and 2,000 documents of the part `report`
    python benchmarks/check.py --part tune --seed 1 --documents 500 --judges builtin heuristic
    python benchmarks/check.py --pairs seen unseen      # the plain pages of `check_pairs.jsonl`, a folder for each part

20 contradictions and 200 near-duplicates that agree are planted in a folder of 2,000 documents, and as many in its
proportion in a smaller one. Two files of a finding that do not belong together count as a false alarm, and so do two
that agree. A folder is read anew each time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from pathlib import Path

from check_folders import KINDS, PARTS, Planted, write

from regen.check import RULES, CheckReport, Finding, check

PAIRS = Path(__file__).parent / "check_pairs.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=tuple(PARTS), default="report")
    parser.add_argument("--documents", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--judges", nargs="+", default=[RULES])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print what was missed and made up")
    parser.add_argument("--pairs", nargs="+", choices=("seen", "unseen"), help="the pages of check_pairs.jsonl instead")
    options = parser.parse_args()
    if options.pairs:
        print(f"{'judge':12}{'part':8}{'pairs':>7}{'found':>8}{'false':>7}")
        for judge in options.judges:
            for part in options.pairs:
                _show_pairs(judge, part, options.show)
        return
    print(
        f"{'judge':12}{'documents':>10}{'found':>8}{'false':>7}{'seconds':>9}{'compared':>10}{'of':>13}{'share':>8}"
        f"{'suspected':>11}{'of':>11}{'share':>8}  found by kind"
    )
    for judge in options.judges:
        for documents in options.documents:
            with tempfile.TemporaryDirectory() as home:
                os.environ["REGEN_CACHE_DIR"] = str(Path(home) / "cache")
                folder = Path(home) / "documents"
                contradictions = documents // 100
                planted = write(folder, options.part, documents, contradictions, documents // 10, options.seed)
                report = check(folder, judge)
                _show(report, planted, options.show)


def _show(report: CheckReport, planted: list[Planted], detail: bool) -> None:
    kind_of = {one.files: one.kind for one in planted}
    there = Counter(kind for kind in kind_of.values() if kind)
    pairs = {frozenset(side.document for side in finding.sides): finding for finding in report.findings}
    found = Counter(kind_of[files] for files in pairs if kind_of.get(files))
    false = [finding for files, finding in pairs.items() if not kind_of.get(files)]
    kinds = ", ".join(f"{kind} {found[kind]}/{there[kind]}" for kind in KINDS)
    print(
        f"{report.judge:12}{report.documents:>10}{f'{found.total()}/{there.total()}':>8}{len(false):>7}{report.seconds:>9.1f}"
        f"{report.compared:>10,}{report.sentence_pairs:>13,}{report.compared / report.sentence_pairs:>8.2%}"
        f"{report.suspected:>11,}{report.document_pairs:>11,}{report.suspected / report.document_pairs:>8.3%}  {kinds}",
        flush=True,
    )
    if not detail:
        return
    _show_false(false)
    for one in planted:
        if one.kind and one.files not in pairs:
            print("  missed", one.kind, *(f"\n    {sentence}" for sentence in one.sentences))


def _show_pairs(judge: str, part: str, detail: bool) -> None:
    """Writes the pages of one part into a folder, checks it, and prints which pairs are found."""
    pairs = [
        pair for line in PAIRS.read_text(encoding="utf-8").splitlines() if (pair := json.loads(line))["part"] == part
    ]
    with tempfile.TemporaryDirectory() as home:
        os.environ["REGEN_CACHE_DIR"] = str(Path(home) / "cache")
        folder = Path(home) / "documents"
        folder.mkdir()
        planted: dict[frozenset[str], str] = {}
        for pair in pairs:
            names = []
            for document in pair["documents"]:
                name = re.sub(r"\W+", "-", document["title"].lower()).strip("-") + ".md"
                (folder / name).write_text(f"# {document['title']}\n\n{document['text']}\n", encoding="utf-8")
                names.append(name)
            if pair["conflict"]:
                planted[frozenset(names)] = pair["id"]
        report = check(folder, judge)
    found = {frozenset(side.document for side in finding.sides): finding for finding in report.findings}
    false = [finding for files, finding in found.items() if files not in planted]
    hits = sum(files in found for files in planted)
    print(f"{judge:12}{part:8}{len(pairs):>7}{f'{hits}/{len(planted)}':>8}{len(false):>7}", flush=True)
    if detail:
        _show_false(false)
        for files, name in planted.items():
            if files not in found:
                print("  missed", name)


def _show_false(findings: list[Finding]) -> None:
    for finding in findings:
        print(
            "  false",
            finding.confidence,
            finding.difference,
            *(f"\n    {side.document}: {side.quote}" for side in finding.sides),
        )


if __name__ == "__main__":
    main()
