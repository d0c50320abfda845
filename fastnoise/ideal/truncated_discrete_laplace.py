"""Laws on the integers with an end: what `TruncatedDiscreteLaplace` and `DiscreteUniform` draw.

D is the sensitivity, t = epsilon / D, l = e^-t. P(X = i) is p l^|i| on the core |i| <= j, and the
rest of the mass lies in halves on the two edges +-(j+1).
docs/mathematics.md#truncated-discrete-laplace: with T_k = P(X >= k), the law that meets T_{k+1} = l
(T_k - d)^+ at every k is (epsilon/D, d)-DP between integers one apart, so by group privacy
(epsilon, delta)-DP between integers D apart for

    d = delta (1-l) l^(D-1) / (1 - l^D)              (delta / D at epsilon = 0)
    p = (1 - l + 2 d l) / (1 + l)
    j = the largest k with p l^k >= d  =  D - 1 + floor(ln((1 - b + 2 delta b) / (delta (1+l))) / t)
    edge = l (p l^j - d) / (1-l),                    0 <= edge < d

with b = l^D = e^-epsilon. The logarithm over t is never an integer for rational epsilon > 0 and
delta < 1: e^t is transcendental, and (x^D - 1) / delta + 2 = (x+1) x^j is no identity in x.
The law is log-concave, so likelihood ratios between shifted copies are monotone.
"""

import decimal
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any, NamedTuple

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.design.gamma import moment_power
from fastnoise.design.moments import precise
from fastnoise.design.real_radius import real_power_sum
from fastnoise.ideal.capped_law import CappedLaw, Shape
from fastnoise.validation import number, refusal

# --- delta, exactly -------------------------------------------------------------------------------


LARGEST_FRACTION = 4096  # bits of a denominator: it must print


def given_delta(delta: Any) -> float | Fraction:
    """A delta as it is kept: a Fraction as a Fraction, any other number as a float."""
    allowed = "a number or a Fraction strictly between 0 and 1"
    fraction = isinstance(delta, Rational) and not isinstance(delta, int)
    value = Fraction(delta) if fraction else _float_delta(delta, allowed)
    if not (0 < value < 1):
        raise ValueError(refusal("delta", delta, allowed))
    if not (value >= sys.float_info.min):
        raise ValueError(refusal("delta", delta, f"at least {sys.float_info.min!r}"))
    if fraction and Fraction(value).denominator.bit_length() > LARGEST_FRACTION:
        raise ValueError(f"delta must be a Fraction of at most {LARGEST_FRACTION} bits")
    return value


def _float_delta(delta: Any, allowed: str) -> float:
    """What is no float goes down, to one that means no more than was given."""
    value = number("delta", delta, allowed, -math.inf)
    if value == delta or not (0 < value < 1) or exact_delta(value) <= value:
        return value
    return math.nextafter(value, 0.0)


# --- the law in many digits -----------------------------------------------------------------------


class Weights(NamedTuple):
    """The whole law: height * ratio^|i| at |i| <= core, `edge` at +-(core + 1)."""

    core: int
    ratio: Decimal
    height: Decimal
    edge: Decimal


@contextmanager
def _digits(epsilon: float, delta: Fraction, sensitivity: int, extra: int) -> Iterator[Decimal]:
    """Decimal arithmetic for the formulas above, `extra` digits beyond 60; gives epsilon."""
    with precise(epsilon) as eps:
        size = len(str(sensitivity)) + len(str(delta.denominator // delta.numerator))
        decimal.getcontext().prec += extra + 2 * size
        yield eps


def truncation(epsilon: float, delta: Fraction, sensitivity: int) -> int:
    """j, the half-width of the core, with as many digits as it takes to be sure of the floor.

    >>> truncation(0.01, Fraction(1, 1000), 1)
    179
    """
    extra = 40
    while True:
        with _digits(epsilon, delta, sensitivity, extra) as eps:
            share = Decimal(delta.numerator) / delta.denominator
            b, ratio = (-eps).exp(), (-eps / sensitivity).exp()
            odds = (1 - b + 2 * share * b) / (share * (1 + ratio))
            steps = odds.ln() * sensitivity / eps
            below = int(steps.to_integral_value(decimal.ROUND_FLOOR))
            if Decimal(10) ** -extra < steps - below < 1 - Decimal(10) ** -extra:
                return sensitivity - 1 + below
        extra *= 2


@lru_cache(maxsize=64)
def exact_weights(epsilon: float, delta: Fraction, sensitivity: int, extra: int = 0) -> Weights:
    """The law of epsilon > 0 to 40 significant digits, and `extra` more."""
    j = truncation(epsilon, delta, sensitivity)
    with _digits(epsilon, delta, sensitivity, extra + 40) as eps:
        t = eps / sensitivity
        b, ratio = (-eps).exp(), (-t).exp()
        step = Decimal(delta.numerator) / delta.denominator * (1 - ratio) / (1 - b)
        step *= (-eps * (sensitivity - 1) / sensitivity).exp()  # t - eps is rounded, e^ that is not
        height = (1 - ratio + 2 * step * ratio) / (1 + ratio)
        edge = ratio * (height * (-t * j).exp() - step) / (1 - ratio)
        return Weights(j, ratio, height, edge)


def flat_power_sums(count: int, m: int) -> list[int]:
    """sum_{k < count} k^l for l = 0..m, by sum_{i <= l} C(l+1, i) S_i = count^(l+1)."""
    sums: list[int] = []
    for power in range(m + 1):
        below = sum(math.comb(power + 1, i) * sums[i] for i in range(power))
        sums.append((count ** (power + 1) - below) // (power + 1))
    return sums


def power_sums(rate: Decimal, count: int, m: int) -> list[Decimal]:
    """sum_{k < count} e^(-rate k) k^l for l = 0..m, to the digits of the context.

    Summation by parts, (1-l) S_l = [l = 0] + l sum_{i<l} C(l,i) S_i - l^count count^l, which
    cancels where rate * count is small: the digits that takes are added here.
    """
    if rate == 0:
        return [Decimal(total) for total in flat_power_sums(count, m)]
    shrunk = max(0, -(rate * max(count, 1)).adjusted())
    with decimal.localcontext() as context:
        context.prec += len(str(math.factorial(m + 1))) + (m + 2) * shrunk
        ratio, last = (-rate).exp(), (-rate * count).exp()
        sums: list[Decimal] = []
        for power in range(m + 1):
            below = sum((math.comb(power, i) * sums[i] for i in range(power)), Decimal(0))
            sums.append(((power == 0) + ratio * below - last * count**power) / (1 - ratio))
        return sums


# --- the law in doubles ---------------------------------------------------------------------------


class IdealTruncatedDiscreteLaplace(CappedLaw):
    """The law (epsilon, delta, sensitivity), epsilon > 0.

    >>> import fastnoise as fn
    >>> law = fn.TruncatedDiscreteLaplace(epsilon=2.0, delta=0.001)
    >>> law.support(), round(float(law.delta_at(2.0)), 15)
    ((-4, 4), 0.001)
    """

    epsilon: float
    delta: float | Fraction
    sensitivity: int

    @property
    def _shape(self) -> Shape:
        return _shape(*self._parameters())

    def moment(self, m: float) -> float:
        """E|X|^m, correctly rounded: integers m up to 200, other m up to 100. inf on overflow."""
        power = moment_power(m)
        return 1.0 if power == 0 else _moment(*self._parameters(), power)

    def exact_weights(self, extra: int = 0) -> Weights:
        """The whole law to 40 significant digits, and `extra` more; `core` is exact."""
        return exact_weights(*self._parameters(), extra)

    def _parameters(self) -> tuple[float, Fraction, int]:
        return self.epsilon, exact_delta(self.delta), self.sensitivity


@lru_cache(maxsize=256)
def _shape(epsilon: float, delta: Fraction, sensitivity: int) -> Shape:
    weights = exact_weights(epsilon, delta, sensitivity)
    with _digits(epsilon, delta, sensitivity, 40) as eps:
        rate = eps / sensitivity
        virtual = weights.height * (-rate * (weights.core + 1)).exp()
        cut = weights.edge / virtual if virtual else Decimal(0)
        log_cut = float(cut.ln()) if cut else -math.inf
    height, edge = float(weights.height), float(weights.edge)
    return Shape(float(rate), height, weights.core, edge, log_cut)


def _moment(epsilon: float, delta: Fraction, sensitivity: int, m: int | float) -> float:
    """2 height sum_{k <= j} l^k k^m + 2 edge (j+1)^m."""
    weights = exact_weights(epsilon, delta, sensitivity)
    end = weights.core + 1
    with precise(epsilon) as eps:  # terms are positive, so a small delta takes no more digits
        decimal.getcontext().prec += len(str(end))
        rate = eps / sensitivity
        if isinstance(m, int):
            inner = power_sums(rate, end, m)[m]
        else:
            inner = real_power_sum(rate, end, Decimal(m))
        outer = weights.edge * (Decimal(end).ln() * Decimal(m)).exp()
        return float(2 * (weights.height * inner + outer))
