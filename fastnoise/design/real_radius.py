"""The r and the moments of integer laws for costs |x|^m of any power m > 0 that is not whole.

Notation of `radius`: E|X|^m = N(r) / rho with N(r) = E P(r + G D), where P(n) = sum_{i<n} i^m. From
`FIRST` on, P is the sum of Euler and Maclaurin, whose powers of n = r + G D are Lerch sums:

    P(n) = C + n^(m+1) / (m+1) - n^m / 2 + sum_j B_2j / (2j)! m (m-1) .. (m-2j+2) n^(m+1-2j).

In decimal arithmetic: the same on every machine.
"""

import decimal
import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

from fastnoise.design.lerch import DIRECT, bernoulli_ratios, lerch_sums, power_sum_between
from fastnoise.design.moments import geometric_mean, precise_steps
from fastnoise.design.real_power import LEAST_POWER, real_power_gamma

FIRST = 600  # terms of the series fall by (j / 1900)^2 each, so a dozen of them give 60 digits
_HALF = Decimal("0.5")


def real_radius(epsilon: float, sensitivity: int, m: float) -> int:
    """The r in 1..sensitivity with the least E|X|^m, from where the best gamma is."""
    with precise_steps(epsilon, sensitivity) as eps:
        sums = PowerSums(Decimal(m))
        width, q = Decimal(sensitivity), geometric_mean(eps)

        def grows(r: int) -> bool:
            (mean,) = lerch_sums(eps, sums.m, r / width)
            step = mean * (1 - (-eps).exp()) * (width.ln() * sums.m).exp()
            return step * (r - _HALF + width * q) >= sums.mean(eps, sensitivity, r)

        if sensitivity == 1 or (m < 0.1 and grows(1)):  # i^0 is the same for all but 0
            return 1
        return _turn(round(real_power_gamma(epsilon, 1, m) * sensitivity), sensitivity, grows)


def _turn(guess: int, last: int, true: Callable[[int], bool]) -> int:
    """The least integer in 1..last from which on `true` holds; last if there is none."""
    low, high, step = 0, last, 1
    at = max(guess, 1)
    while low < at < high:
        low, high = (low, at) if true(at) else (at, high)
        at += -step if high == at else step
        step *= 2
    return bisect_left(range(high), True, low + 1, key=true)


def real_discrete_moment(epsilon: float, sensitivity: int, r: int, m: float) -> float:
    """E|X|^m of the discrete staircase, correctly rounded; inf if it overflows.

    >>> real_discrete_moment(1.0, 3, 2, 0.5)
    1.4336851052452233
    """
    with precise_steps(epsilon, sensitivity) as eps:
        total = PowerSums(Decimal(m)).mean(eps, sensitivity, r)
        return float(total / (r - _HALF + sensitivity * geometric_mean(eps)))


def flat_real_moment(height: Fraction, end: int, edge: Fraction, m: float) -> float:
    """2 (height P(end) + edge end^m), correctly rounded."""
    with precise_steps(1.0, end):
        inner = PowerSums(Decimal(m))(end) * height.numerator / height.denominator
        outer = (Decimal(end).ln() * Decimal(m)).exp() * edge.numerator / edge.denominator
        return float(2 * (inner + outer))


def real_power_sum(rate: Decimal, end: int, m: Decimal) -> Decimal:
    """sum_{0 < k < end} e^(-rate k) k^m: the first terms one by one, the others together."""
    terms = ((Decimal(k).ln() * m - rate * k).exp() for k in range(1, min(end, FIRST)))
    near = sum(terms, Decimal(0))
    if end <= FIRST or rate >= DIRECT:  # e^-1200 is nothing beside the first terms
        return near
    return near + power_sum_between(rate, m, Decimal(FIRST), Decimal(end))


class PowerSums:
    """P(n) = sum_{i<n} i^m, to the precision of the context it is made in."""

    def __init__(self, m: Decimal) -> None:
        self.m = m = max(m, Decimal(LEAST_POWER))
        powers = [Decimal(0), *((Decimal(i).ln() * m).exp() for i in range(1, FIRST))]
        self.first = [Decimal(0), *accumulate(powers)]  # P(0) .. P(FIRST)
        self.factors = {0: 1 / (m + 1), 1: -_HALF}  # of n^(m+1-i)
        falling, least = Decimal(1), Decimal(10) ** -decimal.getcontext().prec
        for j, ratio in enumerate(bernoulli_ratios(256)):
            for i in range(max(0, 2 * j - 1), 2 * j + 1):
                falling *= (m - i) / (i or 1)
            self.factors[2 * j + 2] = falling * ratio.numerator / ratio.denominator
            if abs(self.factors[2 * j + 2]) < least * Decimal(FIRST) ** (2 * j + 2):
                break
        self.constant = self.first[FIRST] - self._series(Decimal(FIRST))

    def _series(self, n: Decimal) -> Decimal:
        power = (n.ln() * (self.m + 1)).exp()
        return sum((factor * power / n**i for i, factor in self.factors.items()), Decimal(0))

    def __call__(self, n: int) -> Decimal:
        return self.first[n] if n <= FIRST else self.constant + self._series(Decimal(n))

    def mean(self, epsilon: Decimal, sensitivity: int, r: int) -> Decimal:
        """E P(r + G D): the first layers one by one, the others as Lerch sums."""
        b, width = (-epsilon).exp(), Decimal(sensitivity)
        layers = max(0, math.ceil((FIRST - r) / sensitivity))
        decay = (-epsilon * layers).exp()  # b may be 0, and 0**0 is not a number
        near = sum(
            ((-epsilon * k).exp() * self(r + k * sensitivity) for k in range(layers)), Decimal(0)
        )
        x = (r + layers * width) / width
        sums = lerch_sums(epsilon, self.m + 1, x, [*self.factors])
        power = (width.ln() * (self.m + 1)).exp()
        terms = zip(self.factors.items(), sums, strict=True)
        far = sum((factor * power / width**i * total for (i, factor), total in terms), Decimal(0))
        return (1 - b) * (near + decay * far) + decay * self.constant
