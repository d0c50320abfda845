"""Choosing one of k candidates with weight e**(-epsilon * level of its cost).

A uniform number times the sum of the weights says where in their running sums the choice lies. In
floats that is right unless a running sum is too near: such a row is left to the Python layer, which
has any precision. Sixteen rows are chosen for side by side, candidate after candidate.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import fill_words, fill_words_of, words_room
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.layout import CHOICE_BITS, CHOICE_PLACES
from fastnoise_kernels.memory import eight_rows

TILE = 256  # rows
MOST_STEPS = 2.0**52  # costs beyond count as that: floats have no gaps below
ONE_BITS = 0x3FF << 52


@intrinsic
def level_column(typing, columns, at, inverse, steps, per_step, radius, least):
    """Costs to levels, for sixteen rows; the least of a row so far.

    A cost is snapped to the grid; its level is 0 below `radius` steps, then 1 more every `steps`.
    All of it is exact: floats below 2**52 that count steps are integers.
    """

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        exact = lanes.load_floats(builder, data(0), arguments[1]) * arguments[2]
        floor = exact.floor()
        size = floor.chosen((exact - floor) < 0.5, floor + 1.0).size()
        size = size.chosen(exact.size() < MOST_STEPS, MOST_STEPS)
        beyond = size - arguments[5]
        level = (beyond * arguments[4]).floor()  # off by one at most, because of the product
        level = (level - 1.0).chosen((level * arguments[3]) > beyond, level)
        missing = (beyond - level * arguments[3]) < arguments[3]
        level = level.chosen(missing, level + 1.0) + 1.0
        least = lanes.load_floats(builder, data(6), 0)
        lanes.store(level, data(0), arguments[1])
        lanes.store(level.chosen(level < least, least), data(6), 0)
        return context.get_dummy_value()

    real = types.float64
    return types.void(columns, types.int64, real, real, real, real, least), codegen


@intrinsic(prefer_literal=True)
def sum_column(typing, places, columns, at, least, powers, total):
    """Levels to running sums of e**(-epsilon * (level - least)), for sixteen rows."""
    digits = places.literal_value

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        level = lanes.load_floats(builder, data(1), arguments[2])
        left = level - lanes.load_floats(builder, data(3), 0)
        bits = (left + 2.0**52).as_bits()
        ones = lanes.broadcast(builder, 1.0, lanes.FLOAT_LANES).value
        weight = lanes.Floats(builder, ones)
        for i in range(digits):
            digit = (bits >> CHOICE_BITS * i) & ((1 << CHOICE_BITS) - 1)
            digit += i << CHOICE_BITS
            weight *= lanes.gather(builder, data(4), digit, lanes.DOUBLE)
        weight = weight.chosen(left < 2.0 ** (CHOICE_BITS * digits), 0.0)
        total = lanes.load_floats(builder, data(5), 0) + weight
        lanes.store(total, data(5), 0)
        lanes.store(total, data(1), arguments[2])
        return context.get_dummy_value()

    return types.void(places, columns, types.int64, least, powers, total), codegen


@intrinsic
def set_goals(typing, words, at, total, goals):
    """A uniform number times the total, for sixteen rows."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        word = lanes.load_word(builder, data(0), arguments[1])
        uniform = (word >> 12 | ONE_BITS).as_floats() - 1.0
        lanes.store(uniform * lanes.load_floats(builder, data(2), 0), data(3), 0)
        return context.get_dummy_value()

    return types.void(words, types.int64, total, goals), codegen


@intrinsic
def count_column(typing, columns, at, goals, total, error, choices):
    """Count sums that are below the goal, for sixteen rows; a mask of sums too near to it."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        goal = lanes.load_floats(builder, data(2), 0)
        distance = lanes.load_floats(builder, data(0), arguments[1]) - goal
        before = lanes.load_floats(builder, data(5), 0)
        lanes.store(before.chosen(distance > 0.0, before + 1.0), data(5), 0)
        room = lanes.load_floats(builder, data(3), 0) * arguments[4]
        return (~(distance.size() > room)).bits()

    integer, real = types.int64, types.float64
    return types.uint32(columns, integer, goals, total, real, choices), codegen


@inner
def load_columns(costs, count, row, rows, columns):
    """The costs of sixteen rows from `row` on, candidate by candidate.

    Rows before 0 and from `rows` on are not there: another stands in for them.
    """
    for half in range(0, 16, 8):
        done = 0
        if row + half >= 0 and row + half + 8 <= rows:
            done = count // 8 * 8
            for i in range(0, done, 8):
                eight_rows(8, costs, (row + half) * count + i, count, columns, 16 * i + half, 16)
        for lane in range(half, half + 8):
            there = min(max(row + lane, 0), rows - 1) * count
            for i in range(done, count):
                columns[16 * i + lane] = costs[there + i]


@inner
def choose_sixteen(words, at, count, sizes, powers, columns, lanes_of):
    """Choices in lanes_of[3]; a mask of undecided rows."""
    inverse, steps, per_step, radius, error = sizes
    least, total, goals, choices = lanes_of
    least[:], total[:], choices[:] = np.inf, 0.0, 0.0
    for i in range(count):
        level_column(columns, 16 * i, inverse, steps, per_step, radius, least)
    if len(powers) == 1 << CHOICE_BITS:
        for i in range(count):
            sum_column(1, columns, 16 * i, least, powers, total)
    else:
        for i in range(count):
            sum_column(CHOICE_PLACES, columns, 16 * i, least, powers, total)
    set_goals(words, at, total, goals)
    near = np.uint32(0)
    for i in range(count):
        near |= count_column(columns, 16 * i, goals, total, error, choices)
    return near


@kernel
def choose(start, stop, key, first, ids, costs, count, grid, steps, radius, powers, out):
    """The choices of rows start .. stop; counts those left for the Python layer, which are -1."""
    words, ahead = np.empty(words_room(TILE, 2), np.uint32), np.zeros(3, np.int64)
    columns = np.empty(16 * count)
    lanes_of = np.empty(16), np.empty(16), np.empty(16), np.empty(16)
    # A weight has an error of 8 roundings at most, a sum of one a term, a goal of 2**-52 of it.
    sizes = 1.0 / grid, steps, 1.0 / steps, radius, (count + 16) * 2.0**-51
    rows = len(costs) // count
    undecided = 0
    at = start
    while at < stop:
        if first < 0:
            n, lead, place = min(TILE, stop - at), 0, 0
            fill_words_of(key, ids[at : at + n], 2, words)
        else:
            lead = (first + at) % 16
            n = min(TILE - lead, stop - at)
            place = fill_words(key, first + at, n, 2, words, ahead)
        for group in range(0, lead + n, 16):
            row = at - lead + group
            load_columns(costs, count, row, rows, columns)
            near = choose_sixteen(words, place + 2 * group, count, sizes, powers, columns, lanes_of)
            for lane in range(max(0, lead - group), min(16, lead + n - group)):
                unclear = near >> np.uint32(lane) & np.uint32(1)
                out[row + lane] = -1 if unclear else np.int64(lanes_of[3][lane])
                undecided += int(unclear)
        at += n
    return undecided
