"""Do compiled kernels draw what plain Python reads off the same tables with the same words?"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.threads import exactly

from fastnoise.identity import noise_identity
from fastnoise.rows import Rows
from fastnoise.stream import Stream
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.subjects import CHOICES, USUAL, data_dtype, families, grids

STARTS = [0, 2**32 - 5, 2**40 - 5, 2**62 + 9]  # around the ends of counters and epochs
ROWS = 16  # from each start
MANY = 400_000  # values that all threads draw together
SOME = 40  # of these rows, and as many of those that kernels leave to Python
CANDIDATES = 7

Array = npt.NDArray[Any]


def float_rows() -> list[Row]:
    return [Row("floats", "rounding and denormals", check_floats, thread_counts())]


def check_floats(threads: int, tally: Tally) -> None:
    """Does every row fall to a thread that rounds to nearest and knows denormal floats?"""
    from fastnoise_kernels.workers import odd_rows

    with exactly(threads):
        odd = odd_rows(MANY)
    tally.add(MANY, [f"{odd:,} of {MANY:,} rows in threads that compute otherwise"] if odd else [])


def rows() -> list[Row]:
    return [
        *by_family("kernels", check_kernel, families(USUAL)),
        *by_family("kernels", check_choices, families(CHOICES)),
    ]


def check_kernel(mechanism: Any, tally: Tally) -> None:
    """Consecutive rows, the same rows by their ids, and some of many rows in several threads."""
    key, dim = os.urandom(32), getattr(mechanism, "dim", 1)
    stream, plain = Stream.from_key(key), PlainNoise(mechanism, key)
    for start in STARTS:
        expected = [plain.row(start + i) for i in range(ROWS)]
        drawn = in_steps(mechanism, mechanism.sample(ROWS, stream=stream.at(start)))
        compare(drawn, expected, f"rows from {start} under key {key.hex()}", tally)
        zeros = np.zeros((ROWS, *mechanism._row_shape), data_dtype(mechanism))
        ids = np.arange(start, start + ROWS)[::-1]
        by_ids = in_steps(mechanism, mechanism.perturb(zeros, stream=stream, rows=ids))
        compare(by_ids[::-1], expected, f"ids from {start} under key {key.hex()}", tally)
    count = MANY // dim
    chosen = np.linspace(0, count - 1, SOME, dtype=int).tolist() + plain.undecided(count)[:SOME]
    expected = [plain.row(row) for row in chosen]
    for threads in thread_counts():
        with exactly(threads):
            drawn = in_steps(mechanism, mechanism.sample(count, stream=stream.at(0)))
        where = f"rows of {count} in {threads} threads under key {key.hex()}"
        compare(drawn[chosen], expected, where, tally)


def compare(drawn: Array, expected: list[Any], where: str, tally: Tally) -> None:
    wrong = [i for i, row in enumerate(drawn.tolist()) if row != expected[i]]
    tally.add(len(expected), (f"{where}: place {i} differs" for i in wrong))


class PlainNoise:
    """A mechanism's noise under a key, a row at a time, as lists of grid steps."""

    def __init__(self, mechanism: Any, key: bytes) -> None:
        self.law = mechanism._law(mechanism.grid)
        self.key = Stream.from_key(key)._noise_key(noise_identity(mechanism, self.law))

    def row(self, row: int) -> list[int]:
        noise = self.law.reader.noise(self.key, row)
        return noise if isinstance(noise, list) else [noise]

    def undecided(self, count: int) -> list[int]:
        """Which of the first rows kernels cannot decide: of l2 noise, one in some 100,000."""
        found: list[int] = self.law.undecided(self.key, Rows(0), count)
        return found


def in_steps(mechanism: Any, noise: Array) -> Array:
    """Noise as rows of grid steps."""
    values = noise.reshape(len(noise), -1)
    return values if values.dtype == np.int64 else values / np.array(grids(mechanism))


def check_choices(mechanism: Any, tally: Tally) -> None:
    key, spread = os.urandom(32), np.random.default_rng(0)
    costs = spread.uniform(0, 6, (ROWS, CANDIDATES)) * mechanism.sensitivity
    stream, law = Stream.from_key(key), mechanism._law(mechanism.grid)
    noise_key = stream._noise_key(noise_identity(mechanism, law))
    for start in STARTS:
        rows = range(start, start + ROWS)
        pairs = zip(rows, costs.tolist(), strict=True)
        expected = [law.reader.choose(noise_key, row, some) for row, some in pairs]
        chosen = mechanism.choose(costs, stream=stream.at(start))
        compare(chosen, expected, f"rows from {start} under key {key.hex()}", tally)
        by_ids = mechanism.choose(costs[::-1], stream=stream, rows=np.array(rows)[::-1])
        compare(by_ids[::-1], expected, f"ids from {start} under key {key.hex()}", tally)


def thread_counts() -> list[int]:
    import numba

    return sorted({1, int(numba.config.NUMBA_NUM_THREADS)})
