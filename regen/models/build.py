"""Makes the `dspy.LM` of a choice: fetches and starts the embedded model, or connects to an API."""

from __future__ import annotations

import os
from typing import Any

from regen.errors import ConfigurationError
from regen.models import limiter, weights
from regen.models.choice import ModelChoice, is_reasoning, package_model
from regen.models.pace import Pace
from regen.models.weights import Note, Progress
from regen.quiet import import_dspy
from regen.settings import Settings

# What a local model may take for one call when no time-out is set: a long prompt is read at some 90 tokens a second.
_EMBEDDED_TIMEOUT = 900.0
# DSPy's own minimum for models that think before they answer: the thinking counts as new tokens.
_REASONING_TOKENS = 16000


def make_lm(choice: ModelChoice, settings: Settings, progress: Progress | None = None, note: Note | None = None) -> Any:
    """The `dspy.LM` of a choice, ready to be called.

    Args:
        choice: From `choose`.
        settings: Temperature, seed, new tokens, retries, time-out, calls at once, and key.
        progress: Called with bytes done and bytes in all while the embedded weights are fetched.
        note: Called with a sentence when a source of the weights fails, or another process is waited for.

    Raises:
        ConfigurationError: something that the choice needs is missing or wrong.
        ProviderError: the weights cannot be fetched.
    """
    if choice.missing:
        raise ConfigurationError(choice.missing)
    limiter.limit(settings.concurrency)
    dspy = import_dspy()
    if choice.kind == "package":
        registered = package_model(choice.model.partition("/")[0])
        if registered is None:
            raise ConfigurationError(f"No installed package registers the model {choice.model!r}.")
        return registered.load()(choice.model, settings)
    # DSPy's response cache goes by the model's name alone: two servers of one name would share their answers.
    common = {"cache": False, "num_retries": settings.retries}
    if choice.kind == "litellm":
        from regen.models.limited import LimitedLM

        return LimitedLM(**common, **_litellm(choice, settings))
    if choice.kind == "embedded":
        return dspy.LM(**common, **_embedded(choice, settings, progress, note))
    return dspy.LM(**common, **_compatible(choice, settings))


def gives_logprobs(lm: Any) -> bool:
    """Whether an LM is known to give log-probabilities. False where nobody knows: ask it with care."""
    return bool(getattr(getattr(lm, "engine", None), "gives_logprobs", False))


def _embedded(choice: ModelChoice, settings: Settings, progress: Progress | None, note: Note | None) -> dict[str, Any]:
    from regen.models.embedded import AsyncEmbeddedEngine, EmbeddedEngine

    timeout = settings.timeout if "timeout" in settings.model_fields_set else _EMBEDDED_TIMEOUT
    if choice.path is None:
        weights.fetch(progress, note)
    engine = EmbeddedEngine(choice.path, timeout=timeout)
    engine.start()
    return {
        "model": choice.model,
        "engine": engine,
        "async_engine": AsyncEmbeddedEngine(choice.path, timeout=timeout),
        **_sampling(choice, settings),
    }


def _compatible(choice: ModelChoice, settings: Settings) -> dict[str, Any]:
    from regen.models.engine import AsyncOpenAIEngine, OpenAIEngine

    assert choice.api_base is not None
    key = settings.api_key.get_secret_value() if settings.api_key else None
    options: dict[str, Any] = {
        "base_url": choice.api_base,
        "api_key": key,
        "wire_model": choice.wire_model,
        "timeout": settings.timeout,
        "key_variable": "REGEN_API_KEY" if key else choice.key_variable,
        "gives_logprobs": choice.logprobs,
        "pace": Pace(),
    }
    model = choice.model
    if not model:
        from regen.models.served import only_model

        options["wire_model"] = only_model(choice.api_base, key or os.environ.get(choice.key_variable or ""))
        model = f"openai/{options['wire_model']}"
    return {
        "model": model,
        "engine": OpenAIEngine(**options),
        "async_engine": AsyncOpenAIEngine(**options),
        **_sampling(choice.model_copy(update={"model": model}), settings),
    }


def _litellm(choice: ModelChoice, settings: Settings) -> dict[str, Any]:
    key = {"api_key": settings.api_key.get_secret_value()} if settings.api_key else {}
    return {
        "model": choice.model,
        "engine": "litellm",
        "timeout": settings.timeout,
        **key,
        **_sampling(choice, settings),
    }


def _sampling(choice: ModelChoice, settings: Settings) -> dict[str, Any]:
    sampling: dict[str, Any] = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
    if choice.seed:
        sampling["seed"] = settings.seed
    if is_reasoning(choice.model):
        sampling["temperature"] = None
    if choice.kind == "openai-compatible" and _thinks(choice.model):
        sampling["max_tokens"] = max(settings.max_tokens, _REASONING_TOKENS)
    return sampling


def _thinks(model: str) -> bool:
    from dspy.clients.model_metadata import model_info

    provider, _, name = model.partition("/")
    return is_reasoning(model) or model_info(provider, name).get("supports_reasoning") is True
