"""Web addresses: which ones are, one form for those that lead to the same page, and which site they belong to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

# Characters; browsers and search engines stop far below.
LONGEST = 4000


# What a link carries to tell where a reader came from, and a page ignores.
_TRACKING = re.compile(r"(?:utm_\w+|gclid|fbclid|msclkid|yclid|dclid|[gw]braid|mc_[ce]id|igshid)$", re.IGNORECASE)


def is_web(url: str) -> bool:
    """Whether a text is an address of the web as it can be followed and shown: http(s), with a host, printable."""
    if len(url) > LONGEST or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def canonical(url: str) -> str:
    """The address without fragment, tracking parameters, "www." and the like, the same for every way to write it.

    For comparing only: what is fetched and shown is the address as it was given.
    """
    if not is_web(url):
        return url
    parts = urlsplit(url)
    port = parts.port
    host = _host(parts.hostname or "")
    if host.startswith("m.") and host.count(".") > 1:
        host = host.removeprefix("m.")
    host = f"[{host}]" if ":" in host else host
    place = f"{host}:{port}" if port and port not in (80, 443) else host
    query = sorted(pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.match(pair[0]))
    # A fragment names a part of the page, unless a script makes a page of its own of it.
    fragment = parts.fragment if parts.fragment.startswith("!") else ""
    path = quote(unquote(parts.path), safe="/:@!$&'()*+,;=~").rstrip("/")
    return urlunsplit(("https", place, path, urlencode(query), fragment))


def site_name(site: str) -> str:
    """A site as a user may write it, as search operators want it: a host, or a host and a path."""
    host, slash, path = site.strip().split("://")[-1].partition("/")
    return f"{_host(host)}{slash}{path}".rstrip("/")


def on_site(url: str, sites: Sequence[str]) -> bool:
    """Whether an address belongs to one of `sites`: a host with all its subdomains, or a host and a path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    host, path = _host(parts.hostname or ""), parts.path.lower().rstrip("/") + "/"
    for site in map(site_name, sites):
        wanted, _, below = site.partition("/")
        wanted = wanted.partition(":")[0]
        same = host == wanted or host.endswith("." + wanted)
        if wanted and same and (not below or path.startswith(f"/{below.lower()}/")):
            return True
    return False


def with_sites(query: str, sites: Sequence[str], exclude: Sequence[str] = ()) -> str:
    """A query with the operators that most web searches know for sites."""
    only = " OR ".join(f"site:{site_name(site)}" for site in sites)
    wanted = [f"({only})" if len(sites) > 1 else only] if only else []
    return " ".join([query, *wanted, *(f"-site:{site_name(site)}" for site in exclude)])


def _host(host: str) -> str:
    """A host in the one form that is compared: "www.example.com." is "example.com", and "www.com" stays."""
    host = host.lower().rstrip(".")
    return host.removeprefix("www.") if host.count(".") > 1 else host
