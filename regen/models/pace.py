"""How fast an endpoint lets calls begin: unlimited until it refuses one (HTTP 429), then found from what it takes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar

from regen.models.limiter import Limiter

# Seconds over which the calls that an endpoint took are counted.
_WINDOW = 1.0
# Of what was taken before a refusal, the part that is asked for after it.
_AFTER_REFUSAL = 0.95
# Growth of the rate a second: slow near the limit that was found, faster once nothing was refused for so long.
_EASE, _EASE_LATER, _LATER_SECONDS = 0.005, 0.05, 20.0
# Calls a second below which no refusal pushes the rate, and the rate after a first call that was refused.
_SLOWEST, _UNKNOWN = 1 / 60, 1.0
# Growth counts over so many seconds at most, however long nothing was asked.
_MOST_SECONDS = 60.0
# How long a thread that waits for its turn sleeps at once.
_NAP = 0.2

calling_off: ContextVar[Callable[[], None] | None] = ContextVar("calling_off", default=None)
"""Called before a thread's call begins, and again and again while it waits for its turn; what it raises calls the call
off. Event loops cancel."""


class Pace:
    """The rate at which calls to one endpoint may begin; for threads and event loops alike.

    Each call waits for its turn, and reports when it was refused. After a refusal no call begins for as long as the
    endpoint asks, and then as many a second as it took in the second before, less 5%. From there the rate grows again,
    so that a limit that was raised, or a short shortage, is found out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._gate = Limiter(1)
        self._lock = threading.Lock()
        self._rate: float | None = None
        self._before: float | None = None
        self._took = 0
        self._next = self._eased = self._refused_at = float("-inf")
        self._taken: deque[float] = deque()

    @property
    def rate(self) -> float | None:
        """Calls a second that may begin; None while nothing was refused."""
        with self._lock:
            return self._rate

    def turn(self) -> float:
        """Waits until a call may begin; gives its time, for `refused`. Raises what `calling_off` raises."""
        with self._gate.slot():
            while True:
                # Before the first try as well: the call may have waited long for a free slot.
                if check := calling_off.get():
                    check()
                began, wait = self._try()
                if wait == 0.0:
                    return began
                time.sleep(min(wait, _NAP))

    async def aturn(self) -> float:
        """As `turn`, without blocking the event loop."""
        async with self._gate.aslot():
            while True:
                began, wait = self._try()
                if wait == 0.0:
                    return began
                await asyncio.sleep(min(wait, _NAP))

    def refused(self, began: float, retry_after: float | None) -> None:
        """The call that began then was refused; `retry_after` is in seconds, where the endpoint says it."""
        with self._lock:
            now = self._clock()
            if began in self._taken:
                self._taken.remove(began)
            if began > self._refused_at:
                # The first of a burst: those that began with it may still be refused, too.
                self._refused_at, self._before = now, self._rate
                self._took = sum(now - _WINDOW <= time for time in self._taken)
            elif began >= self._refused_at - _WINDOW:
                self._took -= 1
            found = self._took * _AFTER_REFUSAL / _WINDOW if self._took > 0 else (self._before or 2 * _UNKNOWN) / 2
            self._rate = max(_SLOWEST, min(found, self._before or found))
            self._next = max(self._next, now + (_WINDOW if retry_after is None else retry_after))
            self._eased = self._next

    def _try(self) -> tuple[float, float]:
        """Now, and 0 where a call may begin; else the seconds until one may."""
        with self._lock:
            now = self._clock()
            if now < self._next:
                return now, self._next - now
            if self._rate is not None:
                self._ease(now)
                self._next = max(self._next, now - 1 / self._rate) + 1 / self._rate
            self._taken.append(now)
            while self._taken[0] < now - 2 * _WINDOW:
                self._taken.popleft()
            return now, 0.0

    def _ease(self, now: float) -> None:
        assert self._rate is not None
        growth = _EASE if now - self._refused_at < _LATER_SECONDS else _EASE_LATER
        self._rate *= (1 + growth) ** min(max(0.0, now - self._eased), _MOST_SECONDS)
        self._eased = max(self._eased, now)
