"""Contiguous arrays through the kernels; and through plain Python what kernels cannot do.

Two kinds of rows are drawn by the `Reader`: those whose noise outgrows 64-bit integers, and all of
them when numba is told not to compile (NUMBA_DISABLE_JIT), so that the debugger of someone else's
numba code does not meet ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from importlib import import_module
from math import floor, inf, nan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import DEEP

from fastnoise.reader import Reader, chacha_block
from fastnoise.release import Release
from fastnoise.rows import Rows, read_only

Array = npt.NDArray[Any]


class Limits(NamedTuple):
    """What data is clipped to, and what the sum may be: the limits of an integer dtype."""

    low: float = -inf
    high: float = inf
    least: float = -inf
    most: float = inf


CHUNK = 1 << 18  # rows at a time where they pass through a buffer


def perturb_chunk(
    release: Release, key: bytes, rows: Rows, source: Array, target: Array, limits: Limits
) -> None:
    """Perturb one contiguous array into another, or into itself.

    Both are float64 or float32, or for laws on the integers, int64 or uint64.
    """
    if not compiles():
        target[:] = source
        _perturb_plainly(release, key, rows, range(target.size), target, limits)
        return
    rest: tuple[Any, ...] = limits.low, limits.high, release.grid, release.whole
    loop = _kernels().perturb_floats
    if release.integers:
        loop, rest = _integer_kernels().perturb_integers, tuple(map(target.dtype.type, limits))
    words, filler = np.frombuffer(key, "<u4"), _filler(release.filler)
    law, source = release.law, read_only(source)
    if loop(source.size, filler, words, law, rows.first, rows.ids, source, target, *rest):
        _perturb_deep_rows(release, key, rows, target, limits)


def count_bad(values: Array, keep_nan: bool) -> int:
    """How many values are infinite, or NaN unless those are kept."""
    if not compiles():
        return int(np.count_nonzero(np.isinf(values) if keep_nan else ~np.isfinite(values)))
    return int(_kernels().count_bad(values.size, read_only(values), keep_nan))


def integer_noise(release: Release, key: bytes, rows: Rows, count: int) -> npt.NDArray[np.int64]:
    """The noise itself in grid steps, DEEP where it does not fit."""
    noise = np.empty(count, np.int64)
    words, filler = np.frombuffer(key, "<u4"), _filler(release.filler)
    _kernels().fill_noise(count, filler, words, release.law, rows.first, rows.ids, noise)
    return noise


def fill_keystream(key: bytes, words: npt.NDArray[np.uint32]) -> None:
    """Raw ChaCha20 in standard order; whole batches of 256 words."""
    if not compiles():
        blocks = (chacha_block(key, block, 0) for block in range(words.size // 16))
        words[:] = [word for block in blocks for word in block]
        return
    chacha = import_module("fastnoise_kernels.chacha")
    batches = words.size // chacha.BATCH
    start = np.uint64(0)
    chacha.keystream(batches, np.frombuffer(key, "<u4"), start, words, grain=chacha.BATCH)


@cache
def compiles() -> bool:
    """Whether numba compiles; it is imported when this is first asked, not before."""
    return not import_module("numba").config.DISABLE_JIT


@cache
def _kernels() -> Any:
    return import_module("fastnoise_kernels.release")


@cache
def _integer_kernels() -> Any:
    return import_module("fastnoise_kernels.integers")


@cache
def _filler(name: str) -> int:
    """The address of the compiled filler of a law."""
    return int(getattr(import_module(f"fastnoise_kernels.{name}"), f"fill_{name}").address)


def _perturb_deep_rows(
    release: Release, key: bytes, rows: Rows, target: Array, limits: Limits
) -> None:
    """Rows whose noise needs more than 62 bits, which the kernel has left at `x`.

    At most once in e**1024 rows of any mechanism; it is here so that no tail is ever cut off.
    """
    for start in range(0, target.size, CHUNK):
        part, left = target[start : start + CHUNK], rows.after(start)
        deep = np.flatnonzero(integer_noise(release, key, left, part.size) == DEEP)
        _perturb_plainly(release, key, left, deep.tolist(), part, limits)


def _perturb_plainly(
    release: Release,
    key: bytes,
    rows: Rows,
    places: Iterable[int],
    target: Array,
    limits: Limits,
) -> None:
    """Perturb these elements in place, in integers without end."""
    reader = Reader(release.law)
    exact_sum = _integer_sum if release.integers else _float_sum
    for i in places:
        noise = reader.noise(key, rows.row(i))
        target[i] = exact_sum(target[i].item(), noise, release, limits)


def _integer_sum(value: int, noise: int, release: Release, limits: Limits) -> float:
    total = min(max(value, limits.low), limits.high) + noise
    return min(max(total, limits.least), limits.most)


def _float_sum(value: float, noise: int, release: Release, limits: Limits) -> float:
    if value != value:
        return nan
    value = min(max(value, limits.low), limits.high)
    grid, point = Fraction(release.grid), Fraction(value)
    if abs(value) < release.whole:
        point = grid * floor(point / grid + Fraction(1, 2))
    total = point + noise * grid
    try:
        return float(total)
    except OverflowError:
        return inf if total > 0 else -inf
