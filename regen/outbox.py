"""The calls of a run that go through the Batch API: noted as they are wanted, sent together, and fetched later on.

A call that is wanted raises `Awaited`, and whoever wanted it begins again once the reply is in the run's store. What
is sent is in the store before the provider knows of it, so that after any end it is fetched and not sent again.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from time import sleep
from typing import TYPE_CHECKING, Any, NoReturn

from regen.errors import InputError, ProviderError, RegenError
from regen.journal import kept_reply
from regen.models import batch_api
from regen.models.batch_api import BatchAPI, UnansweredError
from regen.models.engine import OpenAIEngine
from regen.models.wire import without_credentials
from regen.parallel import Awaited
from regen.runs import Batch, Call, Run

if TYPE_CHECKING:
    from openai.types import Batch as State

Tell = Callable[[int, int, int], None]
"""Is told the number of a batch, how many of its requests are done, and how many it has."""

_ENDED = {"completed", "failed", "expired", "cancelled"}
# What a line holds beside the request's body, at most.
_ENVELOPE = 120


class Outbox:
    """Sends and fetches the calls of one run.

    Args:
        run: Where it is kept what is under way, and what came of it.
        retries: How often a request that a batch ended without, or that failed on the way, is asked again.
    """

    def __init__(self, run: Run, *, retries: int = 3) -> None:
        self._run, self._retries = run, retries
        self._apis: dict[tuple[str, str], BatchAPI] = {}
        self._wanted: dict[tuple[str, str], dict[Call, str]] = {}
        # How many requests a batch may have, where the provider refused more.
        self._most: dict[tuple[str, str], int] = {}
        self._tries: Counter[Call] = Counter()
        self._failed: dict[Call, Exception] = {}
        self._lock = threading.Lock()

    def admit(self, lm: Any) -> None:
        """Takes a `dspy.LM` for one whose calls are sent.

        Raises:
            ConfigurationError: it is not asked through an `OpenAIEngine`.
        """
        # Not a subclass, whose calls may be made in another way.
        if type(lm.engine) is not OpenAIEngine:
            raise batch_api.unfit(lm.model)
        self._apis[_place(lm)] = BatchAPI(lm.engine, lm.model, retries=self._retries)

    @property
    def waiting(self) -> int:
        """How many calls are noted and not sent."""
        with self._lock:
            return sum(len(calls) for calls in self._wanted.values())

    def ask(self, call: Call, lm: Any, request: Any) -> NoReturn:
        """Notes a call.

        Raises:
            Awaited: it is noted.
            dspy.lm15.LM15Error: it was sent, and failed for good.
        """
        if call in self._failed:
            raise self._failed[call]
        body = json.dumps(lm.engine.body(request))
        with self._lock:
            self._wanted.setdefault(_place(lm), {})[call] = body
        raise Awaited

    def send(self) -> None:
        """Sends what is noted, each model's calls by themselves; a part, where all of them are too much at a time.

        Raises:
            RegenError: it was refused; nothing of it is under way.
            UnansweredError: nobody knows; `fetch` will find out.
        """
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        for place, calls in wanted.items():
            most = self._most.get(place)
            for part in islice(_parts(calls, most or batch_api.MOST_REQUESTS), 1 if most else None):
                self._send(place, part)

    def _send(self, place: tuple[str, str], calls: Mapping[Call, str]) -> None:
        key, api = uuid.uuid4().hex, self._apis[place]
        file = api.upload(key, list(calls.values()))
        self._run.begin_batch(key, *place, list(calls))
        try:
            self._run.name_batch(key, api.create(key, file))
        except UnansweredError:
            raise
        except RegenError:
            self._run.forget_batch(key)
            raise

    def fetch(self, tell: Tell) -> None:
        """Waits for every batch that is under way, and keeps the replies.

        Raises:
            InputError: one belongs to a model that the run is not gone on with.
            ProviderError: one was refused or cancelled, or the provider failed.
            ConfigurationError: the provider refused the key, or does not know one.
        """
        for batch in self._run.batches():
            api = self._apis.get((batch.endpoint, batch.model))
            if api is None:
                raise InputError(
                    f"The run waits for a batch of {batch.model} at {batch.endpoint}: go on with that model."
                )
            provider_id = batch.provider_id or api.find(batch.key)
            if provider_id is None:
                self._run.forget_batch(batch.key)
                continue
            self._run.name_batch(batch.key, provider_id)
            self._keep(batch, api, _ended(batch, api, provider_id, tell))

    def _keep(self, batch: Batch, api: BatchAPI, state: State) -> None:
        if state.status == "failed":
            self._run.end_batch(batch.key, state.status, {})
            if not api.is_too_much(state) or len(batch.calls) == 1:
                raise api.refusal(state)
            place = (batch.endpoint, batch.model)
            self._most[place] = min(len(batch.calls) // 2, self._most.get(place, batch_api.MOST_REQUESTS))
            return
        found = api.replies(state)
        replies = {}
        for line, call in enumerate(batch.calls):
            outcome = found[line] if line in found else api.missing(state.status)
            if isinstance(outcome, Exception):
                self._tries[call] += 1
                if not batch_api.passes(outcome) or self._tries[call] > self._retries:
                    self._failed[call] = outcome
            else:
                replies[call] = kept_reply(batch.model, outcome, batch=True)
        self._run.end_batch(batch.key, state.status, replies)
        if state.status == "cancelled":
            raise ProviderError(
                f"The batch {state.id} was cancelled at {api.address}: what it had done is kept, and the rest is asked "
                "for again when the run goes on."
            )


def _ended(batch: Batch, api: BatchAPI, provider_id: str, tell: Tell) -> State:
    waits = batch_api.pauses()
    while True:
        state = api.state(provider_id)
        counts = state.request_counts
        tell(batch.number, counts.completed + counts.failed if counts else 0, len(batch.calls))
        if state.status in _ENDED:
            return state
        sleep(next(waits))


def _place(lm: Any) -> tuple[str, str]:
    """Where a model's calls go: a batch has one endpoint and one model."""
    return without_credentials(lm.engine.base_url), lm.model


def _parts(calls: Mapping[Call, str], most: int) -> Iterator[dict[Call, str]]:
    """Calls in as many parts as the limits on a batch need, one of them `most` calls."""
    part: dict[Call, str] = {}
    size = 0
    for call, body in calls.items():
        if part and (len(part) == most or size + len(body) + _ENVELOPE > batch_api.MOST_BYTES):
            yield part
            part, size = {}, 0
        part[call] = body
        size += len(body) + _ENVELOPE
    if part:
        yield part
