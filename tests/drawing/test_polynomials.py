"""Are the kernels' polynomials and tables as near as they say? Proved, in fractions."""

from collections.abc import Iterator
from fractions import Fraction
from math import comb, factorial

import mpmath
import pytest
from fastnoise_kernels.polynomials import (
    COSINE,
    COSINES,
    HALF_PI,
    INVERSE_LOGARITHMS,
    INVERSES,
    LN2,
    LOGARITHM,
    NEAR,
    NEAR_COSINE,
    NEAR_LOGARITHM,
    NEAR_SINE,
    POWER,
    POWER_ERROR,
    SINE,
    SINES,
)

pytestmark = pytest.mark.long


def largest(coefficients: list[Fraction], end: Fraction, pieces: int = 64) -> Fraction:
    """At least |polynomial| anywhere on [0, end]."""
    return max(largest_by_piece(coefficients, end, pieces))


def largest_by_piece(
    coefficients: list[Fraction], end: Fraction, pieces: int
) -> Iterator[Fraction]:
    """The same on each of so many pieces, where it is between its Bernstein coefficients."""
    size, degree = end / pieces, len(coefficients) - 1
    for piece in range(pieces):
        start = size * piece
        shifted = [
            sum(comb(n, k) * c * start ** (n - k) for n, c in enumerate(coefficients) if n >= k)
            * size**k
            for k in range(degree + 1)
        ]
        bernstein = (
            sum(Fraction(comb(i, k), comb(degree, k)) * shifted[k] for k in range(i + 1))
            for i in range(degree + 1)
        )
        yield max(map(abs, bernstein))


def difference(polynomial: tuple[float, ...], series: list[Fraction]) -> list[Fraction]:
    exact = [Fraction(c) for c in polynomial] + [Fraction(0)] * (len(series) - len(polynomial))
    return [p - c for p, c in zip(exact, series, strict=True)]


def test_near_logarithm__its_parts_add_up_to_less_than_near():
    """ln(1 + r) = r - r**2 / 2 + .., on either side; the table, and the exponents down to -120."""
    end, terms = Fraction(1, 33), 16
    series = [Fraction((-1) ** n, n + 1) for n in range(terms)]
    above = [Fraction(0), *difference(NEAR_LOGARITHM, series)]
    below = [(-1) ** n * c for n, c in enumerate(above)]
    error = float(max(largest(above, end, 8), largest(below, end, 8)) + end**terms)
    assert max(abs(Fraction(c) * (33 + 2 * i) / 32 - 1) for i, c in enumerate(INVERSES)) < 2.0**-53
    with mpmath.workprec(160):
        pairs = zip(INVERSES, INVERSE_LOGARITHMS, strict=True)
        table = max(abs(mpmath.log(c) + value + 1023 * mpmath.mpf(LN2)) for c, value in pairs)
        exponents = 120 * abs(mpmath.mpf(LN2) - mpmath.log(2))
    assert 2.0**-45 < error < 2.0**-44
    assert error + table + exponents + 3 * 2.0**-47 < NEAR  # three roundings of less than 128


HALF_PI_EXACT = Fraction("1.57079632679489661923132169163975144209858469968755291")


def test_logarithm__its_polynomial_is_within_a_tenth_of_a_rounding():
    """ln((1 + s) / (1 - s)) = 2 s + s**3 sum 2 z**k / (2 k + 3), z = s**2, s at most tan(pi/8)**2.

    An error of the polynomial is s**2 / 2 of itself beside 2 s.
    """
    end, terms = Fraction("0.17157288") ** 2, 20
    series = [Fraction(2, 2 * k + 3) for k in range(terms)]
    rest = 2 * end**terms  # of a geometric series with a ratio below 1/2
    error = largest(difference(LOGARITHM, series), end) + rest
    assert error * end / 2 < Fraction(1, 10 * 2**53)


@pytest.mark.parametrize(("polynomial", "first"), [(SINE, 3), (COSINE, 2)], ids=["sine", "cosine"])
def test_turned__its_polynomials_are_within_a_quarter_of_a_rounding(polynomial, first):
    """sin = x - x**3 / 6 + .., cos = 1 - x**2 / 2 + .., x = pi/2 f: series in f**2 <= 1/4."""
    powers = range(first, first + 40, 2)
    signs = [-1 if (n // 2) % 2 else 1 for n in powers]
    series = [s * HALF_PI_EXACT**n / factorial(n) for s, n in zip(signs, powers, strict=True)]
    error = largest(difference(polynomial, series), Fraction(1, 4)) + Fraction(1, 2**100)
    assert error / 2**first < Fraction(1, 4 * 2**53)
    assert abs(Fraction(HALF_PI) - HALF_PI_EXACT) / 2 < Fraction(1, 3 * 2**53)


def near_turned_error(sine: tuple[float, ...], cosine: tuple[float, ...]) -> float:
    """At least that of a cosine or sine, rounding aside: of a table's times that of a rest.

    The same series from the beginning, of pi/8 f; that of the sine is f times its polynomial.
    """
    errors = []
    for polynomial, first in ((sine, 1), (cosine, 0)):
        powers = range(first, first + 40, 2)
        signs = [-1 if (n // 2) % 2 else 1 for n in powers]
        angle = HALF_PI_EXACT / 4
        series = [s * angle**n / factorial(n) for s, n in zip(signs, powers, strict=True)]
        error = largest(difference(polynomial, series), Fraction(1, 4)) + Fraction(1, 2**100)
        errors.append(float(error) / 2**first)
    pairs = zip(SINES, COSINES, strict=True)
    return max(abs(a) * errors[0] + abs(b) * errors[1] for a, b in pairs)


def test_near_turned__its_parts_are_within_twice_near():
    """And a few roundings."""
    assert NEAR < near_turned_error(NEAR_SINE, NEAR_COSINE) < 2 * NEAR - 2.0**-48


@pytest.mark.parametrize("at", range(4))
def test_near_turned__a_wrong_coefficient_is_seen(at):
    wrong = [
        tuple(c * (1 + 1e-3 * (i == at)) for i, c in enumerate(p)) for p in (NEAR_SINE, NEAR_COSINE)
    ]
    assert near_turned_error(wrong[0], NEAR_COSINE) > 2 * NEAR
    assert near_turned_error(NEAR_SINE, wrong[1]) > 2 * NEAR


def test_near_turned__its_tables_are_within_a_rounding():
    with mpmath.workprec(160):
        for i, (a, b) in enumerate(zip(COSINES, SINES, strict=True)):
            angle = (2 * i - 3) * mpmath.pi / 16
            assert max(abs(mpmath.cos(angle) - a), abs(mpmath.sin(angle) - b)) < 2.0**-53


LN2_EXACT = Fraction("0.693147180559945309417232121458")
HALF = Fraction(501, 1000)  # and a little more


def power_error(polynomial: tuple[float, ...], pieces: int = 32) -> float:
    """At least the relative one of 1 + x * polynomial(x), on either side of 0.

    2**x = 1 + ln 2 x + (ln 2 x)**2 / 2 + .., and on a piece at least what it is at its lower end.
    """
    series = [LN2_EXACT ** (n + 1) / factorial(n + 1) for n in range(16)]
    above = [Fraction(0), *difference(polynomial, series)]
    below = [(-1) ** n * c for n, c in enumerate(above)]
    size = float(HALF) / pieces
    worst = [
        *(float(e) / 2 ** (size * i) for i, e in enumerate(largest_by_piece(above, HALF, pieces))),
        *(
            float(e) * 2 ** (size * (i + 1))
            for i, e in enumerate(largest_by_piece(below, HALF, pieces))
        ),
    ]
    return max(worst) + 2.0**-70


def test_falling_power__its_polynomial_leaves_room_for_the_rate():
    assert POWER_ERROR / 2 < power_error(POWER) < POWER_ERROR - 2.0**-42


@pytest.mark.parametrize("at", range(len(POWER)))
def test_falling_power__a_wrong_coefficient_is_seen(at):
    wrong = tuple(c * (1 + 1e-3 * (i == at)) for i, c in enumerate(POWER))
    assert power_error(wrong) > POWER_ERROR


@pytest.mark.parametrize("at", range(len(LOGARITHM)))
def test_logarithm__a_wrong_coefficient_is_seen(at):
    wrong = tuple(c * (1 + 1e-4 * (i == at)) for i, c in enumerate(LOGARITHM))
    series = [Fraction(2, 2 * k + 3) for k in range(20)]
    end = Fraction("0.17157288") ** 2
    assert largest(difference(wrong, series), end) * end / 2 > Fraction(1, 10 * 2**53)
