"""What staircase laws on the line and on the integers share: steps that fall by e^-epsilon each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


class SymmetricLaw(ABC):
    """A law that is the same on both sides of 0."""

    @abstractmethod
    def moment(self, m: int) -> float:
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
