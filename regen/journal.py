"""Model calls that are paid for once: every reply is kept in the run's store before it is used.

A stage that was broken off begins again, and the calls it had made are answered from the store, with what they cost.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any

import dspy
from dspy._vendor.lm15.serde import request_to_dict, response_from_dict, response_to_dict
from dspy.lm15 import RateLimitError

from regen.errors import ConfigurationError
from regen.models.engine import OpenAIEngine
from regen.models.limiter import Limiter
from regen.models.pace import calling_off
from regen.runs import Call, KeptReply, Run
from regen.types import Usage
from regen.usage import usage_of

if TYPE_CHECKING:
    from regen.outbox import Outbox, Tell

_ledger: ContextVar[Ledger | None] = ContextVar("ledger", default=None)
_HALF = re.compile(r"[\ud800-\udfff]")


class Stopped(BaseException):
    """No further call is to begin.

    Like KeyboardInterrupt no `Exception`: whatever handles failed calls on the way up must not take it for one.
    """


class Ledger:
    """The calls of one stage of one item, in this process and before.

    Args:
        item: The id.
        stage: The name.
        once: Whether a request at temperature 0 that is made again gets the reply that it got, as from a cache.
    """

    def __init__(self, item: str, stage: str, *, once: bool = False) -> None:
        self.item, self.stage, self.once = item, stage, once
        self._began = time.monotonic()
        self._numbers: dict[str, set[int]] = {}
        self._calls: list[tuple[str, Mapping[str, Any]]] = []
        self._lock = threading.Lock()

    def usage(self) -> Usage:
        """What they took so far. The seconds are those of this process."""
        return usage_of(self.calls(), time.monotonic() - self._began)

    def calls(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The model and the counts of each so far."""
        with self._lock:
            return list(self._calls)

    @contextmanager
    def nth(self, request: str, *, keeps: bool = False) -> Iterator[int]:
        """This call's number among those with the same request, from 0.

        One that fails leaves it to the next, which tries it again; not where it `keeps` it.
        """
        with self._lock:
            taken = self._numbers.setdefault(request, set())
            number = next(n for n in count() if n not in taken)
            taken.add(number)
        try:
            yield number
        except BaseException:
            if not keeps:
                with self._lock:
                    taken.remove(number)
            raise

    def add(self, model: str, counts: Mapping[str, Any]) -> None:
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

    def reply(self, call: Call) -> KeptReply | None:
        """See `Run.reply`."""
        return self._run.reply(call)

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

    def keep(self, call: Call, reply: KeptReply) -> None:
        """Keeps the reply to a call, and counts it; see `Run.keep_reply`."""
        self._run.keep_reply(call, reply)
        with self._changed:
            self._spent = _sum(self._spent, usage_of([(reply.model, reply.counts)]))

    def end(self) -> None:
        """Gives a place back, after `keep` or after a call that failed."""
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()

    def allows(self, calls: int) -> bool:
        """Whether so many calls may begin together; where they may not, none does from now on."""
        with self._changed:
            try:
                self._check(calls)
            except Stopped:
                return False
            return True

    def recount(self) -> None:
        """Counts what was kept without `keep`."""
        with self._changed:
            self._spent = self._run.usage()

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

    def _check(self, calls: int = 1) -> None:
        spent = self._spent
        if self._max_calls is not None and spent.calls + calls > self._max_calls:
            why = f"The limit of {self._max_calls} calls (--max-calls) is reached."
            # Of a batch, none are made.
            more = f" {spent.calls} were made, and the next batch has {calls}." if calls > 1 else ""
            self._stopped = self._stopped or why + more
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
        outbox: What sends the calls in batches; without it, each is made at once.
        ledger: What calls outside every stage belong to; without it, they are not kept.
    """

    def __init__(
        self, calls: Calls, *, concurrency: int = 8, outbox: Outbox | None = None, ledger: Ledger | None = None
    ) -> None:
        self.calls, self._ledger = calls, ledger
        self._outbox = outbox
        self._slots = Limiter(concurrency)

    def lm(self, lm: Any) -> Any:
        """`lm` with its calls kept.

        Raises:
            ConfigurationError: it is no `dspy.LM`, has a limit on cost and no known price, or is to be asked in batches
                and cannot be.
        """
        if not isinstance(lm, dspy.LM):
            raise ConfigurationError(f"The model {lm.model} is no dspy.LM, so that its calls cannot be kept in a run.")
        if self.calls.max_cost is not None and usage_of([(lm.model, {})]).cost_usd is None:
            raise ConfigurationError(f"The price of {lm.model} is not known: limit the run with --max-calls instead.")
        engine = _Engine(self, lm)
        if self._outbox is not None:
            self._outbox.admit(lm)
            # What failed in a batch is asked again in the next one, not at once.
            return lm.copy(engine=engine, num_retries=0)
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
            # The run has what was asked and replied: DSPy would hold the last 10,000 calls in memory as well.
            with dspy.context(disable_history=True):
                yield ledger
        finally:
            _ledger.reset(token)

    def fetch(self, tell: Tell) -> None:
        """Waits for the batches under way, and keeps their replies.

        Args:
            tell: Is told how far they are.

        Raises:
            RegenError: one could not be fetched, or was refused.
        """
        if self._outbox is not None:
            self._outbox.fetch(tell)
            self.calls.recount()

    def send(self) -> bool:
        """Sends the calls that wait for a batch. False where there are none, or a limit keeps them back.

        Raises:
            RegenError: they could not be sent.
        """
        if self._outbox is None or not self._outbox.waiting or not self.calls.allows(self._outbox.waiting):
            return False
        self._outbox.send()
        return True

    def call(self, lm: Any, request: Any) -> Any:
        """The reply to a request: the kept one, or that of the model."""
        ledger = _ledger.get() or self._ledger
        if ledger is None:
            return _complete(lm, request)
        asked = json.dumps(request_to_dict(request), sort_keys=True, default=str)
        key = hashlib.sha256(asked.encode()).hexdigest()
        again = ledger.once and request.config.temperature == 0
        with nullcontext(0) if again else ledger.nth(key, keeps=self._outbox is not None) as nth:
            call = Call(ledger.item, ledger.stage, key, nth)
            kept = self.calls.reply(call)
            if kept is None and self._outbox is not None:
                self._outbox.ask(call, lm, request)
            if kept is None:
                with self._slots.slot(), self._flying():
                    kept = kept_reply(lm.model, _complete(lm, request))
                    self.calls.keep(call, kept)
        ledger.add(lm.model, kept.counts)
        return response_from_dict(kept.response)

    @contextmanager
    def _flying(self) -> Iterator[None]:
        """One call's place among those in flight."""
        self.calls.begin()
        # A call that waits for the endpoint's pace has cost nothing yet.
        token = calling_off.set(self._call_off)
        try:
            yield
        finally:
            calling_off.reset(token)
            self.calls.end()

    def _call_off(self) -> None:
        if (why := self.calls.stopped) is not None:
            raise Stopped(why)


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
        try:
            return lm.engine.complete(request)
        except RateLimitError as error:
            if isinstance(lm.engine, OpenAIEngine):
                # Its pace waits as long, where the call can be called off; DSPy would sleep through a Ctrl-C.
                error.retry_after = 0.0
            raise
    # The call is counted where it began, not here as well.
    with dspy.context(usage_tracker=None, disable_history=True):
        return lm(request)


def kept_reply(model: str, response: Any, *, batch: bool = False) -> KeptReply:
    """A model's reply as it is kept; `batch` where it was had at the price of a batch."""
    whole = _whole(response)
    return KeptReply(model, {**_counts(whole), **({"batch": True} if batch else {})}, response_to_dict(whole))


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
