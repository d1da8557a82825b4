"""Small worlds for the search tests: a folder, a search over it with a cache of its own, and minimal PDFs."""

from collections.abc import Callable
from pathlib import Path

import pytest

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

    def build(*pages: str, **info: str) -> bytes:
        kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
        objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            "<< " + " ".join(f"/{key} ({value})" for key, value in info.items()) + " >>",
        ]
        for n, text in enumerate(pages):
            stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
            objects.append(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
                f" /Resources << /Font << /F1 3 0 R >> >> /Contents {6 + 2 * n} 0 R >>"
            )
            objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        body, offsets = "%PDF-1.4\n", []
        for number, content in enumerate(objects, 1):
            offsets.append(len(body))
            body += f"{number} 0 obj\n{content}\nendobj\n"
        table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
        trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
        return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")

    return build
