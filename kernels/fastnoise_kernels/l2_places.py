"""Places in cells of l2 noise, and whether they are kept: rejection sampling (`laws.l2.reader`).

A place is kept with chance exp(-fall), fall = (|Z| - |M| + D / 2) / scale, Z the place, M the
middle of its cell and D the diagonal. A row's coin is next to always so low that it keeps any
place. Of the others, floats decide where their error leaves no doubt:

    Z          half a step per coordinate, for what follows the bits of its place; |Z|,
               sqrt(dim) / 2 steps
    |Z| - |M|  = sum of (z - m)(z + m) / (|Z| + |M|), where rounding adds dim + 8 units of 2**-53 of
               the sum of sizes, which is D / 2 at most
    exp        2**-39: rounding, 2**10 times as much after ten squares
"""

from math import sqrt

import numpy as np

from fastnoise_kernels.filler import address_at, is_marked
from fastnoise_kernels.jit import inlined, inner
from fastnoise_kernels.l2_lanes import SPARE, high_coins
from fastnoise_kernels.layout import (
    BYTE_BITS,
    COIN_INDEX,
    DIM,
    FINE_BITS,
    KEPT_BELOW,
    REFINED_DRAW,
    SCALE,
    SPARE_BITS,
)
from fastnoise_kernels.memory import float_of_bits
from fastnoise_kernels.words import refining_words, row_schedule

BYTE = np.uint64((1 << BYTE_BITS) - 1)
FLAT = 2.0**-38  # of everything that does not depend on the law
SERIES = 7


@inner
def law_float(law, at):
    return float_of_bits(np.int64(law[at]))


@inner
def place_of(i, lane, words, at, wide_at, mask):
    """That of coordinate i, of a row whose words are known; as `l2_lanes` has it."""
    place = np.uint64(words[at + lane]) & SPARE
    if mask > SPARE:
        shared = np.uint64(words[wide_at + 16 * (i // 4) + lane]) >> np.uint64(BYTE_BITS * (i % 4))
        place |= (shared & BYTE) << np.uint64(SPARE_BITS)
    return np.float64(place & mask)


@inner
def exp_minus(x):
    """e**-x of x >= 0: the series of e**(-x / 1024), squared ten times; no libm, which differs."""
    y, total = x / 1024.0, 1.0
    for n in range(SERIES, 0, -1):
        total = 1.0 - y / n * total
    for _ in range(10):
        total *= total
    return total


@inner
def chance(noise, size, scale):
    """With which chance the place of a row is kept."""
    total, squares, middles = 0.0, 0.0, 0.0
    for z in noise:
        away = z - np.floor(z / size) * size + 0.5 - 0.5 * size
        middle = z - away
        total += away * (z + middle)
        squares, middles = squares + z * z, middles + middle * middle
    further = total / (sqrt(squares) + sqrt(middles))
    fall = (further + 0.5 * size * sqrt(len(noise))) / scale
    return exp_minus(0.0 if fall < 0.0 else fall)  # NaN stays NaN


@inner
def margin(dim, size, scale):
    """More than the error of `chance`."""
    return sqrt(dim) * (0.51 + (dim + 16) * 2.0**-52 * size) / scale + FLAT


@inner
def draw_place(schedule, attempt, fine, noise):
    """Another place in the same cell; its coin. schedule: of the row's own key."""
    size, first = np.float64(np.uint64(1) << fine), COIN_INDEX + attempt * REFINED_DRAW
    coin = 0.0
    for start in range(0, len(noise) + 1, 16):
        drawn = refining_words(schedule, first + np.arange(start, start + 16))
        for i in range(start, min(start + 16, len(noise) + 1)):
            if i == 0:
                coin = np.float64(drawn[0]) * 2.0**-64
            else:
                place = np.float64(drawn[i - start] >> (np.uint64(64) - fine))
                noise[i - 1] = np.floor(noise[i - 1] / size) * size + place
    return coin


@inner
def keep_place(schedule, law, coin, noise):
    """Draw places until one is kept; whether it is known to be. NaN is not."""
    fine, scale = law[FINE_BITS], law_float(law, SCALE)
    size, attempt = np.float64(np.uint64(1) << fine), 0
    error = margin(len(noise), size, scale)
    while True:
        kept_below = chance(noise, size, scale)
        if coin + error < kept_below:
            return True
        if not coin - error > kept_below:
            return False
        attempt += 1
        coin = draw_place(schedule, attempt, fine, noise)


@inlined
def look_at_coins(tile):
    """Redraw places that are not kept; rows where that is unknown become NaN. Whether any did."""
    law, dim = tile.law, np.int64(tile.law[DIM])
    high, low = law[KEPT_BELOW], law[KEPT_BELOW + 1]
    undecided = False
    for group in range((tile.lead + tile.n + 15) // 16):
        start = 16 * tile.stored * group
        careful = high_coins(tile.words, start, high)
        for at in range(16 * group, 16 * group + 16 if careful else 0):
            if not is_marked(careful, at, tile):
                continue
            schedule = row_schedule(tile.schedule, address_at(at, tile))
            leading = np.uint64(tile.words[start + at % 16]) & SPARE
            following = refining_words(schedule, np.array([COIN_INDEX]))[0]
            if leading == high and following < low:
                continue
            coin = np.float64(leading) + np.float64(following) * 2.0**-64
            vector = tile.noise[at * dim : (at + 1) * dim]
            if not keep_place(schedule, law, coin / 2.0**SPARE_BITS, vector):
                vector[:] = np.nan
                undecided = True
    return undecided
