"""What is read from a file, and bytes made into clean text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b")
_UNPRINTABLE = dict.fromkeys([*(c for c in range(32) if chr(c) not in "\t\n"), *range(127, 160), 0xAD, 0xFEFF])

# Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese: scripts that put no spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af]"
)
_LETTER = re.compile(r"[^\W\d_]")


class UnreadableError(Exception):
    """A file that holds no text we can read. Its message is the cause, as the end of a sentence.

    `lasting` is whether it stays so until the file changes; a missing permission or package can be given meanwhile.
    """

    def __init__(self, cause: str, *, lasting: bool = True) -> None:
        super().__init__(cause)
        self.lasting = lasting


@dataclass(frozen=True)
class Content:
    """What one format's reader found in a file."""

    text: str
    title: str = ""
    published: date | None = None
    published_from: Literal["front matter", "metadata", "name", "mtime"] | None = None
    warnings: tuple[str, ...] = ()


def decode(data: bytes, declared: str | None = None) -> str:
    """The text in `data`: by its byte order mark, the `declared` encoding, UTF-8, UTF-16, else the likeliest one.

    Raises:
        UnreadableError: it is not text.
    """
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    zeros = (data[::2].count(0), data[1::2].count(0))
    if max(zeros) > len(data) / 3 and min(zeros) == 0:
        return data.decode("utf-16-le" if zeros[1] else "utf-16-be", "replace")
    if any(zeros) or len(data) - len(data.translate(None, _CONTROLS)) > len(data) / 100:
        raise UnreadableError("it is a binary file, not text")
    for encoding in filter(None, (declared, "utf-8")):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if sum(byte > 127 for byte in data[:10_000]) > len(data[:10_000]) / 5:
        from charset_normalizer import from_bytes

        if best := from_bytes(data).best():
            return str(best)
    # On mostly ASCII text, guessing takes a pound sign for Japanese; Western is the likelier one there.
    return data.decode("cp1252", "replace")


def clean(text: str) -> str:
    """`text` without control characters, lone surrogates, trailing blanks and more than one blank line in a row."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    lines = (line.translate(_UNPRINTABLE).rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def one_line(text: str) -> str:
    """`text` on one line of at most 200 characters."""
    return " ".join(text[:1000].split())[:200]


def is_unspaced(text: str) -> bool:
    """Whether most letters of a text are of a script that puts no spaces between words."""
    letters = "".join(_LETTER.findall(text))
    return 2 * len(_UNSPACED.findall(letters)) > len(letters)
