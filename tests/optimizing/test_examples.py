"""The example script that compiles with plain DSPy runs, with a scripted model in place of the real ones."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from small_world import BETTER, Model

from regen import Regen

SCRIPT = Path(__file__).parents[2] / "examples" / "compile_prompts.py"


def test_the_example_compiles_with_plain_dspy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted_lm: Callable[..., Any]
) -> None:
    rows = [
        {
            "id": str(number),
            "question": f"What is said of matter {number}?",
            "choices": [f"true-{number}", f"false-{number}"],
            "answer": 0,
            "documents": [f"It is true-{number}.", f"People say false-{number}."],
        }
        for number in range(12)
    ]
    data = tmp_path / "items.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))
    made, gepa = scripted_lm(Model()), dspy.GEPA
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(data)])
    monkeypatch.setattr(dspy, "LM", lambda *_, **__: made)
    # What "light" stands for is far more than a test needs.
    monkeypatch.setattr(dspy, "GEPA", lambda *, auto, **more: gepa(max_metric_calls=30, num_threads=1, **more))
    try:
        runpy.run_path(str(SCRIPT))
    finally:
        dspy.configure(lm=None)
    again = Regen(judge="lm")
    again.load("compiled.json")
    assert again.choose.signature.instructions == BETTER
