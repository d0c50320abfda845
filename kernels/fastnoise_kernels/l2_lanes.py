"""The arithmetic of the l2 Laplace law in sixteen lanes, and what it is off by.

Two and three dimensions: a Gamma radius, the logarithm of a product of uniforms, times a uniform
direction. More: normal coordinates times an independent chi of d + 1 degrees, which has the same
law (docs/mathematics.md#l2-laplace); chi by rejection (Marsaglia & Tsang 2000).

Errors are in units of ROUND = 2**-53, what rounding to nearest adds at most, relatively; first
those of the pieces (see `elementary`), u a uniform of 38 or 52 bits and h half of its part, 2**-39
or 2**-53; a the same of an angle in quarters, 2**-37 or 2**-52:

    u                   h             absolute
    ln u                5 |ln u|      the function's own; and 3/2 h / u for what is not known of u
    cos, sin            2.4           absolute; and pi/2 a for what is not known of the angle
    R = sqrt(-2 ln u)   4 R           and 2 h / (u R)
    a normal number     8.8 R         and pi/2 a R, and 2 h / (u R)

What is not known of u = (m + 1/2) 2**-bits moves ln u by -ln(1 - h / u) at most, which for m > 0 is
less than 3/2 h / u downwards, and h / u upwards. R**2 moves by twice that; R by its change over
R + R', so by 3/2 h / (u R) if it grows, where R + R' > 2 R, and by 2 h / (u R) if it shrinks, even
to 0. At m = 0 a logarithm may be anything, but there 2 h / (u R) is more than 1/5, which times 8
cells or more decides nothing (`chi` looks itself). `Precision` has those sums rounded up
generously. Where h is 2**-39, quicker functions do: NEAR is added to h, and 2 NEAR to cos and sin.
"""

from functools import reduce
from operator import and_
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import LINE
from fastnoise_kernels.elementary import (
    above_inverse,
    logarithm,
    near_logarithm,
    near_turned,
    turned,
    unit,
)
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layout import BYTE_BITS, SPARE_BITS, UNIFORM_BITS
from fastnoise_kernels.polynomials import NEAR

ROUND = 2.0**-53
LINES_WITH_PAIR = 2  # of the 4 that sixteen rows of two float64 have
FLAT = 4 * ROUND  # of rounding near 0
LEAST_CELLS = 8.0  # what a scale counts as, at least, where it is multiplied by something unknown
LARGEST_NORMAL = 16.0  # no uniform of 52 bits makes one of more than 9
QUICK = 2.0**-36  # what is not known of a uniform number of 38 bits, and all rounding, is less
SMALLEST_CUBE_ROOT = 2.0**-8  # of chi: below, its relative error is too large
SPARE = np.uint64((1 << SPARE_BITS) - 1)
BYTE = (1 << BYTE_BITS) - 1


class Precision(NamedTuple):
    """How many bits of a word are a uniform number, and what follows from not knowing more."""

    bits: int
    place_bits: int  # of an angle, besides its quarter
    off: float = 0.0  # what logarithms may be off by, besides rounding; sines by twice that

    def here(self, context):
        """On the processor that is compiled for: quicker functions are those of AVX-512."""
        return self if lanes.has_avx512(context) else self._replace(off=0.0)

    @property
    def unknown(self):
        """What ln u is off by, times 1 / u; and its root R, times 1 / (u R)."""
        return 1.01 * (2.0**-self.bits + 2 * self.off)

    @property
    def relative(self):
        """What a radius times a cosine is off by, and for all the rounding from there on."""
        return 1.6 * 2.0 ** -(self.place_bits + 1) + 12.8 * ROUND + 2 * self.off

    @property
    def least(self):
        """Below this, a uniform number might be anything down to 0."""
        return 2.0**-self.bits

    def uniform(self, word):
        return unit(word, self.bits)

    def logarithm(self, x, times=1.0):
        return (near_logarithm if self.off else logarithm)(x, times)

    def turned(self, word):
        return (near_turned if self.off else turned)(word, self.place_bits)


SHORT, LONG = Precision(UNIFORM_BITS, UNIFORM_BITS - 2, NEAR), Precision(52, 51)


def plane(word, precision, scale, least, most):
    """Two dimensions: an angle, and a radius that is Gamma(2).

    Factors of both coordinates, and what these are off by.
    """
    cosine, sine = precision.turned(word(0))
    a, b = precision.uniform(word(1)), precision.uniform(word(2))
    radius = precision.logarithm(a * b) * -scale
    inverses = above_inverse(a) + above_inverse(b) + 1.0
    unknown = inverses.times_plus(least * precision.unknown, FLAT)
    error = radius.times_plus(precision.relative, unknown)
    return ((radius, cosine), (radius, sine)), error.chosen(radius < most, 1.0)


def space(word, precision, scale, least, most):
    """Three dimensions: heights of a sphere are uniform (Archimedes); the radius is Gamma(3).

    A height is off by 2 h, its square by 4 h, and so the root of 1 - z**2 by 4 h over the root.
    """
    z = precision.uniform(word(0)) * 2.0 - 1.0
    cosine, sine = precision.turned(word(1))
    a, b, c = (precision.uniform(word(i)) for i in (2, 3, 4))
    radius = precision.logarithm(a * b * c) * -scale
    root = ((1.0 - z) * (z + 1.0)).root()
    across = radius * root
    inverses = above_inverse(a) + above_inverse(b) + above_inverse(c) + 2.0
    unknown = inverses.times_plus(least * precision.unknown, FLAT)
    relative = above_inverse(root).times_plus(2 * precision.unknown, precision.relative)
    error = radius.times_plus(relative, unknown)
    coordinates = (across, cosine), (across, sine), (radius, z)
    return coordinates, error.chosen(radius < most, 1.0)


def normal_radius(word, precision):
    """That of two independent normal numbers (Box & Muller 1958); and at least 1 / (u R)."""
    u = precision.uniform(word)
    radius = precision.logarithm(u, -2.0).root()
    return radius, above_inverse(u, radius)


def surely_fits(size, part, u, shape):
    """What is known to fit without a logarithm, as next to all of `chi` is; size: |t|.

    The sum that ln u is compared with is 3 shape times -t**4 / 4 + t**5 / 5 - .., for |t| < 5/9 at
    least -shape f(t), f(t) = 3/4 t**4 (1 + 9/4 |t|); and ln u < u - 1, so that u fits if
    1 - u > shape f(t). The slope of f is below 4/3, and t off by 3/2 part: 16 part is more than f
    may be off by. It also leaves no part of more than 1/34, as shape is 13/6 or more, and then
    |t| < 1/2 will do.
    """
    square = size * size
    fall = square * square * size.times_plus(27 / 16, 0.75) + part * 16.0
    return (fall * shape < 1.0 - QUICK - u) & (size < 0.5)


def chi(word, precision, sizes):
    """A chi variable of 2 * shape + 2/3 degrees, and its relative error; misfits; and doubts.

    Marsaglia & Tsang's Gamma(shape + 1/3): shape * (1 + t)**3, t = spread x, spread = 1 / sqrt(9
    shape), which fits where ln u < x**2 / 2 + shape - cube * shape + ln(cube) * shape. 1 + t is off
    by spread times the error of x, and for rounding by 4 units of itself and 3 more, that of spread
    among them: by `part` of itself. For what all that is off by, see `chi_sizes`; ln(cube) may be
    off by more. What surely fits does so whatever its neighbours need: doubts that are left are
    looked for once more, in other tiles, and must be the same.
    """
    shape, spread, rounded, moved, largest = sizes
    radius, inverse = normal_radius(word(0), precision)
    x = radius * precision.turned(word(1))[0]
    root, u = x * spread + 1.0, precision.uniform(word(2))
    cube = root * root * root
    error = radius * precision.relative + inverse * precision.unknown
    part = error.times_plus(spread, rounded) * above_inverse(root.size())
    known = ~(precision.uniform(word(0)) < precision.least)

    def look_closer():
        limit = x * x * 0.5 + shape - cube * shape + precision.logarithm(cube.size()) * shape
        drawn = precision.logarithm(u)
        flat = shape.times_plus(2 * precision.off, largest)
        margin = above_inverse(u).times_plus(precision.unknown, part.times_plus(moved, flat))
        doubts = ~known | (root.size() < SMALLEST_CUBE_ROOT) | (u < precision.least)
        doubts |= ~((limit - drawn).size() > margin)
        fits = (drawn < limit) & (root > 0.0)
        return ~(fits | doubts | sure), doubts & ~sure

    sure = known & surely_fits((x * spread).size(), part, u, shape)
    misfits, doubts = sure.unless_all(look_closer)
    return (cube * shape * 2.0).root(), part * 1.6 + 5 * ROUND, misfits, doubts


@inner
def chi_sizes(shape, spread):
    """What `chi` is told of a law: shape, spread; of its root, what rounding adds; of its limit:
    how much more it is off by than `part` of the root, and what rounding adds.

    With |x| < 9 and so |root| < most: x**2 / 2 is off by 9 times the error of x, which is at most
    most / spread * part; the cube and its logarithm by 3 `part` each, times shape, and all else by
    some units of the largest terms, where |ln cube| < 18 and |ln u| < 37. All of it twice.
    """
    most = 1.0 + 9.0 * spread
    cube = most * most * most
    moved = 18.0 * most / spread + 8.0 * (cube + 1.0) * shape
    return (
        shape,
        spread,
        4 * ROUND * (most + 1.0),
        moved,
        32 * ROUND * ((cube + 19.0) * shape + 118.0),
    )


class Group:
    """The words of sixteen rows, woven, and how their coordinates become integers.

    wide: whether places have more than spare bits; data: words; where: those of the group start,
        the 32-bit one of places is, and what a cell is (`cell_sizes`); to: where coordinates go.
        Those of a second pair have the later bytes of a word.
    """

    def __init__(self, wide, builder, data, where, to):
        self.builder, self.data, self.to = builder, data, to
        self.at, wide_at, cell = where
        self.more = self._more(wide_at) if wide else None
        self.size, self.half = lanes.unpacked(builder, cell, 2)
        self.mask = builder.extract_value(cell, 2)
        self.words = {}

    def word(self, i):
        if i not in self.words:
            at = self.builder.add(self.at, ir.Constant(lanes.I64, 2 * lanes.LANES * i))
            self.words[i] = lanes.load_word(self.builder, self.data, at, lanes.WOVEN)
        return self.words[i]

    def place(self, i, word):
        """That in its cell of coordinate i: spare bits of a word, and perhaps a byte more."""
        bits = word
        if self.more:
            bits = (word & int(SPARE)) | (self.more >> BYTE_BITS * i & BYTE) << SPARE_BITS
        return ((bits & self.mask) | 0x433 << 52).as_floats() - 2.0**52

    def _more(self, wide_at):
        """The bytes of a pair, or of one vector: first those of its first coordinate."""
        shared = lanes.load(self.builder, self.data, wide_at, lanes.LANES_32).woven()
        second = self.builder.and_(self.to, ir.Constant(lanes.I64, 2 * lanes.LANES))
        skipped = self.builder.lshr(second, ir.Constant(lanes.I64, 1))  # 0 or two bytes
        return (shared >> self.builder.trunc(skipped, lanes.I32)).widened()

    def store(self, drawn, first, columns):
        """The integers of coordinates, the first of which has word `first`; a mask of doubts.

        A coordinate, the product of two factors, less its error is in some cell; it is sure to be
        there if there is room for the error twice. All coordinates are sure, or none.
        """
        coordinates, error = drawn
        less, most, sure = self.half - error, 1.0 - (error + error), []
        for i, (one, other) in enumerate(coordinates):
            least = one.times_plus(other, less)
            cell = least.floor()
            sure.append(least - cell < most)  # not where anything is NaN
            place = self.place(i, self.word(first + i))
            at = self.builder.add(self.to, ir.Constant(lanes.I64, lanes.LANES * i))
            lanes.store(cell.times_plus(self.size, place), columns, at)
        return (~reduce(and_, sure)).bits()


def vectors_intrinsic(vectors, first, wide, precision):
    """Sixteen vectors of two or three dimensions, woven, and a mask of doubts (`Group.store`)."""

    @intrinsic
    def sixteen_vectors(typing, words, at, wide_at, cell, sizes, columns):
        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            group = Group(wide, builder, data(0), arguments[1:4], ir.Constant(lanes.I64, 0))
            sizes = lanes.unpacked(builder, arguments[4], 3)
            drawn = vectors(group.word, precision.here(context), *sizes)
            return group.store(drawn, first, data(5))

        integer = types.int64
        return types.uint32(words, integer, integer, cell, sizes, columns), codegen

    return sixteen_vectors


def pairs_intrinsic(wide, precision):
    """Pairs of coordinates of sixteen rows, normal numbers times the radii; all doubts in one mask.

    doubts: room for masks of a pair each (`Group.store`). The normal radius of a pair is computed a
    turn ahead, since it takes as long as all the rest: 0.79 -> 0.74 ns in 128 dimensions.
    """

    @intrinsic
    def fill_pairs(typing, words, at, wide_at, cell, radii, columns, pairs, doubts, ahead, group):
        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            def place(start, stride, i):
                return builder.add(start, builder.mul(i, ir.Constant(lanes.I64, stride)))

            def radius_of(pair):
                at = place(arguments[1], 4 * lanes.LANES, pair)
                return normal_radius(lanes.load_word(builder, data(0), at, lanes.WOVEN), here)

            def fetch_lines(pair):
                """What `vectors.fetch_lines` does, in pieces: a row may have many."""
                for address in addresses:
                    for line in range(LINES_WITH_PAIR):
                        where = place(address, LINE * LINES_WITH_PAIR, pair)
                        where = builder.add(where, ir.Constant(lanes.I64, LINE * line))
                        lanes.prefetch(builder, builder.inttoptr(where, byte), 2, to_write=True)

            def turn(pair, carried):
                radius, inverse, some = carried
                fetch_lines(pair)
                following = builder.add(pair, one)
                is_last = builder.icmp_signed("==", following, arguments[6])
                after = radius_of(builder.select(is_last, pair, following))
                at = place(arguments[1], 4 * lanes.LANES, pair)
                wide_at = place(arguments[2], lanes.LANES, builder.lshr(pair, one))
                to = builder.mul(pair, ir.Constant(lanes.I64, 2 * lanes.LANES))
                group = Group(wide, builder, data(0), (at, wide_at, arguments[3]), to)
                error = radius.times_plus(off, inverse.times_plus(unknown, FLAT))
                coordinates = [(radius * radii, x) for x in here.turned(group.word(1))]
                unsure = group.store((coordinates, error), 0, data(5))
                builder.store(unsure, lanes.pointer(builder, data(7), pair, lanes.I32))
                return [*after, lanes.Lanes(builder, builder.or_(some.value, unsure))]

            here, one = precision.here(context), ir.Constant(lanes.I64, 1)
            byte = ir.IntType(8).as_pointer()
            x, out, _, lines, start = (
                builder.load(lanes.pointer(builder, data(8), i, lanes.I64)) for i in range(5)
            )
            skipped = builder.add(start, builder.mul(lines, arguments[9]))
            addresses = [place(address, LINE, skipped) for address in (x, out)]
            radii, off, unknown = (lanes.load_floats(builder, data(4), 16 * i) for i in range(3))
            none = lanes.Lanes(builder, ir.Constant(lanes.I32, 0))
            carried = [*radius_of(ir.Constant(lanes.I64, 0)), none]
            *_, some = lanes.loop(builder, arguments[6], carried, turn)
            return some.value

        integer = types.int64
        arguments = words, integer, integer, cell, radii, columns, integer, doubts, ahead, integer
        return types.uint32(*arguments), codegen

    return fill_pairs


def radii_intrinsic(precision):
    """chi times the scale, NaN in doubt, and what that is off by; a mask of rows to draw again.

    All of it woven.
    """

    @intrinsic
    def sixteen_radii(typing, words, at, chi_of, sizes, radii):
        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            def word(i):
                place = builder.add(arguments[1], ir.Constant(lanes.I64, 2 * lanes.LANES * i))
                return lanes.load_word(builder, data(0), place, lanes.WOVEN)

            chi_of = lanes.unpacked(builder, arguments[2], 5)
            scale, _, most = lanes.unpacked(builder, arguments[3], 3)
            here = precision.here(context)
            drawn, off, misfits, doubts = chi(word, here, chi_of)
            radius = drawn * scale
            radius = radius.chosen((radius * LARGEST_NORMAL < most) & ~doubts, float("nan"))
            relative = off + here.relative
            known = radius.chosen(radius > LEAST_CELLS, LEAST_CELLS)
            for i, value in enumerate((radius, radius * relative, known * here.unknown)):
                lanes.store(value, data(4), lanes.LANES * i)
            return misfits.bits()

        return types.uint32(words, types.int64, chi_of, sizes, radii), codegen

    return sixteen_radii


@intrinsic
def high_coins(typing, words, at, limit):
    """A mask of rows whose first word has spare bits of `limit` or more."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        coins = lanes.load(builder, data, arguments[1], lanes.LANES_32) & int(SPARE)
        return (~(coins < builder.trunc(arguments[2], lanes.I32))).bits()

    return types.uint32(words, types.int64, types.uint64), codegen
