"""How a judge's agreement is counted, and what the public sets are made into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_conflictbench.data import ITEMS, PAIRS, load, sampled
from eval_conflictbench.metrics import UNJUDGED, scores

LABELS = ("supports", "contradicts", "irrelevant")


def test_scores_of_a_table_worked_out_by_hand() -> None:
    table = {
        ("supports", "supports"): 4,
        ("supports", "irrelevant"): 1,
        ("contradicts", "contradicts"): 2,
        ("contradicts", "supports"): 1,
        ("contradicts", UNJUDGED): 1,
        ("irrelevant", "irrelevant"): 3,
    }
    found = scores([pair for pair, count in table.items() for _ in range(count)], LABELS)
    assert (found.n, found.unjudged, found.accuracy.value) == (12, 1, 0.75)
    supports, contradicts, irrelevant = found.classes
    assert (supports.precision, supports.recall) == (4 / 5, 4 / 5)
    assert (contradicts.precision, contradicts.recall) == (1.0, 2 / 4)
    assert (irrelevant.precision, irrelevant.recall) == (3 / 4, 1.0)
    f1 = [8 / 10, 4 / 6, 6 / 7]
    assert [one.f1.value for one in found.classes] == pytest.approx(f1)
    assert found.macro_f1.value == pytest.approx(sum(f1) / 3)
    assert found.confusion["contradicts"] == {"supports": 1, "contradicts": 2, "irrelevant": 0, UNJUDGED: 1}


def test_a_label_that_no_item_has_is_left_out_of_the_mean() -> None:
    found = scores([("supports", "supports"), ("irrelevant", "contradicts")], LABELS)
    assert found.macro_f1.value == 0.5
    assert found.classes[1].f1.value is None and found.classes[1].precision == 0.0


def test_a_judge_that_failed_on_every_item_has_no_scores_and_not_0() -> None:
    found = scores([("supports", UNJUDGED), ("irrelevant", UNJUDGED)], LABELS)
    assert (found.n, found.unjudged) == (2, 2)
    figures = [found.accuracy, found.macro_f1, *(one.f1 for one in found.classes)]
    assert all(figure.value is figure.low is None for figure in figures)
    assert all(one.recall is one.precision is None for one in found.classes)


def test_nothing_has_no_scores() -> None:
    found = scores([], LABELS)
    assert (found.n, found.accuracy.value, found.macro_f1.value) == (0, None, None)


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from((*LABELS, UNJUDGED))), min_size=1, max_size=40))
def test_scores_are_shares_whatever_the_order(outcomes: list[tuple[str, str]]) -> None:
    found = scores(outcomes, LABELS)
    assert found == scores(outcomes[::-1], LABELS)
    for figure in (found.accuracy, found.macro_f1, *(one.f1 for one in found.classes)):
        if figure.value is not None and figure.low is not None and figure.high is not None:
            assert 0 <= figure.low <= figure.high <= 1
    assert sum(sum(row.values()) for row in found.confusion.values()) == len(outcomes)


def test_intervals_shrink_with_more_items_of_the_same_kind() -> None:
    few = [("supports", "supports")] * 3 + [("irrelevant", "supports"), ("irrelevant", "irrelevant")]
    widths = []
    for times in (4, 40):
        accuracy = scores(few * times, LABELS).accuracy
        assert accuracy.low is not None and accuracy.high is not None and accuracy.value == 0.8
        assert accuracy.low < 0.8 < accuracy.high
        widths.append(accuracy.high - accuracy.low)
    assert widths[1] < widths[0] / 2


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_row_of_ramdocs_is_a_conflict_and_an_item_without_one(tmp_path: Path) -> None:
    documents = [
        {"text": "It was 1918.", "type": "correct", "answer": "1918"},
        {"text": "It was 1920.", "type": "misinfo", "answer": "1920"},
        {"text": "Gulls.", "type": "noise", "answer": "unknown"},
    ]
    row = {"question": "When?", "documents": documents, "gold_answers": ["1918", "1917"], "wrong_answers": ["1920"]}
    others = [{**row, "question": f"Q{n}", "documents": [{**documents[0], "text": f"Other {n}."}]} for n in range(3)]
    conflict, calm, *rest = load(lines(tmp_path / "r", row, *others), "ramdocs", ITEMS)
    assert conflict.claim == 'The answer to "When?" is: 1918' and conflict.question == "When?"
    assert ([d.text for d in conflict.documents], conflict.conflict) == (["It was 1918.", "It was 1920."], True)
    assert calm.documents[0].text == "It was 1918." and not calm.conflict
    assert {d.text for d in calm.documents[1:]} < {"Other 0.", "Other 1.", "Other 2."} and len(calm.documents) == 3
    assert {one.dataset for one in (conflict, calm, *rest)} == {"ramdocs"}
    assert not any(one.conflict for one in rest)


def test_known_sets_of_pairs_become_stances(tmp_path: Path) -> None:
    fact = {"claim": "C.", "evidence": "E.", "stance": "partially-support"}
    health = {"claim": "C.", "evidence": "E.", "label": "Refutes"}
    evidences = [{"evidence": f"{n}.", "evidence_label": label} for n, label in enumerate(["SUPPORTS", "REFUTES"])]
    climate = {"claim_id": "7", "claim": "C.", "claim_label": "DISPUTED", "evidences": evidences}
    assert [p.stance.value for p in load(lines(tmp_path / "f", fact), "factcheck", PAIRS)] == ["supports"]
    assert [p.stance.value for p in load(lines(tmp_path / "h", health), "healthver", PAIRS)] == ["contradicts"]
    found = load(lines(tmp_path / "c", climate), "climate_fever", PAIRS)
    assert [(p.id, p.stance.value) for p in found] == [("climate-7-1", "supports"), ("climate-7-2", "contradicts")]
    assert [i.conflict for i in load(tmp_path / "c", "climate_fever", ITEMS)] == [True]


def test_a_sample_has_as_many_of_each_label_and_keeps_the_order(tmp_path: Path) -> None:
    rows = [{"claim": "C.", "document": "D.", "stance": LABELS[n % 3 and 2]} for n in range(30)]
    items = load(lines(tmp_path / "p", *rows), "plain", PAIRS)
    drawn = sampled(items, lambda one: one.stance.value, each=4, seed=1)
    assert [one.stance.value for one in drawn].count("supports") == 4 == len(drawn) - 4
    assert [items.index(one) for one in drawn] == sorted(items.index(one) for one in drawn)
    assert drawn == sampled(items, lambda one: one.stance.value, each=4, seed=1)
    assert drawn != sampled(items, lambda one: one.stance.value, each=4, seed=2)
