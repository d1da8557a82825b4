"""The Batch API of an OpenAI-compatible endpoint: requests go up in a file, replies come down in files, for less money.

The API: https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from time import sleep
from typing import TYPE_CHECKING, Any, Final, TypeVar

from regen.errors import ConfigurationError, ProviderError, RegenError
from regen.models import wire
from regen.models.engine import OpenAIEngine
from regen.models.failures import translate

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import Batch

Out = TypeVar("Out")

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
_PATH: Final = "/v1/chat/completions"
# Under this name, a batch's metadata hold our own key of it.
_KEY = "regen_batch"
# So many failures in a row to tell how a batch goes along mean that the endpoint is away: some ten minutes.
_LOOKS = 12


class UnansweredError(ProviderError):
    """The endpoint gave no answer, or failed: what was asked of it may be done or not."""


class BatchAPI:
    """One model of an endpoint, asked in batches.

    Every method raises a `RegenError` in one sentence, `UnansweredError` where it is not known what came of it.

    Args:
        engine: Of the endpoint.
        model: DSPy's name of the model.
        retries: How often what failed on the way is tried again.
    """

    def __init__(self, engine: OpenAIEngine, model: str, *, retries: int) -> None:
        self._engine, self._model, self._retries = engine, model, retries
        self.address = wire.without_credentials(engine.base_url)

    def upload(self, key: str, bodies: Sequence[str]) -> str:
        """Sends requests, each the JSON of its body, in a file named by `key`. Gives the file's id."""
        lines = [
            f'{{"custom_id": "{place}", "method": "POST", "url": "{_PATH}", "body": {body}}}\n'
            for place, body in enumerate(bodies)
        ]
        file = (f"{key}.jsonl", "".join(lines).encode(), "application/jsonl")
        return self._ask(lambda client, _: client.files.create(file=file, purpose="batch").id)

    def create(self, key: str, file: str) -> str:
        """Has a batch made of a file, which is found by `key` later on. Gives the batch's id."""

        def make(client: OpenAI, attempt: int) -> str:
            # An attempt that seemed to fail may have made it.
            found = _find(client, key) if attempt else None
            if found is not None:
                return found
            metadata = {_KEY: key}
            return client.batches.create(
                input_file_id=file, endpoint=_PATH, completion_window="24h", metadata=metadata
            ).id

        return self._ask(make)

    def find(self, key: str) -> str | None:
        """The id of the batch that was made with `key`; None where there is none."""
        return self._ask(lambda client, _: _find(client, key))

    def state(self, batch_id: str) -> Batch:
        """How far a batch is."""
        return self._ask(lambda client, _: client.batches.retrieve(batch_id), retries=_LOOKS, batch=batch_id)

    def replies(self, batch: Batch) -> dict[int, Any]:
        """What came of the requests of a batch that has ended, by their place in it.

        Each is a `dspy.lm15.Response`, or the `dspy.lm15.LM15Error` that it failed with. Those that it did not come to
        may be missing.
        """
        found: dict[int, Any] = {}
        for file in (batch.output_file_id, batch.error_file_id):
            if file:
                # Not `splitlines`: other line ends are text.
                lines = self._content(batch.id, file).split(b"\n")
                found |= dict(filter(None, map(self._outcome, lines)))
        return found

    def _content(self, batch_id: str, file: str) -> bytes:
        return self._ask(lambda client, _: client.files.content(file).content, retries=_LOOKS, batch=batch_id)

    def is_too_much(self, batch: Batch) -> bool:
        """Whether a batch was refused because its tokens, with those that wait already, are more than may wait."""
        return any(error.code == "token_limit_exceeded" for error in (batch.errors and batch.errors.data) or [])

    def refusal(self, batch: Batch) -> RegenError:
        """Why a batch was refused as a whole."""
        errors = (batch.errors and batch.errors.data) or []
        first = errors[0] if errors else None
        said = (first and first.message) or "it does not say why"
        line = f" in its line {first.line}" if first and first.line else ""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        body = {"error": {"message": f"batch {batch.id} failed{line}: {said}{more}", "code": first and first.code}}
        return self._translated(self._status_error(400, body))

    def _outcome(self, line: bytes) -> tuple[int, Any] | None:
        """The place of a request, and what a line says came of it; None for a line that says nothing of any."""
        try:
            data = json.loads(line)
            place, response, error = int(data["custom_id"]), data.get("response"), data.get("error")
            if response:
                return place, self._reply(response["status_code"], response["body"])
            return place, self.missing((error or {}).get("message") or "no cause is given")
        except (ValueError, TypeError, KeyError, AttributeError):
            # Its request counts as one that the batch ended without: the replies in the other lines are paid for.
            return None

    def _reply(self, status: int, body: Any) -> Any:
        if status != 200:
            return self._status_error(status, body)
        try:
            return wire.completion(body, self._model, status)
        except wire.expected() as exc:
            return self._engine.error(exc)

    def missing(self, why: str) -> Any:
        """The `dspy.lm15.LM15Error` of a request that the batch ended without."""
        from dspy.lm15 import ServerError

        return self._engine.error(ServerError(f"the batch ended without it: {why}"))

    def _status_error(self, status: int, body: Any) -> Any:
        """The `dspy.lm15.LM15Error` of a reply with such a status."""
        import httpx2
        import openai

        request = httpx2.Request("POST", self._engine.base_url)
        response = httpx2.Response(status, json=body, request=request)
        return self._engine.error(openai.APIStatusError("", response=response, body=body))

    def _translated(self, error: Exception) -> RegenError:
        from dspy.clients.errors import wrap_error

        return translate(wrap_error(error, model=self._model))

    def _ask(self, work: Callable[[OpenAI, int], Out], *, retries: int | None = None, batch: str | None = None) -> Out:
        """What `work` gives, tried again where the way to the endpoint failed; it is told how often it failed before.

        `batch` is the batch that must be there; without it, none of the API may be.
        """
        most = self._retries if retries is None else retries
        attempt, waits = 0, pauses()
        while True:
            try:
                return work(self._engine.client(), attempt)
            except wire.expected() as exc:
                status = getattr(exc, "status_code", None)
                if status in (404, 405, 501):
                    raise ConfigurationError(self._absent(batch)) from None
                error = self._engine.error(exc)
                if not passes(error):
                    raise self._translated(error) from None
                if attempt >= most:
                    raise UnansweredError(str(self._translated(error))) from None
            sleep(next(waits))
            attempt += 1

    def _absent(self, batch: str | None) -> str:
        if batch is None:
            return f"{self.address} has no Batch API: leave --batch out, or name another model."
        return (
            f"{self.address} does not know the batch {batch} or its files (any more): give the key that it was sent "
            "with, or begin another run."
        )


def unfit(model: str) -> ConfigurationError:
    """The error for a model that is not asked through an engine of ours."""
    return ConfigurationError(
        f"{model} cannot be asked in batches: --batch is for models of OpenAI and of endpoints like it, such as "
        "openai/gpt-4.1-mini."
    )


def passes(error: Exception) -> bool:
    """Whether what failed with a `dspy.lm15.LM15Error` may go well another time."""
    from dspy.lm15 import RateLimitError, ServerError, TimeoutError, TransportError

    return isinstance(error, (RateLimitError, ServerError, TimeoutError, TransportError))


def pauses() -> Iterator[int]:
    """Seconds to wait, again and again, where nobody knows how long something takes."""
    return chain((5, 10, 20, 40), repeat(60))


def _find(client: OpenAI, key: str) -> str | None:
    batches = client.batches.list(limit=100)
    return next((batch.id for batch in batches if (batch.metadata or {}).get(_KEY) == key), None)
