"""Sixteen rows of choices in 32 bits: what `choice.choose` does for most of them, with AVX-512.

Levels are exact, as in `choice`, but turned into columns after they are computed, when half as many
bits are left. Weights are integers, so that their sums are exact; each is a product of numbers from
tables that registers hold, one for each digit of its level to the base of LEVEL_BASE. That leaves a
row in 2**16 undecided among 32 candidates, for `choice.choose_sixteen`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes, lookups
from fastnoise_kernels.elementary import INTEGER_FLOAT
from fastnoise_kernels.jit import inner
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
ALL = (1 << lanes.LANES) - 1
DIGIT_BITS = LEVEL_BASE.bit_length() - 1
SINGLES = ir.VectorType(ir.FloatType(), lanes.LANES)


def size_and_level(cost, sizes):
    """|cost| in the middle of the half step that it is in, and its level less 1 as an integer.

    The same numbers as `choice.size_of` and `choice.level_of` have, for a size below 2 units; of
    others, the size is 2 units or more.
    """
    scale, offset, per_unit = sizes
    one, other = LESS_A_HALF
    floor = cost.floored_times_plus(scale, FLOORING)
    size = lanes.floats(cost.builder, -one).times_plus(other, floor).size()
    return size, (size + offset).times_plus(per_unit, INTEGER_FLOAT).as_bits()


def numbers(builder, *values):
    return [lanes.broadcast(builder, value, lanes.LANES_32) for value in values]


class Sixteen:
    """Rows whose costs start at element `at`, and room for as many columns of 32 bits."""

    def __init__(self, builder, costs, at, count, columns):
        self.builder, self.costs, self.columns = builder, costs, columns
        self.at, self.count = at, count

    def column(self, i):
        place = lanes.times(self.builder, i, lanes.LANES)
        return lanes.load(self.builder, self.columns, place, lanes.LANES_32)

    def set_column(self, i, column):
        lanes.store(column, self.columns, lanes.times(self.builder, i, lanes.LANES))

    def fill_levels(self, sizes):
        """The columns of all candidates; whether all are right: fit, and below 2 units in size.

        Sixteen candidates are read at a time, the last ones again where that is necessary. Where
        there are fewer, so are those of following rows, to columns that nobody looks at.
        """
        builder, zero = self.builder, ir.Constant(lanes.I64, 0)
        last = lanes.plus(builder, self.count, -lanes.LANES)
        last = builder.select(builder.icmp_signed("<", last, zero), zero, last)

        def turn(i, carried):
            first = lanes.times(builder, i, lanes.LANES)
            first = builder.select(builder.icmp_signed("<", first, last), first, last)

            def levels():
                for row in range(lanes.LANES):
                    place = builder.add(lanes.times(builder, self.count, row), first)
                    cost = lanes.load_floats(builder, self.costs, builder.add(self.at, place))
                    size, level = size_and_level(cost, sizes)
                    for half in size.as_bits().halves():
                        carried[0] |= lanes.Lanes(builder, half)
                    yield level

            for j, column in enumerate(columns_of(builder, levels())):
                self.set_column(lanes.plus(builder, first, j), column)
            return carried

        blocks = builder.lshr(lanes.plus(builder, self.count, 15), ir.Constant(lanes.I64, 4))
        nothing = lanes.broadcast(builder, 0, ir.VectorType(lanes.I64, 8))
        (seen,) = lanes.loop(builder, blocks, [nothing], turn)
        fit = builder.bitcast((seen & FROM_TWO).equals(0).value, ir.IntType(8))
        return builder.icmp_unsigned("==", fit, ir.Constant(fit.type, 0xFF))

    def sum_weights(self, tables):
        """Levels to running sums of weights; the last ones.

        A level of too many digits weighs as much as the last one that has no more: nothing.
        """
        builder = self.builder

        def lower(i, carried):
            (least,) = carried
            level = self.column(i)
            return [least.exceeds(level).where(level, least)]

        def turn(i, carried):
            (total,) = carried
            self.fetch(i)
            level = self.column(i) - least
            level = (level < most).where(level, most)
            weight = ir.Constant(SINGLES, [1.0] * lanes.LANES)
            for digit, table in enumerate(tables):
                factor = lookups.of_two(level >> DIGIT_BITS * digit, *table)
                weight = builder.fmul(weight, builder.bitcast(factor.value, SINGLES))
            total += lanes.Lanes(builder, builder.fptoui(weight, lanes.LANES_32))
            self.set_column(i, total)
            return [total]

        none, most, highest = numbers(builder, 0, LEVEL_BASE ** len(tables) - 1, 2**31 - 1)
        (least,) = lanes.loop(builder, self.count, [highest], lower)
        (total,) = lanes.loop(builder, self.count, [none], turn)
        return total

    def fetch(self, i):
        """Sixteen of the costs that follow, which is as many as candidate i of all rows has."""
        start = lanes.times(self.builder, self.count, AHEAD)
        start = self.builder.add(self.builder.add(self.at, start), lanes.times(self.builder, i, 16))
        for half in (0, 8):
            place = lanes.plus(self.builder, start, half)
            line = lanes.pointer(self.builder, self.costs, place, lanes.DOUBLE)
            lanes.prefetch(self.builder, line, 2)

    def count_below(self, goal, room):
        """How many sums are below a goal; a mask of rows with one as near as `room`."""
        low, high = (goal > room).where(goal, room) - room, goal + room

        def turn(i, carried):
            perhaps, last = carried
            sums = self.column(i)
            below = sums < high
            return [below.where(perhaps + 1, perhaps), below.where(sums, last)]

        (none,) = numbers(self.builder, 0)
        perhaps, last = lanes.loop(self.builder, self.count, [none, none], turn)
        return perhaps, ~(last < low)


@inner
def narrow_margin(digits, count):
    """What a goal and a sum may be off by: in parts of 2**-32 of the total, and in units.

    Weights are rounded to 24 bits in each table and product, so a sum less its part p of the total
    is off by half as much of the total at most: 1 - p of the errors before it count, and p of those
    behind. A few parts more are for what tables were computed with. Rounding down makes it `count`
    units more; the goal is off by 2, for its own and for bits that its first 32 leave out; and the
    margin by 1. One is to spare.
    """
    return (2 * digits - 1) * 2**7 + 8, count + 4


def choices_intrinsic(digits):
    """digits: of a level, as many as the tables are for."""

    @intrinsic
    def narrow_choices(typing, costs, at, count, words, place, law, tables, margin, sums, choices):
        """Choices of sixteen rows whose costs start `at`; a mask of those that are not sure.

        `law`: sizes of levels, in units of UNIT.
        """

        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            def margin(i):
                return builder.trunc(builder.extract_value(arguments[7], i), lanes.I32)

            if not lanes.has_avx512(context):
                return ir.Constant(lanes.I32, ALL)
            rows = Sixteen(builder, data(0), arguments[1], arguments[2], data(8))
            fit = rows.fill_levels([*lanes.unpacked(builder, arguments[5], 3)])
            starts = range(0, LEVEL_BASE * digits, LEVEL_BASE)
            total = rows.sum_weights([lookups.table_of(builder, data(6), at) for at in starts])
            high_half = lanes.plus(builder, arguments[4], lanes.LANES)
            uniform = lanes.load(builder, data(3), high_half, lanes.LANES_32)
            (parts,) = numbers(builder, margin(0))
            room = total.high_product(parts) + margin(1)
            chosen, unsure = rows.count_below(uniform.high_product(total), room)
            lanes.store(chosen.widened(), data(9), 0)
            return builder.select(fit, unsure.bits(), ir.Constant(lanes.I32, ALL))

        integer = types.int64
        arguments = costs, integer, integer, words, integer, law, tables, margin, sums, choices
        return types.uint32(*arguments), codegen

    return narrow_choices


two_digit_choices, three_digit_choices = map(choices_intrinsic, LEVEL_DIGITS)
