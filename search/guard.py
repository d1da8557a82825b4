"""Keeps requests for pages on the public internet: which addresses may be asked for, and connected to.

A page's address comes from a search engine, and a redirect from whoever answers: either may try to make this machine
ask its own services, its network, or its cloud's metadata service. A name is no protection, since whoever owns it
decides what it resolves to, and may decide anew between a check and a connection. So the name is resolved here, and
the connection goes to an address that was checked.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpcore2

Resolve = Callable[[str, int], Sequence[str]]
"""Gives the numeric addresses of a host and port, best first; raises OSError where there are none."""

# Tried in turn; a name can have hundreds.
MOST_ADDRESSES = 4
# Seconds for one address while there is another to try.
FIRST_TRY = 2.0

# Not for the public, though Python's tables (some of its versions, at least) say that they are.
_NOT_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "168.63.129.16/32",  # Azure's metadata
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata
        "192.88.99.0/24",  # relays from IPv6
        "64:ff9b:1::/48",  # translation to IPv4 as a network sees fit
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fec0::/10",  # once what fc00::/7 is now
    )
)
_NAT64 = ip_network("64:ff9b::/96")


class BlockedError(Exception):
    """An address that is not asked for. The message is what it is, to go after "it leads to" or "it redirects to"."""


def check_url(url: str) -> None:
    """Refuse an address that is not http or https, names no host, or holds credentials.

    Raises:
        BlockedError: with the cause.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BlockedError("an address that is not valid") from None
    if parts.scheme not in ("http", "https"):
        raise BlockedError("an address that is not http or https")
    if "@" in parts.netloc:
        raise BlockedError("an address with credentials in it")
    if not host:
        raise BlockedError("an address that is not valid")


def is_public(address: str) -> bool:
    """Whether a numeric address belongs to the public internet, also after what it holds has been translated."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        held = _held(ip)
        if held is not None:
            return is_public(str(held))
    if any(ip in network for network in _NOT_PUBLIC):
        return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip.is_loopback)


def _held(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a mapped, 6to4 or NAT64 one stands for."""
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as the system knows them; see `Resolve`."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a name itself, and connects only to an address that is public, unless `allow_private`.

    TLS is none of its business: the certificate is checked against the name, not the address.
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        resolve: Resolve = resolve,
        backend: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._allow_private, self._resolve = allow_private, resolve
        self._backend = backend or httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first checked address that takes one.

        Raises:
            BlockedError: the host has no address that may be connected to.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: it cannot be reached.
        """
        addresses = await self._checked(host, port, timeout)
        for address in addresses[:-1]:
            try:
                first = FIRST_TRY if timeout is None else min(FIRST_TRY, timeout)
                return await self._backend.connect_tcp(address, port, first, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._backend.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def _checked(self, host: str, port: int, timeout: float | None) -> list[str]:
        try:
            with anyio.fail_after(timeout):
                # A look-up cannot be broken off; it is left to end by itself.
                found = await anyio.to_thread.run_sync(self._resolve, host, port, abandon_on_cancel=True)
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"{host} was not found in time") from None
        except (OSError, UnicodeError):
            raise httpcore2.ConnectError("its name is not known") from None
        allowed = [address for address in found if self._allow_private or is_public(address)]
        if found and not allowed:
            raise BlockedError(f"a private address ({found[0]})")
        if not allowed:
            raise httpcore2.ConnectError("its name is not known")
        return allowed[:MOST_ADDRESSES]

    async def sleep(self, seconds: float) -> None:
        """See `httpcore2.AsyncNetworkBackend`."""
        await anyio.sleep(seconds)
