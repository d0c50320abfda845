"""Laws on the integers with an end: what `TruncatedDiscreteLaplace` and `DiscreteUniform` draw.

D is the sensitivity, t = epsilon / D, l = e^-t. P(X = i) is p l^|i| on the core |i| <= j, and the
rest of the mass lies in halves on the two edges +-(j+1). Spec section 8.3: with
T_k = P(X >= k), the law that meets T_{k+1} = l (T_k - d)^+ at every k is (epsilon/D, d)-DP between
integers one apart, so by group privacy (epsilon, delta)-DP between integers D apart for

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
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost, cost_power
from fastnoise.design.moments import LARGEST_POWER, precise
from fastnoise.design.quadrature import array_cost, finite_values
from fastnoise.mechanisms.integer_points import MOST, Points, between, outward, points
from fastnoise.mechanisms.steps import SymmetricLaw, decay
from fastnoise.validation import floats, number, refusal

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Floats = Any  # a float64 where the argument is a scalar, else an array of its shape

LARGEST_SUM = 10_000_000  # points at which a callable cost is evaluated
_CHUNK = 1 << 18  # of them at once


# --- delta, exactly -------------------------------------------------------------------------------


LARGEST_FRACTION = 4096  # bits of a denominator: it must print


def given_delta(delta: Any) -> float | Fraction:
    """A delta as it is kept: a Fraction as a Fraction, any other number as a float."""
    allowed = "a number or a Fraction strictly between 0 and 1"
    fraction = isinstance(delta, Rational) and not isinstance(delta, int)
    value = Fraction(delta) if fraction else number("delta", delta, allowed)
    if not (0 < value < 1):
        raise ValueError(refusal("delta", delta, allowed))
    if not (value >= sys.float_info.min):
        raise ValueError(refusal("delta", delta, f"at least {sys.float_info.min!r}"))
    if fraction and Fraction(value).denominator.bit_length() > LARGEST_FRACTION:
        raise ValueError(f"delta must be a Fraction of at most {LARGEST_FRACTION} bits")
    return value


def exact_delta(delta: float | Fraction) -> Fraction:
    """The number that is meant: of a float its shortest decimal.

    >>> exact_delta(0.1)
    Fraction(1, 10)
    """
    return delta if isinstance(delta, Fraction) else Fraction(repr(delta))


def stated_delta(delta: float | Fraction) -> float:
    """The least float that is no smaller, read as its shortest decimal.

    >>> stated_delta(0.1), stated_delta(Fraction(1, 3))
    (0.1, 0.33333333333333337)
    """
    nearest = float(delta)
    return nearest if exact_delta(nearest) >= exact_delta(delta) else math.nextafter(nearest, 1.0)


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
        step *= (t - eps).exp()
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


class Shape(NamedTuple):
    """The law in doubles. `log_cut` is ln(edge / (height e^(-rate (core+1)))), at most 0."""

    rate: float
    height: float
    core: int
    edge: float
    log_cut: float

    @property
    def last(self) -> int:
        """The largest integer with a probability."""
        return self.core + (self.edge > 0.0)


class CappedLaw(SymmetricLaw):
    """Probabilities, quantiles and privacy curves of a law with a core and two edges.

    A mixin: the class that inherits it has a sensitivity, an epsilon (0 if the core is flat) and a
    shape. Functions mean what they mean in SciPy for a law on the integers: arrays broadcast, NaN
    propagates, between two integers the cdf is that of the lower one.
    """

    epsilon: float
    sensitivity: int

    @property
    @abstractmethod
    def _shape(self) -> Shape: ...

    @np.errstate(all="ignore")
    def pmf(self, i: npt.ArrayLike) -> Floats:
        """P(X = i); 0 outside the support and where i is no integer."""
        at = points(i)
        inside = self._probability(np.maximum(at.near, -MOST))
        return np.where(between(i), 0.0, _beyond(at, inside))[()]

    @np.errstate(all="ignore")
    def logpmf(self, i: npt.ArrayLike) -> Floats:
        """ln P(X = i); -inf outside the support and where i is no integer."""
        rate, height, core, edge, _ = self._shape
        at = points(i)
        n = np.abs(np.maximum(at.near, -MOST))
        outer = np.where(n == core + 1, np.log(edge), -np.inf)
        inside = np.where(n <= core, math.log(height) - rate * n, outer)
        far = np.where(np.isnan(at.far), np.nan, -np.inf)
        return np.where(between(i), -np.inf, np.where(at.far != 0.0, far, inside))[()]

    def cdf(self, i: npt.ArrayLike) -> Floats:
        """P(X <= i), relatively accurate in the lower tail; use `sf` in the upper one."""
        at = points(i)
        out = outward(at)
        tail = _beyond(out, self._tail(out.near))
        return np.where(at.negative(), tail, 1.0 - tail)[()]

    def sf(self, i: npt.ArrayLike) -> Floats:
        """P(X > i), relatively accurate in the upper tail."""
        at = points(i)
        out = outward(at)
        tail = _beyond(out, self._tail(out.near))
        return np.where(at.negative(), 1.0 - tail, tail)[()]

    def ppf(self, p: npt.ArrayLike) -> Floats:
        """The least i with cdf(i) >= p; one below the support at 0, nan outside [0, 1]."""
        given = np.asarray(p, dtype=np.float64)
        return np.where((given >= 0.0) & (given <= 1.0), self._ppf(given), np.nan)[()]

    def isf(self, p: npt.ArrayLike) -> Floats:
        """The least i with sf(i) <= p, accurate however small p is; one below the support at 1."""
        given = np.asarray(p, dtype=np.float64)
        return np.where((given >= 0.0) & (given <= 1.0), self._isf(given), np.nan)[()]

    def expected_cost(self, cost: Cost) -> float:
        """E cost(X) for "l1", "l2", an integer m, or a callable, which is evaluated at i >= 0.

        A callable is summed over the support, which may have 10,000,000 integers on each side.
        """
        if isinstance(cost, tuple):
            allowed = "a cost of the noise (interval(confidence) gives the interval)"
            raise ValueError(refusal("cost", cost, allowed))
        if not callable(cost):
            return self.moment(cost_power(cost))
        last = self._shape.last
        if not last <= LARGEST_SUM:
            allowed = f"one of moment(m) where the noise reaches beyond {LARGEST_SUM}, here {last}"
            raise ValueError(refusal("cost", cost, allowed))
        return self._sum(cost, last)

    def interval(self, confidence: npt.ArrayLike) -> tuple[Floats, Floats]:
        """(-k, k) with the least k such that P(|X| <= k) >= confidence; nan outside [0, 1]."""
        given = np.asarray(confidence, dtype=np.float64)

        def reached(n: IntArray) -> BoolArray:
            tail = 2.0 * self._tail(n) <= 1.0 - given
            return np.where(given < 0.5, self._mass(n) >= given, tail)

        k = self._first(0.5 * (1.0 - given), reached) - 1
        radius = np.where((given >= 0.0) & (given <= 1.0), k, np.nan)
        return (0.0 - radius)[()], radius[()]

    def support(self) -> tuple[int, int]:
        """The least and the largest integer with a probability."""
        return -self._shape.last, self._shape.last

    @np.errstate(all="ignore")
    def tradeoff(self, p_fa: npt.ArrayLike, shift: int | None = None) -> Floats:
        """The least missed-detection probability of an attacker with false-alarm probability p_fa.

        The attacker tells i from i + shift, an integer in 0..sensitivity (the default). The
        likelihood ratio grows with the output, so the curve is made of straight lines through
        (P(X >= i), P(X <= i - 1 - shift)), i in the support; where the supports do not overlap
        the attacker is certain.
        """
        alarm = floats("p_fa", p_fa, 0.0, 1.0)
        distance = self.sensitivity if shift is None else self._shift(shift)
        last, calm = self._shape.last, 1.0 - alarm
        i = np.where(alarm <= 0.5, self._isf(alarm), self._ppf(calm))
        i = np.clip(i, -last, last)
        at = self._probability(i)
        over = np.where(alarm <= 0.5, self._upper(i) - alarm, calm - self._lower(i - 1))
        share = np.clip(np.where(at > 0.0, over / at, 0.0), 0.0, 1.0)
        missed = self._lower(i - distance - 1) + share * self._probability(i - distance)
        return np.asarray(missed)[()]

    @np.errstate(all="ignore")
    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """The least delta for which the law is (epsilon, delta)-DP.

        It is sum_i (p_i - e^epsilon p_{i+D})^+, in positive terms only: what does not overlap, the
        partner of the edge, the core beyond 0, and the part of the core before 0 where p_i still
        exceeds e^epsilon p_{i+D}. Never 0, however large epsilon is.
        """
        asked = floats("epsilon", epsilon, 0.0, math.inf)
        left = np.minimum(asked - self.epsilon, 0.0)
        overlap = self._shape.core + 1 - self.sensitivity  # the partner of the edge
        apart = self._upper(np.array(overlap + 1))
        beyond = self._shape.height * self._powers(np.array(max(overlap, 0))) * -np.expm1(left)
        return np.asarray(apart + self._partner(overlap, asked) + beyond + self._before_zero(left))[
            ()
        ]

    def _partner(self, i: int, asked: FloatArray) -> FloatArray:
        """(p_i - e^asked edge)^+ at i = core + 1 - D; nothing if i is the other edge or outside."""
        rate, _, core, edge, log_cut = self._shape
        if i < -core:
            return np.zeros(asked.shape)
        at = self._probability(np.array(i))
        if edge == 0.0:
            return np.broadcast_to(at, asked.shape)
        # ln(edge / p_i): for i >= 0 the core falls by e^-epsilon in between, whatever l rounds to
        fall = self.epsilon if i >= 0 else rate * (core + 1 + i)
        return np.asarray(at * -np.expm1(np.minimum((asked - fall) + log_cut, 0.0)))

    def _before_zero(self, left: FloatArray) -> FloatArray:
        """sum over m = low..high of p (l^m - e^left l^-m), where `high` is the last positive m."""
        rate, height, core = self._shape[:3]
        if rate == 0.0:
            return np.zeros(left.shape)
        low = max(1, self.sensitivity - core)
        high = np.ceil(-0.5 * left / rate) - 1.0
        count = np.maximum(high - low + 1.0, 0.0)
        first = height * float(decay(rate, np.array(float(low))))
        excess = -np.expm1(np.minimum(left + rate * (high + low), 0.0))
        return np.asarray(first * self._powers(count) * excess)

    def _shift(self, shift: Any) -> int:
        if not (number("shift", shift).is_integer() and 0 <= shift <= self.sensitivity):
            allowed = f"an integer in [0, {self.sensitivity}], up to the sensitivity"
            raise ValueError(refusal("shift", shift, allowed))
        return int(shift)

    def _powers(self, count: npt.NDArray[Any]) -> FloatArray:
        """sum_{k < count} e^(-rate k)."""
        rate = self._shape.rate
        if rate == 0.0:
            return np.asarray(count, dtype=np.float64)
        return np.asarray(np.expm1(-rate * count) / math.expm1(-rate))

    @np.errstate(all="ignore")
    def _probability(self, i: IntArray) -> FloatArray:
        rate, height, core, edge, _ = self._shape
        n = np.abs(i)
        inside = height * (decay(rate, n.astype(np.float64)) if rate else 1.0)
        return np.where(n <= core, inside, np.where(n == core + 1, edge, 0.0))

    @np.errstate(all="ignore")
    def _tail(self, n: IntArray) -> FloatArray:
        """P(X >= n), n >= 0."""
        rate, height, core, edge, _ = self._shape
        inside = height * (decay(rate, n.astype(np.float64)) if rate else 1.0)
        inside = edge + inside * self._powers(core + 1 - np.minimum(n, core + 1))
        return np.where(n <= core, inside, np.where(n == core + 1, edge, 0.0))

    def _upper(self, i: IntArray) -> FloatArray:
        """P(X >= i)."""
        return np.where(i > 0, self._tail(np.abs(i)), 1.0 - self._tail(1 - np.minimum(i, 0)))

    def _lower(self, i: IntArray) -> FloatArray:
        """P(X <= i)."""
        return self._upper(-i)

    @np.errstate(all="ignore")
    def _mass(self, n: IntArray) -> FloatArray:
        """P(|X| < n), n >= 1, relatively accurate where it is small."""
        rate, height, core = self._shape[:3]
        sides = math.exp(-rate) * self._powers(np.minimum(n, core + 1) - 1)
        return np.where(n <= core + 1, height * (1.0 + 2.0 * sides), 1.0)

    def _ppf(self, p: FloatArray) -> IntArray:
        lower = p < 0.5

        def reached(n: IntArray) -> BoolArray:
            tail = self._tail(n)
            return np.where(lower, tail < p, 1.0 - tail >= p)

        n = self._first(np.minimum(p, 1.0 - p), reached) - 1
        return np.where(p == 1.0, self._shape.last, np.where(lower, -n, n))

    def _isf(self, p: FloatArray) -> IntArray:
        upper = p <= 0.5

        def reached(n: IntArray) -> BoolArray:
            tail = self._tail(n)
            return np.where(upper, tail <= p, 1.0 - tail > p)

        n = self._first(np.minimum(p, 1.0 - p), reached) - 1
        return np.where(upper, n, -n)

    @np.errstate(all="ignore")
    def _first(self, tail: FloatArray, reached: Callable[[IntArray], BoolArray]) -> IntArray:
        """The least n >= 1 that is `reached`, near where P(X >= n) = tail; else two past the last.

        Bisection of a few integers around the real solution, or of all where that was rounded.
        """
        top = self._shape.last + 2
        guess = np.clip(np.nan_to_num(self._place(tail)), 1.0, float(top))
        low = np.clip(np.floor(guess).astype(np.int64) - 2, 1, top)
        high = np.minimum(low + 5, top)
        low = np.where(reached(low), 1, low)
        high = np.where(reached(high), high, top)
        while np.any(low < high):
            middle = low + (high - low) // 2
            found = reached(middle)
            high = np.where(found, np.minimum(middle, high), high)
            low = np.where(found, low, np.minimum(middle + 1, high))
        return low

    def _place(self, tail: FloatArray) -> FloatArray:
        """The real n with edge + height (l^n - l^(core+1)) / (1-l) = tail."""
        rate, height, core, edge, _ = self._shape
        count = (tail - edge) / height
        if rate:
            end = float(decay(rate, np.array(core + 1.0)))
            count = np.log1p(count * -math.expm1(-rate) / end) / rate
        return np.asarray(core + 1.0 - count)

    @np.errstate(under="ignore")
    def _sum(self, cost: Callable[[Any], Any], last: int) -> float:
        values_of, growth = array_cost(cost), f"non-decreasing up to {last}"
        at_zero = before = float(finite_values(values_of, np.zeros(1), growth)[0])
        total = 0.0
        for start in range(1, last + 1, _CHUNK):
            i = np.arange(start, min(start + _CHUNK, last + 1))
            values = finite_values(values_of, i.astype(np.float64), growth)
            ordered = np.concatenate(([before], values))
            slack = 1e-9 * (np.abs(ordered[:-1]) + abs(at_zero))
            if np.any(np.diff(ordered) < -slack):
                raise ValueError(refusal("cost", cost, "non-decreasing on x >= 0"))
            total += float(np.sum(self._probability(i) * (values - at_zero)))
            before = float(values[-1])
        return at_zero + 2.0 * total


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
        return _shape(*self._law())

    def moment(self, m: int) -> float:
        """E|X|^m for an integer m up to 200, correctly rounded; inf on overflow."""
        power = moment_power(m)
        return 1.0 if power == 0 else _moment(*self._law(), power)

    def exact_weights(self, extra: int = 0) -> Weights:
        """The whole law to 40 significant digits, and `extra` more; `core` is exact."""
        return exact_weights(*self._law(), extra)

    def _law(self) -> tuple[float, Fraction, int]:
        return self.epsilon, exact_delta(self.delta), self.sensitivity


def moment_power(m: Any) -> int:
    power = number("m", m, "an integer >= 0")
    if not (0.0 <= power <= LARGEST_POWER and power.is_integer()):
        allowed = f"an integer in [0, {LARGEST_POWER}] (expected_cost takes a callable)"
        raise ValueError(refusal("m", m, allowed))
    return int(power)


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


def _moment(epsilon: float, delta: Fraction, sensitivity: int, m: int) -> float:
    """2 height sum_{k <= j} l^k k^m + 2 edge (j+1)^m."""
    weights = exact_weights(epsilon, delta, sensitivity)
    with _digits(epsilon, delta, sensitivity, 40) as eps:
        inner = power_sums(eps / sensitivity, weights.core + 1, m)[m]
        outer = weights.edge * Decimal(weights.core + 1) ** m
        return float(2 * (weights.height * inner + outer))


def _beyond(at: Points, inside: FloatArray) -> FloatArray:
    """0 where the integer is out of range, nan where it is none."""
    return np.where(at.far != 0.0, np.where(np.isnan(at.far), np.nan, 0.0), inside)
