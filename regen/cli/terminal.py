"""What the terminal shows: consoles, the live line of steps, progress bars, errors. Nothing shown is markup."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from regen.fence import printable


def console(*, stderr: bool = False, no_color: bool = False) -> Console:
    """A console that takes nothing for markup, emoji codes or links."""
    return Console(
        stderr=stderr,
        no_color=no_color or None,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )


def complain(error: BaseException | str) -> None:
    """One sentence on standard error."""
    console(stderr=True).print(Text.assemble(("regen: ", "bold red"), printable(str(error))), soft_wrap=True)


class Steps:
    """The step that is going on, on one line of standard error; nothing where that is no terminal."""

    def __init__(self, *, quiet: bool, no_color: bool = False) -> None:
        self._console = console(stderr=True, no_color=no_color)
        self._shown = not quiet and self._console.is_terminal
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=None, visible=False)
        self.prefix = ""

    def __call__(self, step: str, done: int = 0, total: int = 0) -> None:
        """Shows a step, and how much of it is done, where it is counted."""
        if self._shown:
            self._progress.update(
                self._task,
                description=self.prefix + step,
                completed=done,
                total=total or None,
                visible=True,
            )

    @contextmanager
    def live(self) -> Iterator[Steps]:
        """While inside, steps are shown; afterwards nothing of them is left on the screen."""
        if not self._shown:
            yield self
            return
        with self._progress:
            yield self


@contextmanager
def download_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar for a download, as a function of bytes done and bytes in all."""
    shown = console(stderr=True)
    if quiet or not shown.is_terminal:
        last = [-1]

        def say(done: int, total: int) -> None:
            tenth = 10 * done // total if total else 0
            if not quiet and tenth != last[0]:
                last[0] = tenth
                print(f"{what}: {done / 1e6:.0f} of {total / 1e6:.0f} MB", file=sys.stderr, flush=True)

        yield say
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=shown,
        transient=True,
    ) as progress:
        task = progress.add_task(what, total=None, visible=False)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total, visible=True)

        yield advance
