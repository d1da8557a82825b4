"""How a judge's agreement is counted, and what the public sets are made into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_conflictbench.command import conflictbench, stance
from eval_conflictbench.data import ITEMS, PAIRS, ConflictItem, load, sampled, write
from eval_conflictbench.metrics import UNJUDGED, scores
from regen.errors import InputError
from regen.types import Document

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


@settings(deadline=None)
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


def conflict_sets(n: int) -> dict[str, list[dict[str, Any]]]:
    """`n` questions in the shape of each public set, all with both sides."""

    def page(place: int, stance: str) -> dict[str, Any]:
        asked = {"category": "Birds", "search_query": f"Is it {place}?", "search_engine_input": f"It is {place}."}
        found = {"search_type": f"{stance}_statement", "url": f"https://example.org/{place}", "title": f"Page {place}"}
        return asked | found | {"text_raw": "Menu.", "text_window": f"{place}: {stance}.", "stance": stance}

    def namesakes(place: int) -> dict[str, Any]:
        said = {"Heron (bird)": f"grey {place}", "Heron (boat)": f"blue {place}", "Heron (inn)": f"Grey {place} "}
        documents = [{"title": a, "text": f"{a} is {b}.", "pid": "1", "answer": b} for a, b in said.items()]
        asked = f"Which colour has heron {place}?"
        return {"qid": str(place), "ambiguous_entity": "Heron", "question": asked, "documents": documents}

    def rewritten(place: int) -> dict[str, Any]:
        text = [f"title: Gulls context: They came in {place}.", "title: Boats context: They float."]
        fake = [f"title: Gull lore Context: They came in {place}00.", text[1]]
        both = zip(text, fake, strict=True)
        contexts = [{"id": "7", "title": "Gulls", "text": real, "text_pert": pert} for real, pert in both]
        return {"question": f"when {place}", "answers": [f"{place}", "x"], "ctxs": contexts, "pert_lbls": [1, 0]}

    numbers = range(1, n + 1)
    return {
        "conflictingqa": [page(place, stance) for stance in ("yes", "no") for place in numbers],
        "ambigdocs": [namesakes(place) for place in numbers],
        "macnoise": [rewritten(place) for place in numbers],
    }


SETS = tuple(conflict_sets(0))


def array(path: Path, rows: Any) -> Path:
    path.write_text(json.dumps(rows, indent=2))
    return path


def texts(item: Any) -> list[str]:
    return [one.text for one in item.documents]


@pytest.mark.parametrize("name", SETS)
def test_a_question_is_a_conflict_of_both_sides_and_an_item_with_two_others(tmp_path: Path, name: str) -> None:
    rows = conflict_sets(5)[name]
    items = load(array(tmp_path / "a", rows), name, ITEMS, seed=3)
    assert [one.conflict for one in items] == [True, False] * 5
    assert len({one.id for one in items}) == 10 and {one.dataset for one in items} == {name}
    for conflict, calm in zip(items[::2], items[1::2], strict=True):
        assert conflict.claim == calm.claim and conflict.question == calm.question
        assert calm.documents[0].text == conflict.documents[0].text and len(calm.documents) == 3
        # Neither of the other two is of the same question.
        assert not {*texts(calm)[1:]} & {*texts(conflict)}
    again = load(lines(tmp_path / "b", *rows), name, ITEMS, seed=3)
    assert again == items
    other = load(tmp_path / "b", name, ITEMS, seed=4)
    assert other != items and other[::2] == items[::2]


@pytest.mark.parametrize("name", SETS)
def test_rows_of_one_question_never_stand_in_for_another(tmp_path: Path, name: str) -> None:
    field = "search_query" if name == "conflictingqa" else "question"
    rows = [{**row, field: f"{' ' * place}The Same?"} for place, row in enumerate(conflict_sets(4)[name])]
    assert all(len(one.documents) == 1 for one in load(array(tmp_path / "a", rows), name, ITEMS) if not one.conflict)


def test_pages_of_one_query_are_one_question(tmp_path: Path) -> None:
    rows = conflict_sets(2)["conflictingqa"]
    first, _, second, _ = load(
        array(tmp_path / "a", [*rows, {**rows[0], "text_window": "More."}]), "conflictingqa", ITEMS
    )
    assert (first.id, first.claim) == ("conflictingqa-1-1", 'The answer to "Is it 1?" is: yes')
    assert texts(first) == ["1: yes.", "More.", "1: no."] and texts(second) == ["2: yes.", "2: no."]
    assert (first.documents[0].title, first.documents[0].url) == ("Page 1", "https://example.org/1")


def test_namesakes_with_the_same_answer_support_it_and_the_others_contradict_it(tmp_path: Path) -> None:
    (row,) = conflict_sets(1)["ambigdocs"]
    columns = {name: [one[name] for one in row["documents"]] for name in row["documents"][0]}
    for number, documents in enumerate((row["documents"], columns)):
        conflict, _ = load(array(tmp_path / str(number), [{**row, "documents": documents}]), "ambigdocs", ITEMS)
        assert (conflict.id, conflict.claim) == (
            "ambigdocs-1-1",
            'The answer to "Which colour has heron 1?" is: grey 1',
        )
        assert [one.title for one in conflict.documents] == ["Heron (bird)", "Heron (inn)", "Heron (boat)"]


def test_passages_that_were_rewritten_are_the_two_sides(tmp_path: Path) -> None:
    (row,) = conflict_sets(1)["macnoise"]
    conflict, calm = load(array(tmp_path / "a", [row]), "macnoise", ITEMS)
    assert conflict.claim == 'The answer to "when 1" is: 1'
    assert [(one.title, one.text) for one in conflict.documents] == [
        ("Gulls", "They came in 1."),
        ("Gull lore", "They came in 100."),
    ]
    assert texts(calm) == ["They came in 1."]
    row["ctxs"][0]["text"] = "They came in 1: no title here."
    assert load(array(tmp_path / "b", [row]), "macnoise", ITEMS)[0].documents[0].text == row["ctxs"][0]["text"]


def test_a_question_with_one_side_is_no_conflict_and_one_without_support_is_no_item(tmp_path: Path) -> None:
    sets = conflict_sets(3)
    kept = [row for row in sets["conflictingqa"] if (row["search_query"], row["stance"]) != ("Is it 1?", "no")]
    kept = [row for row in kept if (row["search_query"], row["stance"]) != ("Is it 2?", "yes")]
    sets["ambigdocs"][0]["documents"][1]["answer"] = "GREY 1"
    sets["macnoise"][0]["pert_lbls"] = [0, 0]
    found = {
        name: load(array(tmp_path / name, rows), name, ITEMS) for name, rows in {**sets, "conflictingqa": kept}.items()
    }
    ids = {name: [one.id.removeprefix(f"{name}-") for one in items] for name, items in found.items()}
    # Of pages the number is that of the question's first one.
    assert ids["conflictingqa"] == ["1-0", "2-1", "2-0"]
    assert ids["ambigdocs"] == ["1-0", "2-1", "2-0", "3-1", "3-0"]
    assert ids["macnoise"] == ["2-1", "2-0", "3-1", "3-0"]


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("conflictingqa", {"stance": "perhaps"}, "'perhaps' is missing or unknown"),
        ("conflictingqa", {"stance": None}, "not an item of the format 'conflictingqa'"),
        ("conflictingqa", {"text_window": " "}, "text: it is blank"),
        ("ambigdocs", {"documents": []}, "not an item of the format 'ambigdocs'"),
        ("ambigdocs", {"documents": [{"title": "A", "text": "B"}]}, "'answer' is missing or unknown"),
        ("ambigdocs", {"documents": [{"title": "A", "text": "B", "answer": " "}]}, "the answer is blank"),
        ("ambigdocs", {"qid": "3"}, "the id 'ambigdocs-3-1' stands in"),
        ("macnoise", {"answers": []}, "not an item of the format 'macnoise'"),
        ("macnoise", {"ctxs": [{"text": "A"}]}, "'text_pert' is missing or unknown"),
        ("macnoise", {"question": ""}, "question: it is blank"),
    ],
)
def test_a_wrong_row_is_named_with_its_place(tmp_path: Path, name: str, change: dict[str, Any], why: str) -> None:
    """Whichever questions it would stand in for."""
    rows = conflict_sets(3)[name]
    bad = "3" if "stands in" in why else "2"
    rows[1] |= change
    for file, place in ((array(tmp_path / "a", rows), "item"), (lines(tmp_path / "l", *rows), "line")):
        with pytest.raises(InputError) as error:
            load(file, name, ITEMS)
        assert f", {place} {bad}: " in str(error.value) and why in str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[{"id": "1"}', "line 1: not JSON"),
        ('[\n\n{"id": "1",\n"claim": }]', "line 4: not JSON"),
        ('[\n{"claim": "C."},\n"x"]', "item 2: not an item"),
        ("[]", "There is no item in"),
        ("[" * 100_000, "not JSON"),
        ('[{"id": "1", "claim": "C.", "documents": [], "conflict": true}]', "item 1: documents"),
    ],
)
def test_what_is_wrong_with_an_array_is_said(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        load(file, "plain", ITEMS)
    assert why in str(error.value)


@pytest.mark.parametrize("name", SETS)
def test_written_items_are_read_again_as_they_were(tmp_path: Path, name: str) -> None:
    items = load(array(tmp_path / "a", conflict_sets(3)[name]), name, ITEMS)
    write(items, tmp_path / "plain.jsonl")
    assert load(tmp_path / "plain.jsonl", "plain", ITEMS) == items
    with pytest.raises(InputError, match="is there already"):
        write(items, tmp_path / "plain.jsonl")


def test_the_command_takes_every_set() -> None:
    """And shows it in its help."""
    for command, readers in ((stance, PAIRS), (conflictbench, ITEMS)):
        format = get_type_hints(command)["format"]
        assert get_args(format) == tuple(readers)


def test_a_set_that_could_not_be_written_whole_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = ConflictItem(id="a", claim="It is open.", documents=[Document(id="1", text="It is open.")], conflict=False)
    items = [one] * 3
    calls = iter([None, None])

    def dump(self: Any, **_: Any) -> str:
        if next(calls, "full") == "full":
            raise OSError(28, "No space left on device")
        return "{}"

    monkeypatch.setattr(ConflictItem, "model_dump_json", dump)
    with pytest.raises(OSError, match="No space left"):
        write(items, tmp_path / "items.jsonl")
    assert not (tmp_path / "items.jsonl").exists()


def test_half_a_character_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"claim": "\ud800", "document": "It is open.", "stance": "supports"}), encoding="utf-8")
    with pytest.raises(InputError, match="line 1: holds half a character"):
        load(path, "plain", PAIRS)


@pytest.mark.parametrize("name", [None, True, 1.5, ["a"], {"a": 1}])
def test_an_id_is_a_text_or_a_whole_number(name: Any, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    row = {"id": name, "claim": "It is open.", "document": "It is open.", "stance": "supports"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: not an item of the format 'plain'"):
        load(path, "plain", PAIRS)
