"""Fetching pages: what comes, what is cut or refused, and why."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hostile import PUBLIC, Internet, Reply, Site, article, bomb, dripping, endless, nothing_packed, of_size, serving

from regen.errors import ConfigurationError
from search import fetch as fetching
from search.fetch import Fetched, FetchOptions, Outcome, Refused, fetch

HTML = {"Content-Type": "text/html; charset=utf-8"}


@pytest.fixture
def internet() -> Internet:
    return Internet()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving({"/": Reply(article("An ordinary page."))}) as running:
        yield running


@pytest.fixture
def options(internet: Internet) -> FetchOptions:
    return FetchOptions(deadline=5.0, resolve=internet.resolve, backend=internet)


def one(url: str, options: FetchOptions) -> Outcome:
    [(asked, outcome)] = fetch([url], options)
    assert asked == url
    return outcome


def body(site: Site, options: FetchOptions, reply: Reply) -> Outcome:
    """What becomes of one reply."""
    site.replies["/reply"] = reply
    return one(site.url("/reply"), options)


def self_signed(name: str, folder: Path) -> tuple[Path, Path]:
    """A certificate for `name` and its key, as files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


def cause(outcome: Outcome) -> str:
    assert isinstance(outcome, Refused)
    return outcome.cause


def page(outcome: Outcome) -> Fetched:
    assert isinstance(outcome, Fetched), outcome
    return outcome


def test_an_ordinary_page_comes_with_its_type_and_charset(site: Site, options: FetchOptions) -> None:
    outcome = page(one(site.url("/"), options))
    assert (outcome.kind, outcome.charset, outcome.url, outcome.cut) == ("html", "utf-8", site.url("/"), False)
    assert b"An ordinary page." in outcome.data


def test_the_user_agent_names_regen_and_its_version(site: Site, options: FetchOptions) -> None:
    one(site.url("/"), options)
    assert all(agent.startswith("regen/0.") for agent in site.agents)


@pytest.mark.parametrize(
    ("host", "expected"), [("site.example", ""), ("other.example", "no connection: [SSL: CERTIFICATE_VERIFY_FAILED]")]
)
def test_the_certificate_is_checked_against_the_name_and_not_the_address(
    host: str, expected: str, site: Site, options: FetchOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed("site.example", tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(site.replies, certificate=(certificate, key)) as secure:
        outcome = one(secure.url("/", host).replace("http:", "https:"), options)
    assert cause(outcome).startswith(expected) if expected else page(outcome)


def test_certificates_that_cannot_be_loaded_are_a_sentence(
    options: FetchOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(ConfigurationError, match="SSL_CERT_FILE"):
        one("http://site.example/", options)


def test_proxies_of_the_environment_are_not_used(
    site: Site, options: FetchOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    page(one(site.url("/"), options))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///etc/passwd", "it leads to an address that is not http or https"),
        ("javascript:alert(1)", "it leads to an address that is not http or https"),
        ("http://user:secret@site.example/", "it leads to an address with credentials in it"),
        ("http://127.0.0.1:1/", "it leads to a private address (127.0.0.1)"),
        ("http://[::ffff:10.0.0.1]/", "it leads to a private address (::ffff:a00:1)"),
        ("http://rebinds.example/", "it leads to a private address (127.0.0.1)"),
        ("http://site.example:99999/", "it leads to an address that is not valid"),
    ],
)
def test_an_address_that_is_not_for_the_public_is_not_asked(
    url: str, expected: str, internet: Internet, options: FetchOptions
) -> None:
    internet.names["rebinds.example"] = ["127.0.0.1"]
    assert cause(one(url, options)) == expected
    assert internet.connected == []


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("http://169.254.169.254/latest/meta-data/", "it redirects to a private address (169.254.169.254)"),
        ("http://[::1]/", "it redirects to a private address (::1)"),
        ("//rebinds.example/", "it redirects to a private address (127.0.0.1)"),
        ("file:///etc/passwd", "it redirects to an address that is not http or https"),
        ("javascript:alert(1)", "it redirects to an address that is not http or https"),
        ("http://user:secret@site.example/", "it redirects to an address with credentials in it"),
        ("http://[broken", "it redirects to an address that is not valid"),
    ],
)
def test_every_redirect_is_checked_like_the_first_address(
    location: str, expected: str, site: Site, internet: Internet, options: FetchOptions
) -> None:
    internet.names["rebinds.example"] = ["127.0.0.1"]
    assert cause(body(site, options, Reply(status=302, headers={"Location": location}))) == expected
    assert internet.connected == [PUBLIC]


def test_a_redirect_is_followed_to_a_public_page(site: Site, options: FetchOptions) -> None:
    outcome = page(body(site, options, Reply(status=301, headers={"Location": "/"})))
    assert outcome.url == site.url("/")


def test_redirects_in_a_circle_end(site: Site, options: FetchOptions) -> None:
    outcome = body(site, options, Reply(status=302, headers={"Location": "/reply"}))
    assert cause(outcome) == "more than 5 redirects"
    assert site.seen["/reply"] == 6


@pytest.mark.parametrize("status", [404, 403, 500, 304])
def test_a_status_that_is_no_success_is_the_cause(status: int, site: Site, options: FetchOptions) -> None:
    assert cause(body(site, options, Reply(status=status))) == f"status {status}"


@pytest.mark.parametrize("content", [of_size(100_000_000), endless], ids=["100 MB", "endless"])
def test_html_is_cut_where_it_is_too_large(content: object, site: Site, options: FetchOptions) -> None:
    outcome = page(body(site, options, Reply(content, headers=HTML)))  # type: ignore[arg-type]
    assert outcome.cut and len(outcome.data) == fetching.MAX_TEXT


def test_a_gzip_bomb_is_cut_at_the_same_size(site: Site, options: FetchOptions) -> None:
    packed = Reply(bomb(200_000_000), headers=HTML | {"Content-Encoding": "gzip"})
    outcome = page(body(site, options, packed))
    assert outcome.cut and len(outcome.data) == fetching.MAX_TEXT


def test_what_is_compressed_and_never_becomes_anything_ends_too(site: Site, options: FetchOptions) -> None:
    outcome = page(body(site, options, Reply(nothing_packed, headers=HTML | {"Content-Encoding": "gzip"})))
    assert outcome.cut and outcome.data == b""


@pytest.mark.parametrize("coding", ["compress", "gzip, gzip", "made up"])
def test_a_compression_that_was_not_asked_for_is_refused(coding: str, site: Site, options: FetchOptions) -> None:
    outcome = body(site, options, Reply(b"????", headers=HTML | {"Content-Encoding": coding}))
    assert cause(outcome) == "it is compressed in a way that was not asked for"


def test_a_broken_compression_is_refused(site: Site, options: FetchOptions) -> None:
    outcome = body(site, options, Reply(b"no gzip at all", headers=HTML | {"Content-Encoding": "gzip"}))
    assert cause(outcome) == "it cannot be decompressed"


def test_a_pdf_that_is_too_large_is_refused_since_its_beginning_is_of_no_use(site: Site, options: FetchOptions) -> None:
    def pdf() -> Iterator[bytes]:
        yield b"%PDF-1.4\n"
        while True:
            yield b"%" * 65_536

    for media in ("application/pdf", "text/html"):
        assert cause(body(site, options, Reply(pdf, headers={"Content-Type": media}))) == "it is larger than 20 MB"


@pytest.mark.parametrize(
    ("media", "content", "kind"),
    [
        ("text/plain", b"text", "text"),
        ("text/markdown; charset=utf-8", b"# text", "text"),
        ("application/xhtml+xml", b"<html/>", "html"),
        ("", b"<!DOCTYPE html><p>text", "html"),
        ("application/octet-stream", b"%PDF-1.7 ...", "pdf"),
        ("text/html", b"%PDF-1.7 ...", "pdf"),
        ("", b"only text", "text"),
    ],
)
def test_the_kind_of_a_page_is_told_by_its_type_or_its_first_bytes(
    media: str, content: bytes, kind: str, site: Site, options: FetchOptions
) -> None:
    headers = {"Content-Type": media} if media else {}
    assert page(body(site, options, Reply(content, headers=headers))).kind == kind


def test_other_content_is_refused(site: Site, options: FetchOptions) -> None:
    image = Reply(b"\x89PNG", headers={"Content-Type": "image/png"})
    assert cause(body(site, options, image)) == "its content type is image/png"
    assert cause(body(site, options, Reply(b"\x89PNG\0\0", headers={}))) == "it is neither text nor PDF"


def test_a_content_type_cannot_move_the_cursor(site: Site, options: FetchOptions) -> None:
    outcome = body(site, options, Reply(b"", headers={"Content-Type": "text/\x9b31mred"}))
    assert "\x9b" not in cause(outcome)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(seconds=60), "no answer within 0.4 seconds"),
        (Reply(dripping, headers=HTML), "it was not all there within 0.4 seconds"),
    ],
    ids=["silent", "dripping"],
)
def test_a_slow_page_is_given_up_at_the_deadline_and_the_others_are_not(
    reply: Reply, expected: str, site: Site, options: FetchOptions
) -> None:
    site.replies["/slow"] = reply
    found = dict(fetch([site.url("/slow"), site.url("/")], replace(options, deadline=0.4)))
    assert cause(found[site.url("/slow")]) == expected
    page(found[site.url("/")])


def test_a_name_that_is_not_found_in_time_holds_nothing_up(site: Site, options: FetchOptions) -> None:
    ended = threading.Event()

    def slow(host: str, port: int) -> list[str]:
        ended.wait(30)
        return [PUBLIC]

    before = time.monotonic()
    outcome = one(site.url("/"), replace(options, resolve=slow, deadline=0.2))
    waited = time.monotonic() - before
    ended.set()
    assert cause(outcome) == "no answer within 0.2 seconds"
    assert waited < 20


def test_a_server_that_is_not_there_is_a_cause(options: FetchOptions) -> None:
    with serving({}) as gone:
        url = gone.url("/")
    assert cause(one(url, options)).startswith("no connection: ")


def test_one_host_is_asked_for_two_pages_at_a_time(site: Site, options: FetchOptions) -> None:
    site.replies |= {f"/{n}": Reply(article("A page."), seconds=0.3) for n in range(5)}
    outcomes = dict(fetch([site.url(f"/{n}") for n in range(5)], options))
    assert site.most_at_once == 2
    assert all(isinstance(outcome, Fetched) for outcome in outcomes.values())


def test_a_page_whose_turn_does_not_come_says_so(site: Site, options: FetchOptions) -> None:
    site.replies |= {f"/{n}": Reply(seconds=60) for n in range(3)}
    outcomes = dict(fetch([site.url(f"/{n}") for n in range(3)], replace(options, deadline=0.5)))
    causes = sorted(cause(outcome) for outcome in outcomes.values())
    assert causes[0].startswith("its turn did not come, after other pages of its host, within")
    assert causes[1:] == ["no answer within 0.5 seconds"] * 2


def test_different_hosts_are_asked_at_the_same_time(site: Site, options: FetchOptions) -> None:
    site.replies["/"] = Reply(article("A page."), seconds=0.5)
    urls = [site.url("/", f"site-{n}.example") for n in range(8)]
    assert all(isinstance(outcome, Fetched) for _, outcome in fetch(urls, options))
    assert site.most_at_once == 8


def test_the_same_address_is_asked_once(site: Site, options: FetchOptions) -> None:
    assert len(list(fetch([site.url("/")] * 3, options))) == 1
    assert site.seen["/"] == 1


def test_it_works_inside_a_running_event_loop(site: Site, options: FetchOptions) -> None:
    async def inside() -> Outcome:
        return one(site.url("/"), options)

    page(asyncio.run(inside()))


def test_it_works_in_a_thread(site: Site, options: FetchOptions) -> None:
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(one(site.url("/"), options)))
    thread.start()
    thread.join(10)
    page(found[0])


def test_who_stops_listening_ends_the_fetching(site: Site, options: FetchOptions) -> None:
    site.replies["/slow"] = Reply(seconds=60)
    outcomes = fetch([site.url("/"), site.url("/slow")], options)
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if "portal" in thread.name]
