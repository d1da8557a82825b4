"""Works through the items of a run: several at a time, stage after stage, each kept before the next begins."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from regen.errors import InputError, ProviderError, RegenError
from regen.journal import Journal, Ledger, Stopped
from regen.models.failures import expected, translate
from regen.parallel import Awaited
from regen.runs import Run

# So many items in a row that a provider failed mean that it is down: to go on would fail all the others too.
FAILURES_IN_A_ROW = 10
# Exit codes of failures that say nothing of other items. A wrong setting does, and so does a store that is gone.
_AN_ITEMS_OWN = (InputError.exit_code, ProviderError.exit_code)

Work = Callable[[Mapping[str, Any], Mapping[str, Mapping[str, Any]], Ledger], Mapping[str, Any]]


@dataclass(frozen=True)
class Stage:
    """One step with an item.

    `work` takes the item's data, the data of its stages so far and the ledger of its calls, and gives the data to
    keep. It is done once the stages in `needs` are, and left out where one of them failed.
    """

    name: str
    work: Work
    needs: tuple[str, ...] = ()


class Board(Protocol):
    """What is told how a run goes along, from any thread."""

    def stage(self, name: str, seconds: float | None) -> None:
        """A stage was finished after so many seconds; None where it failed, or could not be begun."""
        ...

    def item(self) -> None:
        """An item was finished, or failed."""
        ...

    def batch(self, number: int, done: int, total: int) -> None:
        """Of the requests of a batch, counted from 1, so many are done."""
        ...


def work_through(run: Run, journal: Journal, stages: Sequence[Stage], board: Board, *, at_once: int) -> None:
    """Does what is left of a run.

    Where the calls go in batches, all items are gone through until each waits for a reply; once the replies of all are
    there, they are gone through again.

    Args:
        run: Its items, and what is finished of them.
        journal: Ends the work where it is stopped; calls in flight are waited for and kept.
        stages: In order.
        board: Is told of everything that is finished.
        at_once: Items at the same time.

    Raises:
        RegenError: at once where it is a wrong setting or credential (a `ConfigurationError`, or a search whose key was
            refused), or the run's store, since no other item would fare better.
        ProviderError: the provider failed ten items in a row, or a batch.
        KeyboardInterrupt: Ctrl-C; the calls in flight are kept, unless it comes again.
    """
    worker = _Worker(run, journal, stages, board)
    journal.fetch(board.batch)
    _go_through(worker, journal, at_once)
    while journal.send():
        journal.fetch(board.batch)
        _go_through(worker, journal, at_once)


def complete(run: Run, stages: Sequence[Stage]) -> bool:
    """Whether every stage of every item is finished, failed, or needs one that failed: nothing is left to do."""
    finished, failures = run.finished(), run.failures()
    for name in run.items():
        done, lost = finished.get(name, {}), set(failures.get(name, {}))
        for stage in stages:
            if stage.name in done:
                continue
            if stage.name not in lost and lost.isdisjoint(stage.needs):
                return False
            lost.add(stage.name)
    return True


def _go_through(worker: _Worker, journal: Journal, at_once: int) -> None:
    error: BaseException | None = None
    pool = ThreadPoolExecutor(max_workers=max(1, at_once), thread_name_prefix="items")
    try:
        futures = [pool.submit(contextvars.copy_context().run, worker.item, name, data) for name, data in worker.left()]
        try:
            error = _first_error(futures)
        except KeyboardInterrupt as interrupt:
            error = interrupt
        if error is not None:
            # Where it is the store that has gone, it cannot be told to stop either.
            with suppress(RegenError):
                journal.calls.stop("The run was interrupted." if isinstance(error, KeyboardInterrupt) else str(error))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if error is not None:
        wait(future for future in futures if not future.cancelled())
        with suppress(RegenError):
            journal.calls.settle()
        if not isinstance(error, Stopped):
            raise error


def _first_error(futures: Sequence[Future[None]]) -> BaseException | None:
    left = set(futures)
    while left:
        # With a time-out, Ctrl-C gets through on every system.
        done, left = wait(left, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            if (error := future.exception()) is not None:
                return error
    return None


class _Worker:
    def __init__(self, run: Run, journal: Journal, stages: Sequence[Stage], board: Board) -> None:
        self._run, self._journal, self._stages, self._board = run, journal, stages, board
        self._items, finished, failures = run.items(), run.finished(), run.failures()
        self._done = {
            name: {stage: kept.data for stage, kept in finished.get(name, {}).items()} for name in self._items
        }
        self._failed = {name: set(failures.get(name, {})) for name in self._items}
        self._in_a_row = 0
        self._lock = threading.Lock()

    def left(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The items that have a stage which is neither done nor failed."""
        names = {stage.name for stage in self._stages}
        return [item for item in self._items.items() if names - set(self._done[item[0]]) - self._failed[item[0]]]

    def item(self, name: str, data: Mapping[str, Any]) -> None:
        """Does the stages of one item that are not done yet, as far as the replies to their calls are there."""
        done, failed = self._done[name], self._failed[name]
        awaited: set[str] = set()
        errors: list[RegenError] = []
        for stage in self._stages:
            if stage.name in done or stage.name in failed:
                continue
            if not awaited.isdisjoint(stage.needs):
                awaited.add(stage.name)
                continue
            if not set(stage.needs) <= set(done):
                failed.add(stage.name)
                self._board.stage(stage.name, None)
                continue
            began = time.monotonic()
            try:
                with self._journal.stage(name, stage.name) as ledger:
                    found = stage.work(data, done, ledger)
                    self._run.keep(name, stage.name, found, ledger.usage())
            except Awaited:
                awaited.add(stage.name)
            except expected() as error:
                cause = translate(error)
                if cause.exit_code not in _AN_ITEMS_OWN:
                    raise cause from error
                errors.append(cause)
                failed.add(stage.name)
                self._run.fail(name, stage.name, str(cause), cause.exit_code)
                self._board.stage(stage.name, None)
            else:
                done[stage.name] = dict(found)
                self._board.stage(stage.name, time.monotonic() - began)
        if not awaited:
            self._board.item()
        if errors or not awaited:
            self._count(errors)

    def _count(self, errors: Sequence[RegenError]) -> None:
        with self._lock:
            down = [error for error in errors if error.exit_code != InputError.exit_code]
            self._in_a_row = self._in_a_row + 1 if down else 0
            if self._in_a_row >= FAILURES_IN_A_ROW:
                raise ProviderError(f"{FAILURES_IN_A_ROW} items failed in a row, the last one so: {down[-1]}")
