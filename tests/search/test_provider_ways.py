"""What only one provider does: limits, engines that fail, documents of an index."""

from __future__ import annotations

from datetime import date

import pytest
from fake_search import APIS, Reply, Server

from search.base import SearchError, SearchOptions
from search.opensearch import OpenSearch, OpenSearchSettings

API = {api.name: api for api in APIS}


@pytest.fixture
def top():
    """Searches with a provider whose API gives one reply, and keeps what it was asked."""
    servers = []

    def search(name, reply, query="sky", k=10, make=None, **options):
        servers.append(Server(lambda asked, earlier: reply))
        make = make or API[name].make
        results = make(servers[-1].root, SearchOptions(retries=0, **options), lambda _: None).top(query, k)
        return results, servers[-1].asked

    yield search
    for server in servers:
        server.close()


# All of them


@pytest.mark.parametrize("name", sorted(API))
@pytest.mark.parametrize("said", [{}, {"error": "Something went wrong."}])
def test_a_reply_that_says_nothing_is_a_failure_and_no_empty_result(top, name, said):
    with pytest.raises(SearchError) as caught:
        top(name, Reply(200, said))
    assert caught.value.kind == "bad reply"


# SearXNG


FAILED = [["duckduckgo", "CAPTCHA"], ["brave", "Suspended: too many requests"]]


def test_no_result_while_engines_failed_is_a_failure(top):
    with pytest.raises(SearchError, match="duckduckgo CAPTCHA, brave Suspended") as caught:
        top("searxng", Reply(200, {"results": [], "unresponsive_engines": FAILED}))
    assert caught.value.kind == "unavailable"


def test_engines_that_failed_beside_others_are_a_warning(top):
    results, _ = top(
        "searxng", Reply(200, {"results": [{"url": "https://a.example"}], "unresponsive_engines": [*FAILED, 3]})
    )
    assert "did not answer: duckduckgo CAPTCHA, brave Suspended: too many requests, 3." in results.warnings[0]


@pytest.mark.parametrize("status", [403, 404])
def test_an_instance_that_does_not_give_json_is_a_matter_of_its_settings(top, status):
    with pytest.raises(SearchError, match=r"check SEARXNG_URL, and that the instance's settings.yml lists json"):
        top("searxng", Reply(status, b"<html></html>"))


# Brave


def test_a_long_query_is_cut_to_what_brave_takes_with_a_warning(top):
    results, asked = top("brave", Reply(200, {"query": {}}), query="word " * 60, exclude_sites=("a.example",))
    assert asked[0].query["q"] == ("word " * 50).strip()
    assert "takes short queries only" in results.warnings[0]


def test_of_many_excluded_sites_brave_is_told_those_that_find_room_and_keeps_to_the_question(top):
    sites = tuple(f"site-number-{number}.example" for number in range(40))
    hit = {"url": "https://site-number-39.example/page"}
    results, asked = top("brave", Reply(200, {"web": {"results": [hit]}}), query="do gulls fly", exclude_sites=sites)
    query = asked[0].query["q"]
    assert query.startswith("do gulls fly -site:site-number-0.example -site:")
    assert len(query) <= 400 and len(query.split()) <= 50
    assert results.documents == []  # what was not said to the API is left out of its results


def test_further_excerpts_of_a_page_are_part_of_its_text(top):
    result = {"url": "https://a.example", "description": "<strong>one</strong>", "extra_snippets": ["two &amp; three"]}
    results, _ = top("brave", Reply(200, {"web": {"results": [result]}}))
    assert (results.documents[0].snippet, results.documents[0].text) == ("one", "one\ntwo & three")


# Tavily and Serper


def test_the_other_limit_of_a_tavily_plan_is_a_quota_too(top):
    with pytest.raises(SearchError) as caught:
        top("tavily", Reply(433, {"detail": {"error": "This request exceeds the pay-as-you-go limit."}}))
    assert caught.value.kind == "quota"


def test_a_request_that_serper_does_not_understand_is_no_quota(top):
    with pytest.raises(SearchError) as caught:
        top("serper", Reply(400, {"message": "Query is empty", "statusCode": 400}))
    assert caught.value.kind == "bad reply"


# OpenSearch


def index(*hits, **others):
    return Reply(200, {"timed_out": False, "_shards": {"total": 5, "failed": 0}, **others, "hits": {"hits": [*hits]}})


def hit(**source):
    return {"_index": "docs", "_id": "1", "_score": 1.0, "_source": source}


def test_documents_of_an_index_are_whole_and_not_fetched():
    assert (OpenSearch.reads_pages, OpenSearch.name) == (False, "opensearch")


@pytest.mark.parametrize("url", [None, "", "docs/1.txt", "file:///docs/1.txt"])
def test_a_document_without_a_web_address_is_called_by_index_and_id(top, url):
    results, _ = top("opensearch", index(hit(text="t", url=url)))
    assert [(found.id, found.url) for found in results.documents] == [("opensearch:docs/1", "")]


def test_the_whole_text_is_kept_and_the_excerpt_is_the_highlight(top):
    results, _ = top("opensearch", index({**hit(text="one\ntwo"), "highlight": {"text": ["two"]}}))
    assert (results.documents[0].text, results.documents[0].snippet) == ("one\ntwo", "two")


def test_fields_may_have_other_names_stand_deeper_and_hold_several_values(top):
    def make(root, options, sleep):
        settings = OpenSearchSettings(
            opensearch_url=root,
            opensearch_index="my docs",
            opensearch_title_field="meta.title",
            opensearch_text_field="body",
            opensearch_url_field="link",
            opensearch_date_field="meta.at",
        )
        return OpenSearch(options, settings)

    source = {"meta": {"title": "T", "at": 1709640000000}, "body": ["one", "two"], "link": "https://a.example"}
    results, asked = top("opensearch", index(hit(**source)), make=make)
    (found,) = results.documents
    assert (found.title, found.text, found.url, found.published) == (
        "T",
        "one\ntwo",
        "https://a.example",
        date(2024, 3, 5),
    )
    assert asked[0].path == "/my%20docs/_search"
    assert asked[0].body["_source"] == ["meta.title", "body", "link", "meta.at"]


def test_an_api_key_is_sent_as_one(top):
    def make(root, options, sleep):
        settings = OpenSearchSettings(opensearch_url=root, opensearch_index="docs", opensearch_api_key="abc")
        return OpenSearch(options, settings)

    _, asked = top("opensearch", index(), make=make)
    assert asked[0].headers["authorization"] == "ApiKey abc"


def test_a_search_of_a_part_of_the_index_is_a_warning(top):
    results, _ = top("opensearch", index(hit(text="t"), _shards={"total": 5, "failed": 2}, timed_out=True))
    assert results.warnings == [
        "OpenSearch searched a part of the index only: 2 of 5 shards failed, and it ran out of time."
    ]


def test_an_index_that_is_not_there_is_a_matter_of_settings(top):
    missing = {"error": {"type": "index_not_found_exception", "reason": "no such index [docs]"}, "status": 404}
    with pytest.raises(SearchError, match=r"no such index \[docs\].*OPENSEARCH_INDEX") as caught:
        top("opensearch", Reply(404, missing))
    assert caught.value.exit_code == 3


def test_documents_without_a_date_are_searched_for_beside_young_ones(top):
    _, asked = top("opensearch", index(), since=date(2024, 1, 1))
    assert asked[0].body["query"]["bool"]["filter"][0]["bool"]["should"] == [
        {"range": {"date": {"gte": "2024-01-01"}}},
        {"bool": {"must_not": [{"exists": {"field": "date"}}]}},
    ]
