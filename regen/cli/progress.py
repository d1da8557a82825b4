"""What is seen of a run while it goes on: items done, what it has cost, and the time that is left."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from regen.cli.terminal import console, duration
from regen.types import Usage

_SAY_SECONDS = 30.0  # between two lines, where nothing is live


class Remaining:
    """How long a run still takes, from what its stages took so far.

    What is left of each kind of stage is taken to need that kind's mean, and as many to run side by side as did so
    far. Until every kind that is left was seen once, nobody knows.
    """

    def __init__(self, left: Mapping[str, int]) -> None:
        self._left = Counter(left)
        self._seconds: dict[str, list[float]] = {}

    def stage(self, name: str, seconds: float | None) -> None:
        """A stage was finished, or, where `seconds` is None, will not be."""
        self._left[name] -= 1
        if seconds is not None:
            self._seconds.setdefault(name, []).append(seconds)

    def seconds(self, elapsed: float) -> float | None:
        """Seconds still needed, `elapsed` seconds after the beginning; None while unknown."""
        left = {name: count for name, count in self._left.items() if count > 0}
        if not left:
            return 0.0
        if not all(name in self._seconds for name in left):
            return None
        busy = sum(sum(spent) for spent in self._seconds.values())
        work = sum(count * sum(self._seconds[name]) / len(self._seconds[name]) for name, count in left.items())
        return work * elapsed / busy if busy else None


class RunBoard:
    """A bar on standard error; where that is no terminal, a line now and then. Told from any thread.

    Args:
        total: Items of the run.
        done: Those that were finished before.
        left: Stages that are left, by name.
        spent: What the run took so far.
        quiet: Whether nothing is shown.
    """

    def __init__(
        self, total: int, done: int, left: Mapping[str, int], spent: Callable[[], Usage], *, quiet: bool = False
    ) -> None:
        self._console = console(stderr=True)
        self._quiet, self._shown = quiet, not quiet and self._console.is_terminal
        self._total, self._done, self._spent = total, done, spent
        self._remaining = Remaining(left)
        self._lock = threading.Lock()
        self._began = self._said = time.monotonic()
        self._progress = Progress(
            SpinnerColumn(),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task("", total=total, completed=done, words="")

    def stage(self, name: str, seconds: float | None) -> None:
        """See `regen.runner.Board`."""
        with self._lock:
            self._remaining.stage(name, seconds)
            self._say()

    def item(self) -> None:
        """See `regen.runner.Board`."""
        with self._lock:
            self._done += 1
            self._say()

    def batch(self, number: int, done: int, total: int) -> None:
        """See `regen.runner.Board`."""
        with self._lock:
            self._say(f"batch {number}: {done:,} of {total:,} requests done")

    @contextmanager
    def live(self) -> Iterator[None]:
        """While inside, the bar is shown; afterwards nothing of it is left."""
        self._began = self._said = time.monotonic()
        if not self._shown:
            yield
            return
        with self._progress:
            yield

    def _say(self, rest: str | None = None) -> None:
        now = time.monotonic()
        left = self._remaining.seconds(now - self._began)
        rest = rest or ("time left not known yet" if left is None else time_left(left))
        words = f"{spent_words(self._spent())}, {rest}"
        self._progress.update(self._task, completed=min(self._done, self._total), words=words)
        if not self._quiet and not self._shown and now - self._said > _SAY_SECONDS:
            self._said = now
            line = f"regen: {self._done} of {self._total} items done, {words}"
            self._console.print(Text(line, style="dim"), soft_wrap=True)


def time_left(seconds: float) -> str:
    """The time that is left, in words."""
    return f"about {duration(seconds)} left"


def spent_words(usage: Usage) -> str:
    """Calls and tokens, and the price where it is known."""
    tokens = usage.prompt_tokens + usage.completion_tokens
    said = f"{usage.calls:,} calls, {tokens:,} tokens"
    return said if usage.cost_usd is None else f"{said}, ${usage.cost_usd:,.4f}"
