"""Reading one file: its text, its title, its date, and where the date came from."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

from search import formats
from search.folder import Entry
from search.passages import first_heading
from search.text import Content, UnreadableError, clean, decode, one_line

MAX_BYTES = 50_000_000  # a larger file is not read

# The front matter keys that a date is taken from, the first that there is; publication comes before revision.
DATE_KEYS = (
    "date",
    "published",
    "publish_date",
    "created",
    "updated",
    "last_updated",
    "last_modified",
    "lastmod",
    "last_reviewed",
)
_DATE_FORMATS = ("%Y/%m/%d", "%Y%m%d", "%Y-%m", "%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%d.%m.%Y")
_NAME_DATES = (
    re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)"),
    re.compile(r"(?<!\d)((?:19|20)\d\d)([-_])(\d\d)(?!\d)"),
)
_CHATTY = ("pypdf", "trafilatura", "htmldate", "charset_normalizer", "justext", "courlan")


def read(entry: Entry) -> Content:
    """Text, title and date of one file, by its extension.

    The title is that of the front matter, the page or the document properties, else the first heading, else the
    file's name. The date is that of the front matter (`DATE_KEYS`), else of the metadata (HTML meta tags and JSON-LD,
    PDF and Word properties), else in the file's name (2024-03-01, 20240301, 2024-03), else the file's last change
    (UTC). No date is guessed from running text.

    Raises:
        UnreadableError: whatever is wrong with the file; reading it never raises anything else.
    """
    readers = {".pdf": formats.pdf, ".docx": formats.docx, ".html": formats.html, ".htm": formats.html}
    path = entry.path
    if entry.size > MAX_BYTES:
        raise UnreadableError(f"it has {entry.size / 1e6:.0f} MB, and {MAX_BYTES / 1e6:.0f} MB are read at most")
    try:
        data = path.read_bytes()
        if not data.strip():
            raise UnreadableError("it is empty")
        with quiet():
            content = readers.get(path.suffix.lower(), _plain)(data)
    except UnreadableError:
        raise
    except (OSError, MemoryError) as error:
        raise UnreadableError(getattr(error, "strerror", None) or type(error).__name__, lasting=False) from error
    except ImportError as error:
        raise UnreadableError(f"a package that reads it is missing ({one_line(str(error))})", lasting=False) from error
    except Exception as error:  # a damaged file can make its parser raise anything
        raise UnreadableError(f"it is damaged ({type(error).__name__}: {one_line(str(error))})") from error
    text = clean(content.text)
    if not text:
        raise UnreadableError("no text was found in it")
    published, published_from = content.published, content.published_from
    if published is None and (published := _date_in_name(path.stem)):
        published_from = "name"
    if published is None and (published := _last_change(entry)):
        published_from = "mtime"
    title = one_line(clean(content.title)) or first_heading(text) or path.stem
    return Content(text, title, published, published_from, content.warnings)


def _plain(data: bytes) -> Content:
    """A Markdown or text file, with its YAML front matter where it has one."""
    import yaml  # type: ignore[import-untyped]
    from frontmatter import YAMLHandler

    text = clean(decode(data))
    handler = YAMLHandler()
    if not handler.detect(text):
        return Content(text)
    try:
        matter, body = handler.split(text)
        found = handler.load(matter)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        cause = one_line(str(error)) or type(error).__name__
        return Content(text, warnings=(f"its front matter was taken as text, for it is not valid YAML ({cause})",))
    if not isinstance(found, dict):
        return Content(text)
    matter = {str(key).lower().replace("-", "_"): value for key, value in found.items()}
    given = [(key, matter[key]) for key in DATE_KEYS if matter.get(key)]
    published = next((day for _, value in given if (day := _as_date(value))), None)
    warnings = tuple(
        f"the {key} in its front matter is not a date ({one_line(value[:50]) if isinstance(value, str) else 'no text'})"
        for key, value in given
        if _as_date(value) is None
    )
    title = matter.get("title")
    title = str(title) if isinstance(title, str | int | float) else ""
    return Content(body, title, published, "front matter" if published else None, warnings)


def _as_date(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    text = str(value).strip() if isinstance(value, str | int) else ""
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        pass
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    return None


def _date_in_name(stem: str) -> date | None:
    for pattern in _NAME_DATES:
        for match in pattern.finditer(stem):
            year, _, *rest = match.groups()
            try:
                return date(int(year), *(int(part) for part in [*rest, "1"][:2]))
            except ValueError:
                continue
    return None


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the parsers' log lines away: what stops a file from being read comes as an exception."""
    loggers = [logging.getLogger(name) for name in _CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _last_change(entry: Entry) -> date | None:
    try:
        return datetime.fromtimestamp(entry.mtime_ns / 1e9, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None
