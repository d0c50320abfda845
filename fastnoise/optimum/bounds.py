"""What (epsilon, delta)-DP on the integers must cost, and what it costs here.

Geng's dissertation, chapter 4; docs/mathematics.md#approximate-privacy. L is the cost less cost(0),
D the sensitivity, b = e^-epsilon, and n = ln(1 + (e^epsilon - 1) / (2 delta)) / epsilon, which is
1 / (2 delta) at epsilon = 0. In `dim` dimensions the cost is the sum over the coordinates, and
neighbours differ by at most D in l1. (Geng's theorems 4.25 and 4.26 are limits, not bounds, and
lower than what the marginals give.)
"""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.design.gamma import Cost, cost_power
from fastnoise.design.moments import precise
from fastnoise.design.quadrature import array_cost, finite_values
from fastnoise.ideal.truncated_discrete_laplace import power_sums
from fastnoise.optimum.approximate import budget, priced
from fastnoise.validation import refusal, whole

FloatArray = npt.NDArray[np.float64]

LARGEST_LATTICE = 1_000_000  # D n of `all_windows`, and terms of a callable cost
LARGEST_EPSILON = 700.0  # of `all_windows`: e^epsilon stays inside a double
LOWER = ("geng_zero_epsilon", "geng_vector", "geng_approximate", "all_windows", "marginals")
UPPER = ("staircase", "discrete_laplace", "uniform", "truncated")


@dataclass(frozen=True)
class CostBounds:
    """Lower bounds on the least expected cost, and the costs of the mechanisms that qualify.

    nan is a bound whose condition does not hold, or a mechanism that does not qualify.

    geng_zero_epsilon: theorem 4.2, epsilon = 0, where `condition` holds; for |x| and its square
        that is sensitivity >= 3 and delta <= 1/2.
    geng_approximate: theorem 4.8, epsilon and delta > 0, where `condition` holds. Without it the
        formula of either theorem can exceed the optimum.
    geng_vector: theorems 4.16 and 4.17, epsilon = 0, integer 1 / (2 delta), cost "l1" or "l2".
    all_windows: all half-lines and the full shift (docs/mathematics.md#lower-bounds), every
        sensitivity, delta > 0; for sensitivity * n up to 1,000,000 and epsilon up to 700.
    marginals: `dim` times the optimum of one dimension, where that is known.
    optimum: the least cost itself, where it is known: sensitivity 1; delta 0 in one dimension;
        epsilon 0, cost "l1" and integer 1 / (2 delta).
    staircase, discrete_laplace, uniform, truncated: what independent noise on every coordinate
        costs. The staircase qualifies in one dimension or at sensitivity 1.
    n, condition: of Geng's theorems; a fractional n fills its last lump in part.
    """

    geng_zero_epsilon: float
    geng_vector: float
    geng_approximate: float
    all_windows: float
    marginals: float
    optimum: float
    staircase: float
    discrete_laplace: float
    uniform: float
    truncated: float
    n: float
    condition: bool

    @property
    def lower(self) -> float:
        """The best lower bound."""
        return max(self._values(LOWER), default=0.0)

    @property
    def upper(self) -> float:
        """The cost of the cheapest mechanism."""
        return min(self._values(UPPER), default=math.inf)

    def _values(self, names: tuple[str, ...]) -> list[float]:
        return [value for name in names if not math.isnan(value := getattr(self, name))]

    def __str__(self) -> str:
        width = max(len(field.name) for field in fields(self))
        shown = {"lower": self.lower, "upper": self.upper, "optimum": self.optimum}
        rows = [*shown.items(), *((name, getattr(self, name)) for name in (*LOWER, *UPPER))]
        return "\n".join(f"{name:<{width}}  {value:.10g}" for name, value in rows)


def cost_bounds(
    epsilon: float,
    delta: float | Fraction,
    sensitivity: int = 1,
    *,
    cost: Cost = "l1",
    dim: int = 1,
) -> CostBounds:
    """Lower bounds on what (epsilon, delta)-DP on Z^dim costs, and the cost of what is here.

    epsilon 0 is (0, delta)-DP, delta 0 pure DP. Neighbours differ by at most `sensitivity` in l1;
    in one dimension that is the adjacency "element" as well.

    cost: "l1", "l2" for the square, a power m for |x|**m, or a callable, summed over the `dim`
        coordinates.

    >>> import fastnoise as fn
    >>> bounds = fn.cost_bounds(0.1, 0.1, sensitivity=5)
    >>> round(bounds.lower, 5), round(bounds.upper, 5)  # the optimum is 9.79386
    (9.71811, 9.81847)
    >>> fn.cost_bounds(0.1, 0.1, sensitivity=2).geng_approximate  # its condition fails
    nan
    """
    if isinstance(cost, tuple):
        raise ValueError(refusal("cost", cost, "a cost of the noise, not an interval"))
    lattice = Lattice(cost)
    epsilon, delta, sensitivity = budget(epsilon, delta, sensitivity)
    dim = whole("dim", dim, 1, 1 << 31)
    paid, refused = priced(epsilon, delta, sensitivity, cost, "element")
    if not paid:
        raise refused[0]
    prices = {name: paid[name][0] if name in paid else math.nan for name in UPPER}
    problem = Problem(epsilon, delta, sensitivity, lattice)
    optimum = problem.optimum(prices)
    paper = problem.paper_bound() if problem.condition else math.nan
    single = dim == 1 or sensitivity == 1  # neighbours differ in one coordinate
    return CostBounds(
        geng_zero_epsilon=dim * paper if epsilon == 0.0 else math.nan,
        geng_vector=dim * problem.vector_bound(),
        geng_approximate=dim * paper if epsilon > 0.0 else math.nan,
        all_windows=dim * problem.window_bound(),
        marginals=dim * optimum,
        optimum=dim * optimum if single or epsilon == 0.0 else math.nan,
        staircase=dim * prices["staircase"] if single else math.nan,
        discrete_laplace=dim * prices["discrete_laplace"],
        uniform=dim * prices["uniform"],
        truncated=dim * prices["truncated"],
        n=problem.n,
        condition=problem.condition,
    )


class Lattice:
    """L = cost - cost(0) on the integers i >= 0; `power` is m where the cost is |x|^m, m whole."""

    def __init__(self, cost: Cost) -> None:
        m = 0 if callable(cost) else cost_power(cost)
        self.power = m if isinstance(m, int) else 0
        self.at_zero, self._m = 0.0, m
        if not self.power:
            self._cost = array_cost(cost if callable(cost) else lambda x: x**m)
            self.at_zero = float(self._finite(np.zeros(1))[0])

    def values(self, i: FloatArray) -> FloatArray:
        """L(i) of a callable."""
        return self._finite(i) - self.at_zero

    def differences(self, i: FloatArray) -> FloatArray:
        """L(i) - L(i-1), i >= 1; i^m (1 - (1 - 1/i)^m) does not cancel."""
        if not self._m:
            return self.values(i) - self.values(i - 1.0)
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(i**self._m * -np.expm1(self._m * np.log1p(-1.0 / i)))

    def _finite(self, i: FloatArray) -> FloatArray:
        return finite_values(self._cost, i, "non-decreasing on x >= 0")


class Problem:
    """The one-dimensional problem and its lower bounds; delta = 0 has none of Geng's."""

    def __init__(
        self, epsilon: float, delta: float | Fraction, width: int, lattice: Lattice
    ) -> None:
        self.epsilon, self.delta, self.width = epsilon, exact_delta(delta), width
        self.lattice = lattice
        self.lumps, self.n = _lumps(epsilon, self.delta) if self.delta else (0, math.inf)
        # 1 / (2 delta) is an integer: the lumps of (0, delta)-DP are whole
        self.even = epsilon == 0.0 and self.delta > 0 and (1 / (2 * self.delta)).denominator == 1

    def optimum(self, prices: dict[str, float]) -> float:
        """What the best law here costs, where no law can cost less (docs/mathematics.md)."""
        if self.delta == 0:
            return prices["staircase"]
        if self.epsilon == 0.0:
            known = self.width == 1 or (self.even and self.lattice.power == 1)
            return prices["uniform"] if known else math.nan
        return prices["truncated"] if self.width == 1 else math.nan

    @cached_property
    def condition(self) -> bool:
        """sum_{i=1}^lumps b^i (2 L(i D) - L(1 + (i-1) D) - L(1 + i D)) >= L(1).

        Theorem 4.8 with the dual variables of ceil(n) lumps, 4.2 with one lump more, which pays
        nothing where n is an integer: the last lump is the one that n fills in part.
        """
        if self.lumps == 0 or (not self.lattice.power and self.lumps > LARGEST_LATTICE):
            return False
        if self.lattice.power:
            return self._power_condition()
        i = np.arange(1.0, self.lumps + 1.0)
        at, values = i * self.width, self.lattice.values
        gain = 2.0 * values(at) - values(at + (1.0 - self.width)) - values(at + 1.0)
        return bool(np.sum(np.exp(-self.epsilon * i) * gain) >= values(np.ones(1))[0])

    def paper_bound(self) -> float:
        """The formula of theorems 4.2 and 4.8, which is a bound where `condition` holds.

        Lumps of 2 a b^k, a = b (delta + (e^epsilon - 1) / 2), at 1 + k D, the last one cut short.
        """
        last = 1 + self.lumps * self.width
        with self._digits() as eps:
            b = (-eps).exp()
            lump = 2 * b * self._delta + (1 - b)
            left = 1 - lump * self._sums[0]
            if m := self.lattice.power:
                return float(lump * self._shifted(self._sums, 1) + left * Decimal(last) ** m)
        k = np.arange(float(self.lumps))
        inner = np.sum(np.exp(-self.epsilon * k) * self.lattice.values(1.0 + k * self.width))
        outer = self.lattice.values(np.array([float(last)]))[0]
        return self.lattice.at_zero + float(lump) * float(inner) + float(left) * float(outer)

    def vector_bound(self) -> float:
        """Theorems 4.16 and 4.17, a coordinate: windows from every multiple of D."""
        width, delta = self.width, self.delta
        if not self.even or self.lattice.power not in (1, 2):
            return math.nan
        if self.lattice.power == 1:
            return float(width / (4 * delta) - Fraction(width - 1, 2))
        square = width**2 / (12 * delta**2) - width * (width - 1) / (4 * delta)
        return float(square + Fraction(1 - width, 2) + Fraction(width**2, 6))

    @np.errstate(all="ignore")  # large powers overflow, and what is not a number is said to be nan
    def window_bound(self) -> float:
        """The least 2 sum_k (L(k) - L(k-1)) T_k under what half-lines and the shift D demand.

        T_k = P(X >= k) does not increase, T_{k+D} >= b (T_k - delta), and, since T_{1-k} = 1 - T_k,
        T_k + b T_{D+1-k} >= c = b (1 - delta) for 1 <= k <= D (docs/mathematics.md#lower-bounds).
        The rest follows from T_1 .. T_D, of which k <= D/2 and D+1-k form pairs x >= y, and
        y = c - b x is best: one convex, piecewise linear function of x per pair. Where L is convex
        its minima decrease with k as they must; where it is not, they are a bound all the same.
        """
        size = self.width * (self.lumps + 1)
        if not self.delta or size > LARGEST_LATTICE or self.epsilon > LARGEST_EPSILON:
            return math.nan
        pairs = _Pairs(self.epsilon, float(self.delta), self.lumps + 1)
        k = np.arange(1.0, self.width + 1.0)[:, None]
        steps = self.lattice.differences(k + self.width * np.arange(self.lumps + 1.0))
        half = self.width // 2
        total = pairs.least(steps[:half], steps[: -half - 1 : -1]) if half else 0.0
        if self.width % 2:
            total += pairs.value(steps[half : half + 1], np.array([pairs.equal]))
        return self.lattice.at_zero + total if math.isfinite(total) else math.nan

    def _power_condition(self) -> bool:
        with self._digits() as eps:
            last = (-eps * self.lumps).exp()
            sums = [total + last * self.lumps**i for i, total in enumerate(self._sums)]
            sums[0] -= 1  # from i = 1 on
            gain = 2 * self._shifted(sums, 0) - self._shifted(sums, 1)
            return gain - self._shifted(sums, 1 - self.width) >= 1

    @contextmanager
    def _digits(self) -> Iterator[Decimal]:
        """Room for what D^m and n^m cancel, and for 1/delta; gives epsilon."""
        with precise(self.epsilon) as eps:
            m = self.lattice.power
            size = len(str(self.width)) + len(str(self.lumps)) + 2
            decimal.getcontext().prec += (m + 2) * size
            yield eps

    @property
    def _delta(self) -> Decimal:
        return Decimal(self.delta.numerator) / self.delta.denominator

    @cached_property
    def _sums(self) -> list[Decimal]:
        """sum_{k < lumps} b^k k^l, l = 0..m."""
        with self._digits() as eps:
            return power_sums(eps, self.lumps, self.lattice.power)

    def _shifted(self, sums: list[Decimal], start: int) -> Decimal:
        """sum_k b^k (start + k D)^m, from sum_k b^k k^l."""
        m, width = self.lattice.power, self.width
        weights = (math.comb(m, i) * start ** (m - i) * width**i for i in range(m + 1))
        return sum(map(operator.mul, weights, sums), Decimal(0))


def _lumps(epsilon: float, delta: Fraction) -> tuple[int, float]:
    """floor(n) and n. For rational epsilon > 0 n is an integer at delta = 1/2 only."""
    if epsilon == 0.0 or 2 * delta == 1:
        n = 1 / (2 * delta)
        return math.floor(n), float(n)
    with precise(epsilon) as eps:
        decimal.getcontext().prec += 60 + len(str(delta.denominator // delta.numerator))
        b = (-eps).exp()
        odds = b + (1 - b) * delta.denominator / (2 * delta.numerator)
        steps = 1 + odds.ln() / eps
        return int(steps.to_integral_value(decimal.ROUND_FLOOR)), float(steps)


class _Pairs:
    """Pairs (x, y = c - b x) of tails that continue as T -> b (T - delta)^+.

    The m-th step of T is b^m (T - ends[m])^+, ends[m] = delta expm1(epsilon m) / expm1(epsilon).
    """

    def __init__(self, epsilon: float, delta: float, levels: int) -> None:
        m = np.arange(float(levels))
        growth = np.expm1(epsilon * m) / math.expm1(epsilon) if epsilon else m
        self._ends, self._decay = delta * growth, np.exp(-epsilon * m)
        self._epsilon, self._b, self._most = epsilon, math.exp(-epsilon), 1.0 - delta
        self.equal = self._b * self._most / (1.0 + self._b)  # x = y

    def least(self, near: FloatArray, far: FloatArray) -> float:
        """The sum of the minima; row by row, the weights of the steps of x and of y."""
        high = min(0.5, self._most)
        turns = np.concatenate((self._ends, self._most - self._ends * math.exp(self._epsilon)))
        inside = turns[(turns > self.equal) & (turns < high)]
        x = np.unique(np.concatenate(([self.equal], inside, [high])))
        middle = 0.5 * (x[:-1] + x[1:])
        rise = self._slopes(near, middle) - self._b * self._slopes(far, self._other(middle))
        stop = np.where(np.any(rise >= 0.0, axis=1), np.argmax(rise >= 0.0, axis=1), len(middle))
        best = x[stop]
        return self.value(near, best) + self.value(far, self._other(best))

    def value(self, weights: FloatArray, tails: FloatArray) -> float:
        """2 sum over rows of sum_m weights b^m (T - ends[m])^+."""
        excess = np.maximum(tails[:, None] - self._ends, 0.0)
        return float(2.0 * np.sum(weights * (self._decay * excess)))

    def _other(self, x: FloatArray) -> FloatArray:
        return self._b * (self._most - x)

    def _slopes(self, weights: FloatArray, tails: FloatArray) -> FloatArray:
        """The derivative of `value` by row, at every one of `tails`."""
        total = np.cumsum(weights * self._decay, axis=1)
        return np.asarray(total[:, np.searchsorted(self._ends, tails) - 1])
