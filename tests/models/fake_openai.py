"""An HTTP server on loopback that speaks OpenAI's chat schema and gives the replies it is told to give."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdefghij"


@dataclass
class Reply:
    """One answer of the fake endpoint. `chunks` makes it a stream of server-sent events."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[Any] | None = None
    delay: float = 0.0


class Endpoint:
    """The fake endpoint: gives `replies` in turn (the last one again and again) and keeps the requests."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.busy = self.most_busy = 0
        self._lock = threading.Lock()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                endpoint.answer(self, json.loads(self.rfile.read(length)))

            def do_GET(self) -> None:
                endpoint.answer(self, None)

            def log_message(self, *_: Any) -> None:
                """Not on the screen."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        with self._lock:
            self.requests.append(
                {
                    "path": handler.path,
                    "headers": {name.lower(): value for name, value in handler.headers.items()},
                    "body": body,
                }
            )
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
        time.sleep(reply.delay)
        with self._lock:
            self.busy -= 1
        if reply.chunks is None:
            raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            kind = "application/json"
        else:
            lines = [chunk if isinstance(chunk, str) else json.dumps(chunk) for chunk in reply.chunks]
            raw = "".join(f"data: {line}\n\n" for line in lines).encode()
            kind = "text/event-stream"
        try:
            handler.send_response(reply.status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(raw)), **reply.headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(raw)
        except ConnectionError:
            pass  # the client gave up waiting


def completion(text: str = "Hello.", **choice: Any) -> dict[str, Any]:
    """The body of a chat completion, as OpenAI gives it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", **choice}],
        "usage": {
            "prompt_tokens": 12,
            "completion_tokens": 3,
            "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 8},
        },
    }


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One chunk of a streamed chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "served-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def stream_of(*texts: str) -> list[Any]:
    """The chunks of a whole stream: the texts, the end, the usage."""
    usage = {"prompt_tokens": 12, "completion_tokens": len(texts), "total_tokens": 12 + len(texts)}
    return [
        *(chunk({"content": text}) for text in texts),
        chunk({}, "stop"),
        {"id": "chatcmpl-1", "model": "served-model", "choices": [], "usage": usage},
        "[DONE]",
    ]
