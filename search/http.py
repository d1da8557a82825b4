"""The one HTTP client of every search API: time-outs, tries again, and what a failure means in one sentence."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NoReturn, TypeVar
from urllib.parse import quote, quote_plus, urlsplit

import httpx2

from regen.errors import ConfigurationError
from search.base import Failure, SearchError
from search.text import clean, one_line

# Seconds. A provider that asks to wait longer is not waited for.
LONGEST_WAIT = 60.0
# Bytes of a reply at most: results of a search are far smaller.
LARGEST_REPLY = 16_000_000

Verdict = Failure | Literal["busy"]
"""What a reply means: a failure for good, or `busy`, which is tried again and then counts as `quota`."""

Classify = Callable[[int, str], Verdict | None]
"""Reads a failed reply's status and text; None leaves it to the usual reading of the status."""

_T = TypeVar("_T")


class PassingError(Exception):
    """A failure that may pass, and the seconds that the provider asks to wait for."""

    def __init__(self, error: SearchError, wait: float = 0.0) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


def patiently(attempt: Callable[[], _T], retries: int, sleep: Callable[[float], None]) -> _T:
    """What `attempt` returns, tried `retries` times more with growing pauses while it raises `PassingError`.

    Raises:
        SearchError: it failed for good, at the last try, or for longer than is waited for.
    """
    tried = 0
    while True:
        try:
            return attempt()
        except PassingError as failed:
            if tried >= retries or failed.wait > LONGEST_WAIT:
                raise failed.error from None
            pause = random.uniform(0.5, 1.0) * 2.0 ** min(tried, 4)
            wait = max(failed.wait, pause)
        sleep(wait)
        tried += 1


class HttpClient:
    """Talks to one search API.

    Args:
        provider: Its name in sentences that people read ("Brave Search").
        access: What to do where it refuses access ("check BRAVE_API_KEY").
        timeout: Seconds to wait for one reply.
        retries: Tries again after a reply of 408, 429 or 5xx, a lost connection or a time-out.
        secrets: Texts that no error may show.
        sleep: Waits; tests pass their own.
    """

    def __init__(
        self,
        provider: str,
        *,
        access: str = "check its settings",
        timeout: float = 20.0,
        retries: int = 3,
        secrets: tuple[str, ...] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.provider, self.access, self.timeout, self.retries = provider, access, timeout, retries
        self.sleep = sleep
        self._secrets: set[str] = set()
        self.hide(*secrets)

    def hide(self, *secrets: str) -> None:
        """Show these texts in no error from now on, however an address would spell them."""
        for secret in filter(None, secrets):
            self._secrets |= {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}

    def json(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        classify: Classify | None = None,
    ) -> Any:
        """The JSON value that a request brings back.

        Args:
            method: GET or POST.
            url: Without a query, where there are `params`.
            params: The query; those that are None are left out.
            body: Sent as JSON.
            headers: Beside the usual ones.
            classify: Says of a reply's status and text which failure it is, where its status alone does not say.

        Raises:
            SearchError: with the kind of failure, after every try.
        """
        content = None if body is None else json.dumps(body).encode()
        kind = {} if body is None else {"content-type": "application/json"}
        reply = self.send(
            method, url, params=params, content=content, headers={**kind, **(headers or {})}, classify=classify
        )
        try:
            return json.loads(reply)
        except (ValueError, RecursionError):
            raise self.bad_reply("not JSON") from None

    def send(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        classify: Classify | None = None,
    ) -> bytes:
        """As `json`, but the bytes that are sent, and the bytes of a reply that is no failure."""
        given = {name: value for name, value in (params or {}).items() if value is not None}
        with self._connected() as client:

            def attempt() -> bytes:
                return self._attempt(client, method, url, given, content, dict(headers or {}), classify)

            return patiently(attempt, self.retries, self.sleep)

    def _connected(self) -> httpx2.Client:
        try:
            return httpx2.Client(timeout=self.timeout, headers={"user-agent": "regen", "accept": "application/json"})
        except OSError as error:
            raise ConfigurationError(
                f"The certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be loaded ({error}); correct or "
                "unset it."
            ) from None

    def bad_reply(self, detail: str) -> SearchError:
        """The error for a reply that cannot be read."""
        return SearchError(
            f"{self.provider} replied with something that regen cannot read ({self._shown(detail)}); try again later, "
            "or name another provider with --search.",
            "bad reply",
        )

    def unavailable(self, detail: str) -> SearchError:
        """The error for a provider that is down or out of time."""
        return SearchError(
            f"{self.provider} cannot be reached ({self._shown(detail)}); try again later, or name another provider "
            "with --search.",
            "unavailable",
        )

    def _attempt(
        self,
        client: httpx2.Client,
        method: str,
        url: str,
        params: dict[str, Any],
        content: bytes | None,
        headers: dict[str, str],
        classify: Classify | None,
    ) -> bytes:
        try:
            with client.stream(method, url, params=params or None, content=content, headers=headers) as reply:
                received = self._body(reply)
        except httpx2.TimeoutException:
            raise PassingError(self.unavailable(f"no answer within {self.timeout:g} seconds")) from None
        except httpx2.TransportError as error:
            raise PassingError(self.unavailable(str(error) or type(error).__name__)) from None
        except (httpx2.InvalidURL, httpx2.HTTPError) as error:
            raise self.bad_reply(str(error) or type(error).__name__) from None
        if reply.status_code < 200 or reply.status_code > 299:
            self._fail(reply, received.decode("utf-8", "replace"), classify)
        return received

    def _body(self, reply: httpx2.Response) -> bytes:
        """All of the body, unless there is too much of it or it takes too long."""
        received = bytearray()
        end = time.monotonic() + self.timeout
        for part in reply.iter_bytes():
            received += part
            if len(received) > LARGEST_REPLY:
                raise self.bad_reply(f"more than {LARGEST_REPLY // 1_000_000} MB")
            if time.monotonic() > end:
                raise httpx2.ReadTimeout("the reply does not end")
        return bytes(received)

    def _fail(self, reply: httpx2.Response, text: str, classify: Classify | None) -> NoReturn:
        status = reply.status_code
        said = _message(text)
        if 300 <= status < 400:
            said = f"sent on to {_host(reply.headers.get('location', ''))}"
        wait = retry_after(reply.headers.get("retry-after"))
        asked = f", asks to wait {wait:.0f} seconds" if wait > LONGEST_WAIT else ""
        detail = self._shown(f"status {status}{asked}{f': {said}' if said else ''}")
        verdict = (classify(status, text) if classify else None) or _usual(status)
        if verdict == "credentials":
            raise SearchError(f"{self.provider} refused access ({detail}); {self.access}.", "credentials")
        if verdict in ("quota", "busy"):
            error = SearchError(
                f"{self.provider} gives no more searches on this plan or at this pace ({detail}); wait, or name "
                "another provider with --search.",
                "quota",
            )
            raise PassingError(error, wait) if verdict == "busy" else error
        if verdict == "unavailable":
            raise PassingError(self.unavailable(detail), wait)
        if 400 <= status < 500:
            raise SearchError(
                f"{self.provider} did not accept the request ({detail}); ask in other words, or name another provider "
                "with --search.",
                "bad reply",
            )
        raise self.bad_reply(detail)

    def _shown(self, detail: str) -> str:
        """`detail` on one line, without secrets: they are taken out before it is cut, so that no part stays."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            detail = detail.replace(secret, "***")
        return one_line(clean(detail)).rstrip(".")


def _host(address: str) -> str:
    try:
        return urlsplit(address[:1000]).hostname or "elsewhere"
    except ValueError:
        return "elsewhere"


def _usual(status: int) -> Verdict | None:
    if status in (401, 403, 407):
        return "credentials"
    if status == 402:
        return "quota"
    if status == 429:
        return "busy"
    return "unavailable" if status == 408 or status >= 500 else None


def _message(text: str) -> str:
    """What an error reply says to people: a message somewhere in its JSON, or short text that is no HTML."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.lstrip().startswith("<") else text
    for _ in range(4):
        if isinstance(value, dict):
            value = next((value[key] for key in ("message", "detail", "error", "reason") if value.get(key)), "")
    return value if isinstance(value, str) else ""


def retry_after(value: str | None, now: datetime | None = None) -> float:
    """Seconds to wait by a Retry-After header, which gives seconds or a date; 0 where it gives neither."""
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):
        return 0.0
