"""Asks an OpenAI-compatible endpoint which models it serves."""

from __future__ import annotations

from regen.errors import ConfigurationError, ProviderError
from regen.models import wire


def only_model(base_url: str, api_key: str | None) -> str:
    """The name of the one model that the endpoint serves (`GET /models`).

    Raises:
        ConfigurationError: it serves none or several, so that one has to be named.
        ProviderError: it cannot be reached, or does not answer as an OpenAI-compatible API does.
    """
    import openai

    address = wire.without_credentials(base_url)
    with openai.OpenAI(base_url=base_url, api_key=api_key or "none", timeout=10, max_retries=0) as client:
        try:
            names = [model.id for model in client.models.list().data]
        except (openai.OpenAIError, ValueError, AttributeError, TypeError) as error:
            cause = wire.scrub(str(error.__cause__ or error), api_key)
            raise ProviderError(
                f"{address} does not say which models it serves ({cause}): is it running, and does the address "
                "end in /v1? Else name the model with --model."
            ) from None
    if len(names) == 1:
        return names[0]
    listed = ", ".join(names[:5]) + ("…" if len(names) > 5 else "")
    raise ConfigurationError(
        f"{address} serves {len(names)} models{f' ({listed})' if names else ''}: name one with --model openai/NAME."
    )
