"""What must be set before dspy is first imported, so that it neither reaches out nor leaves files behind."""

from __future__ import annotations

import os
from typing import Any

from regen.settings import cache_dir


def prepare_environment() -> None:
    """Keep dspy and litellm off the network at import, and their files in regen's cache. What is set already stays."""
    # Both fetch a price list over the network on first use unless this says to take the packaged one.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    os.environ.setdefault("DSPY_CACHEDIR", str(cache_dir() / "dspy"))


def import_dspy() -> Any:
    """dspy, imported with the environment prepared. The first import takes about a second."""
    prepare_environment()
    import dspy

    return dspy
