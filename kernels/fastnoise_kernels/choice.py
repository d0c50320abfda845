"""Choosing one of k candidates with weight e**(-epsilon * level of its cost).

A uniform number times the sum of the weights says where in their running sums the choice lies. In
floats that is right unless a running sum is too near: such a row is undecided, and left to the
Python layer, which has any precision. Sixteen rows are chosen for side by side, candidate after
candidate; most of them in 32 bits already (`choice_lanes`).
"""

import numpy as np
from numba import float64, int64, uint32

from fastnoise_kernels.aes import expanded
from fastnoise_kernels.ahead import nothing_ahead
from fastnoise_kernels.choice_lanes import (
    UNIT,
    narrow_margin,
    three_digit_choices,
    two_digit_choices,
)
from fastnoise_kernels.elementary import INTEGER_FLOAT, falling_power
from fastnoise_kernels.filler import rows_before
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.lanes import EIGHT, LANES, LANES_64, joined, loop
from fastnoise_kernels.layout import LEVEL_BASE
from fastnoise_kernels.memory import copy
from fastnoise_kernels.polynomials import POWER_ERROR
from fastnoise_kernels.shuffles import rows_of
from fastnoise_kernels.words import fill_words, fill_words_of, words_room

TILE = 256  # rows
MOST_HALVES = 2.0**53  # of grid steps: costs beyond 2**52 steps count as that
ONE_BITS = 0x3FF << 52
UNDECIDED = -1


def size_of(cost, sizes):
    """|cost| in halves of a grid step, which it is rounded down to before; in the middle of one."""
    scale, _, _ = sizes
    return ((cost * scale).floor() + 0.5).size()


def level_of(size, sizes):
    """The level of a size, less 1 and plus INTEGER_FLOAT: exact, if a level has 4 steps or more.

    Snapped to the grid, halves up, a cost is floor(h / 2) steps from 0, h = size + 1/2. Level 1
    starts at `radius` steps and others follow every `steps`, so floor((h - 2 radius) / (2 steps))
    is wanted. That is the integer nearest to (size + 1 - 2 radius - steps) / (2 steps), whose
    numerator is an integer and a half, and so half a unit or more away from where that integer
    changes. The relative error of the quotient is at most 2**-53, that of 1 / (2 steps): less than
    half a unit of the numerator while h < 2**52. From there on a size is an even number, since the
    1/2 is rounded; it is a unit away, and 2**53 at most.
    """
    _, offset, per_half = sizes
    return (size + offset).times_plus_once(per_half, INTEGER_FLOAT)


def lesser(one, other):
    return (one < other).where(one, other)


def none_yet(here):
    """The least level, and a sum."""
    return [here.floats(np.inf), here.floats(0.0)]


@intrinsic
def block_levels(here, costs, at: int64, count: int64, sizes, columns, least) -> uint32:
    """Levels of sixteen rows of at least eight costs, from `at` on, candidate by candidate.

    And the least of each row; a mask of rows with sizes of MOST_HALVES together, which may have
    wrong levels: costs are huge or unfit. The last eight candidates may overlap those before.
    """
    builder, sizes = here.builder, [size.floats() for size in sizes]

    def turn(i, carried):
        lowest, together = carried
        first = (i * 8).at_most(count - 8)
        starts = (costs.of(EIGHT, at + count * row + first) for row in range(LANES))
        rows = [builder.load(start, align=8) for start in starts]
        eights = (rows_of(builder, half) for half in (rows[:8], rows[8:]))
        for j, halves in enumerate(zip(*eights, strict=True)):
            size = size_of(joined(builder, *halves), sizes)
            level = level_of(size, sizes)
            columns.put(first * LANES + LANES * j, level)
            lowest, together = lesser(level, lowest), together + size
        return [lowest, together]

    lowest, together = loop(count + 7 >> 3, none_yet(here), turn)
    least.put(0, lowest)
    return (~(together < MOST_HALVES)).bits()


@intrinsic
def column_levels(here, columns, count: int64, sizes, least):
    """Costs of sixteen rows, candidate by candidate, to levels; the least of each row.

    That is NaN where a cost is NaN or infinite, and so are weights then: one NaN for all, because
    the bits of another would become an exponent.
    """
    sizes = [size.floats() for size in sizes]

    def turn(i, carried):
        lowest, unfit = carried
        cost = columns.floats(i * LANES)
        size = size_of(cost, sizes)
        level = level_of((size < MOST_HALVES).where(size, MOST_HALVES), sizes)
        columns.put(i * LANES, level)
        return [lesser(level, lowest), cost.times_plus(0.0, unfit)]

    lowest, unfit = loop(count, none_yet(here), turn)
    least.put(0, unfit.equals(0.0).where(lowest, float("nan")))


@intrinsic
def sum_columns(here, columns, count: int64, rate: float64, least, total, following, at: int64):
    """Levels to running sums of 2**(rate * (level - least)), for sixteen rows; and the last ones.

    Meanwhile as many values of `following`, from `at` on, come from memory: 2.3 -> 1.2 ns per
    candidate.
    """
    lowest, rate = least.floats(), rate.floats()

    def turn(i, carried):
        (running,) = carried
        for half in (0, 8):
            (following + (at + i * LANES + half)).prefetch(1)
        running += falling_power(columns.floats(i * LANES) - lowest, rate)
        columns.put(i * LANES, running)
        return [running]

    (running,) = loop(count, [here.floats(0.0)], turn)
    total.put(0, running)


@intrinsic
def count_columns(
    here, columns, count: int64, words, at: int64, error: float64, total, goals, choices
) -> uint32:
    """How many sums are below a uniform number times the total; a mask of rows with one too near.

    For sixteen rows; in `choices` they are UNDECIDED, as are rows whose total is NaN.
    """
    totals = total.floats()
    goal = ((words.word(at) >> 12 | ONE_BITS).as_floats() - 1.0) * totals
    room = totals * error
    low, high = goal - room, goal + room

    def turn(i, carried):
        surely, perhaps = carried
        sums = columns.floats(i * LANES)
        return [
            (sums < low).where(surely + 1, surely),
            (sums < high).where(perhaps + 1, perhaps),
        ]

    none = here.lanes(0, LANES_64)
    surely, perhaps = loop(count, [none, none], turn)
    clear = surely.equals(perhaps) & (totals > 0.0)
    goals.put(0, goal)
    choices.put(0, clear.where(surely, UNDECIDED))
    return (~clear).bits()


@inner
def load_columns(costs, count, row, rows, columns):
    """The costs of sixteen rows from `row` on, candidate by candidate.

    Rows before 0 and from `rows` on are not there: another stands in for them.
    """
    for lane in range(16):
        there = min(max(row + lane, 0), rows - 1) * count
        for i in range(count):
            columns[16 * i + lane] = costs[there + i]


@inner
def choose_sixteen(costs, count, row, words, at, law, error, room):
    """Choices of the rows from `row` on, in room[4]; a mask of undecided ones, and unfit ones."""
    columns, least, total, goals, choices = room
    sizes, rate = (law[0], law[1], law[2]), law[3]
    rows, other = len(costs) // count, True
    if count >= 8 and row >= 0 and row + 16 <= rows:
        other = block_levels(costs, row * count, count, sizes, columns, least) != 0
    if other:
        load_columns(costs, count, row, rows, columns)
        column_levels(columns, count, sizes, least)
    sum_columns(columns, count, rate, least, total, costs, (row + 16) * count)
    return count_columns(columns, count, words, at, error, total, goals, choices)


@inner
def rooms(count):
    """What `choose_sixteen` writes to: running sums, then least levels, totals, goals, choices."""
    return np.empty(16 * count), np.empty(16), np.empty(16), np.empty(16), np.empty(16, np.int64)


@inner
def margin(count):
    """The largest error of a goal and a sum together, as a part of the total.

    Weights have an error of at most POWER_ERROR, and so a part p of their sum twice that times
    p (1 - p), which is half of it. In units of 2**-53, additions add count - 1 to a sum, and to
    the total too; the goal adds 3 more, 2 of them for bits that it leaves out; `low` and `high` 2.
    Weights of less than 2**-1021 that are 0 are nothing beside that. There is room for twice all.
    """
    return POWER_ERROR + (count + 16) * 2.0**-51


@kernel
def weights(start, stop, levels, law, out):
    """Those of levels beside level 0, as `choose` has them: to be checked."""
    columns, least, total = np.zeros(16), np.zeros(16), np.empty(16)
    for at in range(start, stop, 16):
        n = min(16, stop - at)
        copy(levels[at : at + n], columns)
        sum_columns(columns, 1, law[3], least, total, levels, at)
        copy(columns[:n], out[at:])
    return 0


@kernel
def choose(start, stop, key, first, ids, tops, costs, count, law, tables, out):
    """The choices of rows start .. stop, UNDECIDED where the Python layer must choose.

    The words of a row, two of 32 bits, are one uniform number: where in the running sums it lies.

    Counts groups of sixteen rows with such a one, which may be another's row.
    """
    words, ahead = np.empty(words_room(TILE, 2), np.uint32), nothing_ahead()
    room, error, schedule = rooms(count), margin(count), expanded(key)
    sums, choices = np.empty(16 * max(16, count), np.uint32), np.empty(16, np.int64)
    sizes, digits = (law[0] / UNIT, law[1] / UNIT, law[2] * UNIT), len(tables) // LEVEL_BASE
    narrow, enough = narrow_margin(digits, count), 15 * count + max(16, count)
    undecided = 0
    at = start
    while at < stop:
        if first < 0:
            n, lead, place = min(TILE, stop - at), 0, 0
            fill_words_of(schedule, ids[at : at + n], tops[at : at + n], 2, words)
        else:
            lead = rows_before(first + at)
            n = min(TILE - lead, stop - at)
            place = fill_words(schedule, first + at, n, 2, words, ahead)
        for group in range(0, lead + n, 16):
            row = at - lead + group
            there, where, unsure = row * count, place + 2 * group, np.uint32(1)
            all_there = row >= 0 and there + enough <= len(costs)
            # Called from here: a function for both would count references, 20 ns per group.
            if all_there and digits == 2:
                unsure = two_digit_choices(
                    costs, there, count, words, where, sizes, tables, narrow, sums, choices
                )
            elif all_there and digits == 3:
                unsure = three_digit_choices(
                    costs, there, count, words, where, sizes, tables, narrow, sums, choices
                )
            if unsure:
                near = choose_sixteen(costs, count, row, words, where, law, error, room)
                undecided += near != 0
                copy(room[4], choices)
            if lead <= group <= lead + n - 16:
                for lane in range(16):  # a number that is known: 1.24 -> 1.20 ns per candidate
                    out[row + lane] = choices[lane]
            else:
                for lane in range(max(0, lead - group), min(16, lead + n - group)):
                    out[row + lane] = choices[lane]
        at += n
    return undecided
