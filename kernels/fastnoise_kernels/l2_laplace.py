"""The l2 Laplace law: density proportional to exp(-|v| / scale) on R^d, d >= 2, rounded to a grid.

Two and three dimensions: a Gamma radius, the logarithm of a product of uniforms, times a uniform
direction. More: normal coordinates times an independent chi of d + 1 degrees, which has the same
law (spec 2.3); chi by rejection (Marsaglia & Tsang 2000).

The law is that of real numbers, uniforms with bits without end, and what comes out is theirs
exactly. Floats tell where a coordinate is with an error that is bounded here; where that leaves a
doubt (which of two cells, whether a radius fits) the kernel writes NaN, and the Python layer
decides with as many bits as it takes (`l2_reader.L2Reader`, the definition).

Errors are in units of ROUND = 2**-53, what rounding to nearest adds at most, relatively; first
those of the pieces (`tests/test_elementary.py` proves or measures them), u a uniform of 48 bits:

    u          16         absolute: half of its part, 2**-49
    ln u        5 |ln u|  the function's own; and 16.1 / u for what is not known of u
    cos, sin  103         absolute: 100.6 = 2**-47 pi/2 for what is not known of the angle
    R = sqrt(-2 ln u)     4 R, and 16.2 / (u R)
    a normal number       109 R, and 16.2 / (u R)

To first order, that is. Of u = (m + 1/2) 2**-48 with m > 0, ln is off by -ln(1 - 1 / (2 m + 1)) at
most, which is less than 20 ROUND / u; at m = 0 it may be anything, but there 20 ROUND / u is more
than 1, which times 8 cells or more decides nothing (`chi` looks itself). A root R of less than
2**-18, whose derivative runs away, is a doubt. Constants below are those sums rounded up
generously.
"""

from functools import reduce
from operator import or_

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import BATCH, extra_blocks, refining_word
from fastnoise_kernels.elementary import above_inverse, logarithm, turned, unit
from fastnoise_kernels.filler import vector_filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layout import (
    COIN_INDEX,
    DIM,
    FINE_BITS,
    KEPT_BELOW,
    PLANE,
    RADIUS_WORDS,
    SCALE,
    SHAPE,
    SPACE,
    SPARE_BITS,
    UNIFORM_BITS,
    WIDTH,
    l2_words,
    words_before,
)
from fastnoise_kernels.memory import float_of_bits
from fastnoise_kernels.vectors import marked_row, put_in_order, scratch_size, tile_words

ROUND = 2.0**-53
UNKNOWN = 20 * ROUND  # of ln u, times 1 / u; of its root R, times 1 / (u R)
RELATIVE = 128 * ROUND  # of a radius times a cosine, and of all the rounding from there on
FLAT = 4 * ROUND  # of rounding near 0
SMALLEST = 2.0**-18  # root
LEAST_UNIFORM = 2.0**-UNIFORM_BITS
LEAST_CELLS = 8.0  # what a scale counts as, at least, where it is multiplied by something unknown
SPARE = np.uint64((1 << SPARE_BITS) - 1)
MOST_NOISE = 2.0**52  # what is larger is left to the Python layer
LARGEST_NORMAL = 16.0  # no uniform of 48 bits makes one of more than 9
SMALLEST_CUBE_ROOT = 2.0**-8  # of chi: below, its relative error is too large


def uniform(word):
    return unit(word, UNIFORM_BITS)


def plane(word, scale, unknown, most):
    """Two dimensions: an angle, and a radius that is Gamma(2). And what both are off by."""
    cosine, sine = turned(word(0))
    a, b = uniform(word(1)), uniform(word(2))
    radius = logarithm(a * b) * -scale
    inverses = above_inverse(a) + above_inverse(b) + 1.0
    error = radius.times_plus(RELATIVE, inverses.times_plus(unknown, FLAT))
    return (radius * cosine, radius * sine), error.chosen(radius < most, 1.0)


def space(word, scale, unknown, most):
    """Three dimensions: heights of a sphere are uniform (Archimedes); the radius is Gamma(3).

    A height is off by 32 units, and so the root of 1 - z**2 by 32 / root.
    """
    z = uniform(word(0)) * 2.0 - 1.0
    cosine, sine = turned(word(1))
    a, b, c = (uniform(word(i)) for i in (2, 3, 4))
    radius = logarithm(a * b * c) * -scale
    root = ((1.0 - z) * (z + 1.0)).root()
    across = radius * root
    inverses = above_inverse(a) + above_inverse(b) + above_inverse(c) + 2.0
    relative = above_inverse(root).times_plus(40 * ROUND, RELATIVE)
    error = radius.times_plus(relative, inverses.times_plus(unknown, FLAT))
    coordinates = across * cosine, across * sine, radius * z
    return coordinates, error.chosen((radius < most) & ~(root < SMALLEST), 1.0)


def normals(size, angle):
    """Two independent normal numbers (Box & Muller 1958), and the two parts of their error.

    They are off by RELATIVE times the first, a radius, and UNKNOWN times the second.
    """
    cosine, sine = turned(angle)
    u = uniform(size)
    radius = logarithm(u, -2.0).root()
    return (radius * cosine, radius * sine), radius, above_inverse(u * radius)


def chi(word, shape, spread):
    """A chi variable of 2 * shape + 2/3 degrees, and its relative error; misfits; and doubts.

    Marsaglia & Tsang's Gamma(shape + 1/3): shape * (1 + spread x)**3, spread = 1 / sqrt(9 shape),
    which fits where ln u < x**2 / 2 + shape - cube * shape + ln(cube) * shape. The root of the cube
    is off by spread times the error of x, and for rounding by 4 units of itself and 3 more, that of
    spread among them: by `part` of itself. The cube and its logarithm are off by 3 `part`, times
    shape, and all else by some units of the largest term.
    """
    (x, _), radius, unknown = normals(word(0), word(1))
    root = x * spread + 1.0
    cube = root * root * root
    log_cube = logarithm(cube.size())
    limit = x * x * 0.5 + shape - cube * shape + log_cube * shape
    u = uniform(word(2))
    drawn = logarithm(u)
    error = radius * RELATIVE + unknown * UNKNOWN
    part = (error * spread + (root.size() + 1.0) * (4 * ROUND)) * above_inverse(root.size())
    largest = (cube.size() + 1.0 + log_cube.size()) * shape + x * x - drawn
    wrong = x.size() * error + largest * (16 * ROUND) + (cube.size() + 1.0) * shape * 4.0 * part
    margin = wrong * 2.0 + above_inverse(u) * UNKNOWN
    doubts = (
        (radius < SMALLEST)
        | (root.size() < SMALLEST_CUBE_ROOT)
        | ~((limit - drawn).size() > margin)
    )
    fits = (drawn < limit) & (root > 0.0)
    return (cube * shape * 2.0).root(), part * 1.6 + 5 * ROUND, ~(fits | doubts), doubts


def unpacked(builder, floats, count):
    """Each float of a tuple in sixteen lanes."""
    for i in range(count):
        scalar = builder.extract_value(floats, i)
        yield lanes.Floats(builder, lanes.broadcast(builder, scalar, lanes.FLOAT_LANES).value)


class Group:
    """The words of sixteen rows, and how their coordinates become integers.

    wide: whether places have more than spare bits; data, at, wide_at: words, where those of the
        group start, and where the 32-bit ones of places do; cell: see `cell_sizes`.
    """

    def __init__(self, wide, builder, data, at, wide_at, cell):
        self.wide, self.builder, self.data, self.at, self.wide_at = wide, builder, data, at, wide_at
        self.size, self.half = unpacked(builder, cell, 2)
        self.mask = builder.extract_value(cell, 2)
        self.words = {}

    def word(self, i):
        if i not in self.words:
            at = self.builder.add(self.at, ir.Constant(lanes.I64, 2 * lanes.LANES * i))
            self.words[i] = lanes.load_word(self.builder, self.data, at)
        return self.words[i]

    def place(self, i, word):
        """That in its cell of coordinate i: spare bits of a word, and perhaps half a word more."""
        bits = word
        if self.wide:
            at = self.builder.add(self.wide_at, ir.Constant(lanes.I64, lanes.LANES * (i // 2)))
            shared = lanes.load(self.builder, self.data, at, lanes.LANES_32).widened()
            upper = shared if i % 2 else shared << SPARE_BITS
            bits = (word & int(SPARE)) | (upper & int(SPARE) << SPARE_BITS)
        return ((bits & self.mask) | 0x433 << 52).as_floats() - 2.0**52

    def store(self, drawn, first, columns, to):
        """The integers of coordinates, the first of which has word `first`; a mask of doubts.

        A coordinate less its error is in some cell; it is sure to be there if there is room for
        the error twice.
        """
        coordinates, error = drawn
        less, most, unsure = self.half - error, error.times_plus(-2.0, 1.0), []
        for i, value in enumerate(coordinates):
            least = value + less
            cell = least.floor()
            sure = least - cell < most  # not where anything is NaN
            place = self.place(i, self.word(first + i)).chosen(sure, float("nan"))
            at = self.builder.add(to, ir.Constant(lanes.I64, lanes.LANES * i))
            lanes.store(cell.times_plus(self.size, place), columns, at)
            unsure.append(~sure)
        return reduce(or_, unsure).bits()


def _vectors_intrinsic(vectors, first, wide):
    @intrinsic
    def sixteen_vectors(typing, words, at, wide_at, cell, sizes, columns):
        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            group = Group(wide, builder, data(0), *arguments[1:4])
            drawn = vectors(group.word, *unpacked(builder, arguments[4], 3))
            return group.store(drawn, first, data(5), ir.Constant(lanes.I64, 0))

        integer = types.int64
        return types.uint32(words, integer, integer, cell, sizes, columns), codegen

    return sixteen_vectors


def _normals_intrinsic(wide):
    @intrinsic
    def two_columns(typing, words, at, wide_at, cell, radii, columns, to):
        """Two coordinates of sixteen rows: normal numbers times the radii; a mask of doubts."""

        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            group = Group(wide, builder, data(0), *arguments[1:4])
            radii, off, unknown = (lanes.load_floats(builder, data(4), 16 * i) for i in range(3))
            pair, radius, inverse = normals(group.word(0), group.word(1))
            error = radius.times_plus(off, inverse.times_plus(unknown, FLAT))
            error = error.chosen(~(radius < SMALLEST), 1.0)
            return group.store(([x * radii for x in pair], error), 0, data(5), arguments[6])

        integer = types.int64
        return types.uint32(words, integer, integer, cell, radii, columns, integer), codegen

    return two_columns


@intrinsic
def sixteen_radii(typing, words, at, chi_of, sizes, radii):
    """chi times the scale, NaN in doubt, and what that is off by; a mask of rows to draw again."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        def word(i):
            place = builder.add(arguments[1], ir.Constant(lanes.I64, 2 * lanes.LANES * i))
            return lanes.load_word(builder, data(0), place)

        shape, spread = unpacked(builder, arguments[2], 2)
        scale, _, most = unpacked(builder, arguments[3], 3)
        drawn, off, misfits, doubts = chi(word, shape, spread)
        radius = drawn * scale
        radius = radius.chosen((radius * LARGEST_NORMAL < most) & ~doubts, float("nan"))
        known = radius.chosen(radius > LEAST_CELLS, LEAST_CELLS)
        for i, value in enumerate((radius, radius * (off + RELATIVE), known * UNKNOWN)):
            lanes.store(value, data(4), lanes.LANES * i)
        return misfits.bits()

    return types.uint32(words, types.int64, chi_of, sizes, radii), codegen


@intrinsic
def high_coins(typing, words, at, limit):
    """A mask of rows whose first word has spare bits of `limit` or more."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        coins = lanes.load_word(builder, data, arguments[1]) & int(SPARE)
        return (~(coins < arguments[2])).bits()

    return types.uint32(words, types.int64, types.uint64), codegen


@inner
def law_float(law, at):
    return float_of_bits(np.int64(law[at]))


@inner
def cell_sizes(law):
    """Of a cell: its grid steps, half a step in cells, a mask of the bits of a place."""
    steps = np.uint64(1) << law[FINE_BITS]
    return np.float64(steps), 0.5 / np.float64(steps), steps - np.uint64(1)


@inner
def radius_sizes(law):
    """In cells: the scale; what that is at least, times UNKNOWN; the most that a radius may be."""
    steps = np.float64(np.uint64(1) << law[FINE_BITS])
    scale = law_float(law, SCALE) / steps
    return scale, max(scale, LEAST_CELLS) * UNKNOWN, MOST_NOISE / steps


@inner
def chi_sizes(law):
    return law_float(law, SHAPE), law_float(law, SHAPE + 1)


@inner
def draw_again(key, row, chi_of, sizes, lane, radii):
    """The radius of a row whose first chi did not fit: that of the first extra block that does."""
    words, some = np.empty(BATCH, np.uint32), np.empty(48)
    start = 0
    while True:
        extra_blocks(key, row, start, words)
        misfits = sixteen_radii(words, 0, chi_of, sizes, some)
        for i in range(16):
            if misfits >> np.uint32(i) & np.uint32(1) == 0:
                for part in range(0, 48, 16):
                    radii[part + lane] = some[part + i]
                return
        start += 16


def _vector_groups(vectors, dim, wide):
    """What fills all groups of rows in two or three dimensions; a mask of doubts comes back."""
    sixteen_vectors = _vectors_intrinsic(vectors, words_before(dim), wide)
    wide_at = 32 * l2_words(dim)

    @inner
    def fill_groups(words, width, groups, cell, sizes, columns, noise):
        doubts = np.uint32(0)
        for group in range(groups):
            start = 16 * width * group
            doubts |= sixteen_vectors(words, start, start + wide_at, cell, sizes, columns)
            put_in_order(columns, dim, noise, 16 * dim * group)
        return doubts

    return fill_groups


def _normal_columns(wide):
    """What fills a group in four dimensions or more, radii known; a mask of doubts comes back."""
    two_columns = _normals_intrinsic(wide)

    @inner
    def fill_columns(words, start, dim, cell, radii, columns):
        doubts = np.uint32(0)
        wide_at = start + 32 * (RADIUS_WORDS + dim + dim % 2)
        for i in range(0, dim, 2):
            at = start + 32 * (RADIUS_WORDS + i)
            doubts |= two_columns(words, at, wide_at + 8 * i, cell, radii, columns, 16 * i)
        return doubts

    return fill_columns


planes, wide_planes = (_vector_groups(plane, PLANE, wide) for wide in (False, True))
spaces, wide_spaces = (_vector_groups(space, SPACE, wide) for wide in (False, True))
normal_columns, wide_normal_columns = (_normal_columns(wide) for wide in (False, True))


@inner
def normal_groups(key, law, first, ids, lead, n, words, cell, sizes, rest, noise):
    """The same in four dimensions or more."""
    dim, width, chi_of = np.int64(law[DIM]), np.int64(law[WIDTH]), chi_sizes(law)
    radii, columns, doubts = rest[:48], rest[48:], np.uint32(0)
    for group in range((lead + n + 15) // 16):
        start = 16 * width * group
        misfits = sixteen_radii(words, start, chi_of, sizes, radii)
        for at in range(16 * group, 16 * group + 16 if misfits else 0):
            row = marked_row(misfits, at, first, ids, lead, n)
            if row >= 0:
                draw_again(key, row, chi_of, sizes, at % 16, radii)
        if cell[2] > SPARE:
            doubts |= wide_normal_columns(words, start, dim, cell, radii, columns)
        else:
            doubts |= normal_columns(words, start, dim, cell, radii, columns)
        put_in_order(columns, dim, noise, 16 * dim * group)
    return doubts


@inner
def look_at_coins(key, law, first, ids, lead, n, words, noise):
    """Doubt whole rows whose places might not be kept; whether there are any."""
    dim, width, some = np.int64(law[DIM]), np.int64(law[WIDTH]), False
    high, low = law[KEPT_BELOW], law[KEPT_BELOW + 1]
    for group in range((lead + n + 15) // 16):
        start = 16 * width * group
        coins = high_coins(words, start, high)
        for at in range(16 * group, 16 * group + 16 if coins else 0):
            row = marked_row(coins, at, first, ids, lead, n)
            if row < 0:
                continue
            equal = np.uint64(words[start + at % 16]) & SPARE == high
            if not equal or refining_word(key, row, COIN_INDEX) >= low:
                noise[at * dim : (at + 1) * dim] = np.nan
                some = True
    return some


@vector_filler
def fill_l2_laplace(key_at, law_at, law_size, first, ids_at, n, ahead_at, scratch_at, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    scratch = carray(scratch_at, scratch_size(n, width, dim))
    words, lead, rest = tile_words(key, first, ids, n, width, carray(ahead_at, 3), scratch)
    noise, groups = carray(noise_at, (lead + n + 16) * dim), (lead + n + 15) // 16
    cell, sizes = cell_sizes(law), radius_sizes(law)
    wide = cell[2] > SPARE
    if dim > SPACE:
        doubts = normal_groups(key, law, first, ids, lead, n, words, cell, sizes, rest, noise)
    elif dim == SPACE and wide:
        doubts = wide_spaces(words, width, groups, cell, sizes, rest, noise)
    elif dim == SPACE:
        doubts = spaces(words, width, groups, cell, sizes, rest, noise)
    elif wide:
        doubts = wide_planes(words, width, groups, cell, sizes, rest, noise)
    else:
        doubts = planes(words, width, groups, cell, sizes, rest, noise)
    undecided = doubts > 0
    if cell[2]:
        undecided |= look_at_coins(key, law, first, ids, lead, n, words, noise)
    return ~lead if undecided else lead
