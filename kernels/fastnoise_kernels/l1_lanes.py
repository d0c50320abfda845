"""Sixteen rows of the staircase of l1 balls at a time: what `draw_ball` does for most of them."""

from functools import reduce
from operator import or_

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.layers import place_lanes, places
from fastnoise_kernels.sorting import sorting_network

FEW = 8  # dimensions in which registers hold all numbers of sixteen rows


def layer_lanes(builder, layers, most, sizes):
    """N + d of sixteen rows on their layers, and what `places` is told."""
    layers = lanes.load_floats(builder, layers, 0)
    most = layers.times_plus(*lanes.unpacked(builder, most, 2))
    return most, place_lanes(builder, layers, sizes, ir.Constant(lanes.I64, 0))


def number_lanes(builder, words, at, most, sizes):
    """Numbers below N + d, a mask of negative ones, and one of rows that need care."""
    place, needed = places(builder, words, at, *sizes)
    positive = place < 0.0
    return (place + most).chosen(positive, place), ~positive, needed


def in_order(x, y):
    smaller = x < y
    return x.chosen(smaller, y), y.chosen(smaller, x)


def gap_lanes(before, after, negative):
    """Gaps with signs; a mask of rows to be drawn again: two alike, or a zero with a minus sign."""
    size = after - before - 1.0
    ones = lanes.Floats(size.builder, ir.Constant(lanes.FLOAT_LANES, [1.0] * lanes.LANES))
    return (0.0 - size).chosen(negative, size), size < ones.chosen(negative, 0.0)


def ball_lanes(dim, builder, words, at, most, sizes):
    """The noise of sixteen rows, column by column; and a mask of those that need care."""
    starts = (builder.add(at, ir.Constant(lanes.I64, 2 * lanes.LANES * i)) for i in range(dim))
    numbers = (number_lanes(builder, words, start, most, sizes) for start in starts)
    drawn, signs, needed = map(list, zip(*numbers, strict=True))
    for front, back in sorting_network(dim):
        drawn[front], drawn[back] = in_order(drawn[front], drawn[back])
    before = lanes.floats(builder, ir.Constant(lanes.DOUBLE, -1.0))
    gaps, again = zip(*map(gap_lanes, [before, *drawn], drawn, signs), strict=True)
    return gaps, reduce(or_, [*needed, *again])


@intrinsic
def few_columns(typing, dim, words, at, layers, most, sizes, columns, fewest):
    """All of it in 2 .. FEW dimensions, without a detour through memory: 3.9 -> 3.4 ns a value."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        most, sizes = layer_lanes(builder, data(3), arguments[4], data(5))
        all_rows = ir.Constant(lanes.I32, 0xFFFF)
        careful = cgutils.alloca_once_value(builder, all_rows)
        for few in range(2, FEW + 1):  # one dimension is a matter of `staircase`
            is_dim = builder.icmp_signed("==", arguments[0], ir.Constant(lanes.I64, few))
            with builder.if_then(is_dim):
                gaps, needed = ball_lanes(few, builder, data(1), arguments[2], most, sizes)
                for i, gap in enumerate(gaps):
                    lanes.store(gap, data(6), lanes.LANES * i)
                builder.store((needed | (most < arguments[7])).bits(), careful)
        return builder.load(careful)

    integer = types.int64
    arguments = integer, words, integer, layers, most, sizes, columns, types.float64
    return types.uint32(*arguments), codegen


@intrinsic
def ball_column(typing, words, at, layers, most, sizes, drawn, to, signs, i, fewest):
    """A number below N + d and a sign, for sixteen rows; a mask of those that need care."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        most, sizes = layer_lanes(builder, data(2), arguments[3], data(4))
        number, negative, needed = number_lanes(builder, data(0), arguments[1], most, sizes)
        lanes.store(number, data(5), arguments[6])
        builder.store(negative.bits(), lanes.pointer(builder, data(7), arguments[8], lanes.I32))
        return (needed | (most < arguments[9])).bits()

    integer = types.int64
    arguments = words, integer, layers, most, sizes, drawn, integer, signs, integer, types.float64
    return types.uint32(*arguments), codegen


@intrinsic
def sort_columns(typing, columns, front, back):
    """The smaller of two columns to the front, for sixteen rows."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        sorted_ones = in_order(*(lanes.load_floats(builder, data, at) for at in arguments[1:]))
        for column, at in zip(sorted_ones, arguments[1:], strict=True):
            lanes.store(column, data, at)
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
        gaps, again = gap_lanes(before, after, negative)
        lanes.store(gaps, data(4), arguments[5])
        return again.bits()

    integer = types.int64
    return types.uint32(drawn, integer, signs, integer, columns, integer), codegen
