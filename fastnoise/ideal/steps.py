"""What staircase laws on the line and on the integers share: steps that fall by e^-epsilon each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.validation import number, refusal

FloatArray = npt.NDArray[np.float64]


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


class LineLaw(SymmetricLaw):
    """A symmetric law on the real line, known by its two-sided tail and the inverse of that."""

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


def split(epsilon: float) -> tuple[float, float]:
    """epsilon = high + low, high of 16 bits: k * high is exact for every k up to 2**37."""
    fraction, exponent = math.frexp(epsilon)
    high = math.ldexp(math.floor(math.ldexp(fraction, 16)), exponent - 16)
    return high, epsilon - high


def decay(epsilon: float, k: FloatArray) -> FloatArray:
    """e^(-epsilon k). The cap keeps 0 * inf out of an infinite k, where it is 0 anyway."""
    high, low = split(epsilon)
    return np.asarray(np.exp(-high * k) * np.exp(-low * np.minimum(k, 2.0**900)))


def whole_shift(shift: Any, sensitivity: int) -> int:
    """How far apart two integers are, at most the sensitivity."""
    if not (number("shift", shift).is_integer() and 0 <= shift <= sensitivity):
        allowed = f"an integer in [0, {sensitivity}], up to the sensitivity"
        raise ValueError(refusal("shift", shift, allowed))
    return int(shift)


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
