"""The provider that needs no key. Its package speaks through a client in Rust, which no recorder of HTTP sees: here a
class of the same interface stands for `ddgs.DDGS`, and gives what the tests say.
"""

from __future__ import annotations

import inspect
from datetime import date, timedelta

import ddgs
import pytest
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

from search.base import SearchError, SearchOptions
from search.ddgs import Ddgs, DdgsSettings


def result(n):
    return {"href": f"https://a.example/{n}", "title": f"T{n}", "body": f"B{n}"}


@pytest.fixture
def waits():
    return []


@pytest.fixture
def top(monkeypatch, waits):
    """Searches while the engines give these replies in turn (the last again and again); errors are raised."""

    def search(*replies, k=3, settings=None, **options):
        left = list(replies)

        class Fake:
            def __init__(self, **given):
                search.made.append(given)

            def text(self, query, **given):
                search.asked.append({"query": query, **given})
                reply = left.pop(0) if len(left) > 1 else left[0]
                if isinstance(reply, BaseException):
                    raise reply
                return reply

        monkeypatch.setattr(ddgs, "DDGS", Fake)
        made = Ddgs(SearchOptions(retries=2, **options), settings or DdgsSettings(), sleep=waits.append)
        return made.top("sky", k)

    search.made, search.asked = [], []
    return search


def failure(top, *replies):
    with pytest.raises(SearchError) as caught:
        top(*replies)
    return caught.value


def test_the_fake_is_called_as_the_package_is():
    from ddgs.ddgs import DDGS

    assert "timeout" in inspect.signature(DDGS.__init__).parameters
    wanted = {"region", "timelimit", "max_results", "page", "backend"}
    assert wanted <= set(inspect.signature(DDGS._search_sync).parameters)


def test_results_are_read(top):
    results = top([result(n) for n in range(5)])
    assert [(d.rank, d.url, d.title, d.snippet, d.source) for d in results.documents] == [
        (n + 1, f"https://a.example/{n}", f"T{n}", f"B{n}", "ddgs") for n in range(3)
    ]


def test_pages_are_asked_for_until_there_are_k_results(top):
    results = top([result(n) for n in range(8)], [result(n) for n in range(6, 14)], k=12)
    assert (len(results.documents), [asked["page"] for asked in top.asked]) == (12, [1, 2])


def test_a_time_out_is_always_set(top):
    top([result(1)], k=1, timeout=2.5)
    assert top.made == [{"timeout": 3}]


@pytest.mark.parametrize("reply", [DDGSException("No results found."), []])
def test_no_result_at_all_is_a_failure_since_it_cannot_be_told_from_one(top, reply):
    error = failure(top, reply)
    assert error.kind == "unavailable"
    assert "may refuse programs" in str(error)


def test_a_later_page_without_results_is_the_end_of_them(top):
    results = top([result(n) for n in range(8)], DDGSException("No results found."), k=12)
    assert (len(results.documents), results.warnings) == (8, [])


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RatelimitException("202"), "quota"),
        (TimeoutException("timed out"), "unavailable"),
        (DDGSException("ConnectError: no route"), "unavailable"),
    ],
)
def test_a_failure_of_the_engines_is_tried_again_and_then_told(top, waits, error, kind):
    assert (failure(top, error).kind, len(waits)) == (kind, 2)


def test_a_failure_that_passes_is_forgotten(top):
    assert len(top(TimeoutException("timed out"), [result(1)]).documents) == 1


@pytest.mark.parametrize("reply", [ValueError("lxml"), {"a": 1}, None, [3, None], [{"href": 4}]])
def test_what_cannot_be_read_is_a_bad_reply(top, waits, reply):
    assert (failure(top, reply).kind, waits) == ("bad reply", [])


def test_results_that_cannot_be_read_are_left_out_with_a_warning(top):
    results = top([{"href": None}, result(1), {"title": "no address"}])
    assert [document.title for document in results.documents] == ["T1"]
    assert "2 results of ddgs cannot be read" in results.warnings[0]


def test_a_password_of_the_proxy_is_not_shown(top, monkeypatch):
    monkeypatch.setenv("DDGS_PROXY", "http://user:pa55@proxy.example")
    assert "pa55" not in str(failure(top, DDGSException("cannot connect to http://user:pa55@proxy.example")))


def test_sites_become_operators(top):
    top([result(1)], k=1, sites=("a.example",), exclude_sites=("b.example",))
    assert top.asked[0]["query"] == "sky site:a.example -site:b.example"


@pytest.mark.parametrize(("days", "limit"), [(0, "d"), (5, "w"), (20, "m"), (200, "y"), (2000, None)])
def test_a_date_becomes_the_smallest_time_range_that_holds_it(top, days, limit):
    top([result(1)], since=date.today() - timedelta(days=days))
    assert top.asked[0]["timelimit"] == limit


def test_engines_and_region_are_settings(top):
    top([result(1)], k=1, settings=DdgsSettings(ddgs_backend="mojeek", ddgs_region="de-de"))
    assert (top.asked[0]["backend"], top.asked[0]["region"]) == ("mojeek", "de-de")
