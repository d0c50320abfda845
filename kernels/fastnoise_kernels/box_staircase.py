"""The staircase of boxes: a layer, then every coordinate uniform on its side of the box.

Layer k is the integers |n_i| <= radius_i - 1 + k * steps_i, coordinate by coordinate.
"""

import numpy as np
from numba import int64, uint32

from fastnoise_kernels.ahead import fetch_with_group
from fastnoise_kernels.alias import OUT_OF_WORDS
from fastnoise_kernels.filler import address_at, is_marked, vector_filler
from fastnoise_kernels.intrinsics import intrinsic
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
from fastnoise_kernels.vectors import put_in_order


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
def redraw_box(schedule, address, law, noise):
    extra = EXTRA_WORDS
    while draw_box(law, own_words(schedule, address, law, extra), noise) == OUT_OF_WORDS:
        extra *= 2


@intrinsic
def box_column(
    here, words, at: int64, layers, sizes, sizes_at: int64, columns, to: int64
) -> uint32:
    """One coordinate of sixteen rows on their layers; a mask of careful ones."""
    place, careful = places(words.word(at), *place_lanes(layers.floats(), sizes, sizes_at))
    columns.put(to, place)
    return careful.bits()


@inner
def box_columns(dim, words, start, layers, sizes, columns):
    """The noise of a group of rows on their layers; a mask of careful ones."""
    careful = np.uint32(0)
    for i in range(dim):
        at, of_place = start + 32 * i, PLACE_SIZES * i
        careful |= box_column(words, at, layers, sizes, of_place, columns, 16 * i)
    return careful


@vector_filler
def fill_box_staircase(tile):
    """The words of a row: a place of 64 bits per coordinate, then the coins of the layer."""
    law, words, noise = tile.law, tile.words, tile.noise
    dim = np.int64(law[DIM])
    layers, masks, rest = tile_layers(tile)
    sizes, columns = rest[: PLACE_SIZES * dim], rest[PLACE_SIZES * dim :]
    for i in range(dim):
        steps, radius = coordinate_size(law, i, 0), coordinate_size(law, i, 1)
        put_place_sizes(steps, radius, 1.0, sizes[PLACE_SIZES * i :])
    undecided = False
    for group in range(len(masks)):
        fetch_with_group(tile.ahead, group)
        start, careful = 16 * tile.stored * group, masks[group]
        careful |= box_columns(dim, words, start, layers[16 * group :], sizes, columns)
        put_in_order(columns, dim, noise, 16 * dim * group)
        for at in range(16 * group, 16 * group + 16 if careful else 0):
            if is_marked(careful, at, tile):
                redraw_box(tile.schedule, address_at(at, tile), law, noise[at * dim :])
                undecided |= noise[at * dim] != noise[at * dim]
    return undecided
