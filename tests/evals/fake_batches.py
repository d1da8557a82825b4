"""An HTTP server on loopback with OpenAI's files, batches and chat completions, as their published schema has them.

What it is sent is checked against the `openai` package's own types, and so is what it says.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from openai.types import Batch, BatchError, FileObject
from openai.types.batch_create_params import BatchCreateParams
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter, ValidationError

KEY = "sk-test-0123456789abcdefghij"
CREATE, BODY = TypeAdapter(BatchCreateParams), TypeAdapter(CompletionCreateParamsNonStreaming)
# What a batch is from one look to the next.
WAY = ["validating", "in_progress", "finalizing", "completed"]

Fault = Callable[[dict[str, Any]], tuple[int, str] | None]


class BatchServer:
    """Answers requests with `reply`, a function of the body, one by one or in batches.

    Args:
        reply: Gives the body of a chat completion.
    """

    def __init__(self, reply: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.reply = reply
        self.fault: Fault = lambda body: None
        """A status and a message in place of the reply to a request in a batch; status 0 is no HTTP error."""
        self.expires: list[int] = []
        """For each next batch, after how many requests it expires."""
        self.cancels = False
        self.refuses: list[dict[str, Any]] = []
        """Errors with which every batch is refused."""
        self.most_waiting: int | None = None
        """How many requests may wait at the same time."""
        self.absent: set[str] = set()
        """First parts of paths that are not there."""
        self.broken: list[tuple[str, int]] = []
        """Method and path, and the status that their next call is answered with."""
        self.others = 0
        """Batches of others that are listed before ours."""
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.direct = 0
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self._lock = threading.RLock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.answer(self.rfile.read(int(self.headers["Content-Length"])))

            def do_GET(self) -> None:
                self.answer(b"")

            def answer(self, data: bytes) -> None:
                with server._lock:
                    status, body = server.answer(self.command, self.path, self.headers, data)
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: Any) -> None:
                """Not on the screen."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method: str, path: str, headers: Any, data: bytes) -> tuple[int, Any]:
        url = urlsplit(path)
        parts = url.path.removeprefix("/v1/").split("/")
        asked = f"{method} {parts[0]}"
        self.asked.append(asked)
        if headers["Authorization"] != f"Bearer {KEY}":
            return 401, _error("Incorrect API key provided.", "invalid_api_key")
        if parts[0] in self.absent:
            return 404, _error("Not Found")
        broken = next((one for one in self.broken if one[0] == asked), None)
        if broken is not None:
            self.broken.remove(broken)
            if asked == "POST batches":
                self.create(json.loads(data))  # it was made, and the answer is lost
            return broken[1], _error("Bad gateway")
        match (method, *parts):
            case ("POST", "chat", "completions"):
                self.direct += 1
                return 200, self.reply(json.loads(data))
            case ("POST", "files"):
                return self.upload(headers["Content-Type"], data)
            case ("GET", "files", name, "content"):
                return (200, self.files[name][1]) if name in self.files else (404, _error("No such File object"))
            case ("POST", "batches"):
                return self.create(json.loads(data))
            case ("GET", "batches"):
                return 200, self.listed(parse_qs(url.query))
            case ("GET", "batches", name) if name in self.batches:
                return 200, self.look(self.batches[name])
        return 404, _error("No such object")

    def upload(self, kind: str, data: bytes) -> tuple[int, Any]:
        message = BytesParser().parsebytes(f"Content-Type: {kind}\r\n\r\n".encode() + data)
        form = {part.get_param("name", header="Content-Disposition"): part for part in message.get_payload()}
        content, purpose = form["file"].get_payload(decode=True), form["purpose"].get_payload()
        name = form["file"].get_filename()
        if purpose != "batch" or not name.endswith(".jsonl"):
            self.wrong.append(f"file {name} for {purpose}")
        return 200, self.keep(name, content, "batch")

    def keep(self, name: str, content: bytes, purpose: str) -> dict[str, Any]:
        file = f"file-{len(self.files)}"
        self.files[file] = (name, content)
        return _checked(
            FileObject,
            {
                "id": file,
                "object": "file",
                "bytes": len(content),
                "created_at": 1,
                "filename": name,
                "purpose": purpose,
                "status": "processed",
            },
        )

    def create(self, body: dict[str, Any]) -> tuple[int, Any]:
        try:
            CREATE.validate_python(body, strict=True)
            if unknown := set(body) - set(BatchCreateParams.__annotations__):
                raise ValueError(f"unknown: {unknown}")
        except ValueError as error:
            self.wrong.append(str(error))
            return 400, _error(str(error))
        if body["input_file_id"] not in self.files:
            return 400, _error("No such File object")
        lines = [json.loads(line) for line in self.files[body["input_file_id"]][1].splitlines()]
        errors = self.refuses or self.check(lines)
        batch = {
            "id": f"batch_{len(self.batches) + 1}",
            "object": "batch",
            "endpoint": body["endpoint"],
            "completion_window": "24h",
            "input_file_id": body["input_file_id"],
            "created_at": 1,
            "metadata": body.get("metadata"),
            "status": "validating",
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "errors": {"object": "list", "data": [_checked(BatchError, one) for one in errors]} if errors else None,
            "output_file_id": None,
            "error_file_id": None,
        }
        self.batches[batch["id"]] = batch
        self.sent += lines
        return 200, _checked(Batch, batch)

    def check(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What is wrong with the lines of a batch."""
        found = []
        under_way = [batch for batch in self.batches.values() if batch["status"] in WAY[:-1] and not batch["errors"]]
        waiting = sum(len(self.files[batch["input_file_id"]][1].splitlines()) for batch in under_way) + len(lines)
        if self.most_waiting is not None and waiting > self.most_waiting:
            return [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}]
        if len({line["body"]["model"] for line in lines}) != 1:
            found.append({"code": "mismatched_model", "message": "A batch has one model.", "line": 1})
        if len({line["custom_id"] for line in lines}) != len(lines):
            found.append({"code": "duplicate_custom_id", "message": "A custom_id is there twice.", "line": 1})
        for number, line in enumerate(lines, 1):
            try:
                if set(line) != {"custom_id", "method", "url", "body"} or not isinstance(line["custom_id"], str):
                    raise ValueError("the line has other keys")
                if (line["method"], line["url"]) != ("POST", "/v1/chat/completions"):
                    raise ValueError("another method or url")
                if unknown := set(line["body"]) - set(CompletionCreateParamsNonStreaming.__annotations__):
                    raise ValueError(f"unknown: {unknown}")
                list(BODY.validate_python(line["body"])["messages"])
            except (ValidationError, ValueError) as error:
                found.append({"code": "invalid_request", "message": str(error), "line": number})
        self.wrong += [str(error) for error in found]
        return found

    def listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        other = {"object": "batch", "endpoint": "/v1/embeddings", "completion_window": "24h", "input_file_id": "file-x"}
        names = [f"batch_other_{number}" for number in range(self.others)]
        found = [{**other, "id": name, "created_at": 2, "status": "completed"} for name in names]
        found += reversed(list(self.batches.values()))
        ids = [batch["id"] for batch in found]
        start = ids.index(query["after"][0]) + 1 if "after" in query else 0
        page = found[start : start + int(query.get("limit", ["20"])[0])]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        data = [_checked(Batch, batch) for batch in page]
        return {"object": "list", "data": data, "has_more": start + len(page) < len(found), **ends}

    def look(self, batch: dict[str, Any]) -> dict[str, Any]:
        """A batch, one step further than it was at the last look."""
        status = batch["status"]
        if batch["errors"]:
            batch["status"] = "failed"
        elif status in WAY[:-1]:
            batch["status"] = WAY[WAY.index(status) + 1]
            total = len(self.files[batch["input_file_id"]][1].splitlines())
            batch["request_counts"] = {"total": total, "completed": total // 2, "failed": 0}
            if batch["status"] == "completed":
                self.finish(batch)
        return _checked(Batch, batch)

    def finish(self, batch: dict[str, Any]) -> None:
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]][1].splitlines()]
        most = self.expires.pop(0) if self.expires else len(lines)
        good, bad = [], []
        for place, line in enumerate(lines):
            if place >= most:
                bad.append((line, None, {"code": "batch_expired", "message": "The completion window expired."}))
            elif (fault := self.fault(line["body"])) is None:
                reply = _checked(ChatCompletion, {"created": 1, **self.reply(line["body"])})
                good.append((line, {"status_code": 200, "request_id": "req", "body": reply}, None))
            elif fault[0]:
                body = _error(fault[1])
                bad.append((line, {"status_code": fault[0], "request_id": "req", "body": body}, None))
            else:
                bad.append((line, None, {"code": "request_timeout", "message": fault[1]}))
        # In any order, as the provider says.
        for name, found in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if found:
                written = [
                    {"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": error}
                    for line, response, error in found
                ]
                # Not in ASCII: what ends a line elsewhere is text here.
                content = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in written)
                batch[name] = self.keep(f"{batch['id']}_{name}.jsonl", content.encode(), "batch_output")["id"]
        batch["status"] = "cancelled" if self.cancels else "expired" if most < len(lines) else "completed"
        batch["request_counts"] = {"total": len(lines), "completed": len(good), "failed": len(bad)}


def completion(text: str, *, logprobs: bool = False) -> dict[str, Any]:
    """The body of a chat completion; `logprobs` where those of a letter are asked for."""
    top = [{"token": letter, "logprob": -0.1 if letter == text else -6.0, "bytes": None} for letter in "ABN"]
    chosen = next((one for one in top if one["token"] == text), top[0])
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    choice["logprobs"] = {"content": [{**chosen, "top_logprobs": top}]} if logprobs else None
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served",
        "choices": [choice],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "total_tokens": 105,
            "prompt_tokens_details": {"cached_tokens": 60},
        },
    }


def _checked(kind: Any, data: dict[str, Any]) -> dict[str, Any]:
    """`data`, once it is one of the package's types, and has nothing that the type has not."""
    kind.model_validate(data, strict=True)
    assert set(data) <= set(kind.model_fields), set(data) - set(kind.model_fields)
    return data


def _error(message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}
