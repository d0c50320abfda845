"""Sixteen rows of sloping levels at a time: what `staircase.draw` does for most of them.

A level is 2**bits steps wide, so that a place is the first bits of its word. All but the noise
itself fits 32 bits.
"""

from functools import partial
from typing import Any, NamedTuple

from numba import int64, uint32

from fastnoise_kernels import lookups
from fastnoise_kernels.alias import pick
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.lanes import LANES
from fastnoise_kernels.layout import LONG, SLOPING_DIGIT_BITS


class SlopingSizes(NamedTuple):
    """What is told of a law with sloping rows; see `layout`."""

    head_bits: Any
    head_levels: Any
    digit_bits: Any
    restart: Any  # the entry of a digit that draws again
    slope_bits: Any
    most: Any  # up to this, the first 32 bits of a coin are careful


@intrinsic
def sixteen_sloping_rows(
    here, words, at: int64, cells, digit_cells, sizes, noise, to: int64
) -> uint32:
    """`draw` for a group of sixteen rows; the mask that comes back marks careful ones.

    The words of a row, by vectors: the coin of the digit, the coin of the head, what follows the
    last word, and a sign and place.
    """
    sizes = SlopingSizes(*(size.narrowed() for size in sizes))
    cells_at = lookups.gather
    if here.has_avx512:
        cells_at = partial(lookups.permuted, cells=1 << SLOPING_DIGIT_BITS)
    digit_word, head_word, rest, place_word = (words.lanes(at + LANES * i) for i in range(LONG))
    entry, careful = pick(cells, head_word, sizes.head_bits)
    digit, tie = pick(digit_cells, digit_word, sizes.digit_bits, cells_at)
    careful |= tie | (entry > sizes.head_levels) | digit.equals(sizes.restart)
    coin = place_word.followed_by(rest, sizes.slope_bits + 1)
    careful |= ~(coin > sizes.most)
    below = (entry - 1 + digit * sizes.head_levels).widened()
    place = (place_word << 1) >> 32 - sizes.slope_bits
    distance = (below << sizes.slope_bits.widened()) + (place + 1).widened()
    negative = (place_word >> 31).equals(1)
    drawn = negative.where(0 - distance, distance)
    noise.put(to, entry.equals(0).where(0, drawn))
    return careful.bits()
