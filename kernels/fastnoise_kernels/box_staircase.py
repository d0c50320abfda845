"""The staircase of boxes: a layer, then every coordinate uniform on its side of the box.

Layer k is the integers |n_i| <= radius_i - 1 + k * steps_i, coordinate by coordinate.
"""

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import AHEAD
from fastnoise_kernels.filler import vector_filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layers import (
    EXTRA_WORDS,
    MOST_NOISE,
    ONE,
    PLACE_SIZES,
    TWO,
    bounded,
    coordinate_size,
    draw_layer,
    own_words,
    place_lanes,
    places,
    put_place_sizes,
    tile_layers,
)
from fastnoise_kernels.layout import DEEPEST, DIM, WIDTH
from fastnoise_kernels.staircase import OUT_OF_WORDS
from fastnoise_kernels.vectors import (
    fetch_lines,
    marked_row,
    put_in_order,
    scratch_size,
    tile_words,
)


@inner
def is_too_wide(law, layer):
    """Whether floats have gaps on some side of the box: then the whole row is undecided."""
    if layer > law[DEEPEST]:
        return True
    for i in range(np.int64(law[DIM])):
        if coordinate_size(law, i, 0) * layer + coordinate_size(law, i, 1) >= MOST_NOISE:
            return True
    return False


@inner
def draw_box(law, words, noise):
    """The noise that a row's words give; how many were used."""
    layer, used = draw_layer(law, words, (np.int64(law[WIDTH]) + 1) // 2)
    wide = is_too_wide(law, layer)
    for i in range(np.int64(law[DIM])):
        if used == OUT_OF_WORDS:
            break
        if wide:
            noise[i] = np.nan
            continue
        half = coordinate_size(law, i, 0) * layer + coordinate_size(law, i, 1)
        place, used = bounded(TWO * half - ONE, words[i], words, used)
        noise[i] = np.float64(np.int64(place) - np.int64(half - ONE))
    return used


@inner
def redraw_box(key, row, law, noise):
    extra = EXTRA_WORDS
    while draw_box(law, own_words(key, row, law, extra), noise) == OUT_OF_WORDS:
        extra *= 2


@intrinsic
def box_column(typing, words, at, layers, sizes, sizes_at, columns, to):
    """One coordinate of sixteen rows on their layers; a mask of those that need care."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        layers = lanes.load_floats(builder, data(2), 0)
        sizes = place_lanes(builder, layers, data(3), arguments[4])
        place, needed = places(builder, data(0), arguments[1], *sizes)
        lanes.store(place, data(5), arguments[6])
        return needed.bits()

    integer = types.int64
    return types.uint32(words, integer, layers, sizes, integer, columns, integer), codegen


@inner
def box_columns(dim, words, start, layers, sizes, columns):
    """The noise of a group of rows on their layers; a mask of those that need care."""
    careful = np.uint32(0)
    for i in range(dim):
        at, of_place = start + 32 * i, PLACE_SIZES * i
        careful |= box_column(words, at, layers, sizes, of_place, columns, 16 * i)
    return careful


@vector_filler
def fill_box_staircase(key_at, law_at, law_size, first, ids_at, n, ahead_at, scratch_at, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    scratch = carray(scratch_at, scratch_size(n, width, dim))
    ahead = carray(ahead_at, AHEAD)
    words, lead, rest = tile_words(key, first, ids, n, width, ahead, scratch)
    noise = carray(noise_at, (lead + n + 16) * dim)
    groups, undecided = (lead + n + 15) // 16, False
    layers, masks, rest = tile_layers(law, words, groups, rest)
    sizes, columns = rest[: PLACE_SIZES * dim], rest[PLACE_SIZES * dim :]
    for i in range(dim):
        steps, radius = coordinate_size(law, i, 0), coordinate_size(law, i, 1)
        put_place_sizes(steps, radius, 1.0, sizes[PLACE_SIZES * i :])
    for group in range(groups):
        fetch_lines(ahead, group)
        start, careful = 16 * width * group, masks[group]
        careful |= box_columns(dim, words, start, layers[16 * group :], sizes, columns)
        put_in_order(columns, dim, noise, 16 * dim * group)
        for at in range(16 * group, 16 * group + 16 if careful else 0):
            row = marked_row(careful, at, first, ids, lead, n)
            if row >= 0:
                redraw_box(key, row, law, noise[at * dim :])
                undecided |= noise[at * dim] != noise[at * dim]
    return ~lead if undecided else lead
