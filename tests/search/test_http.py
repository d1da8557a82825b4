"""The HTTP client of the search APIs: what is tried again, for how long, and what an error shows."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from types import SimpleNamespace

import httpx2
import pytest
from fake_search import Reply, Server

from search import http
from search.base import SearchError
from search.http import HttpClient, PassingError, patiently, retry_after

KEY = "k3y/with+signs=and-more"


@pytest.fixture
def waits():
    return []


@pytest.fixture
def serve():
    """Starts a server that gives replies in turn, the last one again and again."""
    servers = []

    def start(*replies):
        left = list(replies)
        servers.append(Server(lambda asked, earlier: left.pop(0) if len(left) > 1 else left[0]))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def ask(waits):
    """Asks a server, with retries and secrets."""

    def once(server, *, retries=2, secrets=(), **request):
        one = HttpClient("The API", access="check THE_KEY", retries=retries, secrets=secrets, sleep=waits.append)
        return one.json(request.pop("method", "GET"), server.root + "/search", **request)

    return once


def failure(ask, server, **request):
    with pytest.raises(SearchError) as caught:
        ask(server, **request)
    return caught.value


# Tries


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(ask, serve, waits, status):
    server = serve(Reply(status, b""), Reply(status, b""), Reply(200, {"a": 1}))
    assert (ask(server), len(waits)) == ({"a": 1}, 2)


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 422])
def test_what_will_not_pass_is_not_tried_again(ask, serve, waits, status):
    failure(ask, serve(Reply(status, b"")))
    assert waits == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, "bad reply"),
        (400, "bad reply"),
        (401, "credentials"),
        (402, "quota"),
        (403, "credentials"),
        (429, "quota"),
        (500, "unavailable"),
    ],
)
def test_the_status_says_which_failure_it_is(ask, serve, status, kind):
    assert failure(ask, serve(Reply(status, b""))).kind == kind


def test_pauses_grow_and_stay_bounded(waits):
    def fail():
        raise PassingError(SearchError("no", "unavailable"))

    with pytest.raises(SearchError):
        patiently(fail, 7, waits.append)
    assert all(low <= wait <= 2 * low for wait, low in zip(waits, [0.5, 1, 2, 4, 8, 8, 8], strict=True))


def test_a_wait_that_is_asked_for_is_kept(ask, serve, waits):
    ask(serve(Reply(503, b"", {"Retry-After": "30"}), Reply(200, {})))
    assert waits == [30.0]


def test_a_wait_that_is_too_long_ends_the_search_and_is_told(ask, serve, waits):
    error = failure(ask, serve(Reply(429, b"", {"Retry-After": "3600"})))
    assert (error.kind, waits, "3600 seconds" in str(error)) == ("quota", [], True)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("12", 12),
        ("1.5", 1.5),
        ("-3", 0),
        ("Fri, 01 May 2026 12:00:30 GMT", 30),
        ("Fri, 01 May 2026 11:00:00 GMT", 0),
        ("Fri, 01 May 99999 12:00:00 GMT", 0),
        ("Fri, 01 May 2026 12:00:30 +99999999999999999999", 0),
        ("soon", 0),
        ("nan", 0),
        ("inf", float("inf")),
        ("", 0),
        (None, 0),
    ],
)
def test_retry_after_gives_seconds_or_a_date(header, seconds):
    assert retry_after(header, datetime(2026, 5, 1, 12, tzinfo=UTC)) == seconds


def test_a_server_that_is_not_there_is_told(ask, waits):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

        class Nowhere:
            root = f"http://127.0.0.1:{port}"

        error = failure(ask, Nowhere())
    assert (error.kind, len(waits)) == ("unavailable", 2)


def test_a_reply_that_does_not_end_counts_as_a_time_out(ask, serve, monkeypatch):
    ticks = iter(range(0, 10_000, 15))
    monkeypatch.setattr(http, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    monkeypatch.setattr(httpx2.Response, "iter_bytes", lambda self: iter([b"x"] * 100))
    assert "no answer within 20 seconds" in str(failure(ask, serve(Reply(200, b"xx")), retries=0))


def test_a_reply_that_is_too_large_is_not_read_to_its_end(ask, serve, monkeypatch):
    monkeypatch.setattr(http, "LARGEST_REPLY", 1000)
    assert failure(ask, serve(Reply(200, b'"' + b"x" * 5000 + b'"'))).kind == "bad reply"


def test_a_redirect_is_not_followed_and_told(ask, serve):
    server = serve(Reply(302, b"", {"Location": "https://elsewhere.example/?secret=1"}))
    error = failure(ask, server, headers={"x-key": KEY})
    assert ("sent on to elsewhere.example" in str(error), len(server.asked)) == (True, 1)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"<html></html>"])
def test_a_reply_that_is_no_json_is_a_bad_reply(ask, serve, body):
    assert failure(ask, serve(Reply(200, body))).kind == "bad reply"


# What an error shows


@pytest.mark.parametrize("status", [400, 401, 429, 500])
@pytest.mark.parametrize("offset", [0, 150, 185, 195])
def test_no_part_of_a_secret_is_shown_wherever_the_cut_falls(ask, serve, status, offset):
    echo = f"{'.' * offset}{KEY} k3y%2Fwith%2Bsigns%3Dand-more"
    for body in ({"error": {"message": echo}}, echo.encode()):
        error = failure(ask, serve(Reply(status, body)), secrets=(KEY,), retries=0)
        assert "k3y" not in str(error)


def test_a_secret_is_not_shown_where_a_connection_fails(waits):
    one = HttpClient("The API", retries=0, secrets=(KEY,), sleep=waits.append)
    with pytest.raises(SearchError) as caught:
        one.json("GET", f"http://{KEY}.invalid:99999/{KEY}", params={"key": KEY}, headers={"x-key": KEY})
    assert "k3y" not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        {"message": "Why"},
        {"error": {"code": 1, "message": "Why"}},
        {"detail": {"error": "Why"}},
        {"error": {"root_cause": [], "reason": "Why"}, "status": 400},
        b"Why",
    ],
)
def test_what_the_provider_says_is_told(ask, serve, body):
    assert "(status 400: Why)" in str(failure(ask, serve(Reply(400, body))))


@pytest.mark.parametrize("body", [b"<html><b>x</b></html>", {"error": {"error": {"error": {"error": {}}}}}, [1], 3])
def test_a_page_or_a_riddle_is_not_shown(ask, serve, body):
    assert "(status 400)" in str(failure(ask, serve(Reply(400, body))))


def test_control_characters_of_a_reply_are_not_shown(ask, serve):
    error = str(failure(ask, serve(Reply(400, {"message": "red\x1b[31m\ntext\u009b"}))))
    assert "\x1b" not in error and "\n" not in error and "\u009b" not in error


def test_the_way_to_access_is_told(ask, serve):
    assert str(failure(ask, serve(Reply(401, b"")))) == "The API refused access (status 401); check THE_KEY."


# What is sent


def test_parameters_without_a_value_are_left_out(ask, serve):
    server = serve(Reply(200, {}))
    ask(server, params={"q": "a b&c", "since": None})
    assert server.asked[0].query == {"q": "a b&c"}


def test_a_body_is_sent_as_json(ask, serve):
    server = serve(Reply(200, {}))
    ask(server, method="POST", body={"q": "é"})
    assert (server.asked[0].body, server.asked[0].headers["content-type"]) == ({"q": "é"}, "application/json")
