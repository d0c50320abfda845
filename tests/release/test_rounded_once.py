"""Are a product and a sum rounded once, with and without an instruction for both?"""

from fractions import Fraction

import numpy as np
import pytest
from fastnoise_kernels.exact import times_plus_in_parts
from fastnoise_kernels.intrinsics import intrinsic
from mechanisms import name
from numba import int64, njit

import fastnoise as fn
from fastnoise.arithmetic.floats import nearest_float
from fastnoise.identity import noise_identity
from fastnoise.laws.law import Chunk, Limits
from fastnoise.rows import rows_and_key

COUNT = 4_096
# The unit of a staircase's textbook noise is no power of two.
TEXTBOOK = [
    fn.Staircase(1.0, 0.3),
    fn.Laplace(1.0, 0.3),
    fn.L2Laplace(1.0, 3, 0.3),
    fn.BoxStaircase(2.0, (0.1, 0.9)),
]


@njit
def one_by_one(whole, factor, addend, out):
    for i in range(len(out)):
        out[i] = times_plus_in_parts(whole[i], factor[i], addend[i])


@intrinsic
def sixteen(here, whole, factor, addend, out, at: int64):
    numbers = (array.floats(at) for array in (whole, factor, addend))
    value, *others = numbers
    out.put(at, value.times_plus_in_parts(*others))


@njit
def in_lanes(whole, factor, addend, out):
    for at in range(0, len(out), 16):
        sixteen(whole, factor, addend, out, at)


def operands(rng, exponents) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole numbers of any size, factors of few and many bits, and addends of six kinds:

    of any size beside the product; what nearly cancels it; the product itself, less 3 bits; halves
    of a unit in the last place away; few bits, where the other part is a tie; and nothing.
    """
    bits = rng.integers(0, 54, COUNT)
    whole = np.trunc(np.ldexp(rng.integers(-(2**53), 2**53, COUNT).astype(float), -bits)) + 0.0
    few = 1 + rng.integers(0, 16, COUNT) / 16
    mantissa = np.where(rng.random(COUNT) < 0.3, few, 1 + rng.random(COUNT))
    factor = np.ldexp(mantissa, rng.integers(*exponents, COUNT))
    product, steps = whole * factor, rng.integers(-3, 4, COUNT)
    exponent = np.frexp(product)[1]
    short = np.ldexp(np.round(np.ldexp(product, 20 - exponent)), exponent - 20)
    kinds = [
        np.ldexp(product * (1 + rng.random(COUNT)), rng.integers(-110, 60, COUNT)),
        -product * (1 + steps * 2.0**-52),
        -np.ldexp(np.round(np.ldexp(product, 50 - exponent)), exponent - 50),
        np.ldexp(1 + steps * 2.0**-52, exponent + rng.integers(50, 56, COUNT)),
        short * np.ldexp(1.0, rng.integers(-60, 60, COUNT)),
        np.where(steps > 0, 0.0, -0.0),
    ]
    return whole, factor, np.choose(rng.integers(0, len(kinds), COUNT), kinds)


def rounded(whole, factor, addend) -> np.ndarray:
    """In fractions; a sum of exactly 0 is as floats have it."""
    triples = zip(whole.tolist(), factor.tolist(), addend.tolist(), strict=True)
    sums = ((Fraction(w) * Fraction(f) + Fraction(a), w * f + a) for w, f, a in triples)
    return np.array([nearest_float(total) if total else plain for total, plain in sums])


@pytest.mark.parametrize("exponents", [(-30, 10), (-900, 860)])
@pytest.mark.parametrize("function", [one_by_one, in_lanes])
def test_product_and_sum__in_parts_are_rounded_once(function, exponents, rng):
    """Both zeros alike; rounding twice gives others, so that it would be seen."""
    numbers, out = operands(rng, exponents), np.empty(COUNT)
    function(*numbers, out)
    expected = rounded(*numbers)
    np.testing.assert_array_equal(out.view(np.int64), expected.view(np.int64))
    assert (numbers[0] * numbers[1] + numbers[2] != expected).sum() > COUNT / 50


def test_product_and_sum__at_the_ends_of_floats():
    most, least = np.finfo(float).max, 5e-324
    factors, wholes = [2.0**900 / 3, -(2.0**900) / 3, 2.0**-999 / 3], [0.0, 1.0, 2.0**53, -7.0]
    cases = [(w, f, a) for w in wholes for f in factors for a in (most, -most, least, -least)]
    whole, factor, addend = map(np.array, zip(*cases, strict=True))
    out = np.empty(len(cases))
    one_by_one(whole, factor, addend, out)
    assert out.tolist() == rounded(whole, factor, addend).tolist()
    one_by_one(np.array([2.0**53]), np.array([2.0**920]), np.array([most]), out[:1])
    assert out[0] == np.inf


@pytest.mark.filterwarnings("ignore:grid=None:UserWarning")
@pytest.mark.parametrize("mechanism", TEXTBOOK, ids=name)
def test_textbook_noise__is_added_and_rounded_once(mechanism, stream):
    """By kernels and by plain Python."""
    law, dim = mechanism._law(None), getattr(mechanism, "dim", 1)
    x = np.arange(600 * dim) / 7.0 - 40.0
    got = mechanism.perturb(x.reshape(-1, dim) if dim > 1 else x, stream=stream.at(0), grid=None)
    rows, key = rows_and_key(stream.at(0), None, 600, noise_identity(mechanism, law, None))
    noise, plain = law.noise(key, rows, 600).reshape(-1).tolist(), np.empty_like(x)
    units = [Fraction(float(unit)) for unit in law.grids] * 600
    expected = [
        nearest_float(Fraction(v) + Fraction(n) * unit)
        for v, n, unit in zip(x.tolist(), noise, units, strict=True)
    ]
    held = np.abs(noise) <= 2.0**53  # by floats: larger noise is rounded by itself before
    assert held.mean() > 0.95
    assert (got.reshape(-1) == expected)[held].all()
    twice = [v + n * float(u) for v, n, u in zip(x.tolist(), noise, units, strict=True)]
    assert twice != expected or not isinstance(mechanism, fn.Staircase)
    law._perturb_plainly(Chunk(key, rows, 0, x, plain, Limits()), range(20))
    assert (plain == expected)[: 20 * dim][held[: 20 * dim]].all()
