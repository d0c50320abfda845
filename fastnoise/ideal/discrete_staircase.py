"""The staircase law on the integers: what `DiscreteStaircase` draws.

Notation of docs/mathematics.md#discrete-staircase: D the sensitivity, b = e^-epsilon, q = b/(1-b),
rho = r - 1/2 + D q. With |i| = k D + j, 0 <= j < D, the probability of i is b^k / (2 rho), times b
where j >= r.

Relative accuracy is kept in both tails, from epsilon 1e-8 to 100: formulas have positive terms
only, the level and the residue of an integer are split in integers, and b^k does not round k.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost, cost_power, moment_power
from fastnoise.design.radius import discrete_moment, lattice_cost
from fastnoise.ideal.integer_points import FAR, MOST, Points, between, outward, points
from fastnoise.ideal.steps import SymmetricLaw, decay, least_missed, whole_shift
from fastnoise.validation import floats, refusal

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Floats = Any  # a float64 where the argument is a scalar, else an array of its shape


class IdealDiscreteStaircase(SymmetricLaw):
    """Probabilities, quantiles, moments and privacy curves of the law (epsilon, sensitivity, r).

    A mixin: the class that inherits it has these three attributes. Functions mean what they mean
    in SciPy for a law on the integers: arrays broadcast, NaN propagates, between two integers the
    cdf is that of the lower one. Integers are taken as they are, up to 2**62.

    >>> import fastnoise as fn
    >>> law = fn.DiscreteStaircase(epsilon=1.0, sensitivity=10, r=4)
    >>> float(law.ppf(0.5)), round(float(law.cdf(0)) + float(law.sf(0)), 15)
    (0.0, 1.0)
    """

    epsilon: float
    sensitivity: int
    r: int

    @np.errstate(all="ignore")
    def pmf(self, i: npt.ArrayLike) -> Floats:
        """P(X = i); 0 where i is no integer."""
        probability = decay(self.epsilon, self._level(i)) / self._peak
        return np.where(between(i), 0.0, probability)[()]

    @np.errstate(all="ignore")
    def logpmf(self, i: npt.ArrayLike) -> Floats:
        """ln P(X = i); -inf at +-inf and where i is no integer."""
        logarithm = -self.epsilon * self._level(i) - math.log(self._peak)
        return np.where(between(i), -np.inf, logarithm)[()]

    def cdf(self, i: npt.ArrayLike) -> Floats:
        """P(X <= i), relatively accurate in the lower tail; use `sf` in the upper one."""
        at = points(i)
        tail = self._tail(outward(at))
        return np.where(at.negative(), tail, 1.0 - tail)[()]

    def sf(self, i: npt.ArrayLike) -> Floats:
        """P(X > i), relatively accurate in the upper tail."""
        at = points(i)
        tail = self._tail(outward(at))
        return np.where(at.negative(), 1.0 - tail, tail)[()]

    def ppf(self, p: npt.ArrayLike) -> Floats:
        """The least i with cdf(i) >= p; +-inf at 1 and 0, nan outside [0, 1].

        Where epsilon/sensitivity is below about 1e-15 neighbouring cdf are equal as floats, and i
        is right to that resolution.
        """
        given = np.asarray(p, dtype=np.float64)
        lower = given < 0.5

        def reached(n: IntArray) -> BoolArray:
            tail = self._tail(Points(n, np.zeros(n.shape)))
            return np.where(lower, tail < given, 1.0 - tail >= given)

        return (np.where(lower, -1.0, 1.0) * self._steps_out(given, reached) + 0.0)[()]

    def isf(self, p: npt.ArrayLike) -> Floats:
        """The least i with sf(i) <= p, accurate however small p is."""
        given = np.asarray(p, dtype=np.float64)
        upper = given <= 0.5

        def reached(n: IntArray) -> BoolArray:
            tail = self._tail(Points(n, np.zeros(n.shape)))
            return np.where(upper, tail <= given, 1.0 - tail > given)

        return (np.where(upper, 1.0, -1.0) * self._steps_out(given, reached) + 0.0)[()]

    def moment(self, m: float) -> float:
        """E|X|^m, correctly rounded: integers m up to 200, other m up to 100. inf on overflow."""
        return discrete_moment(self.epsilon, self.sensitivity, self.r, moment_power(m))

    def expected_cost(self, cost: Cost) -> float:
        """E cost(X) for "l1", "l2", a power m, or a callable, which is evaluated at i >= 0.

        A callable is summed to about 1e-13; it needs epsilon >= 1e-3 and a sensitivity up to 10000.
        """
        if isinstance(cost, tuple):
            allowed = "a cost of the noise (interval(confidence) gives the interval)"
            raise ValueError(refusal("cost", cost, allowed))
        if not callable(cost):
            return self.moment(cost_power(cost))
        folded = lattice_cost(cost, self.epsilon, self.sensitivity, "moment(m) has no limit")
        return folded.mean(self.r)

    def interval(self, confidence: npt.ArrayLike) -> tuple[Floats, Floats]:
        """(-k, k) with the least k such that P(|X| <= k) >= confidence; nan outside [0, 1]."""
        given = np.asarray(confidence, dtype=np.float64)

        def reached(n: IntArray) -> BoolArray:
            tail = 2.0 * self._tail(Points(n, np.zeros(n.shape)))
            return np.where(given < 0.5, self._mass(n) >= given, tail <= 1.0 - given)

        k = self._first(1.0 - given, given, reached) - 1.0
        return (0.0 - k)[()], k[()]

    def support(self) -> tuple[float, float]:
        """All integers."""
        return -math.inf, math.inf

    def tradeoff(self, p_fa: npt.ArrayLike, shift: int | None = None) -> Floats:
        """The least missed-detection probability of an attacker with false-alarm probability p_fa.

        The attacker tells i from i + shift, an integer in 0..sensitivity (the default). Likelihood
        ratios are e^epsilon, 1 and e^-epsilon, so the curve is three lines: 1 - e^epsilon p,
        1 - TV - p and e^-epsilon (1 - p), TV the mass of the `shift` most central points.
        """
        alarm = floats("p_fa", p_fa, 0.0, 1.0)
        distance = self.sensitivity if shift is None else whole_shift(shift, self.sensitivity)
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

    @property
    def _scale(self) -> float:
        """D q."""
        return self.sensitivity * math.exp(-self.epsilon) / -math.expm1(-self.epsilon)

    @property
    def _peak(self) -> float:
        """2 rho = 1/P(X = 0)."""
        return 2 * self.r - 1 + 2.0 * self._scale

    def _place(self, at: Points) -> tuple[FloatArray, IntArray]:
        """k and j of |i| = k D + j; a k of inf or nan stands for i itself."""
        width = self.sensitivity
        step, rest = np.divmod(np.abs(np.maximum(at.near, -MOST)), width)
        size = np.abs(at.far)
        far_step, far_rest = np.divmod(np.where(size < np.inf, size, 0.0), float(width))
        far = size != 0.0
        step = np.where(far, np.where(size < np.inf, far_step, size), step)
        return step, np.where(far, np.minimum(far_rest, width - 1).astype(np.int64), rest)

    @np.errstate(all="ignore")
    def _level(self, i: npt.ArrayLike) -> FloatArray:
        step, rest = self._place(points(i))
        return step + (rest >= self.r)

    @np.errstate(all="ignore")
    def _tail(self, at: Points) -> FloatArray:
        """P(X >= i), i >= 0: b^k / (2 rho) times r - j + D q, or b (D - j + r + D q) if j >= r."""
        step, rest = self._place(at)
        scale, b = self._scale, math.exp(-self.epsilon)
        inner = (self.r - rest) + scale
        outer = b * ((self.sensitivity - rest) + self.r + scale)
        share = np.where(rest < self.r, inner, outer) / self._peak
        return np.asarray(decay(self.epsilon, step) * share)

    @np.errstate(all="ignore")
    def _mass(self, n: IntArray) -> FloatArray:
        """P(|X| < n), n >= 1, relatively accurate where it is small."""
        step, rest = np.divmod(n, self.sensitivity)
        below = math.exp(-self.epsilon) * np.maximum(rest - self.r, 0)
        part = (np.minimum(rest, self.r) - 0.5 + below) / (0.5 * self._peak)
        return np.asarray(-np.expm1(-self.epsilon * step) + np.exp(-self.epsilon * step) * part)

    def _steps_out(self, p: FloatArray, reached: Callable[[IntArray], BoolArray]) -> FloatArray:
        """How far from zero the quantile of p is, in either direction (+ 0.0 rids it of -0.0)."""
        tail = 2.0 * np.minimum(p, 1.0 - p)
        return self._first(tail, 1.0 - tail, reached) - 1.0

    @np.errstate(all="ignore")
    def _first(
        self, tail: FloatArray, mass: FloatArray, reached: Callable[[IntArray], BoolArray]
    ) -> FloatArray:
        """The least n >= 1 that is `reached`, near where P(|X| >= n) = tail = 1 - mass."""
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
        rho, b = 0.5 * self._peak, math.exp(-self.epsilon)
        log_tail = np.where(mass < 0.5, np.log1p(-mass), np.log(tail))
        step = np.maximum(np.floor((math.log1p(0.5 / rho) - log_tail) / self.epsilon), 0.0)
        log_u = log_tail + self.epsilon * step
        y = np.where((step == 0.0) & (mass < 0.5), rho * mass, -rho * np.expm1(log_u))
        left = self._scale - rho * np.exp(log_u) if self.epsilon > 1.0 else y - (self.r - 0.5)
        rest = np.where(left <= 0.0, y + 0.5, self.r + left / b)
        return np.asarray(step * self.sensitivity + np.clip(rest, 0.0, self.sensitivity))

    def _error(self, n: IntArray, tail: FloatArray, mass: FloatArray) -> IntArray:
        """How far n still has to go, by Newton."""
        at = Points(n, np.zeros(n.shape))
        excess = np.where(mass < 0.5, mass - self._mass(n), 2.0 * self._tail(at) - tail)
        width = excess / (2.0 * decay(self.epsilon, self._level(n)) / self._peak)
        limit = 1e-6 * self.sensitivity + 1e-12 * n  # beyond that the logarithm knew better
        return np.asarray(np.rint(np.clip(np.nan_to_num(width), -limit, limit)).astype(np.int64))
