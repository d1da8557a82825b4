"""The limit on calls in flight."""

from __future__ import annotations

import asyncio
import threading

import pytest

from regen.models.limiter import Limiter


def test_abandoned_wait_gives_its_turn_to_the_next() -> None:
    limiter = Limiter(1)

    async def run() -> list[str]:
        order: list[str] = []

        async def hold(name: str) -> None:
            async with limiter.aslot():
                order.append(name)
                await asyncio.sleep(0.01)

        first, second, third = (asyncio.create_task(hold(name)) for name in ("first", "second", "third"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        return order

    assert asyncio.run(run()) == ["first", "third"]
    with limiter.slot():
        pass  # no slot was lost


def test_cancelled_just_after_its_turn_came_gives_the_slot_back() -> None:
    limiter = Limiter(1)

    async def run() -> None:
        async def hold() -> None:
            async with limiter.aslot():
                pass

        task = asyncio.create_task(hold())
        await asyncio.sleep(0)  # granted, not resumed yet
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
    with limiter.slot():
        pass


def test_failure_inside_frees_the_slot() -> None:
    limiter = Limiter(1)
    with pytest.raises(ValueError, match="inside"), limiter.slot():
        raise ValueError("inside")
    with limiter.slot():
        pass


def test_raised_limit_lets_waiting_threads_in() -> None:
    limiter = Limiter(1)
    entered = threading.Event()

    def wait() -> None:
        with limiter.slot():
            entered.set()

    with limiter.slot():
        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.wait(0.05)
        limiter.resize(2)
        assert entered.wait(5)
    thread.join()


def test_waiting_does_not_block_the_event_loop() -> None:
    limiter = Limiter(1)

    async def run() -> int:
        ticks = 0

        async def wait() -> None:
            async with limiter.aslot():
                pass

        with limiter.slot():
            waiting = asyncio.create_task(wait())
            for _ in range(3):
                await asyncio.sleep(0.001)
                ticks += 1
        await waiting
        return ticks

    assert asyncio.run(run()) == 3


def test_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Limiter(0)
