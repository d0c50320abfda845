"""The staircase of boxes: a layer, then every coordinate uniform on its side of the box.

Layer k is the integers |n_i| <= radius_i - 1 + k * steps_i, coordinate by coordinate.
"""

import numpy as np
from numba import carray

from fastnoise_kernels.filler import vector_filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.lanes import element, put, wide_vectors
from fastnoise_kernels.layers import (
    MOST_FLOAT,
    MOST_NOISE,
    bounded,
    coordinate_size,
    draw_layer,
    first_coordinate,
    group_layers,
    mark,
    own_words,
    place_on,
)
from fastnoise_kernels.layout import DEEPEST, DIM, WORDS
from fastnoise_kernels.staircase import OUT_OF_WORDS
from fastnoise_kernels.vectors import group_word, tile_words

EXTRA_WORDS = 16
ONE, TWO = np.uint64(1), np.uint64(2)


@inner
def draw_box(law, words, noise):
    """The noise that a row's words give, into noise[0], noise[16], ...; how many were used."""
    layer, used = draw_layer(law, words, np.int64(law[WORDS]))
    start = first_coordinate(law)
    for i in range(np.int64(law[DIM])):
        if used == OUT_OF_WORDS:
            break
        if layer > law[DEEPEST]:
            noise[16 * i] = np.nan
            continue
        half = coordinate_size(law, i, 0) * layer + coordinate_size(law, i, 1)
        place, used = bounded(TWO * half - ONE, words[start + i], words, used)
        exact = half < MOST_NOISE
        noise[16 * i] = np.float64(np.int64(place) - np.int64(half - ONE)) if exact else np.nan
    return used


@inner
def redraw_box(key, row, law, noise):
    extra = EXTRA_WORDS
    while draw_box(law, own_words(key, row, law, extra), noise) == OUT_OF_WORDS:
        extra *= 2


@inner
def box_columns(law, words, start, layers, careful, noise):
    """The noise of a group of rows on their layers; marks those that need care."""
    wide_vectors()
    place = start + 32 * first_coordinate(law)
    for i in range(np.int64(law[DIM])):
        steps = np.float64(coordinate_size(law, i, 0))
        radius = np.float64(coordinate_size(law, i, 1))
        for lane in range(16):
            half = steps * element(layers, lane) + radius
            at, needed = place_on(group_word(words, place + 32 * i, lane), 2.0 * half - 1.0)
            put(noise, 16 * i + lane, at - (half - 1.0))
            mark(careful, lane, needed | (half >= MOST_FLOAT))


@vector_filler
def fill_box_staircase(key_at, law_at, law_size, first, ids_at, n, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), 2 * np.int64(law[WORDS])
    words, lead = tile_words(key, first, ids, n, width)
    entries, layers, careful = np.empty(16, np.uint32), np.empty(16), np.empty(16)
    for group in range((lead + n + 15) // 16):
        noise = carray(noise_at, (lead + n + 16) * dim)[16 * dim * group :]
        group_layers(law, words, 16 * width * group, entries, layers, careful)
        box_columns(law, words, 16 * width * group, layers, careful, noise)
        for lane in range(16):
            at = 16 * group + lane
            if careful[lane] > 0.0 and lead <= at < lead + n:
                row = ids[at] if first < 0 else first - lead + at
                redraw_box(key, row, law, noise[lane:])
    return lead
