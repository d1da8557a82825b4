"""Between DSPy's request and response objects and the OpenAI chat wire: bodies, replies, stream chunks, errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit, urlunsplit

# The words in which OpenAI-compatible servers say that a prompt is too long, where they give no code for it:
# llama.cpp, vLLM, OpenRouter and Gemini, in that order.
_TOO_LONG = re.compile(
    r"exceed_context_size|exceeds the available context|maximum context length|context_length_exceeded|"
    r"exceeds the maximum number of tokens",
    re.IGNORECASE,
)
# What keys of the known providers look like: some providers repeat a part of the key in their error.
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|hf|AIza)[-_]?[\w*.-]{12,}")
_DETAIL_CHARACTERS = 400
LONGEST_WAIT = 60.0
# Below this it is a placeholder ("EMPTY", "none"), and taking it out would only garble the text.
_SHORTEST_KEY = 8


def without_credentials(url: str) -> str:
    """The address without user, password, query and fragment, any of which can hold a secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(not an address)"
    if not parts.netloc:
        return url.rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def body(request: Any, base_url: str, wire_model: str | None, *, streaming: bool) -> dict[str, Any]:
    """The JSON body that asks `request` (a `dspy.lm15.Request`) of the endpoint."""
    from dspy.clients.engines.base import validate_request
    from dspy.clients.lm import _is_openai_reasoning_model
    from dspy.clients.lm15_boundary import request_kwargs

    validate_request(request)
    data: dict[str, Any] = request_kwargs(request, "chat")
    data["model"] = wire_model or request.model.partition("/")[2] or request.model
    # OpenAI's reasoning models refuse max_tokens; servers of other makers do not all know its successor.
    if urlsplit(base_url).hostname != "api.openai.com" and not _is_openai_reasoning_model(data["model"]):
        limit = data.pop("max_completion_tokens", None)
        if limit is not None:
            data["max_tokens"] = limit
    if streaming:
        data["stream"] = True
        data["stream_options"] = {"include_usage": True}
    return data


def response(reply: Any, request: Any) -> Any:
    """The `dspy.lm15.Response` in an HTTP reply.

    Raises:
        dspy.lm15.ProviderError: the reply is not JSON, is not a chat completion, or has no choice in it.
    """
    from dspy.lm15 import ProviderError

    try:
        data = reply.json()
    except ValueError:
        raise ProviderError("The endpoint's reply is not JSON.", status=reply.status_code) from None
    return completion(data, request.model, reply.status_code)


def completion(data: Any, model: str, status: int) -> Any:
    """The `dspy.lm15.Response` in the JSON of a reply of a model.

    Raises:
        dspy.lm15.ProviderError: as `response`.
    """
    from dspy.lm15 import ProviderError, response_from_openai_chat

    if not isinstance(data, dict):
        raise ProviderError("The endpoint's reply is not a chat completion.", status=status)
    # Half a character, which a model can be cut off in, is no text that could be printed or sent.
    data = json.loads(json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
    if not data.get("error") and not _has_message(data):
        raise ProviderError("The endpoint's reply has no answer in it.", status=status)
    try:
        return response_from_openai_chat(data, model=model)
    except (TypeError, ValueError, KeyError, AttributeError) as exc:
        raise ProviderError(f"The endpoint's reply is not a chat completion: {exc}", status=status) from None


def _has_message(data: dict[str, Any]) -> bool:
    choices = data.get("choices")
    return isinstance(choices, list) and bool(choices) and isinstance(choices[0], dict) and "message" in choices[0]


def events(chunk: Any, request: Any) -> Iterator[Any]:
    """The lm15 stream events in one chunk of a stream; an error chunk raises its lm15 error."""
    from dspy._vendor.lm15.errors import error_class_for_code
    from dspy._vendor.lm15.sse import SSEEvent
    from dspy.lm15 import StreamStartEvent

    if isinstance(chunk, dict):
        yield StreamStartEvent(id=chunk.get("id") or None, model=chunk.get("model") or request.model)
    for event in _dialect().parse_stream_events(request, SSEEvent(event=None, data=json.dumps(chunk))):
        if event.type == "error":
            raise error_class_for_code(event.error.code)(event.error.message, provider_code=event.error.provider_code)
        yield event


def expected() -> tuple[type[Exception], ...]:
    """What a call can fail with, other than by a mistake of ours: for `except`, and then for `error`."""
    import openai
    from dspy.lm15 import LM15Error

    return openai.OpenAIError, LM15Error, json.JSONDecodeError


def error(exc: Exception, base_url: str, *, api_key: str | None, key_variable: str | None, timeout: float) -> Any:
    """The `dspy.lm15.LM15Error` for one of the `expected` exceptions.

    Nothing of the key is left in its message; `retry_after` is the provider's own, in seconds.
    """
    import httpx2
    import openai
    from dspy.clients._http import retry_after_seconds
    from dspy.lm15 import AuthError, ContextLengthError, LM15Error, ProviderError, TimeoutError, TransportError

    address = without_credentials(base_url)
    if isinstance(exc, LM15Error):
        exc.message = scrub(exc.message, api_key)
        exc.args = (exc.message,)
        exc.provider = exc.provider if exc.provider not in (None, "openai-chat") else address
        return exc
    if isinstance(exc, openai.APITimeoutError) and not isinstance(exc.__cause__, httpx2.ConnectTimeout):
        return TimeoutError(f"No answer from {address} within {timeout:g} seconds.", provider=address)
    if isinstance(exc, openai.APIConnectionError):
        return TransportError(f"Cannot reach {address}: {scrub(str(exc.__cause__ or exc), api_key)}", provider=address)
    if isinstance(exc, openai.APIStatusError):
        text = exc.response.text
        mapped = _dialect().normalize_error(exc.status_code, text)
        if exc.status_code in (400, 413, 422) and _TOO_LONG.search(text):
            mapped = ContextLengthError(mapped.message, status=exc.status_code)
        elif exc.status_code == 404:
            mapped = _as_unknown_model(mapped)
        # llama.cpp's error code is the HTTP status, which lm15 then repeats in the message.
        mapped.message = scrub(mapped.message.removesuffix(f" ({exc.status_code})"), api_key)
        mapped.args = (mapped.message,)
        mapped.provider = address
        if isinstance(mapped, AuthError):
            mapped.env_keys = (key_variable,) if key_variable else ()
        mapped.request_id = exc.request_id
        wait = retry_after_seconds(exc.response.headers.get("retry-after"))
        # DSPy waits as long as it is told to, and says nothing meanwhile.
        mapped.retry_after = wait if wait is None else min(wait, LONGEST_WAIT)
        return mapped
    if isinstance(exc, openai.APIError):
        return ProviderError(scrub(str(exc.message), api_key), provider=address)
    return ProviderError(f"The endpoint's reply cannot be read: {scrub(str(exc), api_key)}", provider=address)


def _as_unknown_model(mapped: Any) -> Any:
    from dspy.lm15 import UnsupportedModelError

    return UnsupportedModelError(mapped.message, status=404, provider_code=mapped.provider_code)


def scrub(text: str, api_key: str | None) -> str:
    """`text` with the key, and what looks like a key, taken out; cut to a length fit for an error."""
    if api_key and len(api_key) >= _SHORTEST_KEY:
        # Also as Python and JSON write it, where it holds a quote or a backslash.
        for written in (api_key, repr(api_key)[1:-1], json.dumps(api_key)[1:-1]):
            text = text.replace(written, "[key]")
    text = _KEY_LIKE.sub("[key]", text)
    return text if len(text) <= _DETAIL_CHARACTERS else text[:_DETAIL_CHARACTERS] + "…"


def _dialect() -> Any:
    from dspy.lm15 import OpenAIChatLM

    return OpenAIChatLM(api_key="conversion-only", transport=None)


def is_loopback(url: str) -> bool:
    """Whether an address is one of this machine itself."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
