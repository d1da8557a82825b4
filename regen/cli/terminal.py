"""What the terminal shows: consoles, the live line of steps, errors. Nothing shown is markup."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from regen.fence import printable

NARROWEST = 24  # columns for a text beside something
_SAY_SECONDS = 30.0  # between two lines, where nothing is live
_LOOK_SECONDS = 1.0  # between two looks whether it is time for one


def console(*, stderr: bool = False) -> Console:
    """A console that takes nothing for markup, emoji codes or links."""
    # COLUMNS=0, as some pseudo-terminals set it, would leave no room for a word.
    width = None if os.environ.get("COLUMNS") != "0" else 80
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def complain(error: BaseException | str) -> None:
    """One sentence on standard error."""
    _say(console(stderr=True), Text.assemble(("regen: ", "bold red"), printable(str(error))))


def hang(out: Console, head: Text | str, body: Text) -> None:
    """`head`, then `body` beside it, its further lines under its first; below `head` where there is no room beside."""
    head = Text(head) if isinstance(head, str) else head
    if out.width - head.cell_len < NARROWEST:
        head.rstrip()
        out.print(head, soft_wrap=True)
        head = Text(" " * 6)
    for place, line in enumerate(body.wrap(out, max(out.width - head.cell_len, 1))):
        shown = Text.assemble(" " * head.cell_len if place else head, line)
        shown.rstrip()
        out.print(shown, soft_wrap=True)


class Steps:
    """The step that is going on, on one line of standard error; where that is no terminal, now and then a line."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = console(stderr=True)
        self._quiet = quiet
        self._shown = not quiet and self._console.is_terminal
        self._prefix = self._step = ""
        self._began = self._said = time.monotonic()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("", visible=False)

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Shows a step, and how much of it is done, where it is counted."""
        count = f" {done}/{total}" if total else ""
        self._step = f"{self._prefix}{step}{count}"
        self._progress.update(self._task, description=self._step, visible=True)
        self._tell()

    def _tell(self) -> None:
        """Says the step where nothing is live, if nothing was said for a while."""
        now = time.monotonic()
        if not self._shown and self._step and now - self._said > _SAY_SECONDS:
            self._said = now
            self.note(self._step)

    def item(self, number: int, total: int) -> None:
        """Begins an item of a batch, numbered from 1: it is told with every step, with the time left by the mean."""
        now = time.monotonic()
        if number == 1:
            self._began = self._said = now
            self._prefix = f"{number} of {total}: "
            return
        left = duration((now - self._began) / (number - 1) * (total - number + 1))
        self._prefix = f"{number} of {total}, about {left} left: "
        if not self._shown and now - self._said > _SAY_SECONDS:
            self._said = now
            self.note(f"{number - 1} of {total} done, about {left} left")

    def transfer(self, what: str) -> Callable[[int, int], None]:
        """A function of bytes done and bytes in all, which shows them; where nothing is live, by a line a tenth."""
        began, first, tenth = 0.0, -1, -1

        def show(done: int, total: int) -> None:
            nonlocal began, first, tenth
            now = time.monotonic()
            if first < 0:
                began, first = now, done
            text = f"{what}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
            rest = (now - began) / (done - first) * (total - done) if done > first else None
            self(text if rest is None else f"{text}, about {duration(rest)} left")
            if not self._shown and tenth != 10 * done // max(total, 1):
                tenth = 10 * done // max(total, 1)
                self.note(text)

        return show

    def note(self, text: str) -> None:
        """One line that stays."""
        if not self._quiet:
            _say(self._console, Text(f"regen: {printable(text)}", style="dim"))

    @contextmanager
    def live(self) -> Iterator[None]:
        """While inside, steps are shown; afterwards nothing of them is left on the screen."""
        if not self._shown:
            # One step can be a call of some minutes.
            over = threading.Event()

            def watch() -> None:
                while not over.wait(_LOOK_SECONDS):
                    self._tell()

            watching = threading.Thread(target=watch, daemon=True)
            watching.start()
            try:
                yield
            finally:
                over.set()
                watching.join()
                self._step = ""
            return
        self._progress.reset(self._task, visible=False)
        with self._progress:
            yield


def _say(out: Console, line: Text) -> None:
    # A file is not broken into lines at some width.
    with suppress(OSError):  # Where nobody can be told, the work goes on.
        out.print(line, soft_wrap=not out.is_terminal)


def duration(seconds: float) -> str:
    """Seconds as people say them, to two digits or so."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
