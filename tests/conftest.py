"""A fresh home for each test, and a language model whose replies the test writes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# DSPy opens its cache when it is imported, before any fixture can name another place for it.
_DSPY_CACHE = tempfile.TemporaryDirectory(prefix="regen-tests-")
os.environ["DSPY_CACHEDIR"] = _DSPY_CACHE.name


@pytest.fixture(autouse=True)
def fresh_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting, key, cache or `.env` of the machine reaches a test, and what it writes is its own."""
    for name in list(os.environ):
        ours = name.startswith(("REGEN_", "GOOGLE_", "VERTEX_", "OPENSEARCH_", "DDGS_"))
        if ours or name.endswith(("_API_KEY", "_API_BASE", "_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("REGEN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("REGEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name.lower()))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def scripted_lm() -> Callable[..., Any]:
    """Makes a `dspy.LM` from a function of (system text, user text, request): see `scripted.ScriptedEngine`.

    `lm.engine.requests` holds what it was asked; it gives log-probabilities where `gives_logprobs` says so.
    """
    import dspy
    from scripted import Script, ScriptedEngine

    def make(script: Script, *, gives_logprobs: bool = False, model: str = "scripted/x") -> Any:
        engine = ScriptedEngine(script, gives_logprobs=gives_logprobs)
        return dspy.LM(model, engine=engine, cache=False, num_retries=0)

    return make


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="record the cassettes anew from the embedded model")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A process a core, but none beside this one for the embedded model, which takes all cores itself."""
    return 0 if config.getoption("--record") or config.option.markexpr == "model" else None


@pytest.fixture
def recording(request: pytest.FixtureRequest) -> bool:
    """Whether cassettes are to be recorded."""
    return bool(request.config.getoption("--record"))
