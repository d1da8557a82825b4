"""The log of conflicts: what a line says, that none is lost or mixed with another, and what lines show together."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from regen import conflictlog
from regen.conflict import aggregate
from regen.conflictlog import BadLine, LoggedClaim, LoggedSide, LogLine, append, line_of, logged, read, summary
from regen.errors import InputError
from regen.types import (
    Answer,
    Claim,
    ConflictReport,
    Decision,
    Document,
    Evidence,
    Judgement,
    Result,
    Stance,
    Unjudged,
)

NOW = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)
DOCUMENTS = [
    Document(id="old.md", url="file:///docs/old.md", title="Old", text="It is 10 euros.", published=date(2020, 1, 1)),
    Document(id="new.md#2", url="https://x.example/new", text=f"It is 12 euros. {'So it is. ' * 60}"),
    Document(id="new.md#1", url="https://x.example/new", text="Something else."),
]
DECISION = Decision(kept="regenerated", reason="fewer documents contradict it")


def result(stances: str, *, unjudged: bool = False) -> Result:
    """A result whose one claim has a stance of each document: "+-0"."""
    claim = Claim(id="c1", text="The fee is 10 euros.")
    kinds = {"+": Stance.SUPPORTS, "-": Stance.CONTRADICTS, "0": Stance.IRRELEVANT}
    evidence = [
        Evidence(claim_id="c1", document_id=item.id, stance=kinds[sign], quote=item.text)
        for item, sign in zip(DOCUMENTS, stances, strict=True)
    ]
    lost = [Unjudged(document_id=item.id, cause="it timed out") for item in DOCUMENTS]
    judgement = Judgement(unjudged=lost) if unjudged else Judgement(evidence=evidence)
    report = aggregate([claim, Claim(id="c2", text="Dogs are welcome.")][:1], DOCUMENTS, judgement)
    answer = Answer(text="10 euros.")
    return Result(
        question="How much is the fee?",
        documents=DOCUMENTS,
        answer=answer,
        initial_answer=answer,
        initial_report=report,
        report=ConflictReport(),
        decision=DECISION,
    )


# A line.


def test_a_conflict_is_written_with_its_claim_sides_and_decision() -> None:
    line = line_of(result("+-0"), NOW)
    assert (line.conflict, line.question, line.decision) == (True, "How much is the fee?", DECISION)
    (claim,) = line.claims
    assert claim.claim == "The fee is 10 euros."
    assert claim.supports == [
        LoggedSide(
            id="old.md",
            url="file:///docs/old.md",
            title="Old",
            published=date(2020, 1, 1),
            quote="It is 10 euros.",
        )
    ]
    (other,) = claim.contradicts
    assert (other.id, other.published) == ("new.md#2", None)
    assert (len(other.quote), other.quote[-1]) == (conflictlog.QUOTE_CHARACTERS, "\u2026")


@pytest.mark.parametrize(
    ("stances", "unjudged", "conflict"), [("++0", False, False), ("--0", False, False), ("000", True, None)]
)
def test_a_question_without_a_conflict_is_counted_without_its_words(
    stances: str, unjudged: bool, conflict: bool | None
) -> None:
    line = line_of(result(stances, unjudged=unjudged), NOW)
    assert json.loads(line.model_dump_json()) == {
        "time": "2026-03-02T12:30:00Z",
        "conflict": conflict,
        "documents": ["file:///docs/old.md", "https://x.example/new"],
        "question": None,
        "claims": [],
        "decision": None,
    }


def test_the_date_of_a_files_last_change_is_not_written() -> None:
    found = result("+-0")
    touched = [item.model_copy(update={"published_from": "mtime"}) for item in found.documents]
    line = line_of(found.model_copy(update={"documents": touched}), NOW)
    assert line.claims[0].supports[0].published is None


# The file.


def test_lines_are_added_and_read_again(tmp_path: Path) -> None:
    lines = [line_of(result(stances), NOW) for stances in ("+-0", "++0")]
    for line in lines:
        append(tmp_path / "log", line)
    assert list(read(tmp_path / "log")) == lines


def test_a_line_that_broke_off_takes_no_other_with_it(tmp_path: Path) -> None:
    log, line = tmp_path / "log", line_of(result("+-0"), NOW)
    append(log, line)
    log.write_bytes(log.read_bytes()[:-40])
    append(log, line)
    assert list(read(log)) == [BadLine(line=1, cause="it is not JSON"), line]


def test_processes_that_write_at_the_same_time_do_not_mix_their_lines(tmp_path: Path) -> None:
    code = f"""if True:
        import sys
        from pathlib import Path
        from regen.conflictlog import LogLine, append
        line = LogLine(time="{NOW.isoformat()}", conflict=True, documents=["d"], question=sys.argv[1] * 20_000)
        for _ in range(25):
            append(Path("log"), line)"""
    writers = [subprocess.Popen([sys.executable, "-c", code, name], cwd=tmp_path) for name in "abcd"]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    lines = list(read(tmp_path / "log"))
    questions = sorted(line.question or "" for line in lines if isinstance(line, LogLine))
    assert questions == sorted(name * 20_000 for name in "abcd" for _ in range(25))


def warned(path: Path) -> str:
    found = logged(result("+-0"), path)
    assert found.answer.text == "10 euros."
    (warning,) = found.warnings
    return warning


def test_a_result_that_was_logged_stays_as_it_is(tmp_path: Path) -> None:
    found = result("+-0")
    assert logged(found, tmp_path / "log") is found
    (line,) = read(tmp_path / "log")
    assert isinstance(line, LogLine)
    assert line.time.utcoffset() == timedelta(0)


def test_a_log_that_cannot_be_written_is_a_warning_beside_the_answer(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert warned(tmp_path).endswith(": Is a directory.")
    assert warned(tmp_path / "none" / "log").endswith(": No such file or directory.")
    assert "loop" in warned(tmp_path / "loop")


def test_a_disk_that_is_full_is_a_warning() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    assert "No space left on device" in warned(Path("/dev/full"))


def test_a_log_that_another_process_holds_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr(conflictlog, "LOCK_SECONDS", 0.0)
    with FileLock(conflictlog.lock_of(tmp_path / "log")):
        assert warned(tmp_path / "log").endswith(": another process holds it.")


def test_half_a_character_is_a_warning(tmp_path: Path) -> None:
    found = logged(result("+-0").model_copy(update={"question": "caf\udce9"}), tmp_path / "log")
    assert "were not logged" in found.warnings[0]


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (b"{", "it is not JSON"),
        (b"\xff\xfe\n", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "Input should be an object"),
        (b'{"conflict": true, "documents": []}', "time: Field required"),
        (
            b'{"time": "2026-03-02T12:30:00", "conflict": false, "documents": []}',
            "time: Input should have timezone info",
        ),
        (
            b'{"time": "2026-03-02T12:30:00Z", "conflict": false, "documents": 3}',
            "documents: Input should be a valid array",
        ),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_cause(raw: bytes, cause: str, tmp_path: Path) -> None:
    good = line_of(result("++0"), NOW)
    (tmp_path / "log").write_bytes(
        b"\n".join([good.model_dump_json().encode(), b"", raw, good.model_dump_json().encode()])
    )
    assert list(read(tmp_path / "log")) == [good, BadLine(line=3, cause=cause), good]


def test_keys_of_a_newer_version_are_passed_over(tmp_path: Path) -> None:
    good = line_of(result("+-0"), NOW)
    (tmp_path / "log").write_text(json.dumps({**json.loads(good.model_dump_json()), "kind": "freshness"}))
    assert list(read(tmp_path / "log")) == [good]


def test_a_log_that_is_not_there_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read(tmp_path / "nothing"))


# What lines show together.


def side(name: str, year: int | None = None) -> LoggedSide:
    return LoggedSide(id=name, url="", title="", published=date(year, 1, 1) if year else None, quote="")


def conflict(day: int, *claims: tuple[str, str, str], read: str = "") -> LogLine:
    """A question on a day of March 2026; claims with the names of the documents on both sides, a letter each."""
    names = sorted({name for _, plus, minus in claims for name in plus + minus} | set(read))
    return LogLine(
        time=NOW.replace(day=day),
        conflict=True,
        documents=names,
        question="?",
        claims=[
            LoggedClaim(claim=text, supports=[side(n) for n in plus], contradicts=[side(n) for n in minus])
            for text, plus, minus in claims
        ],
    )


def none(day: int, read: str, checked: bool = True) -> LogLine:
    return LogLine(time=NOW.replace(day=day), conflict=False if checked else None, documents=list(read))


LINES = [
    conflict(2, ("x", "a", "bc"), ("y", "a", "b"), read="z"),
    conflict(2, ("x", "b", "a")),
    none(2, "abz"),
    none(3, "az", checked=False),
    conflict(4, ("x", "c", "b")),
    none(4, "z"),
]


def test_conflicts_of_documents_are_counted_by_question_with_their_share() -> None:
    found = summary(LINES)
    # By hand: a was read for lines 1-4, b for 1-3 and 5, c for 1 and 5; z took no side.
    assert [(item.id, item.conflicts, item.asks, item.share) for item in found.documents] == [
        ("b", 3, 4, 0.75),
        ("a", 2, 4, 0.5),
        ("c", 2, 2, 1.0),
    ]
    assert [item.last.day for item in found.documents] == [4, 2, 4]
    assert [(item.claim, item.conflicts) for item in found.documents[0].claims] == [("x", 3), ("y", 1)]


def test_pairs_are_those_on_opposite_sides_counted_by_question() -> None:
    found = summary(LINES)
    assert [(item.ids, item.conflicts) for item in found.pairs] == [(("a", "b"), 2), (("a", "c"), 1), (("b", "c"), 1)]


def test_questions_are_counted_by_day_and_in_all() -> None:
    found = summary(LINES)
    assert [(item.day.day, item.asks, item.conflicts, item.unchecked) for item in found.days] == [
        (2, 3, 2, 0),
        (3, 1, 0, 1),
        (4, 2, 1, 0),
    ]
    assert (found.asks, found.conflicts, found.unchecked, found.share) == (6, 3, 1, 0.6)
    assert (found.first, found.last) == (date(2026, 3, 2), date(2026, 3, 4))


def test_since_leaves_earlier_days_out_of_everything() -> None:
    found = summary(LINES, since=date(2026, 3, 3))
    assert [(item.id, item.conflicts, item.asks) for item in found.documents] == [("b", 1, 1), ("c", 1, 1)]
    assert (found.asks, found.first) == (3, date(2026, 3, 3))


def test_top_says_how_many_and_how_many_there_are_is_told() -> None:
    found = summary(LINES, top=1)
    assert ([item.id for item in found.documents], found.documents_in_all) == (["b"], 3)
    assert ([item.ids for item in found.pairs], found.pairs_in_all) == ([("a", "b")], 3)


def test_the_order_of_lines_does_not_matter() -> None:
    for seed in range(5):
        shuffled = LINES[:]
        random.Random(seed).shuffle(shuffled)
        assert summary(shuffled) == summary(LINES)


def test_a_day_is_one_of_utc() -> None:
    late = none(2, "a").model_copy(update={"time": datetime(2026, 3, 2, 23, 0, tzinfo=timezone(timedelta(hours=-5)))})
    assert [item.day for item in summary([late]).days] == [date(2026, 3, 3)]


def test_the_newer_of_a_pair_stands_second() -> None:
    line = conflict(2, ("x", "", ""))
    claim = LoggedClaim(claim="x", supports=[side("a", 2025)], contradicts=[side("b", 2020), side("c")])
    found = summary([line.model_copy(update={"claims": [claim]})])
    assert [item.ids for item in found.pairs] == [("b", "a"), ("a", "c")]


def test_passages_of_one_file_are_one_document() -> None:
    passages = [
        LoggedSide(id=f"a.pdf#{number}", url="file:///a.pdf", title="", published=None, quote="") for number in (1, 2)
    ]
    claim = LoggedClaim(claim="x", supports=passages[:1], contradicts=passages[1:])
    line = LogLine(time=NOW, conflict=True, documents=["file:///a.pdf"], question="?", claims=[claim])
    found = summary([line])
    assert [(item.url, item.conflicts) for item in found.documents] == [("file:///a.pdf", 1)]
    assert found.pairs == []


def test_an_empty_log_has_no_share() -> None:
    found = summary([])
    assert (found.asks, found.share, found.first, found.documents, found.days) == (0, None, None, [], [])


def test_what_no_strategy_checked_is_logged_as_not_checked() -> None:
    unchecked = result("000").model_copy(update={"strategy": "vanilla", "initial_report": ConflictReport()})
    assert line_of(unchecked, NOW).conflict is None


def test_a_time_at_the_edge_of_the_calendar_is_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append(path, line_of(result("+-0"), NOW))
    for time in ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"):
        line = path.read_text(encoding="utf-8").splitlines()[0].replace(NOW.isoformat().replace("+00:00", "Z"), time)
        assert time in line
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    found = summary(read(path))
    assert (found.asks, [(item.line, item.cause) for item in found.bad_lines]) == (
        1,
        [(2, "time: it is out of range"), (3, "time: it is out of range")],
    )


def test_a_mark_of_byte_order_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append(path, line_of(result("+-0"), NOW))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    found = summary(read(path), since=NOW.date() + timedelta(days=1))
    assert (found.bad_lines, found.lines, found.asks) == ([], 1, 0)
