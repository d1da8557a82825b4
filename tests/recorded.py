"""Model traffic recorded once from the embedded model's own server, and replayed without a model or a network.

`pytest --record` records anew: it needs the extra `local` and the weights, and takes minutes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CASSETTES = Path(__file__).parent.parent / "cassettes" / "llamacpp"
MODEL = "llamacpp/qwen2.5-coder-1.5b-instruct-q4_k_m"
# Nothing listens there: a call that is not in the cassette fails.
NOWHERE = "http://127.0.0.1:1/v1"


@dataclass(frozen=True)
class Endpoint:
    """Where the model is to be called, and with which key."""

    api_base: str
    api_key: str


@contextmanager
def cassette(name: str, *, record: bool) -> Iterator[Endpoint]:
    """Replays `cassettes/llamacpp/NAME.yaml`, or records it from the embedded model."""
    import vcr

    recorder = vcr.VCR(
        cassette_library_dir=str(CASSETTES),
        record_mode=vcr.mode.ALL if record else vcr.mode.NONE,
        # The port and the key are new each time; what was asked is what counts.
        match_on=["method", "path", "body"],
        before_record_request=_plain_request,
        before_record_response=_plain_response,
        decode_compressed_response=True,
    )
    endpoint = _start() if record else Endpoint(NOWHERE, "none")
    if record:
        (CASSETTES / f"{name}.yaml").unlink(missing_ok=True)
    with recorder.use_cassette(f"{name}.yaml", allow_playback_repeats=True):
        yield endpoint


def _start() -> Endpoint:
    from regen.models import server, weights

    named = os.environ.get("TEST_MODEL_PATH")
    running = server.start(Path(named) if named else weights.fetch())
    return Endpoint(running.base_url, running.api_key)


def _plain_request(request):  # type: ignore[no-untyped-def]
    """Keeps of a request what says what was asked: no key, no port, nothing of the machine."""
    request.headers = {"content-type": "application/json"}
    request.uri = f"http://127.0.0.1/v1{request.path.removeprefix('/v1')}"
    return request


def _plain_response(response):  # type: ignore[no-untyped-def]
    """Keeps of a response its kind and its body, where llama.cpp gives the model's file as a path of this machine."""
    kind = response["headers"].get("Content-Type") or response["headers"].get("content-type") or []
    body = response["body"]["string"]
    text = body.decode() if isinstance(body, bytes) else body
    text = re.sub(r'("model":")[^"]*/', r"\1", text)
    string = text.encode() if isinstance(body, bytes) else text
    return {**response, "headers": {"Content-Type": kind}, "body": {"string": string}}
