"""A clean environment for each test, and the fake endpoint."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_openai import Endpoint


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting, key or `.env` of the machine reaches a test, and its cache is its own."""
    for name in list(os.environ):
        if name.startswith("REGEN_") or name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("REGEN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("REGEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    fake = Endpoint()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
