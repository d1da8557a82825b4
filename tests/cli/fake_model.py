"""An OpenAI-compatible server on loopback that answers by what it is asked, as a small model would."""

from __future__ import annotations

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_OPTION = re.compile(r"^([A-Z]): (.*)$", re.MULTILINE)


class FakeModel:
    """Says `first` when it answers and `second` when it answers again.

    A document is read as giving the first of `answers` that stands in it. `broken`, where it is set, is sent in place
    of every reply: a status and a body; where `breaks` is set, only to prompts with that text in them. `delay` is in
    seconds; `slow` holds up only prompts with that text in them. `keys` are those
    that it was given. `headers` go with every reply. A document is assessed at the level of the first of `levels` whose
    key stands in the prompt.
    """

    def __init__(self) -> None:
        self.first = "Revenue in 2025 was $4.2M [1]."
        self.second = "Revenue in 2025 was $6.8M [2]; an early estimate said $4.2M [1]."
        self.answers = ["$4.2M", "$6.8M"]
        self.levels: dict[str, str] = {}
        self.broken: tuple[int, Any] | None = None
        self.breaks = ""
        self.headers: dict[str, str] = {}
        self.delay = 0.0
        self.slow = ""
        self.prompts: list[str] = []
        self.keys: set[str] = set()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = "\n\n".join(str(message["content"]) for message in body["messages"])
                fake.prompts.append(prompt)
                fake.keys.add(self.headers.get("Authorization", "").removeprefix("Bearer "))
                if fake.slow in prompt:
                    time.sleep(fake.delay)
                broken = fake.broken if fake.breaks in prompt else None
                self.send(*(broken or (200, fake.completion(prompt))))

            def do_GET(self) -> None:
                self.send(*(fake.broken or (200, {"object": "list", "data": [{"id": "fake", "object": "model"}]})))

            def send(self, status: int, body: Any) -> None:
                raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
                    self.send_header("Content-Length", str(len(raw)))
                    for name, value in fake.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(raw)
                except ConnectionError:
                    pass  # the client gave up waiting

            def log_message(self, *_: Any) -> None:
                """Not on the screen."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def completion(self, prompt: str) -> dict[str, Any]:
        """The body of a chat completion for a prompt."""
        text = self.reply(prompt)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        others = [{"token": letter, "logprob": -6.0} for letter, _ in _OPTION.findall(prompt) if letter != text]
        if others:
            top = [{"token": text, "logprob": -0.1}, *others]
            choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4 + 1}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "fake",
            "choices": [choice],
            "usage": {**usage, "total_tokens": sum(usage.values()), "prompt_tokens_details": {"cached_tokens": 8}},
        }

    def reply(self, prompt: str) -> str:
        """What the model says."""
        if "relied on as a source" in prompt:
            level = next((level for part, level in self.levels.items() if part in prompt), "unknown")
            return json.dumps({"assessment": {"reason": f"it looks {level}", "level": level}})
        if prompt.startswith("List the factual claims"):
            response = prompt.rpartition("Response:")[2].strip()
            return "\n".join(part.strip() for part in re.split(r"(?<=[.;])\s+", response) if part.strip())
        options = _OPTION.findall(prompt)
        if not prompt.startswith("You read one document"):
            said = self.second if "Feedback:" in prompt else self.first
            answer = next((answer for answer in self.answers if answer in said), said)
            return next((letter for letter, text in options if answer in text), said)
        document = prompt.partition("Question:")[0]
        found = next((answer for answer in self.answers if answer in document), None)
        if not options:
            return found or "none"
        return next((letter for letter, text in options if found and found in text), "N")
