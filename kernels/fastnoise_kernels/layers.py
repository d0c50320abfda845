"""Which layer a row's vector is uniform on, and uniform integers on it.

A layer k has weight b**k times the number of its points. `draw_layer` and `bounded` are the
definitions; `group_layers` and `places` compute the same for sixteen rows, but for careful ones.
"""

from functools import partial

import numpy as np
from numba import int64, uint32

from fastnoise_kernels import lookups
from fastnoise_kernels.alias import HALF, LOW, OUT_OF_WORDS, look_up, pick
from fastnoise_kernels.elementary import unit
from fastnoise_kernels.intrinsics import intrinsic
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
from fastnoise_kernels.memory import element, product_high, put
from fastnoise_kernels.staircase import draw_digit
from fastnoise_kernels.words import row_words

ONE, TWO = np.uint64(1), np.uint64(2)
EXTRA_WORDS = 16  # that a careful row starts with
MOST_NOISE = np.uint64(1 << 52)  # a layer with a longer side is undecided
# Of tables that four registers hold. 64 cells are read, in 32 words, however many there are: the
# 8 words of 16 cells are followed by their thresholds, 3 words or more each.
FEWEST_BITS, MOST_BITS = 4, 6
ROOM = 2.0**-50
PLACE_SIZES = 8  # of which six are used: what follows them starts with a line of the cache


def _entries_intrinsic(few_cells):
    """few_cells: whether registers hold the table (`lookups.permuted`)."""

    @intrinsic
    def add_entries(here, words, at: int64, law, header: int64, layers) -> uint32:
        """Add to layers what sixteen coins pick of the table of `header`; a mask of careful rows.

        Those are ties, and the entry that stands for all from there on.
        """
        bits, cells, times, last = (
            law[header + field] for field in (TABLE_BITS, TABLE_CELLS, TABLE_TIMES, TABLE_LAST)
        )
        quick = few_cells and here.has_avx512
        cells_at = partial(lookups.permuted, cells=64) if quick else lookups.gather
        entry, tie = pick(law + cells, words.lanes(at), bits.narrowed(), cells_at)
        layers.put(0, layers.floats() + entry.floats() * times.as_float())
        return (tie | entry.equals(last.narrowed())).bits()

    return add_entries


add_entries, add_few_entries = (_entries_intrinsic(few_cells) for few_cells in (False, True))


@inner
def group_layers(law, words, start, layers):
    """The layers of sixteen rows, as floats; a mask of careful ones."""
    careful = np.uint32(0)
    for lane in range(16):
        put(layers, lane, 0.0)
    place = start + 32 * np.int64(law[DIM])
    for coin in range(np.int64(law[COINS])):
        header, at = TABLES + TABLE * coin, place + 16 * coin
        if FEWEST_BITS <= element(law, header + TABLE_BITS) <= MOST_BITS:
            careful |= add_few_entries(words, at, law, header, layers)
        else:
            careful |= add_entries(words, at, law, header, layers)
    return careful


@inner
def put_place_sizes(steps, radius, odd, sizes):
    """What `places` is told of a coordinate: slope and start, by layer, of

    - the width, 2 * half - odd, half = steps * layer + radius;
    - -(half - odd) - room, where room = half * ROOM;
    - 1 - 2 * room.
    """
    steps, radius = np.float64(steps), np.float64(radius)
    sizes[0], sizes[1] = 2.0 * steps, 2.0 * radius - odd
    sizes[2], sizes[3] = -steps - steps * ROOM, (odd - radius) - radius * ROOM
    sizes[4], sizes[5] = -2.0 * ROOM * steps, 1.0 - 2.0 * ROOM * radius


@inlined
def tile_layers(tile):
    """The layers of all groups, their masks of careful rows, and room that is left, as floats.

    All of them first: what follows would wait for those of its group.
    """
    groups, room = (tile.lead + tile.n + 15) // 16, tile.room.view(np.float64)
    layers, careful = room[: 16 * groups], room[16 * groups :].view(np.uint32)[:groups]
    for group in range(groups):
        start = 16 * tile.stored * group
        careful[group] = group_layers(tile.law, tile.words, start, layers[16 * group :])
    return layers, careful, room[24 * groups :]


def place_lanes(layers, sizes, sizes_at=0):
    """What `put_place_sizes` put, for sixteen rows on their layers."""
    return [layers.times_plus(sizes[sizes_at + i], sizes[sizes_at + i + 1]) for i in (0, 2, 4)]


def places(word, width, shift, most):
    """`bounded` for sixteen rows less half - odd, in floats; and a mask of careful ones.

    In units of half * 2**-53, a float has an error of 2 for the bits of a word that it lacks, 1 for
    those of the constants, 1 for the shift, 1 for its product, and 1 for rounding itself: 6, where
    `room` is 8. Products of a width may be twice as large, and so this one is fused everywhere.
    What is sure to have no integer between itself and twice `room` more is where the word is, and
    the word not biased, since those are above an integer by width * 2**-64 at most. From a half of
    2**49 on, nothing is sure.
    """
    least = unit(word).times_plus_once(width, shift)
    place = least.floor()
    return place, ~(least - place < most)


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
def own_words(schedule, address, law, extra):
    """A row's own words and so many extra ones."""
    width = np.int64(law[WIDTH])
    words = np.empty((width + 1) // 2 + extra, np.uint64)
    row_words(schedule, address, width, words)
    return words
