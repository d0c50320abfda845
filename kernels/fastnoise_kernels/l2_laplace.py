"""The l2 Laplace law: density proportional to exp(-|v| / scale) on R^d, d >= 2.

Two and three dimensions: a Gamma radius, the logarithm of a product of uniforms, times a uniform
direction. More: normal coordinates times an independent chi of d + 1 degrees, which has the same
law (spec 2.3); chi by rejection (Marsaglia & Tsang 2000).
"""

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import BATCH, extra_blocks
from fastnoise_kernels.elementary import logarithm, turned, unit
from fastnoise_kernels.filler import vector_filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layout import DIM, SCALE, SHAPE, WIDTH
from fastnoise_kernels.memory import float_of_bits
from fastnoise_kernels.vectors import marked_row, put_in_order, scratch_size, tile_words

RADIUS_WORDS = 3  # of a row of four dimensions or more


def rounded(value):
    return (value + 0.5).floor()


def plane(word, scale):
    """Two dimensions: an angle, and a radius that is Gamma(2)."""
    cosine, sine = turned(word(0))
    radius = logarithm(unit(word(1)) * unit(word(2))) * -scale
    return radius * cosine, radius * sine


def space(word, scale):
    """Three dimensions: heights of a sphere are uniform (Archimedes); the radius is Gamma(3)."""
    z = unit(word(0)) * 2.0 - 1.0
    cosine, sine = turned(word(1))
    radius = logarithm(unit(word(2)) * unit(word(3)) * unit(word(4))) * -scale
    across = radius * ((1.0 - z) * (z + 1.0)).root()
    return across * cosine, across * sine, radius * z


def normals(size, angle):
    """Two independent normal numbers (Box & Muller 1958)."""
    cosine, sine = turned(angle)
    radius = (logarithm(unit(size)) * -2.0).root()
    return radius * cosine, radius * sine


def chi(word, shape, spread):
    """A chi variable of 2 * shape + 2/3 degrees; and where it has to be drawn again.

    Marsaglia & Tsang's Gamma(shape + 1/3): shape * (1 + spread x)**3, spread = 1 / sqrt(9 shape).
    """
    x, _ = normals(word(0), word(1))
    root = x * spread + 1.0
    cube = root * root * root
    limit = x * x * 0.5 + shape - cube * shape + logarithm(cube.size()) * shape
    fits = (logarithm(unit(word(2))) < limit) & (root > 0.0)
    return (cube * shape * 2.0).root(), ~fits


def _broadcast(builder, scalar):
    return lanes.Floats(builder, lanes.broadcast(builder, scalar, lanes.FLOAT_LANES).value)


def _words(context, builder, signature, arguments):
    """What loads word i of sixteen rows: the first two arguments say from where."""
    words = context.make_array(signature.args[0])(context, builder, arguments[0]).data

    def word(i):
        at = builder.add(arguments[1], ir.Constant(lanes.I64, 2 * lanes.LANES * i))
        return lanes.load_word(builder, words, at)

    return word


def _columns_intrinsic(vectors):
    @intrinsic
    def sixteen_vectors(typing, words, at, scale, columns):
        def codegen(context, builder, signature, arguments):
            word = _words(context, builder, signature, arguments)
            data = context.make_array(signature.args[3])(context, builder, arguments[3]).data
            coordinates = vectors(word, _broadcast(builder, arguments[2]))
            for i, value in enumerate(coordinates):
                lanes.store(rounded(value), data, lanes.LANES * i)
            return context.get_dummy_value()

        return types.void(words, types.int64, types.float64, columns), codegen

    return sixteen_vectors


sixteen_planes = _columns_intrinsic(plane)
sixteen_spaces = _columns_intrinsic(space)


@intrinsic
def sixteen_radii(typing, words, at, shape, spread, scale, radii):
    """chi times the scale; a mask of rows to be drawn again."""

    def codegen(context, builder, signature, arguments):
        word = _words(context, builder, signature, arguments)
        data = context.make_array(signature.args[5])(context, builder, arguments[5]).data
        shape, spread, scale = (_broadcast(builder, value) for value in arguments[2:5])
        drawn, misfits = chi(word, shape, spread)
        lanes.store(drawn * scale, data, 0)
        return misfits.bits()

    real = types.float64
    return types.uint32(words, types.int64, real, real, real, radii), codegen


@intrinsic
def two_columns(typing, words, at, radii, columns, to):
    """Two coordinates of sixteen rows: normal numbers times the radii."""

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        word = _words(context, builder, signature, arguments)
        radii = lanes.load_floats(builder, data(2), 0)
        following = builder.add(arguments[4], ir.Constant(lanes.I64, lanes.LANES))
        pair = zip((arguments[4], following), normals(word(0), word(1)), strict=True)
        for place, value in pair:
            lanes.store(rounded(value * radii), data(3), place)
        return context.get_dummy_value()

    return types.void(words, types.int64, radii, columns, types.int64), codegen


@inner
def law_float(law, at):
    return float_of_bits(np.int64(law[at]))


@inner
def draw_again(key, row, law):
    """The radius of a row whose first chi did not fit: that of the first extra block that does."""
    words, radii = np.empty(BATCH, np.uint32), np.empty(16)
    shape, spread, scale = law_float(law, SHAPE), law_float(law, SHAPE + 1), law_float(law, SCALE)
    start = 0
    while True:
        extra_blocks(key, row, start, words)
        misfits = sixteen_radii(words, 0, shape, spread, scale, radii)
        for lane in range(16):
            if misfits >> np.uint32(lane) & np.uint32(1) == 0:
                return radii[lane]
        start += 16


@inner
def many_dimensions(key, law, first, ids, lead, n, group, words, start, radii, columns):
    shape, spread, scale = law_float(law, SHAPE), law_float(law, SHAPE + 1), law_float(law, SCALE)
    misfits = sixteen_radii(words, start, shape, spread, scale, radii)
    for at in range(16 * group, 16 * group + 16 if misfits else 0):
        row = marked_row(misfits, at, first, ids, lead, n)
        if row >= 0:
            radii[at % 16] = draw_again(key, row, law)
    for i in range(0, np.int64(law[DIM]), 2):
        two_columns(words, start + 32 * (RADIUS_WORDS + i), radii, columns, 16 * i)


@vector_filler
def fill_l2_laplace(key_at, law_at, law_size, first, ids_at, n, ahead_at, scratch_at, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), np.int64(law[WIDTH])
    scratch = carray(scratch_at, scratch_size(n, width, dim))
    ahead = carray(ahead_at, 3)
    words, lead, rest = tile_words(key, first, ids, n, width, ahead, scratch)
    noise, scale = carray(noise_at, (lead + n + 16) * dim), law_float(law, SCALE)
    radii, columns = rest[:16], rest[16:]
    for group in range((lead + n + 15) // 16):
        start = 16 * width * group
        if dim == 2:
            sixteen_planes(words, start, scale, columns)
        elif dim == 3:
            sixteen_spaces(words, start, scale, columns)
        else:
            many_dimensions(key, law, first, ids, lead, n, group, words, start, radii, columns)
        put_in_order(columns, dim, noise, 16 * dim * group)
    return lead
