"""The arithmetic of the l2 Laplace law in sixteen lanes, with error bounds.

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
generously. Products that are not fused with a sum add a unit at most where a coordinate is one;
to logarithms they add 0.03 units, to cosines and sines 0.5, which their bounds have room for. Where
h is 2**-39, quicker functions do: NEAR is added to h, and 2 NEAR to cos and sin.
"""

from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint32, uint64

from fastnoise_kernels import lanes
from fastnoise_kernels.ahead import GROUP_LINES, GROUP_START, OUT, X
from fastnoise_kernels.elementary import (
    above_inverse,
    logarithm,
    near_logarithm,
    near_turned,
    turned,
    unit,
)
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inner
from fastnoise_kernels.lanes import I32, LANES, WOVEN
from fastnoise_kernels.layout import BYTE_BITS, SPARE_BITS, UNIFORM_BITS
from fastnoise_kernels.pointers import LINE, pointer_to
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
    off: float = 0.0  # error of logarithms, besides rounding; that of sines is twice as large
    product: float = 0.0  # what rounding adds to a product before something is added to it

    def on(self, here):
        """On the processor that is compiled for: quicker functions are those of AVX-512."""
        off = self.off if here.has_avx512 else 0.0
        return self._replace(off=off, product=0.0 if here.fuses else ROUND)

    @property
    def unknown(self):
        """Times 1 / u, the error of ln u; times 1 / (u R), that of its root R."""
        return 1.01 * (2.0**-self.bits + 2 * self.off)

    @property
    def relative(self):
        """The error of a radius times a cosine, with all the rounding from there on."""
        rounding = 12.8 * ROUND + self.product
        return 1.6 * 2.0 ** -(self.place_bits + 1) + rounding + 2 * self.off

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

    Factors of both coordinates, and their errors.
    """
    cosine, sine = precision.turned(word(0))
    a, b = precision.uniform(word(1)), precision.uniform(word(2))
    radius = precision.logarithm(a * b) * -scale
    inverses = above_inverse(a) + above_inverse(b) + 1.0
    unknown = inverses.times_plus(least * precision.unknown, FLAT)
    error = radius.times_plus(precision.relative, unknown)
    return ((radius, cosine), (radius, sine)), (radius < most).where(error, 1.0)


def space(word, precision, scale, least, most):
    """Three dimensions: heights of a sphere are uniform (Archimedes); the radius is Gamma(3).

    A height has error 2 h, its square 4 h, and so the root of 1 - z**2 has 4 h over the root.
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
    return coordinates, (radius < most).where(error, 1.0)


def normal_radius(word, precision):
    """That of two independent normal numbers (Box & Muller 1958); and at least 1 / (u R)."""
    u = precision.uniform(word)
    radius = precision.logarithm(u, -2.0).root()
    return radius, above_inverse(u, radius)


def surely_fits(size, part, u, shape):
    """What is known to fit without a logarithm, as next to all of `chi` is; size: |t|.

    The sum that ln u is compared with is 3 shape times -t**4 / 4 + t**5 / 5 - .., for |t| < 5/9 at
    least -shape f(t), f(t) = 3/4 t**4 (1 + 9/4 |t|); and ln u < u - 1, so that u fits if
    1 - u > shape f(t). The slope of f is below 4/3, and the error of t 3/2 part: 16 part is more
    than the error of f. It also leaves no part of more than 1/34, as shape is 13/6 or more,
    and then |t| < 1/2 will do.
    """
    square = size * size
    fall = square * square * size.times_plus(27 / 16, 0.75) + part * 16.0
    return (fall * shape < 1.0 - QUICK - u) & (size < 0.5)


def chi(word, precision, sizes):
    """A chi variable of 2 * shape + 2/3 degrees, and its relative error; misfits; and careful rows.

    Marsaglia & Tsang's Gamma(shape + 1/3): shape * (1 + t)**3, t = spread x, spread = 1 / sqrt(9
    shape), which fits where ln u < x**2 / 2 + shape - cube * shape + ln(cube) * shape. The error
    of 1 + t is spread times that of x, and for rounding 4 units of itself and 3 more, that of
    spread among them: `part` of itself. For the error of all that, see `chi_sizes`; that of
    ln(cube) may be larger. What surely fits does so whatever its neighbours need: careful rows
    that stay undecided are looked for once more, in other tiles, and must be the same.
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
        careful = ~known | (root.size() < SMALLEST_CUBE_ROOT) | (u < precision.least)
        careful |= ~((limit - drawn).size() > margin)
        fits = (drawn < limit) & (root > 0.0)
        return ~(fits | careful | sure), careful & ~sure

    sure = known & surely_fits((x * spread).size(), part, u, shape)
    misfits, careful = sure.unless_all(look_closer)
    return (cube * shape * 2.0).root(), part * 1.6 + 5 * ROUND, misfits, careful


@inner
def chi_sizes(shape, spread):
    """What `chi` is told of a law: shape, spread; of its root, what rounding adds; of its limit:
    its error over `part` of the root, and what rounding adds.

    With |x| < 9 and so |root| < most: the error of x**2 / 2 is 9 times that of x, which is at most
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


class Cell(NamedTuple):
    """What noise is rounded to at first."""

    steps: Any  # grid steps
    half: Any  # half a step, in cells
    mask: Any  # of the bits of a place in it


class RadiusSizes(NamedTuple):
    """In cells."""

    scale: Any
    least: Any  # the same, LEAST_CELLS at least
    most: Any  # that a radius may be


class Group:
    """The words of sixteen rows, woven, and how their coordinates become integers.

    wide: whether places have more than spare bits; at: where the words of the group start, and
        wide_at the 32-bit ones of places; to: where coordinates go. Those of a second pair have the
        later bytes of a word.
    """

    def __init__(self, wide, words, at, wide_at, cell, to):
        self.words, self.at, self.to = words, at, to
        self.more = self._more(wide_at) if wide else None
        self.steps, self.half, self.mask = cell.steps.floats(), cell.half.floats(), cell.mask
        self.loaded = {}

    def word(self, i):
        if i not in self.loaded:
            self.loaded[i] = self.words.word(self.at + 2 * LANES * i, WOVEN)
        return self.loaded[i]

    def place(self, i, word):
        """That in its cell of coordinate i: spare bits of a word, and perhaps a byte more."""
        bits = word
        if self.more:
            bits = (word & int(SPARE)) | (self.more >> BYTE_BITS * i & BYTE) << SPARE_BITS
        return ((bits & self.mask) | 0x433 << 52).as_floats() - 2.0**52

    def _more(self, wide_at):
        """The bytes of a pair, or of one vector: first those of its first coordinate."""
        skipped = (self.to & 2 * LANES) >> 1  # 0 or two bytes
        return (self.words.lanes(wide_at).woven() >> skipped.narrowed()).widened()

    def store(self, drawn, first, columns):
        """The integers of coordinates, the first of which has word `first`; a mask of careful rows.

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
            columns.put(self.to + LANES * i, cell.times_plus(self.steps, place))
        return (~reduce(and_, sure)).bits()


def vectors_intrinsic(vectors, first, wide, precision):
    """Sixteen vectors of two or three dimensions, woven, and a mask of careful rows."""

    @intrinsic
    def sixteen_vectors(here, words, at: int64, wide_at: int64, cell, sizes, columns) -> uint32:
        group = Group(wide, words, at, wide_at, cell, here.number(0))
        sizes = (size.floats() for size in sizes)
        return group.store(vectors(group.word, precision.on(here), *sizes), first, columns)

    return sixteen_vectors


def _line_pointers(ahead, group):
    """What `ahead.fetch_with_group` fetches: where it starts."""
    skipped = ahead[GROUP_START] + ahead[GROUP_LINES] * group
    return [pointer_to(ahead[address] + skipped * LINE) for address in (X, OUT)]


def pairs_intrinsic(wide, precision):
    """Pairs of coordinates of sixteen rows, normal numbers times the radii; a mask of careful rows.

    careful: room for masks of a pair each (`Group.store`). The normal radius of a pair is computed
    a turn ahead, since it takes as long as all the rest: 0.79 -> 0.74 ns in 128 dimensions.
    """

    @intrinsic
    def fill_pairs(
        here, words, start: int64, count: int64, cell, radii, columns, careful, ahead, group: int64
    ) -> uint32:
        """Pair after pair: their words start there, and bytes of places follow the last."""
        wide_start = start + 4 * LANES * count
        known = precision.on(here)
        radius_times, off, unknown = (radii.floats(LANES * i) for i in range(3))
        lines = _line_pointers(ahead, group)

        def radius_of(pair):
            return normal_radius(words.word(start + 4 * LANES * pair, WOVEN), known)

        def turn(pair, carried):
            radius, inverse, some = carried
            for line in range(LINES_WITH_PAIR):  # in pieces: a row may have many
                for pointer in lines:
                    (pointer + (pair * LINES_WITH_PAIR + line) * LINE).prefetch(2, to_write=True)
            following = pair + 1
            after = radius_of(following.equals(count).where(pair, following))
            at, wide_at = start + 4 * LANES * pair, wide_start + LANES * (pair >> 1)
            group = Group(wide, words, at, wide_at, cell, 2 * LANES * pair)
            error = radius.times_plus(off, inverse.times_plus(unknown, FLAT))
            coordinates = [(radius * radius_times, x) for x in known.turned(group.word(1))]
            unsure = group.store((coordinates, error), 0, columns)
            careful[pair] = unsure
            return [*after, some | unsure]

        carried = [*radius_of(here.number(0)), here.number(0, I32)]
        *_, some = lanes.loop(count, carried, turn)
        return some

    return fill_pairs


def radii_intrinsic(precision):
    """chi times the scale, NaN if careful, and its error; a mask of rows to draw again.

    All of it woven.
    """

    @intrinsic
    def sixteen_radii(here, words, at: int64, chi_of, sizes, radii) -> uint32:
        def word(i):
            return words.word(at + 2 * LANES * i, WOVEN)

        known = precision.on(here)
        chi_lanes = [size.floats() for size in chi_of]
        drawn, off, misfits, careful = chi(word, known, chi_lanes)
        radius = drawn * sizes.scale
        fits = (radius * LARGEST_NORMAL < sizes.most) & ~careful
        radius = fits.where(radius, float("nan"))
        relative = off + known.relative
        at_least = (radius > LEAST_CELLS).where(radius, LEAST_CELLS)
        for i, value in enumerate((radius, radius * relative, at_least * known.unknown)):
            radii.put(LANES * i, value)
        return misfits.bits()

    return sixteen_radii


@intrinsic
def high_coins(here, words, at: int64, limit: uint64) -> uint32:
    """A mask of rows whose first word has spare bits of `limit` or more."""
    return (~(words.lanes(at) & int(SPARE) < limit.narrowed())).bits()
