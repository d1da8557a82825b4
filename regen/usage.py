"""Counts what model calls cost."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import dspy

from regen.types import Usage


class Meter:
    """What has been spent since `metered` began."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        self._start = time.monotonic()

    def read(self) -> Usage:
        """Calls and tokens as the provider counted them, list price in US dollars where known, seconds."""
        calls = [(model, entry) for model, entries in self._tracker.usage_data.items() for entry in entries]
        return usage_of(calls, time.monotonic() - self._start)


def usage_of(calls: Sequence[tuple[str, Mapping[str, Any]]], seconds: float = 0.0) -> Usage:
    """The usage of calls, each a DSPy model string and the provider's counts under OpenAI's names.

    Counts with a true `batch` are those of a call through the Batch API, at its price.
    """
    costs = [_cost(model, entry) for model, entry in calls]
    return Usage(
        calls=len(calls),
        prompt_tokens=sum(_count(entry, "prompt_tokens") for _, entry in calls),
        cached_tokens=sum(_cached(entry) for _, entry in calls),
        completion_tokens=sum(_count(entry, "completion_tokens") for _, entry in calls),
        cost_usd=sum(cost for cost in costs if cost is not None) if None not in costs and costs else None,
        seconds=round(seconds, 3),
    )


@contextmanager
def metered() -> Iterator[Meter]:
    """Meters every model call made inside, in this thread and those begun by `regen.parallel`.

    DSPy's own usage trackers around it still see the calls, once it ends.
    """
    with dspy.track_usage() as tracker:
        yield Meter(tracker)


def _count(entry: Mapping[str, Any], key: str) -> int:
    return int(entry.get(key) or 0)


def _cached(entry: Mapping[str, Any]) -> int:
    return int((entry.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)


def _cost(model: str, entry: Mapping[str, Any]) -> float | None:
    into, out, from_cache = _prices(model, bool(entry.get("batch")))
    if into is None or out is None:
        return None
    cached = _cached(entry)
    fresh = _count(entry, "prompt_tokens") - cached
    cheap = into if from_cache is None else from_cache
    return float(fresh * into + cached * cheap + _count(entry, "completion_tokens") * out)


@lru_cache(maxsize=64)
def _prices(model: str, batch: bool) -> tuple[float | None, float | None, float | None]:
    """US dollars for a prompt token, a new one and a cached one. Looked up once: DSPy takes a millisecond to do it."""
    from dspy.clients.model_metadata import model_info

    provider, _, name = model.partition("/")
    price = model_info(provider, name)
    names = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    into, out, from_cache = (price.get(name) for name in names)
    if not batch or into is None or out is None:
        return into, out, from_cache
    if price.get(f"{names[0]}_batches") is not None and price.get(f"{names[1]}_batches") is not None:
        # Where they have no price for a cached token, there is none: the two rebates do not add up.
        into, out, from_cache = (price.get(f"{name}_batches") for name in names)
        return into, out, from_cache
    return into / 2, out / 2, from_cache / 2 if from_cache is not None else None
