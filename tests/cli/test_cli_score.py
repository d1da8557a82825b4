"""`regen score`: one response against a folder, a file of responses, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import QUESTION
from fake_model import FakeModel

DOCUMENTS = [{"text": "Our revenue in 2025 was $4.2M."}, {"text": "Audited, our revenue in 2025 was $6.8M."}]
ITEM = {"id": "a", "response": "Revenue in 2025 was $4.2M.", "question": QUESTION, "documents": DOCUMENTS}


def test_one_response_is_scored_against_a_folder(cli: Any, model: FakeModel) -> None:
    ended = cli("score", "--response", "Revenue in 2025 was $4.2M.", "--question", QUESTION)
    assert ended.code == 0
    assert ended.out.startswith(
        "\n  CS-C 1.00   CS-R 0.50\n\n  Revenue in 2025 was $4.2M.\n    for      [2]  2026-01-10"
    )
    assert "\n  Sources\n  [1]  2026-03-02  Annual report" in ended.out


def test_a_whole_response_to_no_question_needs_no_embedded_model(
    cli: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> Any:
        raise AssertionError("a model was made")

    monkeypatch.setattr("regen.cli.score.make_model", refused)
    asked = ("score", "-r", "Revenue in 2025 was $4.2M.", "--claims", "whole", "--docs", str(folder))
    ended = cli(*asked, "--model", "embedded", "--json")
    assert (ended.code, ended.json["usage"]["calls"]) == (0, 0)
    assert [claim["text"] for claim in ended.json["claims"]] == ["Revenue in 2025 was $4.2M."]


def test_a_response_can_be_read_from_a_file(cli: Any, model: FakeModel) -> None:
    Path("response.txt").write_text("Revenue in 2025 was $4.2M.")
    ended = cli("score", "-r", "@response.txt", "--question", QUESTION, "--quiet")
    assert (ended.code, ended.out) == (0, "1.0000 0.5000\n")


def test_json_is_one_object_that_its_schema_describes(cli: Any, model: FakeModel, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"nonsense")
    ended = cli("score", "-r", "Revenue in 2025 was $4.2M.", "--question", QUESTION, "--json")
    assert set(ended.json) == set(cli("schema", "score").json["$defs"]["ScoreOutput"]["properties"])
    assert ended.json["cs_r"] == 0.5
    assert ended.json["warnings"][0].startswith("broken.pdf was not read")


def test_a_response_without_a_claim_says_so_beside_its_scores(cli: Any, folder: Path) -> None:
    ended = cli(
        *("score", "-r", "The document does not say.", "--docs", str(folder)),
        *("--question", QUESTION, "--claims", "whole", "--judge", "heuristic", "--json"),
    )
    assert (ended.code, ended.json["cs_r"], ended.json["claims"]) == (0, 0.0, [])
    assert ended.json["warnings"] == [
        "The response makes no claim that can be checked: its scores of 0 say nothing of it."
    ]


def test_the_judge_model_scores_where_one_is_set(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_MODEL", "openai/unused-and-without-a-key")
    monkeypatch.setenv("REGEN_JUDGE_MODEL", "llamacpp/fake")
    assert cli("score", "-r", "Revenue in 2025 was $4.2M.", "--question", QUESTION).code == 0


def test_a_file_gives_a_line_each_and_is_resumed(cli: Any, model: FakeModel) -> None:
    _write(ITEM, {**ITEM, "id": 7}, {**ITEM, "id": None})
    ended = cli("score", "in.jsonl")
    assert [(line["id"], line["cs_r"]) for line in ended.lines] == [("a", 0.5), ("7", 0.5), ("3", 0.5)]
    Path("out.jsonl").write_text(ended.out.splitlines(keepends=True)[1])
    assert cli("score", "in.jsonl", "--out", "out.jsonl").out == ""
    assert [json.loads(line)["id"] for line in Path("out.jsonl").read_text().splitlines()] == ["7", "a", "3"]
    asked = len(model.prompts)
    again = cli("score", "in.jsonl", "--out", "out.jsonl")
    assert "out.jsonl holds a score for each id of in.jsonl: name another file with --out" in " ".join(
        again.err.split()
    )
    assert (again.code, again.out, len(model.prompts)) == (0, "", asked)
    refused = cli("score", "in.jsonl", "--out", "out.jsonl", "--claims", "whole")
    assert (refused.code, len(model.prompts)) == (2, asked)
    assert "for '7' that was made with other settings" in " ".join(refused.err.split())
    _write(ITEM, {**ITEM, "id": 7, "response": "It was less."}, {**ITEM, "id": None})
    refused = cli("score", "in.jsonl", "--out", "out.jsonl")
    assert "for '7' that was made from another input" in " ".join(refused.err.split())


def test_a_bad_line_is_named_before_anything_is_paid_for(cli: Any, model: FakeModel) -> None:
    _write(ITEM, "{", ITEM)
    ended = cli("score", "in.jsonl", "--json")
    assert (ended.code, ended.json["error"]["exit_code"], model.prompts) == (2, 2, [])
    assert ended.err.startswith("regen: in.jsonl, line 2: not JSON (")


def test_bad_lines_are_skipped_on_demand(cli: Any, model: FakeModel) -> None:
    _write("{", ITEM, {"id": "b"})
    ended = cli("score", "in.jsonl", "--skip-bad-lines")
    assert (ended.code, [line["id"] for line in ended.lines]) == (0, ["a"])
    assert "in.jsonl, line 1: " in ended.err and "in.jsonl, line 3: response: Field required." in ended.err
    assert ended.err.endswith("regen: 2 bad lines were skipped.\n")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ({**ITEM, "response": " "}, "in.jsonl, line 1: the response is empty."),
        ({**ITEM, "response": 3}, "in.jsonl, line 1: response: Input should be a valid string."),
        ({**ITEM, "id": True}, "in.jsonl, line 1: the id is neither a text nor a whole number."),
        ({**ITEM, "response": "\ud800"}, "in.jsonl, line 1: holds half a character"),
        ({**ITEM, "documents": []}, "in.jsonl, line 1: there are no documents."),
        ({**ITEM, "documents": [{"title": "t"}]}, "in.jsonl, line 1: text: Field required."),
        ({**ITEM, "documents": [{"text": "t", "date": "2026"}]}, "in.jsonl, line 1: date: Extra inputs"),
        ({**ITEM, "documents": [{"id": "x", "text": "t"}] * 2}, "in.jsonl, line 1: two documents have the same id."),
        ([], "in.jsonl, line 1: "),
        ("nonsense", "in.jsonl, line 1: not JSON"),
    ],
)
def test_a_line_that_cannot_be_scored_is_told(cli: Any, model: FakeModel, line: Any, sentence: str) -> None:
    _write(line)
    ended = cli("score", "in.jsonl")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert sentence in ended.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Give either a JSONL file or --response."),
        (["in.jsonl", "-r", "x"], "Give either a JSONL file or --response."),
        (["nowhere.jsonl"], "nowhere.jsonl cannot be read: No such file"),
        (["latin.jsonl"], "not UTF-8"),
        (["blank.jsonl"], "There is no response in blank.jsonl."),
        (["-r", " "], "The response is empty"),
        (["-r", " ", "--question", QUESTION], "The response is empty"),
        (["-r", "@nowhere.txt"], "The response file nowhere.txt cannot be read: No such file"),
        (["-r", "@latin.jsonl"], "The response file latin.jsonl cannot be read: it is not UTF-8 text."),
        (["-r", "zebra quagga"], "No document has anything on the response"),
        (["-r", "x", "--docs", "nowhere"], "nowhere does not exist"),
        (["-r", "x", "--out", "o"], "go with a JSONL file"),
        (["latin.jsonl", "--docs", "docs"], "--question go with --response: each line of a file brings its documents"),
        (["-r", "x", "-k", "101"], "Invalid value for '-k': Input should be less than or equal to 100."),
    ],
)
def test_bad_input_ends_in_one_sentence(cli: Any, model: FakeModel, arguments: list[str], sentence: str) -> None:
    Path("latin.jsonl").write_bytes(b"caf\xe9\n")
    Path("blank.jsonl").write_text("\n")
    ended = cli("score", *arguments)
    assert (ended.code, ended.out, ended.err.count("\n"), model.prompts) == (2, "", 1, [])
    assert sentence in ended.err


def test_one_failed_response_does_not_stop_the_others(cli: Any, model: FakeModel) -> None:
    _write(ITEM, {**ITEM, "id": "b", "response": "Penguins swim."})
    reply = model.completion
    model.completion = lambda prompt: {"choices": []} if "Response: Revenue" in prompt else reply(prompt)  # type: ignore[method-assign]
    ended = cli("score", "in.jsonl")
    assert ended.code == 4
    assert [(line["id"], "error" in line) for line in ended.lines] == [("a", True), ("b", False)]


def _write(*lines: Any) -> None:
    text = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    Path("in.jsonl").write_text("\n".join(text) + "\n")


def test_no_model_is_loaded_or_needed_where_none_is_asked(
    cli: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REGEN_API_BASE", "REGEN_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REGEN_MODEL", "openai/unused-and-without-a-key")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    asked = ("score", "-r", "Revenue in 2025 was $4.2M.", "--docs", str(folder), "--judge", "builtin", "--json")
    ended = cli(*asked, "--claims", "whole")
    assert ended.code == 0, ended.json
    assert ended.json["usage"]["calls"] == 0
    assert len(ended.json["claims"][0]["evidence"]) >= 2
    assert cli(*asked).code == 3
