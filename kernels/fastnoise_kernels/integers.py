"""Integers plus integer noise: exact, and saturating at the limits of a dtype; never a float."""

import numpy as np
from numba import types
from numba.extending import overload

from fastnoise_kernels.aes import expanded
from fastnoise_kernels.ahead import look_ahead
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.layout import UNDECIDED, WIDTH
from fastnoise_kernels.memory import wide_vectors
from fastnoise_kernels.release import TILE, fill_tile, is_in_place, set_aside, tile_rooms


def add_saturating(value, noise, least, most):
    """value + noise, or the nearer of `least` and `most` where that is outside of them.

    All but the noise are int64, or all are uint64.
    """
    return min(max(int(value) + int(noise), least), most)


@overload(add_saturating, jit_options={"error_model": "numpy"})
def _add_saturating(value, noise, least, most):
    def signed(value, noise, least, most):
        total = value + noise
        if ((value ^ total) & (noise ^ total)) < 0:  # the sum has left 64 bits
            return most if noise > 0 else least
        return min(max(total, least), most)

    def unsigned(value, noise, least, most):
        if noise < 0:
            size = np.uint64(-noise)
            return max(value - size, least) if value >= size else least
        total = value + np.uint64(noise)
        return min(total, most) if total >= value else most

    return unsigned if value == types.uint64 else signed


@inner
def add_integer_tile(noise, x, out, in_place, low, high, least, most):
    """out = x + noise, x clipped to low .. high.

    Counts what is undecided: there `out` becomes 0, or in place stays `x`.
    """
    wide_vectors()
    undecided = 0
    for i in range(len(x)):
        value = x[i]
        if noise[i] == UNDECIDED:
            undecided += 1
            value = value if in_place else low - low
        else:
            value = add_saturating(min(max(value, low), high), noise[i], least, most)
        out[i] = value
    return undecided


@kernel
def perturb_integers(
    start, stop, filler, key, law, first, ids, tops, x, out, low, high, least, most
):
    """Rows start .. stop of int64 or uint64; counts those that are undecided."""
    aside, schedule = np.empty(TILE, x.dtype), expanded(key)
    ahead, scratch, noise = tile_rooms()
    in_place = is_in_place(x, out)
    undecided = 0
    at = start
    while at < stop:
        look_ahead(ahead, x, out, at, TILE, np.int64(law[WIDTH]) * TILE)
        n, lead, _ = fill_tile(
            filler, schedule, law, first, ids, tops, at, stop, ahead, scratch, noise
        )
        drawn, values, to = noise[lead:], set_aside(x, at, n, out, aside), out[at : at + n]
        undecided += add_integer_tile(drawn, values, to, in_place, low, high, least, most)
        at += n
    return undecided
