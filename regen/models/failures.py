"""Turns what DSPy raises when a model call fails into one sentence: the cause, and the way out."""

from __future__ import annotations

import os

from regen.errors import ConfigurationError, ProviderError, RegenError
from regen.models import wire
from regen.models.choice import LITELLM_KEYS, PROVIDERS
from regen.quiet import import_dspy


def expected() -> tuple[type[Exception], ...]:
    """What a model call raises when it fails. Anything else is a mistake of a program, and not to be hidden."""
    import_dspy()
    from dspy.lm15 import LM15Error
    from dspy.utils.exceptions import DSPyError

    return (RegenError, DSPyError, LM15Error)


def translate(exc: BaseException) -> RegenError:
    """The error to show for a failed model call. Holds no key.

    A wrong key, an unknown model and a wrong setting are configuration errors
    (exit 3); what the provider or the model did is a provider error (exit 4).
    An error of ours that DSPy has wrapped comes back as it was.
    """
    ours = _ours(exc)
    if ours is not None:
        return ours
    import_dspy()
    from dspy.utils import exceptions as dspy_errors

    model = getattr(exc, "model", None) or "the model"
    address = getattr(exc, "provider", None) or model
    detail = _detail(exc)
    match exc:
        case dspy_errors.LMAuthError():
            return ConfigurationError(f"{address} refused the key for {model}: check {_key_variable(exc, model)}.")
        case dspy_errors.LMBillingError():
            return ProviderError(
                f"The account for {model} has no credit or quota left ({detail}): add some, or name another model."
            )
        case dspy_errors.LMRateLimitError():
            wait = f"wait {exc.retry_after:.0f} seconds" if exc.retry_after else "wait a moment"
            return ProviderError(
                f"{address} limits the rate of calls to {model}: {wait}, lower REGEN_CONCURRENCY, or raise "
                "REGEN_RETRIES."
            )
        case dspy_errors.ContextWindowExceededError():
            return ProviderError(
                f"The prompt is too long for {model} ({detail}): read fewer documents (lower -k), or name a model "
                "with a longer context."
            )
        case dspy_errors.LMUnsupportedModelError():
            return ConfigurationError(
                f"{address} has no model {model} ({detail}): check the name, and that the address is that of the API "
                "(it often ends in /v1)."
            )
        case dspy_errors.LMInvalidRequestError():
            return ProviderError(f"{address} refused the call to {model}: {detail}.")
        case dspy_errors.LMTimeoutError():
            return ProviderError(
                f"{model} did not answer in time ({detail}): raise REGEN_TIMEOUT, or lower REGEN_CONCURRENCY."
            )
        case dspy_errors.LMTransportError():
            return ProviderError(f"{detail}: is it running, and is the address right?")
        case dspy_errors.LMServerError():
            return ProviderError(f"{address} failed while it worked on a call to {model} ({detail}): try again later.")
        case dspy_errors.LMConfigurationError() | dspy_errors.LMUnsupportedFeatureError():
            return ConfigurationError(f"{model} cannot be called as it is set up: {detail}.")
        case dspy_errors.AdapterParseError() if "empty or null" in detail:
            return ProviderError("The model returned an empty answer: try again, or name another model.")
        case dspy_errors.AdapterParseError():
            return ProviderError(
                "The model's answer does not have the fields that were asked for: try again, or name a stronger model."
            )
    return ProviderError(f"{address} gave no usable answer: {detail}.")


def _ours(exc: BaseException) -> RegenError | None:
    seen: BaseException | None = exc
    while seen is not None:
        if isinstance(seen, RegenError):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


def _key_variable(exc: BaseException, model: str) -> str:
    named = tuple(getattr(exc, "env_keys", ()) or ())
    return " or ".join(named) or LITELLM_KEYS.get(model.partition("/")[0]) or "REGEN_API_KEY"


def _detail(exc: BaseException) -> str:
    # lm15 appends advice for programmers below an empty line.
    said = (getattr(exc, "message", "") or str(exc)).partition("\n\n")[0]
    text = " ".join(said.split())
    for variable in {*LITELLM_KEYS.values(), "REGEN_API_KEY", *(provider.key_variable or "" for provider in PROVIDERS)}:
        text = wire.scrub(text, os.environ.get(variable))
    return text.rstrip(".") or type(exc).__name__
