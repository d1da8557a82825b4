"""The one HTTP client of every search API: time-outs, tries again, and what a failure means in one sentence."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import tenacity

from search.base import Failure, SearchError
from search.text import one_line

# A provider that asks to wait longer than this is not waited for: its quota counts as used up.
LONGEST_WAIT = 60.0
# Bytes of a reply at most: results of a search are far smaller.
LARGEST_REPLY = 16_000_000
_BUSY = 429
_TRANSIENT = frozenset({408, 500, 502, 503, 504})

Classify = Callable[[int, str], Failure | None]


class _RetryableError(Exception):
    """A failure that may pass, with the seconds that the provider asks to wait for."""

    def __init__(self, error: SearchError, wait: float | None = None) -> None:
        super().__init__(str(error))
        self.error, self.wait = error, wait


class HttpClient:
    """Talks to one search API.

    Args:
        provider: Its name in sentences that people read ("Brave Search").
        key: Name of the setting that holds its key, for the sentence about credentials; "" where there is none.
        timeout: Seconds to wait for one reply.
        retries: Tries again after a reply of 408, 429 or 5xx, a lost connection or a time-out.
        secrets: Texts that no error may show.
        sleep: Waits; tests pass their own.
    """

    def __init__(
        self,
        provider: str,
        *,
        key: str = "",
        timeout: float = 20.0,
        retries: int = 3,
        secrets: tuple[str, ...] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.provider, self.key, self.timeout, self.retries = provider, key, timeout, retries
        self._secrets = tuple(secret for secret in secrets if secret)
        self._sleep = sleep

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
            url: Without a query.
            params: The query; None values are left out.
            body: Sent as JSON.
            headers: Beside the usual ones.
            classify: Says of a reply's status and text which failure it is, where the usual reading is wrong.

        Raises:
            SearchError: with the kind of failure, after every try.
        """
        status, text = self.send(method, url, params=params, body=body, headers=headers, classify=classify)
        try:
            return _json(text)
        except (ValueError, RecursionError):
            raise self.bad_reply(f"status {status}, not JSON") from None

    def send(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        classify: Classify | None = None,
    ) -> tuple[int, bytes]:
        """As `json`, but the status and the bytes of a reply that is no failure."""
        given = {name: value for name, value in (params or {}).items() if value is not None}

        def attempt() -> tuple[int, bytes]:
            return self._attempt(method, url, given, body, dict(headers or {}), classify)

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_RetryableError),
            stop=tenacity.stop_after_attempt(self.retries + 1),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(attempt)
        except _RetryableError as failed:
            raise failed.error from None

    def bad_reply(self, detail: str) -> SearchError:
        """The error for a reply that cannot be read."""
        return SearchError(
            f"{self.provider} replied with something that regen cannot read ({self._clean(detail)}); try again later, "
            "or name another provider with --search.",
            "bad reply",
        )

    def _attempt(
        self,
        method: str,
        url: str,
        params: dict[str, Any],
        body: Any,
        headers: dict[str, str],
        classify: Classify | None,
    ) -> tuple[int, bytes]:
        try:
            with (
                httpx2.Client(timeout=self.timeout) as client,
                client.stream(method, url, params=params or None, json=body, headers=headers) as reply,
            ):
                content = _content(reply)
        except httpx2.TimeoutException:
            raise _RetryableError(self._unavailable(f"no answer within {self.timeout:g} seconds")) from None
        except httpx2.TransportError as error:
            raise _RetryableError(self._unavailable(str(error) or type(error).__name__)) from None
        except (httpx2.InvalidURL, httpx2.HTTPError) as error:
            raise self.bad_reply(str(error) or type(error).__name__) from None
        if content is None:
            raise self.bad_reply(f"more than {LARGEST_REPLY // 1_000_000} MB")
        status = reply.status_code
        if 200 <= status < 300:
            return status, content
        said = one_line(content.decode("utf-8", "replace"))
        kind = classify(status, content.decode("utf-8", "replace")) if classify else None
        raise self._failed(status, said, kind, _retry_after(reply.headers.get("retry-after")))

    def _failed(self, status: int, said: str, kind: Failure | None, wait: float | None) -> Exception:
        detail = self._clean(f"status {status}{f': {said}' if said else ''}")
        if kind == "credentials" or (kind is None and status in (401, 403)):
            where = f"; check {self.key}" if self.key else ""
            return SearchError(f"{self.provider} refused the credentials{where} ({detail}).", "credentials")
        if kind == "quota" or (kind is None and status in (402, _BUSY)):
            error = SearchError(
                f"{self.provider} has no more searches to give on this plan or at this pace; wait, or name another "
                f"provider with --search ({detail}).",
                "quota",
            )
            patient = status == _BUSY and (wait is None or wait <= LONGEST_WAIT)
            return _RetryableError(error, wait) if patient else error
        if status in _TRANSIENT:
            patient = wait is None or wait <= LONGEST_WAIT
            return _RetryableError(self._unavailable(detail), wait) if patient else self._unavailable(detail)
        if kind == "unavailable":
            return self._unavailable(detail)
        return self.bad_reply(detail)

    def _unavailable(self, detail: str) -> SearchError:
        return SearchError(
            f"{self.provider} cannot be reached ({self._clean(detail)}); try again later, or name another provider "
            "with --search.",
            "unavailable",
        )

    def _clean(self, detail: str) -> str:
        for secret in self._secrets:
            detail = detail.replace(secret, "***")
        return one_line(detail)


def _wait(state: tenacity.RetryCallState) -> float:
    failed = state.outcome.exception() if state.outcome else None
    asked = failed.wait if isinstance(failed, _RetryableError) else None
    return asked if asked is not None else tenacity.wait_random_exponential(multiplier=0.5, max=20.0)(state)


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a header that gives seconds or a date; None where it gives neither."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _content(reply: httpx2.Response) -> bytes | None:
    """The body, or None where it is too large."""
    parts, size = [], 0
    for part in reply.iter_bytes():
        size += len(part)
        if size > LARGEST_REPLY:
            return None
        parts.append(part)
    return b"".join(parts)


def _json(content: bytes) -> Any:
    import json

    return json.loads(content)
