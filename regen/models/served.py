"""Asks an OpenAI-compatible endpoint which models it serves."""

from __future__ import annotations

from regen.errors import ConfigurationError, ProviderError
from regen.models import wire


def served_models(base_url: str, api_key: str | None) -> list[str]:
    """The names of the models that the endpoint serves (`GET /models`).

    Raises:
        ProviderError: it cannot be reached, or does not answer as an OpenAI-compatible API does.
    """
    import openai

    address = wire.without_credentials(base_url)
    # As for the calls themselves: a proxy that is set for the web must not get those to this machine.
    direct = openai.DefaultHttpxClient(trust_env=False) if wire.is_loopback(base_url) else None
    with openai.OpenAI(
        base_url=base_url, api_key=api_key or "none", timeout=10, max_retries=0, http_client=direct
    ) as client:
        try:
            return [model.id for model in client.models.list().data]
        except (openai.OpenAIError, ValueError, AttributeError, TypeError) as error:
            cause = wire.scrub(str(error.__cause__ or error), api_key)
            raise ProviderError(
                f"{address} does not say which models it serves ({cause}): is it running, and does the address "
                "end in /v1? Else name the model with --model."
            ) from None


def only_model(base_url: str, api_key: str | None) -> str:
    """The name of the one model that the endpoint serves.

    Raises:
        ConfigurationError: it serves none or several, so that one has to be named.
        ProviderError: as `served_models`.
    """
    names = served_models(base_url, api_key)
    if len(names) == 1:
        return names[0]
    address = wire.without_credentials(base_url)
    listed = ", ".join(names[:5]) + ("…" if len(names) > 5 else "")
    raise ConfigurationError(
        f"{address} serves {len(names)} models{f' ({listed})' if names else ''}: name one with --model openai/NAME."
    )
