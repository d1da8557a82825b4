"""Searches recorded once, and replayed without a server, a key or a network.

`pytest tests/search --record` records anew from the fake APIs in `fake_search.py`. With `TEST_REAL_SEARCH=1` and a
provider's own settings in the environment, what a real API can be asked for is recorded from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fake_search import APIS, KEY, Api, Server

from search.base import SearchOptions
from search.web import WebSearch

CASSETTES = Path(__file__).parent.parent.parent / "cassettes"
# What a real API can be made to do; the rest is always recorded from the fake one.
REAL = ("first-page", "paging", "no-results", "unauthorized")
# As it was when the tests began: no test sees the keys of the machine.
_ENVIRONMENT = dict(os.environ)


@contextmanager
def recorded(
    api: Api, case: str, *, record: bool, options: SearchOptions, sleep: Callable[[float], None]
) -> Iterator[WebSearch]:
    """The provider of `api`, whose traffic is in `cassettes/PROVIDER/CASE.yaml`."""
    import vcr

    key = "wrong" if case == "unauthorized" else KEY
    server: Server | None = None
    if record and _real(api, case):
        provider = _as_configured(api, options, key if key == "wrong" else "")
    else:
        server = Server(api.answer) if record else None
        provider = api.make(server.root if server else api.published, options, sleep, key)

    def plain_request(request: Any) -> Any:
        """Keeps of a request what was asked, and where: no key, and neither port nor project of the one who asks."""
        parts = urlsplit(request.uri)
        request.headers = {"content-type": "application/json"} if request.body else {}
        path = api.path if record and server is None else parts.path
        request.uri = _scrubbed(f"{api.published}{path}{'?' if parts.query else ''}{parts.query}")
        return request

    def plain_response(response: Any) -> Any:
        """Keeps of a reply its kind, its body, and how long it asks to wait."""
        wanted = {"content-type", "retry-after"}
        headers = {name: value for name, value in response["headers"].items() if name.lower() in wanted}
        body = response["body"]["string"]
        string = _scrubbed(body.decode("utf-8", "replace")).encode() if isinstance(body, bytes) else _scrubbed(body)
        return {**response, "headers": headers, "body": {"string": string}}

    recorder = vcr.VCR(
        cassette_library_dir=str(CASSETTES / api.name),
        record_mode=vcr.mode.ALL if record else vcr.mode.NONE,
        match_on=["method", "scheme", "host", "port", "path", "query", "body"],
        before_record_request=plain_request,
        before_record_response=plain_response,
        decode_compressed_response=True,
    )
    if record:
        (CASSETTES / api.name / f"{case}.yaml").unlink(missing_ok=True)
    try:
        with recorder.use_cassette(f"{case}.yaml"):
            yield provider
    finally:
        if server:
            server.close()


def _real(api: Api, case: str) -> bool:
    asked = bool(_ENVIRONMENT.get("TEST_REAL_SEARCH")) and case in REAL and (api.key or case != "unauthorized")
    return asked and any(name.startswith(f"{api.name.upper()}_") for name in _ENVIRONMENT)


def _as_configured(api: Api, options: SearchOptions, key: str) -> WebSearch:
    """The provider with the settings of the machine, and another key where one is given."""
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        for name, value in _ENVIRONMENT.items():
            secret = name.endswith(("_API_KEY", "_PASSWORD"))
            patch.setenv(name, key if key and secret else value)
        return type(api.make(api.published, options, lambda _: None)).configured(options)


def _scrubbed(text: str) -> str:
    """A text without what names the one who recorded it."""
    for name, value in _ENVIRONMENT.items():
        ours = name.startswith(tuple(f"{api.name.upper()}_" for api in APIS))
        if ours and value and name.endswith(("_API_KEY", "_CSE_ID", "_PROJECT", "_ENGINE", "_USER", "_PASSWORD")):
            text = text.replace(value, "engine" if name.endswith("_CSE_ID") else "***")
    return text
