"""Vectors plus vector noise: what laws on R^d share.

Noise is whole grid steps, held in float64, NaN where kernels cannot decide it. It is drawn
for groups of sixteen rows, coordinate by coordinate, so that the same coordinate of sixteen rows is
one vector; then put in order, row after row.
"""

import numpy as np

from fastnoise_kernels.aes import expanded
from fastnoise_kernels.ahead import look_at_halves, nothing_ahead
from fastnoise_kernels.exact import times_plus_once
from fastnoise_kernels.filler import call_filler, rows_before
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.lanes import WOVEN
from fastnoise_kernels.layout import DIM, WIDTH
from fastnoise_kernels.memory import (
    copy,
    element,
    fuses,
    put,
    rows_intrinsic,
    times_plus,
    wide_vectors,
)
from fastnoise_kernels.release import add_tile, canonical, clipped, is_in_place, set_aside, snap
from fastnoise_kernels.words import words_room

TILE_VALUES = 8192  # words, noise and data of a tile stay in the second-level cache
PATTERN = 512  # the grids of coordinates are repeated at least this long, for long loops


@inner
def scratch_size(rows, width, dim):
    """In 64-bit words: for words, five columns of sixteen rows per coordinate, and five per row."""
    return words_room(rows, width) // 2 + 80 * (dim + 1) + 5 * (rows + 32)


@inner
def tile_rows(dim):
    """How many rows a tile has; and a mark stands for."""
    return max(16, TILE_VALUES // dim // 16 * 16)


@inner
def fill_rows(filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise):
    """The noise of rows from place `at` on: how many, how many rows of `noise` precede them, and

    whether some noise is undecided.
    """
    rows = tile_rows(np.int64(law[DIM]))
    if first < 0:
        n = min(rows, stop - at)
        some, high = ids[at : at + n], tops[at : at + n]
        undecided = call_filler(filler, schedule, law, -1, some, high, n, ahead, scratch, noise)
        return n, 0, undecided != 0
    n = min(rows - (first + at) % 16, stop - at)
    first += at
    undecided = call_filler(filler, schedule, law, first, ids, tops, n, ahead, scratch, noise)
    return n, rows_before(first), undecided != 0


def _order(order):
    """order: the row in each lane of a column."""
    eights, fours, twos, ones = (rows_intrinsic(order[:8], count) for count in (8, 4, 2, 1))
    second = order[8]

    @inner
    def put_in_order(columns, dim, noise, at):
        """A group's columns as sixteen rows, from noise[at] on."""
        for half in range(2):
            i, start, to = 0, 8 * half, at + half * second * dim
            while i + 8 <= dim:
                eights(columns, 16 * i + start, noise, to + i, dim)
                i += 8
            if i + 4 <= dim:
                fours(columns, 16 * i + start, noise, to + i, dim)
                i += 4
            if i + 2 <= dim:
                twos(columns, 16 * i + start, noise, to + i, dim)
                i += 2
            if i < dim:
                ones(columns, 16 * i + start, noise, to + i, dim)

    return put_in_order


put_in_order, put_woven_in_order = _order(range(16)), _order(WOVEN)


@inner
def add_values(noise, begin, end, x, out, low, high, grids, inverses, whole):
    """out = x + noise[begin:end] * grid, released; with a grid for each coordinate.

    grids: repeated often enough for long loops.
    """
    wide_vectors()
    for i in range(begin, end if whole == 0.0 and not fuses() else begin):
        value = clipped(np.float64(x[i - begin]), low, high)
        out[i - begin] = canonical(times_plus_once(noise[i], grids[i % len(grids)], value))
    at = begin
    while at < end and (whole > 0.0 or fuses()):
        phase, done = at % len(grids), at - begin
        size = min(len(grids) - phase, end - at)
        for i in range(size):
            grid, inverse = element(grids, phase + i), element(inverses, phase + i)
            value = clipped(np.float64(element(x, done + i)), low, high)
            point = snap(value, grid, inverse, grid * whole)
            total = canonical(times_plus(element(noise, at + i), grid, point))
            put(out, done + i, out.dtype.type(total))
        at += size


@inner
def add_decided_values(noise, begin, end, x, out, base, low, high, grids, whole):
    """The same, one by one; counts noise that is NaN, where `out` is NaN or in place stays `x`."""
    in_place, undecided = is_in_place(x, out), 0
    for i in range(begin, end):
        grid = grids[i % len(grids)]
        if noise[i] != noise[i]:
            if not in_place:
                out[base + i] = np.nan
            undecided += 1
        else:
            value = clipped(np.float64(x[base + i]), low, high)
            point = snap(value, grid, 1.0 / grid, grid * whole)
            out[base + i] = canonical(times_plus_once(noise[i], grid, point))
    return undecided


@inner
def mark(marks, at, n, dim):
    """Rows at .. at + n - 1 have undecided ones among them; a mark is for `tile_rows` of them."""
    rows = tile_rows(dim)
    for block in range(at // rows, (at + n - 1) // rows + 1):
        marks[block] = 1


@inner
def vector_rooms(law):
    """Room for a tile: `ahead`, scratch and noise."""
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    rows = tile_rows(dim)
    scratch = np.empty(scratch_size(rows, width, dim), np.uint64)
    return nothing_ahead(), scratch, np.empty((rows + 32) * dim)


@kernel
def perturb_vectors(
    start,
    stop,
    filler,
    key,
    law,
    first,
    ids,
    tops,
    skip,
    x,
    out,
    low,
    high,
    nan,
    grids,
    whole,
    marks,
):
    """out = x + noise for rows start .. stop; counts the values that are undecided.

    x: values in C order, without the first `skip` of the first row, and perhaps without some of
        the last; grids: one per coordinate; whole: 2**52, or 0 if nothing is snapped; marks: set
        where values are undecided.
    """
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    rows, schedule = tile_rows(dim), expanded(key)
    ahead, scratch, noise = vector_rooms(law)
    repeated = np.empty(dim * ((PATTERN + dim - 1) // dim))
    for i in range(len(repeated)):
        repeated[i] = grids[i % dim]
    inverses, grid, aside = 1.0 / repeated, grids[0], np.empty(rows * dim, x.dtype)
    same = np.all(grids == grid)
    undecided = 0
    at = start
    while at < stop:
        look_at_halves(ahead, x, out, at * dim - skip, rows, dim, width)
        n, lead, some = fill_rows(
            filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise
        )
        base = (at - lead) * dim - skip  # where the first group starts in x
        begin, end = max(lead * dim, -base), min((lead + n) * dim, len(x) - base)
        if some:
            mark(marks, at, n, dim)
            undecided += add_decided_values(
                noise, begin, end, x, out, base, low, high, grids, whole
            )
        else:
            values = set_aside(x, base + begin, end - begin, out, aside)
            to = out[base + begin : base + end]
            if same:
                add_tile(noise[begin:end], values, to, low, high, nan, grid, grid * whole)
            else:
                add_values(noise, begin, end, values, to, low, high, repeated, inverses, whole)
        at += n
    return undecided


@kernel
def fill_vectors(start, stop, filler, key, law, first, ids, tops, out):
    """The noise itself in grid steps, NaN where it is undecided."""
    dim, schedule = np.int64(law[DIM]), expanded(key)
    ahead, scratch, noise = vector_rooms(law)
    at = start
    while at < stop:
        n, lead, _ = fill_rows(
            filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise
        )
        copy(noise[lead * dim : (lead + n) * dim], out[at * dim : (at + n) * dim])
        at += n
    return 0
