"""Runs independent model calls at the same time; how many at once is the model layer's limit, not set here."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import dspy

from regen.models import limiter
from regen.models.failures import expected

Item = TypeVar("Item")
Out = TypeVar("Out")


class Awaited(BaseException):
    """The reply to a call is still to come: what it was asked for is to be done again once it is there.

    Like KeyboardInterrupt no `Exception`: whatever handles failed calls on the way up must not take it for one.
    """


# However many calls may be in flight.
_THREADS = 32

_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)


def run_all(
    work: Callable[[Item], Out],
    items: Sequence[Item],
    expected: tuple[type[Exception], ...],
    progress: Callable[[int, int], None] | None = None,
) -> list[Out | Exception]:
    """`work` on every item, in DSPy's context of the caller; results in the order of `items`.

    An item whose work raised one of `expected` gives its exception in place of a result. `Awaited` goes on upwards once
    all of them were asked for. Any other exception, and an interrupt, drops what hasn't begun and goes on upwards.
    """

    def one(item: Item) -> Out:
        # A stream belongs to the caller's thread; what runs beside it is not part of what it shows.
        with _turn(), dspy.context(send_stream=None):
            return work(item)

    if not items:
        return []
    results: dict[int, Out | Exception] = {}
    awaited: Awaited | None = None
    pool = ThreadPoolExecutor(max_workers=min(_THREADS, len(items), limiter.WORK.slots), thread_name_prefix="regen")
    try:
        futures = {pool.submit(contextvars.copy_context().run, one, item): place for place, item in enumerate(items)}
        for done, future in enumerate(as_completed(futures), 1):
            error = future.exception()
            if error is None:
                results[futures[future]] = future.result()
            elif isinstance(error, expected):
                results[futures[future]] = error
            elif isinstance(error, Awaited):
                awaited = error
            else:
                raise error
            if progress:
                progress(done, len(items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if awaited is not None:
        raise awaited
    return [results[place] for place in range(len(items))]


@contextmanager
def _turn() -> Iterator[None]:
    """One of the places for work that calls a model; what is part of such work needs none of its own."""
    if _has_turn.get():
        yield
        return
    with limiter.WORK.slot():
        token = _has_turn.set(True)
        try:
            yield
        finally:
            _has_turn.reset(token)


def in_turn(work: Callable[[Item], Out], items: Sequence[Item]) -> list[Out]:
    """`work` on one item after the other; `Awaited` goes on upwards once all of them were asked for.

    So it does where a model failed on another one: that comes again once the reply is there, which is paid for either
    way.
    """
    results: list[Out] = []
    awaited: Awaited | None = None
    for item in items:
        try:
            results.append(work(item))
        except Awaited as error:
            awaited = error
        except expected():
            if awaited is None:
                raise
    if awaited is not None:
        raise awaited
    return results
