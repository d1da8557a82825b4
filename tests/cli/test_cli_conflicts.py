"""`--log-conflicts`, `regen conflicts` and `--resolve` on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import QUESTION
from fake_model import FakeModel

HOSTILE = "[bold red]x[/] \x1b[31mred \x1b[2J \x1b]8;;https://evil.example\x1b\\link\x07 \u202eback \u2066in :smile: "


def lines(path: str = "log.jsonl") -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


# Writing.


def test_a_question_is_logged_with_its_conflict(cli: Any, model: FakeModel) -> None:
    Path("docs/second.md").write_text("---\ndate: 2026-01-11\n---\nOur revenue in 2025 was $4.2M.")
    assert cli("ask", QUESTION, "--log-conflicts", "log.jsonl").code == 0
    (line,) = lines()
    assert (line["conflict"], line["question"], line["decision"]["kept"]) == (True, QUESTION, "first")
    (claim,) = line["claims"]
    assert {side["id"] for side in claim["supports"]} == {"estimate.md", "second.md"}
    (side,) = claim["contradicts"]
    assert (side["id"], side["title"], side["published"]) == ("annual.md", "Annual report", "2026-03-02")
    assert side["quote"] == "After the audit, our revenue in 2025 was $6.8M."
    assert len(line["documents"]) == 4


def test_a_question_without_a_conflict_is_logged_without_its_words(cli: Any, model: FakeModel) -> None:
    Path("docs/estimate.md").unlink()
    model.first = "Revenue in 2025 was $6.8M [1]."
    assert cli("ask", QUESTION, "--log-conflicts", "log.jsonl").code == 0
    (line,) = lines()
    assert line["conflict"] is False
    assert "revenue" not in json.dumps(line)


def test_the_environment_names_the_log_too_and_every_question_of_a_file_is_logged(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_LOG_CONFLICTS", "log.jsonl")
    Path("questions.txt").write_text(f"{QUESTION}\nWhat was the revenue?\n")
    assert cli("ask", "--file", "questions.txt", "--out", "answers.jsonl").code == 0
    assert [line["conflict"] for line in lines()] == [True, True]
    # Those that are answered are not asked again.
    assert cli("ask", "--file", "questions.txt", "--out", "answers.jsonl").code == 0
    assert len(lines()) == 2


def test_without_the_option_nothing_is_written(cli: Any, model: FakeModel) -> None:
    before = set(Path().iterdir())
    assert cli("ask", QUESTION).code == 0
    assert {path.name for path in set(Path().iterdir()) - before} <= {"cache", "home"}


def test_a_log_that_cannot_be_written_is_a_warning_beside_the_answer(cli: Any, model: FakeModel) -> None:
    wanted = "The conflicts of this question were not logged: nowhere/log: No such file or directory."
    ended = cli("ask", QUESTION, "--log-conflicts", "nowhere/log", "--json")
    assert (ended.code, ended.json["answer"]) == (0, "Revenue in 2025 was $4.2M [1].")
    assert ended.json["warnings"] == [wanted]
    assert (
        "  ! The conflicts of this question were not logged"
        in cli("ask", QUESTION, "--log-conflicts", "nowhere/log").out
    )
    quiet = cli("ask", QUESTION, "--log-conflicts", "nowhere/log", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "Revenue in 2025 was $4.2M [1].\n", f"regen: {wanted}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([QUESTION, "--log-conflicts", ""], "it is empty: name a file."),
        (["--file", "q.txt", "--log-conflicts", "./q.txt"], "--log-conflicts and --file take different files."),
        (["--file", "q.txt", "--out", "x", "--log-conflicts", "x"], "--log-conflicts and --out take different files."),
        ([QUESTION, "--record", "x", "--log-conflicts", "x"], "--log-conflicts and --record take different files."),
        ([QUESTION, "--resolve", "recency", "--max-rounds", "0"], "take a --max-rounds of 1 or more."),
        ([QUESTION, "--resolve", "newest"], "Invalid value for '--resolve'"),
    ],
)
def test_what_does_not_go_together_is_refused(cli: Any, model: FakeModel, arguments: list[str], sentence: str) -> None:
    Path("q.txt").write_text("Why?\n")
    ended = cli("ask", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err
    assert (model.prompts, Path("q.txt").read_text()) == ([], "Why?\n")


def test_the_help_says_that_questions_are_written_down(cli: Any) -> None:
    def shown(command: str) -> str:
        return " ".join(re.sub("[\u2500-\u257f]", " ", cli(command, "--help").out).split())

    assert "Privacy: a question on which documents conflict is written to it, with quotes" in shown("ask")
    assert "holds the questions on which documents conflicted, in full" in shown("conflicts")


# Reading.


def entry(day: int, claim: str = "", *names: str, url: str = "") -> dict[str, Any]:
    sides = [
        {"id": name, "url": url, "title": "T", "published": f"202{place}-01-01", "quote": "q"}
        for place, name in enumerate(names)
    ]
    return {
        "time": f"2026-03-{day:02}T10:00:00Z",
        "conflict": bool(claim),
        "documents": [url or name for name in names] or ["other.md"],
        "question": "?" if claim else None,
        "claims": [{"claim": claim, "supports": sides[:1], "contradicts": sides[1:]}] if claim else [],
        "decision": None,
    }


def write(*entries: Any) -> None:
    Path("log.jsonl").write_text(
        "".join(json.dumps(item) + "\n" if isinstance(item, dict) else item for item in entries)
    )


def test_shows_documents_pairs_and_days(cli: Any) -> None:
    write(entry(2, "It is 10.", "old.md", "new.md"), entry(2), entry(4, "It is 10.", "old.md", "new.md"), entry(4))
    ended = cli("conflicts", "log.jsonl")
    assert (ended.code, ended.err) == (0, "")
    assert "  Questions 4  2026-03-02 to 2026-03-04  on 2 (50%) the documents conflict\n" in ended.out
    assert "      2  2021-01-01  new.md\n" in ended.out
    assert "         in 100% of the 2 questions it was read for, last on 2026-03-04\n" in ended.out
    assert '         2\u00d7  "It is 10."\n' in ended.out
    assert "      2  2020-01-01  old.md\n         2021-01-01  new.md  newer\n" in ended.out
    assert re.search("  2026-03-04      1 of     2   50%  \u2588+\u2591+\n", ended.out)


def test_json_is_one_object_that_its_schema_describes(cli: Any) -> None:
    write(entry(2, "It is 10.", "old.md", "new.md"), entry(2), "no JSON\n")
    ended = cli("conflicts", "log.jsonl", "--json")
    jsonschema.validate(ended.json, cli("schema", "conflicts").json)
    assert (ended.json["asks"], ended.json["conflicts"]) == (2, 1)
    assert ended.json["bad_lines"] == [{"line": 3, "cause": "it is not JSON"}]


def test_bad_lines_are_told_with_their_numbers_and_counted(cli: Any) -> None:
    write(entry(2), *["no JSON\n"] * 7, entry(2))
    ended = cli("conflicts", "log.jsonl")
    assert "  Questions 2  " in ended.out
    assert ended.err.splitlines() == [
        *[f"regen: log.jsonl, line {number}: it is not JSON." for number in range(2, 7)],
        "regen: 7 bad lines were passed over.",
    ]


def test_since_and_top_are_taken(cli: Any) -> None:
    write(entry(2, "It is 10.", "a.md", "b.md"), entry(4, "It is 10.", "c.md", "d.md"))
    shown = cli("conflicts", "log.jsonl", "--since", "2026-03-03", "--top", "1").out
    assert "a.md" not in shown and "Documents that conflict most (1 of 2)\n" in shown
    assert cli("conflicts", "log.jsonl", "--since", "2027-01-01").out == "No question was logged since 2027-01-01.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.jsonl"], "nothing.jsonl cannot be read: No such file or directory."),
        (["docs"], "docs cannot be read: Is a directory."),
        (["other.txt"], "other.txt holds no line of a log of conflicts (line 1: it is not JSON)"),
        (["log.jsonl", "--since", "yesterday"], "'yesterday' does not match the format"),
        (["log.jsonl", "--top", "0"], "Invalid value for '--top'"),
    ],
)
def test_bad_input_ends_in_one_sentence(cli: Any, folder: Path, arguments: list[str], sentence: str) -> None:
    Path("other.txt").write_text("Dear diary\n")
    write(entry(2))
    ended = cli("conflicts", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err and ended.err.count("\n") == 1


def test_an_empty_log_is_told(cli: Any) -> None:
    write()
    assert cli("conflicts", "log.jsonl").out == "No question was logged.\n"


@pytest.mark.parametrize("columns", ["40", "80", "160"])
def test_no_line_is_wider_than_the_terminal_and_nothing_in_it_is_markup_or_escape(
    cli: Any, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    long = "https://x.example/" + "very-long-path/" * 20
    write(
        entry(2, f"{HOSTILE} is claimed. " * 4, f"{HOSTILE}.md", "b.md"),
        entry(2, "It is 10.", "c.md", "d.md", url=long),
        {**entry(3), "conflict": None},
    )
    ended = cli("conflicts", "log.jsonl")
    shown = ended.out.splitlines()
    assert max(map(len, shown)) <= int(columns)
    assert [line for line in shown if line != line.rstrip()] == []
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", ended.out)
    assert "[bold red]x[/]" in ended.out


# Resolving.


def test_what_was_set_aside_is_shown(cli: Any, model: FakeModel) -> None:
    model.second = "Revenue in 2025 was $6.8M [1]."
    shown = cli("ask", QUESTION, "--resolve", "recency").out
    assert shown.startswith("\n  Revenue in 2025 was $6.8M [1].\n")
    assert (
        "  What was set aside before answering again\n"
        "  [2]  2026-01-10  a newer document (2026-03-02) contradicts it: [1]\n"
    ) in shown
    assert "  [2]  2026-01-10  Estimate       estimate.md\n" in shown


def test_what_was_set_aside_is_in_the_json(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("ask", QUESTION, "--json").json["set_aside"] == []
    monkeypatch.setenv("REGEN_RESOLVE", "recency")
    (item,) = cli("ask", QUESTION, "--json").json["set_aside"]
    assert item == {
        "document_id": "estimate.md",
        "newer_id": "annual.md",
        "reason": "a newer document (2026-03-02) contradicts it",
    }
