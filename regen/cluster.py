"""Stages of a run on a Ray cluster: workers do them, and every call is kept on this machine before its reply is used.

One small actor beside the run's folder keeps and counts the calls. Workers have their own models, and nothing of a run:
one that dies loses its calls in flight, and its stages are done again by another, from the calls that were kept.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import dspy
from pydantic import SecretStr

from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
from regen.fence import one_line
from regen.journal import Calls, Journal, Ledger, Stopped
from regen.models.failures import expected, translate
from regen.runner import Stage
from regen.runs import Call, KeptReply, Run
from regen.types import Usage

Make = Callable[[Journal], tuple[Any, Sequence[Stage]]]

# A stage that so many workers died of is the cause of it, more likely than not.
_DEATHS = 3
# Requests that the store answers beside calls that wait for their place.
_SPARE = 8
_ERRORS = {kind.exit_code: kind for kind in (InputError, ConfigurationError, ProviderError)}


@contextmanager
def connected() -> Iterator[Any]:
    """Ray, connected while inside: to the cluster in RAY_ADDRESS, else to that of this machine, else to a new one.

    A connection that the process has already is used, and left as it is.

    Raises:
        ConfigurationError: Ray is not installed, or the cluster cannot be reached from here.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # What it has to say it says on standard output, where the figures go: all that matches this is dropped.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError:
        raise ConfigurationError('--engine ray needs the ray package: pip install "regen[ray]".') from None
    if ray.is_initialized():
        yield ray
        return
    if "://" in os.environ.get("RAY_ADDRESS", ""):
        raise ConfigurationError(
            "RAY_ADDRESS names a cluster to be reached from outside, but the run is kept on a machine of the cluster: "
            "give this command on one of them, with RAY_ADDRESS=auto."
        )
    try:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ConfigurationError(
            f"The Ray cluster cannot be joined ({' '.join(str(error).split())}): check RAY_ADDRESS, and that Ray runs "
            "on this machine."
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


class Cluster:
    """Workers for the stages of a run, one a free CPU, while inside.

    Args:
        ray: From `connected`.
        folder: Of the run, which this process holds.
        make: Gives the model and the stages with a worker's journal. It goes to the workers, and so does all that it
            holds; nothing of it is ever shown.
        keys: Environment variables that the models on the workers read their keys from.
        concurrency: Calls at the same time, and stages, over all workers.
        max_calls: See `regen.journal.Calls`.
        max_cost: See `regen.journal.Calls`.
    """

    def __init__(
        self,
        ray: Any,
        folder: Path,
        make: Make,
        keys: Mapping[str, SecretStr],
        *,
        concurrency: int,
        max_calls: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._make, self._keys, self._max_cost = ray, make, keys, max_cost
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        store = ray.remote(num_cpus=0, max_concurrency=concurrency + _SPARE, scheduling_strategy=here)(_Store)
        self._store = store.remote(folder.resolve(), max_calls, max_cost)
        self.calls: Calls = _StoredCalls(self._store, 0, max_cost)
        free = int(ray.available_resources().get("CPU", 0))
        self._count = min(concurrency, max(1, free))
        self.size = (
            f"workers on Ray: {self._count}" if free else "no processor of the Ray cluster is free: waiting for one"
        )
        """How many workers there are, in words."""
        each, over = divmod(concurrency, self._count)
        self._shares = [each + (place < over) for place in range(self._count)]
        self._lock, self._last = threading.Lock(), threading.Lock()
        self._closed = False
        self._workers: list[_Hand] = []

    def __enter__(self) -> Self:
        self.calls.spent()  # Says it now where the store cannot start.
        self._workers = [self._hire(number, share) for number, share in enumerate(self._shares, 1)]
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
        for worker in self._workers:
            self._ray.kill(worker.actor)
        # One that has died has closed it, too.
        with suppress(RegenError):
            _answer(self._store.close.remote())
        self._ray.kill(self._store)

    def stage(self, stage: Stage) -> Stage:
        """`stage`, done by the workers' own of that name."""
        return replace(stage, work=partial(self._work, stage.name))

    def _work(
        self, stage: str, data: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]], ledger: Ledger
    ) -> Mapping[str, Any]:
        from ray.exceptions import RayError, RayTaskError

        for left in reversed(range(_DEATHS)):
            # The last time not beside another one, which may be what the workers of both died of.
            with nullcontext() if left else self._last:
                worker = self._idlest()
                try:
                    ended: _Ended = self._ray.get(worker.actor.work.remote(stage, ledger.item, data, done))
                except RayTaskError:
                    raise  # A mistake of the program, and no end of a worker.
                except RayError as error:
                    if getattr(error, "actor_init_failed", False):
                        raise _cannot_start(error) from None
                    cause = _cause(error)
                    self._lost(worker)
                    continue
                finally:
                    with self._lock:
                        worker.busy -= 1
            if ended.stopped is not None:
                raise Stopped(ended.stopped)
            if ended.error is not None:
                raise _ERRORS.get(ended.exit_code, RegenError)(ended.error)
            for call in ended.calls:
                ledger.add(*call)
            return ended.data
        raise ProviderError(f"{_DEATHS} workers died over {stage} of {ledger.item}, the last one so: {cause}.")

    def _idlest(self) -> _Hand:
        with self._lock:
            if self._closed:
                raise Stopped("The run has ended.")
            worker = max(self._workers, key=lambda worker: worker.share - worker.busy)
            worker.busy += 1
            return worker

    def _lost(self, worker: _Hand) -> None:
        """Has another worker in place of one that died, or that cannot be reached."""
        with self._lock:
            if self._closed or worker not in self._workers:
                return
            self._workers.remove(worker)
            self._count += 1
            self._workers.append(self._hire(self._count, worker.share))
        self._ray.kill(worker.actor)
        _answer(self._store.lost.remote(worker.number))

    def _hire(self, number: int, share: int) -> _Hand:
        calls = _StoredCalls(self._store, number, self._max_cost)
        actor = self._ray.remote(num_cpus=1, max_concurrency=share)(_Worker)
        return _Hand(number, share, actor.remote(calls, share, self._make, self._keys))


@dataclass(eq=False)
class _Hand:
    number: int
    share: int
    actor: Any
    busy: int = 0


@dataclass(frozen=True)
class _Ended:
    """How a stage ended on a worker: with its data and calls, with an error, or called off."""

    data: dict[str, Any] = field(default_factory=dict)
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    error: str | None = None
    exit_code: int = 0
    stopped: str | None = None


class _Worker:
    """An actor that does stages, several at a time."""

    def __init__(self, calls: Calls, share: int, make: Make, keys: Mapping[str, SecretStr]) -> None:
        os.environ.update({name: key.get_secret_value() for name, key in keys.items()})
        self._journal = Journal(calls, concurrency=share)
        self._make = make
        self._made: tuple[Any, dict[str, Stage]] | None = None
        self._lock = threading.Lock()

    def work(self, name: str, item: str, data: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]]) -> _Ended:
        """Does one stage of an item."""
        try:
            lm, stages = self._ready()
            with dspy.context(lm=lm), self._journal.stage(item, name) as ledger:
                found = stages[name].work(data, done, ledger)
            return _Ended(data=dict(found), calls=ledger.calls())
        except Stopped as why:
            return _Ended(stopped=str(why))
        except expected() as error:
            cause = translate(error)
            return _Ended(error=str(cause), exit_code=cause.exit_code)

    def _ready(self) -> tuple[Any, dict[str, Stage]]:
        with self._lock:
            if self._made is None:
                lm, stages = self._make(self._journal)
                self._made = lm, {stage.name: stage for stage in stages}
            return self._made


class _Store:
    """The actor that keeps and counts the calls of all workers."""

    def __init__(self, folder: Path, max_calls: int | None, max_cost: float | None) -> None:
        self._run = Run(folder, writes=True)
        self._calls = Calls(self._run, max_calls=max_calls, max_cost=max_cost)
        self._lock = threading.Lock()
        self._flying: Counter[int] = Counter()
        self._gone: set[int] = set()

    def begin(self, worker: int) -> str | None:
        """Takes a place for a worker's call, or says why there is none."""
        try:
            self._calls.begin()
        except Stopped as why:
            return str(why)
        with self._lock:
            if worker not in self._gone:
                self._flying[worker] += 1
                return None
        self._calls.end()
        return "The worker was given up."

    def end(self, worker: int) -> None:
        """Gives a worker's place back."""
        with self._lock:
            if worker in self._gone:
                return
            self._flying[worker] -= 1
        self._calls.end()

    def lost(self, worker: int) -> None:
        """Gives back all places of a worker that died."""
        with self._lock:
            self._gone.add(worker)
            places = self._flying.pop(worker, 0)
        for _ in range(places):
            self._calls.end()

    def ask(self, method: str, *given: Any) -> Any:
        """Calls another method of `Calls`."""
        return getattr(self._calls, method)(*given)

    def stopped(self) -> str | None:
        """See `Calls.stopped`."""
        return self._calls.stopped

    def close(self) -> None:
        """Closes the run."""
        self._run.close()


class _StoredCalls(Calls):
    """The calls of the store, as seen from a worker, or from the process that holds the run (as worker 0)."""

    def __init__(self, store: Any, worker: int, max_cost: float | None) -> None:
        self._store, self._worker, self.max_cost = store, worker, max_cost

    @property
    def stopped(self) -> str | None:
        found: str | None = _answer(self._store.stopped.remote())
        return found

    def reply(self, call: Call) -> KeptReply | None:
        found: KeptReply | None = _answer(self._store.ask.remote("reply", call))
        return found

    def begin(self) -> None:
        why = _answer(self._store.begin.remote(self._worker))
        if why is not None:
            raise Stopped(why)

    def keep(self, call: Call, reply: KeptReply) -> None:
        _answer(self._store.ask.remote("keep", call, reply))

    def end(self) -> None:
        _answer(self._store.end.remote(self._worker))

    def stop(self, why: str) -> None:
        _answer(self._store.ask.remote("stop", why))

    def settle(self) -> None:
        _answer(self._store.ask.remote("settle"))

    def spent(self) -> Usage:
        found: Usage = _answer(self._store.ask.remote("spent"))
        return found


def _answer(asked: Any) -> Any:
    """What the store says.

    Raises:
        RegenError: it could not write, or has died.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return ray.get(asked)
    except RayTaskError as error:
        raise error.cause from None
    except RayError as error:
        if getattr(error, "actor_init_failed", False):
            raise _cannot_start(error) from None
        raise RegenError(
            f"The process that keeps the run's calls has ended ({_cause(error)}): give the same command with --run "
            "to go on."
        ) from None


def _cannot_start(error: BaseException) -> ConfigurationError:
    return ConfigurationError(f"A worker cannot start ({_cause(error)}): install the same regen on all machines.")


def _cause(error: BaseException) -> str:
    """The last line of what Ray says, which can be a page."""
    return one_line(str(error).strip().rpartition("\n")[2], 200).rstrip(".") or type(error).__name__
