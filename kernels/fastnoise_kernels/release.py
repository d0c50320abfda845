"""Safe release: clip, snap to the grid, add integer noise, round once.

The exact sum of two grid points is rounded to the nearest float64, ties to even, and cast to the
output's type: post-processing of the exact sum, so the guarantee of the integers carries over.
"""

import numpy as np

from fastnoise_kernels.aes import expanded
from fastnoise_kernels.ahead import look_ahead, nothing_ahead
from fastnoise_kernels.exact import LARGE, SMALLER, rounded_to_odd, times_plus_once, two_sum
from fastnoise_kernels.filler import call_filler, rows_before
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.layout import UNDECIDED, WIDTH
from fastnoise_kernels.memory import copy, fuses, times_plus, wide_vectors

TILE = 512  # rows: words, noise and data of a tile stay in the first-level cache
ROOM = 32  # a filler may write whole groups of rows
MOST_EXACT = 1 << 53  # noise that floats hold exactly
# 64-bit words: fillers need two per row, and some for whole batches. Whole pages: see `tile_rooms`.
SCRATCH = 4 * TILE


@inner
def snap(value, grid, inverse, whole):
    """Round half up to the grid, exactly; `whole` and beyond, floats lie on it.

    floor(t + 0.5) would round 0.49999999999999994 up; a half more than t in whole halves is exact,
    and is rounded down to 0.0 where it is less than 1, never to -0.0.
    """
    halves = np.floor(value * (inverse + inverse))  # math.floor's integers are undefined if large
    steps = np.floor(times_plus(halves, 0.5, 0.5))
    return steps * grid if abs(value) < whole else value


@inner
def clipped(value, low, high):
    value = low if value < low else value
    return high if value > high else value


@inner
def add_exactly(point, noise, grid):
    """point + noise * grid rounded once, for noise of more than 53 bits.

    Three exact floats are added by rounding the two small ones to odd (Boldo & Melquiond 2008).
    Near the largest floats a part of the sum may overflow and the sum not, so all is made smaller.
    """
    large = abs(point) > LARGE
    point, grid = (point * SMALLER, grid * SMALLER) if large else (point, grid)
    low = noise & 1023  # what is left has at most 53 significant bits below 2**62
    total, lost = two_sum(point, np.float64(noise - low) * grid)
    rest = rounded_to_odd(lost, np.float64(low) * grid)
    return (total + rest) / SMALLER if large else total + rest


@inner
def canonical(value):
    """One NaN for all: a payload would tell inputs apart."""
    return value if value == value else np.nan


@inner
def tile_rooms():
    """Room for a tile: `ahead`, scratch and noise.

    Noise is whole pages of 4096 bytes after the words that it is made of. A load whose address
    agrees in its last twelve bits with that of a store shortly before may wait for it, on Zen 4 for
    one pair of pages in sixteen: where the noise of a group had the place of the words of the next,
    one process in sixteen took 1.8 ns per row instead of 1.4.
    """
    room = np.empty(SCRATCH + TILE + ROOM, np.uint64)
    return nothing_ahead(), room[:SCRATCH], room[SCRATCH:].view(np.int64)


@inner
def fill_tile(filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise):
    """The noise of the rows from place `at` on: how many, how many others of `noise` precede them,

    and whether some must be looked at one by one. Tiles end where batches do, so that only the
    first one computes part of a batch in vain.
    """
    if first < 0:
        n = min(TILE, stop - at)
        some, high = ids[at : at + n], tops[at : at + n]
        look = call_filler(filler, schedule, law, -1, some, high, n, ahead, scratch, noise)
        return n, 0, look != 0
    first += at
    n = min(TILE - first % TILE, stop - at)
    look = call_filler(filler, schedule, law, first, ids, tops, n, ahead, scratch, noise)
    return n, rows_before(first), look != 0


@inner
def is_in_place(x, out):
    return x.ctypes.data == out.ctypes.data


@inner
def set_aside(x, at, n, out, room):
    """x[at : at + n], copied if `out` is x: a loop that writes what it reads is not vectorised.

    In place, that costs a tenth of what it saves: 4.3 -> 3.6 ns per value.
    """
    some = x[at : at + n]
    if not is_in_place(x, out):
        return some
    copy(some, room)
    return room[:n]


@inner
def add_tile(noise, x, out, low, high, nan, grid, whole):
    """out = x + noise * grid, released, for noise that floats hold exactly.

    whole: 0.0 if nothing is snapped, and the grid perhaps no power of two: products are not exact.
    nan: whether some values may be NaN. If not, and nothing is clipped: 0.33 -> 0.20 ns per value.
    """
    wide_vectors()
    inverse = 1.0 / grid
    if whole == 0.0 and not fuses():
        for i in range(len(x)):
            point = clipped(np.float64(x[i]), low, high)
            out[i] = canonical(times_plus_once(np.float64(noise[i]), grid, point))
    elif not nan and low == -np.inf and high == np.inf:
        for i in range(len(x)):
            point = snap(np.float64(x[i]), grid, inverse, whole)
            out[i] = times_plus(np.float64(noise[i]), grid, point)
    else:
        for i in range(len(x)):
            point = snap(clipped(np.float64(x[i]), low, high), grid, inverse, whole)
            out[i] = canonical(times_plus(np.float64(noise[i]), grid, point))


@inner
def add_one_by_one(noise, x, out, in_place, low, high, grid, whole):
    """The same for any noise; counts what is undecided: there `out` is NaN, in place still `x`."""
    inverse = 1.0 / grid
    undecided = 0
    for i in range(len(x)):
        if noise[i] == UNDECIDED:
            undecided += 1
            if not in_place:
                out[i] = np.nan
        else:
            point = snap(clipped(np.float64(x[i]), low, high), grid, inverse, whole)
            few = abs(noise[i]) <= MOST_EXACT
            total = (
                times_plus_once(np.float64(noise[i]), grid, point)
                if few
                else add_exactly(point, noise[i], grid)
            )
            out[i] = canonical(total)
    return undecided


@kernel
def perturb_floats(
    start, stop, filler, key, law, first, ids, tops, x, out, low, high, nan, grid, whole
):
    """out = x + noise for rows start .. stop; counts those that are undecided."""
    aside, schedule = np.empty(TILE, x.dtype), expanded(key)
    ahead, scratch, noise = tile_rooms()
    in_place = is_in_place(x, out)
    undecided = 0
    at = start
    while at < stop:
        look_ahead(ahead, x, out, at, TILE, np.int64(law[WIDTH]) * TILE)
        n, lead, look = fill_tile(
            filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise
        )
        drawn, values, to = noise[lead:], set_aside(x, at, n, out, aside), out[at : at + n]
        if look:
            undecided += add_one_by_one(drawn, values, to, in_place, low, high, grid, whole)
        else:
            add_tile(drawn, values, to, low, high, nan, grid, whole)
        at += n
    return undecided


@kernel
def fill_noise(start, stop, filler, key, law, first, ids, tops, out):
    """The integer noise itself, UNDECIDED included."""
    schedule = expanded(key)
    ahead, scratch, noise = tile_rooms()
    at = start
    while at < stop:
        n, lead, _ = fill_tile(
            filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise
        )
        copy(noise[lead : lead + n], out[at : at + n])
        at += n
    return 0


@kernel
def count_bad(start, stop, x, nan):
    """How many values are infinite, or NaN unless those are allowed."""
    wide_vectors()
    part = x[start:stop]
    bad = 0
    if nan:
        for i in range(len(part)):
            bad += abs(part[i]) == np.inf
    else:
        for i in range(len(part)):
            bad += not abs(part[i]) < np.inf
    return bad
