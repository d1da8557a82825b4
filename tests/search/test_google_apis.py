"""The providers by Google: their traffic against the discovery documents, their errors, and the end of one."""

from __future__ import annotations

import json
from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from fake_search import KEY, GoogleApi, Reply, Server, VertexApi, check_parameters, google_error, validator
from recorded_search import CASSETTES

from regen.errors import ConfigurationError
from search.base import SearchError, SearchOptions
from search.google import ENDS, Google, GoogleSettings
from search.googleapi import page_date
from search.vertex import Vertex, VertexSettings

GOOGLE, VERTEX = GoogleApi(), VertexApi()
# Replies that are not as published, on purpose.
BROKEN = {"malformed", "types", "list", "spoiled"}


def recorded(provider):
    """Every request and its reply in the cassettes of a provider, with the case."""
    found = []
    for path in sorted((CASSETTES / provider).glob("*.yaml")):
        for one in yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"]:
            found.append((path.stem, one["request"], one["response"]))
    return found


# Against the discovery documents


def test_what_is_asked_of_custom_search_is_as_its_discovery_document_says():
    for _, request, _ in recorded("google"):
        parts = urlsplit(request["uri"])
        assert (request["method"], parts.path) == ("GET", f"/{GOOGLE.list_method['path']}")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        check_parameters({**GOOGLE.document["parameters"], **GOOGLE.list_method["parameters"]}, given)


def test_what_custom_search_replies_is_as_its_discovery_document_says():
    search = validator(GOOGLE.document, GOOGLE.list_method["response"]["$ref"])
    checked = 0
    for case, _, response in recorded("google"):
        if response["status"]["code"] == 200 and case not in BROKEN:
            search.validate(json.loads(response["body"]["string"]))
            checked += 1
    assert checked > 4


def test_what_is_asked_of_vertex_is_as_its_discovery_document_says():
    configs = VERTEX.document["resources"]["projects"]["resources"]["locations"]["resources"]["collections"]
    method = configs["resources"]["engines"]["resources"]["servingConfigs"]["methods"]["searchLite"]
    body = validator(VERTEX.document, method["request"]["$ref"])
    for _, request, _ in recorded("vertex"):
        parts = urlsplit(request["uri"])
        assert request["method"] == method["httpMethod"]
        assert parts.path == "/" + method["path"].replace("{+servingConfig}", VERTEX.config)
        check_parameters(VERTEX.document["parameters"], {k: v[0] for k, v in parse_qs(parts.query).items()})
        body.validate(json.loads(request["body"]))


def test_what_vertex_replies_is_as_its_discovery_document_says():
    search = validator(VERTEX.document, "GoogleCloudDiscoveryengineV1SearchResponse")
    checked = 0
    for case, _, response in recorded("vertex"):
        if response["status"]["code"] == 200 and case not in BROKEN:
            search.validate(json.loads(response["body"]["string"]))
            checked += 1
    assert checked > 4


def test_a_request_that_the_discovery_document_does_not_know_is_noticed():
    with pytest.raises(AssertionError):
        check_parameters(GOOGLE.list_method["parameters"], {"pages": "2"})
    with pytest.raises(AssertionError):
        check_parameters(GOOGLE.list_method["parameters"], {"num": "ten"})
    assert not validator(VERTEX.document, "GoogleCloudDiscoveryengineV1SearchRequest").is_valid({"pagesize": 10})


# Errors


@pytest.fixture
def replying():
    """A server that gives one reply to all."""
    servers = []

    def start(reply):
        servers.append(Server(lambda asked, earlier: reply))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("status", "reason", "message", "kind", "tries"),
    [
        (403, "dailyLimitExceeded", "Daily Limit Exceeded", "quota", 1),
        (403, "quotaExceeded", "Quota exceeded", "quota", 1),
        (403, "userRateLimitExceeded", "User Rate Limit Exceeded", "quota", 2),
        (429, "rateLimitExceeded", "Quota exceeded for 'Queries per minute'", "quota", 2),
        (429, "rateLimitExceeded", "Quota exceeded for 'Queries per day'", "quota", 1),
        (403, "accessNotConfigured", "The API is not enabled", "credentials", 1),
        (403, "forbidden", "The caller does not have permission", "credentials", 1),
        (400, "badRequest", "API key not valid. Please pass a valid API key.", "credentials", 1),
        (400, "badRequest", "Request contains an invalid argument.", "bad reply", 1),
    ],
)
def test_the_reason_in_an_error_says_which_failure_it_is(replying, status, reason, message, kind, tries):
    server = replying(google_error(status, reason, message, "STATUS"))
    with pytest.raises(SearchError, match=message.rstrip(".")) as caught:
        GOOGLE.make(server.root, SearchOptions(retries=1), lambda _: None).top("sky")
    assert (caught.value.kind, len(server.asked)) == (kind, tries)


# The end of the Custom Search API


def test_the_api_ends_with_the_year_2026():
    assert date(2027, 1, 1) == ENDS


@pytest.mark.parametrize(("today", "said"), [(date(2026, 12, 31), "ends on 1 January 2027"), (ENDS, "ended on")])
def test_the_notice_says_when_it_ends_and_what_comes_after(today, said):
    notice = Google.notice(today)
    assert said in notice
    assert all(name in notice for name in ("brave", "tavily", "serper", "vertex", "searxng", "ddgs"))


def failing(server, today):
    settings = GoogleSettings(google_api_key=KEY, google_cse_id="engine", google_cse_url=server.root)
    provider = Google(SearchOptions(retries=0), settings, today=lambda: today)
    with pytest.raises(SearchError) as caught:
        provider.top("sky")
    return str(caught.value)


def test_an_error_after_the_end_names_the_alternatives(replying):
    gone = replying(Reply(404, b"<html>Not Found</html>"))
    assert "ended on 1 January 2027" in failing(gone, ENDS)
    assert "2027" not in failing(gone, date(2026, 12, 31))


# Dates


@pytest.mark.parametrize(
    ("pagemap", "day"),
    [
        ({"metatags": [{"article:published_time": "2024-03-05T08:00:00Z"}]}, date(2024, 3, 5)),
        ({"metatags": [{"og:title": "x"}, {"DC.Date": "2024-03-05"}]}, date(2024, 3, 5)),
        ({"metatags": [{"article:published_time": "soon", "date": "March 5, 2024"}]}, date(2024, 3, 5)),
        ({"metatags": [{"article:modified_time": "2024-03-05"}]}, None),
        ({"metatags": {"date": "2024-03-05"}}, None),
        ({"metatags": [None, 3, {"date": ["2024-03-05"]}]}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_date_of_a_page_comes_from_its_meta_tags(pagemap, day):
    assert page_date(pagemap) == day


# Vertex


def test_an_engine_is_named_by_project_and_name_or_by_its_serving_config():
    named = VertexSettings(vertex_project="p", vertex_engine="e", vertex_location="eu", vertex_api_key=KEY)
    whole = VertexSettings(vertex_serving_config=VERTEX.config, vertex_api_key=KEY)
    assert Vertex(SearchOptions(), named)._config == VERTEX.config.replace("global", "eu")
    assert Vertex(SearchOptions(), whole)._config == VERTEX.config


def test_a_region_has_an_address_of_its_own():
    settings = VertexSettings(vertex_project="p", vertex_engine="e", vertex_location="eu", vertex_api_key=KEY)
    assert Vertex(SearchOptions(), settings)._url == "https://eu-discoveryengine.googleapis.com"


def test_a_serving_config_that_is_none_is_refused():
    settings = VertexSettings(vertex_serving_config="my-engine", vertex_api_key=KEY)
    with pytest.raises(ConfigurationError, match="VERTEX_SERVING_CONFIG is not valid"):
        Vertex(SearchOptions(), settings)


@pytest.mark.parametrize("of", ["engines", "dataStores"])
def test_without_a_key_the_credentials_of_the_machine_are_used(replying, monkeypatch, of):
    import google.auth

    class Credentials:
        def before_request(self, transport, method, url, headers):
            headers["authorization"] = "Bearer t0ken-abcdef"

    monkeypatch.setattr(google.auth, "default", lambda scopes: (Credentials(), "p"))
    server = replying(google_error(403, "forbidden", "t0ken-abcdef may not search", "PERMISSION_DENIED"))
    config = VERTEX.config.replace("engines", of)
    settings = VertexSettings(vertex_serving_config=config, vertex_url=server.root)
    with pytest.raises(SearchError, match=r"\*\*\* may not search") as caught:
        Vertex(SearchOptions(), settings).top("sky")
    (asked,) = server.asked
    assert (asked.path, asked.headers["authorization"]) == (f"/v1/{config}:search", "Bearer t0ken-abcdef")
    assert caught.value.kind == "credentials"


def test_without_any_credentials_the_way_to_some_is_told(monkeypatch):
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError

    def none(scopes):
        raise DefaultCredentialsError("none")

    monkeypatch.setattr(google.auth, "default", none)
    provider = Vertex(SearchOptions(), VertexSettings(vertex_serving_config=VERTEX.config))
    with pytest.raises(ConfigurationError, match="VERTEX_API_KEY"):
        provider.top("sky")


def test_a_document_without_a_web_address_is_called_by_its_id(replying):
    document = {"id": "a", "document": {"structData": {"title": ["x"]}, "derivedStructData": {"link": "gs://b/a.pdf"}}}
    server = replying(Reply(200, {"results": [document]}))
    (found,) = VERTEX.make(server.root, SearchOptions(), lambda _: None).top("sky").documents
    assert (found.id, found.url) == ("vertex:a", "")


def test_a_note_that_there_is_no_excerpt_is_not_taken_for_one(replying):
    none = {"snippet": "No snippet is available for this page.", "snippet_status": "NO_SNIPPET_AVAILABLE"}
    document = {"id": "a", "document": {"derivedStructData": {"link": "https://a.example", "snippets": [none]}}}
    server = replying(Reply(200, {"results": [document]}))
    (found,) = VERTEX.make(server.root, SearchOptions(), lambda _: None).top("sky").documents
    assert (found.snippet, found.text) == ("", "")
