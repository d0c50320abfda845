"""The l2 Laplace law: density proportional to exp(-|v| / scale) on R^d, d >= 2, rounded to a grid.

The law is that of real numbers, uniforms with bits without end, and what comes out is theirs
exactly. Floats tell where a coordinate is with an error that is bounded (`l2_lanes`); where that
leaves a doubt (which of two cells, whether a radius fits), the row is looked at again with the next
bits of its words; and where a doubt is left, the kernel writes NaN, and the Python layer decides
with as many bits as it takes (`l2_reader.L2Reader`, the definition).
"""

import numpy as np
from numba import carray

from fastnoise_kernels.chacha import AHEAD, BATCH, extra_blocks, refining_words, sixteen_blocks
from fastnoise_kernels.filler import vector_filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.l2_lanes import (
    LEAST_CELLS,
    LONG,
    SHORT,
    SPARE,
    chi_sizes,
    pairs_intrinsic,
    plane,
    radii_intrinsic,
    space,
    vectors_intrinsic,
)
from fastnoise_kernels.l2_places import law_float, look_at_coins, place_of
from fastnoise_kernels.layout import (
    DIM,
    EXTRA_NONCE,
    FINE_BITS,
    PLANE,
    RADIUS_WORDS,
    REFINED_DRAW,
    SCALE,
    SHAPE,
    SPACE,
    UNIFORM_BITS,
    WIDTH,
    l2_words,
    words_before,
)
from fastnoise_kernels.vectors import (
    fetch_lines,
    marked_row,
    put_woven_in_order,
    row_at,
    scratch_size,
    tile_words,
)

MOST_NOISE = 2.0**52  # what is larger is left to the Python layer
NEXT = np.uint64(UNIFORM_BITS)  # the leading bits of a refining word take the place of spare ones


@inner
def cell_sizes(law):
    """Of a cell: its grid steps, half a step in cells, a mask of the bits of a place."""
    steps = np.uint64(1) << law[FINE_BITS]
    return np.float64(steps), 0.5 / np.float64(steps), steps - np.uint64(1)


@inner
def radius_sizes(law):
    """In cells: the scale; the same, LEAST_CELLS at least; the most that a radius may be."""
    steps = np.float64(np.uint64(1) << law[FINE_BITS])
    scale = law_float(law, SCALE) / steps
    return scale, max(scale, LEAST_CELLS), MOST_NOISE / steps


@inner
def longer_words(key, row, words, at, numbers, longer):
    """Words of a row, at words[at] and so on, their next bits in place of spare ones, in lane 0.

    numbers: their indices as uniform numbers.
    """
    following = refining_words(key, row, numbers)
    for i in range(len(numbers)):
        low = words[at + 32 * i] & ~np.uint32(SPARE)
        longer[32 * i] = low | np.uint32(following[i] >> NEXT)
        longer[32 * i + 16] = words[at + 32 * i + 16]


@inner
def rows_in(woven):
    """A mask of rows, of one that is woven (`lanes.WOVEN`).

    The middle two of four groups of bits change places: of four bits, then of two.
    """
    bits = np.int64(woven)
    bits = bits & 0xF00F | bits << 4 & 0x0F00 | bits >> 4 & 0x00F0
    return np.uint32(bits & 0xC3C3 | bits << 2 & 0x3030 | bits >> 2 & 0x0C0C)


@inner
def woven_lane(lane):
    """Where `lanes.WOVEN` has it."""
    return lane & 1 | lane >> 1 & 6 | (lane & 2) << 2


def _vector_groups(vectors, dim, wide):
    """What fills all groups of rows in two or three dimensions; whether doubts are left."""
    before, count = words_before(dim), l2_words(dim)
    sixteen_vectors = vectors_intrinsic(vectors, before, wide, SHORT)
    sixteen_longer = vectors_intrinsic(vectors, before, False, LONG)

    @inner
    def look_again(key, row, words, start, lane, cell, sizes, columns):
        longer, again = np.zeros(32 * count, np.uint32), np.empty(16 * dim)
        longer_words(key, row, words, start + lane, np.arange(count), longer)
        cell_alone = cell[0], cell[1], np.uint64(0)
        left = sixteen_longer(longer, 0, 0, cell_alone, sizes, again) & np.uint32(1) > 0
        for i in range(dim):
            at, wide_at = start + 32 * (before + i), start + 32 * count
            place = place_of(i, lane, words, at, wide_at, cell[2])
            columns[16 * i + woven_lane(lane)] = np.nan if left else again[16 * i] + place
        return left

    @inner
    def fill_groups(key, law, first, ids, lead, n, words, cell, sizes, columns, ahead, noise):
        width, left = np.int64(law[WIDTH]), False
        for group in range((lead + n + 15) // 16):
            fetch_lines(ahead, group)
            start = 16 * width * group
            woven = sixteen_vectors(words, start, start + 32 * count, cell, sizes, columns)
            doubts = rows_in(woven)
            for at in range(16 * group, 16 * group + 16 if doubts else 0):
                row = marked_row(doubts, at, first, ids, lead, n)
                if row >= 0:
                    left |= look_again(key, row, words, start, at % 16, cell, sizes, columns)
            put_woven_in_order(columns, dim, noise, 16 * dim * group)
        return left

    return fill_groups


planes, wide_planes = (_vector_groups(plane, PLANE, wide) for wide in (False, True))
spaces, wide_spaces = (_vector_groups(space, SPACE, wide) for wide in (False, True))
fill_pairs, fill_wide_pairs = (pairs_intrinsic(wide, SHORT) for wide in (False, True))
sixteen_radii, sixteen_longer_radii = radii_intrinsic(SHORT), radii_intrinsic(LONG)
fill_longer_pairs = pairs_intrinsic(False, LONG)


@inner
def longer_radius(key, row, words, at, draw, chi_of, sizes, radii):
    """A radius from longer words, in lane 0: of the row's own at words[at], or of an extra draw."""
    longer, extra = np.zeros(96, np.uint32), np.empty(BATCH, np.uint32)
    numbers = draw * REFINED_DRAW + np.arange(RADIUS_WORDS)
    if draw:
        extra_blocks(key, row, draw - 1, extra)
        longer_words(key, row, extra, 0, numbers, longer)
    else:
        longer_words(key, row, words, at, numbers, longer)
    if sixteen_longer_radii(longer, 0, chi_of, sizes, radii) & np.uint32(1):
        radii[:] = np.nan  # what seemed to fit, in doubt, does not


@inner
def look_again(key, row, words, start, lane, draw, pair, dim, cell, sizes, chi_of, columns):
    """Two coordinates of a row, its radius as well, from longer words; whether in doubt."""
    longer, again, radii = np.zeros(64, np.uint32), np.empty(32), np.empty(48)
    longer_radius(key, row, words, start + lane, draw, chi_of, sizes, radii)
    first = RADIUS_WORDS + pair
    longer_words(key, row, words, start + 32 * first + lane, first + np.arange(2), longer)
    doubts, cell_alone = np.empty(1, np.uint32), (cell[0], cell[1], np.uint64(0))
    nothing_ahead = np.zeros(AHEAD, np.int64)
    fill_longer_pairs(longer, 0, 0, cell_alone, radii, again, 1, doubts, nothing_ahead, 0)
    left = doubts[0] & np.uint32(1) > 0
    wide_at = start + 32 * (RADIUS_WORDS + dim + dim % 2)
    for i in range(2):
        place = place_of(pair + i, lane, words, start + 32 * (first + i), wide_at, cell[2])
        value = np.nan if left else again[16 * i] + place
        columns[16 * (pair + i) + woven_lane(lane)] = value
    return left


@inner
def draw_again(key, first, ids, lead, waiting, chi_of, sizes, radii, draws, room):
    """The radii of rows whose own did not fit, from extra draws: those of sixteen rows at a time.

    One by one, with sixteen draws each, they took a sixth of the time in four dimensions.
    """
    counters, nonces = room[:16].view(np.uint64), room[16:32].view(np.uint64)
    some, words = room[32:80], room[80:208].view(np.uint32)
    while len(waiting) > 0:
        left = 0
        for start in range(0, len(waiting), 16):
            places = waiting[start : start + 16]
            for lane in range(len(places)):
                counters[lane] = np.uint64(row_at(places[lane], first, ids, lead))
                nonces[lane] = np.uint64(EXTRA_NONCE + draws[places[lane]])
            sixteen_blocks(key, counters, nonces, words, 0)
            misfits = sixteen_radii(words, 0, chi_of, sizes, some)
            for lane in range(len(places)):
                at = places[lane]
                draws[at] += 1
                if misfits >> np.uint32(woven_lane(lane)) & np.uint32(1):
                    waiting[left] = at
                    left += 1
                else:
                    for part in range(0, 48, 16):
                        own = 48 * (at // 16) + part + woven_lane(at % 16)
                        radii[own] = some[part + woven_lane(lane)]
        waiting = waiting[:left]


@inner
def tile_radii(key, law, first, ids, lead, n, words, chi_of, sizes, radii, draws, waiting, room):
    """Put the radii of all groups, 48 numbers each; which draws they are, 0 being a row's own.

    waiting, room: to use; as much as there are rows, and 208 numbers.
    """
    draws[:] = 0
    count = 0
    for group in range(len(radii) // 48):
        start = 16 * np.int64(law[WIDTH]) * group
        woven = sixteen_radii(words, start, chi_of, sizes, radii[48 * group :])
        misfits = rows_in(woven)
        for at in range(16 * group, 16 * group + 16 if misfits else 0):
            if marked_row(misfits, at, first, ids, lead, n) >= 0:
                waiting[count] = at
                count += 1
    if count > 0:
        draw_again(key, first, ids, lead, waiting[:count], chi_of, sizes, radii, draws, room)


@inner
def normal_groups(key, law, first, ids, lead, n, words, cell, sizes, rest, ahead, noise):
    """What fills all groups in four dimensions or more; whether doubts are left."""
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    chi_of = chi_sizes(law_float(law, SHAPE), law_float(law, SHAPE + 1))
    pairs = (dim + 1) // 2
    groups, left = (lead + n + 15) // 16, False
    # Arrays of their own, three a tile and more, took 0.1 ns a value in 16 dimensions.
    rows, values = 16 * groups, 16 * (dim + 1)
    radii, rest = rest[: 3 * rows], rest[3 * rows :]
    draws, waiting = rest[:rows].view(np.int64), rest[rows : 2 * rows].view(np.int64)
    columns, room = rest[2 * rows : 2 * rows + values], rest[2 * rows + values :]
    tile_radii(key, law, first, ids, lead, n, words, chi_of, sizes, radii, draws, waiting, room)
    doubts = room[: pairs // 2 + 1].view(np.uint32)
    for group in range(groups):
        start, own = 16 * width * group, radii[48 * group :]
        pairs_at, wide_at = start + 32 * RADIUS_WORDS, start + 32 * (RADIUS_WORDS + 2 * pairs)
        if cell[2] > SPARE:
            some = fill_wide_pairs(
                words, pairs_at, wide_at, cell, own, columns, pairs, doubts, ahead, group
            )
        else:
            some = fill_pairs(
                words, pairs_at, wide_at, cell, own, columns, pairs, doubts, ahead, group
            )
        for pair in range(0, dim if some else 0, 2):
            unsure = rows_in(doubts[pair // 2])
            for at in range(16 * group, 16 * group + 16 if unsure else 0):
                row, lane = marked_row(unsure, at, first, ids, lead, n), at % 16
                if row >= 0:
                    left |= look_again(
                        key,
                        row,
                        words,
                        start,
                        lane,
                        draws[at],
                        pair,
                        dim,
                        cell,
                        sizes,
                        chi_of,
                        columns,
                    )
        put_woven_in_order(columns, dim, noise, 16 * dim * group)
    return left


@vector_filler
def fill_l2_laplace(key_at, law_at, law_size, first, ids_at, n, ahead_at, scratch_at, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    scratch = carray(scratch_at, scratch_size(n, width, dim))
    ahead = carray(ahead_at, AHEAD)
    words, lead, rest = tile_words(key, first, ids, n, width, ahead, scratch)
    noise = carray(noise_at, (lead + n + 16) * dim)
    cell, sizes = cell_sizes(law), radius_sizes(law)
    wide = cell[2] > SPARE
    if dim > SPACE:
        left = normal_groups(key, law, first, ids, lead, n, words, cell, sizes, rest, ahead, noise)
    elif dim == SPACE and wide:
        left = wide_spaces(key, law, first, ids, lead, n, words, cell, sizes, rest, ahead, noise)
    elif dim == SPACE:
        left = spaces(key, law, first, ids, lead, n, words, cell, sizes, rest, ahead, noise)
    elif wide:
        left = wide_planes(key, law, first, ids, lead, n, words, cell, sizes, rest, ahead, noise)
    else:
        left = planes(key, law, first, ids, lead, n, words, cell, sizes, rest, ahead, noise)
    if cell[2]:
        left |= look_at_coins(key, law, first, ids, lead, n, words, noise)
    return ~lead if left else lead
