"""Contiguous arrays through the kernels; and through plain Python what kernels cannot do.

Two kinds of rows are drawn by a reader: those that 64-bit arithmetic cannot decide, and all of them
when numba is told not to compile (NUMBA_DISABLE_JIT), so that the debugger of someone else's
numba code does not meet ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from math import floor, inf, nan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import EXACT_FLOAT, KEPT_BELOW, SPARE_BITS, UNDECIDED

from fastnoise.float_mode import refuse_odd_floats
from fastnoise.reader import Reader, chacha_block
from fastnoise.release import Release
from fastnoise.rows import Rows, read_only

Array = npt.NDArray[Any]


class Limits(NamedTuple):
    """What data is clipped to; what the sum may be: the limits of an integer dtype; NaN or not."""

    low: float = -inf
    high: float = inf
    least: float = -inf
    most: float = inf
    missing: bool = True


CHUNK = 1 << 18  # rows at a time where they pass through a buffer


def perturb_chunk(
    release: Release,
    key: bytes,
    rows: Rows,
    done: int,
    source: Array,
    target: Array,
    limits: Limits,
) -> None:
    """Perturb one contiguous array into another, or into itself.

    A call that is interrupted leaves none of `source` in another array: values that Python has yet
    to compute are NaN, or 0, until then. Both are float64 or float32, or for laws on the integers,
    int64 or uint64. `done` values of the same call came before: `rows` are those of the whole call.
    """
    skip = done % release.dim
    rows = rows.after(done // release.dim)
    count = (skip + target.size + release.dim - 1) // release.dim
    if not compiles():
        _perturb_plainly(release, key, rows, range(count), skip, source, target, limits)
        return
    loop = _kernels().perturb_floats
    before: tuple[Any, ...] = ()
    clip = limits.low, limits.high, limits.missing
    rest: tuple[Any, ...] = *clip, release.grid, release.whole
    marks = np.zeros(0, np.uint8)
    if release.grids is not None:
        loop, before = _vector_kernels().perturb_vectors, (skip,)
        marks = np.zeros(count // _marked_rows(release) + 1, np.uint8)
        rest = *clip, release.grids, release.whole / release.grid, marks
    elif release.integers:
        loop, rest = _integer_kernels().perturb_integers, tuple(map(target.dtype.type, limits[:4]))
    words, filler = np.frombuffer(key, "<u4"), _filler(release.filler)
    law, source = release.law, read_only(source)
    arguments = filler, words, law, rows.first, rows.ids, *before, source, target, *rest
    if not loop(count, *arguments, grain=release.dim):
        return
    if release.grids is None:
        _perturb_deep_values(release, key, rows, source, target, limits)
    else:
        _perturb_undecided_values(release, key, rows, count, skip, source, target, limits, marks)


def count_bad(values: Array, keep_nan: bool) -> int:
    """How many values are infinite, or NaN unless those are kept."""
    if not compiles():
        return int(np.count_nonzero(np.isinf(values) if keep_nan else ~np.isfinite(values)))
    return int(_kernels().count_bad(values.size, read_only(values), keep_nan))


def integer_noise(release: Release, key: bytes, rows: Rows, count: int) -> npt.NDArray[np.int64]:
    """The noise itself in grid steps, UNDECIDED where it is."""
    noise = np.empty(count, np.int64)
    words, filler = np.frombuffer(key, "<u4"), _filler(release.filler)
    _kernels().fill_noise(count, filler, words, release.law, rows.first, rows.ids, noise)
    return noise


def vector_noise(release: Release, key: bytes, rows: Rows, count: int) -> npt.NDArray[np.float64]:
    """The noise itself in grid steps, a row a draw, NaN where it is undecided."""
    noise = np.empty(count * release.dim)
    words, filler = np.frombuffer(key, "<u4"), _filler(release.filler)
    # Weighed by rows: tiles of few are read while other threads wait, and none should be woken.
    _vector_kernels().fill_vectors(count, filler, words, release.law, rows.first, rows.ids, noise)
    return noise.reshape(count, release.dim)


def fill_keystream(key: bytes, words: npt.NDArray[np.uint32]) -> None:
    """Raw ChaCha20 in standard order; whole batches of 256 words."""
    refuse_odd_floats()  # there is none in it, but in the modules that this may import
    if not compiles():
        blocks = (chacha_block(key, block, 0) for block in range(words.size // 16))
        words[:] = [word for block in blocks for word in block]
        return
    chacha = _chacha()
    batches = words.size // chacha.BATCH
    start = np.uint64(0)
    chacha.keystream(batches, np.frombuffer(key, "<u4"), start, words, grain=chacha.BATCH)


@cache
def compiles() -> bool:
    """Whether numba compiles; it is imported when this is first asked, not before."""
    return not import_module("numba").config.DISABLE_JIT


@cache
def _chacha() -> Any:
    return import_module("fastnoise_kernels.chacha")


@cache
def _kernels() -> Any:
    return import_module("fastnoise_kernels.release")


@cache
def _integer_kernels() -> Any:
    return import_module("fastnoise_kernels.integers")


@cache
def _vector_kernels() -> Any:
    return import_module("fastnoise_kernels.vectors")


@cache
def _filler(name: str) -> int:
    """The address of the compiled filler of a law."""
    return int(getattr(import_module(f"fastnoise_kernels.{name}"), f"fill_{name}").address)


def _perturb_deep_values(
    release: Release, key: bytes, rows: Rows, source: Array, target: Array, limits: Limits
) -> None:
    """Values whose noise 64-bit integers cannot hold, which the kernel has left out.

    Next to never with the grid of a mechanism's own; here so that no tail is ever cut off.
    """
    for start in range(0, target.size, CHUNK):
        left, count = rows.after(start), min(CHUNK, target.size - start)
        deep = integer_noise(release, key, left, count) == UNDECIDED
        places = (start + np.flatnonzero(deep)).tolist()
        _perturb_plainly(release, key, rows, places, 0, source, target, limits)


def _perturb_undecided_values(
    release: Release,
    key: bytes,
    rows: Rows,
    total: int,
    skip: int,
    source: Array,
    target: Array,
    limits: Limits,
    marks: Array,
) -> None:
    """Coordinates that floats cannot decide, which the kernel has left out.

    A few in 2**23 of l2 noise at most; next to none of the staircases, but for a few percent of
    them where epsilon is as small as it may be on the grid.
    """
    step = _marked_rows(release)
    for start in (step * np.flatnonzero(marks)).tolist():
        left, count = rows.after(start), min(step, total - start)
        noise = vector_noise(release, key, left, count)
        unknown = np.isnan(noise)
        for place in np.flatnonzero(unknown.any(axis=1)).tolist():
            some = np.flatnonzero(unknown[place]).tolist()
            drawn = _undecided_noise(release, some, key, left.row(place), noise[place])
            first = (start + place) * release.dim - skip
            steps = {first + i: (n, i) for i, n in zip(some, drawn, strict=True)}
            _add_exactly(release, steps, source, target, limits)


def _undecided_noise(
    release: Release, some: list[int], key: bytes, row: int, noise: Array
) -> list[int]:
    """The noise of some coordinates, given what a kernel knows of them all."""
    if release.filler != "l2_laplace":
        drawn = plain_reader(release).noise(key, row)
        return [drawn[i] for i in some]
    if len(some) == release.dim:  # the coin, most likely; without it the cells are known
        law = release.law.copy()
        law[KEPT_BELOW] = 1 << SPARE_BITS
        ids = read_only(np.array([row], np.int64))
        noise = vector_noise(replace(release, law=read_only(law)), key, Rows(-1, ids), 1)[0]
    drawn = _l2_reader(release).noise_at(some, key, row, noise.tolist())
    return list(drawn)


@lru_cache(maxsize=16)
def _l2_reader(release: Release) -> Any:
    from fastnoise.l2_reader import L2Reader

    return L2Reader(release.law, compiled_blocks)


def compiled_blocks(key: bytes, addresses: Sequence[tuple[int, int]]) -> list[list[int]]:
    """`reader.chacha_block` of every (counter, nonce), fifty times faster."""
    words = np.empty((len(addresses), 16), np.uint32)
    counters, nonces = np.array(addresses, np.uint64).reshape(-1, 2).T.copy()
    _chacha().single_blocks(
        len(addresses), np.frombuffer(key, "<u4"), counters, nonces, words.reshape(-1)
    )
    found: list[list[int]] = words.tolist()
    return found


def _marked_rows(release: Release) -> int:
    return int(_vector_kernels().tile_rows.py_func(release.dim))


def _perturb_plainly(
    release: Release,
    key: bytes,
    rows: Rows,
    places: Iterable[int],
    skip: int,
    source: Array,
    target: Array,
    limits: Limits,
) -> None:
    """Perturb the values of these rows, in integers without end."""
    reader = plain_reader(release)
    for row in places:
        noise = reader.noise(key, rows.row(row))
        drawn = [noise] if isinstance(noise, int) else noise
        first = row * release.dim - skip
        steps = {first + i: (steps, i) for i, steps in enumerate(drawn)}
        _add_exactly(release, steps, source, target, limits)


@np.errstate(over="ignore")  # float32 saturates at infinity
def _add_exactly(
    release: Release,
    noise: dict[int, tuple[int, int]],
    source: Array,
    target: Array,
    limits: Limits,
) -> None:
    """target[place] = source[place] and the noise of a coordinate; some places may be outside."""
    exact_sum = _integer_sum if release.integers else _float_sum
    grids = [release.grid] if release.grids is None else release.grids
    for place, (steps, i) in noise.items():
        if 0 <= place < target.size:
            value, grid = source[place].item(), float(grids[i])
            target[place] = exact_sum(value, steps, grid, release.snapped, limits)


@lru_cache(maxsize=16)
def plain_reader(release: Release) -> Any:
    """What draws the release's law in plain Python: `noise(key, row)`, an int or a list of them."""
    if release.grids is None:
        return Reader(release.law)
    from fastnoise.vector_reader import READERS

    return READERS[release.filler](release.law)


def _integer_sum(value: int, noise: int, grid: float, snapped: bool, limits: Limits) -> float:
    total = min(max(value, limits.low), limits.high) + noise
    return min(max(total, limits.least), limits.most)


def _float_sum(value: float, noise: int, grid: float, snapped: bool, limits: Limits) -> float:
    if value != value:
        return nan
    value = min(max(value, limits.low), limits.high)
    if snapped and abs(value) < grid * 2.0**52:
        steps = value / grid  # exact: grids are powers of two
        value = (floor(steps) + (steps - floor(steps) >= 0.5)) * grid
    if abs(noise) <= EXACT_FLOAT:
        return value + noise * grid + 0.0  # rounded once; -0.0 is 0.0
    total = Fraction(value) + noise * Fraction(grid)
    try:
        return float(total)
    except OverflowError:
        return inf if total > 0 else -inf
