"""Which addresses may be asked for, and connected to."""

from __future__ import annotations

from functools import partial

import anyio
import httpcore2
import pytest
from hostile import PUBLIC, Internet

from search.guard import BlockedError, GuardedBackend, check_url, is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.10",
        "10.0.0.1",
        "172.16.5.4",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "0.0.0.0",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:a9fe:a9fe",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:db8::1",
        "not an address",
        "",
    ],
)
def test_an_address_that_is_not_on_the_public_internet_is_told(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"]
)
def test_an_address_on_the_public_internet_is_told(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("file:///etc/passwd", "not http or https"),
        ("javascript:alert(1)", "not http or https"),
        ("ftp://site.example/", "not http or https"),
        ("data:text/html,hello", "not http or https"),
        ("", "not http or https"),
        ("http://user:secret@site.example/", "credentials"),
        ("https://user@site.example/", "credentials"),
        ("http:///path", "not valid"),
        ("http://[::1/", "not valid"),
        ("http://site.example:99999/", "not valid"),
    ],
)
def test_an_address_is_refused_before_anything_is_asked(url: str, what: str) -> None:
    with pytest.raises(BlockedError, match=what) as refused:
        check_url(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://site.example", "HTTPS://Site.example:8443/a?b=c#d", "http://[2606:4700::1]/"])
def test_an_ordinary_address_passes(url: str) -> None:
    check_url(url)


def connect(internet: Internet, host: str, *, allow_private: bool = False) -> None:
    """Ask for a connection, without anything that listens."""
    backend = GuardedBackend(allow_private=allow_private, resolve=internet.resolve, backend=internet)
    anyio.run(partial(backend.connect_tcp, host, 9, timeout=1.0))


@pytest.mark.parametrize("host", ["127.0.0.1", "rebinds.example", "metadata.example"])
def test_no_connection_is_tried_to_what_a_private_address_stands_behind(host: str) -> None:
    internet = Internet({"rebinds.example": ["127.0.0.1"], "metadata.example": ["::ffff:169.254.169.254", "10.0.0.1"]})
    with pytest.raises(BlockedError, match="a private address"):
        connect(internet, host)
    assert internet.connected == []


def test_a_name_is_resolved_once_so_that_it_cannot_change_between_check_and_connection() -> None:
    internet = Internet()
    answers = iter([[PUBLIC], ["127.0.0.1"]])
    backend = GuardedBackend(resolve=lambda host, port: next(answers), backend=internet)
    with pytest.raises(httpcore2.ConnectError):
        anyio.run(partial(backend.connect_tcp, "rebinds.example", 9, timeout=1.0))
    assert internet.connected == [PUBLIC]


def test_of_a_name_with_private_and_public_addresses_only_the_public_are_tried() -> None:
    internet = Internet({"mixed.example": ["10.0.0.1", PUBLIC, "::1"]})
    with pytest.raises(httpcore2.ConnectError):
        connect(internet, "mixed.example")
    assert internet.connected == [PUBLIC]


def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    internet = Internet({"two.example": ["2606:4700::1", PUBLIC]})
    with pytest.raises(httpcore2.ConnectError):
        connect(internet, "two.example")
    assert internet.connected == ["2606:4700::1", PUBLIC]


def test_private_addresses_are_connected_to_where_that_is_allowed() -> None:
    internet = Internet({"intranet.example": ["10.0.0.1"]})
    with pytest.raises(httpcore2.ConnectError):
        connect(internet, "intranet.example", allow_private=True)
    assert internet.connected == ["10.0.0.1"]


def test_an_unknown_name_is_a_failed_connection() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(httpcore2.ConnectError, match="its name is not known"):
        anyio.run(partial(GuardedBackend(resolve=unknown).connect_tcp, "nowhere.example", 80, timeout=1.0))
