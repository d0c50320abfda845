"""What symmetric laws share, and what those on the line do; steps that fall by e^-epsilon each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.design.gamma import Cost, cost_power
from fastnoise.validation import number, refusal

FloatArray = npt.NDArray[np.float64]
Floats = Any  # a float64 where the argument is a scalar, else an array of its shape


class SymmetricLaw(ABC):
    """A law that is the same on both sides of 0."""

    @abstractmethod
    def moment(self, m: float) -> float:
        """E|X|^m."""

    def mean(self) -> float:
        """0, by symmetry."""
        return 0.0

    def var(self) -> float:
        """E X^2."""
        return self.moment(2)

    def std(self) -> float:
        """The square root of `var`."""
        return math.sqrt(self.var())

    @np.errstate(under="ignore")
    def expected_cost(self, cost: Cost) -> float:
        """E cost(X) for "l1", "l2", a power m, or a callable, which is evaluated at x >= 0.

        A callable is summed or integrated to about 1e-13. Staircases and `DiscreteLaplace` need
        epsilon >= 1e-3 for that, on the integers a sensitivity up to 10,000 as well; a law that
        ends may have 10,000,000 integers on each side.

        >>> import fastnoise as fn
        >>> round(fn.Laplace(epsilon=1.0).expected_cost(lambda x: x > 3.0), 12)  # e^-3
        0.049787068368
        """
        if isinstance(cost, tuple):
            why = "interval(confidence) gives the interval"
            raise ValueError(refusal("cost", cost, "a cost of the noise", why))
        return self._mean_of(cost) if callable(cost) else self.moment(cost_power(cost))

    @abstractmethod
    def _mean_of(self, cost: Callable[[Any], Any]) -> float:
        """E cost(X)."""

    def support(self) -> tuple[float, float]:
        """The least and the largest number with a probability."""
        return -math.inf, math.inf


class LineLaw(SymmetricLaw):
    """A symmetric law on the real line, known by its two-sided tail and the inverse of that."""

    sensitivity: float

    @abstractmethod
    def _tail(self, size: FloatArray) -> FloatArray:
        """P(|X| > size)."""

    @abstractmethod
    def _radius(self, tail: FloatArray, mass: FloatArray) -> FloatArray:
        """The size with that tail = 1 - mass."""

    @np.errstate(all="ignore")
    def cdf(self, x: npt.ArrayLike) -> Any:
        """P(X <= x), relatively accurate in the lower tail; use `sf` in the upper one."""
        points = np.asarray(x, dtype=np.float64)
        half = 0.5 * self._tail(np.abs(points))
        return np.where(points < 0.0, half, 1.0 - half)[()]

    def sf(self, x: npt.ArrayLike) -> Any:
        """P(X > x), relatively accurate in the upper tail."""
        return self.cdf(-np.asarray(x, dtype=np.float64))

    def ppf(self, p: npt.ArrayLike) -> Any:
        """The x with cdf(x) = p; +-inf at 1 and 0, nan outside [0, 1]."""
        lower = np.asarray(p, dtype=np.float64)
        tail = 2.0 * np.minimum(lower, 1.0 - lower)
        radius = self._radius(tail, 1.0 - tail)
        return np.where(lower < 0.5, -radius, radius)[()]

    def isf(self, p: npt.ArrayLike) -> Any:
        """The x with sf(x) = p, accurate however small p is."""
        return 0.0 - self.ppf(p)  # 0.0 -, because -0.0 at p = 1/2 reads badly

    def interval(self, confidence: npt.ArrayLike) -> tuple[Any, Any]:
        """The symmetric interval (lo, hi) of that probability; nan outside [0, 1].

        >>> import fastnoise as fn
        >>> law = fn.Staircase(epsilon=1.0, cost=("interval", 0.95))
        >>> lo, hi = law.interval(0.95)
        >>> round(float(hi - lo), 6)  # with Laplace noise 2 ln 20 = 5.991465
        5.986526
        """
        inside = np.asarray(confidence, dtype=np.float64)
        radius = self._radius(1.0 - inside, inside)
        return (0.0 - radius)[()], radius[()]

    def _apart(self, shift: Any) -> float:
        """How far apart two inputs are, by default a sensitivity."""
        distance = self.sensitivity if shift is None else number("shift", shift)
        if not 0.0 <= distance <= self.sensitivity:
            allowed = f"in [0, {self.sensitivity!r}], up to the sensitivity"
            raise ValueError(refusal("shift", shift, allowed))
        return distance


def split(epsilon: float) -> tuple[float, float]:
    """epsilon = high + low, high of 16 bits: k * high is exact for every k up to 2**37."""
    fraction, exponent = math.frexp(epsilon)
    high = math.ldexp(math.floor(math.ldexp(fraction, 16)), exponent - 16)
    return high, epsilon - high


def decay(epsilon: float, k: FloatArray) -> FloatArray:
    """e^(-epsilon k). The cap keeps 0 * inf out of an infinite k, where it is 0 anyway."""
    high, low = split(epsilon)
    return np.asarray(np.exp(-high * k) * np.exp(-low * np.minimum(k, 2.0**900)))


def least_missed(epsilon: float, alarm: FloatArray, overlap: Any) -> FloatArray:
    """The trade-off of likelihood ratios e^epsilon, 1 and e^-epsilon: three lines.

    `overlap` is one less the total variation, where the middle line starts.
    """
    # e^epsilon in two halves: it overflows at 709, and beyond 1400 every p > 0 gives 1 or more
    root = math.exp(0.5 * min(epsilon, 1400.0))
    with np.errstate(over="ignore", under="ignore"):
        steep = 1.0 - alarm * root * root
        shallow = math.exp(-epsilon) * (1.0 - alarm)
        return np.asarray(np.maximum(np.maximum(steep, overlap - alarm), shallow))
