"""Search APIs on loopback: each speaks its provider's published schema, over the same small world of documents.

What is asked for decides what happens: a query of "busy" is refused once with Retry-After, one of "down" gets status
500, and so on; see `Api.answer`. A request that the published API would not take gets status 400.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema

from search.base import SearchOptions
from search.brave import Brave, BraveSettings
from search.google import Google, GoogleSettings
from search.opensearch import OpenSearch, OpenSearchSettings
from search.searxng import Searxng, SearxngSettings
from search.serper import Serper, SerperSettings
from search.tavily import Tavily, TavilySettings
from search.vertex import Vertex, VertexSettings
from search.web import WebSearch

KEY = "k3y-0123456789-SECRET"
WORLD = 37
"""How many documents match."""


@dataclass(frozen=True)
class Doc:
    """A document of the small world."""

    n: int

    @property
    def url(self) -> str:
        return f"https://host{self.n}.example/page/{self.n}"

    @property
    def title(self) -> str:
        return f"Document {self.n}"

    @property
    def snippet(self) -> str:
        return f"What document {self.n} says."

    @property
    def published(self) -> date:
        return date(2024, 3, 1) + timedelta(days=self.n)


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Reply:
    """One reply; `body` is JSON, or bytes as they are."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


class Api:
    """A fake search API. `root` in `make` is where it is, without the path."""

    name: str
    published: str
    path: str
    method = "GET"
    parameters: frozenset[str]
    items: tuple[str, ...]
    """Where the results stand in a reply."""
    pages = True
    key = True
    """Whether it wants one."""

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        raise NotImplementedError

    def question(self, asked: Asked) -> tuple[str, int, int]:
        """Query, place of the first result from 0, and number of results."""
        raise NotImplementedError

    def shown_key(self, asked: Asked) -> str:
        raise NotImplementedError

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        raise NotImplementedError

    def refusal(self, status: int) -> Reply:
        """The reply to a key that is unknown (401) or not allowed (403)."""
        raise NotImplementedError

    def quota(self) -> Reply:
        raise NotImplementedError

    def check(self, asked: Asked) -> None:
        """AssertionError for a request that is not as published."""
        assert (asked.method, asked.path) == (self.method, self.path)
        given = asked.query if self.method == "GET" else asked.body
        assert set(given) <= self.parameters, set(given) - self.parameters

    def answer(self, asked: Asked, earlier: int) -> Reply:
        """The reply to a request that was made `earlier` times before."""
        try:
            self.check(asked)
        except (AssertionError, jsonschema.ValidationError) as error:
            return Reply(400, {"message": f"not as published: {error}"})
        query, start, size = self.question(asked)
        if self.key and self.shown_key(asked) != KEY:
            return self.refusal(401)
        docs = [] if "nothing" in query else [Doc(n) for n in range(1, WORLD + 1)][start : start + size]
        good = self.body(query, docs, start, size)
        busy = Reply(429, {"message": "Too many requests"}, {"Retry-After": "7"})
        cases: dict[str, Reply] = {
            "unauthorized": self.refusal(401),
            "forbidden": self.refusal(403),
            "quota": self.quota(),
            "busy": Reply(200, good) if earlier else busy,
            "overrun": busy,
            "stumbles": Reply(200, good) if earlier else Reply(503, b"<html>Service Unavailable</html>"),
            "down": Reply(500, b"<html><h1>Internal Server Error</h1></html>"),
            "malformed": Reply(200, json.dumps(good).encode()[:-20]),
            "list": Reply(200, [1, 2, 3]),
        }
        if docs:
            cases |= {
                "types": Reply(200, self.replaced(good, 5)),
                "spoiled": Reply(200, self.spoiled(good)),
            }
        return cases.get(query.split()[0], Reply(200, good))

    def replaced(self, body: Any, value: Any) -> Any:
        """The reply with something else where its results should be."""
        copy = json.loads(json.dumps(body))
        place = copy
        for name in self.items[:-1]:
            place = place[name]
        place[self.items[-1]] = value
        return copy

    def spoiled(self, body: Any) -> Any:
        """The reply with results among the others that are none."""
        found = body
        for name in self.items:
            found = found[name]
        return self.replaced(body, [None, 7, *found[:2], {"url": 1, "link": 2, "_id": 3, "document": 4}, ["x"]])


def discovery(name: str) -> dict[str, Any]:
    """A discovery document as Google's client ships it."""
    text = (files("googleapiclient.discovery_cache.documents") / f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def validator(document: dict[str, Any], name: str) -> jsonschema.Draft202012Validator:
    """Validates by one schema of a discovery document. What that does not name is not allowed."""

    def converted(value: Any) -> Any:
        if isinstance(value, list):
            return [converted(one) for one in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$ref"), str):
            return {"$ref": f"#/definitions/{value['$ref']}"}
        out: dict[str, Any] = {}
        if value.get("type") not in (None, "any"):
            out["type"] = value["type"]
        for key in ("items", "additionalProperties"):
            if key in value:
                out[key] = converted(value[key])
        if "enum" in value:
            out["enum"] = value["enum"]
        if "properties" in value:
            out["properties"] = {key: converted(one) for key, one in value["properties"].items()}
            out.setdefault("additionalProperties", False)
        return out

    definitions = {key: converted(one) for key, one in document["schemas"].items()}
    return jsonschema.Draft202012Validator({"$ref": f"#/definitions/{name}", "definitions": definitions})


def check_parameters(parameters: dict[str, Any], given: dict[str, str]) -> None:
    """AssertionError where a query has a name or a type that a discovery document does not give it."""
    for name, value in given.items():
        assert name in parameters, f"no parameter {name}"
        kind = parameters[name]["type"]
        assert kind != "integer" or value.isdigit(), f"{name}={value} is not an integer"
        assert kind != "boolean" or value in ("true", "false"), f"{name}={value} is not a boolean"
        assert value in parameters[name].get("enum", [value]), f"{name}={value} is not one of its values"


def google_error(status: int, reason: str, message: str, kind: str) -> Reply:
    """An error as Google's APIs give it."""
    errors = [{"message": message, "domain": "global", "reason": reason}]
    return Reply(status, {"error": {"code": status, "message": message, "errors": errors, "status": kind}})


def google_refusal(status: int) -> Reply:
    if status == 401:
        message = "Request is missing required authentication credential."
        return google_error(401, "authError", message, "UNAUTHENTICATED")
    message = "This API has not been used in project 1 before or it is disabled."
    return google_error(403, "accessNotConfigured", message, "PERMISSION_DENIED")


class GoogleApi(Api):
    name = "google"
    published = "https://customsearch.googleapis.com"
    path = "/customsearch/v1"
    items = ("items",)
    document = discovery("customsearch.v1")
    list_method = document["resources"]["cse"]["methods"]["list"]

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        settings = GoogleSettings(google_api_key=key, google_cse_id="engine", google_cse_url=root)
        return Google(options, settings, sleep=sleep, today=lambda: date(2026, 7, 1))

    def check(self, asked: Asked) -> None:
        assert asked.method == self.list_method["httpMethod"]
        assert asked.path == "/" + self.list_method["path"]
        check_parameters({**self.document["parameters"], **self.list_method["parameters"]}, asked.query)
        assert 1 <= int(asked.query["num"]) <= 10
        assert int(asked.query["start"]) <= 91

    def shown_key(self, asked: Asked) -> str:
        return asked.headers.get("x-goog-api-key", "")

    def question(self, asked: Asked) -> tuple[str, int, int]:
        return asked.query["q"], int(asked.query["start"]) - 1, int(asked.query["num"])

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        request = {"title": "Google Custom Search", "searchTerms": query, "count": size, "startIndex": start + 1}
        body = {
            "kind": "customsearch#search",
            "queries": {"request": [request]},
            "searchInformation": {"searchTime": 0.2, "totalResults": str(WORLD if docs else 0)},
        }
        if docs and start + size < WORLD:
            body["queries"]["nextPage"] = [{**request, "startIndex": start + size + 1}]  # type: ignore[index]
        if docs:
            body["items"] = [
                {
                    "kind": "customsearch#result",
                    "title": doc.title,
                    "htmlTitle": f"<b>{doc.title}</b>",
                    "link": doc.url,
                    "displayLink": urlsplit(doc.url).netloc,
                    "snippet": doc.snippet,
                    "pagemap": {"metatags": [{"article:published_time": f"{doc.published}T10:00:00+00:00"}]},
                }
                for doc in docs
            ]
        return body

    def refusal(self, status: int) -> Reply:
        return google_refusal(status)

    def quota(self) -> Reply:
        message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per day' of service."
        return google_error(429, "rateLimitExceeded", message, "RESOURCE_EXHAUSTED")


class VertexApi(Api):
    name = "vertex"
    published = "https://discoveryengine.googleapis.com"
    config = "projects/p/locations/global/collections/default_collection/engines/e/servingConfigs/default_search"
    path = f"/v1/{config}:searchLite"
    method = "POST"
    items = ("results",)
    document = discovery("discoveryengine.v1")
    request_validator = validator(document, "GoogleCloudDiscoveryengineV1SearchRequest")

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        settings = VertexSettings(vertex_serving_config=self.config, vertex_api_key=key, vertex_url=root)
        return Vertex(options, settings, sleep=sleep)

    def check(self, asked: Asked) -> None:
        assert (asked.method, asked.path) == (self.method, self.path)
        check_parameters(self.document["parameters"], asked.query)
        self.request_validator.validate(asked.body)

    def shown_key(self, asked: Asked) -> str:
        return asked.headers.get("x-goog-api-key", "")

    def question(self, asked: Asked) -> tuple[str, int, int]:
        return asked.body["query"], asked.body["offset"], asked.body["pageSize"]

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        body: dict[str, Any] = {"totalSize": WORLD if docs else 0, "attributionToken": "token"}
        if docs and start + size < WORLD:
            body["nextPageToken"] = f"after-{start + size}"
        if docs:
            body["results"] = [
                {
                    "id": f"id{doc.n}",
                    "document": {
                        "name": f"projects/1/{doc.n}",
                        "id": f"id{doc.n}",
                        "derivedStructData": {
                            "link": doc.url,
                            "title": doc.title,
                            "snippets": [{"snippet": f"<b>{doc.snippet}</b>", "snippet_status": "SUCCESS"}],
                            "pagemap": {"metatags": [{"article:published_time": f"{doc.published}"}]},
                        },
                    },
                }
                for doc in docs
            ]
        return body

    def refusal(self, status: int) -> Reply:
        return google_refusal(status)

    def quota(self) -> Reply:
        message = "Quota exceeded for quota metric 'Search requests' and limit 'Search requests per day'."
        return google_error(429, "rateLimitExceeded", message, "RESOURCE_EXHAUSTED")


class SearxngApi(Api):
    name = "searxng"
    published = "https://searxng.example"
    path = "/search"
    parameters = frozenset("q categories engines language pageno time_range format safesearch".split())
    items = ("results",)
    key = False

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        return Searxng(options, SearxngSettings(searxng_url=root), sleep=sleep)

    def question(self, asked: Asked) -> tuple[str, int, int]:
        return asked.query["q"], (int(asked.query["pageno"]) - 1) * 10, 10

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        results = [
            {
                "url": doc.url,
                "title": doc.title,
                "content": doc.snippet,
                "publishedDate": f"{doc.published}T00:00:00",
                "engine": "mojeek",
                "engines": ["mojeek"],
                "category": "general",
                "score": 1.0,
            }
            for doc in docs
        ]
        return {
            "query": query,
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "suggestions": [],
            "infoboxes": [],
            "unresponsive_engines": [],
        }

    def refusal(self, status: int) -> Reply:
        return Reply(status, b"<!doctype html><title>Forbidden</title><p>You don't have the permission.</p>")

    def quota(self) -> Reply:
        return Reply(429, b"Too Many Requests", {"Content-Type": "text/plain"})


class BraveApi(Api):
    name = "brave"
    published = "https://api.search.brave.com"
    path = "/res/v1/web/search"
    parameters = frozenset(
        "q country search_lang count offset safesearch freshness text_decorations result_filter extra_snippets".split()
    )
    items = ("web", "results")

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        return Brave(options, BraveSettings(brave_api_key=key, brave_url=root + self.path), sleep=sleep)

    def check(self, asked: Asked) -> None:
        super().check(asked)
        assert 1 <= int(asked.query["count"]) <= 20
        assert 0 <= int(asked.query["offset"]) <= 9

    def shown_key(self, asked: Asked) -> str:
        return asked.headers.get("x-subscription-token", "")

    def question(self, asked: Asked) -> tuple[str, int, int]:
        size = int(asked.query["count"])
        return asked.query["q"], int(asked.query["offset"]) * size, size

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        more = bool(docs) and start + size < WORLD
        body: dict[str, Any] = {"type": "search", "query": {"original": query, "more_results_available": more}}
        if docs:
            body["web"] = {
                "type": "search",
                "family_friendly": True,
                "results": [
                    {
                        "title": doc.title,
                        "url": doc.url,
                        "description": doc.snippet,
                        "page_age": f"{doc.published}T14:22:41",
                        "language": "en",
                    }
                    for doc in docs
                ],
            }
        return body

    def error(self, status: int, code: str, detail: str) -> Reply:
        return Reply(status, {"type": "ErrorResponse", "error": {"status": status, "code": code, "detail": detail}})

    def refusal(self, status: int) -> Reply:
        if status == 403:
            return self.error(403, "RESOURCE_NOT_ALLOWED", "The resource is not part of the plan.")
        return self.error(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")

    def quota(self) -> Reply:
        return self.error(429, "QUOTA_LIMITED", "Request quota limit exceeded for plan.")


class TavilyApi(Api):
    name = "tavily"
    published = "https://api.tavily.com"
    path = "/search"
    method = "POST"
    parameters = frozenset(
        "query topic search_depth max_results time_range start_date end_date include_domains exclude_domains".split()
    )
    items = ("results",)
    pages = False

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        return Tavily(options, TavilySettings(tavily_api_key=key, tavily_url=root + self.path), sleep=sleep)

    def check(self, asked: Asked) -> None:
        super().check(asked)
        assert 0 <= asked.body["max_results"] <= 20

    def shown_key(self, asked: Asked) -> str:
        return asked.headers.get("authorization", "").removeprefix("Bearer ")

    def question(self, asked: Asked) -> tuple[str, int, int]:
        return asked.body["query"], 0, asked.body["max_results"]

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        results = [
            {
                "title": doc.title,
                "url": doc.url,
                "content": doc.snippet,
                "score": 0.9,
                "published_date": f"{doc.published:%a, %d %b %Y} 12:00:00 GMT",
            }
            for doc in docs
        ]
        return {"query": query, "results": results, "images": [], "response_time": 0.5}

    def refusal(self, status: int) -> Reply:
        return Reply(status, {"detail": {"error": "Unauthorized: missing or invalid API key."}})

    def quota(self) -> Reply:
        return Reply(432, {"detail": {"error": "This request exceeds your plan's set usage limit."}})


class SerperApi(Api):
    name = "serper"
    published = "https://google.serper.dev"
    path = "/search"
    method = "POST"
    parameters = frozenset("q gl hl num page tbs location autocorrect".split())
    items = ("organic",)

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        return Serper(options, SerperSettings(serper_api_key=key, serper_url=root + self.path), sleep=sleep)

    def shown_key(self, asked: Asked) -> str:
        return asked.headers.get("x-api-key", "")

    def question(self, asked: Asked) -> tuple[str, int, int]:
        return asked.body["q"], (asked.body["page"] - 1) * asked.body["num"], asked.body["num"]

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        organic = [
            {
                "title": doc.title,
                "link": doc.url,
                "snippet": doc.snippet,
                "date": f"{doc.published:%b} {doc.published.day}, {doc.published.year}",
                "position": place,
            }
            for place, doc in enumerate(docs, 1)
        ]
        return {"searchParameters": {"q": query, "type": "search", "num": size}, "organic": organic, "credits": 1}

    def refusal(self, status: int) -> Reply:
        return Reply(status, {"message": "Unauthorized.", "statusCode": status})

    def quota(self) -> Reply:
        return Reply(400, {"message": "Not enough credits", "statusCode": 400})


class OpenSearchApi(Api):
    name = "opensearch"
    published = "https://opensearch.example:9200"
    path = "/docs/_search"
    method = "POST"
    parameters = frozenset("from size query _source highlight".split())
    items = ("hits", "hits")

    def make(self, root: str, options: SearchOptions, sleep: Callable[[float], None], key: str = KEY) -> WebSearch:
        settings = OpenSearchSettings(
            opensearch_url=root, opensearch_index="docs", opensearch_user="reader", opensearch_password=key
        )
        return OpenSearch(options, settings, sleep=sleep)

    def shown_key(self, asked: Asked) -> str:
        from base64 import b64decode

        shown = asked.headers.get("authorization", "").removeprefix("Basic ")
        return b64decode(shown).decode().removeprefix("reader:")

    def question(self, asked: Asked) -> tuple[str, int, int]:
        query = asked.body["query"]["bool"]["must"][0]["multi_match"]["query"]
        return query, asked.body["from"], asked.body["size"]

    def body(self, query: str, docs: list[Doc], start: int, size: int) -> Any:
        hits = [
            {
                "_index": "docs",
                "_id": str(doc.n),
                "_score": 1.0,
                "_source": {
                    "title": doc.title,
                    "text": f"{doc.snippet} And much more.",
                    "url": doc.url,
                    "date": doc.published.isoformat(),
                },
                "highlight": {"text": [doc.snippet]},
            }
            for doc in docs
        ]
        return {
            "took": 3,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 1.0, "hits": hits},
        }

    def refusal(self, status: int) -> Reply:
        return Reply(status, {"error": {"type": "security_exception", "reason": "no permissions"}, "status": status})

    def quota(self) -> Reply:
        return Reply(429, {"error": {"type": "circuit_breaking_exception", "reason": "Data too large"}, "status": 429})


APIS: list[Api] = [GoogleApi(), VertexApi(), SearxngApi(), BraveApi(), TavilyApi(), SerperApi(), OpenSearchApi()]


class Server:
    """A fake API behind an address; `asked` holds the requests."""

    def __init__(self, answer: Callable[[Asked, int], Reply]) -> None:
        self.asked: list[Asked] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.serve(self, answer)

            def do_POST(self) -> None:
                server.serve(self, answer)

            def log_message(self, *_: Any) -> None:
                """Not on the screen."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def serve(self, handler: BaseHTTPRequestHandler, answer: Callable[[Asked, int], Reply]) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        parts = urlsplit(handler.path)
        asked = Asked(
            handler.command,
            parts.path,
            {name: values[0] for name, values in parse_qs(parts.query).items()},
            {name.lower(): value for name, value in handler.headers.items()},
            json.loads(raw) if raw else None,
        )
        earlier = sum((one.path, one.query, one.body) == (asked.path, asked.query, asked.body) for one in self.asked)
        self.asked.append(asked)
        reply = answer(asked, earlier)
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        kind = "text/html" if body.startswith(b"<") else "application/json"
        handler.send_response(reply.status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **reply.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
