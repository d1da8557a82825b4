"""What a folder of documents holds: the files to read, and those that are passed over."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

READABLE = (".md", ".txt", ".html", ".htm", ".pdf", ".docx")
_SKIPPED = {"node_modules", "__pycache__"}


@dataclass(frozen=True)
class Entry:
    """One file to read, and the two figures that tell whether it changed: bytes, and nanoseconds since 1970."""

    path: Path
    size: int
    mtime_ns: int


@dataclass
class Listing:
    """The readable files by their path in the folder (with "/"), warnings, and how many have another extension."""

    files: dict[str, Entry] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    others: int = 0


def listing(folder: Path) -> Listing:
    """The documents in `folder`, an absolute path without links in it, and in its subfolders.

    Hidden files and folders (.git), node_modules and Word's lock files (~$...) are passed over. No link to a folder
    is followed. A link to a file is, when that file lies in `folder` and isn't listed under its own name. Links that
    lead out of `folder`, and what the system refuses, are in the warnings.
    """
    found = Listing()
    links: list[tuple[str, Path]] = []
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as scan:
                entries = list(scan)
        except OSError as error:
            found.warnings.append(f"{_shown(error.filename, folder)} was not read: {error.strerror}.")
            continue
        for entry in entries:
            if entry.name.startswith((".", "~$")) or entry.name in _SKIPPED:
                continue
            path = Path(entry.path)
            if entry.is_symlink():
                links.append((entry.path, path))
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            else:
                _add(found, folder, path)
    seen = {entry.path for entry in found.files.values()}
    for _, link in sorted(links):
        target = Path(os.path.realpath(link))
        if not target.is_relative_to(folder):
            if target.is_dir() or link.suffix.lower() in READABLE:
                found.warnings.append(f"{_shown(link, folder)} was not read: it is a link out of the folder.")
        elif not target.is_dir() and target not in seen:
            seen.add(target)
            _add(found, folder, link)
    found.warnings.sort()
    return found


def _add(found: Listing, folder: Path, path: Path) -> None:
    """Put one file where it belongs in `found`."""
    shown = _shown(path, folder)
    if path.suffix.lower() not in READABLE:
        found.others += 1
        return
    try:
        status = path.stat()
    except OSError as error:
        found.warnings.append(f"{shown} was not read: {error.strerror}.")
        return
    name = path.relative_to(folder).as_posix()
    if not path.is_file():
        # Opening a pipe or a device can wait for ever.
        found.warnings.append(f"{shown} was not read: it is not a regular file.")
    elif shown != name:
        found.warnings.append(f"{shown} was not read: its name is not valid Unicode; rename it.")
    else:
        found.files[name] = Entry(path, status.st_size, status.st_mtime_ns)


def _shown(path: Path | str, folder: Path) -> str:
    """The path in the folder as it can be printed, whatever bytes are in it."""
    name = Path(path).relative_to(folder).as_posix()
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
