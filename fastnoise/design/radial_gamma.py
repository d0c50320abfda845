"""The gamma of the staircase of a norm in R^d: best for a cost of the norm.

Notation: b = e^-epsilon, G geometric of mean q = b/(1-b), M_n(x) = E (G+x)^n, D the sensitivity.
The norm R of a draw does not depend on which norm it is:

    E R^m = D^m d/(d+m) M_{d+m}(gamma) / M_d(gamma).

gamma lives on a circle: gamma = 0 is the law of gamma = 1. For d >= 2 the best one winds round it
as epsilon grows, and is not 1/2 for a small epsilon (docs/mathematics.md#norm-ball-staircase).
"""

import decimal
import functools
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import (
    Cost,
    cost_power,
    interval_confidence,
    optimal_gamma,
    twelve_digits,
)
from fastnoise.design.moments import geometric_mean, power_means, precise
from fastnoise.design.quadrature import (
    LARGEST_CALLABLE_EPSILON,
    FoldedCost,
    WrappedCost,
    array_cost,
    refuse_epsilon,
    refuse_fall,
)
from fastnoise.design.real_power import (
    MOST_LOST_DIGITS,
    lost_digits,
    real_power_gamma,
    root,
    rounded_gamma,
    upward_crossing,
)
from fastnoise.validation import refusal

LARGEST_DIM = 128  # at epsilon 1e-8 a gamma takes 1 s there, 0.1 s for 64 and 2 ms for 8
_MOST_DIGITS = 1600  # that decide a gamma: 1 s at dim 128
_LEAST_INTERVAL_EPSILON = 1e-100  # bisecting 1e300 layers takes 3 s
_LARGEST_CALLABLE_DIM = 64  # noise of epsilon R / D beyond 700 underflows, and its mean is d

FloatArray = npt.NDArray[np.float64]


def optimal_radial_gamma(epsilon: float, dim: int, sensitivity: float, cost: Cost) -> float:
    """The gamma in (0, 1] with the least expected cost of the norm, `optimal_gamma` at dim 1.

    "l1", "l2", m: for R, R^2, R^m, in decimal arithmetic and rounded once, so that it is the same
    to the bit on every machine. An interval: the gamma whose ball of that confidence is smallest,
    one of the layers, rounded once too. A callable: numerically, for epsilon from 1e-3 to 700
    and a dim up to 64; the mean cost is within 1e-10 of the least. Where gamma hardly matters,
    which is where epsilon is small beside dim, gamma itself is only as good as that.

    >>> optimal_radial_gamma(1.0, 2, 1.0, "l1")
    0.6670835615708486
    """
    if dim == 1:
        return optimal_gamma(epsilon, sensitivity, cost)
    if callable(cost):
        return _callable_gamma(epsilon, dim, sensitivity, cost)
    if isinstance(cost, tuple):
        return _interval_gamma(epsilon, dim, interval_confidence(cost))
    m = cost_power(cost)
    return _power_gamma(epsilon, dim, m) if isinstance(m, int) else _real_gamma(epsilon, dim, m)


def _real_gamma(epsilon: float, dim: int, m: float) -> float:
    """The best gamma for a fractional power; for the nearest whole one where no cost differs."""
    if lost_digits(epsilon, dim) > MOST_LOST_DIGITS:
        return _power_gamma(epsilon, dim, max(1, round(m)))
    return real_power_gamma(epsilon, dim, m)


def _refuse_small(epsilon: float, least: float) -> None:
    if not epsilon >= least:
        allowed, why = f"at least {least:.0e} for the best gamma", "give gamma or core below that"
        raise ValueError(refusal("epsilon", epsilon, allowed, why))


@functools.lru_cache(maxsize=256)
def _power_gamma(epsilon: float, dim: int, m: int) -> float:
    """Where F = M_{d+m} / M_d turns: F' has the sign of u_{d+m-1} u_d - u_{d+m} u_{d-1}.

    u_n = M_n / n!, so u_n' = u_{n-1}. F is the same, to the first order, at 0 and 1.
    """
    if epsilon > 720.0 * (dim + m):  # gamma ~ (b d/m)^(1/(d+m)), below the least normal double
        return sys.float_info.min
    _refuse_small(epsilon, 2.0 * math.pi * 10.0 ** (-_MOST_DIGITS / (dim + 1)))
    with precise(epsilon) as eps:
        decimal.getcontext().prec += lost_digits(epsilon, dim)
        means = _reduced_means(eps, dim + m)

        def curve(x: Decimal) -> tuple[Decimal, Decimal]:
            terms = _exponential_terms(x, dim + m)
            top, middle, bottom = (_at(means, terms, dim + m - i) for i in range(3))
            high, low, lowest = (_at(means, terms, dim - i) for i in range(3))
            return middle * high - top * low, bottom * high - top * lowest

        guess = (((Decimal(dim) / m).ln() - eps) / (dim + m)).exp()  # for a large epsilon
        low, high = upward_crossing(curve, guess)
        return rounded_gamma(root(curve, low, high))


def _reduced_means(epsilon: Decimal, n: int) -> list[Decimal]:
    """M_j(0) / j! for j = 0..n, by the recurrence of `power_means`."""
    q, inverse = geometric_mean(epsilon), _exponential_terms(Decimal(1), n)
    means = [Decimal(1)]
    for i in range(1, n + 1):
        means.append(q * sum(map(mul, means, inverse[i:0:-1]), Decimal(0)))
    return means


def _exponential_terms(x: Decimal, n: int) -> list[Decimal]:
    """x^j / j! for j = 0..n."""
    terms = [Decimal(1)]
    for j in range(1, n + 1):
        terms.append(terms[-1] * x / j)
    return terms


def _at(means: list[Decimal], terms: list[Decimal], n: int) -> Decimal:
    """M_n(x) / n! = sum_j M_{n-j}(0) / (n-j)! x^j / j!, terms those of x."""
    return sum(map(mul, means[n::-1], terms), Decimal(0))


@functools.lru_cache(maxsize=256)
def _interval_gamma(epsilon: float, dim: int, confidence: Decimal) -> float:
    """The gamma of which the ball of that confidence is the layer k with radius rho = k + gamma.

    P(R > rho D) = b^k (M_d(rho) - rho^d) / M_d(gamma) falls continuously as rho grows.
    """
    _refuse_small(epsilon, _LEAST_INTERVAL_EPSILON)
    if epsilon > 720.0 * dim + 100.0:  # gamma^d ~ b / (1 - confidence), as for powers
        return sys.float_info.min
    with precise(epsilon) as eps:
        tail = 1 - confidence
        means = _reduced_means(eps, dim)

        def curve(k: int, gamma: Decimal) -> tuple[Decimal, Decimal]:
            """w u_d(gamma) - b^k (u_d(rho) - rho^d / d!), and its derivative."""
            inner, outer = (_exponential_terms(x, dim) for x in (gamma, k + gamma))
            weight = (-eps * k).exp()
            value, slope = (
                tail * _at(means, inner, n) - weight * (_at(means, outer, n) - outer[n])
                for n in (dim, dim - 1)
            )
            return value, slope

        low, high = -1, dim + math.ceil(2.0 * (dim + 1 - float(tail.ln())) / epsilon)
        while high - low > 1:
            middle = (low + high) // 2
            reached = curve(middle, Decimal(1))[0] >= 0
            low, high = (low, middle) if reached else (middle, high)
        return rounded_gamma(root(functools.partial(curve, high), Decimal(0), Decimal(1)))


class _WeightedCost(WrappedCost):
    """x^(d-1) d (cost(x) - cost(0)), x over `width`: the cost of a norm, as one of a line."""

    def __init__(self, cost: Callable[[Any], Any], dim: int, width: float) -> None:
        self._given, self._cost = cost, array_cost(cost)
        self._dim, self._width = dim, width
        self.at_zero = float(self._cost(np.zeros(1))[0])

    @np.errstate(all="ignore")
    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        points = np.asarray(x, dtype=np.float64)
        return self._weights(points) * (self._cost(points) - self.at_zero)

    @np.errstate(all="ignore")
    def noise(self, x: FloatArray) -> FloatArray:
        """What rounding of cost(x) - cost(0) does to the value at x."""
        return 1e-15 * abs(self.at_zero) * self._weights(x)

    def _weights(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._dim * (x / self._width) ** (self._dim - 1))

    @np.errstate(all="ignore")
    def check_order(self, points: FloatArray) -> None:
        """Refuse a cost that decreases, which the weights may hide."""
        refuse_fall(self._given, self._cost(points), self.at_zero)


class _FoldedWeightedCost(FoldedCost):
    """`FoldedCost` that does not bisect rounding noise, which is largest at the end of a piece."""

    _given: _WeightedCost

    def _measured(
        self, step: FloatArray, low: FloatArray, high: FloatArray, ordered: bool = False
    ) -> tuple[Any, FloatArray]:
        pieces, error = super()._measured(step, low, high, ordered)
        noise = self._given.noise(self._width * (step + high))
        return pieces, np.where(error > noise, error, 0.0)


def refuse_callable(epsilon: float, dim: int, instead: str) -> None:
    """Refuse what a callable cost is not folded for."""
    refuse_epsilon(epsilon, instead, LARGEST_CALLABLE_EPSILON)
    if not dim <= _LARGEST_CALLABLE_DIM:
        allowed = f"at most {_LARGEST_CALLABLE_DIM} for a callable cost"
        raise ValueError(refusal("dim", dim, allowed, f"{instead} above that"))


class RadialCost:
    """A callable cost of the norm, folded onto one step: E cost(R) as a function of gamma.

    With l the folded `_WeightedCost`, E cost(R) = cost(0) + (int_0^gamma l + q int_0^1 l) / M_d.
    """

    def __init__(
        self,
        cost: Callable[[Any], Any],
        epsilon: float,
        dim: int,
        sensitivity: float,
        instead: str,
        breaks: tuple[float, ...] = (0.0, 1.0),
    ) -> None:
        refuse_callable(epsilon, dim, instead)
        self._epsilon, self._dim = epsilon, dim
        self._unit = 1.0 + dim / epsilon  # (R / D / unit)^d stays inside a double
        weighted = _WeightedCost(cost, dim, sensitivity * self._unit)
        weighted.check_order(sensitivity * self._unit * np.linspace(0.0, 4.0, 1000))
        self.at_zero = weighted.at_zero
        self._folded = _FoldedWeightedCost(weighted, epsilon, sensitivity, breaks)
        self.total = self._folded.total
        self._q = math.exp(-epsilon) / -math.expm1(-epsilon)

    def mean(self, gamma: float) -> float:
        """E cost(R)."""
        return self.at_zero + self._part(gamma) / self._volumes(gamma)[0]

    def slope(self, gamma: float) -> float:
        """The derivative of `mean`, up to a positive factor."""
        volume, derivative = self._volumes(gamma)
        return self._folded.value(gamma) * volume - derivative * self._part(gamma)

    def _part(self, gamma: float) -> float:
        return gamma * self._folded.mean(gamma) + self._q * self.total

    def _volumes(self, gamma: float) -> tuple[float, float]:
        """M_d(gamma) / unit^(d-1) and its derivative."""
        with precise(self._epsilon) as eps:
            means = power_means(geometric_mean(eps), Decimal(gamma), self._dim)
            unit = Decimal(self._unit) ** (self._dim - 1)
            return float(means[-1] / unit), float(self._dim * means[-2] / unit)


@np.errstate(under="ignore")
def _callable_gamma(
    epsilon: float, dim: int, sensitivity: float, cost: Callable[[Any], Any]
) -> float:
    """The best of a few points on the circle, then where the mean cost turns beside it."""
    instead = "give gamma directly"
    refuse_callable(epsilon, dim, instead)
    octaves = math.floor(epsilon / dim / math.log(2.0))  # the top step has mass from b^(1/d) on
    powers = [0.5**j for j in range(octaves + 2, -1, -1)]
    # a break at each makes the small part of t^(d-1) below as accurate as the rest
    breaks = (0.0, *powers) if octaves else (0.0, 1.0)
    folded = RadialCost(cost, epsilon, dim, sensitivity, instead, breaks)
    if not folded.total > 0.0:
        why = "any gamma is as good for a constant"
        raise ValueError(refusal("cost", cost, "increasing where the noise has mass", why))
    points = sorted({*powers, *(i / 16 for i in range(1, 17))})
    best = min(range(len(points)), key=lambda i: folded.mean(points[i]))
    low = points[best - 1] if best else 0.5 * points[0]
    high = points[min(best + 1, len(points) - 1)]
    if best == len(points) - 1 and folded.slope(high) < 0.0:
        low, high = 0.0, points[0]  # past 1, which is 0
    while high - low > 1e-11 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if folded.slope(middle) > 0.0 else (middle, high)
    return twelve_digits(high)
