"""The l2 Laplace laws: what `L2Laplace` and `MultiUserLaplace` would draw with real numbers.

Notation of docs/mathematics.md#l2-laplace: d the dimension, D the sensitivity. The density on R^d
is C e^(-epsilon ||v||_2 / D), C = (epsilon / 2D)^d pi^(-(d-1)/2) / Gamma((d+1)/2); the radius
||V||_2 is Gamma(d) distributed with scale D / epsilon, the direction uniform. As in `IdealLaplace`,
D / epsilon may overflow, so epsilon ||v|| / D is computed as epsilon (||v|| / D).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost, cost_power, moment_power
from fastnoise.design.quadrature import WrappedCost, array_cost
from fastnoise.ideal.l1_staircase import vectors
from fastnoise.ideal.laplace import IdealLaplace, log_peak
from fastnoise.ideal.steps import FloatArray, Floats
from fastnoise.validation import refusal, whole

LARGEST_COUNT = 2**40  # users: their number times dim is exact in a double
_LARGE = 24  # from here on Stirling's series below is right to 1e-16


@dataclass(frozen=True)
class GammaRadius:
    """The Gamma law of shape `shape` and scale sensitivity / epsilon: that of a sum of norms.

    >>> import fastnoise as fn
    >>> radius = fn.L2Laplace(epsilon=1.0, dim=2).radius
    >>> round(float(radius.sf(3.0)), 6), round(float(radius.isf(0.05)), 6)  # 4 e^-3
    (0.199148, 4.743865)
    """

    epsilon: float
    shape: int
    sensitivity: float

    def cdf(self, r: npt.ArrayLike) -> Floats:
        """P(R <= r), relatively accurate near 0; use `sf` far out."""
        return np.asarray(_special("gammainc")(float(self.shape), self._scaled(r)))[()]

    def sf(self, r: npt.ArrayLike) -> Floats:
        """P(R > r), relatively accurate however small it is."""
        return np.asarray(_special("gammaincc")(float(self.shape), self._scaled(r)))[()]

    def ppf(self, p: npt.ArrayLike) -> Floats:
        """The r with cdf(r) = p; inf at 1, nan outside [0, 1]."""
        return self._radius(_special("gammaincinv")(float(self.shape), _probability(p)))

    def isf(self, p: npt.ArrayLike) -> Floats:
        """The r with sf(r) = p, accurate however small p is."""
        return self._radius(_special("gammainccinv")(float(self.shape), _probability(p)))

    def moment(self, m: float) -> float:
        """E R^m = scale^m Gamma(shape + m) / Gamma(shape).

        Integers m up to 200, correctly rounded; other m up to 100, to 1e-13. inf on overflow.

        >>> import fastnoise as fn
        >>> fn.L2Laplace(epsilon=0.5, dim=3).radius.moment(2)  # 3 * 4 * 2**2
        48.0
        """
        power = moment_power(m)
        units, rest = int(power), power % 1.0
        rising = math.prod(range(self.shape, self.shape + units))
        scale = Fraction(self.sensitivity) / Fraction(self.epsilon)
        try:
            if not rest:
                return float(rising * scale**units)
            ratio = float(scale) ** rest * gamma_ratio(float(self.shape + units), rest)
            return float(rising * scale**units * Fraction(ratio))
        except OverflowError:
            return math.inf

    def mean(self, cost: Callable[[Any], Any]) -> float:
        """E cost(R), to about 1e-12, of a cost that does not decrease from 0 up."""
        return _Exponential().expected_cost(_MovedCost(cost, self))

    def _scaled(self, r: npt.ArrayLike) -> FloatArray:
        """r / scale, 0 for a negative r."""
        with np.errstate(all="ignore"):
            points = self.epsilon * (np.asarray(r, dtype=np.float64) / self.sensitivity)
        return np.maximum(points, 0.0)

    def _radius(self, z: Any) -> Floats:
        with np.errstate(all="ignore"):
            return (self.sensitivity * (np.asarray(z) / self.epsilon))[()]


class _Exponential(IdealLaplace):
    """|X| is exponential of mean 1."""

    epsilon = sensitivity = 1.0


class _MovedCost(WrappedCost):
    """The cost of R as one of an exponential variable z: at the R whose tail is that of z."""

    def __init__(self, cost: Callable[[Any], Any], radius: GammaRadius) -> None:
        self._given, self._cost, self._radius = cost, array_cost(cost), radius

    @np.errstate(under="ignore")
    def __call__(self, z: npt.ArrayLike) -> FloatArray:
        points = np.asarray(z, dtype=np.float64)
        small: FloatArray = self._radius.ppf(-np.expm1(-points))
        large: FloatArray = self._radius.isf(np.exp(-points))
        return self._cost(np.where(points < math.log(2.0), small, large))


class _Normed:
    """What the laws of one vector and of many users share: the scale and one user's density."""

    epsilon: float
    dim: int
    sensitivity: float

    @property
    def scale(self) -> float:
        """sensitivity / epsilon, the scale of the Gamma law of the radius."""
        return self.sensitivity / self.epsilon

    @np.errstate(all="ignore")
    def _log_density(self, points: FloatArray) -> FloatArray:
        """ln C - ||v||_2 / scale of vectors along the last axis."""
        largest = np.max(np.abs(points), axis=-1)
        unit = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
        norm = unit * np.sqrt(np.sum((points / unit[..., None]) ** 2, axis=-1))
        return np.asarray(self._log_peak - self.epsilon * (norm / self.sensitivity))

    @property
    def _log_peak(self) -> float:
        rest = 0.5 * (self.dim - 1) * math.log(math.pi) + math.lgamma(0.5 * (self.dim + 1))
        return self.dim * log_peak(self.epsilon, self.sensitivity) - rest

    def _expected_cost(self, cost: Cost, count: int) -> float:
        radius = GammaRadius(self.epsilon, count * self.dim, self.sensitivity)
        if isinstance(cost, tuple):
            why = "radius has the quantiles"
            raise ValueError(refusal("cost", cost, "a cost of the noise", why))
        if callable(cost):
            return radius.mean(cost)
        if cost == "l1":
            return self._absolute_sum(count)
        return self._mse(count) if cost == "l2" else radius.moment(cost_power(cost))

    def _absolute_sum(self, count: int) -> float:
        """count * d E|V_1|, E|V_1| = scale (2 / sqrt(pi)) Gamma(d/2 + 1) / Gamma((d+1)/2)."""
        ratio = 2.0 / math.sqrt(math.pi) * gamma_ratio(0.5 * (self.dim + 1), 0.5)
        return count * self.dim * ratio * self.scale

    def _mse(self, count: int) -> float:
        """count * d (d+1) scale^2."""
        return GammaRadius(self.epsilon, self.dim, self.sensitivity).moment(2) * count


class IdealL2Laplace(_Normed):
    """Density, costs and radius of the law (epsilon, dim, sensitivity).

    A mixin: the class that inherits it has these three attributes.

    >>> import fastnoise as fn
    >>> law = fn.L2Laplace(epsilon=1.0, dim=2)
    >>> round(float(law.logpdf([3.0, 4.0])), 6)  # -ln(2 pi) - 5
    -6.837877
    """

    @property
    def radius(self) -> GammaRadius:
        """The law of ||V||_2."""
        return GammaRadius(self.epsilon, self.dim, self.sensitivity)

    def logpdf(self, v: npt.ArrayLike) -> Floats:
        """ln of the density at vectors `v`, which lie along the last axis; -inf at infinity."""
        return self._log_density(vectors(v, self.dim))[()]

    def mse(self) -> float:
        """E ||V||_2^2 = d (d+1) scale^2."""
        return self._mse(1)

    def expected_cost(self, cost: Cost) -> float:
        """E ||V||_1 for "l1", E ||V||_2^2 for "l2", E ||V||_2^m for a number m, or a callable.

        A callable is a cost of ||V||_2: it is evaluated at numbers >= 0 and integrated to 1e-12.
        """
        return self._expected_cost(cost, 1)


class IdealMultiUserLaplace(_Normed):
    """Density and costs of the law (epsilon, dim, sensitivity) of n users, a matrix (n, dim).

    A mixin: the class that inherits it has these three attributes.

    >>> import fastnoise as fn
    >>> fn.MultiUserLaplace(epsilon=2.0, dim=2).mse(10)  # n d (d+1) scale^2
    15.0
    """

    def radius(self, n: int) -> GammaRadius:
        """The law of the sum of the n users' ||V_i||_2."""
        return GammaRadius(self.epsilon, _users(n) * self.dim, self.sensitivity)

    def logpdf(self, v: npt.ArrayLike) -> Floats:
        """ln of the density at matrices `v` of shape (..., n, dim); -inf at infinity."""
        points = np.asarray(v, dtype=np.float64)
        if points.ndim < 2 or points.shape[-1] != self.dim:
            allowed = f"of shape (..., n, {self.dim}), one user per row"
            raise ValueError(refusal("v", v, allowed))
        return np.sum(self._log_density(points), axis=-1)[()]

    def mse(self, n: int) -> float:
        """E of the sum of squares of all n * dim numbers: n d (d+1) scale^2."""
        return self._mse(_users(n))

    def expected_cost(self, cost: Cost, n: int) -> float:
        """E cost of the noise of n users.

        "l1": the sum of all |v|; "l2": the sum of all v^2; a number m, or a callable, which is
        evaluated at numbers >= 0 and integrated to 1e-12: of the sum of the n users' ||V_i||_2.
        """
        return self._expected_cost(cost, _users(n))


def gamma_ratio(a: float, part: float) -> float:
    """Gamma(a + part) / Gamma(a), a > 0 and 0 <= part < 1, to 1e-15."""
    factor = 1.0
    while a < _LARGE:
        factor *= a / (a + part)
        a += 1.0
    log = (a - 0.5) * math.log1p(part / a) - part + _stirling(a + part) - _stirling(a)
    return factor * math.pow(a + part, part) * math.exp(log)


def _special(name: str) -> Any:
    """A function of scipy, which is imported when it is asked for."""
    return getattr(import_module("scipy.special"), name)


def _users(n: Any) -> int:
    return whole("n", n, 1, LARGEST_COUNT)


def _probability(p: npt.ArrayLike) -> FloatArray:
    given = np.asarray(p, dtype=np.float64)
    return np.where((given >= 0.0) & (given <= 1.0), given, np.nan)


def _stirling(z: float) -> float:
    """ln Gamma(z) - (z - 1/2) ln z + z - ln(2 pi)/2, z >= 24."""
    square = 1.0 / (z * z)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / z
