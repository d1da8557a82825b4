"""Independent work, side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from regen.models import limit
from regen.parallel import run_all


@pytest.fixture
def two_at_once() -> Iterator[None]:
    limit(2)
    yield
    limit(8)


def test_no_more_work_is_begun_than_calls_may_be_in_flight(two_at_once: None) -> None:
    lock, busy, most = threading.Lock(), 0, 0

    def work(number: int) -> int:
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.01)
        with lock:
            busy -= 1
        return number

    assert run_all(work, range(8), ()) == list(range(8))
    assert most == 2


def test_work_that_is_part_of_other_work_does_not_wait_for_it(two_at_once: None) -> None:
    found: list[object] = []

    def all_of_it() -> None:
        found.extend(run_all(lambda more: run_all(lambda number: number + more, range(3), ()), range(4), ()))

    thread = threading.Thread(target=all_of_it, daemon=True)
    thread.start()
    thread.join(timeout=30)
    assert found == [[more, more + 1, more + 2] for more in range(4)]
