"""Sixteen rows of the staircase of l1 balls at a time: what `draw_ball` does for most of them."""

from functools import reduce
from operator import or_

from numba import float64, int64, uint32
from numba.core import cgutils

from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.lanes import I32, LANES, Number
from fastnoise_kernels.layers import place_lanes, places
from fastnoise_kernels.sorting import sorting_network

FEW = 8  # dimensions in which registers hold all numbers of sixteen rows


def layer_lanes(layers, most, sizes):
    """N + d of sixteen rows on their layers, and what `places` is told."""
    layers = layers.floats()
    return layers.times_plus(*most), place_lanes(layers, sizes)


def number_lanes(word, most, sizes):
    """Numbers below N + d, a mask of negative ones, and one of careful rows."""
    place, careful = places(word, *sizes)
    positive = place < 0.0
    return positive.where(place + most, place), ~positive, careful


def in_order(x, y):
    smaller = x < y
    return smaller.where(x, y), smaller.where(y, x)


def gap_lanes(before, after, negative):
    """Gaps with signs; a mask of rows to be drawn again: two alike, or a zero with a minus sign."""
    size = after - before - 1.0
    nothing = size.like(0.0)
    return negative.where(0.0 - size, size), size < negative.where(1.0, nothing)


def ball_lanes(here, words, most, sizes):
    """The noise of sixteen rows, column by column; and a mask of careful ones."""
    numbers = (number_lanes(word, most, sizes) for word in words)
    drawn, signs, careful = map(list, zip(*numbers, strict=True))
    for front, back in sorting_network(len(drawn)):
        drawn[front], drawn[back] = in_order(drawn[front], drawn[back])
    befores = [here.floats(-1.0), *drawn[:-1]]
    gaps, again = zip(*map(gap_lanes, befores, drawn, signs), strict=True)
    return gaps, reduce(or_, [*careful, *again])


@intrinsic
def few_columns(
    here, dim: int64, words, at: int64, layers, most, sizes, columns, fewest: float64
) -> uint32:
    """All of it in 2 .. FEW dimensions, without a detour through memory: 3.9 -> 3.4 ns per value.

    The words of a row are pairs of vectors, one per coordinate: a place and its sign.
    """
    builder = here.builder
    most, sizes = layer_lanes(layers, most, sizes)
    careful = cgutils.alloca_once_value(builder, here.number(0xFFFF, I32).value)
    for few in range(2, FEW + 1):  # one dimension is a matter of `staircase`
        with builder.if_then(dim.equals(few).value):
            own_words = [words.word(at + 2 * LANES * i) for i in range(few)]
            gaps, marked = ball_lanes(here, own_words, most, sizes)
            for i, gap in enumerate(gaps):
                columns.put(LANES * i, gap)
            builder.store((marked | (most < fewest)).bits().value, careful)
    return Number(builder, builder.load(careful))


@intrinsic
def ball_column(
    here,
    words,
    at: int64,
    layers,
    most,
    sizes,
    drawn,
    to: int64,
    signs,
    i: int64,
    fewest: float64,
) -> uint32:
    """A number below N + d and a sign, for sixteen rows; a mask of careful ones."""
    most, sizes = layer_lanes(layers, most, sizes)
    number, negative, careful = number_lanes(words.word(at), most, sizes)
    drawn.put(to, number)
    signs[i] = negative.bits()
    return (careful | (most < fewest)).bits()


@intrinsic
def sort_columns(here, columns, front: int64, back: int64):
    """The smaller of two columns to the front, for sixteen rows."""
    places = front, back
    for place, column in zip(places, in_order(*map(columns.floats, places)), strict=True):
        columns.put(place, column)


@intrinsic
def gap_column(here, drawn, at: int64, signs, i: int64, columns, to: int64) -> uint32:
    """From a column to the next, with signs; a mask of rows to be drawn again."""
    before, after = drawn.floats(at), drawn.floats(at + LANES)
    gaps, again = gap_lanes(before, after, signs[i].as_mask())
    columns.put(to, gaps)
    return again.bits()
