"""`regen check` on the command line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import regen.check


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two documents that disagree about a price, and one about something else."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "old.md").write_text("---\ntitle: Prices\ndate: 2024-01-10\n---\nA parcel costs $5 to send.\n")
    (folder / "new.md").write_text("---\ntitle: New prices\ndate: 2025-03-02\n---\nA parcel costs $9 to send.\n")
    (folder / "lunch.md").write_text("Lunch is at noon.\n")
    return folder


def test_shows_both_quotes_their_dates_and_the_newer_one(cli: Any, docs: Path) -> None:
    ended = cli("check", "docs")
    assert (ended.code, ended.err) == (0, "")
    assert "  Contradictions 1  in 3 documents\n" in ended.out
    assert "  amounts differ: $5 / $9\n" in ended.out
    assert (
        '      2024-01-10  old.md\n                  "A parcel costs $5 to send."\n'
        '      2025-03-02  new.md  newer\n                  "A parcel costs $9 to send."\n'
    ) in ended.out


def test_fail_on_ends_with_1_where_a_finding_is_as_sure_and_json_is_what_its_schema_describes(
    cli: Any, docs: Path
) -> None:
    ended = cli("check", "docs", "--json", "--fail-on", "0.6")
    assert (ended.code, ended.err) == (1, "regen: 1 finding is at 0.6 or above.\n")
    jsonschema.validate(ended.json, cli("schema", "check").json)
    (found,) = ended.json["findings"]
    assert [side["document"] for side in found["sides"]] == ["old.md", "new.md"]
    (docs / "new.md").unlink()
    assert cli("check", "docs", "--fail-on", "0.6").code == 0


def test_nothing_of_a_document_is_markup_in_the_page_or_an_escape_in_the_terminal(cli: Any, docs: Path) -> None:
    (docs / "<i>.md").write_text("---\ntitle: <u>\n---\nA parcel costs $7 <b>to send[/]\x1b[2J\u202e.")
    ended = cli("check", "docs", "--html", "found.html")
    page = Path("found.html").read_text()
    assert ended.code == 0 and "to send[/]" in ended.out and "to send[/]" in page
    assert not re.search("<[biu]>", page) and "&lt;b&gt;to send" in page
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", ended.out + page)
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["nowhere"], 2, "The documents folder nowhere does not exist"),
        (["docs", "--fail-on", "2"], 2, "Invalid value for '--fail-on'"),
        (["docs", "--html", "no/such/file.html"], 2, "there is none for it"),
        (["docs", "--html", "docs"], 2, "it is a folder"),
        (["docs", "--html", "docs/found.html"], 2, "would be one of the documents"),
        (["docs", "--judge", "nobody"], 3, "no judge 'nobody'; for this there are: rules, builtin, heuristic, nli."),
        (["docs", "--judge", "cascade"], 3, "--judge cascade asks a language model about every pair"),
        (["docs", "--judge", "auto"], 3, "--judge auto asks a language model about every pair"),
    ],
)
def test_bad_input_ends_in_one_sentence(cli: Any, docs: Path, arguments: list[str], code: int, sentence: str) -> None:
    ended = cli("check", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert sentence in ended.err and ended.err.count("\n") == 1


def test_a_judge_without_a_model_decides_and_says_why(cli: Any, docs: Path) -> None:
    (found,) = cli("check", "docs", "--judge", "heuristic", "--json").json["findings"]
    assert found["reason"].startswith("numbers differ: $")


def test_a_page_that_cannot_be_written_leaves_one_json_object_and_a_sentence(
    cli: Any, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("regen.reporting.put", full)
    ended = cli("check", "docs", "--json", "--html", "found.html")
    assert (ended.code, len(ended.json["findings"])) == (2, 1)
    assert ended.err == "regen: found.html was not written (No space left on device): name another file.\n"


def test_a_folder_whose_name_is_no_text_ends_in_one_json_object(cli: Any) -> None:
    ended = cli("check", "\udcff", "--json")
    assert (ended.code, ended.json["error"]["exit_code"]) == (2, 2)


def test_a_guard_is_not_green_where_pairs_were_not_judged(
    cli: Any, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = regen.check.check

    def unjudged(*arguments: Any, **more: Any) -> regen.check.CheckReport:
        return checked(*arguments, **more).model_copy(update={"findings": [], "unjudged": 1})

    monkeypatch.setattr("regen.check.check", unjudged)
    ended = cli("check", "docs", "--fail-on", "0.6")
    assert ended.code == 4 and "1 of 1 pairs were not judged" in ended.err
