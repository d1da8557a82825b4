"""Where regen keeps its files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from platformdirs import user_cache_path, user_config_path


def config_file() -> Path:
    """The config file: `$REGEN_CONFIG`, or `config.toml` in the user's config folder. It need not exist."""
    return Path(os.environ.get("REGEN_CONFIG") or user_config_path("regen") / "config.toml")


def cache_dir() -> Path:
    """Where weights and indexes are kept: `$REGEN_CACHE_DIR`, or the user's cache folder."""
    return Path(os.environ.get("REGEN_CACHE_DIR") or user_cache_path("regen"))


def lock_of(path: Path) -> Path:
    """The file that is locked while something is added to the file `path`. Its folder is made where it is missing."""
    folder = cache_dir() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
