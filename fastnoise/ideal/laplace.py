"""The Laplace law itself: what `Laplace` would draw with real numbers.

D is the sensitivity; the density is e^(-epsilon |x| / D) epsilon / (2 D). epsilon |x| / D is always
computed as epsilon (|x| / D): D / epsilon may overflow and epsilon / D lose digits to underflow.
"""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import moment_power
from fastnoise.design.quadrature import FoldedCost
from fastnoise.ideal.steps import FloatArray, Floats, LineLaw
from fastnoise.validation import floats


def log_peak(epsilon: float, sensitivity: float) -> float:
    """ln(epsilon / (2 D)), of the ratio where it is a normal float: that is right near 1."""
    peak = 0.5 * epsilon / sensitivity
    if sys.float_info.min <= peak < math.inf:
        return math.log(peak)
    return math.log(epsilon) - math.log(2.0) - math.log(sensitivity)


class IdealLaplace(LineLaw):
    """Density, quantiles, moments and privacy curves of the law (epsilon, sensitivity).

    A mixin: the class that inherits it has these two attributes. Functions mean what they mean in
    SciPy: arrays broadcast, NaN propagates.

    >>> import fastnoise as fn
    >>> law = fn.Laplace(epsilon=0.5, sensitivity=2.0)
    >>> law.scale, float(law.pdf(0.0)), float(law.cdf(0.0))
    (4.0, 0.125, 0.5)
    """

    epsilon: float
    sensitivity: float

    @property
    def scale(self) -> float:
        """E|X| = sensitivity / epsilon."""
        return self.sensitivity / self.epsilon

    @np.errstate(all="ignore")
    def pdf(self, x: npt.ArrayLike) -> Floats:
        """The density e^(-|x| / scale) / (2 scale)."""
        root = np.exp(-0.5 * self._scaled(x))  # twice: e^-z underflows where e^-z / D does not
        return (root * self.epsilon / self.sensitivity * (0.5 * root))[()]

    @np.errstate(all="ignore")
    def logpdf(self, x: npt.ArrayLike) -> Floats:
        """-|x| / scale - ln(2 scale); -inf at +-inf."""
        return (log_peak(self.epsilon, self.sensitivity) - self._scaled(x))[()]

    def moment(self, m: float) -> float:
        """E|X|^m = scale^m Gamma(m+1).

        Integers m up to 200, correctly rounded; other m up to 100, to 1e-13. inf on overflow.

        >>> import fastnoise as fn
        >>> fn.Laplace(epsilon=0.5, sensitivity=2.0).moment(3)
        384.0
        """
        power = moment_power(m)
        whole = isinstance(power, int)
        return self._integer_moment(int(power)) if whole else self._real_moment(power)

    def _mean_of(self, cost: Callable[[Any], Any]) -> float:
        """Integrated scale by scale, whatever epsilon is."""
        folded = _ExponentialCost(cost, 1.0, self.scale)
        return folded.at_zero + folded.total

    @np.errstate(all="ignore")
    def tradeoff(self, p_fa: npt.ArrayLike, shift: float | None = None) -> Floats:
        """The least missed-detection probability of an attacker with false-alarm probability p_fa.

        The attacker tells x from x + shift, 0 <= shift <= sensitivity (the default). With
        e = epsilon shift / sensitivity the curve is 1 - e^e p up to p = e^-e / 2, e^-e / (4 p) up
        to p = 1/2 and e^-e (1 - p) from there on.
        """
        alarm = floats("p_fa", p_fa, 0.0, 1.0)
        distance = self._apart(shift)
        loss = self.epsilon * (distance / self.sensitivity)
        root = math.exp(-0.5 * loss) / (2.0 * np.sqrt(alarm))  # e^-e alone underflows at 745
        middle = np.where(alarm > 0.0, root * root, np.inf)
        curve = np.where(middle > 0.5, 1.0 - 0.25 / middle, middle)
        return np.where(alarm < 0.5, curve, math.exp(-loss) * (1.0 - alarm))[()]

    @np.errstate(under="ignore")
    def delta_at(self, epsilon: npt.ArrayLike) -> Floats:
        """The least delta for which the law is (epsilon, delta)-DP: (1 - e^((epsilon - own)/2))^+.

        Zero from the law's own epsilon on.
        """
        asked = floats("epsilon", epsilon, 0.0, math.inf)
        return (0.0 - np.expm1(0.5 * np.minimum(asked - self.epsilon, 0.0)))[()]

    def _scaled(self, x: npt.ArrayLike) -> FloatArray:
        """|x| / scale."""
        return self.epsilon * (np.abs(np.asarray(x, dtype=np.float64)) / self.sensitivity)

    @np.errstate(all="ignore")
    def _tail(self, size: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-self._scaled(size)))

    @np.errstate(all="ignore")
    def _radius(self, tail: FloatArray, mass: FloatArray) -> FloatArray:
        """The r with P(|X| > r) = tail = 1 - mass; both are given, each is exact where small."""
        log_tail = np.where(mass < 0.5, np.log1p(-mass), np.log(tail))
        steps = -log_tail / self.epsilon
        far = -log_tail * (self.sensitivity / self.epsilon)  # where steps are beyond all floats
        radius = np.where(np.isinf(steps) & (tail > 0.0), far, self.sensitivity * steps)
        return np.where((tail >= 0.0) & (mass >= 0.0), radius, np.nan)

    def _integer_moment(self, m: int) -> float:
        scale = Fraction(self.sensitivity) / Fraction(self.epsilon)
        try:
            return float(math.factorial(m) * scale**m)
        except OverflowError:
            return math.inf

    @np.errstate(over="ignore", under="ignore")
    def _real_moment(self, m: float) -> float:
        root = np.float64(self.scale) ** (0.5 * m)  # in two halves: Gamma may keep it from 0
        return float(math.gamma(m + 1.0) * root * root)


class _ExponentialCost(FoldedCost):
    """A cost folded onto one scale, with noise that decays inside it too: at epsilon 1.

    Noise that is uniform on each step becomes exponential where the point at t of a step is moved
    to -ln(1 - (1 - 1/e) t), which leaves the ends of the step in place.

    The rules of `FoldedCost` do not look at the last 0.2 % of a piece and, being symmetric, agree
    on jumps that are: one that has nodes at both ends and is not symmetric has to agree, too.
    """

    def _excess(self, x: FloatArray) -> FloatArray:
        step = np.floor(x)
        return super()._excess(step - np.log1p(math.expm1(-1.0) * (x - step)))
