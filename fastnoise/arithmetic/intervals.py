"""Real numbers between two integers over a power of two: arithmetic that never loses the truth.

Every operation rounds outwards, so that the result of real numbers is between the ends, whatever
the precision; more bits bring the ends closer together. Nothing here is a float.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

GUARD = 16  # bits that series carry beyond those asked for: for the rounding of 2**15 terms


class Interval:
    """[low, high] / 2**bits.

    >>> two = Interval.of(2, bits=40)
    >>> two.root().low / 2**40, two.logarithm().high / 2**40
    (1.4142135623724243, 0.6931471805610272)
    """

    __slots__ = ("bits", "high", "low")

    def __init__(self, low: int, high: int, bits: int) -> None:
        self.low, self.high, self.bits = low, high, bits

    @classmethod
    def of(cls, value: int | Fraction, bits: int) -> Interval:
        above, below = value.as_integer_ratio()
        return cls((above << bits) // below, -((-above << bits) // below), bits)

    def __add__(self, other: Interval | int | Fraction) -> Interval:
        that = other if isinstance(other, Interval) else Interval.of(other, self.bits)
        return Interval(self.low + that.low, self.high + that.high, self.bits)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low, self.bits)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low, self.bits)

    def __mul__(self, other: Interval | int | Fraction) -> Interval:
        if isinstance(other, Interval):
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            return Interval(min(ends) >> self.bits, -(-max(ends) >> self.bits), self.bits)
        above, below = other.as_integer_ratio()
        ends = sorted((self.low * above, self.high * above))
        return Interval(ends[0] // below, -(-ends[1] // below), self.bits)

    def root(self) -> Interval:
        """The square root; what is below 0 counts as 0."""
        low, high = (max(0, end) << self.bits for end in (self.low, self.high))
        return Interval(isqrt(low), isqrt(high) + 1, self.bits)

    def logarithm(self) -> Interval:
        """ln, of numbers above 0. Where that may be anything, down to less than anything."""
        if self.low <= 0:
            return Interval(-(1 << self.bits + 64), _logarithm(self.high, self.bits) + 1, self.bits)
        low = _logarithm(self.low, self.bits)
        rise = ((self.high - self.low) << self.bits) // self.low + 1  # ln(1 + x) <= x
        return Interval(low - 1, low + rise + 1, self.bits)

    def turned(self) -> tuple[Interval, Interval]:
        """Cosine and sine of this many quarters of a turn.

        An angle between the ends is within pi/2 times half the distance of the middle one, which
        is less than the distance, and a unit for the series.
        """
        middle, room = (self.low + self.high) // 2, self.high - self.low + 2
        cosine, sine = (
            Interval(value - room, value + room, self.bits) for value in _turned(middle, self.bits)
        )
        return cosine, sine

    def floor(self) -> int | None:
        """The largest integer not above any of them, if they agree on it."""
        low, high = self.low >> self.bits, self.high >> self.bits
        return low if low == high else None


def _logarithm(value: int, bits: int) -> int:
    """ln(value / 2**bits) in units of 2**-bits, to less than one of them."""
    work = bits + GUARD
    shift = value.bit_length()
    if 3 * value < 2 << shift:  # bring it between 2/3 and 4/3
        shift -= 1
    mantissa = value << work - shift if shift <= work else value >> shift - work
    ratio = ((mantissa - (1 << work)) << work) // (mantissa + (1 << work))
    total = 2 * _inverse_tangent(ratio, work, hyperbolic=True) + (shift - bits) * _ln2(work)
    return total >> GUARD


def _inverse_tangent(x: int, bits: int, hyperbolic: bool = False) -> int:
    """x + x**3 / 3 + .., with alternating signs unless hyperbolic; one unit per term."""
    square, power, total, n = x * x >> bits, x, 0, 1
    while power not in (0, -1):
        total += power // n
        power = power * square >> bits
        power, n = power if hyperbolic else -power, n + 2
    return total


@lru_cache(maxsize=64)
def _ln2(bits: int) -> int:
    """2 artanh(1/3)."""
    more = bits + GUARD
    return 2 * _inverse_tangent((1 << more) // 3, more, hyperbolic=True) >> GUARD


@lru_cache(maxsize=64)
def _half_pi(bits: int) -> int:
    """Machin: pi / 4 = 4 arctan(1/5) - arctan(1/239)."""
    more = bits + GUARD
    fifth, last = (_inverse_tangent((1 << more) // n, more) for n in (5, 239))
    return 2 * (4 * fifth - last) >> GUARD


def _turned(quarters: int, bits: int) -> tuple[int, int]:
    """Cosine and sine of quarters / 2**bits quarters of a turn, to less than a unit."""
    work = bits + GUARD
    whole = (quarters + (1 << bits - 1)) >> bits
    x = ((quarters << GUARD) - (whole << work)) * _half_pi(work) >> work
    term, n, sums = 1 << work, 0, [0, 0]
    while term not in (0, -1):
        sums[n % 2] += term
        n += 1
        term = (term * x >> work) // n
        if n % 2 == 0:
            term = -term
    cosine, sine = (total >> GUARD for total in sums)
    for _ in range(whole % 4):
        cosine, sine = -sine, cosine
    return cosine, sine
