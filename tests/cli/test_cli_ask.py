"""`regen ask`: what it prints, what it takes, and how it ends when something is wrong."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from conftest import QUESTION
from fake_model import FakeModel

# Rich markup, a colour, a screen wiped, a link, bidirectional overrides: what a document may try to do to a terminal.
HOSTILE = "[bold red]x[/] \x1b[31mred \x1b[2J \x1b]8;;https://evil.example\x1b\\link\x07 \u202eback \u2066in :smile: "


def test_shows_the_answer_the_disagreement_the_sources_and_the_cost(cli: Any, model: FakeModel) -> None:
    ended = cli("ask", QUESTION)
    assert ended.code == 0
    shown = ended.out
    assert shown.startswith("\n  Revenue in 2025 was $4.2M [1].\n")
    assert '    against  [1]  2026-03-02  "After the audit, our revenue in 2025 was $6.8M."\n' in shown
    assert "  What the documents themselves answer\n  $6.8M  [1]\n  $4.2M  [2]\n" in shown
    assert "  [2]  2026-01-10  Estimate       estimate.md\n" in shown
    assert re.search(r"\n  \d+ model calls, [\d,]+ prompt tokens \([\d,]+ cached\), \d+ new, \d+\.\d s\n$", shown)
    assert ended.err == ""


def test_shows_both_answers_where_the_second_took_the_place_of_the_first(cli: Any, model: FakeModel) -> None:
    model.second = "Revenue in 2025 was $6.8M [1]."
    Path("docs/other.md").write_text("The audited revenue in 2025 was $6.8M.")
    shown = cli("ask", QUESTION).out
    assert shown.startswith("\n  Revenue in 2025 was $6.8M [1].\n")
    assert "  first answer  Revenue in 2025 was $4.2M [1].\n  now           Revenue in 2025 was $6.8M [1].\n" in shown


@pytest.mark.parametrize("columns", ["50", "80", "160"])
def test_no_line_is_wider_than_the_terminal_or_ends_in_spaces(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    model.first = "Revenue in 2025 was $4.2M, which is what the first estimate said at the time it was made. " * 3
    lines = cli("ask", QUESTION).out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert [line for line in lines if line != line.rstrip()] == []


def test_choices_are_listed_with_their_shares_and_the_chosen_one_marked(cli: Any, model: FakeModel) -> None:
    shown = cli("ask", QUESTION, "-c", "It was $4.2M", "-c", "It was $6.8M").out
    assert "  > 100%  It was $4.2M\n      0%  It was $6.8M\n" in shown


def test_claims_that_no_document_speaks_of_are_shown(cli: Any, model: FakeModel) -> None:
    model.first = model.second = "Penguins can not fly."
    shown = cli("ask", QUESTION).out
    assert "  What no document supports or contradicts\n  Penguins can not fly.\n" in shown
    assert "No disagreement" not in shown


def test_nothing_from_documents_and_models_reaches_the_terminal_as_markup_or_escape(
    cli: Any, model: FakeModel, folder: Path
) -> None:
    (folder / "evil.md").write_text(
        f"---\ntitle: '[link=x://y]T[/link]'\n---\n{HOSTILE} our revenue in 2025 was $9.9M.\n"
    )
    (folder / "[red]name.md").write_text("Our revenue in 2025 was $9.9M.")
    model.answers.append("$9.9M")
    model.first = f"{HOSTILE} Revenue in 2025 was $4.2M."
    shown = cli("ask", QUESTION).out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    for kept in ("[bold red]x[/]", ":smile:", "[link=x://y]T[/link]", "[red]name.md"):
        assert kept in shown


def test_piped_output_has_no_escapes_and_quiet_prints_the_answer_alone(cli: Any, model: FakeModel) -> None:
    assert "\x1b" not in cli("ask", QUESTION).out
    assert cli("ask", QUESTION, "--quiet").out == "Revenue in 2025 was $4.2M [1].\n"


def test_no_color_leaves_no_colour_where_colours_are_forced(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[36m" in cli("ask", QUESTION).out
    shown = cli("ask", QUESTION, "--no-color").out
    assert re.findall(r"\x1b\[[\d;]*3\d[\d;]*m", shown) == []


def test_json_is_one_object_that_its_schema_describes(cli: Any, model: FakeModel) -> None:
    answered = cli("ask", QUESTION, "--json").json
    schema = cli("schema", "ask").json
    wanted = schema["$defs"]["AskOutput"]
    assert set(answered) == set(wanted["properties"]) >= set(wanted["required"])
    assert answered["answer"] == "Revenue in 2025 was $4.2M [1]."
    assert answered["citations"] == ["annual.md"]
    assert [item["answer"] for item in answered["document_answers"]] == ["$6.8M", "$4.2M"]


def test_the_kind_of_conflict_is_one_line_beside_the_disagreement(cli: Any, model: FakeModel) -> None:
    shown = cli("ask", QUESTION, "--kinds", "rules").out
    assert "  Kind of conflict  outdated, by rules: one side, [1], is newer than all" in shown
    assert "Kind of conflict" not in cli("ask", QUESTION).out
    kind = cli("ask", QUESTION, "--kinds", "rules", "--json").json["kind"]
    assert (kind["kind"], kind["by"]) == ("outdated", "rules")


def test_a_kind_that_the_model_names_is_shown_without_markup_or_escapes(cli: Any, model: FakeModel) -> None:
    plain = model.reply
    said = json.dumps({"reason": f"{HOSTILE} [2] is newer.", "kind": "outdated"})
    model.reply = lambda prompt: said if "what kind of conflict" in prompt else plain(prompt)  # type: ignore[method-assign]
    shown = cli("ask", QUESTION, "--kinds", "model").out
    assert "outdated, by the model: [bold red]x[/]" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_a_kind_that_the_model_does_not_name_is_found_by_rules_with_a_warning(cli: Any, model: FakeModel) -> None:
    shown = cli("ask", QUESTION, "--kinds", "model").out
    assert "Kind of conflict  outdated, by rules" in shown
    assert "  ! The kind of conflict was found by rules: the model" in shown


def test_a_strategy_that_checks_nothing_says_so_and_has_no_scores(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_STRATEGY", "vanilla")
    shown = cli("ask", QUESTION).out
    assert "  Not checked: the strategy vanilla answers once" in shown
    assert "no claim that can be checked" not in shown and "disagree" not in shown
    assert len(model.prompts) == 1
    assert cli("ask", QUESTION, "--json").json["scores"] == {"initial": None, "final": None}


def test_oracle_is_told_the_kind(cli: Any, model: FakeModel) -> None:
    answered = cli("ask", QUESTION, "--strategy", "oracle", "--gold-kind", "opinions", "--json").json
    assert answered["kind"] == {"kind": "opinions", "reason": "it was given with the question", "by": "gold"}
    assert "take no side" in model.prompts[-1]


def test_kinds_are_a_setting(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_KINDS", "rules")
    assert cli("ask", QUESTION, "--json").json["kind"]["by"] == "rules"


def test_a_broken_file_is_a_warning_beside_the_good_ones(cli: Any, model: FakeModel, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    assert "  ! broken.pdf was not read: " in cli("ask", QUESTION).out
    assert "broken.pdf" in cli("ask", QUESTION, "--json").json["warnings"][0]


def test_a_pdf_of_300_pages_is_read(cli: Any, model: FakeModel, folder: Path) -> None:
    (folder / "long.pdf").write_bytes(_pdf([f"Page {n} on the weather." for n in range(299)] + ["Revenue was $6.8M."]))
    documents = cli("ask", QUESTION, "--json").json["documents"]
    assert any(document["id"].startswith("long.pdf#") for document in documents)


def test_a_question_beginning_with_markup_and_not_in_ascii_is_taken_as_it_is(cli: Any, model: FakeModel) -> None:
    assert cli("ask", "[red]¿Cuál revenue 收入?", "--json").json["question"] == "[red]¿Cuál revenue 收入?"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([""], 2, "The question is empty"),
        ([" \t "], 2, "The question is empty"),
        (["caf\udce9"], 2, "The question is empty, or not text"),
        ([], 2, "There is no question"),
        (["zebra quagga?"], 2, "No document has anything on 'zebra quagga?'"),
        ([QUESTION, "--docs", "nowhere"], 2, "nowhere does not exist"),
        ([QUESTION, "--docs", "docs/lunch.md"], 2, "is not a folder"),
        ([QUESTION, "--docs", "empty"], 2, "There is no readable document in empty"),
        ([QUESTION, "-c", "one"], 2, "Give --choice at least twice"),
        ([QUESTION, "-c", "one", "-c", "one"], 2, "Give --choice at least twice"),
        ([QUESTION, "-c", "one", "-c", " "], 2, "Give --choice at least twice"),
        ([QUESTION, "-k", "0"], 2, "Invalid value for '-k': Input should be greater than or equal to 1."),
        ([QUESTION, "-k", "ten"], 2, "Invalid value for '-k'"),
        ([QUESTION, "--strategy", "oracle"], 2, "The strategy oracle needs the kind of conflict"),
        ([QUESTION, "--gold-kind", "outdated"], 2, "The strategy conflict-score takes no known kind"),
        ([QUESTION, "--strategy", "taxonomy", "-c", "a", "-c", "b"], 2, "leave out the choices"),
        ([QUESTION, "--kinds", "guess"], 2, "Invalid value for '--kinds'"),
        ([QUESTION, "--nonsense"], 2, "No such option: --nonsense"),
        ([QUESTION, "more"], 2, "unexpected extra argument"),
        (
            [QUESTION, "--judge", "nobody"],
            3,
            "There is no judge 'nobody'; there are: auto, builtin, cascade, contrast, ensemble, heuristic, lm, nli.",
        ),
        ([QUESTION, "--model", "nobody/"], 3, "has no name after '/'"),
        ([QUESTION, "--api-base", "localhost"], 3, "must begin with http://"),
        ([QUESTION, "--file", "questions.txt"], 2, "not both"),
        ([QUESTION, "--out", "answers.jsonl"], 2, "--out goes with --file"),
        (["--file", "nowhere.txt"], 2, "nowhere.txt cannot be read: No such file"),
        (["--file", "docs"], 2, "docs cannot be read: Is a directory"),
        (["--file", "latin.txt"], 2, "not UTF-8"),
        (["--file", "blank.txt"], 2, "There is no question in blank.txt."),
    ],
)
def test_bad_input_ends_in_one_sentence(
    cli: Any, model: FakeModel, tmp_path: Path, arguments: list[str], code: int, sentence: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "blank.txt").write_text(" \n\n")
    ended = cli("ask", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert ended.err.startswith("regen: ") and ended.err.count("\n") == 1
    assert sentence in ended.err
    assert model.prompts == []

    with_json = cli("ask", *arguments, "--json")
    assert with_json.json["error"]["exit_code"] == with_json.code == code
    assert sentence in with_json.json["error"]["message"] or not arguments


@pytest.mark.parametrize(
    ("status", "body", "code", "sentence"),
    [
        (200, {"choices": []}, 4, "has no answer in it"),
        (200, "<html>Sign in to the hotel's network</html>", 4, "is not JSON"),
        (401, {"error": {"message": "bad key"}}, 3, "refused the key for llamacpp/fake: check REGEN_API_KEY."),
        (404, {"error": {"message": "unknown model"}}, 3, "has no model llamacpp/fake (unknown model)"),
        (500, {"error": {"message": "boom"}}, 4, "(boom): try again later."),
    ],
)
def test_a_failed_model_ends_in_one_sentence(
    cli: Any, model: FakeModel, status: int, body: Any, code: int, sentence: str
) -> None:
    model.broken = status, body
    ended = cli("ask", QUESTION, "--json")
    assert ended.code == ended.json["error"]["exit_code"] == code
    assert sentence in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize("said", ["", "\n \n", "...", "**"])
def test_an_answer_without_a_letter_is_none(cli: Any, model: FakeModel, said: str) -> None:
    model.first = said
    ended = cli("ask", QUESTION)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == "regen: The model returned an empty answer: try again, or name another model.\n"


def test_an_endpoint_that_is_down_ends_in_one_sentence(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.close()
    ended = cli("ask", QUESTION)
    assert ended.code == 4
    assert ended.err.startswith(f"regen: Cannot reach {model.url}")


def test_an_answer_that_could_not_be_checked_is_shown_with_the_exit_code_of_the_failure(
    cli: Any, model: FakeModel
) -> None:
    ended = cli("ask", QUESTION, "--judge", "lm")
    assert ended.code == 4
    assert model.first in ended.out
    assert "The answer could not be checked against the documents" in ended.out
    assert "The model's answer does not have the fields" in " ".join(ended.out.split())


def test_an_answer_is_shown_though_the_judges_key_is_refused_and_the_batch_ends(
    cli: Any, model: FakeModel, tmp_path: Path
) -> None:
    model.broken, model.breaks = (401, {"error": {"message": "bad key"}}), "You read one document"
    ended = cli("ask", QUESTION)
    assert ended.code == 3
    assert model.first in ended.out
    assert "refused the key" in " ".join(ended.out.split())

    Path("questions.txt").write_text(f"{QUESTION}\nWhat was the revenue in 2025?\n")
    ended = cli("ask", "--file", "questions.txt")
    assert ended.code == 3
    assert [line["answer"] for line in ended.lines] == [model.first]
    assert "refused the key" in ended.err


@pytest.mark.parametrize("how", ["--quiet", "--json"])
def test_why_an_answer_could_not_be_checked_is_told_where_the_warnings_are_not_shown(
    cli: Any, model: FakeModel, how: str
) -> None:
    ended = cli("ask", QUESTION, "--judge", "lm", how)
    assert (ended.code, model.first in ended.out) == (4, True)
    assert ended.err.startswith("regen: The answer could not be checked: ")
    assert "does not have the fields" in " ".join(ended.err.split())


def test_an_answer_that_could_not_be_checked_has_no_scores_and_is_asked_for_again(
    cli: Any, model: FakeModel, tmp_path: Path
) -> None:
    questions, out = tmp_path / "questions.txt", tmp_path / "out.jsonl"
    questions.write_text(QUESTION)
    arguments = ("ask", "--file", str(questions), "--out", str(out))
    assert cli(*arguments, "--judge", "lm").code == 4
    assert cli(*arguments).code == 0
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert first["answer"] == model.first and first["scores"] == {"initial": None, "final": None}
    assert second["scores"]["initial"]["cs_r"] > 0


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (b"k = =", "is not valid TOML"),
        (b"k = '\xff'", "is not UTF-8 text"),
        (b"k = 1000", "Setting 'k' (from "),
    ],
)
def test_a_bad_config_file_is_told(cli: Any, model: FakeModel, config: bytes, sentence: str) -> None:
    Path("config.toml").write_bytes(config)
    ended = cli("ask", QUESTION)
    assert ended.code == 3
    assert sentence in ended.err and "config.toml" in ended.err


def test_a_folder_in_place_of_the_config_file_is_told(cli: Any, model: FakeModel, monkeypatch: Any) -> None:
    monkeypatch.setenv("REGEN_CONFIG", "docs")
    ended = cli("ask", QUESTION)
    assert ended.code == 3
    assert ended.err == "regen: docs is a folder: name the config file itself with REGEN_CONFIG.\n"


def test_a_bad_variable_and_a_bad_env_file_are_told(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_K", "ten")
    assert "Setting 'k' (from environment) is not valid" in cli("ask", QUESTION).err
    Path(".env").write_bytes(b"NAME=\xff")
    ended = cli("ask", QUESTION)
    assert ended.code == 3
    assert ".env in this folder cannot be read" in ended.err


def test_a_file_of_questions_gives_a_line_each_and_goes_on_past_a_failure(cli: Any, model: FakeModel) -> None:
    Path("questions.txt").write_text(f"{QUESTION}\n\nzebra quagga?\nWhen is lunch?\n")
    ended = cli("ask", "--file", "questions.txt")
    assert ended.code == 2
    assert [line["question"] for line in ended.lines] == [QUESTION, "zebra quagga?", "When is lunch?"]
    assert [line.get("error", {}).get("exit_code") for line in ended.lines] == [None, 2, None]
    assert ended.err.startswith("regen: zebra quagga?: No document has anything on")


def test_a_file_of_questions_is_resumed(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("questions.txt").write_text(f"{QUESTION}\nWhen is lunch?\n")
    assert cli("ask", "--file", "questions.txt", "--out", "answers.jsonl").out == ""
    whole = Path("answers.jsonl").read_text()
    first, second = whole.splitlines(keepends=True)
    Path("answers.jsonl").write_text(first + second[:40])
    asked = len(model.prompts)
    assert cli("ask", "--file", "questions.txt", "--out", "answers.jsonl").code == 0
    assert _questions("answers.jsonl") == [QUESTION, "When is lunch?"]
    assert QUESTION not in "".join(model.prompts[asked:])
    asked = len(model.prompts)
    ended = cli("ask", "--file", "questions.txt", "--out", "answers.jsonl")
    assert (ended.code, len(model.prompts)) == (0, asked)
    assert ended.err == "regen: answers.jsonl holds the answers to all questions of questions.txt.\n"
    other = cli("ask", "--file", "questions.txt", "--out", "answers.jsonl", "--judge", "builtin")
    assert (other.code, len(model.prompts)) == (2, asked)
    assert "made with other settings" in " ".join(other.err.split())
    # Where the same files are read, and by the same model, it does not matter how they were named.
    monkeypatch.setenv("REGEN_RETRIES", "1")
    assert (
        cli("ask", "--file", "questions.txt", "--out", "answers.jsonl", "--docs", str(Path("docs").resolve())).code == 0
    )
    monkeypatch.setenv("REGEN_MODEL", "openai/other")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert cli("ask", "--file", "questions.txt", "--out", "answers.jsonl").code == 2


def test_a_wrong_key_ends_a_batch_at_once(cli: Any, model: FakeModel) -> None:
    Path("questions.txt").write_text(f"{QUESTION}\nWhen is lunch?\n")
    model.broken = 401, {}
    assert cli("ask", "--file", "questions.txt").code == 3
    assert len(model.prompts) == 1


def test_ctrl_c_before_there_is_an_answer_ends_with_130_and_a_sentence(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupt_at("Answer the question", model, monkeypatch)
    ended = cli("ask", QUESTION, "--json")
    assert ended.code == ended.json["error"]["exit_code"] == 130
    assert ended.err == "regen: Interrupted.\n"


@pytest.mark.parametrize(
    ("phase", "checked", "why"),
    [
        ("List the factual claims", False, "it was not checked"),
        ("You read one document", False, "it was not checked"),
        ("Feedback:", True, "it was not answered again"),
    ],
)
def test_ctrl_c_shows_the_first_answer_and_what_was_found_about_it(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch, phase: str, checked: bool, why: str
) -> None:
    _interrupt_at(phase, model, monkeypatch)
    ended = cli("ask", QUESTION, "--json")
    assert ended.code == 130
    assert ended.err == f"regen: Interrupted in the middle: {why}.\n"
    shown = ended.json
    assert (shown["answer"], shown["decision"]) == (model.first, {"kept": "first", "reason": why})
    assert (shown["scores"]["initial"] is not None) is checked
    assert bool(shown["claims"]) is checked
    assert len(shown["documents"]) == 3


def test_ctrl_c_while_the_second_answer_is_checked_shows_it_as_a_round(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupt_at(f"Response: {model.second.partition(' [')[0]}", model, monkeypatch)
    ended = cli("ask", QUESTION, "--json")
    assert ended.code == 130
    assert ended.err == "regen: Interrupted in the middle: the answer that was given again was not checked.\n"
    assert [(one["answer"], one["scores"]) for one in ended.json["rounds"]] == [(model.second, None)]
    assert ended.json["answer"] == model.first


def test_a_question_that_is_interrupted_once_its_answer_was_checked_is_in_the_log(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupt_at("Feedback:", model, monkeypatch)
    assert cli("ask", QUESTION, "--log-conflicts", "log.jsonl").code == 130
    assert _questions("log.jsonl") == [QUESTION]


def test_a_second_ctrl_c_does_not_cut_off_what_is_shown_for_the_first(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    import regen.cli.ask

    show = regen.cli.ask._show

    def interrupted(result: Any, **options: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        show(result, **options)

    monkeypatch.setattr(regen.cli.ask, "_show", interrupted)
    _interrupt_at("Feedback:", model, monkeypatch)
    ended = cli("ask", QUESTION, "--json")
    assert (ended.code, ended.json["answer"]) == (130, model.first)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_answer_that_could_not_be_checked_is_a_failure_and_asked_for_again(cli: Any, model: FakeModel) -> None:
    model.broken, model.breaks = (500, {"error": {"message": "boom"}}), f"Response: {model.second.partition(' [')[0]}"
    ended = cli("ask", QUESTION, "--json")
    assert (ended.code, ended.json["answer"]) == (4, model.first)
    assert "boom" in ended.err
    Path("questions.txt").write_text(QUESTION)
    arguments = ("ask", "--file", "questions.txt", "--out", "out.jsonl")
    assert cli(*arguments).code == 4
    model.broken = None
    assert cli(*arguments).code == 0
    first, second = (json.loads(line) for line in Path("out.jsonl").read_text().splitlines())
    assert (first["rounds"][0]["scores"], second["rounds"][0]["scores"] is None) == (None, False)


def test_half_a_character_in_a_reply_is_replaced(cli: Any, model: FakeModel) -> None:
    model.first = "Revenue \ud83d in 2025 was $4.2M [1]."
    ended = cli("ask", QUESTION, "--json")
    assert ended.code == 0
    assert ended.json["initial_answer"] == "Revenue ? in 2025 was $4.2M [1]."


def test_an_answer_is_shown_with_its_report_though_the_model_fails_to_answer_again(cli: Any, model: FakeModel) -> None:
    model.broken, model.breaks = (500, {"error": {"message": "boom"}}), "Feedback:"
    ended = cli("ask", QUESTION)
    assert ended.code == 4
    assert model.first in ended.out and "against  [1]" in ended.out
    assert "boom" in ended.err and "This is what there was: it was not answered again." in " ".join(ended.err.split())


def test_ctrl_c_in_a_batch_leaves_whole_lines(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("questions.txt").write_text(f"{QUESTION}\nWhen is lunch?\n")
    _interrupt_at("When is lunch?", model, monkeypatch)
    assert cli("ask", "--file", "questions.txt", "--out", "answers.jsonl").code == 130
    assert _questions("answers.jsonl") == [QUESTION]


def test_ctrl_c_while_documents_are_read_leaves_no_half_of_an_index(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    import search.store

    read = search.store.read

    def interrupted(entry: Any) -> Any:
        if entry.path.name == "lunch.md":
            signal.raise_signal(signal.SIGINT)
        return read(entry)

    monkeypatch.setattr(search.store, "read", interrupted)
    ended = cli("ask", QUESTION)
    assert (ended.code, ended.out, ended.err) == (130, "", "regen: Interrupted.\n")
    monkeypatch.setattr(search.store, "read", read)
    answered = cli("ask", QUESTION, "--json").json
    assert answered["warnings"] == []
    assert len(answered["documents"]) == 3


def _interrupt_at(phase: str, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C when the model gets the first prompt with `phase` in it."""
    reply, sent = model.reply, []

    def interrupting(prompt: str) -> str:
        if phase in prompt and not sent:
            sent.append(prompt)
            os.kill(os.getpid(), signal.SIGINT)
        return reply(prompt)

    monkeypatch.setattr(model, "reply", interrupting)


def _questions(file: str) -> list[str]:
    return [json.loads(line)["question"] for line in Path(file).read_text().splitlines()]


def _pdf(pages: list[str]) -> bytes:
    """A PDF file with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    return (
        out
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
            f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
        ).encode()
    )


def test_a_whole_answer_is_one_claim_and_takes_no_call_to_find(cli: Any, model: FakeModel) -> None:
    ended = cli("ask", QUESTION, "--claims", "whole", "--json")
    assert [claim["text"] for claim in ended.json["initial_claims"]] == ["Revenue in 2025 was $4.2M."]
    assert not any(prompt.startswith("List the factual claims") for prompt in model.prompts)
    assert cli("ask", QUESTION, "--claims", "salient").code == 0
    assert any("stands or falls" in prompt for prompt in model.prompts)
