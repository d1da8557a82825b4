"""DSPy engines over any OpenAI-compatible chat API: one request in, one response or one lm15 error out.

DSPy owns retries, history and the response cache; an engine makes one attempt
(the contract is `dspy.clients.engines.base`). The request and response bodies
are converted by the same functions that DSPy's own LiteLLM engine uses.
"""

from __future__ import annotations

import os
import threading
import weakref
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import Any, Self
from urllib.parse import urlsplit

from regen.models import limiter, wire
from regen.models.limiter import Limiter
from regen.models.pace import Pace

CONNECT_SECONDS = 10.0


class _Endpoint:
    """What the two engines share: the address, the key, and the way to and from the wire."""

    # What DSPy's adapters ask of an engine (dspy.clients.capabilities).
    supports_function_calling = True
    supports_reasoning = False
    supports_response_schema = True
    supported_params = frozenset(
        {"temperature", "max_tokens", "max_completion_tokens", "top_p", "stop", "seed", "logprobs", "top_logprobs"}
        | {"response_format", "stream", "presence_penalty", "frequency_penalty", "logit_bias", "user"}
        | {"tools", "tool_choice", "parallel_tool_calls"}
    )

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        wire_model: str | None = None,
        timeout: float = 120.0,
        key_variable: str | None = None,
        gives_logprobs: bool = False,
        slots: Limiter | None = None,
        pace: Pace | None = None,
    ) -> None:
        """
        Args:
            base_url: Address of the API, up to and with its version (`https://host/v1`).
            api_key: Its key; None takes it from `key_variable`, and an endpoint without either gets no real key.
            wire_model: The model's name as the endpoint knows it; None strips the provider from the request's name.
            timeout: Seconds to wait for an answer; connecting gets 10 of them at most.
            key_variable: Environment variable that holds the key: named in saved programs and in errors.
            gives_logprobs: Whether the model is known to give log-probabilities.
            slots: A limit of this endpoint's own, inside the one of the process.
            pace: How fast calls may begin; shared by engines that ask the same endpoint.
        """
        self.base_url = base_url
        self.wire_model = wire_model
        self.timeout = timeout
        self.key_variable = key_variable
        self.gives_logprobs = gives_logprobs
        # A key read from a file often ends in a line end, which no header can hold.
        self._api_key = (api_key or (os.environ.get(key_variable, "") if key_variable else "")).strip() or None
        self._slots = slots
        self._pace = pace or Pace()
        self._closed = False

    def dump_state(self) -> dict[str, Any]:
        """What a saved program keeps of this engine. The key is not in it, only the variable it is read from."""
        return {
            "base_url": wire.without_credentials(self.base_url),
            "wire_model": self.wire_model,
            "timeout": self.timeout,
            "key_variable": self.key_variable,
            "gives_logprobs": self.gives_logprobs,
        }

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> Self:
        """The engine of a saved program; its key is read from the environment."""
        return cls(**state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({wire.without_credentials(self.base_url)!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a connection is shared by the copies of a program, as DSPy's own are

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).load_state, (self.dump_state(),)

    def body(self, request: Any, *, streaming: bool = False) -> dict[str, Any]:
        """The JSON body that asks a request of the endpoint."""
        from dspy.lm15 import ConfigurationError

        if self._closed:
            raise ConfigurationError("The engine is closed.")
        return wire.body(request, self.base_url, self.wire_model, streaming=streaming)

    def _connect(self, client: Any, http_client: Any) -> Any:
        import openai

        connected = client(
            base_url=self.base_url,
            api_key=self._api_key or "none",
            timeout=openai.Timeout(self.timeout, connect=min(CONNECT_SECONDS, self.timeout)),
            max_retries=0,
            # A proxy that is set for the web must not get calls to this machine.
            http_client=http_client(trust_env=False) if wire.is_loopback(self.base_url) else None,
        )
        if urlsplit(self.base_url).hostname != "api.openai.com":
            connected.organization = connected.project = None  # OpenAI's account names are nobody else's business
        return connected

    def error(self, exc: Exception, began: float | None = None) -> Any:
        """The `dspy.lm15.LM15Error` for one of `wire.expected()`, without the key in its message.

        A call that began then, and was refused for coming too fast, slows those after it.
        """
        from dspy.lm15 import RateLimitError

        error = wire.error(
            exc, self.base_url, api_key=self._api_key, key_variable=self.key_variable, timeout=self.timeout
        )
        if began is not None and isinstance(error, RateLimitError):
            self._pace.refused(began, error.retry_after)
        return error


class OpenAIEngine(_Endpoint):
    """One synchronous attempt at a time; safe to call from several threads."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._lock = threading.Lock()
        self._client: Any = None

    def complete(self, request: Any) -> Any:
        """The `dspy.lm15.Response` to a `dspy.lm15.Request`.

        Raises:
            dspy.lm15.LM15Error: whatever went wrong, without the key in its message.
        """
        import httpx2

        body, began = self.body(request), None
        try:
            with self._slot():
                began = self._pace.turn()
                reply = self.client().post("/chat/completions", body=body, cast_to=httpx2.Response)
            return wire.response(reply, request)
        except wire.expected() as exc:
            raise self.error(exc, began) from None

    def stream(self, request: Any) -> Iterator[Any]:
        """The lm15 stream events of a request: start, deltas, and an end that carries the usage."""
        from dspy._vendor.lm15.result import coalesce_stream

        events: Iterator[Any] = coalesce_stream(self._events(request), model=request.model)
        return events

    def close(self) -> None:
        """Close the connections; the engine answers no further calls."""
        self._closed = True
        if self._client is not None:
            self._client.close()

    def _events(self, request: Any) -> Iterator[Any]:
        from openai import Stream

        body, began = self.body(request, streaming=True), None
        try:
            with self._slot():
                began = self._pace.turn()
                chunks = self.client().post(
                    "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=Stream[object]
                )
                with chunks:
                    for chunk in chunks:
                        yield from wire.events(chunk, request)
        except wire.expected() as exc:
            raise self.error(exc, began) from None

    @contextmanager
    def _slot(self) -> Iterator[None]:
        with ExitStack() as held:
            if self._slots is not None:
                held.enter_context(self._slots.slot())
            held.enter_context(limiter.PROCESS.slot())
            yield

    def client(self) -> Any:
        """The `openai.OpenAI` of the endpoint."""
        import openai

        with self._lock:
            if self._client is None:
                self._client = self._connect(openai.OpenAI, openai.DefaultHttpxClient)
            return self._client


class AsyncOpenAIEngine(_Endpoint):
    """One asynchronous attempt at a time; usable from several event loops, one after another or at once."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Connections belong to the event loop that opened them.
        self._clients: weakref.WeakKeyDictionary[AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    async def complete(self, request: Any) -> Any:
        """As `OpenAIEngine.complete`."""
        import httpx2

        body, began = self.body(request), None
        try:
            async with self._slot():
                began = await self._pace.aturn()
                reply = await self.client().post("/chat/completions", body=body, cast_to=httpx2.Response)
            return wire.response(reply, request)
        except wire.expected() as exc:
            raise self.error(exc, began) from None

    def stream(self, request: Any) -> AsyncIterator[Any]:
        """As `OpenAIEngine.stream`."""
        from dspy._vendor.lm15.result import acoalesce_stream

        events: AsyncIterator[Any] = acoalesce_stream(self._events(request), model=request.model)
        return events

    async def aclose(self) -> None:
        """Close this event loop's connections; the engine answers no further calls."""
        self._closed = True
        client = self._clients.pop(get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _events(self, request: Any) -> AsyncIterator[Any]:
        from openai import AsyncStream

        body, began = self.body(request, streaming=True), None
        try:
            async with self._slot():
                began = await self._pace.aturn()
                chunks = await self.client().post(
                    "/chat/completions", body=body, cast_to=object, stream=True, stream_cls=AsyncStream[object]
                )
                async with chunks:
                    async for chunk in chunks:
                        for event in wire.events(chunk, request):
                            yield event
        except wire.expected() as exc:
            raise self.error(exc, began) from None

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as held:
            if self._slots is not None:
                await held.enter_async_context(self._slots.aslot())
            await held.enter_async_context(limiter.PROCESS.aslot())
            yield

    def client(self) -> Any:
        """The `openai.AsyncOpenAI` of the endpoint, on this event loop."""
        import openai

        loop = get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._connect(openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient)
            self._clients[loop] = client
        return client
