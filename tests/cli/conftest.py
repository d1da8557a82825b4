"""The command line in this process, a folder of documents that disagree, and a model to ask about them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel

QUESTION = "What was our revenue in 2025?"


@dataclass
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object and nothing else."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSONL."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command line in this process, as `main` does."""
    monkeypatch.setenv("NO_COLOR", "")  # so that what --no-color sets is undone
    monkeypatch.setenv("COLUMNS", "80")

    def run_it(*arguments: str) -> Ended:
        from regen.cli.app import run

        capsys.readouterr()
        try:
            code = run(list(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
        shown = capsys.readouterr()
        return Ended(code, shown.out, shown.err)

    return run_it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents: two that disagree about the revenue, and one about something else."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "estimate.md").write_text(
        "---\ntitle: Estimate\ndate: 2026-01-10\n---\nOur revenue in 2025 was $4.2M, by the first estimate.\n"
    )
    (folder / "annual.md").write_text(
        "---\ntitle: Annual report\ndate: 2026-03-02\n---\nAfter the audit, our revenue in 2025 was $6.8M.\n"
    )
    (folder / "lunch.md").write_text("Lunch is at noon; revenue is not talked about.\n")
    return folder


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[FakeModel]:
    """A model that reads `folder` well; it and the folder are in the settings."""
    fake = FakeModel()
    for name, value in {
        "MODEL": "llamacpp/fake",
        "API_BASE": fake.url,
        "JUDGE": "contrast",
        "DOCS": str(folder),
        "RETRIES": "0",
    }.items():
        monkeypatch.setenv(f"REGEN_{name}", value)
    yield fake
    fake.close()
    if "dspy" in sys.modules:
        import dspy

        dspy.configure(lm=None)
