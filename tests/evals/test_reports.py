"""What an evaluation of reports reads, and how its figures are counted."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from eval_reports.data import load, select
from eval_reports.metrics import Row, Scored, figure, paired
from regen.errors import InputError
from regen.types import Usage


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_lines_are_read_in_both_formats(tmp_path: Path) -> None:
    plain, asked = (
        {"id": 1, "topic": "Gulls", "documents": ["A."]},
        {"id": "b", "question": "Why?", "documents": ["B."]},
    )
    found = load(lines(tmp_path / "p", plain, asked))
    assert [(item.id, item.topic, item.documents[0].text) for item in found] == [
        ("1", "Gulls", "A."),
        ("b", "Why?", "B."),
    ]
    result = {"doc_id": "d1", "source_url": "https://a.example/", "snippet": "Text.", "timestamp": "2024-05-01"}
    row = {"id": "c1", "query": "Is it?", "conflict_type": "No conflict", "gold_answer": "yes"}
    results = {"retrieved_docs": [result, {**result, "doc_id": "d2", "timestamp": ""}]}
    (item,) = load(lines(tmp_path / "c", row | results), "conflicts")
    assert (item.topic, item.category) == ("Is it?", "No conflict")
    assert [(one.id, one.published) for one in item.documents] == [("d1", date(2024, 5, 1)), ("d2", None)]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"id": "a", "documents": ["x"]}, "line 2: 'topic' is missing or unknown."),
        ({"id": "a", "topic": " ", "documents": ["x"]}, "line 2: topic: it is blank."),
        ({"id": "a", "topic": "T", "documents": []}, "line 2: documents: List should have at least 1 item"),
        ({"id": "g", "topic": "T", "documents": ["x"]}, "line 2: the id 'g' stands in line 1 as well."),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: Any, why: str) -> None:
    with pytest.raises(InputError, match="line 2") as error:
        load(lines(tmp_path / "p", {"id": "g", "topic": "Gulls", "documents": ["A."]}, row))
    assert why in str(error.value)


def test_a_part_is_drawn_by_category_and_seed_and_keeps_the_order(tmp_path: Path) -> None:
    rows = [{"id": n, "topic": "T", "documents": ["x"], "category": "AB"[n % 2]} for n in range(20)]
    items = load(lines(tmp_path / "p", *rows))
    drawn = [item.id for item in select(items, categories=["b"], sample=4, seed=1)]
    assert len(drawn) == 4 and all(int(name) % 2 for name in drawn) and drawn == sorted(drawn, key=int)
    assert drawn != [item.id for item in select(items, categories=["b"], sample=4, seed=2)]
    assert [item.id for item in select(items, limit=2)] == ["0", "1"]
    with pytest.raises(InputError, match="No item has the category 'C'; there are: A, B"):
        select(items, categories=["C"])


def report(cs_r: float, claims: int = 4) -> Scored:
    usage = Usage(calls=2, prompt_tokens=100)
    return Scored(text="", cs_c=0.5, cs_r=cs_r, claims=claims, in_conflict=0, unverified=1, unjudged=0, usage=usage)


def test_figures_are_means_over_what_was_scored_and_differences_over_what_both_have() -> None:
    rows = [
        Row(id="a", topic="A", reports={"plain": report(0.5), "rewritten": report(0.25)}),
        Row(id="b", topic="B", reports={"plain": report(0.25), "rewritten": report(0.25, claims=0)}),
        Row(id="c", topic="C", reports={"plain": report(0.0)}, errors={"rewritten": "It broke."}),
    ]
    plain, rewritten = figure(rows, "plain"), figure(rows, "rewritten")
    # By hand: (0.5 + 0.25 + 0) / 3, and over the two items of both (-0.25 + 0) / 2.
    assert (plain.n, plain.failed, plain.cs_r.mean, plain.claims, plain.without_claims) == (3, 0, 0.25, 4.0, 0)
    assert (rewritten.n, rewritten.failed, rewritten.cs_r.mean, rewritten.without_claims) == (2, 1, 0.25, 1)
    found = paired(rows, "plain", "rewritten")
    assert (found.n, found.cs_r.mean, found.cs_r.low, found.cs_r.high) == (2, -0.125, -0.25, 0.0)
    assert plain.cost is not None and (plain.cost.calls, plain.cost.prompt_tokens) == (2.0, 100.0)
    assert figure([], "plain").cs_c.mean is figure([], "plain").cost is None
