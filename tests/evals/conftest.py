"""A file that passes for TruthfulQA's."""

from __future__ import annotations

from pathlib import Path

import pytest
from evals_data import write_truthfulqa


@pytest.fixture
def truthfulqa(tmp_path: Path) -> Path:
    """Its columns and count, with made-up questions but for the first."""
    return write_truthfulqa(tmp_path / "TruthfulQA.csv")
