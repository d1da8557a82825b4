"""Evaluations on a Ray cluster: `cluster_on_ray.py`, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest


def test_evaluations_on_a_ray_cluster() -> None:
    """Ray 2.60 now and then crashes a process that asks how many processors are free: then it is run once more."""
    pytest.importorskip("ray")
    command = [sys.executable, "-m", "pytest", str(Path(__file__).with_name("cluster_on_ray.py"))]
    for _ in range(2):
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if ended.returncode != -signal.SIGSEGV:
            break
    assert ended.returncode == 0, ended.stdout
    assert " passed" in ended.stdout and "skipped" not in ended.stdout
