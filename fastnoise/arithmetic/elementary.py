"""Exponentials and roots between rationals, for numbers that must not be on the wrong side."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt

FARTHEST = 10**5  # e**-100000 stands for all that is smaller, where that is a bound


def exp_above(exponent: Fraction, bits: int) -> Fraction:
    """A multiple of 2**-bits, at least e**-exponent and at most two units above it.

    In integers: the series of e**(-exponent / 2**k), squared k times. Each of those doubles the
    error, which the k + 64 bits more than asked for have room for.
    """
    if exponent > bits:  # less than half a unit
        return Fraction(1, 1 << bits)
    halvings = isqrt(bits) + int(exponent).bit_length()
    work = bits + halvings + 64
    x = int(exponent * (1 << (work - halvings)))
    total = term = 1 << work
    n = 0
    while term:
        n += 1
        term = (term * x >> work) // n
        total += -term if n % 2 else term
    for _ in range(halvings):
        total = total * total >> work
    margin = 1 << (work - bits - 32)  # 2**(k + 32) units: the error is below 2**(k + 12)
    return Fraction(-(-(total + margin) >> (work - bits)), 1 << bits)


@lru_cache(maxsize=256)
def exp_bounds(epsilon: float | Fraction, digits: int = 1000) -> tuple[Fraction, Fraction]:
    """Rationals just below and just above e**-epsilon."""
    exponent, context = Fraction(epsilon), Context(prec=digits)
    if exponent > FARTHEST:
        return Fraction(0), exp_bounds(FARTHEST, digits)[1]
    # The error of the quotient is a unit in its last place: `exponent` units of the power.
    quotient = context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))
    middle = context.exp(quotient)
    error = middle.scaleb(1 - digits) * (2 + ceil(exponent))
    down, up = Context(digits + 9, ROUND_FLOOR), Context(digits + 9, ROUND_CEILING)
    return Fraction(down.subtract(middle, error)), Fraction(up.add(middle, error))


def root_bounds(value: int, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals 2**-bits apart, just below and just above the square root."""
    low = isqrt(value << 2 * bits)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)
