"""Web addresses: one form for those that lead to the same page."""

from __future__ import annotations

from urllib.parse import urlsplit


def canonical(url: str) -> str:
    """The address without fragment, tracking parameters, "www." and the like, the same for every way to write it.

    For comparing only: what is fetched and shown is the address as it was given.
    """
    from courlan import normalize_url

    if not url.lower().startswith(("http://", "https://")):
        return url
    try:
        parts = urlsplit(str(normalize_url(url, strict=False, trailing_slash=False)))
        port = parts.port
    except ValueError:
        return url
    host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    host = f"[{host}]" if ":" in host else host
    place = f"{host}:{port}" if port and port not in (80, 443) else host
    return parts._replace(scheme="https", netloc=place, path=parts.path.rstrip("/"), fragment="").geturl()
