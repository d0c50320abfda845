"""The r of a discrete staircase: the number of points on each side that share the top step.

Notation of docs/mathematics.md#discrete-staircase: D the sensitivity, b = e^-epsilon, q = b/(1-b),
G geometric of mean q, rho = r - 1/2 + D q. A draw is uniform on {-n..n} given its layer n = r - 1 +
G D, so for a cost L with L(0) = 0

    E L(X) = N(r) / rho,    N(r) = E sum_{i < r + G D} L(i),    N(r+1) - N(r) = E L(r + G D) = d(r),

and E L(X) grows from r to r+1 exactly where d(r) rho >= N(r), which, once true, stays true.
Everything but a callable cost is computed in decimal arithmetic: the same r on every machine.
"""

import decimal
import functools
import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost, cost_power, interval_confidence
from fastnoise.design.moments import geometric_mean, precise_steps
from fastnoise.design.quadrature import (
    ENOUGH,
    TOO_FAR,
    WrappedCost,
    array_cost,
    finite_values,
    refuse_epsilon,
    refuse_fall,
    refuse_infinite,
)
from fastnoise.design.real_radius import real_discrete_moment, real_radius
from fastnoise.validation import refusal

LARGEST_SENSITIVITY = 10_000  # of a callable cost, which is evaluated at 40 D / epsilon points
_HALF = Decimal("0.5")
_CHUNK = 1 << 16  # points at which a callable is evaluated at once: they fit a second cache


def optimal_radius(epsilon: float, sensitivity: int, cost: Cost) -> int:
    """The r in 1..sensitivity with the least expected cost, the smallest one on ties.

    |x|^m: exact, ceil(D / (1 + e^(epsilon/2))) for m = 1. An interval: the r whose symmetric
    interval {-k..k} of at least that confidence is shortest; the confidence is read as its
    shortest decimal. A callable: by direct summation in doubles, for a sensitivity up to 10000 and
    epsilon >= 1e-3.

    >>> optimal_radius(1.0, 100, "l1"), optimal_radius(1.0, 100, "l2")
    (38, 42)
    >>> optimal_radius(1.0, 2**40, "l1")
    415110355302
    """
    if callable(cost):
        return _callable_radius(epsilon, sensitivity, cost)
    if isinstance(cost, tuple):
        return _interval_radius(epsilon, sensitivity, interval_confidence(cost))
    m = cost_power(cost)
    if not isinstance(m, int):
        return real_radius(epsilon, sensitivity, m)
    with precise_steps(epsilon, sensitivity) as eps:
        if m == 1:
            root = (-eps / 2).exp()
            turn = (sensitivity * root / (1 + root)).to_integral_value(decimal.ROUND_CEILING)
            return min(max(int(turn), 1), sensitivity)
        grows = _square_grows(eps, sensitivity) if m == 2 else _power_grows(eps, sensitivity, m)
        return _first(1, sensitivity, grows)


def discrete_moment(epsilon: float, sensitivity: int, r: int, m: int | float) -> float:
    """E|X|^m of the discrete staircase, correctly rounded; inf if it overflows.

    >>> discrete_moment(1.0, 1, 1, 1)  # 1 / sinh 1
    0.8509181282393216
    """
    if m == 0:
        return 1.0
    if not isinstance(m, int):
        return real_discrete_moment(epsilon, sensitivity, r, m)
    with precise_steps(epsilon, sensitivity) as eps:
        q = geometric_mean(eps)
        total = _newton(_newton_weights(q, sensitivity, m), r)
        return float(total / (r - _HALF + sensitivity * q))


def _first(low: int, high: int, true: Callable[[int], bool]) -> int:
    """The least integer in [low, high] from which on `true` holds; high if there is none."""
    return low + bisect_left(range(low, high), True, key=true)


def _square_grows(epsilon: Decimal, sensitivity: int) -> Callable[[int], bool]:
    """2 x^3 - x/2 >= D^3 s t, x = r + D q, s = q (1+q), t = 1 + 2q."""
    q = geometric_mean(epsilon)
    target = Decimal(sensitivity) ** 3 * q * (1 + q) * (1 + 2 * q)

    def grows(r: int) -> bool:
        x = r + sensitivity * q
        return x * (2 * x * x - _HALF) >= target

    return grows


def _power_grows(epsilon: Decimal, sensitivity: int, m: int) -> Callable[[int], bool]:
    """d(r) rho >= N(r)."""
    q = geometric_mean(epsilon)
    weights = _newton_weights(q, sensitivity, m)

    def grows(r: int) -> bool:
        rho = r - _HALF + sensitivity * q
        return _newton(weights[1:], r) * rho >= _newton(weights, r)

    return grows


def _newton(weights: list[Decimal], r: int) -> Decimal:
    """sum_l C(r, l) weights[l]."""
    return sum(map(Decimal.__mul__, weights, _binomials(r, len(weights))), Decimal(0))


def _newton_weights(q: Decimal, sensitivity: int, m: int) -> list[Decimal]:
    """The W with N(r) = sum_l C(r, l) W_l for the cost |x|^m, from positive terms only.

    i^m = sum_j T_j C(i, j) with T_j = j! S(m, j), S of Stirling, so sum_{i<n} i^m is
    sum_j T_j C(n, j+1); n = r + G D splits by Vandermonde, C(n, j) = sum_l C(r, l) C(G D, j-l).
    """
    means = _binomial_means(q, sensitivity, m + 1)
    onto = [Decimal(count) for count in _surjections(m)]
    return [
        sum((onto[j] * means[j + 1 - l] for j in range(max(l - 1, 0), m + 1)), Decimal(0))
        for l in range(m + 2)  # noqa: E741
    ]


def _binomial_means(q: Decimal, sensitivity: int, n: int) -> list[Decimal]:
    """E C(G D, j) for j = 0..n: G is 0 or 1 + a copy of G, hence H_j = q sum_i C(D, j-i) H_i."""
    steps = _binomials(sensitivity, n + 1)
    means = [Decimal(1)]
    for j in range(1, n + 1):
        means.append(q * sum((steps[j - i] * means[i] for i in range(j)), Decimal(0)))
    return means


def _binomials(n: int, count: int) -> list[Decimal]:
    """C(n, 0), .., C(n, count-1), to the precision of the context."""
    values = [Decimal(1)]
    for j in range(1, count):
        values.append(values[-1] * (n - j + 1) / j if j <= n else Decimal(0))
    return values


@functools.lru_cache(maxsize=8)
def _surjections(m: int) -> tuple[int, ...]:
    """j! S(m, j) for j = 0..m."""
    row = [1]
    for _ in range(m):
        row = [j * (a + b) for j, (a, b) in enumerate(zip([*row, 0], [0, *row], strict=True))]
    return tuple(row)


def _interval_radius(epsilon: float, sensitivity: int, confidence: Decimal) -> int:
    """P(|X| >= n), n = K D + j with 1 <= j <= D, is b^K (D q - b (j-r)) / rho for r <= j.

    It falls with r up to r = j and rises beyond, so r = j reaches the least n of all; other r
    may reach the same n, and the smallest of them is taken.
    """
    with precise_steps(epsilon, sensitivity) as eps:
        tail, b, scale = 1 - confidence, (-eps).exp(), sensitivity * geometric_mean(eps)
        step = max(0, int(-tail.ln() / eps) - 1)
        while not _tail(eps, step, scale, sensitivity) <= tail:
            step += 1
        j = _first(1, sensitivity, lambda j: _tail(eps, step, scale, j) <= tail)
        bound = tail * (eps * step).exp()
        return _first(1, j, lambda r: scale - b * (j - r) <= bound * (r - _HALF + scale))


def _tail(epsilon: Decimal, step: int, scale: Decimal, j: int) -> Decimal:
    """P(|X| >= step D + j) of the law with r = j; scale is D q."""
    return (-epsilon * step).exp() * scale / (j - _HALF + scale)


def _callable_radius(epsilon: float, sensitivity: int, cost: Callable[[Any], Any]) -> int:
    folded = lattice_cost(cost, epsilon, sensitivity, "give r directly")
    if not folded.total > 0.0:
        why = "any r is as good for a constant"
        raise ValueError(refusal("cost", cost, "increasing where the noise has mass", why))
    r = np.arange(1, sensitivity)
    value, below = folded.values[1:], np.cumsum(folded.values)[:-1]
    slope = (r - 0.5) * value - below + folded.q * (sensitivity * value - folded.total)
    grows = np.flatnonzero(slope >= 0.0)
    return int(r[grows[0]]) if len(grows) else sensitivity


class LatticeCost:
    """A cost summed over the steps: values[i] = E L(i + G D), 0 <= i < D, of L = cost - cost(0).

    `total` is their sum. The cost is looked at on integers i >= 0 only, given as floats, one array
    or one number at a time, whichever it takes. A cost that is not finite, decreases, or outgrows
    e^(epsilon i / D) is a ValueError, and so are parameters that need too many evaluations.
    """

    def __init__(
        self, cost: Callable[[Any], Any], epsilon: float, sensitivity: int, instead: str
    ) -> None:
        refuse_epsilon(epsilon, instead)
        if not sensitivity <= LARGEST_SENSITIVITY:
            allowed = f"at most {LARGEST_SENSITIVITY} for a callable cost"
            raise ValueError(refusal("sensitivity", sensitivity, allowed, f"{instead} above that"))
        self.q = math.exp(-epsilon) / -math.expm1(-epsilon)
        self._given, self._cost = cost, array_cost(cost)
        self._epsilon, self._width = epsilon, sensitivity
        self._growth = f"growing slower than exp({epsilon} |x| / {sensitivity})"
        self._last = self.at_zero = float(finite_values(self._cost, np.zeros(1), self._growth)[0])
        self.values = np.zeros(sensitivity)
        with np.errstate(under="ignore"):
            self._sum()
        self.total = float(np.sum(self.values))

    def mean(self, r: int) -> float:
        """E cost(X) of the law with this r."""
        number = float(np.sum(self.values[:r])) + self.q * self.total
        return self.at_zero + number / (r - 0.5 + self._width * self.q)

    def _sum(self) -> None:
        """Add blocks of steps until a whole block no longer counts."""
        start, stop = 0, math.ceil(ENOUGH / self._epsilon) + 2
        while True:
            before = float(np.sum(self.values))
            self._add(start, stop)
            after = float(np.sum(self.values))
            far = stop * self._epsilon > TOO_FAR
            if start > 0 and after - before <= 2.0**-54 * after and (after > 0.0 or far):
                return
            if start > 0 and far:
                raise ValueError(refusal("cost", self._given, self._growth))
            start, stop = stop, stop + math.ceil(0.25 * ENOUGH / self._epsilon)

    def _add(self, start: int, stop: int) -> None:
        rows = max(1, _CHUNK // self._width)
        for first in range(start, stop, rows):
            step = np.arange(first, min(first + rows, stop), dtype=np.float64)
            points = step[:, None] * self._width + np.arange(self._width)
            values = self._cost(points)
            if not self._rises(values.ravel()):
                refuse_infinite(points, values, self._growth)
                rising = np.concatenate(([self._last], values.ravel()))
                refuse_fall(self._given, rising, self.at_zero)
            self._last = float(values[-1, -1])
            weights = -math.expm1(-self._epsilon) * np.exp(-self._epsilon * step)
            self.values += weights @ (values - self.at_zero if self.at_zero else values)

    def _rises(self, values: npt.NDArray[np.float64]) -> bool:
        """Whether all are finite and in order, at a glance."""
        ends = values[0] >= self._last and values[-1] < math.inf
        return bool(ends and np.all(values[1:] >= values[:-1]))


class SharedCost(WrappedCost):
    """A callable cost that is summed once for all mechanisms that are compared by it."""

    def __init__(self, cost: Callable[[Any], Any]) -> None:
        self._given = cost
        self.sums: dict[tuple[float, int], LatticeCost] = {}

    def __call__(self, x: Any) -> Any:
        return self._given(x)


def lattice_cost(
    cost: Callable[[Any], Any], epsilon: float, sensitivity: int, instead: str
) -> LatticeCost:
    """`LatticeCost`, the one that a shared cost has already been summed to."""
    sums = cost.sums if isinstance(cost, SharedCost) else {}
    if (epsilon, sensitivity) not in sums:
        sums[epsilon, sensitivity] = LatticeCost(cost, epsilon, sensitivity, instead)
    return sums[epsilon, sensitivity]
