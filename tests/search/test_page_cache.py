"""What was read from pages, kept on disk."""

from __future__ import annotations

import pickle
import sqlite3
import time
from datetime import date
from pathlib import Path

import pytest

from search.pagecache import CacheError, PageCache
from search.parse import Page

URL = "https://site.example/page?token=secret"
PAGE = Page(text="What it says.", title="A page", published=date(2021, 3, 4), warnings=["page 3 was left out"])


def test_what_was_put_in_comes_out(tmp_path: Path) -> None:
    PageCache(tmp_path).put(URL, PAGE)
    assert PageCache(tmp_path).get(URL) == PAGE
    assert PageCache(tmp_path).get("https://site.example/other") is None


def test_a_long_page_comes_out_too(tmp_path: Path) -> None:
    page = Page(text="Ein längerer Text. " * 20_000)
    PageCache(tmp_path).put(URL, page)
    assert PageCache(tmp_path).get(URL) == page


def test_a_page_expires(tmp_path: Path) -> None:
    cache = PageCache(tmp_path, days=0.05 / 86400)
    cache.put(URL, PAGE)
    time.sleep(0.1)
    assert cache.get(URL) is None


def test_a_page_of_the_own_network_is_not_given_to_who_may_not_ask_for_it(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.put(URL, PAGE, private=True)
    assert cache.get(URL) is None
    assert cache.get(URL, private=True) == PAGE


def test_addresses_are_not_in_the_cache(tmp_path: Path) -> None:
    PageCache(tmp_path).put(URL, PAGE)
    assert all(b"secret" not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_an_entry_that_is_no_page_counts_as_none(tmp_path: Path) -> None:
    cache = PageCache(tmp_path)
    cache.put(URL, PAGE)
    with sqlite3.connect(tmp_path / "cache.db") as database:
        database.execute("UPDATE Cache SET value = '{\"text\": 3}'")
    assert cache.get(URL) is None


def test_a_pickle_in_the_cache_is_not_loaded(tmp_path: Path) -> None:
    cache = PageCache(tmp_path / "pages")
    cache.put(URL, PAGE)
    code = pickle.dumps(_Touches(tmp_path / "was-run"))
    with sqlite3.connect(tmp_path / "pages" / "cache.db") as database:
        database.execute("UPDATE Cache SET value = ?, mode = 4", (code,))
    with pytest.raises(CacheError):
        cache.get(URL)
    assert not (tmp_path / "was-run").exists()


def test_a_cache_that_cannot_be_used_says_so_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("a file")
    with pytest.raises(CacheError, match=r"The cache of pages in .*pages cannot be used \("):
        PageCache(tmp_path / "pages").get(URL)


def test_a_damaged_cache_says_so(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"no database" * 1000)
    with pytest.raises(CacheError, match="cannot be used"):
        PageCache(tmp_path).put(URL, PAGE)


class _Touches:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)
