"""How accurate are the kernels' logarithm, power of two, sine and cosine?"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from conftest import needs_avx512
from fastnoise_kernels.elementary import (
    above_inverse,
    falling_power,
    logarithm,
    near_logarithm,
    near_turned,
    turned,
    unit,
)
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.lanes import LANES_64
from fastnoise_kernels.pointers import Pointer
from fastnoise_kernels.polynomials import NEAR, POWER_ERROR
from numba import int64, njit

from fastnoise.laws.choice.law import rate_of

ONES = 2**64 - 1


def _sixteen_intrinsic(function, load):
    """An intrinsic: `function` of sixteen values from `at` on, its results to the same place."""

    @intrinsic
    def sixteen(here, values, at: int64, first, second):
        results = function(load(values, at))
        results = results if isinstance(results, tuple) else (results,)
        for out, result in zip((first, second), results, strict=False):
            out.put(at, result)

    return sixteen


def _load_word(values, at):
    return values.lanes(at, LANES_64)


def compiled(function, load):
    """`function` of arrays: two of results, of which the second may be unused."""
    sixteen = _sixteen_intrinsic(function, load)

    @njit
    def all_of(values, first, second):
        for at in range(0, len(values), 16):
            sixteen(values, at, first, second)

    def call(values):
        size = len(values)
        padded = np.concatenate([values, np.repeat(values[:1], -size % 16)])
        first, second = np.zeros(len(padded)), np.zeros(len(padded))
        all_of(padded, first, second)
        return first[:size], second[:size]

    return call


kernel_logarithm = compiled(logarithm, Pointer.floats)
kernel_turned = compiled(turned, _load_word)
kernel_near_turned = compiled(lambda word: near_turned(word, 46), _load_word)
kernel_short_turned = compiled(lambda word: near_turned(word, 36), _load_word)
kernel_near_logarithms = {
    times: compiled(lambda x, times=times: near_logarithm(x, times), Pointer.floats)
    for times in (1.0, -2.0)
}
kernel_unit = compiled(unit, _load_word)
kernel_short_unit = compiled(lambda word: unit(word, 48), _load_word)
kernel_inverse = compiled(above_inverse, Pointer.floats)
kernel_inverse_of_square = compiled(lambda x: above_inverse(x, x), Pointer.floats)
RATES = [-1.0, *map(rate_of, (1e-10, 0.3, 1.0, 50.0, 1e3))]
kernel_powers = {
    rate: compiled(lambda times, rate=rate: falling_power(times, rate), Pointer.floats)
    for rate in RATES
}


def words(rng, count: int) -> np.ndarray:
    """Random ones, and both sides of where anything changes."""
    edges = [0, ONES, *(1 << i for i in range(64)), *(ONES >> i for i in range(64))]
    sixteenths = [i << 60 for i in range(16)]
    steps = [sign * (1 << 16) + more for sign in (-1, 0, 1) for more in (-1, 0, 1)]
    edges += [(s + step) % 2**64 for s in sixteenths for step in steps]
    edges += [(s + (1 << 59) + step) % 2**64 for s in sixteenths for step in steps]
    return np.concatenate([np.array(edges, np.uint64), rng.integers(0, ONES, count, np.uint64)])


def arguments(rng, count: int) -> np.ndarray:
    """Uniforms and products of up to three, near 1, the root of 1/2, powers of two, tiny ones."""
    root = np.sqrt(0.5)
    steps = np.arange(-40, 41)
    near = [value * (1 + steps * 2.0**-53) for value in (1.0, root, 2 * root, 0.5, 2.0, 2.0**-53)]
    near += [1 - 2.0 ** -np.arange(1, 54), 1 + 2.0 ** -np.arange(1, 53), 2.0 ** -np.arange(160)]
    near += [1 + rng.standard_normal(300) * 2.0 ** -rng.integers(1, 50, 300), [2.0**40, 7.0, 1e6]]
    uniforms = kernel_unit(rng.integers(0, ONES, 3 * count, np.uint64))[0].reshape(3, count)
    small = uniforms[0] * 2.0 ** -rng.integers(0, 160, count)
    return np.concatenate([*near, *uniforms.cumprod(axis=0), small])


def logarithm_errors(x: np.ndarray, values: np.ndarray) -> list[mpmath.mpf]:
    """Relative ones."""
    with mpmath.workprec(160):
        exact = [mpmath.log(mpmath.mpf(float(a))) for a in x]
        return [abs(mpmath.mpf(float(v)) / e - 1) for v, e in zip(values, exact, strict=True) if e]


def test_logarithm__is_within_2_to_minus_51(rng):
    x = arguments(rng, 2_000)
    values = kernel_logarithm(x)[0]
    assert max(logarithm_errors(x, values)) < 2.0**-51
    assert kernel_logarithm(np.array([1.0]))[0][0] == 0.0


def test_logarithm__an_error_is_seen(rng):
    """Two units in the last place of one value."""
    x = arguments(rng, 10)
    values = kernel_logarithm(x)[0]
    values[-1] += 3 * np.spacing(values[-1])
    assert max(logarithm_errors(x, values)) >= 2.0**-51


@needs_avx512
@pytest.mark.parametrize("times", kernel_near_logarithms)
def test_near_logarithm__is_within_near(times, rng):
    """Also at both ends of the sixteen intervals."""
    ends = (1 + np.arange(16) / 16) * 2.0 ** rng.integers(-119, 41, (40, 16))
    x = np.concatenate([arguments(rng, 2_000), ends.reshape(-1), np.nextafter(ends, 0).reshape(-1)])
    x = x[(x > 2.0**-120) & (x < 2.0**80)]
    values = kernel_near_logarithms[times](x)[0]
    with mpmath.workprec(160):
        pairs = zip(values.tolist(), x.tolist(), strict=True)
        largest = max(abs(v / times - mpmath.log(mpmath.mpf(a))) for v, a in pairs)
    assert NEAR / 8 < largest < NEAR


def multiples(rate: float, rng, count: int) -> np.ndarray:
    """Integers up to where powers end, both sides of that, and of where the exponent changes."""
    end = 1021.5 / -rate
    steps = np.concatenate([np.arange(0.5, 1022.0), rng.integers(0, 2043, 500) / 2]) / -rate
    changes = np.concatenate([np.floor(steps), np.ceil(steps)])
    around = np.floor(end) + np.arange(-20.0, 21.0)
    some = np.floor(rng.random(count) * end)
    few = np.arange(min(200.0, end + 1.0))
    some = np.concatenate([some, np.floor(2.0 ** (rng.random(count) * np.log2(end + 1.0)))])
    found = np.unique(np.concatenate([few, some, changes, around]))
    return found[(found >= 0) & (found <= 2.0**52)]


def power_errors(times: np.ndarray, rate: float, values: np.ndarray) -> list[float]:
    """Relative ones; what is below 2**-1021.5 should be 0."""
    with mpmath.workprec(160):
        exponents = [mpmath.mpf(t) * mpmath.mpf(rate) for t in times.tolist()]
        pairs = zip(values.tolist(), exponents, strict=True)
        return [float(abs(v / mpmath.mpf(2) ** e - 1)) if e > -1021.5 else v for v, e in pairs]


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_falling_power__is_within_its_error(rate, rng):
    """Of a rate that is off by two roundings, too."""
    times = multiples(rate, rng, 2_000)
    for right in (rate, rate * (1 - 2.0**-52), rate * (1 + 2.0**-52)):
        some = times[times < 1021 / -right]
        assert max(power_errors(some, right, kernel_powers[rate](some)[0])) < POWER_ERROR
    assert max(power_errors(times, rate, kernel_powers[rate](times)[0])) < POWER_ERROR


def test_falling_power__of_any_exponent_is_within_its_error(rng):
    """And of halves, where the exponent changes, one rounding away and in between."""
    halves = np.arange(0.0, 1021.6, 0.5)
    exponents = np.concatenate(
        [halves, np.nextafter(halves, 0.0), np.nextafter(halves, 1e4), rng.random(3_000) * 1021.5]
    )
    values = kernel_powers[RATES[0]](exponents)[0]
    assert POWER_ERROR / 2 < max(power_errors(exponents, RATES[0], values)) < POWER_ERROR
    whole = np.arange(1022.0)
    assert (kernel_powers[RATES[0]](whole)[0] == 2.0**-whole).all()


@pytest.mark.parametrize("rate", RATES, ids=str)
def test_falling_power__of_nothing_is_1_and_of_too_much_0(rate):
    end = np.ceil(1021.5 / -rate)
    far = np.array([0.0, *(end * np.array([1.0, 1.5, 2.0, 1e3, 1e6])), 2.0**52, 1e300, np.inf])
    far = far[(far == 0.0) | (far > 1021.5 / -rate)]
    assert len(far) > 3
    assert kernel_powers[rate](far)[0].tolist() == [1.0] + [0.0] * (len(far) - 1)


@pytest.mark.parametrize("at", [0, 5, -1])
def test_falling_power__an_error_is_seen(rng, at):
    """Twice what is allowed, of one value."""
    times = multiples(RATES[3], rng, 10)[:700]
    values = kernel_powers[RATES[3]](times)[0]
    values[at] *= 1 + 2 * POWER_ERROR
    assert max(power_errors(times, RATES[3], values)) >= POWER_ERROR


def test_falling_power__a_rate_that_is_off_is_seen(rng):
    rate = RATES[3]
    times = multiples(rate, rng, 100)
    values = kernel_powers[rate](times)[0]
    assert max(power_errors(times, rate * (1 + 2.0**-47), values)) >= POWER_ERROR


def angles(some: np.ndarray, bits: int) -> list[mpmath.mpf]:
    """What `turned` is the cosine and sine of: the middle of its place, an eighth back."""
    with mpmath.workprec(160):
        places = [((w % 2**62) >> (62 - bits)) + mpmath.mpf(1) / 2 for w in some.tolist()]
        quarters = [w >> 62 for w in some.tolist()]
        pairs = zip(quarters, places, strict=True)
        return [mpmath.pi / 2 * (q + p / 2**bits - mpmath.mpf(1) / 2) for q, p in pairs]


def turned_error(
    some: np.ndarray, cosines: np.ndarray, sines: np.ndarray, bits: int = 46
) -> mpmath.mpf:
    """The largest absolute one."""
    with mpmath.workprec(160):
        errors = [
            max(abs(mpmath.cos(a) - float(c)), abs(mpmath.sin(a) - float(s)))
            for a, c, s in zip(angles(some, bits), cosines, sines, strict=True)
        ]
    return max(errors)


def test_turned__is_within_2_to_minus_52(rng):
    some = words(rng, 3_000)
    assert turned_error(some, *kernel_turned(some)) < 2.0**-52


@needs_avx512
def test_near_turned__is_within_twice_near(rng):
    some = words(rng, 3_000)
    assert NEAR < turned_error(some, *kernel_near_turned(some)) < 2 * NEAR
    assert NEAR < turned_error(some, *kernel_short_turned(some), bits=36) < 2 * NEAR


def test_turned__an_error_is_seen(rng):
    some = words(rng, 3)
    cosines, sines = kernel_turned(some)
    sines[7] += 2.0**-51
    assert turned_error(some, cosines, sines) >= 2.0**-52


@pytest.mark.parametrize(
    "function", [kernel_turned, pytest.param(kernel_near_turned, marks=needs_avx512)]
)
def test_turned__four_quarters_are_one_turned(function, rng):
    """The same place in each: (c, s), (-s, c), (-c, -s), (s, -c)."""
    place = words(rng, 100) >> np.uint64(2)
    turns = [function(place | np.uint64(q << 62)) for q in range(4)]
    (c, s), *others = turns
    for (a, b), (x, y) in zip(others, [(-s, c), (-c, -s), (s, -c)], strict=True):
        np.testing.assert_array_equal((a, b), (x, y))


def test_unit__is_the_middle_of_its_part(rng):
    some = words(rng, 5_000)
    values, short = kernel_unit(some)[0].tolist(), kernel_short_unit(some)[0].tolist()
    assert values == [((w >> 12) * 2 + 1) / 2**53 for w in some.tolist()]
    assert short == [((w >> 16) * 2 + 1) / 2**49 for w in some.tolist()]
    assert (min(values), max(values)) == (2.0**-53, 1 - 2.0**-53)
    assert (min(short), max(short)) == (2.0**-49, 1 - 2.0**-49)


def test_above_inverse__is_above_by_an_eighth_at_most(rng):
    """Of powers of two it is the inverse itself."""
    x = np.concatenate([2.0 ** np.arange(-60, 60), arguments(rng, 2_000)])
    products = [
        Fraction(float(v)) * Fraction(a) for a, v in zip(x, kernel_inverse(x)[0], strict=True)
    ]
    assert min(products) == 1
    assert Fraction(9, 8) - Fraction(1, 100) < max(products) <= Fraction(9, 8)


def test_above_inverse__of_two_is_above_by_5_in_27_at_most(rng):
    """Of squares, whose factors have the same mantissa, which is the worst."""
    x = np.concatenate([arguments(rng, 2_000), np.linspace(1.0, 2.0, 10_000)])
    inverses = kernel_inverse_of_square(x)[0].tolist()
    products = [Fraction(v) * Fraction(a) ** 2 for a, v in zip(x.tolist(), inverses, strict=True)]
    assert min(products) == 1
    assert Fraction(32, 27) - Fraction(1, 1000) < max(products) <= Fraction(32, 27)


OF_FLOATS = [kernel_logarithm, kernel_powers[RATES[2]]]


@pytest.mark.parametrize("function", [*OF_FLOATS, kernel_unit, kernel_turned])
def test_place_in_the_vector__does_not_matter(function, rng):
    values = arguments(rng, 20) if function in OF_FLOATS else words(rng, 20)
    once = function(values)
    for shift in (1, 7):
        np.testing.assert_array_equal(function(values[shift:]), np.array(once)[:, shift:])
