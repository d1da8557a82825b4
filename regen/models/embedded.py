"""DSPy engines over the embedded model: they start its server with the first call and speak to it on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Self

from regen.models import server, weights
from regen.models.engine import AsyncOpenAIEngine, OpenAIEngine
from regen.models.limiter import Limiter

# The server has one slot. Calls wait here, not there, so that the wait does not count against their time-out.
_SLOTS = Limiter(1)


class _Embedded:
    supports_function_calling = False
    supports_reasoning = False
    supports_response_schema = True
    supported_params = OpenAIEngine.supported_params
    gives_logprobs = True

    def __init__(self, path: Path | None = None, *, timeout: float = 900.0) -> None:
        """`path`: a GGUF file; None is the built-in model, fetched when it is not there. `timeout` in seconds."""
        self.path = path
        self.timeout = timeout
        self._lock = threading.Lock()
        self._engine: Any = None

    def start(self) -> server.Running:
        """The running server, its weights fetched and loaded first where need be.

        Raises:
            ConfigurationError, ProviderError: as `weights.fetch` and `server.start`.
        """
        return server.start(self.path or weights.fetch())

    def dump_state(self) -> dict[str, Any]:
        """What a saved program keeps of this engine."""
        return {"path": str(self.path) if self.path else None, "timeout": self.timeout}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> Self:
        """The engine of a saved program; its server starts with the first call."""
        path = state.get("path")
        return cls(Path(path) if path else None, timeout=state["timeout"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).load_state, (self.dump_state(),)

    def _inner(self, engine: type[OpenAIEngine] | type[AsyncOpenAIEngine]) -> Any:
        with self._lock:
            if self._engine is None:
                running = self.start()
                self._engine = engine(running.base_url, running.api_key, timeout=self.timeout, slots=_SLOTS)
            return self._engine


class EmbeddedEngine(_Embedded):
    """The embedded model, called synchronously."""

    def complete(self, request: Any) -> Any:
        """As `OpenAIEngine.complete`."""
        return self._inner(OpenAIEngine).complete(request)

    def stream(self, request: Any) -> Iterator[Any]:
        """As `OpenAIEngine.stream`."""
        yield from self._inner(OpenAIEngine).stream(request)

    def close(self) -> None:
        """Close the connections; the server goes on, for other engines of this process."""
        if self._engine is not None:
            self._engine.close()


class AsyncEmbeddedEngine(_Embedded):
    """The embedded model, called from an event loop."""

    async def complete(self, request: Any) -> Any:
        """As `OpenAIEngine.complete`."""
        return await (await self._started()).complete(request)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        """As `OpenAIEngine.stream`."""
        async for event in (await self._started()).stream(request):
            yield event

    async def aclose(self) -> None:
        """Close this event loop's connections; the server goes on, for other engines of this process."""
        if self._engine is not None:
            await self._engine.aclose()

    async def _started(self) -> Any:
        # Loading takes seconds, and fetching minutes: not on the event loop.
        return await asyncio.to_thread(self._inner, AsyncOpenAIEngine)
