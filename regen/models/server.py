"""Runs a GGUF model inside this process and serves it on loopback: llama.cpp through `xllamacpp`."""

from __future__ import annotations

import atexit
import os
import secrets
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regen.errors import ConfigurationError

CONTEXT_TOKENS = 16384
# Tokens read in one go: stopping, and noticing that a caller has gone, waits for the end of a batch.
BATCH_TOKENS = 512
# Key-value states of earlier prompts that llama.cpp keeps in memory to reuse their prefixes.
PROMPT_CACHE_MIB = 1024


@dataclass(frozen=True)
class Running:
    """A model that is being served by this process."""

    base_url: str
    api_key: str
    load_seconds: float
    resident_mib: int | None
    """Memory of the whole process after loading, the mapped weights included; None where it cannot be read."""
    handle: Any


_running: dict[Path, Running] = {}
_lock = threading.Lock()


def start(path: Path) -> Running:
    """The server for a model file: the running one, or a new one, loaded now (some seconds).

    It listens on a free port of 127.0.0.1, works on one call at a time, asks for
    a random key so that nobody else on the machine can use it, and stops with
    this process.

    Raises:
        ConfigurationError: xllamacpp is not installed, or the file is not a model that it can load.
    """
    path = path.resolve()
    with _lock:
        if path not in _running:
            _running[path] = _load(path)
        return _running[path]


def _load(path: Path) -> Running:
    try:
        import xllamacpp
    except ImportError:
        raise ConfigurationError(
            'The embedded model needs the xllamacpp package: pip install "regen[local]", '
            "or name another model with --model."
        ) from None
    key = secrets.token_urlsafe(24)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    # Weights repacked for the processor are a second copy in memory, and were read no faster (measured: 63 against 71
    # prompt tokens a second on two cores with AVX2).
    params.no_extra_bufts = True
    params.cache_prompt = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 0
    params.warmup = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    began = time.monotonic()
    try:
        server = xllamacpp.Server(params)
    except RuntimeError:
        raise ConfigurationError(
            f"{path} cannot be loaded: it is not a whole GGUF model, or there is not enough memory for it."
        ) from None
    return Running(f"{server.listening_address}/v1", key, time.monotonic() - began, _resident_mib(), server)


def _resident_mib() -> int | None:
    status = Path("/proc/self/statm")
    if not status.is_file():
        return None
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def cores() -> int:
    """Physical cores that this process may run on: a second thread on one core only slows llama.cpp down."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = set()
    for cpu in allowed:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        siblings.add(topology.read_text().strip() if topology.is_file() else str(cpu))
    return max(1, len(siblings))


@atexit.register
def stop() -> None:
    """Stop every server of this process and free their memory."""
    with _lock:
        _running.clear()
