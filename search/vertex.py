"""Vertex AI Search, Google's successor for searching sites: https://cloud.google.com/generative-ai-app-builder/docs"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator

from regen.errors import ConfigurationError
from search.base import Address, Key, ProviderSettings, SearchError, SearchOptions
from search.googleapi import page_date, service
from search.http import HttpClient
from search.replies import Day, Items, Reply, Text, plain, read, read_each
from search.urls import is_web
from search.web import Hit, Page, WebSearch, client_for

_CONFIG = re.compile(
    r"projects/[^/\s]+/locations/(?P<location>[^/\s]+)/collections/[^/\s]+/(?P<of>engines|dataStores)/[^/\s]+"
    r"/servingConfigs/[^/\s]+"
)
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class VertexSettings(ProviderSettings):
    """Which engine to ask, and who asks: a key, else the Application Default Credentials of the machine."""

    vertex_serving_config: str | None = None
    vertex_project: str | None = None
    vertex_location: str = "global"
    vertex_engine: str | None = None
    vertex_api_key: Key | None = None
    vertex_url: Address | None = None


class _Response(Reply):
    results: Items = []
    attributionToken: Text = ""  # noqa: N815 (the name in the reply; every one has it)
    nextPageToken: Text = ""  # noqa: N815 (the name in the reply)


_Loose = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]


class _Given(Reply):
    """What those who fill a data store usually call the address, title and date of a document."""

    url: _Loose = ""
    uri: _Loose = ""
    title: _Loose = ""
    date: Day = None


class _Snippet(Reply):
    snippet: Text = ""
    snippet_status: Text = ""


class _Derived(Reply):
    """What Google found out about a document."""

    link: Text = ""
    title: Text = ""
    snippets: list[_Snippet] = []
    pagemap: Any = None


class _Document(Reply):
    structData: _Given = _Given()  # noqa: N815
    derivedStructData: _Derived = _Derived()  # noqa: N815


class _Result(Reply):
    id: Text = ""
    document: _Document


class Vertex(WebSearch):
    """Search with an engine of Vertex AI Search, over the sites or documents that it was given: 25 results a page.

    With a key, only engines over public sites can be asked (the method `searchLite`). What a filter may say depends on
    the engine's schema, so that sites and dates are filtered after the search.
    """

    name = "vertex"
    settings = VertexSettings
    page_size = 25

    def __init__(
        self, options: SearchOptions, settings: VertexSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._config = _serving_config(settings)
        found = _CONFIG.fullmatch(self._config)
        if found is None:
            raise ConfigurationError(
                "VERTEX_SERVING_CONFIG is not valid: it must read projects/PROJECT/locations/LOCATION/collections/"
                "default_collection/engines/ENGINE/servingConfigs/default_search, with dataStores for engines where "
                "there is only a data store."
            )
        region = "" if found["location"] == "global" else f"{found['location']}-"
        self._engine = found["of"] == "engines"
        self._url = settings.vertex_url or f"https://{region}discoveryengine.googleapis.com"
        self._key = settings.vertex_api_key.get_secret_value() if settings.vertex_api_key else ""
        access = (
            "check VERTEX_API_KEY, and that the engine searches public sites"
            if self._key
            else "check that your account may search the engine (role Discovery Engine Viewer)"
        )
        super().__init__(
            options, client_for("Vertex AI Search", options, access=access, secrets=[self._key], sleep=sleep)
        )

    @classmethod
    def configured(cls, options: SearchOptions) -> Vertex:
        """See `search.base.SearchProvider`."""
        return cls(options, VertexSettings.read())

    def page(self, query: str, number: int, size: int) -> Page:
        """See `WebSearch`."""
        body = {
            "query": query,
            "pageSize": size,
            "offset": number * size,
            "contentSearchSpec": {"snippetSpec": {"returnSnippet": True}},
        }
        method = self._configs.searchLite if self._key else self._configs.search
        response = read(self.client, _Response, method(servingConfig=self._config, body=body).execute())
        results, warnings = read_each(self.client, _Result, response.results)
        hits = [_hit(result) for result in results]
        return Page(hits=hits, more=bool(response.nextPageToken), warnings=warnings)

    @cached_property
    def _configs(self) -> Any:
        """The serving configs of an engine or a data store, as Google's client calls them."""
        built = service("discoveryengine", "v1", self._url, self.client, self._headers)
        collections = built.projects().locations().collections()
        return (collections.engines() if self._engine else collections.dataStores()).servingConfigs()

    def _headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self._key} if self._key else self._credentials.headers(self._url)

    @cached_property
    def _credentials(self) -> _Credentials:
        return _Credentials(self.client)


def _hit(result: _Result) -> Hit:
    derived, given = result.document.derivedStructData, result.document.structData
    found = [one.snippet for one in derived.snippets if one.snippet_status in ("", "SUCCESS")]
    return Hit(
        url=next((url for url in (derived.link, given.url, given.uri) if is_web(url)), ""),
        id=f"vertex:{result.id}" if result.id else "",
        title=plain(derived.title or given.title),
        snippet=plain(" ".join(found)),
        published=given.date or page_date(derived.pagemap),
    )


def _serving_config(settings: VertexSettings) -> str:
    if settings.vertex_serving_config:
        return settings.vertex_serving_config.strip().strip("/")
    if not (settings.vertex_project and settings.vertex_engine):
        raise ConfigurationError(
            "The search provider vertex needs an engine: make one at "
            "https://console.cloud.google.com/gen-app-builder, and set VERTEX_PROJECT and VERTEX_ENGINE, or "
            "VERTEX_SERVING_CONFIG."
        )
    return (
        f"projects/{settings.vertex_project}/locations/{settings.vertex_location}/collections/default_collection"
        f"/engines/{settings.vertex_engine}/servingConfigs/default_search"
    )


class _Credentials:
    """The Application Default Credentials, as headers. Finding and refreshing them may ask the network."""

    def __init__(self, client: HttpClient) -> None:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError

        self._client = client
        try:
            self._found: Any = google.auth.default(scopes=[_SCOPE])[0]
        except DefaultCredentialsError:
            raise ConfigurationError(
                "The search provider vertex needs credentials: set VERTEX_API_KEY, or run `gcloud auth "
                "application-default login`."
            ) from None

    def headers(self, url: str) -> dict[str, str]:
        import httplib2
        from google.auth.exceptions import GoogleAuthError, TransportError
        from google_auth_httplib2 import Request

        headers: dict[str, str] = {}
        try:
            transport = Request(httplib2.Http(timeout=self._client.timeout))
            self._found.before_request(transport, "POST", url, headers)
        except TransportError:
            raise self._client.unavailable("no answer from the service that gives credentials") from None
        except GoogleAuthError as error:
            raise SearchError(
                f"Google refused the credentials of this machine ({type(error).__name__}); run `gcloud auth "
                "application-default login`, or set VERTEX_API_KEY.",
                "credentials",
            ) from None
        self._client.hide(headers.get("authorization", "").removeprefix("Bearer "))
        return headers
