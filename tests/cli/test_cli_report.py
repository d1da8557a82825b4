"""`regen report`: what it prints and writes, and how it ends when something is wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel

TOPIC = "Our revenue in 2025"
HOSTILE = "[red]x[/] \x1b[2J \x1b]8;;https://evil.example\x07 \u202eback <img src=x> ![i](https://evil.example/i.png)"


@pytest.fixture
def writer(model: FakeModel) -> FakeModel:
    """Its first report gives one figure, and its second says who gives which."""
    model.first = "Revenue in 2025 was $4.2M [2].\n\nIt is our revenue."
    model.second = f"[1] says revenue in 2025 was $6.8M, and [2] says $4.2M.\n\n{HOSTILE}"
    return model


def test_both_reports_are_scored_and_nothing_in_them_is_markup(cli: Any, writer: FakeModel) -> None:
    ended = cli("report", TOPIC, "--out", "r.md")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("\n  [1] says revenue in 2025 was $6.8M, and [2] says $4.2M.\n\n  [red]x[/]")
    assert re.search(r"\n  first +CS-C 0\.50  CS-R 0\.25  2 claims: 1 in conflict, 1 unverified\n", ended.out)
    assert re.search(r"\n  rewritten +CS-C 0\.00  CS-R 0\.00  ", ended.out)
    assert '    against  [1]  2026-03-02  "After the audit, our revenue in 2025 was $6.8M."\n' in ended.out
    assert re.search(r"\n  \d+ model calls, [\d,]+ prompt tokens", ended.out)
    assert not [line for line in ended.out.splitlines() if len(line) > 80 or line != line.rstrip()]
    written = Path("r.md").read_text()
    assert not re.search("[\x00-\x09\x0b-\x1f\u202a-\u202e]", ended.out + written)
    assert written.startswith("# Our revenue in 2025\n\n\\[1\\] says revenue in 2025 was $6.8M")
    assert "&lt;img src=x&gt; \\!\\[i\\]\\(https" in written
    assert "| first | 0.50 | 0.25 | 2 | 1 | 1 |\n| rewritten | 0.00 | 0.00 |" in written
    assert "    - against [1], 2026-03-02: \u201cAfter the audit, our revenue in 2025 was $6.8M.\u201d" in written


def test_json_is_that_of_ask_and_rounds_and_style_are_those_asked_for(cli: Any, writer: FakeModel) -> None:
    found = cli("report", TOPIC, "--json", "--max-rounds", "0", "--style", "super-balanced").json
    assert set(found) == set(cli("schema", "ask").json["$defs"]["AskOutput"]["properties"])
    assert (found["question"], found["answer"], found["rounds"]) == (TOPIC, writer.first, [])
    assert "who says what" in writer.prompts[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([" "], "regen: The topic is empty, or not text: say what to write about.\n"),
        ([TOPIC, "--out", "docs"], "regen: docs is there already: name another file with --out.\n"),
        (
            [TOPIC, "--out", "no/r.md"],
            "regen: There is no folder no for r.md: make it, or name another file with --out.\n",
        ),
    ],
)
def test_bad_input_ends_in_one_sentence(cli: Any, writer: FakeModel, arguments: list[str], sentence: str) -> None:
    ended = cli("report", *arguments)
    assert (ended.code, ended.out, ended.err, writer.prompts) == (2, "", sentence, [])


def test_a_report_that_could_not_be_checked_is_shown_with_the_exit_code_of_the_failure(
    cli: Any, writer: FakeModel
) -> None:
    writer.broken, writer.breaks = (500, {"error": {"message": "down"}}), "You read one document"
    ended = cli("report", TOPIC)
    assert ended.code == 4
    assert ended.out.startswith("\n  Revenue in 2025 was $4.2M [2].\n")
    assert re.search(r"\n  first +could not be checked: see the warnings\n", ended.out)


def test_a_report_that_could_not_be_written_again_is_shown_and_written_to_its_file(cli: Any, writer: FakeModel) -> None:
    writer.broken, writer.breaks = (500, {"error": {"message": "boom"}}), "Feedback:"
    ended = cli("report", TOPIC, "--out", "r.md")
    assert ended.code == 4
    assert "Revenue in 2025 was $4.2M [2]." in ended.out
    assert "against [1]" in Path("r.md").read_text()
    assert "boom" in ended.err
