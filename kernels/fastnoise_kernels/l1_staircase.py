"""The staircase of l1 balls: a layer, then a uniform point of its ball of integers.

Layer k is the integers with |n_1| + .. + |n_d| <= N = radius - 1 + k * steps. d different integers
below N + d, in order, leave d gaps, which are the sizes; a zero with a minus sign is drawn again.
Where N is so small that this would often be, below 4 d**2, the Python layer draws by rank.
Integers and signs are drawn together: the upper half of twice N + d places is negative.
"""

import numpy as np
from llvmlite import ir
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
    places,
    put_place_sizes,
    tile_layers,
)
from fastnoise_kernels.layout import DEEPEST, DIM, LEAST_PER_SQUARE, NETWORK, PAIRS, WIDTH
from fastnoise_kernels.memory import element
from fastnoise_kernels.staircase import OUT_OF_WORDS
from fastnoise_kernels.vectors import marked_row, put_in_order, scratch_size, tile_words


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
    if layer > law[DEEPEST] or most >= MOST_NOISE or most < np.uint64(LEAST_PER_SQUARE * dim * dim):
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
def redraw_ball(key, row, law, noise):
    extra = EXTRA_WORDS
    while draw_ball(law, own_words(key, row, law, extra), noise) == OUT_OF_WORDS:
        extra *= 2


@intrinsic
def ball_column(typing, words, at, layers, most, sizes, drawn, to, signs, i, fewest):
    """A number below N + d and a sign, for sixteen rows; a mask of those that need care."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        layers = lanes.load_floats(builder, data(2), 0)
        most = layers.times_plus(*lanes.unpacked(builder, arguments[3], 2))
        first = ir.Constant(lanes.I64, 0)
        place, needed = places(builder, data(0), arguments[1], layers, data(4), first)
        positive = place < 0.0
        lanes.store((place + most).chosen(positive, place), data(5), arguments[6])
        where = lanes.pointer(builder, data(7), arguments[8], lanes.I32)
        builder.store((~positive).bits(), where)
        return (needed | (most < arguments[9])).bits()

    integer = types.int64
    arguments = words, integer, layers, most, sizes, drawn, integer, signs, integer, types.float64
    return types.uint32(*arguments), codegen


@intrinsic
def sort_columns(typing, columns, front, back):
    """The smaller of two columns to the front, for sixteen rows."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        x, y = (lanes.load_floats(builder, data, at) for at in arguments[1:])
        smaller = x < y
        lanes.store(x.chosen(smaller, y), data, arguments[1])
        lanes.store(y.chosen(smaller, x), data, arguments[2])
        return context.get_dummy_value()

    return types.void(columns, types.int64, types.int64), codegen


@intrinsic
def gap_column(typing, drawn, at, signs, i, columns, to):
    """From a column to the next, with signs; a mask of rows to be drawn again."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        following = builder.add(arguments[1], ir.Constant(lanes.I64, lanes.LANES))
        before, after = (
            lanes.load_floats(builder, data(0), place) for place in (arguments[1], following)
        )
        where = lanes.pointer(builder, data(2), arguments[3], lanes.I32)
        negative = lanes.mask_of(builder, builder.load(where))
        size = after - before - 1.0
        lanes.store((0.0 - size).chosen(negative, size), data(4), arguments[5])
        ones = lanes.Floats(builder, ir.Constant(lanes.FLOAT_LANES, [1.0] * lanes.LANES))
        return (size < ones.chosen(negative, 0.0)).bits()  # two alike, or a zero with a minus sign

    integer = types.int64
    return types.uint32(drawn, integer, signs, integer, columns, integer), codegen


@inner
def ball_columns(law, words, start, layers, most, sizes, drawn, signs, columns):
    """The noise of a group of rows on their layers; a mask of those that need care.

    most: N + d by layer, slope and start; drawn: sixteen times -1, then room for the numbers.
    """
    dim, careful = np.int64(law[DIM]), np.uint32(0)
    fewest = np.float64(LEAST_PER_SQUARE * dim * dim)
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
def fill_l1_staircase(key_at, law_at, law_size, first, ids_at, n, ahead_at, scratch_at, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    scratch = carray(scratch_at, scratch_size(n, width, dim))
    ahead = carray(ahead_at, AHEAD)
    words, lead, rest = tile_words(key, first, ids, n, width, ahead, scratch)
    noise = carray(noise_at, (lead + n + 16) * dim)
    groups, undecided = (lead + n + 15) // 16, False
    layers, masks, rest = tile_layers(law, words, groups, rest)
    sizes, columns, drawn = rest[:PLACE_SIZES], rest[16:], rest[16 * (dim + 1) :]
    steps, least = coordinate_size(law, 0, 0), coordinate_size(law, 0, 1) - ONE + law[DIM]
    most = np.float64(steps), np.float64(least)
    put_place_sizes(steps, least, 0.0, sizes)
    drawn[:16] = -1.0
    signs = drawn[16 * (dim + 1) :].view(np.uint32)
    for group in range(groups):
        start, own, careful = 16 * width * group, layers[16 * group :], masks[group]
        careful |= ball_columns(law, words, start, own, most, sizes, drawn, signs, columns)
        put_in_order(columns, dim, noise, 16 * dim * group)
        for at in range(16 * group, 16 * group + 16 if careful else 0):
            row = marked_row(careful, at, first, ids, lead, n)
            if row >= 0:
                redraw_ball(key, row, law, noise[at * dim :])
                undecided |= noise[at * dim] != noise[at * dim]
    return ~lead if undecided else lead
