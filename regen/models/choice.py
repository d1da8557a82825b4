"""Which model to use, told from the settings and the environment alone: nothing is loaded, asked or fetched here."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Literal

from pydantic import Field

from regen.errors import ConfigurationError
from regen.models import weights, wire
from regen.settings import Settings
from regen.types import Record

Kind = Literal["embedded", "openai-compatible", "litellm", "package"]
Role = Literal["answer", "judge"]


class ModelChoice(Record):
    """A model, how it is reached, and why it was chosen. Holds no key."""

    model: str = Field(description="DSPy model string; empty where the endpoint is to be asked for its only model.")
    kind: Kind
    why: str = Field(description="What led to it, as one clause: 'OPENAI_API_KEY is set'.")
    api_base: str | None = Field(default=None, description="Address of the OpenAI-compatible API.")
    wire_model: str | None = Field(default=None, description="The model's name as that API knows it.")
    key_variable: str | None = Field(default=None, description="Environment variable that its key is read from.")
    missing: str | None = Field(default=None, description="What is missing, as one sentence; None where all is there.")
    logprobs: bool = Field(
        default=False, description="Whether it is known to give log-probabilities; False where nobody knows."
    )
    seed: bool = Field(default=False, description="Whether a seed can be sent to it.")
    path: Path | None = Field(default=None, description="The file of a local model that isn't the built-in one.")


@dataclass(frozen=True)
class Provider:
    """A provider whose API speaks OpenAI's chat schema, known by the prefix of its model strings."""

    prefix: str
    base_url: str | None
    key_variable: str | None = None
    base_variables: tuple[str, ...] = ()
    default_model: str | None = None
    logprobs: bool = False
    seed: bool = True


PROVIDERS = (
    Provider(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        "openai/gpt-4.1-mini",
        logprobs=True,
    ),
    # GOOGLE_API_KEY is left alone: it is as often the key of Google's search.
    Provider(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        default_model="gemini/gemini-3.6-flash",
        seed=False,
    ),
    Provider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        default_model="openrouter/openai/gpt-4.1-mini",
    ),
    Provider("ollama", "http://localhost:11434/v1", base_variables=("OLLAMA_API_BASE",)),
    Provider("ollama_chat", "http://localhost:11434/v1", base_variables=("OLLAMA_API_BASE",)),
    Provider("vllm", None, base_variables=("HOSTED_VLLM_API_BASE",), logprobs=True),
    Provider("hosted_vllm", None, "HOSTED_VLLM_API_KEY", ("HOSTED_VLLM_API_BASE",), logprobs=True),
    Provider("llamacpp", None, logprobs=True),
)
_BY_PREFIX = {provider.prefix: provider for provider in PROVIDERS}

# Providers that DSPy reaches through LiteLLM, with the variable that LiteLLM reads their key from.
# One that is not here is left to LiteLLM, which says itself what it misses.
LITELLM_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "cohere": "COHERE_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "xai": "XAI_API_KEY",
}
LITELLM_DEFAULTS = {"ANTHROPIC_API_KEY": "anthropic/claude-haiku-4-5"}

# As dspy.clients.lm._is_openai_reasoning_model, which cannot be asked without importing dspy.
_REASONING = re.compile(r"(?:^|/)(?:o[1345](?:-.*)?|gpt-5(?:\.\d+)*(?!-chat)(?:-.*)?)$", re.IGNORECASE)


def choose(settings: Settings, role: Role = "answer") -> ModelChoice:
    """The model for a role, and why: the one that is named, else the one whose key is set, else the embedded one.

    What is missing for it to work is in `missing`, not raised, so that `regen doctor` can show it.
    """
    named = settings.judge_model if role == "judge" and settings.judge_model else settings.model
    if named:
        label = "REGEN_JUDGE_MODEL" if named == settings.judge_model and role == "judge" else "REGEN_MODEL"
        return _named(named.strip(), settings, f"it is named by --model or {label}")
    if settings.api_base:
        # Which model it serves is asked when the LM is made.
        return ModelChoice(
            missing=_bad_address(settings.api_base),
            model="",
            kind="openai-compatible",
            api_base=settings.api_base,
            key_variable="OPENAI_API_KEY",
            why="REGEN_API_BASE is set, and no model is named",
            seed=True,
        )
    if settings.model_path:
        return _embedded(settings.model_path, "REGEN_MODEL_PATH is set")
    for provider in PROVIDERS:
        if provider.default_model and provider.key_variable and os.environ.get(provider.key_variable):
            return _named(provider.default_model, settings, f"{provider.key_variable} is set")
    for variable, model in LITELLM_DEFAULTS.items():
        if os.environ.get(variable):
            return _named(model, settings, f"{variable} is set")
    choice = _embedded(None, "no model is named and no provider's key is set")
    if settings.api_key:
        orphan = "REGEN_API_KEY is set, but nothing says which model it is for: set REGEN_MODEL or REGEN_API_BASE."
        return choice.model_copy(update={"missing": orphan})
    return choice


def is_reasoning(model: str) -> bool:
    """Whether it is one of OpenAI's reasoning models, which take neither a temperature nor log-probabilities."""
    return _REASONING.search(model) is not None


def package_model(prefix: str) -> EntryPoint | None:
    """What an installed package registers for a prefix of model strings, in the entry point group `regen.models`.

    It is a function that takes the model string and the settings, and gives the `dspy.LM`.
    """
    return next(iter(entry_points(group="regen.models", name=prefix)), None)


def _embedded(path: Path | None, why: str) -> ModelChoice:
    missing = None
    if path is not None:
        try:
            path = weights.check_file(path)
        except ConfigurationError as error:
            missing = str(error)
    name = path.stem if path else weights.EMBEDDED.name
    return ModelChoice(
        model=f"embedded/{name}", kind="embedded", why=why, path=path, missing=missing, logprobs=True, seed=True
    )


def _named(model: str, settings: Settings, why: str) -> ModelChoice:
    if model == "embedded" or model.startswith("embedded/"):
        choice = _embedded(settings.model_path, why)
        if model not in ("embedded", choice.model):
            return choice.model_copy(update={"missing": f"There is no {model!r}, only {choice.model!r}."})
        return choice
    if model.lower().endswith(".gguf"):
        return _embedded(Path(model), why)
    prefix, slash, rest = model.partition("/")
    if slash and not rest:
        return ModelChoice(model=model, kind="litellm", why=why, missing=f"The model {model!r} has no name after '/'.")
    provider = _BY_PREFIX.get(prefix) if slash else _BY_PREFIX["openai"]
    if settings.api_base:
        # Only a prefix that is a provider's is none of the model's own name ("Qwen/Qwen3-8B").
        return ModelChoice(
            model=model,
            kind="openai-compatible",
            api_base=settings.api_base,
            wire_model=rest if slash and provider else model,
            key_variable=provider.key_variable if provider else None,
            why=why,
            missing=_bad_address(settings.api_base),
            logprobs=provider is not None and provider.base_url is None and provider.logprobs,
            seed=provider is None or provider.seed,
        )
    if provider is None and package_model(prefix) is not None:
        return ModelChoice(model=model, kind="package", why=why)
    if provider is None:
        variable = LITELLM_KEYS.get(prefix)
        return ModelChoice(
            model=model,
            kind="litellm",
            why=why,
            key_variable=variable,
            missing=_missing_key(model, variable, settings),
        )
    if not slash:
        model, rest = f"openai/{model}", model
    base = next((os.environ[name] for name in provider.base_variables if os.environ.get(name)), provider.base_url)
    missing = None
    if base is None:
        missing = f"The model {model!r} needs the address it is served at: set REGEN_API_BASE or give --api-base."
    elif provider.base_url is not None:
        missing = _bad_address(base) or _missing_key(model, provider.key_variable, settings)
    return ModelChoice(
        model=model,
        kind="openai-compatible",
        api_base=_with_version(base, provider),
        wire_model=rest,
        key_variable=provider.key_variable,
        why=why,
        missing=missing,
        logprobs=provider.logprobs and not is_reasoning(model),
        seed=provider.seed and not is_reasoning(model),
    )


def _bad_address(address: str) -> str | None:
    if address.startswith(("http://", "https://")):
        return None
    return f"The address {wire.without_credentials(address)!r} must begin with http:// or https://."


def _missing_key(model: str, variable: str | None, settings: Settings) -> str | None:
    if variable is None or settings.api_key or os.environ.get(variable):
        return None
    return f"The model {model!r} needs a key: set {variable} (or REGEN_API_KEY)."


def _with_version(base: str | None, provider: Provider) -> str | None:
    # OLLAMA_API_BASE names the server, as LiteLLM reads it; its OpenAI-compatible API is below /v1.
    if base and provider.prefix.startswith("ollama") and not base.rstrip("/").endswith("/v1"):
        return base.rstrip("/") + "/v1"
    return base
