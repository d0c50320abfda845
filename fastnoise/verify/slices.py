"""Is noise a function of (key, mechanism, row) alone: any slice, threads, strides and order?"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.threads import exactly

from fastnoise.stream import Stream
from fastnoise.verify.kernels import thread_counts
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.subjects import CHOICES, USUAL, data_dtype, families

VALUES = 20_000  # enough for several threads
STARTS = [0, 2**40 - 77]
CANDIDATES = 6

Array = npt.NDArray[Any]


def rows() -> list[Row]:
    return by_family("slices", check_slices, families([*USUAL, *CHOICES]))


def check_slices(mechanism: Any, tally: Tally) -> None:
    """perturb(x, s.at(0))[a:b] = perturb(x[a:b], s.at(a)) = perturb(x[a:b], rows=range(a, b))."""
    key = os.urandom(32)
    stream, x = Stream.from_key(key), data(mechanism)
    n = len(x)
    for start in STARTS:
        whole = run(mechanism, x, stream.at(start))
        for threads in thread_counts():
            with exactly(threads):
                for a, b in ((0, n), (1, n - 1), (7, 7 + 333), (n // 3, n // 2 + 1), (n - 1, n)):
                    rows = range(start + a, start + b)
                    parts = {
                        "at": run(mechanism, x[a:b], stream.at(start + a)),
                        "rows": run(mechanism, x[a:b], stream, rows),
                        "ids": run(mechanism, x[a:b][::-1], stream, np.array(rows)[::-1])[::-1],
                        "strides": run(mechanism, strided(x[a:b]), stream.at(start + a)),
                    }
                    for how, part in parts.items():
                        tally.expect(
                            np.array_equal(part, whole[a:b]),
                            f"rows {rows} by {how} differ in {threads} threads, key {key.hex()}",
                        )
    check_float32(mechanism, x, stream, tally)


def check_float32(mechanism: Any, x: Array, stream: Stream, tally: Tally) -> None:
    """float32 is computed in float64 and cast once, slices too."""
    if x.dtype != np.float64 or hasattr(mechanism, "choose"):
        return
    narrow = x.astype(np.float32)
    wide = run(mechanism, narrow.astype(np.float64), stream.at(0)).astype(np.float32)
    tally.expect(np.array_equal(run(mechanism, narrow, stream.at(0)), wide), "float32 differs")
    part = run(mechanism, strided(narrow[5:99]), stream.at(5))
    tally.expect(np.array_equal(part, wide[5:99]), "slices of float32 differ")


def data(mechanism: Any) -> Array:
    """Many draws of data; of costs, for choices."""
    spread = np.random.default_rng(0)
    if hasattr(mechanism, "choose"):
        costs = spread.uniform(0, 6, (VALUES // CANDIDATES, CANDIDATES))
        return np.asarray(costs * mechanism.sensitivity)
    shape = (VALUES // getattr(mechanism, "dim", 1), *mechanism._row_shape)
    return (spread.normal(size=shape) * 100).astype(data_dtype(mechanism))


def run(mechanism: Any, x: Array, stream: Stream, rows: Any = None) -> Array:
    """Noise added, or choices made."""
    release = mechanism.choose if hasattr(mechanism, "choose") else mechanism.perturb
    return np.asarray(release(x, stream=stream, rows=rows))


def strided(x: Array) -> Array:
    """The same values, not side by side in memory."""
    room = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., ::2]
    room[...] = x
    return room
