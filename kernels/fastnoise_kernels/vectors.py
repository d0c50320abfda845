"""Vectors plus vector noise: what laws on R^d share.

Noise is whole grid steps, held in float64, NaN for a row that kernels cannot decide. A tile holds
it as it is drawn: groups of sixteen rows, coordinate by coordinate, so that sixteen rows are one
vector instruction; it is put in order when it is added.
"""

import numpy as np

from fastnoise_kernels.chacha import fill_words, fill_words_of, words_room
from fastnoise_kernels.filler import call_filler
from fastnoise_kernels.jit import inlined, inner, kernel
from fastnoise_kernels.lanes import element, put, wide_vectors
from fastnoise_kernels.layout import DIM
from fastnoise_kernels.release import canonical, snap

TILE_VALUES = 1024  # words, noise and data of a tile stay in the first-level cache
PATTERN = 64  # the grids of coordinates are repeated at least this long, for long loops


@inner
def tile_words(key, first, ids, n, width):
    """The words of n rows in groups of sixteen, and how many rows precede the first."""
    words = np.empty(words_room(n, width), np.uint32)
    if first < 0:
        fill_words_of(key, ids, width, words)
        return words, 0
    return words[fill_words(key, first, n, width, words) :], first % 16


@inlined
def group_word(words, place, lane):
    """A 64-bit word of a row: `place` is where its vector of low halves starts."""
    low, high = element(words, place + lane), element(words, place + 16 + lane)
    return np.uint64(low) | np.uint64(high) << np.uint64(32)


@inner
def tile_rows(dim):
    return max(16, TILE_VALUES // dim // 16 * 16)


@inner
def fill_rows(filler, key, law, first, ids, at, stop, noise):
    """The noise of rows from place `at` on: how many, and how many precede them in `noise`."""
    rows = tile_rows(np.int64(law[DIM]))
    if first < 0:
        n = min(rows, stop - at)
        return n, call_filler(filler, key, law, -1, ids[at:], n, noise)
    n = min(rows - (first + at) % 16, stop - at)
    return n, call_filler(filler, key, law, first + at, ids, n, noise)


@inner
def put_in_order(noise, groups, dim, flat):
    """Row after row, whole groups."""
    for group in range(groups):
        start = 16 * dim * group
        for i in range(dim):
            for lane in range(16):
                put(flat, start + lane * dim + i, element(noise, start + 16 * i + lane))


@inner
def add_values(noise, x, out, low, high, grids, inverses, whole):
    """out = x + noise * grid, released; `out` is left at `x` where noise is NaN: how often."""
    wide_vectors()
    undecided = 0
    for i in range(len(x)):
        value = np.float64(x[i])
        point = snap(value, low, high, grids[i], inverses[i], grids[i] * whole)
        total = canonical(point + noise[i] * grids[i])
        missing = noise[i] != noise[i]
        out[i] = value if missing else total
        undecided += missing
    return undecided


@kernel
def perturb_vectors(
    start, stop, filler, key, law, first, ids, skip, x, out, low, high, grids, whole
):
    """out = x + noise for rows start .. stop; counts the values left for the Python layer.

    x: values in C order, of which the first `skip` of the first row are missing, and perhaps some
        of the last; grids: one a coordinate; whole: 2**52, or 0 if nothing is snapped.
    """
    dim = np.int64(law[DIM])
    rows = tile_rows(dim)
    noise, flat = np.empty((rows + 32) * dim), np.empty((rows + 32) * dim)
    repeated = dim * ((PATTERN + dim - 1) // dim)
    pattern = np.empty(repeated)
    for i in range(repeated):
        pattern[i] = grids[i % dim]
    inverses = 1.0 / pattern
    undecided = 0
    at = start
    while at < stop:
        n, lead = fill_rows(filler, key, law, first, ids, at, stop, noise)
        put_in_order(noise, (lead + n + 15) // 16, dim, flat)
        base = (at - lead) * dim - skip  # where the first group starts in x
        begin, end = max(lead * dim, -base), min((lead + n) * dim, len(x) - base)
        while begin < end:
            phase = begin % repeated
            size = min(repeated - phase, end - begin)
            here = base + begin
            undecided += add_values(
                flat[begin : begin + size],
                x[here : here + size],
                out[here : here + size],
                low,
                high,
                pattern[phase:],
                inverses[phase:],
                whole,
            )
            begin += size
        at += n
    return undecided


@kernel
def fill_vectors(start, stop, filler, key, law, first, ids, out):
    """The noise itself in grid steps, NaN where it is undecided."""
    dim = np.int64(law[DIM])
    noise, flat = np.empty((tile_rows(dim) + 32) * dim), np.empty((tile_rows(dim) + 32) * dim)
    at = start
    while at < stop:
        n, lead = fill_rows(filler, key, law, first, ids, at, stop, noise)
        put_in_order(noise, (lead + n + 15) // 16, dim, flat)
        out[at * dim : (at + n) * dim] = flat[lead * dim : (lead + n) * dim]
        at += n
    return 0
