"""Logarithm, power of two, sine and cosine of sixteen rows, and bounds on their errors.

The bounds hold with and without fused multiply-add: bits may differ, and what follows must not.

libm differs between machines, and its errors are not documented. Polynomials were fitted at
Chebyshev points, or by Remez' algorithm, in 60 digits; `tests/drawing/test_polynomials.py`
proves the error bounds, and `tests/drawing/test_elementary.py` measures the errors.
"""

from typing import Any

from fastnoise_kernels.lanes import Floats, Lanes
from fastnoise_kernels.lookups import picked
from fastnoise_kernels.polynomials import (
    COSINE,
    COSINES,
    HALF_PI,
    INVERSE_LOGARITHMS,
    INVERSES,
    LN2,
    LN2_HIGH,
    LN2_LOW,
    LOGARITHM,
    NEAR_COSINE,
    NEAR_LOGARITHM,
    NEAR_SINE,
    POWER,
    ROOT_HALF_BITS,
    SINE,
    SINES,
)

ONE_BITS, MANTISSA = 0x3FF << 52, (1 << 52) - 1
# Integers of up to 51 bits as floats, by arithmetic that every processor has: 1.5 * 2**52 + i.
INTEGER_BITS, INTEGER_FLOAT = 0x433 << 52 | 1 << 51, 6755399441055744.0
LEAST_EXPONENT = 1022  # 2**-1021 times anything from sqrt(1/2) on is a normal float


def polynomial(coefficients: tuple[float, ...], x: Floats) -> Floats:
    """The constant comes first."""
    value = x.times_plus(coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        value = value.times_plus(x, coefficient)
    return value


def unit(word: Lanes, bits: int = 52, start: float = 0.0) -> Floats:
    """The middle of one of 2**bits equal parts of (0, 1), from the leading bits of a word.

    Or of (start, start + 1). One subtraction, which is exact: the difference has 53 bits at most.
    """
    one_to_two = (word >> (64 - bits) << (52 - bits) | ONE_BITS).as_floats()
    return one_to_two - (1.0 - start - 2.0 ** -(bits + 1))


def above_inverse(x: Floats, *others: Floats) -> Floats:
    """At least 1 / x, of a normal x > 0, and at most an eighth more; or of a product.

    The bits of 2**e (1 + f) are e + f, shifted: a logarithm that is too low by 0.09 at most, and so
    their difference to those of 1 is too high (Mitchell 1962). Read as a float it is higher still;
    of two factors by 5/27 at most.
    """
    bits = (2 * ONE_BITS) - x.as_bits()
    for other in others:
        bits += ONE_BITS - other.as_bits()
    return bits.as_floats()


def logarithm(x: Floats, times: float = 1.0) -> Floats:
    """ln x of a normal x > 0, times a power of two; its relative error is below 2**-51."""
    bits = x.as_bits()
    exponent = (bits - ROOT_HALF_BITS).sign_shifted(52)
    f = (bits - (exponent << 52)).as_floats() - 1.0  # within sqrt(1/2) - 1, sqrt(2) - 1
    e = (exponent + INTEGER_BITS).as_floats() - INTEGER_FLOAT
    s = f / (f + 2.0)
    z = s * s
    scaled = tuple(times * coefficient for coefficient in LOGARITHM)
    rest = (s * z).times_plus(polynomial(scaled, z), e * (times * LN2_LOW))
    return e.times_plus(times * LN2_HIGH, s.times_plus(times * 2.0, rest))


def near_logarithm(x: Floats, times: float = 1.0) -> Floats:
    """The same for 2**-120 < x < 2**80 with an absolute error below NEAR; with AVX-512 alone.

    x = 2**e m, and m is c (1 + r), 1 / c one of sixteen: ln x = ln 2 e - ln(1 / c) + ln(1 + r). The
    exponent of a float is e + 1023, so the sixteen numbers hold -1023 ln 2 as well, which rounds
    them by 2**-44; the polynomial's error is as large.
    """
    bits = x.as_bits()
    r = (bits & MANTISSA | ONE_BITS).as_floats().times_plus(picked(INVERSES, bits >> 48), -1.0)
    constants = tuple(times * constant for constant in INVERSE_LOGARITHMS)
    exponents = (bits >> 52).floats().times_plus(times * LN2, picked(constants, bits >> 48))
    scaled = tuple(times * coefficient for coefficient in NEAR_LOGARITHM)
    return r.times_plus(polynomial(scaled, r), exponents)


def falling_power(times: Floats, rate: Any) -> Floats:
    """2**(times * rate) of at most 1; 0.0 instead of less than 2**-1021.5.

    Its relative error is below POWER_ERROR even if the rate's is two roundings, 2**-52, which times
    1022 is 2**-42 in the exponent; a product that is not fused adds 2**-44. The polynomial's own is
    2**-39.8.
    """
    near = times.times_plus(rate, INTEGER_FLOAT)
    x = times.times_plus(rate, INTEGER_FLOAT - near)
    exponent = near.as_bits()  # its last bits: the nearest integer
    power = x.times_plus(polynomial(POWER, x), 1.0).as_bits() + (exponent << 52)
    return exponent.exceeds(INTEGER_BITS - LEAST_EXPONENT).where(power, 0).as_floats()


def turned(word: Lanes, bits: int = 46) -> tuple[Floats, Floats]:
    """Cosine and sine of a uniform angle: two bits are its quarter, others the middle of a place.

    Absolute errors are below 2**-52.
    """
    f = unit(word << 2, bits, -0.5)
    y = f * f
    cosine = y.times_plus(polynomial(COSINE, y), 1.0)
    sine = f.times_plus(HALF_PI, f * (y * polynomial(SINE, y)))
    across = (word & 1 << 62).equals(0)
    a, b = across.where(cosine, sine), across.where(sine, cosine)
    # they are (c, s), (-s, c), (-c, -s), (s, -c): signs are the first bit, and both bits'
    return a.with_sign(word ^ word << 1), b.with_sign(word)


def near_turned(word: Lanes, bits: int) -> tuple[Floats, Floats]:
    """The same with absolute errors below 2 NEAR; with AVX-512 alone.

    The angle is the middle of one of sixteen parts of a circle and a rest. Cosine and sine of the
    middle are in tables, with their signs; those of the rest are short polynomials.
    """
    f = unit(word << 4, bits - 2, -0.5)
    y = f * f
    cosine, sine = polynomial(NEAR_COSINE, y), f * polynomial(NEAR_SINE, y)
    a, b = picked(COSINES, word >> 60), picked(SINES, word >> 60)
    return a.times_plus(cosine, -(b * sine)), b.times_plus(cosine, a * sine)
