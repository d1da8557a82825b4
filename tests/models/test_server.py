"""The server of the embedded model. Tests that need the model itself are marked `model`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import httpx
import pytest

from regen.errors import ConfigurationError
from regen.models import choose, gives_logprobs, make_lm, server
from regen.models.failures import translate
from regen.quiet import import_dspy
from regen.settings import Settings


def test_missing_xllamacpp_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigurationError, match=r"regen\[local\]"):
        server.start(tmp_path / "model.gguf")


def test_file_that_is_no_model_is_told_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + b"x" * 100)
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        server.start(path)
    assert capfd.readouterr() == ("", "")


def test_saved_lm_of_the_embedded_model_starts_with_its_first_call(tmp_path: Path) -> None:
    from regen.models.embedded import AsyncEmbeddedEngine, EmbeddedEngine

    dspy = import_dspy()
    path = tmp_path / "gone.gguf"
    lm = dspy.LM("embedded/gone", engine=EmbeddedEngine(path), async_engine=AsyncEmbeddedEngine(path), num_retries=0)
    loaded = dspy.LM.load_state(lm.dump_state(), allow_custom_lm_class=True)
    assert gives_logprobs(loaded)
    pytest.importorskip("xllamacpp")
    with pytest.raises(dspy.utils.exceptions.LMUnexpectedError) as caught:
        loaded("Hi")
    assert isinstance(translate(caught.value), ConfigurationError)


@pytest.mark.model
def test_embedded_model_answers_with_logprobs_and_only_to_us(capfd: pytest.CaptureFixture[str]) -> None:
    path = os.environ.get("TEST_MODEL_PATH")
    if not path:
        pytest.skip("TEST_MODEL_PATH names no model file")
    settings = Settings(model=path)
    lm = make_lm(choose(settings), settings)
    (answer,) = lm("Is water wet? Yes or no?", max_tokens=1, logprobs=True, top_logprobs=5)
    assert len(answer["logprobs"].content[0].top_logprobs) == 5
    (again,) = asyncio.run(lm.acall("Is water wet? Yes or no?", max_tokens=1, logprobs=True, top_logprobs=5))
    assert again["text"] == answer["text"]
    assert lm.history[-1]["usage"]["prompt_tokens_details"]["cached_tokens"] > 0

    running = server.start(Path(path))
    assert httpx.post(f"{running.base_url}/chat/completions", json={"messages": []}).status_code == 401
    assert capfd.readouterr().out == ""
