"""The formats that are not plain text: HTML, PDF and Word. Each reader takes a file's bytes."""

from __future__ import annotations

import re
import zipfile
from datetime import UTC, date, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

from search.text import Content, UnreadableError, decode, one_line

if TYPE_CHECKING:
    from pypdf import PdfReader

Kind = Literal["html", "text", "pdf", "docx"]

MAX_UNZIPPED = 100_000_000  # bytes; a Word file that unzips to more is not read

_CHARSET = re.compile(rb"charset\s{0,5}=\s{0,5}[\"']?([\w.:-]{2,40})", re.IGNORECASE)
# Finding the main text takes time with the square of their number: about a second for as many.
MAX_ELEMENTS = 20_000

# XML knows no other control characters; lxml refuses them, written as they are or as numbers.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|&#(?:0*(\d{1,3})|x0*([0-9a-f]{1,2}))(?:;|(?![0-9a-f]))", re.I)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_DATE_MARKUP = (
    "//meta[not(re:test(concat(@name, @property), 'description|title|keywords', 'i'))]"
    " | //link[@rel='canonical'] | //script[@type='application/ld+json']"
)
# Every document made with python-docx bears the date of its template, until someone sets another.
_DOCX_TEMPLATE_DATE = datetime(2013, 12, 23, 23, 15, tzinfo=UTC)


def html(data: bytes, charset: str | None = None) -> Content:
    """The main text of a web page as Markdown; the whole text of its body where no main text is found.

    A page of more than `MAX_ELEMENTS` is taken whole, too.

    `charset` is what its server calls its encoding: it goes before what the page itself says.
    """
    import trafilatura
    from trafilatura.baseline import html2txt
    from trafilatura.utils import load_html

    declared = _CHARSET.search(data[:2048])
    page = decode(data, charset or (declared.group(1).decode("ascii") if declared else None))
    page = _CONTROLS.sub(_printable, page)
    tree = load_html(page)
    if tree is None:
        tree = load_html(f"<html><body><div>{page}</div></body></html>")
    if tree is None:
        raise UnreadableError("it is not HTML")
    published = _html_date(tree)
    title = next((element.text_content() for element in tree.iter("title")), "")
    text = None
    if sum(1 for _ in tree.iter()) <= MAX_ELEMENTS:
        # Everything, since these pages were chosen: leaving out a section would hide what it says.
        text = trafilatura.extract(tree, output_format="markdown", include_comments=False, favor_recall=True)
    return Content(text or html2txt(tree), title, published, "metadata" if published else None)


def _printable(found: re.Match[str]) -> str:
    """A blank for a control character; a number that stands for another character stays."""
    decimal, hexadecimal = found.groups()
    code = int(decimal) if decimal else int(hexadecimal or "0", 16)
    return found.group() if code in (9, 10, 13) or 32 <= code < 127 or code >= 160 else " "


def _html_date(tree: Any) -> date | None:
    """The publication date in the page's markup, else the date of its last change.

    htmldate goes on to guess from running text, so it is given a page that holds the markup alone. It gets a tree,
    because it would fetch a text that looks like an address.
    """
    from copy import deepcopy

    from htmldate import find_date

    page = tree.makeelement("html")
    head = tree.makeelement("head")
    page.append(head)
    for element in tree.xpath(_DATE_MARKUP, namespaces={"re": "http://exslt.org/regular-expressions"}):
        copied = deepcopy(element)
        copied.tail = None
        head.append(copied)
    page.append(tree.makeelement("body"))
    found = find_date(page, extensive_search=False, original_date=True)
    return date.fromisoformat(found) if found else None


def pdf(data: bytes) -> Content:
    """The text of a PDF, page after page; a page that can't be read is a warning."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("it is encrypted and needs a password")
        pages, warnings = [], []
        for number, page in enumerate(reader.pages, 1):
            try:
                pages.append(page.extract_text())
            except DependencyError:
                raise
            except Exception as error:  # noqa: BLE001 - one damaged page can raise anything, and isn't the whole file
                warnings.append(f"page {number} was left out, for it is damaged ({_cause(error)})")
    except DependencyError as error:
        raise UnreadableError(f"a package that reads it is missing ({one_line(str(error))})", lasting=False) from None
    text = "\n\n".join(pages).translate(_LIGATURES)
    if not text.strip():
        left_out = f"; {'; '.join(warnings)}" if warnings else ""
        raise UnreadableError(f"no text was found in it; a scanned PDF needs text recognition (OCR) first{left_out}")
    # A word cut at the end of a line could not be found by its name.
    text = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", text)
    try:
        title, published = _pdf_properties(reader)
    except Exception as error:  # noqa: BLE001 - damaged properties can raise anything, and the text is fine
        title, published = "", None
        warnings.append(f"its title and date were left out, for they are damaged ({_cause(error)})")
    return Content(text, title, published, "metadata" if published else None, tuple(warnings))


def _pdf_properties(reader: PdfReader) -> tuple[str, date | None]:
    properties = reader.metadata
    if properties is None:
        return "", None
    title = (properties.title or "").removeprefix("Microsoft Word - ")
    made = properties.creation_date or properties.modification_date
    return title, made.date() if made else None


def docx(data: bytes) -> Content:
    """The paragraphs and tables of a Word document; its headings become Markdown headings."""
    from docx import Document
    from docx.table import Table

    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except zipfile.BadZipFile:
        raise UnreadableError(
            "it is not a .docx file; an encrypted or an old Word file must be saved as .docx"
        ) from None
    if size > MAX_UNZIPPED:
        raise UnreadableError(f"it unzips to {size / 1e6:.0f} MB, and {MAX_UNZIPPED / 1e6:.0f} MB are read at most")
    document = Document(BytesIO(data))
    blocks = []
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            rows = (" | ".join(" ".join(cell.text.split()) for cell in row.cells) for row in block.rows)
            blocks.append("\n".join(f"| {row} |" for row in rows))
        else:
            style = (block.style.name if block.style else None) or ""
            level = re.match(r"(?:Title|Heading ([1-6]))$", style)
            mark = "#" * int(level.group(1) or 1) + " " if level else ""
            blocks.append(mark + block.text)
    properties = document.core_properties
    made = next((day for day in (properties.created, properties.modified) if day and day != _DOCX_TEMPLATE_DATE), None)
    published = made.date() if made else None
    return Content("\n\n".join(blocks), properties.title, published, "metadata" if published else None)


def _cause(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(str(error))}"
