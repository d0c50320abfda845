"""The staircase law of the l1 norm: what `L1Staircase` would draw with real numbers.

Notation of docs/mathematics.md#norm-ball-staircase: d the dimension, D the sensitivity, b =
e^-epsilon, G geometric, M_n(x) = E (G+x)^n. The density is b^lev(x) d! / ((2 D)^d M_d(gamma)),
where lev counts the edges (j+gamma) D, j >= 0, at or below ||x||_1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost, cost_power, moment_power
from fastnoise.design.radial_gamma import RadialCost
from fastnoise.design.real_power import real_radial_moment
from fastnoise.ideal.layers import Layers, layers
from fastnoise.ideal.staircase import IdealStaircase
from fastnoise.ideal.steps import FloatArray, Floats
from fastnoise.validation import refusal


@dataclass(frozen=True)
class StaircaseRadius:
    """The law of ||X||, X a draw of the staircase of that norm in `dim` dimensions.

    Given the layer k it is (k + gamma) * sensitivity * U**(1/dim), U uniform; see `layer_pmf`.

    >>> import fastnoise as fn
    >>> radius = fn.L1Staircase(epsilon=1.0, dim=2, gamma=0.5).radius
    >>> round(float(radius.sf(3.0)), 6), round(float(radius.isf(0.05)), 6)
    (0.204334, 4.732012)
    """

    epsilon: float
    dim: int
    sensitivity: float
    gamma: float

    def cdf(self, r: npt.ArrayLike) -> Floats:
        """P(||X|| <= r), relatively accurate near 0; use `sf` far out."""
        return self._share(self._layers.mass, r, 0.0)

    def sf(self, r: npt.ArrayLike) -> Floats:
        """P(||X|| > r), relatively accurate however small it is."""
        return self._share(self._layers.tail, r, 1.0)

    @np.errstate(all="ignore")
    def _share(self, of: Callable[..., FloatArray], r: npt.ArrayLike, at_zero: float) -> Floats:
        points = np.asarray(r, dtype=np.float64)
        share = of(*self._place(np.maximum(points, 0.0)))
        share = np.where(points > 0.0, share, np.where(points <= 0.0, at_zero, points))
        return np.where(np.isposinf(points), 1.0 - at_zero, share)[()]

    def ppf(self, p: npt.ArrayLike) -> Floats:
        """The r with cdf(r) = p; inf at 1, nan outside [0, 1]."""
        mass = np.asarray(p, dtype=np.float64)
        return self._quantile(1.0 - mass, mass)

    def isf(self, p: npt.ArrayLike) -> Floats:
        """The r with sf(r) = p, accurate however small p is."""
        tail = np.asarray(p, dtype=np.float64)
        return self._quantile(tail, 1.0 - tail)

    def moment(self, m: float) -> float:
        """E ||X||^m = D^m d/(d+m) M_{d+m}(gamma) / M_d(gamma), correctly rounded; inf on overflow.

        m is an integer up to 200, or a number up to 100.
        """
        power = moment_power(m)
        if isinstance(power, int):
            return self.scaled_moment(power, Fraction(self.dim, self.dim + power))
        return real_radial_moment(self.epsilon, self.dim, self.sensitivity, self._line.gamma, power)

    def scaled_moment(self, m: int, factor: Fraction) -> float:
        """factor * D^m M_{d+m}(gamma) / M_d(gamma)."""
        return self._layers.moment(self._line.gamma, m, self.sensitivity, factor)

    def layer_pmf(self, k: npt.ArrayLike) -> Floats:
        """The probability w_k that a draw is uniform on the ball of radius (k+gamma) D.

        (1-b) b^k (k+gamma)^d / M_d(gamma); 0 where k is not an integer >= 0.
        """
        shift = 0.0 if self.gamma else 1.0  # layer 0 is empty, and layer 1 that of gamma 1
        return self._layers.pmf(np.asarray(k, dtype=np.float64) - shift)[()]

    @np.errstate(all="ignore")
    def log_density(self, norm: FloatArray, log_unit: float) -> Floats:
        """ln of the density at that norm, log_unit that of the volume of the unit ball."""
        level = self._line._level(norm)
        peak = log_unit + self.dim * math.log(self.sensitivity) + self._layers.log_volume
        return np.asarray(-self.epsilon * level - peak)[()]

    @property
    def _layers(self) -> Layers:
        return layers(self.epsilon, (self._line.gamma,) * self.dim)

    @property
    def _line(self) -> "_Line":
        return _Line(self.epsilon, self.sensitivity, self.gamma or 1.0)

    def _place(self, radius: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The radius, the first layer that reaches to it, and how far beyond, over D."""
        step, rest, gap = self._line._place(radius)
        inner = gap > 0.0
        beyond = np.where(
            inner, gap, (self.sensitivity - rest) + self._line.gamma * self.sensitivity
        )
        layer = np.where(inner, step, step + 1.0)
        return radius / self.sensitivity, layer, beyond / self.sensitivity

    def _quantile(self, tail: FloatArray, mass: FloatArray) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return (self.sensitivity * self._layers.quantile(tail, mass))[()]


@dataclass(frozen=True)
class _Line(IdealStaircase):
    """Where the steps are, for which the dimension does not matter."""

    epsilon: float
    sensitivity: float
    gamma: float


class IdealL1Staircase:
    """Density, costs and radius of the law (epsilon, dim, sensitivity, gamma).

    A mixin: the class that inherits it has these four attributes. gamma = 0 is the law of
    gamma = 1.

    >>> import fastnoise as fn
    >>> law = fn.L1Staircase(epsilon=1.0, dim=2, gamma=0.5)
    >>> round(float(law.logpdf([0.2, -0.1])), 6)
    -1.430956
    """

    epsilon: float
    dim: int
    sensitivity: float
    gamma: float

    @property
    def radius(self) -> StaircaseRadius:
        """The law of ||X||_1."""
        return StaircaseRadius(self.epsilon, self.dim, self.sensitivity, self.gamma)

    def logpdf(self, v: npt.ArrayLike) -> Floats:
        """ln of the density at vectors `v`, which lie along the last axis.

        Constant on steps, the edge ||v||_1 = (j+gamma) D belongs to the lower one; -inf at
        infinity.
        """
        with np.errstate(over="ignore"):
            norm = np.sum(np.abs(vectors(v, self.dim)), axis=-1)
        log_unit = self.dim * math.log(2.0) - math.lgamma(self.dim + 1.0)
        return self.radius.log_density(norm, log_unit)

    def mse(self) -> float:
        """E ||X||_2^2 = 2d / ((d+1)(d+2)) D^2 M_{d+2} / M_d."""
        factor = Fraction(2 * self.dim, (self.dim + 1) * (self.dim + 2))
        return self.radius.scaled_moment(2, factor)

    def layer_pmf(self, k: npt.ArrayLike) -> Floats:
        """The probability that a draw is uniform on the l1 ball of radius (k+gamma) D."""
        return self.radius.layer_pmf(k)

    @np.errstate(under="ignore")
    def expected_cost(self, cost: Cost) -> float:
        """E ||X||_1 for "l1", E ||X||_2^2 for "l2", E ||X||_1^m for a number m, or a callable.

        A callable is a cost of ||X||_1: it is evaluated at numbers >= 0, integrated to about 1e-12
        and needs an epsilon from 1e-3 to 700 and a dim up to 64.
        """
        if isinstance(cost, tuple):
            why = "radius.ppf(confidence) gives the radius"
            raise ValueError(refusal("cost", cost, "a cost of the noise", why))
        if callable(cost):
            gamma = self.gamma or 1.0
            breaks = (0.0, gamma, 1.0) if gamma < 1.0 else (0.0, 1.0)
            law = self.epsilon, self.dim, self.sensitivity
            return RadialCost(cost, *law, "radius.moment(m) has no limit", breaks).mean(gamma)
        return self.mse() if cost == "l2" else self.radius.moment(cost_power(cost))


def vectors(v: npt.ArrayLike, dim: int) -> FloatArray:
    """`v` as an array whose last axis has `dim` elements."""
    points = np.asarray(v, dtype=np.float64)
    if points.ndim == 0 or points.shape[-1] != dim:
        raise ValueError(refusal("v", v, f"of shape (..., {dim}), one vector along the last axis"))
    return points
