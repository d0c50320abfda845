"""The pytest-benchmark file that `bench.peers` runs in each environment; see `--peers`."""

from __future__ import annotations

import statistics
import time
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

from bench.peers.calls import Call, call, data, mean_size, ours
from bench.peers.catalogue import LINES, Line, package

ROUNDS = 11


def check_law(line: Line, noisy: Any, x: Any) -> None:
    """Seven standard errors or so: |noise| varies about as much as it is large."""
    size = float(np.abs(np.asarray(noisy) - x).mean())
    assert size == pytest.approx(mean_size(line), rel=9 / x.size**0.5), line


class Turns:
    """Before each timed call of theirs: ours, timed. Both are the second of two calls in a row.

    Small calls are two to four times slower on cold caches; fastnoise beside itself must give 1.
    """

    def __init__(self, mine: Call, theirs: Call) -> None:
        self.mine, self.theirs = mine, theirs
        self.times: list[float] = []

    def __call__(self) -> None:
        self.mine()
        started = time.perf_counter()
        self.mine()
        self.times.append(time.perf_counter() - started)
        self.theirs()


def measure(benchmark: Any, line: Line, values: int, threads: int, rounds: int = ROUNDS) -> None:
    """One line of the table; ours and theirs take turns."""
    x = data(line.law, values)
    theirs = call(line, x, threads)
    turns = Turns(ours(line.law, x, threads), theirs)
    check_law(line, theirs(), x)
    turns()
    turns.times.clear()
    benchmark.pedantic(theirs, setup=turns, rounds=rounds, iterations=1)
    benchmark.extra_info.update(
        asdict(line),
        values=values,
        threads=threads,
        version=version(package(line.peer)),
        fastnoise_ns=1e9 * statistics.median(turns.times) / values,
    )


def cases() -> list[tuple[Line, int]]:
    return [(line, threads) for line in LINES for threads in line.threads]


def name(part: Any) -> str:
    return f"{part.peer}, {part.law}, {part.values}" if isinstance(part, Line) else str(part)


@pytest.mark.parametrize(("line", "threads"), cases(), ids=name)
def test_line(benchmark: Any, request: Any, line: Line, threads: int) -> None:
    chosen = request.config.getoption("--peers").split(",")
    if package(line.peer) not in (*chosen, "fastnoise"):
        pytest.skip("measured in another environment")
    measure(benchmark, line, line.values, threads)
