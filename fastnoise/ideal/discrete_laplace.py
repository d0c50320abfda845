"""The Laplace law on the integers: what `DiscreteLaplace` draws.

D is the sensitivity and l = e^(-epsilon / D); the probability of i is l^|i| (1-l) / (1+l). That is
the discrete staircase whose steps are single integers, so probabilities, quantiles and moments are
those of `IdealDiscreteStaircase` at epsilon / D and sensitivity 1. Only the attacker, who is D
apart, is new.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost
from fastnoise.design.radius import lattice_cost
from fastnoise.ideal.discrete_staircase import IdealDiscreteStaircase
from fastnoise.ideal.steps import SymmetricLaw, whole_shift
from fastnoise.validation import floats

FloatArray = npt.NDArray[np.float64]
Floats = Any  # a float64 where the argument is a scalar, else an array of its shape


@dataclass(frozen=True)
class _Steps(IdealDiscreteStaircase):
    """A step at every integer."""

    epsilon: float
    sensitivity: int = 1
    r: int = 1


class IdealDiscreteLaplace(SymmetricLaw):
    """Probabilities, quantiles, moments and privacy curves of the law (epsilon, sensitivity).

    A mixin: the class that inherits it has these two attributes. Functions mean what they mean in
    SciPy for a law on the integers: arrays broadcast, NaN propagates, between two integers the cdf
    is that of the lower one.

    >>> import fastnoise as fn
    >>> law = fn.DiscreteLaplace(epsilon=1.0, sensitivity=10)
    >>> float(law.ppf(0.5)), round(float(law.cdf(0)) + float(law.sf(0)), 15)
    (0.0, 1.0)
    """

    epsilon: float
    sensitivity: int

    @property
    def scale(self) -> float:
        """sensitivity / epsilon, which E|X| = 1 / sinh(epsilon / sensitivity) tends to."""
        return self.sensitivity / self.epsilon

    def pmf(self, i: npt.ArrayLike) -> Floats:
        """P(X = i); 0 where i is no integer."""
        return self._steps.pmf(i)

    def logpmf(self, i: npt.ArrayLike) -> Floats:
        """ln P(X = i); -inf at +-inf and where i is no integer."""
        return self._steps.logpmf(i)

    def cdf(self, i: npt.ArrayLike) -> Floats:
        """P(X <= i), relatively accurate in the lower tail; use `sf` in the upper one."""
        return self._steps.cdf(i)

    def sf(self, i: npt.ArrayLike) -> Floats:
        """P(X > i), relatively accurate in the upper tail."""
        return self._steps.sf(i)

    def ppf(self, p: npt.ArrayLike) -> Floats:
        """The least i with cdf(i) >= p; +-inf at 1 and 0, nan outside [0, 1].

        Where i has 13 digits or more, it is right to the last digit or two of a float.
        """
        return self._steps.ppf(p)

    def isf(self, p: npt.ArrayLike) -> Floats:
        """The least i with sf(i) <= p, accurate however small p is."""
        return self._steps.isf(p)

    def moment(self, m: float) -> float:
        """E|X|^m to 1e-13: integers m up to 200, other m up to 100. inf on overflow."""
        return self._steps.moment(m)

    def expected_cost(self, cost: Cost) -> float:
        """E cost(X) for "l1", "l2", a power m, or a callable, which is evaluated at i >= 0.

        A callable is summed to about 1e-13; it needs epsilon >= 1e-3 and a sensitivity up to 10000.
        """
        if not callable(cost):
            return self._steps.expected_cost(cost)
        folded = lattice_cost(cost, self.epsilon, self.sensitivity, "moment(m) has no limit")
        with np.errstate(under="ignore"):
            inside = np.sum(self._power(np.arange(self.sensitivity)) * folded.values)
        return folded.at_zero + float(2.0 * self.pmf(0) / -math.expm1(-self.epsilon) * inside)

    def interval(self, confidence: npt.ArrayLike) -> tuple[Floats, Floats]:
        """(-k, k) with the least k such that P(|X| <= k) >= confidence; nan outside [0, 1]."""
        return self._steps.interval(confidence)

    def support(self) -> tuple[float, float]:
        """All integers."""
        return self._steps.support()

    @np.errstate(all="ignore")
    def tradeoff(self, p_fa: npt.ArrayLike, shift: int | None = None) -> Floats:
        """The least missed-detection probability of an attacker with false-alarm probability p_fa.

        The attacker tells i from i + shift, an integer in 0..sensitivity (the default). The curve
        is the highest of the lines l^(shift-t) (1 - p l^-t), t = 0..shift: they meet where p is
        P(X >= t), 0 < t <= shift, and a missed detection has probability P(X <= t - 1 - shift).
        """
        alarm = floats("p_fa", p_fa, 0.0, 1.0)
        distance = self.sensitivity if shift is None else whole_shift(shift, self.sensitivity)
        rate = self.epsilon / self.sensitivity
        place = np.floor((-np.log(alarm) - math.log1p(math.exp(-rate))) / rate)

        def line(t: FloatArray) -> FloatArray:
            root = self._power(0.5 * t)  # l^t underflows where p l^-t does not
            share = np.where(alarm > 0.0, alarm / root / root, 0.0)
            return np.asarray(self._power(distance - t) * (1.0 - np.minimum(share, 1.0)))

        # one to either side as well: rounding may put p on the wrong side of P(X >= t)
        nearby = [line(np.clip(place + step, 0.0, distance)) for step in (-1.0, 0.0, 1.0)]
        return np.maximum.reduce(nearby)[()]

    @np.errstate(under="ignore")
    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """The least delta for which the law is (epsilon, delta)-DP.

        With e = own - epsilon > 0 and k = floor(e D / (2 own)) it is
        (1 - e^-e l^-k + l (1 - l^k)) / (1 + l): the excess 1 - y - e^epsilon p of the trade-off
        curve at p = P(X >= D - k), where its slope passes e^epsilon. Zero from the law's own
        epsilon on.
        """
        asked = floats("epsilon", epsilon, 0.0, math.inf)
        rate = self.epsilon / self.sensitivity
        left = np.maximum(self.epsilon - asked, 0.0)
        inner = rate * np.floor(0.5 * left / rate)
        lam = math.exp(-rate)
        return (0.0 - (np.expm1(inner - left) + lam * np.expm1(-inner)) / (1.0 + lam))[()]

    @property
    def _steps(self) -> _Steps:
        return _Steps(self.epsilon / self.sensitivity)

    def _power(self, t: Any) -> FloatArray:
        """l^t, exactly e^-epsilon at t = D."""
        return np.asarray(np.exp(-self.epsilon * (t / self.sensitivity)))
