"""An existing OpenSearch or Elasticsearch index: https://docs.opensearch.org/latest/api-reference/search-apis/search"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import BeforeValidator, Field, SecretStr

from regen.errors import ConfigurationError
from search.base import Address, Key, ProviderSettings, SearchOptions
from search.http import Verdict
from search.replies import Day, Items, Reply, Text, read, read_each
from search.urls import is_web
from search.web import Hit, Page, WebSearch, client_for

# Results that an index gives by from and size, unless its settings say otherwise.
_WINDOW = 10_000
# Characters of a document that are looked through for its excerpt; an index refuses more by default.
_HIGHLIGHTED = 999_999


class OpenSearchSettings(ProviderSettings):
    """Where the index is, what its fields are called, and who asks."""

    opensearch_url: Address | None = None
    opensearch_index: str | None = None
    opensearch_user: str | None = None
    opensearch_password: SecretStr | None = None
    opensearch_api_key: Key | None = None
    opensearch_title_field: str = "title"
    opensearch_text_field: str = "text"
    opensearch_url_field: str = "url"
    opensearch_date_field: str = "date"


class _Shards(Reply):
    total: int = 0
    failed: int = 0


class _Found(Reply):
    hits: Items = []


class _Response(Reply):
    timed_out: bool = False
    shards: _Shards = Field(default=_Shards(), alias="_shards")
    hits: _Found


class _Result(Reply):
    index: str = Field(alias="_index")
    id: str = Field(alias="_id")
    source: dict[str, Any] = Field(alias="_source")
    highlight: dict[str, list[str]] = {}


def _joined(value: object) -> object:
    """A field of an index may always hold several values."""
    several = isinstance(value, list) and all(isinstance(part, str) for part in value)
    return "\n".join(value) if several and isinstance(value, list) else value


_Values = Annotated[Text, BeforeValidator(_joined)]


class _Fields(Reply):
    id: str
    title: _Values
    text: _Values
    url: _Values
    published: Day
    snippet: str


class OpenSearch(WebSearch):
    """The documents of an index that match best by its own score (BM25 by default), title words counting twice.

    Documents are whole as they are. One without a web address is called `opensearch:INDEX/ID`. Sites are filtered
    after the search; one older than `since` is not searched for, one without a date is.
    """

    name = "opensearch"
    settings = OpenSearchSettings
    page_size = 20  # whole texts, not excerpts
    reads_pages = False

    def __init__(
        self, options: SearchOptions, settings: OpenSearchSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if settings.opensearch_url is None or settings.opensearch_index is None:
            raise ConfigurationError(
                "The search provider opensearch needs an index: set OPENSEARCH_URL to the server's address, and "
                "OPENSEARCH_INDEX to the name of the index."
            )
        self._settings = settings
        self._url = f"{settings.opensearch_url}/{quote(settings.opensearch_index, safe=',*')}/_search"
        self._authorization, secrets = _authorization(settings)
        access = (
            "check OPENSEARCH_URL, OPENSEARCH_INDEX, and OPENSEARCH_API_KEY or OPENSEARCH_USER and OPENSEARCH_PASSWORD"
        )
        super().__init__(options, client_for("OpenSearch", options, access=access, secrets=secrets, sleep=sleep))

    @classmethod
    def configured(cls, options: SearchOptions) -> OpenSearch:
        """See `search.base.SearchProvider`."""
        return cls(options, OpenSearchSettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`."""
        reply = self.client.json(
            "POST",
            self._url,
            body=self._body(query, number * size, size),
            headers={"authorization": self._authorization} if self._authorization else {},
            classify=_classify,
        )
        response = read(self.client, _Response, reply)
        found, warnings = read_each(self.client, _Result, response.hits.hits)
        fields, skipped = read_each(self.client, _Fields, [self._fields(result) for result in found])
        if response.timed_out or response.shards.failed:
            warnings.append(
                f"OpenSearch searched a part of the index only: {response.shards.failed} of {response.shards.total} "
                f"shards failed{', and it ran out of time' if response.timed_out else ''}."
            )
        hits = [
            Hit(
                url=document.url if is_web(document.url) else "",
                id=document.id,
                title=document.title,
                snippet=document.snippet or document.text[:400],
                text=document.text,
                published=document.published,
            )
            for document in fields
        ]
        more = len(response.hits.hits) >= size and (number + 2) * size <= _WINDOW
        return Page(hits=hits, more=more, warnings=warnings + skipped)

    def _body(self, query: str, start: int, size: int) -> dict[str, object]:
        settings = self._settings
        title, text, day = (
            settings.opensearch_title_field,
            settings.opensearch_text_field,
            settings.opensearch_date_field,
        )
        wanted: dict[str, object] = {
            "must": [{"multi_match": {"query": query, "fields": [f"{title}^2", text]}}],
        }
        if self.options.since:
            young = {"range": {day: {"gte": self.options.since.isoformat()}}}
            undated = {"bool": {"must_not": [{"exists": {"field": day}}]}}
            wanted["filter"] = [{"bool": {"should": [young, undated], "minimum_should_match": 1}}]
        return {
            "from": start,
            "size": size,
            "query": {"bool": wanted},
            "_source": [title, text, settings.opensearch_url_field, day],
            "highlight": {
                "pre_tags": [""],
                "post_tags": [""],
                "max_analyzed_offset": _HIGHLIGHTED,
                "fields": {text: {"number_of_fragments": 1, "fragment_size": 200, "no_match_size": 200}},
            },
        }

    def _fields(self, result: _Result) -> dict[str, object]:
        settings = self._settings
        return {
            "id": f"opensearch:{result.index}/{result.id}",
            "title": _field(result.source, settings.opensearch_title_field),
            "text": _field(result.source, settings.opensearch_text_field),
            "url": _field(result.source, settings.opensearch_url_field),
            "published": _field(result.source, settings.opensearch_date_field),
            "snippet": " ".join(result.highlight.get(settings.opensearch_text_field, [])),
        }


def _field(source: dict[str, Any], name: str) -> object:
    """The value of a field whose name may be a path ("meta.title")."""
    if name in source:
        return source[name]
    value: object = source
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _authorization(settings: OpenSearchSettings) -> tuple[str, list[str]]:
    """The header that says who asks, and the texts that no error may show."""
    if settings.opensearch_api_key:
        key = settings.opensearch_api_key.get_secret_value()
        return f"ApiKey {key}", [key]
    if settings.opensearch_user and settings.opensearch_password:
        password = settings.opensearch_password.get_secret_value()
        pair = b64encode(f"{settings.opensearch_user}:{password}".encode()).decode()
        return f"Basic {pair}", [password, pair]
    return "", []


def _classify(status: int, text: str) -> Verdict | None:
    """Where there is no such index, the settings are wrong."""
    return "credentials" if status == 404 else None
