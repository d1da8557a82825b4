"""Hosts of web addresses, as far as they are beyond doubt."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


def host_of(url: str) -> str | None:
    """The host of an address as it is looked up: in lower case, international letters as punycode, without "www.".

    None where an address has none that is beyond doubt; browsers take a backslash for a slash.
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return None
    return None if "\\" in url else plain_host(host)


def plain_host(host: str) -> str | None:
    """A host as `host_of` gives it; None where it is none."""
    host = host.strip().rstrip(".").lower()
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode()
        except idna.IDNAError:
            return None
    if not _HOST.fullmatch(host):
        return None
    return host.removeprefix("www.") if host.count(".") > 1 else host
