"""`--credibility` and `--credibility-list`: what they print, and how they end when something is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import QUESTION
from fake_model import FakeModel

FEES = [
    {"id": "a", "url": "https://office.gov/fees", "text": "Revenue in 2025 was $6.8M, audited.", "title": "Accounts"},
    {"id": "b", "url": "https://rumours.net/", "text": "People say revenue was $4.2M.", "title": "[red]R[/]"},
]


@pytest.fixture
def responses(tmp_path: Path, model: FakeModel) -> str:
    model.levels = {"office.gov": "high", "rumours.net": "low"}
    file = tmp_path / "responses.jsonl"
    line = {"id": "1", "response": "Revenue in 2025 was $6.8M.", "documents": FEES, "question": QUESTION}
    file.write_text(json.dumps(line) + "\n")
    return str(file)


def assessed(model: FakeModel) -> int:
    return sum("relied on as a source" in prompt for prompt in model.prompts)


def sources(text: str) -> str:
    Path("sources.txt").write_text(text)
    return "sources.txt"


def test_without_it_nothing_is_assessed(cli: Any, model: FakeModel, responses: str) -> None:
    (scored,) = cli("score", responses).lines
    assert (scored["cs_r"], scored["cs_r_weighted"], scored["credibility"]) == (0.5, None, [])
    assert assessed(model) == 0


def test_a_score_is_weighed_by_what_the_model_says_of_the_sources(cli: Any, model: FakeModel, responses: str) -> None:
    (scored,) = cli("score", responses, "--credibility", "weight").lines
    # By hand: one document for it of weight 1, one against it of 0.2.
    assert (scored["cs_r"], scored["cs_r_weighted"]) == (0.5, pytest.approx(0.2 / 1.2))
    assert [(item["level"], item["reason"]) for item in scored["credibility"]] == [
        ("high", "it looks high"),
        ("low", "it looks low"),
    ]


def test_a_list_spares_the_calls_for_what_it_names(cli: Any, model: FakeModel, responses: str) -> None:
    named = sources(".gov 1\n* 0.1\n")
    (scored,) = cli("score", responses, "--credibility", "filter", "--credibility-list", named).lines
    assert (scored["cs_r"], scored["discounted"], assessed(model)) == (0.0, ["b"], 0)
    assert scored["warnings"] == [
        "Document b was discounted: its weight is below 0.3, so what it says counts for no side."
    ]


def test_the_mode_the_list_and_the_threshold_are_settings_too(
    cli: Any, model: FakeModel, responses: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_CREDIBILITY", "filter")
    monkeypatch.setenv("REGEN_CREDIBILITY_LIST", sources(".gov 1\nrumours.net 0.6"))
    monkeypatch.setenv("REGEN_CREDIBILITY_THRESHOLD", "0.7")
    (scored,) = cli("score", responses).lines
    assert (scored["discounted"], assessed(model)) == (["b"], 0)
    assert cli("score", responses, "--credibility", "off").lines[0]["discounted"] == []


def test_an_answer_shows_what_each_source_weighs(cli: Any, model: FakeModel) -> None:
    named = sources("file:estimate.md 0.2\n")
    shown = cli("ask", QUESTION, "--credibility", "weight", "--credibility-list", named).out
    assert "  Sources, and what they weigh\n" in shown
    assert re.search(r"\n  \[\d\]  0\.20 list +2026-01-10  Estimate ", shown)
    assert re.search(r"\n  \[\d\]  1\.00 default +2026-03-02  Annual report ", shown)
    assert "weighted CS-R" in shown
    assert assessed(model) == 0


def test_an_answer_marks_what_was_discounted(cli: Any, model: FakeModel) -> None:
    named = sources("file:annual* 0.1\n")
    Path("docs/other.md").write_text("The revenue in 2025 was $6.8M, we hear.")
    shown = cli("ask", QUESTION, "--credibility", "filter", "--credibility-list", named).out
    assert re.search(r'\n    against  \[\d\]  .*"The revenue in 2025 was \$6\.8M, we hear\."', shown)
    assert re.search(r'\n    discounted \[\d\]  contradicts it: "After the audit', shown)
    assert re.search(r"\n  \[\d\]  0\.10 discounted +2026-03-02  Annual report ", shown)
    assert "  ! Document annual.md was discounted: its weight is below 0.3," in shown


def test_an_answer_as_json_has_the_credibility_of_each_document(cli: Any, model: FakeModel) -> None:
    named = sources("file:estimate.md 0.2\n")
    answered = cli("ask", QUESTION, "--credibility", "weight", "--credibility-list", named, "--json").json
    weights = {item["id"]: item["credibility"]["weight"] for item in answered["documents"]}
    assert (weights["estimate.md"], weights["annual.md"]) == (0.2, 1.0)
    # Against the answer stands the report with weight 1, for it the estimate with 0.2.
    assert answered["scores"]["initial"]["cs_r_weighted"] == pytest.approx(1 / 1.2)


def test_a_scored_response_shows_both_scores(cli: Any, model: FakeModel) -> None:
    named = sources("file:estimate.md 0.2\n")
    more = ["--credibility", "weight", "--credibility-list", named]
    shown = cli("score", "-r", "Revenue in 2025 was $4.2M.", "--question", QUESTION, *more).out
    assert "  CS-C 1.00   CS-R 0.50   weighted CS-R 0.83\n" in shown


@pytest.mark.parametrize("columns", ["50", "80", "160"])
def test_with_weights_no_line_is_wider_than_the_terminal(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    named = sources("file:annual* 0.1\n")
    lines = cli("ask", QUESTION, "--credibility", "filter", "--credibility-list", named).out.splitlines()
    assert max(map(len, lines)) <= int(columns)


def test_a_models_reason_reaches_no_terminal_as_markup_or_escape(
    cli: Any, model: FakeModel, responses: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.levels = {"office.gov": "high", "rumours.net": "low\x1b[2J"}
    ended = cli("score", responses, "--credibility", "weight")
    assert "\x1b" not in ended.out + ended.err
    assert ended.lines[0]["credibility"][1]["weight"] == 1.0


@pytest.mark.parametrize(
    ("options", "text", "code", "sentence"),
    [
        (["--credibility-list", "sources.txt"], ".gov 1", 2, "goes with --credibility weight or filter"),
        (["--credibility", "weight", "--credibility-list", "nowhere"], "", 2, "nowhere cannot be read"),
        (
            ["--credibility", "weight", "--credibility-list", "sources.txt"],
            "a.org 1\nb.org much",
            2,
            "sources.txt, line 2: 'b.org much' is no source with a weight",
        ),
        (["--credibility", "trust"], "", 2, "'trust' is not one of 'off', 'weight', 'filter'"),
    ],
)
@pytest.mark.parametrize("command", ["ask", "score", "choices"])
def test_what_is_wrong_is_told_before_anything_is_asked(
    cli: Any, model: FakeModel, responses: str, command: str, options: list[str], text: str, code: int, sentence: str
) -> None:
    sources(text)
    Path("items.jsonl").write_text(json.dumps({"id": "1", "question": "q", "choices": ["a", "b"], "answer": 0}))
    given = {"ask": ["ask", QUESTION], "score": ["score", responses], "choices": ["eval", "choices", "--data"]}[command]
    ended = cli(*given, *(["items.jsonl"] if command == "choices" else []), *options)
    assert (ended.code, ended.out, model.prompts) == (code, "", [])
    assert ended.err.count("\n") == 1 and sentence in ended.err


def test_an_evaluation_is_weighed_and_says_so(cli: Any, model: FakeModel, tmp_path: Path) -> None:
    model.levels = {"office.gov": "high", "rumours.net": "low"}
    item = {"id": "1", "question": QUESTION, "choices": ["$4.2M", "$6.8M"], "answer": 1, "documents": FEES}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    model.second = "It was $6.8M."
    command = ["eval", "choices", "--data", "items.jsonl", "--settings", "regenerated", "--json"]
    plain = cli(*command, "--run", "plain").json
    assert plain["cs_r_weighted"] is None and "credibility" not in plain["config"]
    model.prompts.clear()

    named = sources("office.gov 1")
    more = ["--credibility", "weight", "--credibility-list", named]
    ended = cli(*command, "--run", "weighed", *more)
    assert ended.code == 0
    first, kept = ended.json["cs_r_weighted"]
    # The first answer has the rumour for it and the office against it; of the other one it is the other way round.
    assert (first, kept) == (pytest.approx(1 / 1.2), pytest.approx(0.2 / 1.2))
    assert (ended.json["config"]["credibility"], len(ended.json["config"]["credibility_list"])) == ("weight", 64)
    assert assessed(model) == 1
    # What the first answer cost has no assessment in it.
    calls = {cost["setting"]: cost["calls"] for cost in ended.json["costs"]}
    assert calls["rag"] == {cost["setting"]: cost["calls"] for cost in plain["costs"]}["rag"]
    report = (tmp_path / "weighed" / "report.html").read_text()
    assert "mean weighted CS-R, before and after" in report and "weight 0.20 (it looks low)" in report
    assert "weighted CS-R" in (tmp_path / "weighed" / "report.md").read_text()
    assert "weighted CS-R" not in (tmp_path / "plain" / "report.md").read_text()

    sources("office.gov 0.5")
    assert cli(*command, "--run", "weighed", *more).code == 2
