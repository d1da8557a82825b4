"""The session on a real terminal, and how the process ends."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import QUESTION
from fake_model import FakeModel

import regen.cli
from regen.cli.terminal import Steps

REGEN = [sys.executable, "-c", "from regen.cli import main; main()"]


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_ctrl_c_ends_the_process_at_once_though_the_model_still_works(model: FakeModel, more: list[str]) -> None:
    model.slow, model.delay = "You read one document", 30.0
    asking = subprocess.Popen(
        [*REGEN, "ask", QUESTION, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    _until(lambda: len(model.prompts) >= 5)
    began = time.monotonic()
    asking.send_signal(signal.SIGINT)
    out, err = asking.communicate(timeout=20)
    assert model.first in out and err == "regen: Interrupted in the middle: it was not checked.\n"
    assert asking.returncode == 130
    assert time.monotonic() - began < 5


def test_a_reader_that_goes_away_takes_no_sentence_from_an_error(model: FakeModel) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*REGEN, "nosuch", "--json"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (2, "regen: No such command 'nosuch'. See regen --help.\n")


def test_a_step_of_a_batch_is_told_with_its_item(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps()
    steps.item(1, 3)
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 40)
    steps("checking", 4, 20)
    assert capsys.readouterr().err == "regen: 1 of 3: checking 4/20\n"


def test_ctrl_c_while_the_command_line_is_imported_ends_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupting:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "regen.cli.app":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "regen.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    with pytest.raises(SystemExit) as ended:
        regen.cli.main()
    assert (ended.value.code, capsys.readouterr().err) == (130, "regen: Interrupted.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_takes_no_sentence_from_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        command = [*REGEN, "nosuch", "--json"]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "regen: No such command 'nosuch'. See regen --help.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_ends_in_one_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([*REGEN, "schema", "ask"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr == "regen: The system refused to read or write: [Errno 28] No space left on device.\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_where_errors_cannot_be_written_the_code_says_so_all_the_same() -> None:
    with Path("/dev/full").open("w") as full:
        command = [*REGEN, "nosuch", "--json"]
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert ended.returncode == 2
    assert "No such command" in ended.stdout


@pytest.mark.parametrize("arguments", [["check", "docs"], ["--help"], ["schema", "ask"]], ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(model: FakeModel, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*REGEN, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_session_outlives_errors_and_interrupts_and_ends_with_ctrl_d(model: FakeModel) -> None:
    terminal = Terminal([*REGEN, "ask"])
    terminal.read(">")
    terminal.write("zebra quagga?\r")
    terminal.read("No document has anything on")
    terminal.read(">")
    model.slow, model.delay = "You read one document", 30.0
    terminal.write(f"{QUESTION}\r")
    terminal.read("checking")
    terminal.write("\x03")
    terminal.read("Interrupted in the middle: it was not checked.")
    terminal.read(">")
    model.slow, model.delay = "", 0.0
    terminal.write("\x1b[A\r")  # the question before, from the history
    terminal.read("What the sources disagree on")
    terminal.read(">")
    terminal.write("\x04")
    assert terminal.end() == 0
    assert QUESTION in Path("cache/history").read_text()


def test_a_long_batch_tells_the_time_left_where_nothing_is_live(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    steps = Steps()
    for number in range(1, 5):
        steps.item(number, 100)
        clock[0] += 20
    # At 40 and not at 60: at most every 30 seconds.
    assert capsys.readouterr().err == "regen: 2 of 100 done, about 33 min left\n"


def test_a_long_step_is_told_where_nothing_is_live(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps()
    steps("checking", 1, 20)
    now = time.monotonic()
    for later in (40, 50, 80):
        monkeypatch.setattr(time, "monotonic", lambda later=later: now + later)
        steps("checking", later // 10, 20)
    assert capsys.readouterr().err == "regen: checking 4/20\nregen: checking 8/20\n"


def test_a_step_that_is_one_long_call_is_told_where_nothing_is_live(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regen.cli.terminal._LOOK_SECONDS", 0.01)
    now = time.monotonic()
    steps = Steps()
    said, told = list[str](), threading.Event()
    monkeypatch.setattr(steps, "note", lambda text: (said.append(text), told.set()))
    with steps.live():
        steps("answering")
        monkeypatch.setattr(time, "monotonic", lambda: now + 40)
        assert told.wait(10)
    assert said == ["answering"]


def test_a_transfer_tells_each_tenth_where_nothing_is_live(capsys: pytest.CaptureFixture[str]) -> None:
    show = Steps().transfer("fetching")
    for done in range(0, 101, 5):
        show(done * 10**6, 100 * 10**6)
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("regen: fetching: 0 of 100 MB", "regen: fetching: 100 of 100 MB", 11)


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "COLUMNS": "80"}
        self._process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(theirs)
        self._seen = ""

    def read(self, wanted: str) -> None:
        """Waits for a text, and takes it and what stands before it away."""
        deadline = time.monotonic() + 30
        while wanted not in self._seen:
            ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{wanted!r} did not come: {self._seen!r}"
            self._seen += os.read(self._ours, 4096).decode(errors="replace")
        self._seen = self._seen.partition(wanted)[2]

    def write(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        code = self._process.wait(timeout=20)
        os.close(self._ours)
        return code


def _take_terminal() -> None:
    """Makes standard input the terminal that Ctrl-C comes from."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
