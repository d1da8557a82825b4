"""Batches: what is read, what is kept on disk, and where a batch that broke off goes on."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from regen.batch import Lines, finished, made_from, read_lines, run
from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
from regen.types import Record
from search.base import SearchError


class Item(Record):
    id: str


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def test_lines_come_with_their_numbers_and_without_blank_ones(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("\ufeffone\r\n\n  \ntwo é\n three".encode())
    assert list(read_lines(path)) == [(1, "one"), (4, "two é"), (5, "three")]


def test_a_file_that_is_not_utf_8_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"one\n" * 5000 + "caf\u00e9\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"in\.txt, line 5001: not UTF-8"):
        list(read_lines(path))


def test_a_file_that_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.txt cannot be read: No such file"):
        list(read_lines(tmp_path / "gone.txt"))


def test_a_folder_is_no_file_of_lines(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(tmp_path))


def test_nothing_is_finished_in_a_file_that_is_not_there(out: Path) -> None:
    assert finished(out, "id") == set()


def test_what_has_a_result_is_finished_and_what_failed_is_not(out: Path) -> None:
    out.write_text('{"id": "a"}\n{"id": "b", "error": {"message": "No."}}\n{"id": 3}\n{"id": null}\n')
    assert finished(out, "id") == {"a", "3"}


def test_a_result_of_another_input_or_other_settings_is_refused(out: Path) -> None:
    made = {"a": made_from("text", {"judge": "lm"}), "b": made_from("text", {"judge": "lm"})}
    # The same in every process and with every version of Python, or a file could not be gone on with.
    assert made["a"] == "1e1d0f25-e88c196d"
    out.write_text(f'{{"id": "a", "made_from": "{made["a"]}"}}\n{{"id": "gone", "made_from": "x"}}\n{{"id": "b"}}\n')
    assert finished(out, "id", made) == {"a", "gone", "b"}
    with pytest.raises(InputError, match="holds a result for 'a' that was made with other settings: name another"):
        finished(out, "id", {**made, "a": made_from("text", {"judge": "builtin"})})
    with pytest.raises(InputError, match="holds a result for 'a' that was made from another input: name another"):
        finished(out, "id", {**made, "a": made_from("Text", {"judge": "lm"})})


def test_a_line_that_broke_off_is_cut_and_its_item_is_not_finished(out: Path) -> None:
    out.write_bytes('{"id": "a"}\n{"id": "b", "text": "caf\u00e9'.encode()[:-1])
    assert finished(out, "id") == {"a"}
    assert out.read_text() == '{"id": "a"}\n'


@pytest.mark.parametrize("torn", ["{", '{"i', '{"ques', '{"id": "b'])
def test_a_line_may_break_off_anywhere(torn: str, out: Path) -> None:
    out.write_text('{"id": "a"}\n' + torn)
    assert finished(out, "id") == {"a"}
    assert out.read_text() == '{"id": "a"}\n'


def test_a_whole_line_that_lost_only_its_end_is_kept_apart_from_the_next(out: Path) -> None:
    out.write_text('{"id": "a"}\n{"id": "b"}')
    assert finished(out, "id") == {"a", "b"}
    lines = Lines(out, io.StringIO())
    lines.write(Item(id="c"))
    lines.close()
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["a", "b", "c"]


def test_blank_lines_do_no_harm(out: Path) -> None:
    out.write_text('{"id": "a"}\n\n{"id": "b"}\n')
    assert finished(out, "id") == {"a", "b"}


def test_a_file_that_holds_something_else_is_refused_and_left_alone(out: Path) -> None:
    out.write_text("Dear diary,\ntoday\n")
    with pytest.raises(InputError, match="not JSON"):
        finished(out, "id")
    assert out.read_text() == "Dear diary,\ntoday\n"


def test_something_else_without_a_line_end_is_left_alone_too(out: Path) -> None:
    out.write_text("Dear diary")
    with pytest.raises(InputError, match="not JSON"):
        finished(out, "id")
    assert out.read_text() == "Dear diary"


def test_a_folder_cannot_be_the_output(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        finished(tmp_path, "id")


def test_a_file_in_a_folder_that_is_missing_cannot_be_the_output(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: No such file"):
        Lines(tmp_path / "gone" / "out.jsonl", io.StringIO())


def test_each_line_is_on_disk_before_the_next_begins(out: Path) -> None:
    lines = Lines(out, io.StringIO())
    lines.write(Item(id="é"))
    assert out.read_text(encoding="utf-8") == '{"id":"é"}\n'
    lines.close()


def test_lines_are_added_to_what_is_there(out: Path) -> None:
    out.write_text('{"id":"a"}\n')
    lines = Lines(out, io.StringIO())
    lines.write(Item(id="b"))
    lines.close()
    assert out.read_text() == '{"id":"a"}\n{"id":"b"}\n'


def test_without_a_file_lines_go_to_standard_output_which_stays_open() -> None:
    stdout = io.StringIO()
    lines = Lines(None, stdout)
    lines.write(Item(id="a"))
    lines.close()
    assert stdout.getvalue() == '{"id":"a"}\n'


def test_only_one_process_at_a_time_adds_to_a_file(out: Path) -> None:
    with Lines(out, io.StringIO()), pytest.raises(InputError, match=r"Another process is adding to .*out\.jsonl"):
        Lines(out, io.StringIO())
    Lines(out, io.StringIO()).close()


def batch(out: Path, fails: dict[str, RegenError], **wrong: RegenError) -> tuple[int, list[str]]:
    def work(name: str) -> tuple[Record, RegenError | None]:
        if name in fails:
            raise fails[name]
        return Item(id=name), wrong.get(name)

    said: list[str] = []
    with Lines(out, io.StringIO()) as lines:
        code = run([(n, n) for n in "abc"], work, lines, key="id", begin=lambda *_: None, complain=said.append)
    return code, said


def test_a_result_with_a_wrong_key_is_kept_and_ends_the_batch(out: Path) -> None:
    with pytest.raises(ConfigurationError, match="The key was refused"):
        batch(out, {}, b=ConfigurationError("The key was refused."))
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["a", "b"]
    assert batch(out, {}, b=ProviderError("It went away."))[0] == 4


def test_an_item_that_failed_is_a_line_and_the_others_go_on(out: Path) -> None:
    code, said = batch(out, {"b": ProviderError("It went away.")})
    assert (code, said) == (4, ["b: It went away."])
    first, second, third = (json.loads(line) for line in out.read_text().splitlines())
    assert (first["id"], second["id"], third["id"]) == ("a", "b", "c")
    assert second["error"] == {"message": "It went away.", "exit_code": 4}
    assert finished(out, "id") == {"a", "c"}


def test_a_wrong_setting_ends_the_batch_at_once(out: Path) -> None:
    with pytest.raises(ConfigurationError):
        batch(out, {"b": ConfigurationError("The key is wrong.")})
    assert finished(out, "id") == {"a"}


def test_a_refused_search_key_ends_the_batch_at_once_too(out: Path) -> None:
    with pytest.raises(SearchError):
        batch(out, {"a": SearchError("The key is wrong.", "credentials")})
    assert finished(out, "id") == set()
