"""The pace at which calls begin, against an endpoint that is simulated in time: no test waits."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable

import pytest

from regen.models.pace import Pace, calling_off


class World:
    """A clock that `time.sleep` moves, and what happens at its times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        monkeypatch.setattr("regen.models.pace.time.sleep", self.sleep)

    def at(self, delay: float, happens: Callable[[], None]) -> None:
        self._order += 1
        heapq.heappush(self._events, (self.now + delay, self._order, happens))

    def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self._events and self._events[0][0] <= until:
            self.now, _, happens = heapq.heappop(self._events)
            happens()
        self.now = until

    def next(self) -> None:
        self.sleep(max(0.0, self._events[0][0] - self.now))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def simulate(
    world: World, pace: Pace, calls: int, allowed: Callable[[float], float], retry_after: float | None
) -> list[tuple[float, bool]]:
    """When each call began and whether it was taken, by an endpoint that takes `allowed(time)` calls in any second."""
    taken: deque[float] = deque()
    log: list[tuple[float, bool]] = []
    in_flight = left = 0
    left = calls

    def end(success: bool, began: float) -> None:
        nonlocal in_flight, left
        in_flight -= 1
        if success:
            left -= 1
        else:
            pace.refused(began, retry_after)

    while left > 0:
        while in_flight >= min(64, left):
            world.next()
            if left == 0:
                return log
        began = pace.turn()
        while taken and taken[0] <= world.now - 1:
            taken.popleft()
        success = len(taken) < allowed(world.now)
        if success:
            taken.append(world.now)
        log.append((world.now, success))
        in_flight += 1
        world.at(0.3 if success else 0.02, lambda success=success, began=began: end(success, began))
    return log


@pytest.mark.parametrize("retry_after", [None, 1.0, 0.0])
def test_settles_near_the_limit_of_the_endpoint(world: World, retry_after: float | None) -> None:
    pace = Pace(lambda: world.now)
    log = simulate(world, pace, 3000, lambda _: 20, retry_after)
    refused = sum(not success for _, success in log)
    assert 20 <= refused <= 0.1 * len(log)  # the first burst of 64 is more than the endpoint takes
    seconds = log[-1][0] - log[0][0]
    assert 3000 / seconds > 0.8 * 20
    assert pace.rate is not None
    assert 16 < pace.rate < 22


def test_finds_a_limit_that_was_raised(world: World) -> None:
    pace = Pace(lambda: world.now)
    began = world.now
    log = simulate(world, pace, 6000, lambda now: 5 if now < began + 30 else 60, None)
    late = [now for now, success in log if success][-1000:]
    assert 1000 / (late[-1] - late[0]) > 40


def test_an_endpoint_that_never_refuses_is_not_slowed(world: World) -> None:
    pace = Pace(lambda: world.now)
    began = world.now
    for _ in range(1000):
        pace.turn()
    assert world.now == began
    assert pace.rate is None


def test_no_call_begins_before_the_time_that_the_endpoint_names(world: World) -> None:
    pace = Pace(lambda: world.now)
    began = pace.turn()
    pace.refused(began, 30.0)
    assert pace.turn() == pytest.approx(began + 30.0)


def test_refused_from_the_first_call_on_slows_down_step_by_step(world: World) -> None:
    pace = Pace(lambda: world.now)
    rates = []
    for _ in range(12):
        pace.refused(pace.turn(), None)
        assert pace.rate is not None
        rates.append(pace.rate)
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(1 / 60, rel=0.05)


def test_a_burst_slows_once_and_not_once_a_refusal(world: World) -> None:
    pace = Pace(lambda: world.now)
    times = [pace.turn() for _ in range(40)]
    for began in times[10:]:
        world.now += 0.001
        pace.refused(began, None)
    assert pace.rate == pytest.approx(9.5)


def test_days_of_quiet_do_no_harm(world: World) -> None:
    pace = Pace(lambda: world.now)
    pace.refused(pace.turn(), None)
    for _ in range(100):
        world.now += 1e6
        pace.turn()
    pace.refused(pace.turn(), None)
    assert pace.rate is not None
    assert pace.rate < 2


def test_a_waiting_call_can_be_called_off(world: World) -> None:
    pace = Pace(lambda: world.now)
    pace.refused(pace.turn(), 60.0)

    def stop() -> None:
        if world.now > 105:
            raise InterruptedError

    token = calling_off.set(stop)
    try:
        with pytest.raises(InterruptedError):
            pace.turn()
    finally:
        calling_off.reset(token)
    assert world.now < 106
    assert pace.turn() >= 160.0  # the turn was not used up


def test_a_call_that_need_not_wait_can_be_called_off_before_it_begins() -> None:
    def stop() -> None:
        raise InterruptedError

    token = calling_off.set(stop)
    try:
        with pytest.raises(InterruptedError):
            Pace().turn()
    finally:
        calling_off.reset(token)


def test_event_loops_wait_for_the_same_turns() -> None:
    pace = Pace()
    pace.refused(pace.turn(), 0.05)

    async def run() -> tuple[float, float]:
        return await pace.aturn(), await pace.aturn()

    before = asyncio.run(run())
    assert before[1] - before[0] >= 0.9  # one call a second, after a first call that was refused


def test_a_straggler_of_an_old_burst_changes_little(world: World) -> None:
    pace = Pace(lambda: world.now)
    times = [pace.turn() for _ in range(40)]
    world.now += 0.5
    pace.refused(times[0], None)
    before = pace.rate
    for _ in range(60):
        pace.turn()
    world.now += 3
    pace.turn()
    pace.refused(times[1], None)
    assert before is not None and pace.rate is not None
    assert pace.rate > 0.9 * before
