"""`regen search`, and how a search is chosen by every command that needs one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import QUESTION
from fake_model import FakeModel

from regen.output import schema


@pytest.fixture
def recording(cli: Any, folder: Path, tmp_path: Path) -> Path:
    """A recording of a search for QUESTION in `folder`."""
    file = tmp_path / "recording.jsonl"
    assert cli("search", QUESTION, "--docs", str(folder), "--record", str(file)).code == 0
    return file


def test_results_are_shown_with_title_date_and_place(cli: Any, folder: Path) -> None:
    ended = cli("search", QUESTION, "--docs", str(folder), "-k", "2")
    assert ended.code == 0
    assert "[1]  2026-01-10  Estimate" in ended.out or "[1]  2026-03-02  Annual report" in ended.out
    assert "estimate.md  local" in ended.out and "annual.md  local" in ended.out
    assert "lunch.md" not in ended.out


def test_json_is_one_object_of_the_schema(cli: Any, folder: Path) -> None:
    import jsonschema

    ended = cli("search", QUESTION, "--docs", str(folder), "--json")
    jsonschema.validate(ended.json, schema("search"))
    assert ended.json["search"] == "local"
    assert {item["id"] for item in ended.json["documents"]} == {"estimate.md", "annual.md", "lunch.md"}


def test_nothing_found_is_told_and_is_no_error(cli: Any, folder: Path) -> None:
    ended = cli("search", "zygote", "--docs", str(folder))
    assert (ended.code, ended.out.strip()) == (0, "Nothing was found.")


def test_a_recording_is_searched_without_the_folder(cli: Any, recording: Path) -> None:
    ended = cli("search", QUESTION, "--recorded", str(recording), "--json")
    assert ended.json["search"] == "recorded"
    assert len(ended.json["documents"]) == 3


def test_ask_answers_from_a_recording(
    cli: Any, model: FakeModel, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REGEN_DOCS")
    ended = cli("ask", QUESTION, "--recorded", str(recording), "--json")
    assert ended.code == 0
    assert ended.json["scores"]["initial"]["cs_r"] == 0.5


def test_ask_records_what_it_found(cli: Any, model: FakeModel, tmp_path: Path) -> None:
    file = tmp_path / "found.jsonl"
    assert cli("ask", QUESTION, "--record", str(file)).code == 0
    assert json.loads(file.read_text())["query"] == QUESTION


def test_results_of_two_searches_are_one_list(cli: Any, folder: Path, recording: Path) -> None:
    ended = cli(
        "search", QUESTION, "--search", "local,recorded", "--docs", str(folder), "--recorded", str(recording), "--json"
    )
    assert {item["source"] for item in ended.json["documents"]} == {"local"}
    assert len(ended.json["documents"]) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("search", " "), 2, "The query is empty"),
        (("search", "q", "-p", "altavista"), 3, "There is no search provider 'altavista'; there are: "),
        (("search", "q", "-p", "local"), 3, "needs a folder of documents: name one with --docs"),
        (("search", "q", "-p", "local,"), 3, "different providers' names"),
        (("search", "q", "-p", "local,local"), 3, "different providers' names"),
        (("search", "q", "--recorded", "gone.jsonl"), 2, "gone.jsonl cannot be read"),
        (("search", "q", "--since", "yesterday"), 2, "--since is not valid: write it as 2025-01-31."),
        (("search", "q", "--since", "0"), 2, "--since is not valid: write it as 2025-01-31."),
        (("search", "q", "--site", "a OR b"), 2, "--site is not valid: 'a OR b' is no site"),
        (("search", "q", "--site", ""), 2, "--site is not valid: '' is no site"),
        (("search", "q", "--docs", ".", "--record", "/dev/null"), 2, "/dev/null is no file that can be added to"),
    ],
)
def test_a_search_that_cannot_be_is_told(cli: Any, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    ended = cli(*arguments)
    assert (ended.code, ended.out) == (code, "")
    assert sentence in ended.err


def test_markup_and_escapes_of_a_document_are_shown_as_they_are(cli: Any, folder: Path) -> None:
    (folder / "evil.md").write_text("# [red]gull[/red]\n\nA gull \x1b[31m [link=http://x]flies[/link].\n")
    ended = cli("search", "gull", "--docs", str(folder))
    assert "\x1b" not in ended.out
    assert "[link=http://x]flies[/link]" in ended.out


def test_a_misspelt_setting_in_the_config_file_is_told(cli: Any, folder: Path) -> None:
    Path("config.toml").write_text("serach = 'local'\n")
    ended = cli("search", "q", "--docs", str(folder))
    assert ended.code == 3
    assert "has 'serach', which is no setting: is 'search' meant?" in ended.err


def test_a_folder_that_is_named_by_a_flag_is_searched_whatever_the_environment_names(
    cli: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_SEARCH", "ddgs")
    assert cli("search", QUESTION, "--docs", str(folder), "--json").json["search"] == "local"


def test_a_folder_that_is_not_searched_is_told(
    cli: Any, folder: Path, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("search", QUESTION, "--search", "recorded", "--recorded", str(recording), "--docs", str(folder))
    assert "is not searched: --search names recorded, and not local" in " ".join(cli(*arguments).err.split())


def test_a_site_without_a_search_of_the_web_is_told_to_be_of_no_use(cli: Any, folder: Path) -> None:
    ended = cli("search", QUESTION, "--docs", str(folder), "--site", "a.example")
    assert (ended.code, "the files of a folder are of no site" in " ".join(ended.err.split())) == (0, True)


def test_a_key_that_is_set_and_not_valid_is_told_and_not_passed_over(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "two words")
    ended = cli("search", "q")
    assert ended.code == 3
    assert "BRAVE_API_KEY is not valid" in ended.err


def test_escapes_in_the_names_of_files_and_in_recordings_are_not_shown(cli: Any, folder: Path, tmp_path: Path) -> None:
    (folder / "a\x1b[31mred\u202e.md").write_text("Gulls fly.\n")
    shown = cli("search", "gulls", "--docs", str(folder)).out
    assert "Gulls fly." in shown
    assert "\x1b" not in shown and "\u202e" not in shown
    evil = {"id": "x", "url": "https://x.example/\x1b]0;pwn\x07", "source": "s\x1b[31m", "text": "Gulls fly."}
    file = tmp_path / "evil.jsonl"
    file.write_text(json.dumps({"query": "gulls", "k": 1, "documents": [evil]}) + "\n")
    assert "\x1b" not in cli("search", "gulls", "--recorded", str(file)).out


def test_a_broken_env_file_is_told(cli: Any, folder: Path) -> None:
    Path(".env").write_text("OPENAI_API_KEY='x\0y'\n")
    ended = cli("search", "q", "--docs", str(folder), "--json")
    assert ended.code == 3
    assert ended.json["error"]["message"].startswith("The file .env in this folder cannot be read")


def test_sites_can_be_given_with_commas_and_with_a_star(
    cli: Any, folder: Path, recording: Path, tmp_path: Path
) -> None:
    file = tmp_path / "sites.jsonl"
    documents = [
        {"id": f"https://www.{name}.example/", "url": f"https://www.{name}.example/", "text": "Gulls."}
        for name in "abc"
    ]
    file.write_text(json.dumps({"query": "gulls", "k": 3, "documents": documents}) + "\n")
    found = cli("search", "gulls", "--recorded", str(file), "--site", "a.example,*.b.example", "--json").json
    assert [item["id"][12] for item in found["documents"]] == ["a", "b"]
