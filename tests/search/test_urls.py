"""Which addresses lead to the same page, and which site one belongs to."""

import pytest

from search.urls import canonical, on_site, site_name, with_sites


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/x",
        "http://a.example/x",
        "https://www.a.example/x",
        "https://m.a.example/x",
        "https://A.EXAMPLE./x/",
        "https://a.example:443/x#part",
        "https://a.example/x?utm_source=b&utm_medium=c",
        "https://a.example/x?gclid=1&fbclid=2",
        "https://a.example/%78",
    ],
)
def test_ways_to_write_an_address_are_one(url):
    assert canonical(url) == "https://a.example/x"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x?page=1", "https://a.example/x?page=2"),
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example/x", "https://b.a.example/x"),
        ("https://a.example:8080/x", "https://a.example/x"),
        ("https://a.example/x?ref=v1", "https://a.example/x?ref=v2"),
        ("https://a.example/x?eid=1&session=2", "https://a.example/x?eid=2&session=2"),
        ("https://a.example/#!/one", "https://a.example/#!/two"),
    ],
)
def test_different_pages_stay_apart(one, other):
    assert canonical(one) != canonical(other)


def test_a_host_that_is_called_like_a_prefix_keeps_its_name():
    assert [canonical(f"https://{host}/") for host in ("m.com", "www.com")] == ["https://m.com", "https://www.com"]


@pytest.mark.parametrize("url", ["", "opensearch:docs/1", "http://[", "https://a.example:x/"])
def test_what_is_no_address_stays_as_it_is(url):
    assert canonical(url) == url


@pytest.mark.parametrize(
    ("url", "site", "belongs"),
    [
        ("https://a.example/x", "a.example", True),
        ("https://www.a.example/x", "a.example", True),
        ("https://a.example/x", "https://www.A.example/", True),
        ("https://b.a.example/x", "a.example", True),
        ("https://a.example", "b.a.example", False),
        ("https://nota.example", "a.example", False),
        ("https://a.example.evil.example", "a.example", False),
        ("https://a.example@evil.example", "a.example", False),
        ("https://a.example./x", "a.example", True),
        ("https://a.example:8443/x", "a.example", True),
        ("https://a.example/x", "a.example:8443", True),
        ("https://a.example/docs/1", "a.example/docs", True),
        ("https://a.example/Docs/1", "a.example/docs/", True),
        ("https://a.example/docs-old/1", "a.example/docs", False),
        ("http://[", "a.example", False),
        ("", "a.example", False),
        ("https://a.example", "", False),
    ],
)
def test_an_address_belongs_to_a_host_with_its_subdomains_or_to_a_path(url, site, belongs):
    assert on_site(url, [site]) is belongs


def test_a_site_is_named_as_operators_want_it():
    assert site_name(" https://WWW.A.example/Docs/ ") == "a.example/Docs"


@pytest.mark.parametrize(
    ("sites", "exclude", "query"),
    [
        ((), (), "q"),
        (("https://a.example/",), (), "q site:a.example"),
        (("a.example", "b.example"), (), "q (site:a.example OR site:b.example)"),
        ((), ("a.example", "b.example"), "q -site:a.example -site:b.example"),
        (("a.example",), ("b.a.example",), "q site:a.example -site:b.a.example"),
    ],
)
def test_sites_become_operators(sites, exclude, query):
    assert with_sites("q", sites, exclude) == query
