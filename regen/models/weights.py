"""The weights of the embedded model: where they are kept, how they are fetched once, and how they are checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from regen.errors import ConfigurationError

MODEL_NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"


def fetch(progress: Callable[[int, int], None] | None = None) -> Path:
    """To be written."""
    raise ConfigurationError("Fetching the embedded model is not there yet: set REGEN_MODEL_PATH to a .gguf file.")


def check_file(path: Path) -> Path:
    """`path`, if it is there and begins as a GGUF file does.

    Raises:
        ConfigurationError: it is not there, cannot be read, or is something else.
    """
    try:
        with path.expanduser().open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ConfigurationError(f"The model file {path} cannot be read: {error.strerror}.") from None
    if magic != b"GGUF":
        raise ConfigurationError(f"{path} is not a GGUF model file.")
    return path.expanduser()
