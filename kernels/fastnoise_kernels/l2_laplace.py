"""The l2 Laplace law: density proportional to exp(-|v| / scale) on R^d, d >= 2, rounded to a grid.

The law is that of real numbers, uniforms with bits without end, and what comes out is theirs
exactly. Floats tell where a coordinate is with an error that is bounded (`l2_lanes`); where that
leaves a doubt (which of two cells, whether a radius fits), the row is careful: it is looked at
again with the next bits of its words. Where a doubt is left, it is undecided: the kernel writes
NaN, and the Python layer decides with as many bits as it takes (`laws.l2.reader`, the definition).
"""

import numpy as np

from fastnoise_kernels.aes import batch_of
from fastnoise_kernels.ahead import fetch_with_group, nothing_ahead
from fastnoise_kernels.filler import address_at, is_marked, vector_filler
from fastnoise_kernels.jit import inlined, inner
from fastnoise_kernels.l2_lanes import (
    LEAST_CELLS,
    LONG,
    SHORT,
    SPARE,
    Cell,
    RadiusSizes,
    chi_sizes,
    pairs_intrinsic,
    plane,
    radii_intrinsic,
    space,
    vectors_intrinsic,
)
from fastnoise_kernels.l2_places import law_float, look_at_coins, place_of
from fastnoise_kernels.layout import (
    BATCH,
    DIM,
    DRAW_BLOCKS,
    EXTRA_INDEX,
    FINE_BITS,
    PLANE,
    RADIUS_WORDS,
    REFINED_DRAW,
    SCALE,
    SHAPE,
    SPACE,
    UNIFORM_BITS,
    l2_words,
    words_before,
)
from fastnoise_kernels.vectors import put_woven_in_order
from fastnoise_kernels.words import NEXT_INDEX, block_place, refining_words, row_schedule

MOST_NOISE = 2.0**52  # what is larger is undecided
NEXT = np.uint64(UNIFORM_BITS)  # the leading bits of a refining word take the place of spare ones


@inner
def cell_sizes(law):
    steps = np.uint64(1) << law[FINE_BITS]
    return Cell(np.float64(steps), 0.5 / np.float64(steps), steps - np.uint64(1))


@inner
def without_places(cell):
    return Cell(cell.steps, cell.half, np.uint64(0))


@inner
def radius_sizes(law):
    steps = np.float64(np.uint64(1) << law[FINE_BITS])
    scale = law_float(law, SCALE) / steps
    return RadiusSizes(scale, max(scale, LEAST_CELLS), MOST_NOISE / steps)


@inner
def longer_words(schedule, words, at, numbers, longer):
    """Words of a row, at words[at] and so on, their next bits in place of spare ones, in lane 0.

    schedule: of the row's own key; numbers: their indices as uniform numbers.
    """
    following = refining_words(schedule, numbers)
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
    """What fills all groups of rows in two or three dimensions; whether some are undecided."""
    before, count = words_before(dim), l2_words(dim)
    sixteen_vectors = vectors_intrinsic(vectors, before, wide, SHORT)
    sixteen_longer = vectors_intrinsic(vectors, before, False, LONG)

    @inlined
    def look_again(tile, at, cell, sizes, columns):
        """The row at a place, from longer words; whether it is undecided."""
        words, lane, start = tile.words, at % 16, tile.stored * (at - at % 16)
        schedule = row_schedule(tile.schedule, address_at(at, tile))
        longer, again = np.zeros(32 * count, np.uint32), np.empty(16 * dim)
        longer_words(schedule, words, start + lane, np.arange(count), longer)
        marked = sixteen_longer(longer, 0, 0, without_places(cell), sizes, again)
        undecided = marked & np.uint32(1) > 0
        for i in range(dim):
            own, wide_at = start + 32 * (before + i), start + 32 * count
            place = place_of(i, lane, words, own, wide_at, cell.mask)
            columns[16 * i + woven_lane(lane)] = np.nan if undecided else again[16 * i] + place
        return undecided

    @inlined
    def fill_groups(tile, cell, sizes):
        columns, width = tile.room.view(np.float64), tile.stored
        undecided = False
        for group in range((tile.lead + tile.n + 15) // 16):
            fetch_with_group(tile.ahead, group)
            start = 16 * width * group
            woven = sixteen_vectors(tile.words, start, start + 32 * count, cell, sizes, columns)
            careful = rows_in(woven)
            for at in range(16 * group, 16 * group + 16 if careful else 0):
                if is_marked(careful, at, tile):
                    undecided |= look_again(tile, at, cell, sizes, columns)
            put_woven_in_order(columns, dim, tile.noise, 16 * dim * group)
        return undecided

    return fill_groups


planes, wide_planes = (_vector_groups(plane, PLANE, wide) for wide in (False, True))
spaces, wide_spaces = (_vector_groups(space, SPACE, wide) for wide in (False, True))
fill_pairs, fill_wide_pairs = (pairs_intrinsic(wide, SHORT) for wide in (False, True))
sixteen_radii, sixteen_longer_radii = radii_intrinsic(SHORT), radii_intrinsic(LONG)
fill_longer_pairs = pairs_intrinsic(False, LONG)


@inner
def longer_radius(schedule, words, at, draw, chi_of, sizes, radii):
    """A radius from longer words, those of a draw at words[at], in lane 0."""
    longer, numbers = np.zeros(96, np.uint32), draw * REFINED_DRAW + np.arange(RADIUS_WORDS)
    longer_words(schedule, words, at, numbers, longer)
    if sixteen_longer_radii(longer, 0, chi_of, sizes, radii) & np.uint32(1):
        radii[:] = np.nan  # what seemed to fit, does not


@inner
def draw_place(address, draw):
    """The first block of an extra draw of a row."""
    return block_place(address, EXTRA_INDEX + DRAW_BLOCKS * (draw - 1))


@inner
def draw_words(schedule, lows, highs, words):
    """Those of extra draws of sixteen rows, from their first blocks."""
    for i in range(DRAW_BLOCKS):
        batch_of(schedule, lows, highs, words, i * BATCH)
        for lane in range(16):
            highs[lane] += NEXT_INDEX


@inlined
def look_again(tile, at, draw, pair, cell, sizes, chi_of, columns):
    """Two coordinates of a row, its radius as well, from longer words; whether undecided.

    draw: which one its radius is; pair: the first of both coordinates.
    """
    words, lane, dim = tile.words, at % 16, np.int64(tile.law[DIM])
    start, address = tile.stored * (at - lane), address_at(at, tile)
    schedule = row_schedule(tile.schedule, address)
    longer, again, radii = np.zeros(64, np.uint32), np.empty(32), np.empty(48)
    if draw:
        lows, highs = np.empty(16, np.uint64), np.empty(16, np.uint64)
        drawn = np.empty(DRAW_BLOCKS * BATCH, np.uint32)
        for i in range(16):
            lows[i], highs[i] = draw_place(address, draw)
        draw_words(tile.schedule, lows, highs, drawn)
        longer_radius(schedule, drawn, 0, draw, chi_of, sizes, radii)
    else:
        longer_radius(schedule, words, start + lane, draw, chi_of, sizes, radii)
    first, careful = RADIUS_WORDS + pair, np.empty(1, np.uint32)
    longer_words(schedule, words, start + 32 * first + lane, first + np.arange(2), longer)
    cell_alone, nothing = without_places(cell), nothing_ahead()
    fill_longer_pairs(longer, 0, 1, cell_alone, radii, again, careful, nothing, 0)
    undecided = careful[0] & np.uint32(1) > 0
    wide_at = start + 32 * (RADIUS_WORDS + dim + dim % 2)
    for i in range(2):
        place = place_of(pair + i, lane, words, start + 32 * (first + i), wide_at, cell.mask)
        value = np.nan if undecided else again[16 * i] + place
        columns[16 * (pair + i) + woven_lane(lane)] = value
    return undecided


@inlined
def draw_again(tile, waiting, chi_of, sizes, radii, draws, room):
    """The radii of rows whose own did not fit, from extra draws: those of sixteen rows at a time.

    One by one, with sixteen draws each, they took a sixth of the time in four dimensions.
    """
    lows, highs = room[:16].view(np.uint64), room[16:32].view(np.uint64)
    some, words = room[32:80], room[80:208].view(np.uint32)
    while len(waiting) > 0:
        left = 0
        for start in range(0, len(waiting), 16):
            places = waiting[start : start + 16]
            for lane in range(len(places)):
                at = places[lane]
                lows[lane], highs[lane] = draw_place(address_at(at, tile), draws[at] + 1)
            draw_words(tile.schedule, lows, highs, words)
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


@inlined
def tile_radii(tile, chi_of, sizes, radii, draws, waiting, room):
    """Put the radii of all groups, 48 numbers each; which draws they are, 0 being a row's own.

    waiting, room: to use; as much as there are rows, and 208 numbers.
    """
    draws[:] = 0
    count = 0
    for group in range(len(radii) // 48):
        start = 16 * tile.stored * group
        woven = sixteen_radii(tile.words, start, chi_of, sizes, radii[48 * group :])
        misfits = rows_in(woven)
        for at in range(16 * group, 16 * group + 16 if misfits else 0):
            if is_marked(misfits, at, tile):
                waiting[count] = at
                count += 1
    if count > 0:
        draw_again(tile, waiting[:count], chi_of, sizes, radii, draws, room)


@inlined
def normal_groups(tile, cell, sizes):
    """What fills all groups in four dimensions or more; whether some are undecided."""
    law, words, ahead, rest = tile.law, tile.words, tile.ahead, tile.room.view(np.float64)
    dim, width = np.int64(law[DIM]), tile.stored
    chi_of = chi_sizes(law_float(law, SHAPE), law_float(law, SHAPE + 1))
    pairs, groups = (dim + 1) // 2, (tile.lead + tile.n + 15) // 16
    # Arrays of their own, three per tile and more, took 0.1 ns per value in 16 dimensions.
    rows, values = 16 * groups, 16 * (dim + 1)
    radii, rest = rest[: 3 * rows], rest[3 * rows :]
    draws, waiting = rest[:rows].view(np.int64), rest[rows : 2 * rows].view(np.int64)
    columns, room = rest[2 * rows : 2 * rows + values], rest[2 * rows + values :]
    tile_radii(tile, chi_of, sizes, radii, draws, waiting, room)
    marked, undecided = room[: pairs // 2 + 1].view(np.uint32), False
    for group in range(groups):
        start, own = 16 * (width * group + 2 * RADIUS_WORDS), radii[48 * group :]
        if cell.mask > SPARE:
            some = fill_wide_pairs(words, start, pairs, cell, own, columns, marked, ahead, group)
        else:
            some = fill_pairs(words, start, pairs, cell, own, columns, marked, ahead, group)
        for pair in range(0, dim if some else 0, 2):
            careful = rows_in(marked[pair // 2])
            for at in range(16 * group, 16 * group + 16 if careful else 0):
                if is_marked(careful, at, tile):
                    undecided |= look_again(tile, at, draws[at], pair, cell, sizes, chi_of, columns)
        put_woven_in_order(columns, dim, tile.noise, 16 * dim * group)
    return undecided


@vector_filler
def fill_l2_laplace(tile):
    """A row's words, of 64 bits: in two dimensions an angle and two uniforms of the radius, in
    three a height, an angle and three; in more the three of chi, then two per pair of coordinates,
    of a normal radius and an angle. Spare bits are places in cells: see `layout`."""
    dim = tile.law[DIM]
    cell, sizes = cell_sizes(tile.law), radius_sizes(tile.law)
    wide = cell.mask > SPARE
    if dim > SPACE:
        undecided = normal_groups(tile, cell, sizes)
    elif dim == SPACE and wide:
        undecided = wide_spaces(tile, cell, sizes)
    elif dim == SPACE:
        undecided = spaces(tile, cell, sizes)
    elif wide:
        undecided = wide_planes(tile, cell, sizes)
    else:
        undecided = planes(tile, cell, sizes)
    if cell.mask:
        undecided |= look_at_coins(tile)
    return undecided
