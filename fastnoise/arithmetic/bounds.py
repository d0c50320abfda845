"""Numbers between bounds: logarithms, powers, and how far a table is from weights like these.

All is integers and fractions, rounded outwards, so that what is said of a law is never too good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Context
from fractions import Fraction
from math import inf

from fastnoise.arithmetic.floats import float_above

Ratio = tuple[int, int]  # of two weights; (1, 0) is without bound
Bounds = tuple[Fraction, Fraction]  # at least, at most

FIRST_DIGITS = 60
ONE: Bounds = Fraction(1), Fraction(1)
CERTAIN = Fraction(1)  # a total variation, or a delta, that says nothing


def largest(ratios: Iterable[Ratio]) -> Ratio:
    """The largest of these ratios; (0, 1) if there is none."""
    most: Ratio = 0, 1
    for ratio in ratios:
        if ratio[0] * most[1] > most[0] * ratio[1]:
            most = ratio
    return most


def log_bounds(ratio: Ratio, digits: int = FIRST_DIGITS) -> Bounds:
    """Bounds of the natural logarithm of a ratio of positive numbers."""
    context, (above, below) = Context(prec=digits), ratio
    # A quotient of as many bits as digits need, times a power of two: decimals of long integers
    # would take time in proportion to the square of their length.
    shift = below.bit_length() - above.bit_length() + 4 * digits
    quotient = (above << max(shift, 0)) // (below << max(-shift, 0))
    middle = Fraction(context.ln(quotient)) - shift * Fraction(context.ln(2))
    error = (2 + abs(middle) + 2 * abs(shift)) * Fraction(10) ** (1 - digits)
    return middle - error, middle + error


def log_above(ratio: Ratio, times: int = 1) -> float:
    """The least float that is no smaller than `times` times the logarithm of a ratio.

    Enough digits decide, because the logarithm of a fraction is no fraction, except that of 1.
    """
    if ratio[0] == ratio[1]:
        return 0.0
    if ratio[1] == 0:
        return inf
    digits = FIRST_DIGITS
    while True:
        low, high = (float_above(times * bound) for bound in log_bounds(ratio, digits))
        if low == high:
            return high
        digits *= 2


def quotient(above: Bounds, below: Bounds) -> Bounds:
    """Bounds of a quotient of numbers that are not negative."""
    return above[0] / below[1], above[1] / below[0]


def product(*factors: Bounds) -> Bounds:
    """Bounds of a product of numbers that are not negative."""
    low, high = Fraction(1), Fraction(1)
    for factor in factors:
        low, high = low * factor[0], high * factor[1]
    return low, high


def rest(part: Bounds) -> Bounds:
    """Bounds of 1 less a number."""
    return 1 - part[1], 1 - part[0]


class Weights:
    """Weights between two rows of integers, in units of 2**-bits."""

    def __init__(self, bits: int, lows: list[int], highs: list[int]) -> None:
        self.bits, self.lows, self.highs = bits, lows, highs

    @classmethod
    def falling(cls, first: Bounds, ratio: Bounds, count: int, bits: int) -> Weights:
        """`count` of them, each `ratio` times the one before."""
        lows, highs = [_floor(first[0], bits)], [_ceil(first[1], bits)]
        low, high = _floor(ratio[0], bits), _ceil(ratio[1], bits)
        for _ in range(count - 1):
            lows.append(lows[-1] * low >> bits)
            highs.append(-(-highs[-1] * high >> bits))
        return cls(bits, lows[:count], highs[:count])

    @classmethod
    def geometric(cls, first: Bounds, ratio: Bounds, count: int, bits: int) -> Weights:
        """`count` of them, each `ratio` times the one before, and the sum of all that follow."""
        listed = cls.falling(first, ratio, count + 1, bits)
        after = Fraction(listed.lows.pop(), 1 << bits), Fraction(listed.highs.pop(), 1 << bits)
        return listed + cls.of(bits, quotient(after, rest(ratio)))

    @classmethod
    def of(cls, bits: int, *weights: Bounds) -> Weights:
        lows = [_floor(low, bits) for low, _ in weights]
        return cls(bits, lows, [_ceil(high, bits) for _, high in weights])

    def __add__(self, more: Weights) -> Weights:
        return Weights(self.bits, self.lows + more.lows, self.highs + more.highs)

    def times(self, factors: Sequence[int]) -> Weights:
        """Each times its factor."""
        lows = [low * factor for low, factor in zip(self.lows, factors, strict=True)]
        highs = [high * factor for high, factor in zip(self.highs, factors, strict=True)]
        return Weights(self.bits, lows, highs)

    def extent(self, drawn: Sequence[int], skipped: bool = False) -> tuple[Ratio, Ratio]:
        """Not more than the least, and not less than the most, that others are beside these.

        Of the first one `skipped` says whether it may be the least.
        """
        scaled = [weight << self.bits for weight in drawn[: len(self.lows)]]
        most = largest(zip(scaled, self.lows, strict=True))
        below, above = largest(zip(self.highs[skipped:], scaled[skipped:], strict=True))
        return (above, below), most

    def distance(self, drawn: Sequence[int]) -> Fraction:
        """At least the total variation between the laws that these and other weights make."""
        whole, least, most = sum(drawn), sum(self.lows), sum(self.highs)
        if not whole or not least:
            return Fraction(1)
        total = 0
        for weight, low, high in zip(drawn, self.lows, self.highs, strict=True):
            total += max(weight * most - low * whole, high * whole - weight * least)
        return Fraction(total, 2 * whole * least)


def _floor(value: Fraction, bits: int) -> int:
    return (value.numerator << bits) // value.denominator


def _ceil(value: Fraction, bits: int) -> int:
    return -(-(value.numerator << bits) // value.denominator)
