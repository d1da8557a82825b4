"""Which model is chosen, why, and what is missing for it."""

from __future__ import annotations

import threading
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from fake_openai import Endpoint, Reply, completion

from regen.errors import ConfigurationError, ProviderError
from regen.models import choose, gives_logprobs, limiter, make_lm
from regen.settings import Settings


def settings(**given: Any) -> Settings:
    return Settings(**given)


def test_nothing_set_means_the_embedded_model() -> None:
    choice = choose(settings())
    assert (choice.kind, choice.model) == ("embedded", "embedded/qwen2.5-coder-1.5b-instruct-q4_k_m")
    assert (choice.why, choice.missing, choice.logprobs) == (
        "no model is named and no provider's key is set",
        None,
        True,
    )


@pytest.mark.parametrize(
    ("variable", "model", "kind"),
    [
        ("OPENAI_API_KEY", "openai/gpt-4.1-mini", "openai-compatible"),
        ("GEMINI_API_KEY", "gemini/gemini-3.6-flash", "openai-compatible"),
        ("OPENROUTER_API_KEY", "openrouter/openai/gpt-4.1-mini", "openai-compatible"),
        ("ANTHROPIC_API_KEY", "anthropic/claude-haiku-4-5", "litellm"),
    ],
)
def test_key_in_the_environment_picks_its_provider(
    monkeypatch: pytest.MonkeyPatch, variable: str, model: str, kind: str
) -> None:
    monkeypatch.setenv(variable, "k")
    choice = choose(settings())
    assert (choice.model, choice.kind, choice.why, choice.missing) == (model, kind, f"{variable} is set", None)


def test_key_of_google_search_picks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    assert choose(settings()).kind == "embedded"


def test_named_model_comes_before_any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choose(settings(model="embedded")).kind == "embedded"


def test_judge_has_its_own_model_or_the_answering_one() -> None:
    both = settings(model="ollama/qwen3", judge_model="embedded")
    assert (choose(both).model, choose(both, "judge").kind) == ("ollama/qwen3", "embedded")
    assert choose(settings(model="ollama/qwen3"), "judge").model == "ollama/qwen3"


@pytest.mark.parametrize(
    ("model", "address", "wire_model", "logprobs"),
    [
        ("openai/gpt-4.1-mini", "https://api.openai.com/v1", "gpt-4.1-mini", True),
        ("gpt-4.1-mini", "https://api.openai.com/v1", "gpt-4.1-mini", True),
        ("openai/gpt-5-mini", "https://api.openai.com/v1", "gpt-5-mini", False),
        ("openai/o3", "https://api.openai.com/v1", "o3", False),
        ("gemini/gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", False),
        ("openrouter/qwen/qwen3-8b", "https://openrouter.ai/api/v1", "qwen/qwen3-8b", False),
        ("ollama/qwen3:8b", "http://localhost:11434/v1", "qwen3:8b", False),
    ],
)
def test_known_prefix_gives_the_address_and_the_name_on_the_wire(
    model: str, address: str, wire_model: str, logprobs: bool
) -> None:
    choice = choose(settings(model=model, api_key="k"))
    assert (choice.api_base, choice.wire_model, choice.logprobs) == (address, wire_model, logprobs)
    assert (choice.kind, choice.missing) == ("openai-compatible", None)


@pytest.mark.parametrize(
    ("model", "wire_model", "logprobs"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", False),
        ("openai/Qwen/Qwen3-8B", "Qwen/Qwen3-8B", False),
        ("hosted_vllm/Qwen/Qwen3-8B", "Qwen/Qwen3-8B", True),
        ("llamacpp/any", "any", True),
        ("plain", "plain", False),
    ],
)
def test_any_model_at_an_address_of_ones_own(model: str, wire_model: str, logprobs: bool) -> None:
    choice = choose(settings(model=model, api_base="http://localhost:8000/v1"))
    assert (choice.api_base, choice.wire_model) == ("http://localhost:8000/v1", wire_model)
    assert (choice.kind, choice.missing, choice.logprobs) == ("openai-compatible", None, logprobs)


def test_variables_of_the_providers_name_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://proxy.example/v1")
    monkeypatch.setenv("OLLAMA_API_BASE", "http://gpu:11434")
    assert choose(settings(model="openai/gpt-4.1")).api_base == "https://proxy.example/v1"
    assert choose(settings(model="ollama/qwen3")).api_base == "http://gpu:11434/v1"


@pytest.mark.parametrize(
    ("model", "names"),
    [
        ("openai/gpt-4.1", "OPENAI_API_KEY"),
        ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-3.6-flash", "GEMINI_API_KEY"),
        ("hosted_vllm/x", "REGEN_API_BASE"),
        ("openai/", "no name"),
        ("missing.gguf", "cannot be read"),
        ("embedded/another", "only 'embedded/qwen2.5"),
    ],
)
def test_what_is_missing_is_named(model: str, names: str) -> None:
    choice = choose(settings(model=model))
    assert choice.missing is not None
    assert names in choice.missing
    with pytest.raises(ConfigurationError) as caught:
        make_lm(choice, settings(model=model))
    assert names in str(caught.value)


def test_address_without_a_scheme_is_told() -> None:
    missing = choose(settings(api_base="localhost:8000/v1")).missing
    assert missing == "The address 'localhost:8000/v1' must begin with http:// or https://."


def test_key_without_a_model_is_told() -> None:
    assert "REGEN_API_KEY is set, but" in (choose(settings(api_key="k")).missing or "")


def test_file_named_by_flag_or_setting_is_a_local_model(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF....")
    for given in ({"model": str(path)}, {"model_path": path}, {"model": "embedded", "model_path": path}):
        choice = choose(settings(**given))
        assert (choice.kind, choice.model, choice.path) == ("embedded", "embedded/own", path)


def test_lm_is_built_with_the_settings(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(completion("Yes."))]
    given = settings(model="openai/m", api_base=endpoint.url, api_key="k", temperature=0.3, seed=4, max_tokens=77)
    lm = make_lm(choose(given), given)
    assert lm("Hi") == ["Yes."]
    body = endpoint.requests[0]["body"]
    assert {name: body[name] for name in ("model", "temperature", "seed", "max_tokens")} == {
        "model": "m",
        "temperature": 0.3,
        "seed": 4,
        "max_tokens": 77,
    }
    assert (lm.cache, lm.num_retries, gives_logprobs(lm)) == (False, 3, False)


def test_reasoning_model_gets_no_temperature_and_room_to_think(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    given = settings(model="openai/gpt-5-mini")
    lm = make_lm(choose(given), given)
    assert (lm.kwargs["temperature"], lm.kwargs["max_completion_tokens"]) == (None, 16000)
    assert "seed" not in lm.kwargs


def test_litellm_model_is_built_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    lm = make_lm(choose(settings()), settings())
    assert (lm.model, lm.engine) == ("anthropic/claude-haiku-4-5", "litellm")
    assert not gives_logprobs(lm)


def test_litellm_model_keeps_to_the_limit_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    given = settings(concurrency=1)
    lm = make_lm(choose(given), given)
    called = threading.Event()
    monkeypatch.setattr("dspy.LM.__call__", lambda *_, **__: called.set())
    with limiter.PROCESS.slot():
        thread = threading.Thread(target=lm, args=("Hi",))
        thread.start()
        assert not called.wait(0.05)
    thread.join()
    assert called.is_set()
    limiter.limit(8)


def test_endpoint_with_one_model_needs_no_name(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply({"object": "list", "data": [{"id": "only", "object": "model"}]}), Reply(completion())]
    given = settings(api_base=endpoint.url)
    choice = choose(given)
    assert (choice.model, endpoint.requests) == ("", [])
    lm = make_lm(choice, given)
    lm("Hi")
    assert (lm.model, endpoint.requests[1]["body"]["model"]) == ("openai/only", "only")


def test_endpoint_with_several_models_asks_for_a_name(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply({"object": "list", "data": [{"id": "a"}, {"id": "b"}]})]
    given = settings(api_base=endpoint.url)
    with pytest.raises(ConfigurationError, match=r"serves 2 models \(a, b\)"):
        make_lm(choose(given), given)


@pytest.mark.parametrize("body", [{"detail": "no"}, b"<html>", []])
def test_endpoint_that_lists_no_models_is_told(endpoint: Endpoint, body: Any) -> None:
    endpoint.replies = [Reply(body)]
    given = settings(api_base=endpoint.url)
    with pytest.raises((ProviderError, ConfigurationError), match="model"):
        make_lm(choose(given), given)


def built_by_a_package(model: str, settings: Settings) -> tuple[str, int]:
    """Stands for another package's model."""
    return model, settings.seed


def test_other_package_can_register_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("own", f"{__name__}:built_by_a_package", "regen.models")
    monkeypatch.setattr("regen.models.choice.entry_points", lambda group, name: [entry] if name == "own" else [])
    given = settings(model="own/thing", seed=3)
    assert choose(given).kind == "package"
    assert make_lm(choose(given), given) == ("own/thing", 3)
