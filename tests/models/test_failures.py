"""What the user reads when a model call fails."""

from __future__ import annotations

from typing import Any

import pytest
from fake_openai import KEY, Endpoint, Reply, completion

from regen.errors import ConfigurationError, ProviderError, RegenError
from regen.models import choose, make_lm
from regen.models.failures import translate
from regen.quiet import import_dspy
from regen.settings import Settings

dspy = import_dspy()


def failed(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, reply: Reply, **given: Any) -> RegenError:
    """What a call that gets `reply` is translated to."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint.replies = [reply]
    settings = Settings(model="openai/m", api_base=endpoint.url, retries=0, **given)
    try:
        make_lm(choose(settings), settings)("Hi")
    except Exception as exc:  # noqa: BLE001 - whatever comes out is what is translated
        return translate(exc)
    raise AssertionError("the call did not fail")


@pytest.mark.parametrize(
    ("status", "message", "kind", "words"),
    [
        (401, f"Incorrect API key provided: {KEY}", ConfigurationError, "refused the key for openai/m: check OPENAI"),
        (402, "Pay up", ProviderError, "no credit or quota left"),
        (404, "The model m does not exist", ConfigurationError, "has no model openai/m"),
        (400, "maximum context length is 4096 tokens", ProviderError, "lower -k"),
        (400, "Bad value", ProviderError, "refused the call to openai/m: Bad value"),
        (500, "Boom", ProviderError, "try again later"),
    ],
)
def test_cause_and_way_out_are_named_without_the_key(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, status: int, message: str, kind: type[RegenError], words: str
) -> None:
    body = {"error": {"message": message, "type": "x", "code": None}}
    error = failed(endpoint, monkeypatch, Reply(body, status=status))
    assert type(error) is kind
    assert words in str(error)
    assert KEY not in str(error)
    assert "\n" not in str(error)


def test_rate_limit_says_how_long_to_wait(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"error": {"message": "Slow down", "type": "x", "code": None}}
    error = failed(endpoint, monkeypatch, Reply(body, status=429, headers={"Retry-After": "20"}))
    assert "wait 20 seconds" in str(error)


def test_slow_model_and_garbage_are_told(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = failed(endpoint, monkeypatch, Reply(completion(), delay=0.5), timeout=0.1)
    assert "did not answer in time" in str(slow)
    assert "is not JSON" in str(failed(endpoint, monkeypatch, Reply(b"<html>")))


def test_dead_endpoint_is_named(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.server.server_close()
    error = failed(endpoint, monkeypatch, Reply({}))
    assert f"Cannot reach {endpoint.url}" in str(error)
    assert "is it running" in str(error)


def test_our_own_error_comes_back_as_it_was() -> None:
    ours = ConfigurationError("No weights here.")
    wrapped = dspy.utils.exceptions.LMUnexpectedError("No weights here.")
    wrapped.__cause__ = ours
    assert translate(wrapped) is ours


def test_answer_without_the_fields_asked_for_is_told() -> None:
    error = dspy.utils.exceptions.AdapterParseError("ChatAdapter", dspy.Signature("question -> answer"), "gibberish")
    assert "does not have the fields" in str(translate(error))
    assert "gibberish" not in str(translate(error))
