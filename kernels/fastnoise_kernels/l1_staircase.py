"""The staircase of l1 balls: a layer, then a uniform point of its ball of integers.

Layer k is the integers with |n_1| + .. + |n_d| <= N = radius - 1 + k * steps. d different integers
below N + d, in order, leave d gaps, which are the sizes; a zero with a minus sign is drawn again.
Where N is so small that this would often be, N + d below 4 d**2, `l1_small` draws.
Integers and signs are drawn together: the upper half of twice N + d places is negative.
"""

import numpy as np

from fastnoise_kernels.ahead import fetch_with_group
from fastnoise_kernels.alias import OUT_OF_WORDS
from fastnoise_kernels.filler import address_at, is_marked, vector_filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.l1_lanes import FEW, ball_column, few_columns, gap_column, sort_columns
from fastnoise_kernels.l1_small import draw_small_ball
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
    put_place_sizes,
    tile_layers,
)
from fastnoise_kernels.layout import (
    DEEPEST,
    DIM,
    LEAST_PER_SQUARE,
    NETWORK,
    PAIRS,
    SMALL_LAYERS,
    WIDTH,
)
from fastnoise_kernels.memory import element
from fastnoise_kernels.vectors import put_in_order


@inner
def gaps(drawn, signs, noise):
    """The noise that sorted numbers and signs make; False if it has to be drawn again."""
    before = np.int64(-1)
    for i in range(len(drawn)):
        size = drawn[i] - before - 1
        if size < signs[i]:
            return False
        noise[i] = np.float64(-size if signs[i] else size)
        before = drawn[i]
    return True


@inner
def draw_ball(law, words, noise):
    """The noise that a row's words give; how many were used."""
    dim = np.int64(law[DIM])
    layer, used = draw_layer(law, words, (np.int64(law[WIDTH]) + 1) // 2)
    if used == OUT_OF_WORDS:
        return used
    most = coordinate_size(law, 0, 0) * layer + coordinate_size(law, 0, 1) - ONE + law[DIM]
    if layer < law[SMALL_LAYERS]:
        return draw_small_ball(law, layer, most, words, used, noise)
    if layer > law[DEEPEST] or most >= MOST_NOISE:
        for i in range(dim):
            noise[i] = np.nan
        return used
    drawn, signs = np.empty(dim, np.int64), np.empty(dim, np.int64)
    again = False
    while True:
        for i in range(dim):
            if again and used == len(words):
                return OUT_OF_WORDS
            word = words[used] if again else words[i]
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
def redraw_ball(schedule, address, law, noise):
    extra = EXTRA_WORDS + 2 * np.int64(law[DIM]) * (law[SMALL_LAYERS] > 0)
    while draw_ball(law, own_words(schedule, address, law, extra), noise) == OUT_OF_WORDS:
        extra *= 2


@inner
def ball_columns(law, words, start, layers, most, sizes, drawn, signs, columns):
    """The noise of a group of rows on their layers; a mask of careful ones.

    most: N + d by layer, slope and start; drawn: sixteen times -1, then room for the numbers.
    """
    dim, careful = np.int64(law[DIM]), np.uint32(0)
    fewest = np.float64(LEAST_PER_SQUARE * dim * dim)
    if dim <= FEW:
        return few_columns(dim, words, start, layers, most, sizes, columns, fewest)
    for i in range(dim):
        careful |= ball_column(
            words, start + 32 * i, layers, most, sizes, drawn, 16 * (i + 1), signs, i, fewest
        )
    pairs = np.int64(law[NETWORK])
    for pair in range(pairs, pairs + 2 * np.int64(law[PAIRS]), 2):
        front, back = element(law, pair), element(law, pair + 1)
        sort_columns(drawn, 16 * np.int64(front + ONE), 16 * np.int64(back + ONE))
    for i in range(dim):
        careful |= gap_column(drawn, 16 * i, signs, i, columns, 16 * i)
    return careful


@vector_filler
def fill_l1_staircase(tile):
    """The words of a row: a place of 64 bits per coordinate, its sign included, then coins."""
    law, words, noise = tile.law, tile.words, tile.noise
    dim = np.int64(law[DIM])
    layers, masks, rest = tile_layers(tile)
    sizes, columns, drawn = rest[:PLACE_SIZES], rest[16:], rest[16 * (dim + 1) :]
    steps, least = coordinate_size(law, 0, 0), coordinate_size(law, 0, 1) - ONE + law[DIM]
    most = np.float64(steps), np.float64(least)
    put_place_sizes(steps, least, 0.0, sizes)
    drawn[:16] = -1.0
    signs = drawn[16 * (dim + 1) :].view(np.uint32)
    undecided = False
    for group in range(len(masks)):
        fetch_with_group(tile.ahead, group)
        start, own, careful = 16 * tile.stored * group, layers[16 * group :], masks[group]
        careful |= ball_columns(law, words, start, own, most, sizes, drawn, signs, columns)
        put_in_order(columns, dim, noise, 16 * dim * group)
        for at in range(16 * group, 16 * group + 16 if careful else 0):
            if is_marked(careful, at, tile):
                redraw_ball(tile.schedule, address_at(at, tile), law, noise[at * dim :])
                undecided |= noise[at * dim] != noise[at * dim]
    return undecided
