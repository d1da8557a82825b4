"""Keeps DSPy and LiteLLM from reaching out, leaving files behind, and saying what is meant to be so."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from regen.paths import cache_dir

_cut_on_purpose: ContextVar[bool] = ContextVar("cut_on_purpose", default=False)


def prepare_environment() -> None:
    """Keep dspy and litellm off the network at import, and their files in regen's cache. What is set already stays.

    Importing `regen` does it, so that every module of ours can import dspy as usual.
    """
    # Both fetch a price list over the network on first use unless this says to take the packaged one.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    os.environ.setdefault("DSPY_CACHEDIR", str(cache_dir() / "dspy"))
    log = logging.getLogger("dspy.clients.lm")
    if _not_on_purpose not in log.filters:
        log.addFilter(_not_on_purpose)


def import_dspy() -> Any:
    """dspy, imported with the environment prepared. The first import takes about a second."""
    prepare_environment()
    import dspy

    return dspy


@contextmanager
def cut_on_purpose() -> Iterator[None]:
    """While inside, replies are meant to be cut short, and DSPy's warning of it is not shown."""
    token = _cut_on_purpose.set(True)
    try:
        yield
    finally:
        _cut_on_purpose.reset(token)


def _not_on_purpose(record: logging.LogRecord) -> bool:
    return not (_cut_on_purpose.get() and "truncated" in record.getMessage())
