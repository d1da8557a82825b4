"""A language model whose replies a test writes: a function of the prompt, called in process, every request kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from dspy.clients.engines.base import validate_request
from dspy.lm15 import Request, Response, response_from_openai_chat, response_to_events

Reply = str | tuple[str, Mapping[str, float]]
Script = Callable[[str, str, Request], Reply]

# What every call reports to have cost.
PROMPT_TOKENS, CACHED_TOKENS, COMPLETION_TOKENS = 100, 60, 5


class ScriptedEngine:
    """Calls `script` with the system text, the last user text and the request.

    The script returns the reply, or the reply and the log-probabilities of its first token's alternatives. Replies end
    for `finish_reason`.
    """

    supports_function_calling = False
    supports_reasoning = False
    supports_response_schema = True
    supported_params = frozenset({"temperature", "max_tokens", "logprobs", "top_logprobs", "response_format", "seed"})

    def __init__(self, script: Script, *, gives_logprobs: bool = False) -> None:
        self.script = script
        self.gives_logprobs = gives_logprobs
        self.finish_reason = "stop"
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Response:
        """One reply."""
        validate_request(request)
        with self._lock:
            self.requests.append(request)
        said = self.script(system_text(request), user_text(request), request)
        text, logprobs = (said, None) if isinstance(said, str) else said
        choice: dict[str, Any] = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": self.finish_reason,
        }
        if logprobs is not None:
            top = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in logprobs.items()]
            choice["logprobs"] = {"content": [{**max(top, key=lambda item: item["logprob"]), "top_logprobs": top}]}
        usage = {
            "prompt_tokens": PROMPT_TOKENS,
            "completion_tokens": COMPLETION_TOKENS,
            "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
            "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
        }
        body = {"id": "scripted", "model": request.model, "choices": [choice], "usage": usage}
        return response_from_openai_chat(body, model=request.model)

    def stream(self, request: Request) -> Iterator[Any]:
        """The same reply, as the events of a stream."""
        yield from response_to_events(self.complete(request))

    def close(self) -> None:
        """Nothing is open."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def prompts(self) -> list[str]:
        """System and user text of every request so far."""
        return [f"{system_text(request)}\n\n{user_text(request)}" for request in self.requests]


def system_text(request: Request) -> str:
    """The instructions of a request."""
    if request.system is None or isinstance(request.system, str):
        return request.system or ""
    return "".join(part.text for part in request.system)


def user_text(request: Request) -> str:
    """The last message of a request."""
    return request.messages[-1].text or ""
