"""What a call costs while as many other processes compute as there are processors."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import fmean, median

import numpy as np

import fastnoise as fn
from bench.table import Table

RUNS = {20_000: 1000, 1_000_000: 300}  # rows, and calls of each kind


def busy_table(runs: dict[int, int] = RUNS) -> Table:
    names = ("rows", "all threads, 1 thread: median", "ratio", "mean", "ratio", "wanted")
    caption = "`Staircase(epsilon=1).perturb` beside as many busy processes as processors"
    return Table(f"{caption}, in microseconds", names, _lines(runs))


def _lines(runs: dict[int, int]) -> Iterator[tuple[str, ...]]:
    mechanism = fn.Staircase(epsilon=1.0)
    for rows, calls in runs.items():
        x, y = np.zeros(rows), np.zeros(rows)
        mechanism.perturb(x, out=y)
        with _busy_processes():
            times = _times(lambda x=x, y=y: mechanism.perturb(x, out=y), calls)
        shown = [f"{rows:,}"]
        for average in (median, fmean):
            ours, alone = (1e6 * average(times[count]) for count in (None, 1))
            shown += [f"{ours:,.0f}, {alone:,.0f}", f"{ours / alone:.2f} x"]
        yield (*shown, "<= 2 x")


def _times(call: Callable[[], object], calls: int) -> dict[int | None, list[float]]:
    """Of calls that take turns: with all threads, and with one."""
    times: dict[int | None, list[float]] = {None: [], 1: []}
    for _ in range(calls):
        for count, spent in times.items():
            fn.set_threads(count)
            started = time.perf_counter()
            call()
            spent.append(time.perf_counter() - started)
    fn.set_threads(None)
    return times


@contextmanager
def _busy_processes() -> Iterator[None]:
    with ExitStack() as until_the_end:
        for _ in range(os.cpu_count() or 1):
            busy = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
            until_the_end.callback(busy.wait)
            until_the_end.callback(busy.kill)
        time.sleep(0.5)  # until they compute
        yield
