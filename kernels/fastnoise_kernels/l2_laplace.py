"""The l2 Laplace law: density proportional to exp(-|v| / scale) on R^d, d >= 2.

Two and three dimensions: a Gamma radius, the logarithm of a product of uniforms, times a uniform
direction. More: normal coordinates times an independent chi of d + 1 degrees, which has the same
law (spec 2.3); chi by rejection (Marsaglia & Tsang 2000).
"""

import numpy as np
from numba import carray

from fastnoise_kernels.chacha import extra_words
from fastnoise_kernels.elementary import float_of_bits, logarithm, turned, unit
from fastnoise_kernels.filler import vector_filler
from fastnoise_kernels.jit import inlined, inner
from fastnoise_kernels.lanes import element, put, wide_vectors
from fastnoise_kernels.layout import DIM, SCALE, SHAPE, WORDS
from fastnoise_kernels.vectors import group_word, tile_words

EXTRA_WORDS = 24


@inlined
def law_float(law, at):
    return float_of_bits(np.int64(law[at]))


@inlined
def rounded(value):
    return np.floor(value + 0.5)


@inlined
def plane(angle, a, b, scale):
    """Two dimensions: an angle, and a radius that is Gamma(2)."""
    cosine, sine = turned(angle)
    radius = -scale * logarithm(unit(a) * unit(b))
    return radius * cosine, radius * sine


@inlined
def space(height, angle, a, b, c, scale):
    """Three dimensions: heights of a sphere are uniform (Archimedes); the radius is Gamma(3)."""
    z = 2.0 * unit(height) - 1.0
    cosine, sine = turned(angle)
    radius = -scale * logarithm(unit(a) * unit(b) * unit(c))
    across = radius * np.sqrt((1.0 - z) * (1.0 + z))
    return across * cosine, across * sine, radius * z


@inlined
def normals(size, angle):
    """Two independent normal numbers (Box & Muller 1958)."""
    cosine, sine = turned(angle)
    radius = np.sqrt(-2.0 * logarithm(unit(size)))
    return radius * cosine, radius * sine


@inlined
def chi(size, angle, coin, shape, spread):
    """A chi variable of 2 * shape + 2/3 degrees; NaN if it has to be drawn again.

    Marsaglia & Tsang's Gamma(shape + 1/3): shape * (1 + spread x)**3, spread = 1 / sqrt(9 shape).
    """
    x = normals(size, angle)[0]
    root = 1.0 + spread * x
    cube = root * root * root
    fits = logarithm(unit(coin)) < 0.5 * x * x + shape - shape * cube + shape * logarithm(abs(cube))
    return np.sqrt(2.0 * shape * cube) if fits and root > 0.0 else np.nan


@inner
def sixteen_planes(words, start, scale, noise):
    wide_vectors()
    for lane in range(16):
        x, y = plane(
            group_word(words, start, lane),
            group_word(words, start + 32, lane),
            group_word(words, start + 64, lane),
            scale,
        )
        put(noise, lane, rounded(x))
        put(noise, 16 + lane, rounded(y))


@inner
def sixteen_spaces(words, start, scale, noise):
    wide_vectors()
    for lane in range(16):
        x, y, z = space(
            group_word(words, start, lane),
            group_word(words, start + 32, lane),
            group_word(words, start + 64, lane),
            group_word(words, start + 96, lane),
            group_word(words, start + 128, lane),
            scale,
        )
        put(noise, lane, rounded(x))
        put(noise, 16 + lane, rounded(y))
        put(noise, 32 + lane, rounded(z))


@inner
def sixteen_radii(words, start, law, radii):
    """chi times the scale, NaN where it has to be drawn again."""
    wide_vectors()
    shape, spread = law_float(law, SHAPE), law_float(law, SHAPE + 1)
    scale = law_float(law, SCALE)
    for lane in range(16):
        drawn = chi(
            group_word(words, start, lane),
            group_word(words, start + 32, lane),
            group_word(words, start + 64, lane),
            shape,
            spread,
        )
        put(radii, lane, drawn * scale)


@inner
def sixteen_vectors(words, start, radii, dim, noise):
    wide_vectors()
    for pair in range(dim // 2):
        place, at = start + 64 * pair, 32 * pair
        for lane in range(16):
            size, radius = group_word(words, place, lane), element(radii, lane)
            x, y = normals(size, group_word(words, place + 32, lane))
            put(noise, at + lane, rounded(x * radius))
            put(noise, at + 16 + lane, rounded(y * radius))
    if dim % 2:
        place, at = start + 32 * (dim - 1), 16 * (dim - 1)
        for lane in range(16):
            size, radius = group_word(words, place, lane), element(radii, lane)
            x, _ = normals(size, group_word(words, place + 32, lane))
            put(noise, at + lane, rounded(x * radius))


@inner
def draw_again(key, row, law):
    """The radius of a row whose first chi did not fit: three extra words at a time."""
    shape, spread = law_float(law, SHAPE), law_float(law, SHAPE + 1)
    extra = EXTRA_WORDS
    while True:
        words = np.empty(extra, np.uint64)
        extra_words(key, row, words)
        for at in range(0, extra - 2, 3):
            drawn = chi(words[at], words[at + 1], words[at + 2], shape, spread)
            if drawn == drawn:
                return drawn * law_float(law, SCALE)
        extra *= 2


@inner
def all_vectors(key, law, first, ids, n, lead, words, all_noise):
    dim, width = np.int64(law[DIM]), 2 * np.int64(law[WORDS])
    radii = np.empty(16)
    for group in range((lead + n + 15) // 16):
        start = 16 * width * group
        sixteen_radii(words, start, law, radii)
        for lane in range(16):
            at = 16 * group + lane
            if radii[lane] != radii[lane] and lead <= at < lead + n:
                row = ids[at] if first < 0 else first - lead + at
                radii[lane] = draw_again(key, row, law)
        sixteen_vectors(words, start + 96, radii, dim, all_noise[16 * dim * group :])


@vector_filler
def fill_l2_laplace(key_at, law_at, law_size, first, ids_at, n, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    dim, width = np.int64(law[DIM]), 2 * np.int64(law[WORDS])
    words, lead = tile_words(key, first, ids, n, width)
    noise, scale = carray(noise_at, (lead + n + 16) * dim), law_float(law, SCALE)
    if dim == 2:
        for group in range((lead + n + 15) // 16):
            sixteen_planes(words, 96 * group, scale, noise[32 * group :])
    elif dim == 3:
        for group in range((lead + n + 15) // 16):
            sixteen_spaces(words, 160 * group, scale, noise[48 * group :])
    else:
        all_vectors(key, law, first, ids, n, lead, words, noise)
    return lead
