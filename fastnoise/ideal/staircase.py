"""The continuous staircase law itself: what `Staircase` would draw with real numbers.

Notation of Geng's dissertation, chapter 2: D the sensitivity, b = e^-epsilon, q = b/(1-b). The
density is a b^lev(x), where lev counts the edges (j+gamma) D, j >= 0, at or below |x|, and
a = 1/(2 D (gamma+q)).

Relative accuracy is kept in both tails, from epsilon 1e-8 to 100: formulas have positive terms
only, remainders and step edges are exact, and b^k is split so that k * epsilon does not round.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.arithmetic.floats import float_toward
from fastnoise.design.gamma import moment_power
from fastnoise.design.moments import (
    LARGEST_REAL_EPSILON,
    inner_odds,
    integer_moment,
    outer_mass,
    real_moment,
)
from fastnoise.design.quadrature import FoldedCost, refuse_epsilon
from fastnoise.design.real_power import real_radial_moment
from fastnoise.ideal.steps import FloatArray, Floats, LineLaw, decay, least_missed, split
from fastnoise.validation import floats


class _Place(NamedTuple):
    """|x| = step * D + rest with 0 <= rest < D; `gap` is gamma * D - rest, its sign exact."""

    step: FloatArray
    rest: FloatArray
    gap: FloatArray


class IdealStaircase(LineLaw):
    """Density, quantiles, moments and privacy curves of the law (epsilon, sensitivity, gamma).

    A mixin: the class that inherits it has these three attributes. gamma = 0 is the law of
    gamma = 1. Functions mean what they mean in SciPy: arrays broadcast, NaN propagates.

    >>> import fastnoise as fn
    >>> law = fn.Staircase(epsilon=1.0, sensitivity=1.0, gamma=0.5)
    >>> float(law.cdf(0.0)), float(law.ppf(0.5))
    (0.5, 0.0)
    """

    epsilon: float
    sensitivity: float
    gamma: float

    @np.errstate(all="ignore")
    def pdf(self, x: npt.ArrayLike) -> Floats:
        """The density: constant on steps, the edge (j+gamma) D belongs to the lower one."""
        factors = self._fall, self._base, self.sensitivity
        (fall, a), (base, b), (width, c) = map(math.frexp, factors)
        # b^lev as a square and the powers of two in halves: neither over- nor underflows alone
        exponent, root = a - b - c - 1, decay(self.epsilon, 0.5 * self._level(x))
        rest = np.ldexp(root * (fall / base / width), exponent - exponent // 2)
        return np.asarray(np.ldexp(root, exponent // 2) * rest)[()]

    @np.errstate(all="ignore")
    def logpdf(self, x: npt.ArrayLike) -> Floats:
        """ln a - epsilon lev(x); -inf at +-inf."""
        peak = math.log(self._fall) - math.log(self._base)
        peak -= math.log(2.0) + math.log(self.sensitivity)
        return np.asarray(peak - self.epsilon * self._level(x))[()]

    def moment(self, m: float) -> float:
        """E|X|^m = D^m M_{m+1}(gamma) / ((m+1) M_1(gamma)), M_n(x) = E(G+x)^n, G geometric.

        Integers m up to 200, correctly rounded; other m up to 100, to 1e-13. inf on overflow.

        >>> import fastnoise as fn
        >>> fn.Staircase(epsilon=2.0, sensitivity=3.0).moment(1)  # 3 / (2 sinh 1)
        1.2763771923589824
        """
        power = moment_power(m)
        law = self.epsilon, self.sensitivity, self._gamma
        if isinstance(power, int):
            return integer_moment(*law, power)
        if self.epsilon > LARGEST_REAL_EPSILON:
            return real_radial_moment(self.epsilon, 1, self.sensitivity, self._gamma, power)
        return real_moment(*law, power)

    def _mean_of(self, cost: Callable[[Any], Any]) -> float:
        """Integrated step by step."""
        refuse_epsilon(self.epsilon, "moment(m) has no limit")
        gamma = self._gamma
        breaks = (0.0, gamma, 1.0) if gamma < 1.0 else (0.0, 1.0)
        folded = FoldedCost(cost, self.epsilon, self.sensitivity, breaks)
        top = folded.mean(gamma) * (gamma * self._fall / self._base)
        return folded.at_zero + top + outer_mass(self.epsilon, gamma) * folded.total

    def tradeoff(self, p_fa: npt.ArrayLike, shift: float | None = None) -> Floats:
        """The least missed-detection probability of an attacker with false-alarm probability p_fa.

        The attacker tells x from x + shift, 0 <= shift <= sensitivity (the default). Likelihood
        ratios are e^epsilon, 1 and e^-epsilon, so the curve is three lines: 1 - e^epsilon p,
        P(|X| > shift/2) - p and e^-epsilon (1 - p). At gamma = 1/2 and a full shift it is the whole
        epsilon-DP region of Geng's dissertation, section 2.1.
        """
        alarm = floats("p_fa", p_fa, 0.0, 1.0)
        distance = self._apart(shift)
        overlap = self._tail(np.array(0.5 * distance))
        return least_missed(self.epsilon, alarm, overlap)[()]

    @np.errstate(under="ignore")
    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """The least delta for which the law is (epsilon, delta)-DP: A (1 - e^(epsilon - own))^+.

        A = P(|X| <= D/2) / (1-b): 1/2 at gamma 0 and 1, 1/(1+b) at gamma 1/2. Zero from the law's
        own epsilon on.
        """
        asked = floats("epsilon", epsilon, 0.0, math.inf)
        gamma, b = self._gamma, math.exp(-self.epsilon)
        centre = 0.5 if gamma >= 0.5 else gamma + b * (0.5 - gamma)
        share = centre / self._base
        return (0.0 - share * np.expm1(np.minimum(asked - self.epsilon, 0.0)))[()]

    @property
    def _gamma(self) -> float:
        return self.gamma or 1.0

    @property
    def _fall(self) -> float:
        """1-b."""
        return -math.expm1(-self.epsilon)

    @property
    def _base(self) -> float:
        """(1-b)(gamma+q) = gamma + b(1-gamma): in (0, 1], where q itself may be infinite."""
        return self._gamma + math.exp(-self.epsilon) * (1.0 - self._gamma)

    @np.errstate(all="ignore")
    def _place(self, radius: FloatArray) -> _Place:
        width, gamma = self.sensitivity, self._gamma
        edge = gamma * width
        slip = Fraction(gamma) * Fraction(width) - Fraction(edge)
        step, rest = np.divmod(radius, width)
        away = float_toward(slip, math.copysign(math.inf, slip))  # never to 0: its sign counts
        return _Place(step, rest, (edge - rest) + away)

    def _level(self, x: npt.ArrayLike) -> FloatArray:
        radius = np.abs(np.asarray(x, dtype=np.float64))
        place = self._place(radius)
        return np.where(np.isinf(radius), np.inf, place.step + (place.gap <= 0.0))

    @np.errstate(all="ignore")
    def _tail(self, radius: FloatArray) -> FloatArray:
        """P(|X| > radius)."""
        width, gamma, b = self.sensitivity, self._gamma, math.exp(-self.epsilon)
        step, rest, gap = self._place(radius)
        outer = outer_mass(self.epsilon, gamma)
        used = rest / width * self._fall / self._base
        left = gap / width / self._base + outer * (1.0 - gamma + rest / width)
        on_top = np.where(used < 0.5, 1.0 - used, left)
        below = outer * ((width - rest) / width + gamma - b * gap / width)
        tail = decay(self.epsilon, step) * np.where(gap >= 0.0, on_top, below)
        return np.where(np.isinf(radius), 0.0, np.minimum(tail, 1.0))

    @np.errstate(all="ignore")
    def _radius(self, tail: FloatArray, mass: FloatArray) -> FloatArray:
        """The r with P(|X| > r) = tail = 1 - mass; both are given, each is exact where small.

        With tail = b^k v, b < v <= 1, r/D - k is (1-v) D0/(1-b) up to gamma and
        gamma + (1 - v/rho)/(1-b) beyond. An off-by-one k at an edge is clipped away.
        """
        gamma = self._gamma
        log_tail = np.where(mass < 0.5, np.log1p(-mass), np.log(tail))
        step = np.floor(-log_tail / self.epsilon)
        used, used_outer = self._used(log_tail, tail, mass, step)
        top = used * self._base / self._fall
        below = gamma + used_outer / self._fall
        part = np.clip(np.where(used_outer > 0.0, below, top), 0.0, 1.0)
        far = -log_tail * (self.sensitivity / self.epsilon)  # where steps are beyond all floats
        radius = np.where(np.isinf(step), far, self.sensitivity * (step + part))
        radius = np.where(tail == 0.0, np.inf, radius)
        return np.where((tail >= 0.0) & (mass >= 0.0), radius, np.nan)

    def _used(
        self, log_tail: FloatArray, tail: FloatArray, mass: FloatArray, step: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """1 - v and 1 - v/rho, v = tail / b^step, without cancellation where they are small."""
        high, low = split(self.epsilon)
        odds = inner_odds(self.epsilon, self._gamma)  # 1/rho - 1
        if self.epsilon < 1.0:
            log_v = (log_tail + high * step) + low * step
            return -np.expm1(log_v), -np.expm1(log_v + math.log1p(odds))
        root = np.exp(0.5 * high * step)  # b^-step in halves: it overflows for a subnormal tail
        v = tail * root * np.exp(low * step) * root
        used = np.where(step == 0.0, mass, 1.0 - v)
        return used, np.where(step == 0.0, mass - odds * tail, 1.0 - v * (1.0 + odds))
