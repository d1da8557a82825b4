"""Model calls that are paid for once: every reply is kept in the run's store before it is used.

A stage that was broken off begins again, and the calls it had made are answered from the store, with what they cost.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import dspy
from dspy._vendor.lm15.serde import request_to_dict, response_from_dict, response_to_dict

from regen.errors import ConfigurationError
from regen.models.limiter import Limiter
from regen.runs import Run
from regen.types import Usage
from regen.usage import usage_of

_ledger: ContextVar[Ledger | None] = ContextVar("ledger", default=None)
_HALF = re.compile(r"[\ud800-\udfff]")


class Stopped(BaseException):
    """No further call is to begin.

    Like KeyboardInterrupt no `Exception`: whatever handles failed calls on the way up must not take it for one.
    """


class Ledger:
    """The calls of one stage of one item, in this process and before."""

    def __init__(self, item: str, stage: str) -> None:
        self.item, self.stage = item, stage
        self._began = time.monotonic()
        self._seen: Counter[str] = Counter()
        self._calls: list[tuple[str, dict[str, Any]]] = []
        self._lock = threading.Lock()

    def usage(self) -> Usage:
        """What they took so far. The seconds are those of this process."""
        return usage_of(self.calls(), time.monotonic() - self._began)

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """The model and the counts of each so far."""
        with self._lock:
            return list(self._calls)

    def nth(self, request: str) -> int:
        """How many calls with the same request went before."""
        with self._lock:
            self._seen[request] += 1
            return self._seen[request] - 1

    def add(self, model: str, counts: dict[str, Any]) -> None:
        """Counts a call."""
        with self._lock:
            self._calls.append((model, counts))


class Calls:
    """The calls of a run: the replies that are kept, what they cost, and whether a further one may begin.

    Args:
        run: Where replies are kept.
        max_calls: Calls of the whole run at most, those of earlier sessions among them.
        max_cost: As `max_calls`, in US dollars; calls that are in flight when it is reached come on top.
    """

    def __init__(self, run: Run, *, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self._run, self._max_calls, self.max_cost = run, max_calls, max_cost
        self._changed = threading.Condition()
        self._in_flight = 0
        self._spent = run.usage()
        self._stopped: str | None = None

    @property
    def stopped(self) -> str | None:
        """Why no further call begins, as a sentence; None while they do."""
        return self._stopped

    def reply(self, item: str, stage: str, request: str, nth: int) -> dict[str, Any] | None:
        """See `Run.reply`."""
        return self._run.reply(item, stage, request, nth)

    def begin(self) -> None:
        """Takes a place among the calls in flight, and waits where one of those may leave the last one.

        Raises:
            Stopped: no further call is to begin.
        """
        with self._changed:
            self._check()
            while self._max_calls is not None and self._spent.calls + self._in_flight >= self._max_calls:
                # One of those in flight may fail, and leave its place to this one.
                self._changed.wait()
                self._check()
            self._in_flight += 1

    def keep(
        self,
        item: str,
        stage: str,
        request: str,
        nth: int,
        *,
        model: str,
        counts: dict[str, Any],
        response: dict[str, Any],
    ) -> None:
        """Keeps the reply to a call, and counts it; see `Run.keep_reply`."""
        self._run.keep_reply(item, stage, request, nth, model=model, counts=counts, response=response)
        with self._changed:
            self._spent = _sum(self._spent, usage_of([(model, counts)]))

    def end(self) -> None:
        """Gives a place back, after `keep` or after a call that failed."""
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def stop(self, why: str) -> None:
        """Has no further call begin; those in flight go on."""
        with self._changed:
            self._stopped = self._stopped or why
            self._changed.notify_all()

    def settle(self) -> None:
        """Waits for the calls in flight."""
        with self._changed:
            while self._in_flight:
                # With a time-out, a second Ctrl-C gets through on every system.
                self._changed.wait(0.2)

    def spent(self) -> Usage:
        """What the run took so far, its earlier sessions with it."""
        with self._changed:
            return self._spent

    def _check(self) -> None:
        spent = self._spent
        if self._max_calls is not None and spent.calls >= self._max_calls:
            self._stopped = self._stopped or f"The limit of {self._max_calls} calls (--max-calls) is reached."
        if self.max_cost is not None and (spent.cost_usd or 0.0) >= self.max_cost:
            self._stopped = self._stopped or f"The limit of ${self.max_cost:g} (--max-cost) is reached."
        if self._stopped is not None:
            raise Stopped(self._stopped)


class Journal:
    """What stands between the program and its models in a run.

    Args:
        calls: Where calls are kept and counted.
        concurrency: Calls at the same time. The process has the same limit, but a call waits here, where it can still
            be called off.
    """

    def __init__(self, calls: Calls, *, concurrency: int = 8) -> None:
        self.calls = calls
        self._slots = Limiter(concurrency)

    def lm(self, lm: Any) -> Any:
        """`lm` with its calls kept.

        Raises:
            ConfigurationError: it is no `dspy.LM`, or has a limit on cost and no known price.
        """
        if not isinstance(lm, dspy.LM):
            raise ConfigurationError(f"The model {lm.model} is no dspy.LM, so that its calls cannot be kept in a run.")
        if self.calls.max_cost is not None and usage_of([(lm.model, {})]).cost_usd is None:
            raise ConfigurationError(f"The price of {lm.model} is not known: limit the run with --max-calls instead.")
        engine = _Engine(self, lm)
        if not isinstance(lm.engine, str):
            return lm.copy(engine=engine)
        # LiteLLM's connection settings belong to the LM inside, and so do its retries.
        sampling = {name: lm.kwargs[name] for name in ("temperature", "max_tokens", "seed") if name in lm.kwargs}
        return dspy.LM(lm.model, engine=engine, cache=False, num_retries=0, **sampling)

    @contextmanager
    def stage(self, item: str, stage: str) -> Iterator[Ledger]:
        """While inside, in this thread and those begun by `regen.parallel`, calls belong to a stage of an item."""
        ledger = Ledger(item, stage)
        token = _ledger.set(ledger)
        try:
            yield ledger
        finally:
            _ledger.reset(token)

    def call(self, lm: Any, request: Any) -> Any:
        """The reply to a request: the kept one, or that of the model."""
        ledger = _ledger.get()
        if ledger is None:
            return _complete(lm, request)
        written = json.dumps(request_to_dict(request), sort_keys=True, default=str)
        key = hashlib.sha256(written.encode()).hexdigest()
        place = (ledger.item, ledger.stage, key, ledger.nth(key))
        kept = self.calls.reply(*place)
        if kept is not None:
            response = response_from_dict(kept)
            ledger.add(lm.model, _counts(response))
            return response
        with self._slots.slot():
            self.calls.begin()
            try:
                response = _whole(_complete(lm, request))
                counts = _counts(response)
                self.calls.keep(*place, model=lm.model, counts=counts, response=response_to_dict(response))
            finally:
                self.calls.end()
        ledger.add(lm.model, counts)
        return response


class _Engine:
    """A DSPy engine that asks the journal first."""

    def __init__(self, journal: Journal, lm: Any) -> None:
        self._journal, self._lm = journal, lm
        inner = lm if isinstance(lm.engine, str) else lm.engine
        self.supports_function_calling = inner.supports_function_calling
        self.supports_reasoning = inner.supports_reasoning
        self.supports_response_schema = inner.supports_response_schema
        self.supported_params = inner.supported_params
        self.gives_logprobs = bool(getattr(lm.engine, "gives_logprobs", False))

    def complete(self, request: Any) -> Any:
        """The reply to one request."""
        return self._journal.call(self._lm, request)

    def close(self) -> None:
        """The engine inside is its owner's to close."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Engine:
        return self


def _complete(lm: Any, request: Any) -> Any:
    if not isinstance(lm.engine, str):
        return lm.engine.complete(request)
    # The call is counted where it began, not here as well.
    with dspy.context(usage_tracker=None, disable_history=True):
        return lm(request)


def _whole(response: Any) -> Any:
    """A reply with U+FFFD for halves of surrogate pairs (an emoji cut in two), which are no text anywhere else."""
    written = json.dumps(response_to_dict(response), ensure_ascii=False)
    return response_from_dict(json.loads(_HALF.sub("\ufffd", written))) if _HALF.search(written) else response


def _counts(response: Any) -> dict[str, Any]:
    usage = response.usage
    return {
        "prompt_tokens": usage.input_tokens or 0,
        "completion_tokens": usage.output_tokens or 0,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
    }


def _sum(one: Usage, other: Usage) -> Usage:
    """Both together; a cost that is not known leaves the sum unknown, unless nothing was called before."""
    known = one.cost_usd is not None or one.calls == 0
    cost = (one.cost_usd or 0.0) + other.cost_usd if known and other.cost_usd is not None else None
    return Usage(
        calls=one.calls + other.calls,
        prompt_tokens=one.prompt_tokens + other.prompt_tokens,
        cached_tokens=one.cached_tokens + other.cached_tokens,
        completion_tokens=one.completion_tokens + other.completion_tokens,
        cost_usd=cost,
        seconds=one.seconds + other.seconds,
    )
