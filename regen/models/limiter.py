"""How many model calls may be in flight at once, for threads and for event loops alike."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager


class Limiter:
    """A first-come, first-served limit that threads wait for and event loops await, and that can be changed."""

    def __init__(self, slots: int) -> None:
        """`slots`: calls at the same time, at least 1."""
        self._slots = _at_least_one(slots)
        self._taken = 0
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    @property
    def slots(self) -> int:
        """Calls at the same time."""
        return self._slots

    def resize(self, slots: int) -> None:
        """Set the limit. Calls in flight stay; fewer new ones start until they are below the new limit."""
        with self._lock:
            self._slots = _at_least_one(slots)
            self._admit()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one slot; blocks the thread until there is one."""
        turn = self._enter()
        try:
            turn.result()
        except BaseException:
            self._give_up(turn)
            raise
        try:
            yield
        finally:
            self._leave()

    @asynccontextmanager
    async def aslot(self) -> AsyncIterator[None]:
        """Hold one slot; awaits it without blocking the event loop."""
        turn = self._enter()
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            self._give_up(turn)
            raise
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> Future[None]:
        turn: Future[None] = Future()
        with self._lock:
            self._waiting.append(turn)
            self._admit()
        return turn

    def _leave(self) -> None:
        with self._lock:
            self._taken -= 1
            self._admit()

    def _give_up(self, turn: Future[None]) -> None:
        # A turn that can no longer be cancelled was granted just before: its slot goes back.
        if not turn.cancel():
            self._leave()

    def _admit(self) -> None:
        while self._waiting and self._taken < self._slots:
            turn = self._waiting.popleft()
            if turn.set_running_or_notify_cancel():
                self._taken += 1
                turn.set_result(None)


def _at_least_one(slots: int) -> int:
    if slots < 1:
        raise ValueError("The limit on model calls in flight must be at least 1.")
    return slots


PROCESS = Limiter(8)
"""The one limit that every engine of this process shares."""

WORK = Limiter(8)
"""As many pieces of work that call a model as calls may be in flight: preparing a call that could not begin yet would
only keep from the processor those whose replies are there."""


def limit(slots: int) -> None:
    """Set how many model calls may be in flight at once in the whole process (8 to begin with)."""
    PROCESS.resize(slots)
    WORK.resize(slots)
