"""The staircase law on the integers: what `DiscreteStaircase` draws.

Notation of docs/mathematics.md#discrete-staircase: D the sensitivity, b = e^-epsilon, q = b/(1-b),
rho = r - 1/2 + D q. With |i| = k D + j, 0 <= j < D, the probability of i is b^k / (2 rho), times b
where j >= r.

Relative accuracy is kept in both tails, from epsilon 1e-8 to 100: formulas have positive terms
only, the level and the residue of an integer are split in integers, and b^k does not round k.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import moment_power
from fastnoise.design.radius import discrete_moment, lattice_cost
from fastnoise.ideal.integer_law import IntegerLaw
from fastnoise.ideal.integer_points import (
    FAR,
    MOST,
    BoolArray,
    FloatArray,
    IntArray,
    Points,
    between,
    points,
)
from fastnoise.ideal.steps import Floats, decay, least_missed
from fastnoise.validation import floats


class Steps(NamedTuple):
    """Levels of `width` integers, e^-fall apart, after an innermost one of 2 r - 1."""

    fall: float
    width: int
    r: int


class SteppedLaw(IntegerLaw):
    """Probabilities, quantiles and moments of a law of steps: D, b and r are theirs."""

    @property
    @abstractmethod
    def _steps(self) -> Steps: ...

    @np.errstate(all="ignore")
    def pmf(self, i: npt.ArrayLike) -> Floats:
        """P(X = i); 0 where i is not an integer."""
        probability = decay(self._steps.fall, self._level(i)) / self._peak
        return np.where(between(i), 0.0, probability)[()]

    @np.errstate(all="ignore")
    def logpmf(self, i: npt.ArrayLike) -> Floats:
        """ln P(X = i); -inf at +-inf and where i is not an integer."""
        logarithm = -self._steps.fall * self._level(i) - math.log(self._peak)
        return np.where(between(i), -np.inf, logarithm)[()]

    def moment(self, m: float) -> float:
        """E|X|^m, correctly rounded: integers m up to 200, other m up to 100. inf on overflow."""
        return discrete_moment(self._steps.fall, self._steps.width, self._steps.r, moment_power(m))

    @property
    def _scale(self) -> float:
        """D q."""
        return self._steps.width * math.exp(-self._steps.fall) / -math.expm1(-self._steps.fall)

    @property
    def _peak(self) -> float:
        """2 rho = 1/P(X = 0)."""
        return 2 * self._steps.r - 1 + 2.0 * self._scale

    def _place(self, at: Points) -> tuple[FloatArray, IntArray]:
        """k and j of |i| = k D + j; a k of inf or nan stands for i itself."""
        width = self._steps.width
        step, rest = np.divmod(np.abs(np.maximum(at.near, -MOST)), width)
        size = np.abs(at.far)
        far_step, far_rest = np.divmod(np.where(size < np.inf, size, 0.0), float(width))
        far = size != 0.0
        step = np.where(far, np.where(size < np.inf, far_step, size), step)
        return step, np.where(far, np.minimum(far_rest, width - 1).astype(np.int64), rest)

    @np.errstate(all="ignore")
    def _level(self, i: npt.ArrayLike) -> FloatArray:
        step, rest = self._place(points(i))
        return step + (rest >= self._steps.r)

    @np.errstate(all="ignore")
    def _tail(self, at: Points) -> FloatArray:
        """P(X >= i), i >= 0: b^k / (2 rho) times r - j + D q, or b (D - j + r + D q) if j >= r."""
        step, rest = self._place(at)
        scale, b = self._scale, math.exp(-self._steps.fall)
        inner = (self._steps.r - rest) + scale
        outer = b * ((self._steps.width - rest) + self._steps.r + scale)
        share = np.where(rest < self._steps.r, inner, outer) / self._peak
        return np.asarray(decay(self._steps.fall, step) * share)

    @np.errstate(all="ignore")
    def _mass(self, n: IntArray) -> FloatArray:
        step, rest = np.divmod(n, self._steps.width)
        below = math.exp(-self._steps.fall) * np.maximum(rest - self._steps.r, 0)
        part = (np.minimum(rest, self._steps.r) - 0.5 + below) / (0.5 * self._peak)
        return np.asarray(
            -np.expm1(-self._steps.fall * step) + np.exp(-self._steps.fall * step) * part
        )

    @np.errstate(all="ignore")
    def _first(
        self, tail: FloatArray, mass: FloatArray, reached: Callable[[IntArray], BoolArray]
    ) -> FloatArray:
        guess = self._guess(tail, mass)
        small = guess < FAR
        n = np.where(small, np.maximum(np.ceil(guess), 1.0), 1.0).astype(np.int64)
        for _ in range(2):  # what the logarithm of the guess rounded; the tail is linear nearby
            n = np.maximum(n + self._error(n, tail, mass), 1)
        for _ in range(3):
            n = np.where(~reached(n), n + 1, n)
        for _ in range(6):
            n = np.where((n > 1) & reached(np.maximum(n - 1, 1)), n - 1, n)
        first = np.where(small & (mass > 0.0), n, np.where(mass > 0.0, np.ceil(guess), 1.0))
        first = np.where(tail == 0.0, np.inf, first)
        return np.where((tail >= 0.0) & (mass >= 0.0), first, np.nan)

    def _guess(self, tail: FloatArray, mass: FloatArray) -> FloatArray:
        """The real n of that tail. With u = tail / b^k and y = rho (1-u), n - k D is y + 1/2 up to
        r and r + (y - r + 1/2) / b beyond.
        """
        rho, b = 0.5 * self._peak, math.exp(-self._steps.fall)
        log_tail = np.where(mass < 0.5, np.log1p(-mass), np.log(tail))
        step = np.maximum(np.floor((math.log1p(0.5 / rho) - log_tail) / self._steps.fall), 0.0)
        log_u = log_tail + self._steps.fall * step
        y = np.where((step == 0.0) & (mass < 0.5), rho * mass, -rho * np.expm1(log_u))
        left = (
            self._scale - rho * np.exp(log_u)
            if self._steps.fall > 1.0
            else y - (self._steps.r - 0.5)
        )
        rest = np.where(left <= 0.0, y + 0.5, self._steps.r + left / b)
        return np.asarray(step * self._steps.width + np.clip(rest, 0.0, self._steps.width))

    def _error(self, n: IntArray, tail: FloatArray, mass: FloatArray) -> IntArray:
        """How far n still has to go, by Newton."""
        at = Points(n, np.zeros(n.shape))
        excess = np.where(mass < 0.5, mass - self._mass(n), 2.0 * self._tail(at) - tail)
        width = excess / (2.0 * decay(self._steps.fall, self._level(n)) / self._peak)
        limit = 1e-6 * self._steps.width + 1e-12 * n  # beyond that the logarithm knew better
        return np.asarray(np.rint(np.clip(np.nan_to_num(width), -limit, limit)).astype(np.int64))


class IdealDiscreteStaircase(SteppedLaw):
    """Probabilities, quantiles, moments and privacy curves of the law (epsilon, sensitivity, r).

    A mixin: the class that inherits it has these three attributes. Integers are taken as they are,
    up to 2**62.

    >>> import fastnoise as fn
    >>> law = fn.DiscreteStaircase(epsilon=1.0, sensitivity=10, r=4)
    >>> float(law.ppf(0.5)), round(float(law.cdf(0)) + float(law.sf(0)), 15)
    (0.0, 1.0)
    """

    epsilon: float
    sensitivity: int
    r: int

    @property
    def _steps(self) -> Steps:
        return Steps(self.epsilon, self.sensitivity, self.r)

    def _mean_of(self, cost: Callable[[Any], Any]) -> float:
        folded = lattice_cost(cost, self.epsilon, self.sensitivity, "moment(m) has no limit")
        return folded.mean(self.r)

    def tradeoff(self, p_fa: npt.ArrayLike, shift: int | None = None) -> Floats:
        """The least missed-detection probability of an attacker with false-alarm probability p_fa.

        The attacker tells i from i + shift, an integer in 0..sensitivity (the default). Likelihood
        ratios are e^epsilon, 1 and e^-epsilon, so the curve is three lines: 1 - e^epsilon p,
        1 - TV - p and e^-epsilon (1 - p), TV the mass of the `shift` most central points.
        """
        alarm = floats("p_fa", p_fa, 0.0, 1.0)
        distance = self._apart(shift)
        sides = np.array([distance // 2 + 1, distance - distance // 2])
        overlap = np.sum(self._tail(Points(sides, np.zeros(2))))
        return least_missed(self.epsilon, alarm, overlap)[()]

    @np.errstate(under="ignore")
    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """The least delta for which the law is (epsilon, delta)-DP: A (1 - e^(epsilon - own))^+.

        A = TV / (1-b), TV the mass of the D most central points. Zero from the law's own epsilon
        on.
        """
        asked = floats("epsilon", epsilon, 0.0, math.inf)
        width, r, b = self.sensitivity, self.r, math.exp(-self.epsilon)
        top = min(width // 2, r - 1) + min(width - width // 2, r)
        share = (top + b * (width - top)) / ((2 * r - 1) + b * (2 * (width - r) + 1))
        return (0.0 - share * np.expm1(np.minimum(asked - self.epsilon, 0.0)))[()]
