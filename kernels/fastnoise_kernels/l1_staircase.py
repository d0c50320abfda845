"""The staircase of l1 balls: a layer, then a uniform point of its ball of integers.

Layer k is the integers with |n_1| + .. + |n_d| <= N = radius - 1 + k * steps. d different integers
below N + d, in order, leave d gaps, which are the sizes; a zero with a minus sign is drawn again.
Integers and signs are drawn together: the upper half of twice N + d places is negative.
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
from fastnoise_kernels.layout import DEEPEST, DIM, NETWORK, PAIRS, WORDS
from fastnoise_kernels.staircase import OUT_OF_WORDS
from fastnoise_kernels.vectors import group_word, tile_words

EXTRA_WORDS = 16
ONE, TWO = np.uint64(1), np.uint64(2)


@inner
def gaps(drawn, signs, noise):
    """The noise that sorted numbers and signs make; False if it has to be drawn again."""
    before = np.int64(-1)
    for i in range(len(drawn)):
        size = drawn[i] - before - 1
        if size < signs[i]:
            return False
        noise[16 * i] = np.float64(-size if signs[i] else size)
        before = drawn[i]
    return True


@inner
def draw_ball(law, words, noise):
    """The noise that a row's words give, into noise[0], noise[16], ...; how many were used."""
    dim = np.int64(law[DIM])
    layer, used = draw_layer(law, words, np.int64(law[WORDS]))
    if used == OUT_OF_WORDS:
        return used
    most = coordinate_size(law, 0, 0) * layer + coordinate_size(law, 0, 1) - ONE + law[DIM]
    if layer > law[DEEPEST] or most >= MOST_NOISE:
        for i in range(dim):
            noise[16 * i] = np.nan
        return used
    drawn, signs = np.empty(dim, np.int64), np.empty(dim, np.int64)
    again, start = False, first_coordinate(law)
    while True:
        for i in range(dim):
            if again and used == len(words):
                return OUT_OF_WORDS
            word = words[used] if again else words[start + i]
            used += again
            place, used = bounded(TWO * most, word, words, used)
            if used == OUT_OF_WORDS:
                return used
            signs[i] = place >= most
            drawn[i] = np.int64(place - most if place >= most else place)
        drawn.sort()
        if gaps(drawn, signs, noise):
            return used
        again = True


@inner
def redraw_ball(key, row, law, noise):
    extra = EXTRA_WORDS
    while draw_ball(law, own_words(key, row, law, extra), noise) == OUT_OF_WORDS:
        extra *= 2


@inner
def draw_columns(law, words, start, layers, careful, drawn, signs):
    """d numbers below N + d and as many signs, for sixteen rows."""
    wide_vectors()
    dim, steps = np.int64(law[DIM]), np.float64(coordinate_size(law, 0, 0))
    least = np.float64(coordinate_size(law, 0, 1) - ONE + law[DIM])
    place = start + 32 * first_coordinate(law)
    for i in range(dim):
        for lane in range(16):
            most = steps * element(layers, lane) + least
            at, needed = place_on(group_word(words, place + 32 * i, lane), 2.0 * most)
            put(drawn, 16 * i + lane, at - most if at >= most else at)
            put(signs, 16 * i + lane, 1.0 if at >= most else 0.0)
            mark(careful, lane, needed | (most >= MOST_FLOAT))


@inner
def sort_columns(law, drawn):
    """Sixteen rows at once: the smaller of each pair of a sorting network to the front."""
    wide_vectors()
    start = np.int64(law[NETWORK])
    for pair in range(start, start + 2 * np.int64(law[PAIRS]), 2):
        front, back = 16 * np.int64(element(law, pair)), 16 * np.int64(element(law, pair + 1))
        for lane in range(16):
            x, y = element(drawn, front + lane), element(drawn, back + lane)
            put(drawn, front + lane, x if x < y else y)
            put(drawn, back + lane, y if x < y else x)


@inner
def column_gaps(dim, drawn, signs, careful, noise):
    """The noise that sorted numbers and signs make, of sixteen rows."""
    wide_vectors()
    for i in range(dim):
        for lane in range(16):
            at = 16 * i + lane
            before = element(drawn, at - 16) if i > 0 else -1.0
            size, sign = element(drawn, at) - before - 1.0, element(signs, at)
            mark(careful, lane, size < sign)  # two alike, or a zero with a minus sign
            put(noise, at, -size if sign > 0.0 else size)


@vector_filler
def fill_l1_staircase(key_at, law_at, law_size, first, ids_at, n, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), 2 * np.int64(law[WORDS])
    words, lead = tile_words(key, first, ids, n, width)
    entries, layers, careful = np.empty(16, np.uint32), np.empty(16), np.empty(16)
    drawn, signs = np.empty(16 * dim), np.empty(16 * dim)
    for group in range((lead + n + 15) // 16):
        noise = carray(noise_at, (lead + n + 16) * dim)[16 * dim * group :]
        start = 16 * width * group
        group_layers(law, words, start, entries, layers, careful)
        draw_columns(law, words, start, layers, careful, drawn, signs)
        sort_columns(law, drawn)
        column_gaps(dim, drawn, signs, careful, noise)
        for lane in range(16):
            at = 16 * group + lane
            if careful[lane] > 0.0 and lead <= at < lead + n:
                row = ids[at] if first < 0 else first - lead + at
                redraw_ball(key, row, law, noise[lane:])
    return lead
