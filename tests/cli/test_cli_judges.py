"""`regen eval stance` and `regen eval conflictbench`: a judge from labelled lines to its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel
from jsonschema import validate

QUESTION = "What was the revenue?"


def pair(number: int, text: str, stance: str, **more: Any) -> str:
    claim = {"id": f"p{number}", "claim": "The revenue was $6.8M.", "question": QUESTION}
    return json.dumps({**claim, "document": text, "stance": stance, **more})


def item(number: int, conflict: bool, *texts: str, **more: Any) -> str:
    claim = {"id": f"i{number}", "claim": "The revenue was $6.8M.", "question": QUESTION}
    return json.dumps({**claim, "documents": [{"text": text} for text in texts], "conflict": conflict, **more})


@pytest.fixture
def pairs(tmp_path: Path, model: FakeModel) -> Path:
    """Four pairs, which the model reads as support, contradiction, nothing, and support where people saw none."""
    texts = [("The revenue was $6.8M.", "supports"), ("The revenue was $4.2M.", "contradicts")]
    texts += [("Gulls bring no revenue.", "irrelevant"), ("The revenue was $6.8M, they joked.", "irrelevant")]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(pair(number, *text) for number, text in enumerate(texts, 1)))
    return file


@pytest.fixture
def items(tmp_path: Path, model: FakeModel) -> Path:
    """Two conflicts and two items without one, from two datasets; the last has a conflict that people did not see."""
    both = ("The revenue was $6.8M.", "The revenue was $4.2M.")
    lines = [item(1, True, *both, dataset="a"), item(2, True, *both, dataset="b")]
    lines += [item(3, False, both[0], "Gulls bring no revenue.", dataset="a"), item(4, False, *both, dataset="b")]
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join(lines))
    return file


def test_stances_end_to_end(cli: Any, pairs: Path) -> None:
    ended = cli("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "contrast", "--json")
    assert ended.code == 0, ended.err
    found = ended.json
    assert (found["n"], found["accuracy"], found["unjudged"]) == (4, 0.75, 0)
    # F1: supports 2·1/(1+2), contradicts 1, irrelevant 2·1/(2+1).
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)
    assert found["confusion"]["irrelevant"] == {"supports": 1, "contradicts": 0, "irrelevant": 1, "unjudged": 0}
    assert (found["precision"], found["f1"]) == (None, None)
    assert found["lm_calls"] == found["usage"]["calls"] > 0
    assert found["pairs"] == 4
    validate(found, cli("schema", "judge").json)
    results = json.loads(Path("r/results.json").read_text())
    validate(results, cli("schema", "judge-results").json)
    (miss,) = results["misses"]
    assert (miss["id"], miss["meant"], miss["found"]) == ("p4", "irrelevant", "supports")
    assert miss["sides"][0]["quote"] == "The revenue was $6.8M, they joked."
    assert "**p4**, supports where people said irrelevant" in Path("r/report.md").read_text()


def test_two_judges_are_compared_item_by_item(cli: Any, pairs: Path, model: FakeModel) -> None:
    command = ("eval", "stance", "--data", str(pairs), "--judge", "contrast", "--json")
    assert cli(*command, "--run", "a").code == 0
    model.broken, model.breaks = (500, {"error": {"message": "boom"}}), "joked"
    assert cli(*command, "--run", "b").code == 4
    shown = cli("runs", "diff", "a", "b").out
    assert "judging: right in 3 of 3 in A and in 3 of 3 in B" in shown
    listed = " ".join(cli("runs", "list", ".").out.split())
    assert "stance" in listed and "contrast, llamacpp/fake" in listed
    assert "joked" not in cli("runs", "show", "b").out and "Report: b/report.md" in cli("runs", "show", "b").out


def test_conflicts_end_to_end_by_dataset(cli: Any, items: Path) -> None:
    command = ("eval", "conflictbench", "--data", str(items), "--run", "r", "--judge", "contrast")
    found = cli(*command, "--json").json
    assert (found["n"], found["accuracy"]) == (4, 0.75)
    assert (found["precision"], found["recall"]) == (pytest.approx(2 / 3), 1.0)
    assert found["f1"] == pytest.approx(0.8)
    assert found["overall"]["accuracy"]["low"] < 0.75 < found["overall"]["accuracy"]["high"]
    assert {name: part["accuracy"]["value"] for name, part in found["datasets"].items()} == {"a": 1.0, "b": 0.5}
    assert {one["label"]: one["recall"] for one in found["classes"]} == {"conflict": 1.0, "no conflict": 0.5}
    # Gone on with, it asks nothing again, and shows a table.
    shown = cli(*command)
    assert shown.code == 0
    assert "b: no conflict" in shown.out and "accuracy 75.0%" in shown.out


def test_an_items_claim_is_taken_apart_where_that_is_asked_for(cli: Any, tmp_path: Path, model: FakeModel) -> None:
    both = ("The revenue was $6.8M.", "The revenue was $4.2M.")
    file = tmp_path / "one.jsonl"
    file.write_text(item(1, True, *both, claim="The audit is over; the revenue was $6.8M."))
    command = ("eval", "conflictbench", "--data", str(file), "--judge", "builtin", "--json", "--run")
    whole = cli(*command, "whole").json
    assert (whole["pairs"], whole["lm_calls"], whole["config"]["claims"]) == (2, 0, None)
    apart = cli(*command, "apart", "--claims", "atomic").json
    assert (apart["pairs"], apart["lm_calls"], apart["config"]["claims"]) == (4, 1, "atomic")
    assert f"Question: {QUESTION}" in model.prompts[-1]
    # Only where it is taken apart do its prompts count.
    assert whole["config"]["prompts"] is None and apart["config"]["prompts"]
    ended = cli(*command, "whole", "--claims", "atomic")
    assert (ended.code, "claims" in json.loads(ended.out)["error"]["message"]) == (2, True)


def test_an_item_in_which_no_claim_is_found_is_told(cli: Any, tmp_path: Path, model: FakeModel) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(item(1, False, "The revenue was $6.8M.", claim="None."))
    command = ("eval", "conflictbench", "--data", str(file), "--judge", "builtin", "--claims", "atomic", "--json")
    found = cli(*command, "--run", "r").json
    assert found["pairs"] == 0
    assert found["warnings"] == {"No claim was found in it, so no document could contradict one.": 1}


def test_two_judges_are_compared_on_conflicts_as_well(cli: Any, items: Path, model: FakeModel) -> None:
    command = ("eval", "conflictbench", "--data", str(items), "--judge", "contrast", "--json")
    assert cli(*command, "--run", "a").code == 0
    model.answers = ["$9.9M", "$6.8M"]
    assert cli(*command, "--run", "b").code == 0
    (stage,) = cli("runs", "diff", "a", "b", "--json").json["stages"]
    assert (stage["n"], stage["right_before"]) == (4, 3)
    changed = {one["id"]: (one["before"], one["after"], one["mended"]) for one in stage["changed"]}
    assert changed["i4"] == ("conflict", "no conflict", True)


def test_a_published_set_is_judged_as_it_is(cli: Any, tmp_path: Path, model: FakeModel) -> None:
    documents = [
        {"title": "Acme (shoes)", "text": "The revenue was $6.8M.", "pid": "1", "answer": "$6.8M"},
        {"title": "Acme (tea)", "text": "The revenue was $4.2M.", "pid": "2", "answer": "$4.2M"},
    ]
    gulls = [{"title": "Gulls", "text": "Gulls bring no revenue.", "pid": "3", "answer": "here"}]
    file = tmp_path / "dev.json"
    rows = [{"qid": "1", "ambiguous_entity": "Acme", "question": QUESTION, "documents": documents}]
    rows.append({"qid": "2", "ambiguous_entity": "Gull", "question": "Where do gulls breed?", "documents": gulls})
    file.write_text(json.dumps(rows))
    command = ("eval", "conflictbench", "--data", str(file), "--format", "ambigdocs")
    judged = ("--judge", "contrast", "--json", "--run")
    found = cli(*command, *judged, "published").json
    assert found["n"] == 3 and {one["label"]: one["n"] for one in found["classes"]} == {"conflict": 1, "no conflict": 2}
    assert found["recall"] == 1.0
    asked = len(model.prompts)
    converted = cli(*command, "--convert", "plain.jsonl")
    assert (converted.code, converted.out, "3 items in plain.jsonl" in converted.err) == (0, "", True)
    assert len(model.prompts) == asked
    again = cli("eval", "conflictbench", "--data", "plain.jsonl", *judged, "plain").json
    assert (again["confusion"], again["pairs"]) == (found["confusion"], found["pairs"])
    ended = cli(*command, "--convert", "plain.jsonl")
    assert (ended.code, "plain.jsonl is there already" in ended.err) == (2, True)


def test_items_are_converted_as_they_would_be_judged(cli: Any, pairs: Path, model: FakeModel) -> None:
    """Those of --each, and without a model or a run."""
    ended = cli("eval", "stance", "--data", str(pairs), "--each", "1", "--convert", "some.jsonl")
    assert ended.code == 0, ended.err
    given = [json.loads(line) for line in pairs.read_text().splitlines()]
    drawn = [json.loads(line) for line in Path("some.jsonl").read_text().splitlines()]
    assert sorted(one["stance"] for one in drawn) == ["contradicts", "irrelevant", "supports"]
    texts = {one["id"]: one["document"] for one in given}
    assert all(one["document"]["text"] == texts[one["id"]] for one in drawn)
    assert not model.prompts and not Path("runs").exists()


def test_a_limit_ends_the_run_and_it_goes_on_later(cli: Any, pairs: Path, model: FakeModel) -> None:
    command = ("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "contrast", "--json")
    first = cli(*command, "--max-calls", "4")
    assert (first.code, first.json["complete"]) == (5, False)
    asked = len(model.prompts)
    whole = cli(*command)
    assert (whole.code, whole.json["n"], whole.json["lm_calls"]) == (0, 4, len(model.prompts))
    assert asked == 4


def test_what_a_judge_fails_on_is_counted_and_never_right(cli: Any, pairs: Path, model: FakeModel) -> None:
    model.broken, model.breaks = (500, {"error": {"message": "boom"}}), "Gulls"
    command = ("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "contrast", "--json")
    ended = cli(*command)
    assert (ended.code, ended.json["unjudged"], ended.json["accuracy"]) == (4, 1, 0.5)
    assert "1 of 4 items could not be judged" in ended.err
    assert "boom" in Path("r/report.md").read_text()
    model.broken = None
    again = cli(*command, "--retry-failed")
    assert (again.code, again.json["accuracy"]) == (0, 0.75)


def test_as_many_of_each_label_are_drawn_as_asked_for(cli: Any, pairs: Path) -> None:
    found = cli("eval", "stance", "--data", str(pairs), "--judge", "contrast", "--each", "1", "--json").json
    assert [one["n"] for one in found["classes"]] == [1, 1, 1]


@pytest.mark.parametrize(
    ("command", "text", "why"),
    [
        ("stance", "{", "line 2: not JSON"),
        ("stance", "[]", "line 2: not an item"),
        ("stance", '{"claim": "x"}', "line 2: 'document' is missing"),
        ("stance", pair(2, "x", "agrees"), "line 2: stance"),
        ("stance", pair(2, "x", "supports", claim="  "), "line 2: claim: it is blank"),
        ("stance", pair(1, "x", "supports"), "line 2: the id 'p1' stands in line 1 as well"),
        ("conflictbench", item(2, True), "line 2: documents"),
        ("conflictbench", json.dumps({**json.loads(item(2, True, "x")), "conflict": 1}), "line 2: conflict"),
        ("conflictbench", json.dumps({**json.loads(item(2, True, "x")), "documents": "x"}), "line 2: not an item"),
        (
            "conflictbench",
            json.dumps({**json.loads(item(2, True)), "documents": [{"id": "2", "text": "x"}, "y"]}),
            "line 2: two documents have the same id",
        ),
    ],
)
def test_a_wrong_line_is_named(cli: Any, tmp_path: Path, model: FakeModel, command: str, text: str, why: str) -> None:
    file = tmp_path / "data.jsonl"
    first = pair(1, "x", "supports") if command == "stance" else item(1, True, "x")
    file.write_text(f"{first}\n{text}\n")
    ended = cli("eval", command, "--data", str(file), "--run", "r")
    assert (ended.code, why in ended.err) == (2, True), ended.err
    assert not Path("r").exists()


def test_a_judge_that_asks_no_model_needs_none(
    cli: Any, pairs: Path, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regen.judges.nli import NLIJudge
    from regen.types import Evidence, Judgement, Stance

    class Judge(NLIJudge):
        identity = "abc"

        def __init__(self, _: str) -> None:
            """Without a model."""

        def judge(self, claims: Any, documents: Any, **_: Any) -> Judgement:
            text = documents[0].text
            stance = Stance.SUPPORTS if "6.8" in text else Stance.IRRELEVANT
            one = Evidence(claim_id=claims[0].id, document_id=documents[0].id, stance=stance, quote=text)
            return Judgement(evidence=[one])

    monkeypatch.setattr("regen.judges.nli.NLIJudge", Judge)
    monkeypatch.setenv("REGEN_MODEL", "openai/gpt-4.1-mini")
    monkeypatch.delenv("REGEN_API_BASE")
    ended = cli("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "nli:some/model", "--json")
    assert ended.code == 0, ended.err
    assert (ended.json["lm_calls"], ended.json["config"]["judge_files"], ended.json["config"]["model"]) == (
        0,
        "abc",
        None,
    )


def test_the_figures_of_a_run_gone_on_with_are_those_of_one_that_was_not(
    cli: Any, pairs: Path, model: FakeModel
) -> None:
    """The last two pairs have one claim, question and document: none is answered from the other one's calls."""
    twice = pairs.read_text().splitlines()
    pairs.write_text("\n".join([*twice, pair(5, "The revenue was $6.8M, they joked.", "irrelevant")]))
    command = ("eval", "stance", "--data", str(pairs), "--judge", "contrast", "--concurrency", "1", "--json")
    whole = cli(*command, "--run", "whole").json
    asked = len(model.prompts)
    for limit in range(1, asked, 3):
        assert cli(*command, "--run", "parts", "--max-calls", str(limit)).code == 5
    parts = cli(*command, "--run", "parts").json
    assert len(model.prompts) == 2 * asked
    for name in ("n", "accuracy", "macro_f1", "confusion", "lm_calls"):
        assert parts[name] == whole[name]
    assert whole["pairs_per_second"] > 0
    assert parts["pairs_per_second"] is None


def test_where_the_other_side_may_be_in_what_was_not_judged_the_item_is_not_judged(
    cli: Any, items: Path, model: FakeModel
) -> None:
    both = ("The revenue was $6.8M.", "The revenue was $4.2M.")
    items.write_text(f"{items.read_text()}\n{item(5, True, *both, 'Gulls bring no revenue.', dataset='a')}")
    model.broken, model.breaks = (500, {"error": {"message": "boom"}}), "Gulls"
    ended = cli("eval", "conflictbench", "--data", str(items), "--run", "r", "--judge", "contrast", "--json")
    assert (ended.code, ended.json["unjudged"], ended.json["partly_judged"]) == (4, 1, 1)
    assert "boom" in ended.err and "1 of 5 items could not be judged" in ended.err
    assert any("boom" in warning for warning in ended.json["warnings"])
    report = Path("r/report.md").read_text()
    assert "**i3**, unjudged where people said no conflict" in report
    assert "**i5**, conflict, judged in part" in report and "boom" in report


def test_what_documents_say_is_no_markup_in_the_report(cli: Any, tmp_path: Path, model: FakeModel) -> None:
    evil = "The revenue was $6.8M. <script>x</script> [a](javascript:x) | \x1b[31m \u202e"
    file = tmp_path / "pairs.jsonl"
    file.write_text(pair(1, evil, "irrelevant", id="<b>|", claim=f"{evil} 1", dataset="<i>"))
    ended = cli("eval", "stance", "--data", str(file), "--run", "r", "--judge", "contrast")
    assert ended.code == 0, ended.err
    report = Path("r/report.md").read_text()
    assert "<script>" not in report and "](" not in report and "\x1b" not in report and "\u202e" not in report
    assert "\x1b[31m" not in ended.out


def test_batches_and_samples_are_refused_for_a_judge_without_a_model(
    cli: Any, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regen.judges.nli import NLIJudge

    monkeypatch.setattr(NLIJudge, "__init__", lambda self, _: None)
    command = ("eval", "stance", "--data", str(pairs), "--run", "r", "--judge", "nli:x/y")
    assert "asks no model: leave --batch out" in cli(*command, "--batch").err
    ended = cli(*command, "--judge-samples", "3")
    assert (ended.code, "says the same each time: leave --judge-samples out" in ended.err) == (3, True)


def test_runs_of_two_evaluations_are_not_compared(cli: Any, pairs: Path, items: Path) -> None:
    assert cli("eval", "stance", "--data", str(pairs), "--judge", "contrast", "--run", "a").code == 0
    assert cli("eval", "conflictbench", "--data", str(items), "--judge", "contrast", "--run", "b").code == 0
    ended = cli("runs", "diff", "a", "b")
    assert (ended.code, "a is a run of stance, and b one of conflictbench" in ended.err) == (2, True)
