"""Timing: medians of runs that take turns, so that a busy machine slows what is compared alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Call = Callable[[], object]


def seconds(*calls: Call, runs: int = 7) -> list[float]:
    """The median time of each call; the calls take turns, after one round that is not counted."""
    times: list[list[float]] = [[] for _ in calls]
    for run in range(runs + 1):
        for call, spent in zip(calls, times, strict=True):
            started = time.perf_counter()
            call()
            if run:
                spent.append(time.perf_counter() - started)
    return [statistics.median(spent) for spent in times]


def process_seconds(code: str, runs: int = 5, **environment: str) -> float:
    """The median time of a fresh interpreter for `code`, less that of one that does nothing."""
    here = str(Path(__file__).parent.parent)
    path = os.pathsep.join([here, str(Path(here, "kernels")), os.environ.get("PYTHONPATH", "")])
    variables = {**os.environ, "PYTHONPATH": path, **environment}

    def run(what: str) -> Call:
        command = [sys.executable, "-c", what]
        return lambda: subprocess.run(command, check=True, env=variables)

    something, nothing = seconds(run(code), run("pass"), runs=runs)
    return something - nothing


FIRST_PERTURB = "import fastnoise as fn; fn.Staircase(epsilon=1.0).perturb([1.0, 2.0, 3.0])"


def first_perturb_seconds(cached: bool, runs: int = 3) -> float:
    """A fresh process up to its first noise, imports included."""
    if cached:
        return process_seconds(FIRST_PERTURB, runs)
    spent = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as empty:
            started = time.perf_counter()
            command = [sys.executable, "-c", FIRST_PERTURB]
            subprocess.run(command, check=True, env={**os.environ, "FASTNOISE_CACHE_DIR": empty})
            spent.append(time.perf_counter() - started)
    return statistics.median(spent)
