"""Laws on the integers with a core that falls, or is flat, and a last point on either side."""

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.design.quadrature import array_cost, finite_values, refuse_fall
from fastnoise.ideal.integer_law import IntegerLaw
from fastnoise.ideal.integer_points import (
    MOST,
    BoolArray,
    FloatArray,
    IntArray,
    Points,
    between,
    points,
)
from fastnoise.ideal.steps import Floats, decay
from fastnoise.validation import floats, refusal

LARGEST_SUM = 10_000_000  # points at which a callable cost is evaluated
_CHUNK = 1 << 18  # of them at once


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


class CappedLaw(IntegerLaw):
    """Probabilities, quantiles and privacy curves of a law with a core and two edges.

    A mixin: the class that inherits it has a sensitivity, an epsilon (0 if the core is flat) and a
    shape.
    """

    epsilon: float
    delta: float | Fraction
    sensitivity: int

    @property
    @abstractmethod
    def _shape(self) -> Shape: ...

    @np.errstate(all="ignore")
    def pmf(self, i: npt.ArrayLike) -> Floats:
        """P(X = i); 0 outside the support and where i is not an integer."""
        at = points(i)
        inside = self._probability(np.maximum(at.near, -MOST))
        return np.where(between(i), 0.0, _beyond(at, inside))[()]

    @np.errstate(all="ignore")
    def logpmf(self, i: npt.ArrayLike) -> Floats:
        """ln P(X = i); -inf outside the support and where i is not an integer."""
        rate, height, core, edge, _ = self._shape
        at = points(i)
        n = np.abs(np.maximum(at.near, -MOST))
        outer = np.where(n == core + 1, np.log(edge), -np.inf)
        inside = np.where(n <= core, math.log(height) - rate * n, outer)
        far = np.where(np.isnan(at.far), np.nan, -np.inf)
        return np.where(between(i), -np.inf, np.where(at.far != 0.0, far, inside))[()]

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
        distance = self._apart(shift)
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

    def _tail(self, at: Points) -> FloatArray:
        return _beyond(at, self._near_tail(at.near))

    @np.errstate(all="ignore")
    def _near_tail(self, n: IntArray) -> FloatArray:
        rate, height, core, edge, _ = self._shape
        inside = height * (decay(rate, n.astype(np.float64)) if rate else 1.0)
        inside = edge + inside * self._powers(core + 1 - np.minimum(n, core + 1))
        return np.where(n <= core, inside, np.where(n == core + 1, edge, 0.0))

    def _upper(self, i: IntArray) -> FloatArray:
        """P(X >= i)."""
        return np.where(
            i > 0, self._near_tail(np.abs(i)), 1.0 - self._near_tail(1 - np.minimum(i, 0))
        )

    def _lower(self, i: IntArray) -> FloatArray:
        """P(X <= i)."""
        return self._upper(-i)

    @np.errstate(all="ignore")
    def _mass(self, n: IntArray) -> FloatArray:
        rate, height, core = self._shape[:3]
        sides = math.exp(-rate) * self._powers(np.minimum(n, core + 1) - 1)
        return np.where(n <= core + 1, height * (1.0 + 2.0 * sides), 1.0)

    @np.errstate(all="ignore")
    def _first(
        self, tail: FloatArray, mass: FloatArray, reached: Callable[[IntArray], BoolArray]
    ) -> IntArray:
        """Two past the last integer where none is `reached`.

        Bisection of a few integers around the real solution, or of all where that was rounded.
        """
        top = self._shape.last + 2
        guess = np.clip(np.nan_to_num(self._place(0.5 * tail)), 1.0, float(top))
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

    def _mean_of(self, cost: Callable[[Any], Any]) -> float:
        """Summed over the support."""
        last = self._shape.last
        if not last <= LARGEST_SUM:
            why = f"a callable is summed up to {LARGEST_SUM}, and the noise reaches {last}"
            raise ValueError(refusal("cost", cost, "one of moment(m)", why))
        values_of, growth = array_cost(cost), f"non-decreasing up to {last}"
        at_zero = before = float(finite_values(values_of, np.zeros(1), growth)[0])
        total = 0.0
        for start in range(1, last + 1, _CHUNK):
            i = np.arange(start, min(start + _CHUNK, last + 1))
            values = finite_values(values_of, i.astype(np.float64), growth)
            refuse_fall(cost, np.concatenate(([before], values)), at_zero)
            total += float(np.sum(self._probability(i) * (values - at_zero)))
            before = float(values[-1])
        return at_zero + 2.0 * total


def _beyond(at: Points, inside: FloatArray) -> FloatArray:
    """0 where the integer is out of range, nan where it is none."""
    return np.where(at.far != 0.0, np.where(np.isnan(at.far), np.nan, 0.0), inside)
