"""What the providers by Google share: its Python client on our HTTP client, its errors, and the dates of its pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from search.http import HttpClient, Verdict
from search.replies import day

# Names of meta tags that say when a page was published, the surest first.
_DATE_TAGS = (
    "article:published_time",
    "og:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dcterms.created",
    "dc.date.issued",
    "citation_publication_date",
    "pubdate",
    "publishdate",
    "publish-date",
    "sailthru.date",
    "parsely-pub-date",
)
_OUT_OF_QUOTA = ("dailyLimitExceeded", "quotaExceeded", "limitExceeded", "billingNotEnabled", "per day")
_TOO_FAST = ("rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED")
_WRONG_KEY = ("keyInvalid", "API_KEY_INVALID", "keyExpired", "API key not valid", "API key expired")


class _Transport:
    """Our HTTP client with the interface of `httplib2.Http`, which Google's client speaks."""

    def __init__(self, client: HttpClient, headers: Callable[[], Mapping[str, str]]) -> None:
        self._client, self._headers = client, headers

    def request(
        self, uri: str, method: str = "GET", body: str | bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[Any, bytes]:
        import httplib2

        content = self._client.send(
            method,
            uri,
            content=body.encode() if isinstance(body, str) else body,
            headers={**(headers or {}), **self._headers()},
            classify=classify,
        )
        try:
            json.loads(content)
        except (ValueError, RecursionError):
            raise self._client.bad_reply("not JSON") from None
        return httplib2.Response({"status": 200}), content

    def close(self) -> None:
        """Nothing is kept open."""


def service(name: str, version: str, url: str, client: HttpClient, headers: Callable[[], Mapping[str, str]]) -> Any:
    """A service of Google's from the discovery document that its client ships.

    Args:
        name, version: As in the document's file name.
        url: Where it is.
        client: Sends the requests, tries them again, and says what failed.
        headers: Gives those that say who asks, for each request. A key in a header stands in no address, and so in
            no log of addresses.
    """
    from googleapiclient.discovery import build

    return build(
        name,
        version,
        http=_Transport(client, headers),
        static_discovery=True,
        cache_discovery=False,
        client_options={"api_endpoint": f"{url}/"},
    )


def classify(status: int, text: str) -> Verdict | None:
    """Which failure a reply of a Google API is: 403 may be the key or the quota, and an unknown key is 400."""
    if status in (400, 401, 403) and any(reason in text for reason in _WRONG_KEY):
        return "credentials"
    if status in (403, 429) and any(reason in text for reason in _OUT_OF_QUOTA):
        return "quota"
    if status in (403, 429) and any(reason in text for reason in _TOO_FAST):
        return "busy"
    return None


def page_date(pagemap: object) -> date | None:
    """The day a page was published, from the meta tags that Google read on it."""
    tags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    for one in tags if isinstance(tags, list) else []:
        if isinstance(one, dict):
            named = {str(name).lower(): value for name, value in one.items()}
            for name in _DATE_TAGS:
                if found := day(named.get(name)):
                    return found
    return None
