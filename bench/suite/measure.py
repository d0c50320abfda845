"""Timing: the best of runs that take turns, since what disturbs one only ever adds to it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

Call = Callable[[], object]

FIRST_PERTURB = "import fastnoise as fn; fn.Staircase(epsilon=1.0).perturb([1.0, 2.0, 3.0])"


def seconds(*calls: Call, runs: int = 7, before: Call = lambda: None) -> list[float]:
    """The least time of each call. They take turns, after one round that is not counted.

    before: comes before every call, and is not counted either.
    """
    times: list[list[float]] = [[] for _ in calls]
    for run in range(runs + 1):
        for call, spent in zip(calls, times, strict=True):
            before()
            started = time.perf_counter()
            call()
            if run:
                spent.append(time.perf_counter() - started)
    return [min(spent) for spent in times]


def ratio(ours: Call, theirs: Call, runs: int = 7) -> float:
    """How many times as long we take."""
    one, other = seconds(ours, theirs, runs=runs)
    return one / other


def keep_memory() -> None:
    """Have glibc keep what is freed: else numpy's temporaries are mapped anew in some processes and
    not in others, and ratios differ by a third."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        trim, mmap = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        mallopt(trim, 2**31 - 1)
        mallopt(mmap, 2**30)


def in_process(code: str, **environment: str) -> Call:
    """A fresh interpreter that runs `code`."""
    command = [sys.executable, "-c", code]
    return lambda: subprocess.run(command, check=True, env={**os.environ, **environment})


def import_ratio() -> tuple[float, float]:
    """Importing a mechanism against numpy, without the interpreter's own start; and the seconds.

    `import fastnoise` alone is lazy and would say nothing.
    """
    ours, numpys, nothing = seconds(
        in_process("from fastnoise import Staircase"),
        in_process("import numpy"),
        in_process("pass"),
        runs=5,
    )
    return (ours - nothing) / (numpys - nothing), ours - nothing


def cached_start() -> float:
    """Seconds of a fresh process to its first noise, imports included, kernels compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        return seconds(in_process(FIRST_PERTURB, FASTNOISE_CACHE_DIR=folder), runs=3)[0]


def cold_start() -> float:
    """The same with nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        in_process(FIRST_PERTURB, FASTNOISE_CACHE_DIR=folder)()
        return time.perf_counter() - started
