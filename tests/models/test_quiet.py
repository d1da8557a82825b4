"""What importing and building models must not do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SETUP = """
import socket, sys
def refuse(*args, **kwargs):
    print("socket:", args)
    raise OSError("no network in this test")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from regen.models import choose, make_lm
from regen.settings import Settings
"""


def run(script: str, home: Path) -> str:
    environment = {
        "HOME": str(home),
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_API_KEY": "k",
        "REGEN_CACHE_DIR": str(home / "c"),
    }
    done = subprocess.run(
        [sys.executable, "-c", SETUP + script], env=environment, capture_output=True, text=True, cwd=home, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("model", ["openai/gpt-4.1-mini", "openai/gpt-5-mini", "anthropic/claude-haiku-4-5"])
def test_building_an_lm_opens_no_socket_and_leaves_nothing_in_the_home(model: str, tmp_path: Path) -> None:
    script = f"""
settings = Settings(model={model!r})
lm = make_lm(choose(settings), settings)
print(lm.supports_response_schema)
"""
    assert run(script, tmp_path) == "True\n"
    assert {path.name for path in tmp_path.iterdir()} <= {"c"}


def test_choosing_imports_nothing_heavy(tmp_path: Path) -> None:
    script = """
choose(Settings())
print([name for name in ("dspy", "openai", "litellm", "xllamacpp", "huggingface_hub", "httpx") if name in sys.modules])
"""
    assert run(script, tmp_path) == "[]\n"
