"""Sixteen rows of choices in 32 bits: what `choice.choose` does for most of them, with AVX-512.

Levels are exact, as in `choice`, but turned into columns after they are computed, when half as many
bits are left. Weights are integers, so that their sums are exact; each is a product of numbers from
tables that registers hold, one for each digit of its level to the base of LEVEL_BASE. That leaves a
row in 2**16 undecided among 32 candidates, for `choice.choose_sixteen`.
"""

from llvmlite import ir
from numba import int64, uint32

from fastnoise_kernels import lookups
from fastnoise_kernels.elementary import INTEGER_FLOAT
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inner
from fastnoise_kernels.lanes import I8, I32, I64, LANES, LANES_32, Lanes, Number, loop
from fastnoise_kernels.layout import LEVEL_BASE, LEVEL_DIGITS
from fastnoise_kernels.shuffles import columns_of

# Halves of a grid step that are the unit of sizes here. A size of 2 units or more has a bit set, of
# its exponent, that smaller ones have not. Levels below fit 32 bits, if they have LEAST_STEPS.
UNIT = 2.0**50
FROM_TWO = 1 << 62
# From 4 to 8, floats have 50 bits after the point: FLOORING plus or minus a size of 2 units at most
# is rounded to halves of a step. Half of such a half less than FLOORING takes 54 bits: a product.
FLOORING = 6.0
LESS_A_HALF = 11.0, (3 * 2**52 - 1) // 11 * 2.0**-51
AHEAD = 48  # rows that are on their way from memory
ALL = (1 << LANES) - 1
DIGIT_BITS = LEVEL_BASE.bit_length() - 1
SINGLES = ir.VectorType(ir.FloatType(), LANES)
EIGHT_64 = ir.VectorType(I64, 8)


def size_and_level(cost, sizes):
    """|cost| in the middle of the half step that it is in, and its level less 1 as an integer.

    The same numbers as `choice.size_of` and `choice.level_of` have, for a size below 2 units; of
    others, the size is 2 units or more.
    """
    scale, offset, per_unit = sizes
    one, other = LESS_A_HALF
    floor = cost.floored_times_plus(scale, FLOORING)
    size = cost.like(-one).times_plus_once(other, floor).size()
    return size, (size + offset).times_plus_once(per_unit, INTEGER_FLOAT).as_bits()


class Sixteen:
    """Rows whose costs start at element `at`, and room for as many columns of 32 bits."""

    def __init__(self, here, costs, at, count, columns):
        self.here, self.costs, self.columns = here, costs, columns
        self.at, self.count = at, count

    def column(self, i):
        return self.columns.lanes(i * LANES)

    def set_column(self, i, column):
        self.columns.put(i * LANES, column)

    def fill_levels(self, sizes):
        """The columns of all candidates; whether all are right: fit, and below 2 units in size.

        Sixteen candidates are read at a time, the last ones again where that is necessary. Where
        there are fewer, so are those of following rows, to columns that nobody looks at.
        """
        builder, sizes = self.here.builder, [size.floats() for size in sizes]
        last = self.count - LANES
        last = last.is_below(0).where(self.here.number(0), last)

        def turn(i, carried):
            first = (i * LANES).at_most(last)

            def levels():
                for row in range(LANES):
                    cost = self.costs.floats(self.at + (self.count * row + first))
                    size, level = size_and_level(cost, sizes)
                    for half in size.as_bits().halves():
                        carried[0] |= Lanes(builder, half)
                    yield level

            for j, column in enumerate(columns_of(builder, levels())):
                self.set_column(first + j, column)
            return carried

        (seen,) = loop(self.count + 15 >> 4, [self.here.lanes(0, EIGHT_64)], turn)
        fit = (seen & FROM_TWO).equals(0)
        return Number(builder, builder.bitcast(fit.value, I8)).equals(0xFF)

    def sum_weights(self, tables):
        """Levels to running sums of weights; the last ones.

        A level of too many digits weighs as much as the last one that has no more: nothing.
        """
        builder, most = self.here.builder, LEVEL_BASE ** len(tables) - 1

        def lower(i, carried):
            (least,) = carried
            level = self.column(i)
            return [least.exceeds(level).where(level, least)]

        def turn(i, carried):
            (total,) = carried
            self.fetch(i)
            level = self.column(i) - least
            level = (level < most).where(level, most)
            weight = ir.Constant(SINGLES, [1.0] * LANES)
            for digit, table in enumerate(tables):
                factor = lookups.of_two(level >> DIGIT_BITS * digit, *table)
                weight = builder.fmul(weight, builder.bitcast(factor.value, SINGLES))
            total += Lanes(builder, builder.fptoui(weight, LANES_32))
            self.set_column(i, total)
            return [total]

        none, highest = (self.here.lanes(value, LANES_32) for value in (0, 2**31 - 1))
        (least,) = loop(self.count, [highest], lower)
        (total,) = loop(self.count, [none], turn)
        return total

    def fetch(self, i):
        """Sixteen of the costs that follow, which is as many as candidate i of all rows has."""
        start = self.at + self.count * AHEAD + i * LANES
        for half in (0, 8):
            (self.costs + (start + half)).prefetch(2)

    def count_below(self, goal, room):
        """How many sums are below a goal; a mask of rows with one as near as `room`."""
        low, high = (goal > room).where(goal, room) - room, goal + room

        def turn(i, carried):
            perhaps, last = carried
            sums = self.column(i)
            below = sums < high
            return [below.where(perhaps + 1, perhaps), below.where(sums, last)]

        none = self.here.lanes(0, LANES_32)
        perhaps, last = loop(self.count, [none, none], turn)
        return perhaps, ~(last < low)


@inner
def narrow_margin(digits, count):
    """The largest error of a goal and a sum together: in 2**-32 of the total, and in units.

    Weights are rounded to 24 bits in each table and product, so a sum less its part p of the total
    has an error of at most half as much of the total: 1 - p of the errors before it count, and p of
    those behind. A few parts more are for what tables were computed with. Rounding down adds
    `count` units; the goal adds 2, for its own and for bits that its first 32 leave out; and the
    margin 1. One is to spare.
    """
    return (2 * digits - 1) * 2**7 + 8, count + 4


def choices_intrinsic(digits):
    """digits: of a level, as many as the tables are for."""

    @intrinsic
    def narrow_choices(
        here,
        costs,
        at: int64,
        count: int64,
        words,
        words_at: int64,
        sizes,
        tables,
        margin,
        sums,
        choices,
    ) -> uint32:
        """Choices of sixteen rows whose costs start `at`; a mask of those that are not sure.

        The one word of a row, of 64 bits, is a uniform number: its first half is used here. sizes:
        of levels, in units of UNIT.
        """
        nobody = here.number(ALL, I32)
        if not here.has_avx512:
            return nobody
        rows = Sixteen(here, costs, at, count, sums)
        fit = rows.fill_levels(sizes)
        starts = range(0, LEVEL_BASE * digits, LEVEL_BASE)
        total = rows.sum_weights([lookups.table_of(tables, start) for start in starts])
        uniform = words.lanes(words_at + LANES)
        parts, units = (number.narrowed() for number in margin)
        room = total.high_product(total.like(parts)) + units
        chosen, unsure = rows.count_below(uniform.high_product(total), room)
        choices.put(0, chosen.widened())
        return fit.where(unsure.bits(), nobody)

    return narrow_choices


two_digit_choices, three_digit_choices = map(choices_intrinsic, LEVEL_DIGITS)
