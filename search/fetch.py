"""Fetching pages: many at once within one deadline, each with its bytes or the cause why there are none."""

from __future__ import annotations

import queue
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from urllib.parse import urljoin, urlsplit

import anyio
import httpcore2
import httpx2
from anyio.from_thread import start_blocking_portal

from regen.errors import ConfigurationError
from search.formats import Kind
from search.guard import BlockedError, GuardedBackend, Resolve, check_url, resolve
from search.text import clean, one_line

MAX_TEXT = 5_000_000  # bytes of HTML or plain text after decompression; what is beyond is cut off
MAX_FILE = 20_000_000  # bytes of a PDF or Word file, which is of no use without its end; also of any body as sent
MAX_REDIRECTS = 5
PER_HOST = 2  # pages fetched from one host at a time
GAP = 0.1  # seconds between the requests to one host
CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 10.0  # the longest wait for the next piece of a reply

USER_AGENT = f"regen/{version('regen')} (reads the pages that a search found, once, for one question)"

_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_KINDS: dict[str, Kind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "text",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    _DOCX: "docx",
}
# Servers say these of anything.
_UNTYPED = ("", "application/octet-stream", "binary/octet-stream")
_REDIRECTS = (301, 302, 303, 307, 308)
_BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, httpx2.HTTPError)


@dataclass(frozen=True)
class Fetched:
    """A page as it came: `url` is where the last redirect led, `cut` whether its end was left out."""

    data: bytes
    kind: Kind
    charset: str | None
    url: str
    cut: bool = False


@dataclass(frozen=True)
class Refused:
    """A page that did not come. The cause goes into parentheses."""

    cause: str


Outcome = Fetched | Refused


@dataclass(frozen=True)
class FetchOptions:
    """How pages are fetched.

    Args:
        deadline: Seconds after which every page that is not there yet is given up.
        allow_private: Whether addresses of the own network and machine may be connected to.
        per_host: Pages fetched from one host at a time.
        resolve: Finds the addresses of a host.
        backend: Opens the connections, once their addresses have been checked; sockets where None.
    """

    deadline: float = 15.0
    allow_private: bool = False
    per_host: int = PER_HOST
    resolve: Resolve = resolve
    backend: httpcore2.AsyncNetworkBackend | None = None


def fetch(urls: Sequence[str], options: FetchOptions) -> Iterator[tuple[str, Outcome]]:
    """Each of the distinct `urls` with its outcome, as soon as that is known.

    The fetching goes on in a thread of its own, with an event loop of its own, so that it makes no difference whether
    the caller has one running. Closing the iterator ends it.

    Raises:
        ConfigurationError: the environment names certificates that cannot be loaded.
    """
    known: queue.SimpleQueue[tuple[str, Outcome] | None] = queue.SimpleQueue()
    wanted = list(dict.fromkeys(urls))
    with start_blocking_portal() as portal:
        fetching = portal.start_task_soon(_fetch_all, wanted, options, known.put)
        fetching.add_done_callback(lambda _: known.put(None))
        while (found := known.get()) is not None:
            yield found
        fetching.result()


@dataclass
class _Host:
    """What is polite towards one host."""

    slots: anyio.Semaphore
    gap: anyio.Lock = field(default_factory=anyio.Lock)
    next_start: float = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        async with self.slots:
            async with self.gap:
                await anyio.sleep(max(0.0, self.next_start - anyio.current_time()))
                self.next_start = anyio.current_time() + GAP
            yield


@dataclass
class _Job:
    """One page under way: `waiting` is why there is nothing of it yet, should time run out."""

    url: str
    waiting: str = ""


async def _fetch_all(urls: Sequence[str], options: FetchOptions, report: Callable[[tuple[str, Outcome]], None]) -> None:
    hosts: defaultdict[str, _Host] = defaultdict(lambda: _Host(anyio.Semaphore(options.per_host)))
    end = anyio.current_time() + options.deadline
    headers = {
        "user-agent": USER_AGENT,
        "accept": f"text/html, application/xhtml+xml, application/pdf;q=0.9, text/*;q=0.8, {_DOCX};q=0.7",
    }
    timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS, pool=None)

    async def one(url: str) -> None:
        job = _Job(url)
        outcome: Outcome | None = None
        with anyio.CancelScope(deadline=end):
            outcome = await _outcome(client, job, hosts)
        report((url, outcome or Refused(f"{job.waiting} within {options.deadline:g} seconds")))

    # No proxy and no .netrc of the environment: a proxy would resolve the names itself, and could be led to any
    # address of the network that it stands in, without this side seeing it.
    async with (
        httpx2.AsyncClient(transport=_Transport(options), trust_env=False, timeout=timeout, headers=headers) as client,
        anyio.create_task_group() as tasks,
    ):
        for url in urls:
            tasks.start_soon(one, url)


async def _outcome(client: httpx2.AsyncClient, job: _Job, hosts: dict[str, _Host]) -> Outcome:
    url, leads = job.url, "it leads to"
    try:
        for _ in range(MAX_REDIRECTS + 1):
            check_url(url)
            job.waiting = "its turn did not come, after other pages of its host,"
            async with hosts[urlsplit(url).hostname or ""].turn():
                job.waiting = "no answer"
                async with client.stream("GET", url, follow_redirects=False) as reply:
                    if reply.status_code not in _REDIRECTS or "location" not in reply.headers:
                        job.waiting = "it was not all there"
                        return await _body(client, reply, url)
                    leads = "it redirects to"
                    url = _redirected(url, reply.headers["location"])
    except BlockedError as blocked:
        return Refused(f"{leads} {blocked}")
    except httpx2.InvalidURL:
        return Refused(f"{leads} an address that is not valid")
    except httpcore2.ConnectTimeout:
        return Refused(f"no connection within {CONNECT_SECONDS:g} seconds")
    except httpcore2.TimeoutException:
        return Refused(f"no answer within {SILENCE_SECONDS:g} seconds")
    except httpx2.DecodingError:
        return Refused("it cannot be decompressed")
    except httpcore2.ConnectError as error:
        return Refused(f"no connection: {_said(error)}")
    except _BROKEN as error:
        return Refused(_said(error))
    except Exception as error:  # noqa: BLE001 - what one server sends must not cost the pages of the others
        return Refused(f"{type(error).__name__}: {_said(error)}")
    return Refused(f"more than {MAX_REDIRECTS} redirects")


def _redirected(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise BlockedError("an address that is not valid") from None


async def _body(client: httpx2.AsyncClient, reply: httpx2.Response, url: str) -> Outcome:
    if not 200 <= reply.status_code < 300:
        return Refused(f"status {reply.status_code}")
    packed = reply.headers.get("content-encoding", "identity").strip().lower()
    # One coding only: codings of codings are asked for by nobody, and unpack to more than any limit expects.
    if packed not in ("identity", *client.headers["accept-encoding"].split(", ")):
        return Refused("it is compressed in a way that was not asked for")
    media = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media not in _KINDS and media not in _UNTYPED:
        return Refused(f"its content type is {one_line(clean(media))[:60]}")

    data, cut = bytearray(), False
    try:
        async for piece in reply.aiter_bytes():
            data += piece
            if len(data) > MAX_TEXT and _kind(media, data) in ("html", "text", None):
                cut = True
                break
            if len(data) > MAX_FILE:
                raise _TooLargeError
    except _TooLargeError:
        cut = True
    kind = _kind(media, data)
    if kind is None:
        return Refused("it is neither text nor PDF")
    if cut and kind in ("pdf", "docx"):
        return Refused(f"it is larger than {MAX_FILE // 1_000_000} MB")
    return Fetched(bytes(data[:MAX_TEXT] if cut else data), kind, reply.charset_encoding, url, cut)


def _kind(media: str, data: bytearray) -> Kind | None:
    """What a body is, by its content type and, where that is wrong or missing, its first bytes."""
    return "pdf" if data.startswith(b"%PDF-") else _KINDS.get(media) or _sniff(data)


def _sniff(data: bytearray) -> Kind | None:
    """What a body without a type is; None where it is none of what is read."""
    start = bytes(data[:2048]).lstrip().lower()
    if start.startswith(b"pk\x03\x04") and b"word/" in data:
        return "docx"
    if any(mark in start for mark in (b"<!doctype html", b"<html", b"<head", b"<body")):
        return "html"
    return None if b"\0" in start else "text"


def _said(error: Exception) -> str:
    """What an error says, in one line. Servers write part of it."""
    return one_line(clean(str(error))).rstrip(".") or type(error).__name__


class _TooLargeError(Exception):
    """More bytes came than any page may have."""


class _Transport(httpx2.AsyncBaseTransport):
    """Connections through `GuardedBackend`, with an end to every body, compressed or not."""

    def __init__(self, options: FetchOptions) -> None:
        try:
            certificates = httpx2.create_ssl_context()
        except OSError as error:
            raise ConfigurationError(
                f"The certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be loaded ({error}); correct or "
                "unset it."
            ) from None
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=certificates,
            network_backend=GuardedBackend(
                allow_private=options.allow_private, resolve=options.resolve, backend=options.backend
            ),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        reply = await self._pool.handle_async_request(
            httpcore2.Request(
                method=request.method,
                url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(reply.status, headers=reply.headers, stream=_Body(reply), extensions=reply.extensions)

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    """A body as it is sent, until it is larger than any page may be."""

    def __init__(self, reply: httpcore2.Response) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._reply.aiter_stream():
            size += len(piece)
            if size > MAX_FILE:
                raise _TooLargeError
            yield piece

    async def aclose(self) -> None:
        await self._reply.aclose()
