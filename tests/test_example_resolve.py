"""The example script of three conflicts runs, with a scripted model that believes the majority of documents."""

from __future__ import annotations

import json
import re
import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

SCRIPT = Path(__file__).parent.parent / "examples" / "resolve_conflicts.py"
# For a word of each question: what a document may say, and the answer that it then gives.
READINGS = {
    "revenue": {
        r"has been restated as \$16\.9 million": "Revenue was $16.9 million.",
        r"\$18\.4 million": "Revenue was $18.4 million.",
    },
    "laptops": {
        r"may no longer use their own laptops": "Employees may use company laptops only.",
        r"may use their own laptops": "Employees may use their own laptops.",
    },
    "uploads": {
        r"accepts 60 uploads": "The limit is 60 uploads.",
        r"now accepts 240 uploads": "The limit is 240 uploads.",
    },
}


def reading(document: str, question: str) -> tuple[str, str]:
    """What a document says to a question, and the answer that it gives; empty where it says nothing."""
    matter = next(patterns for word, patterns in READINGS.items() if word in question)
    found = ((re.search(pattern, document), answer) for pattern, answer in matter.items())
    return next(((said.group(), answer) for said, answer in found if said), ("", ""))


def reply(system: str, user: str, request: object) -> str:
    if "List the factual claims" in system:
        return user.partition("Response: ")[2]
    asked = re.search(r"^(?:Question: |\[\[ ## question ## \]\]\n)(.*)$", user, re.MULTILINE)
    assert asked
    readings = [reading(item, asked.group(1)) for item in re.findall(r"<document.*?</document>", user, re.DOTALL)]
    if "Say for each claim" in system:
        ((quote, answer),) = readings
        stance = "irrelevant" if not answer else "supports" if f"1. {answer}" in user else "contradicts"
        verdict = {"claim": 1, "stance": stance, "quote": quote, "confidence": 0.9}
        return json.dumps({"answer": answer or "none", "verdicts": [verdict]})
    return Counter(answer for _, answer in readings if answer).most_common(1)[0][0]


def test_each_conflict_is_answered_naively_and_then_from_the_newest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted_lm: Callable[..., Any]
) -> None:
    import regen.models

    monkeypatch.setattr(regen.models, "choose", lambda settings: None)
    monkeypatch.setattr(regen.models, "make_lm", lambda choice, settings: scripted_lm(reply))
    try:
        runpy.run_path(str(SCRIPT))
    finally:
        dspy.configure(lm=None)
    shown = capsys.readouterr().out
    assert re.findall(r"naive answer     (.*)\n  resolved answer  (.*)", shown) == [
        ("Revenue was $18.4 million.", "Revenue was $16.9 million."),
        ("Employees may use their own laptops.", "Employees may use company laptops only."),
        ("The limit is 60 uploads.", "The limit is 240 uploads."),
    ]
    assert "  [1]  2026-05-20  kept  revenue/2026-05-20-restated-revenue.md\n" in shown
    assert re.findall(r"set aside  (\S+)  \(a newer document \((\S+)\) contradicts it: ", shown) == [
        ("revenue/2026-02-12-earnings-release.md", "2026-05-20"),
        ("revenue/2026-03-03-letter-to-shareholders.md", "2026-05-20"),
        ("policy/2024-03-04-own-laptops-welcome.md", "2025-11-03"),
        ("policy/2024-09-10-first-week.md", "2025-11-03"),
        ("rate-limit/2024-06-17-tide-api-reference.md", "2026-01-26"),
        ("rate-limit/2024-10-21-quick-start-for-harbors.md", "2026-01-26"),
    ]
