"""Sixteen rows of the integer staircase at a time: what `staircase.draw` does for most of them."""

from typing import Any, NamedTuple

from numba import int64, uint32

from fastnoise_kernels import lookups
from fastnoise_kernels.alias import pick
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.lanes import LANES, LANES_32, LANES_64
from fastnoise_kernels.layout import LONG, SHORT

LOW = 0xFFFFFFFF


class ShortSizes(NamedTuple):
    """What is told of a law with short rows; see `layout`."""

    head_bits: Any
    head_levels: Any
    steps: Any
    radius: Any
    rest_top: Any  # below this, a coin is careful on the top step
    rest_side: Any  # and on a level


class LongSizes(NamedTuple):
    """Of one with long rows."""

    head_bits: Any
    head_levels: Any
    steps: Any
    radius: Any
    rest_top: Any
    rest_side: Any
    digit_bits: Any
    restart: Any  # the entry of a digit that draws again
    lap: Any  # levels per digit
    deepest: Any


def rows_intrinsic(few_cells=False, narrow=False):
    """few_cells: whether the head has so few that registers hold them (`lookups.permuted`).

    narrow: whether 32 bits hold the noise of every level of the head: half the work.
    """
    kind = LANES_32 if narrow else LANES_64

    @intrinsic
    def sixteen_rows(here, words, at: int64, cells, digit_cells, sizes, noise, to: int64) -> uint32:
        """`draw` for a group of sixteen rows; the mask that comes back marks careful ones.

        The words of a row, by vectors: if short, a place and the coin of the head; if long, the
        coin of the digit, the coin of the head, a place of two words.
        """
        short = isinstance(sizes, ShortSizes)

        def fitting(value):
            """Short rows have widths below 2**32: knowing it makes products cheaper."""
            return value & LOW if short and not narrow else value

        def by_level(top, side):
            return is_top.where(top.lanes(kind), side)

        word = [words.lanes(at + LANES * i) for i in range(SHORT if short else LONG)]
        cells_at = lookups.permuted if few_cells and here.has_avx512 else lookups.gather
        entry, careful = pick(cells, word[1], sizes.head_bits.narrowed(), cells_at)
        careful |= entry > sizes.head_levels.narrowed()
        is_top = entry.equals(0)
        below = (entry - 1).widened(kind)
        if narrow:
            sizes = ShortSizes(*(size.narrowed() for size in sizes))
        steps, radius = fitting(sizes.steps), fitting(sizes.radius)
        width = by_level(fitting((radius << 1) - 1), fitting(steps << 1))
        if narrow:
            place, coin = word[0].high_product(width), word[0] * width
        elif short:
            product = word[0].widened() * width
            place, coin = product >> 32, product & LOW
        else:
            uniform = word[2].widened() | word[3].widened() << 32
            place, coin = uniform.high_product(width), uniform * width
            digit, tie = pick(digit_cells, word[0], sizes.digit_bits.narrowed())
            below += digit.widened() * sizes.lap
            careful |= tie | digit.equals(sizes.restart.narrowed())
            careful |= ~(is_top | (below < sizes.deepest))
        careful |= coin < by_level(sizes.rest_top, sizes.rest_side)
        outer = below * steps + radius + place
        signed = (place < steps).where(outer, steps - outer)
        drawn = is_top.where(place - radius + 1, signed)
        noise.put(to, drawn.sign_widened())
        return careful.bits()

    return sixteen_rows
