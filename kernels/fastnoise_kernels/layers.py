"""Which layer a row's vector is uniform on, and uniform integers on it.

A layer k has weight b**k times the number of its points. `draw_layer` and `bounded` are the
definitions; `group_layers` and `places` compute the same for sixteen rows that need no care.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import row_words
from fastnoise_kernels.elementary import unit
from fastnoise_kernels.jit import inlined, inner
from fastnoise_kernels.layout import (
    COINS,
    DEEPEST,
    DIM,
    SIZES,
    TABLE,
    TABLE_BITS,
    TABLE_CELLS,
    TABLE_LAST,
    TABLE_THRESHOLDS,
    TABLE_TIMES,
    TABLES,
    WIDTH,
)
from fastnoise_kernels.memory import element, put
from fastnoise_kernels.staircase import (
    LOW,
    OUT_OF_WORDS,
    draw_digit,
    look_up,
    product_high,
)
from fastnoise_kernels.staircase_lanes import pick

HALF = np.uint64(32)
ONE, TWO = np.uint64(1), np.uint64(2)
EXTRA_WORDS = 16  # that a careful row starts with
MOST_NOISE = np.uint64(1 << 52)  # a side of a layer that is longer is left to the Python layer
MOST_FLOAT = 2.0**52


@intrinsic
def add_entries(typing, words, offset, law, cells, bits, last, times, layers):
    """Add to layers `times` the entries that sixteen coins pick; a mask of ties and of `last`."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        def short(i):
            return builder.trunc(arguments[i], lanes.I32)

        coin = lanes.load(builder, data(0), arguments[1], lanes.LANES_32)
        table = lanes.pointer(builder, data(2), arguments[3], lanes.I64)
        entry, tie = pick(builder, table, coin, short(4))
        before = lanes.load_floats(builder, data(7), 0)
        lanes.store(before + entry.floats() * arguments[6], data(7), 0)
        return (tie | entry.equals(short(5))).bits()

    word = types.uint64
    arguments = words, types.int64, law, word, word, word, types.float64, layers
    return types.uint32(*arguments), codegen


@inner
def group_layers(law, words, start, layers):
    """The layers of sixteen rows, as floats; a mask of those that need care."""
    careful = np.uint32(0)
    for lane in range(16):
        put(layers, lane, 0.0)
    place = start + 32 * np.int64(law[DIM])
    for coin in range(np.int64(law[COINS])):
        header = TABLES + TABLE * coin
        bits, cells = element(law, header + TABLE_BITS), element(law, header + TABLE_CELLS)
        times, last = element(law, header + TABLE_TIMES), element(law, header + TABLE_LAST)
        at = place + 16 * coin
        careful |= add_entries(words, at, law, cells, bits, last, np.float64(times), layers)
    return careful


def places(builder, words, at, width):
    """`bounded` for sixteen rows, in floats; and a mask of those that need care.

    A float is within width * 2**-52 of where word * width / 2**64 is: unless an integer is that
    near, both are between the same two. A biased word is above one by less.
    """
    exact = unit(lanes.load_word(builder, words, at)) * width
    place = exact.floor()
    needed = 0.5 - width * 2.0**-51 < (exact - place - 0.5).size()
    return place, needed


@inner
def draw_layer(law, words, used):
    """The layer that a row's words give, and how many were used."""
    layer, last = np.uint64(0), False
    coins = np.int64(law[COINS])
    times = np.uint64(1)
    for coin in range(coins):
        header = TABLES + TABLE * coin
        value = words[np.int64(law[DIM]) + coin // 2] >> np.uint64(32 * (coin % 2)) & LOW
        entry, used = table_entry(value, law, header, words, used)
        if used == OUT_OF_WORDS:
            return layer, used
        times = law[header + TABLE_TIMES]
        layer += times * entry
        last = entry == law[header + TABLE_LAST]
    if not last:
        return layer, used
    if used == len(words):
        return layer, OUT_OF_WORDS
    more, used = table_entry(words[used] >> HALF, law, TABLES + TABLE * coins, words, used + 1)
    deeper = more
    for _ in range(more + np.uint64(1)):
        if used == OUT_OF_WORDS or used == len(words):
            return layer, OUT_OF_WORDS
        digit, used = draw_digit(words[used] >> HALF, law, words, used + 1)
        deeper += digit
    return layer + times * min(deeper, law[DEEPEST]), used


@inner
def table_entry(coin, law, header, words, used):
    return look_up(
        coin,
        law,
        header + TABLE_BITS,
        header + TABLE_CELLS,
        header + TABLE_THRESHOLDS,
        words,
        used,
    )


@inner
def bounded(width, word, words, used):
    """A uniform integer below `width` from a word, or from more (Lemire 2019)."""
    rest = (np.uint64(0) - width) % width
    while word * width < rest:
        if used == len(words):
            return word, OUT_OF_WORDS
        word = words[used]
        used += 1
    return product_high(word, width), used


@inlined
def coordinate_size(law, i, radius):
    """The steps of coordinate i; or its radius, for 1."""
    return element(law, np.int64(element(law, np.int64(SIZES))) + 2 * i + radius)


@inner
def own_words(key, row, law, extra):
    """A row's own words and so many extra ones."""
    width = np.int64(law[WIDTH])
    words = np.empty((width + 1) // 2 + extra, np.uint64)
    row_words(key, row, width, words)
    return words
