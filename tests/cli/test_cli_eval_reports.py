"""`regen eval reports`, from the command line to its report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel

HOSTILE = "<script>alert(x)</script> | [x](javascript:alert(x)) \x1b[J"
ITEMS = 2


@pytest.fixture
def data(tmp_path: Path, model: FakeModel) -> Path:
    """Two items, of whose documents two disagree; the plain report takes one side, and its second names both."""
    model.first = "Revenue in 2025 was $4.2M [1].\n\nIt is our revenue."
    model.second = f"[2] says revenue in 2025 was $6.8M, and [1] says $4.2M.\n\n{HOSTILE}"
    texts = ["Our revenue in 2025 was $4.2M.", "After the audit, our revenue in 2025 was $6.8M.", "Lunch is at noon."]
    rows = [{"id": f"{n} {HOSTILE * n}", "topic": "Our revenue in 2025", "documents": texts} for n in range(ITEMS)]
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def evaluated(cli: Any, data: Path, *more: str) -> Any:
    return cli("eval", "reports", "--data", str(data), "--run", "r", *more)


def writings(model: FakeModel) -> int:
    return sum("report on the topic" in prompt for prompt in model.prompts)


def test_every_setting_is_scored_and_plain_and_rewritten_share_the_first_report(
    cli: Any, data: Path, model: FakeModel
) -> None:
    ended = evaluated(cli, data, "--json")
    assert ended.code == 0, ended.err
    found = ended.json
    scores = {one["setting"]: (one["cs_c"]["mean"], one["cs_r"]["mean"]) for one in found["settings"]}
    # By hand: of two claims one is in conflict, one document a side; what was written again has none in conflict.
    assert scores == dict.fromkeys(["plain", "balanced", "super-balanced"], (0.5, 0.25)) | {"rewritten": (0.0, 0.0)}
    assert [(pair["after"], pair["n"], pair["cs_r"]["mean"]) for pair in found["pairs"]] == [
        ("balanced", 2, 0.0),
        ("super-balanced", 2, 0.0),
        ("rewritten", 2, -0.25),
    ]
    assert (found["rewritten"], found["kept"]) == (2, 2)
    # A first report of each of three prompts, and one that was written again.
    assert writings(model) == ITEMS * 4
    costs = {one["setting"]: one["cost"]["calls"] for one in found["settings"]}
    assert costs["plain"] == costs["balanced"] < costs["rewritten"]
    # The calls of `plain` are among those of `rewritten`.
    assert sum(costs.values()) - costs["plain"] == found["usage"]["calls"] / ITEMS == len(model.prompts) / ITEMS


def test_the_report_takes_nothing_for_markup(cli: Any, data: Path) -> None:
    ended = evaluated(cli, data, "--settings", "rewritten")
    assert ended.code == 0 and "Report: r/report.md" in ended.out
    assert re.search(r"plain +2 +0\.50 \(0\.50\u20130\.50\) +0\.25 ", ended.out)
    assert re.search(r"rewritten +2 +-0\.50 .* -0\.25 \(", ended.out)
    assert max(map(len, ended.out.splitlines())) <= 80
    report = Path("r/report.md").read_text()
    assert "&lt;script&gt;" in report and "\\| \\[x\\]" in report and "\x1b" not in report
    assert json.loads(Path("r/results.json").read_text())["rows"][1]["reports"]["plain"]["text"].startswith("Revenue")


def test_a_run_that_a_limit_ended_goes_on_and_pays_for_nothing_twice(cli: Any, data: Path, model: FakeModel) -> None:
    stopped = evaluated(cli, data, "--settings", "rewritten", "--max-calls", "7", "--json")
    assert (stopped.code, stopped.json["complete"], len(model.prompts)) == (5, False, 7)
    ended = evaluated(cli, data, "--settings", "rewritten", "--json")
    assert ended.code == 0, ended.err
    assert ended.json["usage"]["calls"] == len(model.prompts)
    assert writings(model) == ITEMS * 2


def test_what_failed_is_told_and_is_done_again_where_that_is_asked_for(cli: Any, data: Path, model: FakeModel) -> None:
    model.broken, model.breaks = (500, {"error": {"message": "down"}}), "Feedback:"
    ended = evaluated(cli, data, "--settings", "balanced,rewritten")
    assert ended.code == 4 and "2 of 2 items failed, the first one so: " in ended.err
    model.broken = None
    found = evaluated(cli, data, "--settings", "balanced,rewritten", "--retry-failed", "--json").json
    assert [(one["setting"], one["n"], one["failed"]) for one in found["settings"]] == [
        ("plain", 2, 0),
        ("balanced", 2, 0),
        ("rewritten", 2, 0),
    ]


def test_a_setting_that_there_is_not_is_told(cli: Any, data: Path) -> None:
    ended = evaluated(cli, data, "--settings", "plain,unbiased")
    assert ended.code == 2 and "There is no setting 'unbiased'; there are: plain, balanced" in ended.err
