"""The heuristic judge on the command line: its reasons, its figures, its threshold. No model is asked in any of it."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel
from jsonschema import validate

CLAIM = "Our revenue in 2025 was $4.2M."
EVIL = "Our revenue in 2025 was not $9.9M<b>, [red]\x1b[2J[a](x)"
TEXTS = [
    ("By the first estimate, our revenue in 2025 was $4.2M.", "supports"),
    ("After the audit, our revenue in 2025 was $6.8M.", "contradicts"),
    (EVIL, "supports"),
    ("Gulls breed on 12 cliffs near the sea.", "irrelevant"),
]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As pyproject.toml registers it, also where an older regen is installed."""
    from regen.cli import app as app_module

    judge = EntryPoint("heuristic", "regen.judges.heuristic:HeuristicJudge", "regen.judges")
    command = EntryPoint("calibrate", "eval_conflictbench.calibrating:calibrate", "regen.evals")
    real = app_module.entry_points
    monkeypatch.setattr("regen.judges._installed", lambda: {"heuristic": judge})
    monkeypatch.setattr(
        app_module,
        "entry_points",
        lambda group: [*real(group=group), command] if group == "regen.evals" else real(group=group),
    )


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    file = tmp_path / "pairs.jsonl"
    lines = [{"claim": CLAIM, "document": text, "stance": stance} for text, stance in TEXTS]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def test_a_response_is_scored_and_the_reasons_are_shown(cli: Any, model: FakeModel, folder: Path) -> None:
    (folder / "evil.txt").write_text(EVIL)
    command = ("score", "-r", CLAIM, "--question", CLAIM, "--judge", "heuristic:0.5", "--claims", "whole")
    shown = cli(*command)
    assert shown.code == 0, shown.err
    said = " ".join(shown.out.split())
    assert "and nothing differs" in said
    assert "numbers differ: $6.8M here, $4.2M in the claim" in said
    assert "numbers differ: $9.9M here, $4.2M in the claim; only the document denies: not" in said
    assert "\x1b[2J" not in shown.out and "[red]" in said and "[2J[a](x)" in said
    found = cli(*command, "--json")
    reasons = {item["document"]: item["reason"] for item in found.json["claims"][0]["evidence"]}
    assert reasons["annual.md"] == "numbers differ: $6.8M here, $4.2M in the claim"
    validate(found.json, cli("schema", "score").json)
    assert model.prompts == []


def test_stances_are_measured_without_a_model(cli: Any, pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_MODEL", "openai/gpt-4.1-mini")  # without a key
    ended = cli("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "heuristic:0.6", "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["lm_calls"], ended.json["accuracy"], ended.json["config"]["judge"]) == (0, 0.75, "heuristic:0.6")
    assert len(ended.json["config"]["judge_files"]) == 64
    (miss,) = json.loads(Path("r/results.json").read_text())["misses"]
    assert miss["sides"][0]["reason"].startswith("numbers differ: $9.9M here")
    report = Path("r/report.md").read_text()
    assert "(numbers differ: $9.9M here, $4.2M in the claim; only the document denies: not)\n" in report.replace(
        "\\", ""
    )
    assert "<b>" not in report and "](x)" not in report and "\x1b" not in report


def test_a_threshold_that_is_none_is_refused(cli: Any, pairs: Path) -> None:
    ended = cli("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "heuristic:2")
    assert (ended.code, ended.err) == (
        3,
        "regen: The judge heuristic takes a similarity threshold between 0 and 1, not '2'.\n",
    )


def test_the_threshold_is_chosen_on_half_of_the_pairs_and_measured_on_the_others(cli: Any, pairs: Path) -> None:
    lines = [json.loads(line) for line in pairs.read_text().splitlines()]
    pairs.write_text(
        "\n".join(json.dumps({**line, "id": f"{place}-{n}"}) for n in range(40) for place, line in enumerate(lines))
    )
    ended = cli("eval", "calibrate", "--data", str(pairs))
    assert ended.code == 0, ended.err
    threshold = ended.out.partition("heuristic:")[2].split()[0]
    assert 0.2 < float(threshold) < 0.7
    assert f"Threshold {threshold}, chosen on " in ended.out
    assert "on the topic or not, on " in ended.out and "100.0%" in ended.out
    chosen, other = (int(part.split()[-1]) for part in ended.out.replace(" other", "").split(" pairs")[:2])
    assert (chosen > 40, chosen + other) == (True, 160)


def test_too_few_pairs_of_a_label_give_no_threshold(cli: Any, pairs: Path) -> None:
    ended = cli("eval", "calibrate", "--data", str(pairs))
    assert (ended.code, "label more of them" in ended.err) == (2, True)
