"""What every provider does with the replies of its API, whatever they are. Replayed from `cassettes/PROVIDER`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from fake_search import APIS, KEY, WORLD, Api, Asked, Doc, Reply, Server
from recorded_search import recorded

from regen.errors import ConfigurationError
from search.base import SearchError, SearchOptions, SearchProvider
from search.urls import is_web

RETRIES = 2


@pytest.fixture(params=APIS, ids=lambda api: api.name)
def api(request: pytest.FixtureRequest) -> Api:
    return request.param


@pytest.fixture
def waits() -> list[float]:
    """The seconds that were waited for, without waiting."""
    return []


@pytest.fixture
def search(api: Api, recording: bool, waits: list[float]) -> Callable[..., Any]:
    """Searches once, with the traffic of a case."""

    def once(case: str, query: str, k: int = 10) -> Any:
        options = SearchOptions(retries=RETRIES)
        with recorded(api, case, record=recording, options=options, sleep=waits.append) as provider:
            return provider.top(query, k)

    return once


@pytest.fixture
def failure(search: Callable[..., Any]) -> Callable[..., SearchError]:
    """The error of a search that fails. None tells the key, and each says in one sentence what can be done."""

    def once(case: str, query: str) -> SearchError:
        with pytest.raises(SearchError) as caught:
            search(case, query)
        message = str(caught.value)
        assert KEY not in message
        assert "\n" not in message and message.endswith(".") and ";" in message
        return caught.value

    return once


# Results


def test_the_first_page_is_ranked_and_says_where_it_came_from(api, search):
    results = search("first-page", "why is the sky blue")
    documents = results.documents
    assert [document.rank for document in documents] == list(range(1, len(documents) + 1))
    assert len({document.id for document in documents}) == len(documents) > 0
    assert {document.source for document in documents} == {api.name}
    assert all(is_web(document.url) and document.title for document in documents)
    assert results.warnings == []


def test_pages_are_asked_for_until_there_are_k_results(api, search):
    documents = search("paging", "why is the sky blue", 30).documents
    assert len({document.id for document in documents}) == len(documents) > (25 if api.pages else 0)


def test_no_match_is_an_empty_result(search):
    results = search("no-results", "zxqv-nothing-kwjh")
    assert (results.documents, results.warnings) == ([], [])


# Failures


@pytest.mark.parametrize("case", ["unauthorized", "forbidden"])
def test_refused_credentials_are_told_from_other_failures(failure, waits, case):
    error = failure(case, case)
    assert (error.kind, error.exit_code, waits) == ("credentials", 3, [])


def test_a_quota_that_is_used_up_is_told_from_other_failures(failure):
    error = failure("quota", "quota")
    assert (error.kind, error.exit_code) == ("quota", 4)


def test_a_provider_that_asks_to_wait_is_waited_for(search, waits):
    results = search("busy", "busy")
    assert (len(results.documents), waits) == (10, [7.0])


def test_a_provider_that_stays_busy_counts_as_out_of_quota(failure, waits):
    assert failure("overrun", "overrun").kind == "quota"
    assert waits == [7.0] * RETRIES


def test_a_provider_that_stumbles_is_asked_again(search, waits):
    assert len(search("stumbles", "stumbles").documents) == 10
    assert len(waits) == 1


def test_a_provider_that_is_down_is_told_after_every_try(failure, waits):
    error = failure("down", "down")
    assert (error.kind, error.exit_code, len(waits)) == ("unavailable", 4, RETRIES)
    assert "<" not in str(error)


@pytest.mark.parametrize("case", ["malformed", "types", "list"])
def test_a_reply_that_is_not_as_published_is_a_failure_and_not_an_empty_result(failure, case):
    error = failure(case, case)
    assert (error.kind, error.exit_code) == ("bad reply", 4)


def test_results_that_cannot_be_read_are_left_out_with_a_warning(search):
    results = search("spoiled", "spoiled")
    assert [document.title for document in results.documents][:2] == ["Document 1", "Document 2"]
    assert any("4 results of " in warning and "left out" in warning for warning in results.warnings)


def test_a_time_out_is_tried_again_and_then_told(api, waits, monkeypatch):
    def never(transport: object, request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("no answer", request=request)

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", never)
    options = SearchOptions(retries=RETRIES, timeout=3)
    with pytest.raises(SearchError, match="no answer within 3 seconds") as caught:
        api.make(api.published, options, waits.append).top("anything")
    assert (caught.value.kind, len(waits)) == ("unavailable", RETRIES)


# What is read of a result, and what is asked for: against the fake API itself


@pytest.fixture
def server(api: Api) -> Any:
    found = Server(api.answer)
    yield found
    found.close()


def test_title_excerpt_address_and_date_of_a_result_are_read(api, server, waits):
    document = api.make(server.root, SearchOptions(), waits.append).top("sky").documents[0]
    doc = Doc(1)
    assert (document.title, document.snippet, document.url) == (doc.title, doc.snippet, doc.url)
    assert (document.published, document.published_from) == (doc.published, "provider")
    assert doc.snippet in document.text


def test_all_results_are_found_in_their_order_without_one_twice(api, server, waits):
    documents = api.make(server.root, SearchOptions(), waits.append).top("sky", 60).documents
    wanted = WORLD if api.pages else 20
    assert [document.title for document in documents] == [Doc(n).title for n in range(1, wanted + 1)]


def test_no_more_is_asked_for_than_the_first_page_where_that_is_enough(api, server, waits):
    api.make(server.root, SearchOptions(), waits.append).top("sky", 10)
    assert len(server.asked) == 1


def test_no_address_holds_the_key(api, server, waits):
    api.make(server.root, SearchOptions(), waits.append).top("sky")
    assert all(KEY not in str(asked.query) and KEY not in asked.path for asked in server.asked)


@pytest.mark.parametrize(
    "options",
    [
        {"sites": ("https://www.host3.example",)},
        {"sites": ("host3.example", "host5.example/page")},
        {"exclude_sites": ("host1.example",)},
        {"sites": ("host3.example",), "exclude_sites": ("host1.example", "host2.example")},
        {"since": Doc(5).published},
    ],
    ids=["site", "sites", "exclude", "both", "since"],
)
def test_only_what_the_filters_allow_is_returned_by_a_request_as_published(api, server, waits, options):
    results = api.make(server.root, SearchOptions(**options), waits.append).top("sky", 20)
    hosts = [document.url.split("/")[2] for document in results.documents]
    if "sites" in options:
        assert set(hosts) == {site.split("://")[-1].removeprefix("www.").split("/")[0] for site in options["sites"]}
    elif "since" in options:
        assert hosts[0] == "host5.example" and len(hosts) > 5
    else:
        assert hosts[0] == "host2.example" and len(hosts) > 5


NATIVE = {
    "google": lambda asked: (asked.query["siteSearch"], asked.query["siteSearchFilter"], asked.query["dateRestrict"]),
    "brave": lambda asked: ("site:host3.example" in asked.query["q"], asked.query["freshness"][:12]),
    "tavily": lambda asked: (asked.body["include_domains"], asked.body["start_date"]),
    "serper": lambda asked: ("site:host3.example" in asked.body["q"], asked.body["tbs"][:27]),
    "searxng": lambda asked: ("site:host3.example" in asked.query["q"], "time_range" in asked.query),
    "opensearch": lambda asked: asked.body["query"]["bool"]["filter"][0]["bool"]["should"][0],
}
EXPECTED = {
    "google": ("host3.example", "i", "d118"),
    "brave": (True, "2026-03-06to"),
    "tavily": (["host3.example"], "2026-03-06"),
    "serper": (True, "cdr:1,cd_min:3/6/2026,cd_ma"),
    "searxng": (True, False),
    "opensearch": {"range": {"date": {"gte": "2026-03-06"}}},
}


def test_filters_are_asked_of_the_api_in_its_own_words(api, server, waits):
    if api.name not in NATIVE:
        pytest.skip("what a filter may say depends on the engine's own schema")
    since = Doc(5).published.replace(year=2026) if api.name != "searxng" else Doc(5).published
    options = SearchOptions(sites=("host3.example",), since=since)
    api.make(server.root, options, waits.append).top("sky")
    assert NATIVE[api.name](server.asked[0]) == EXPECTED[api.name]


def test_an_error_that_repeats_the_key_is_shown_without_it(api, waits):
    def echo(asked: Asked, earlier: int) -> Reply:
        return Reply(403, {"message": f"{'x' * 170} {asked.headers} {KEY} {KEY.replace('-', '%2D')}"})

    server = Server(echo)
    try:
        with pytest.raises(SearchError) as caught:
            api.make(server.root, SearchOptions(), waits.append).top("sky")
    finally:
        server.close()
    assert KEY[:8] not in str(caught.value)


# Settings


NEEDED = {
    "google": "GOOGLE_API_KEY",
    "vertex": "VERTEX_ENGINE",
    "searxng": "SEARXNG_URL",
    "brave": "BRAVE_API_KEY",
    "tavily": "TAVILY_API_KEY",
    "serper": "SERPER_API_KEY",
    "opensearch": "OPENSEARCH_URL",
}


def test_a_missing_setting_is_named(api):
    provider = type(api.make(api.published, SearchOptions(), lambda _: None))
    with pytest.raises(ConfigurationError, match=NEEDED[api.name]):
        provider.configured(SearchOptions())


def test_the_environment_is_enough_to_make_one(api, monkeypatch):
    for name in ("GOOGLE_API_KEY", "VERTEX_API_KEY", "BRAVE_API_KEY", "TAVILY_API_KEY", "SERPER_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("GOOGLE_CSE_ID", "VERTEX_PROJECT", "VERTEX_ENGINE", "OPENSEARCH_INDEX"):
        monkeypatch.setenv(name, "x")
    for name in ("SEARXNG_URL", "OPENSEARCH_URL"):
        monkeypatch.setenv(name, "http://search.example/")
    made = type(api.make(api.published, SearchOptions(), lambda _: None)).configured(SearchOptions())
    assert isinstance(made, SearchProvider)


@pytest.mark.parametrize(
    ("name", "value"), [("BRAVE_API_KEY", "two words"), ("BRAVE_API_KEY", "kéy"), ("BRAVE_URL", "ftp://x"),
                        ("BRAVE_URL", "https://user:pw@x.example"), ("BRAVE_URL", "http://[")]
)  # fmt: skip
def test_a_setting_that_is_not_valid_is_named_without_its_value(monkeypatch, name, value):
    from search.brave import Brave

    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"{name} is not valid") as caught:
        Brave.configured(SearchOptions())
    assert value not in str(caught.value)


def test_every_provider_is_registered_by_its_name(api):
    import tomllib

    from recorded_search import CASSETTES

    project = tomllib.loads((CASSETTES.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["regen.search"][api.name].partition(":")
    made = type(api.make(api.published, SearchOptions(), lambda _: None))
    assert (made.__module__, made.__name__, made.name) == (module, name, api.name)
