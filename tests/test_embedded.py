"""The real embedded model, from the command line to the answer. `TEST_MODEL_PATH` names its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from regen.cli.app import run

pytestmark = pytest.mark.model


def test_ask_finds_a_conflict_and_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = os.environ.get("TEST_MODEL_PATH")
    if not weights:
        pytest.skip("TEST_MODEL_PATH names no model file: regen models pull prints one")
    monkeypatch.setenv("REGEN_MODEL_PATH", weights)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "2023-05-02-guide.md").write_text(
        "# Tidewater API guide\n\nThe Tidewater API allows 60 requests a minute. Requests beyond that are refused.\n"
    )
    (folder / "2025-09-10-changelog.md").write_text(
        "# Tidewater API changelog\n\nFrom this release on, the Tidewater API allows 300 requests a minute.\n"
    )
    code = run(["ask", "How many requests a minute does the Tidewater API allow?", "--docs", str(folder), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert code == 0
    assert any(claim["in_conflict"] for claim in answer["initial_claims"])
    assert len(answer["rounds"]) == 1
    assert {len(item["document_ids"]) for item in answer["document_answers"]} == {1}
    assert answer["usage"]["cached_tokens"] > 0
