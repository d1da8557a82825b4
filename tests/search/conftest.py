"""Small worlds for the search tests: a folder, a search over it with a cache of its own, and minimal PDFs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hostile import minimal_pdf

from search.folder import Entry
from search.local import LocalSearch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty documents folder."""
    path = tmp_path / "docs"
    path.mkdir()
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The cache folder of the search, which does not exist yet."""
    return tmp_path / "cache"


@pytest.fixture
def local(folder: Path, cache: Path) -> LocalSearch:
    """A search over `folder`."""
    return LocalSearch(folder, cache=cache)


@pytest.fixture
def entry() -> Callable[[Path], Entry]:
    """What the folder listing says about a file."""

    def of(path: Path) -> Entry:
        status = path.stat()
        return Entry(path, status.st_size, status.st_mtime_ns)

    return of


@pytest.fixture
def pdf() -> Callable[..., bytes]:
    """A PDF with one line of text a page, and the entries of its information dictionary."""

    return minimal_pdf
