"""What laws on the integers share: probabilities below a point and above it, and back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.ideal.integer_points import BoolArray, FloatArray, IntArray, Points, outward, points
from fastnoise.ideal.steps import Floats, SymmetricLaw
from fastnoise.validation import number, refusal


class IntegerLaw(SymmetricLaw):
    """A symmetric law on the integers, known by its tail and the inverse of that.

    Functions mean what they mean in SciPy for a law on the integers: arrays broadcast, NaN
    propagates, between two integers the cdf is that of the lower one.
    """

    sensitivity: int

    @abstractmethod
    def _tail(self, at: Points) -> FloatArray:
        """P(X >= i), i >= 0."""

    @abstractmethod
    def _mass(self, n: IntArray) -> FloatArray:
        """P(|X| < n), n >= 1, relatively accurate where it is small."""

    @abstractmethod
    def _first(
        self, tail: FloatArray, mass: FloatArray, reached: Callable[[IntArray], BoolArray]
    ) -> npt.NDArray[Any]:
        """The least n >= 1 that is `reached`, near where P(|X| >= n) = tail = 1 - mass."""

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
        """The least i with cdf(i) >= p; nan outside [0, 1].

        At 0 one below the support, which is -inf where that has no end. Where epsilon/sensitivity
        is below about 1e-15 neighbouring cdf are equal as floats, and i is right to that
        resolution; where i has 13 digits or more, to the last digit or two of a float.
        """
        given = np.asarray(p, dtype=np.float64)
        return np.where((given >= 0.0) & (given <= 1.0), self._ppf(given) + 0.0, np.nan)[()]

    def isf(self, p: npt.ArrayLike) -> Floats:
        """The least i with sf(i) <= p, accurate however small p is."""
        given = np.asarray(p, dtype=np.float64)
        return np.where((given >= 0.0) & (given <= 1.0), self._isf(given) + 0.0, np.nan)[()]

    def interval(self, confidence: npt.ArrayLike) -> tuple[Floats, Floats]:
        """(-k, k) with the least k such that P(|X| <= k) >= confidence; nan outside [0, 1]."""
        given = np.asarray(confidence, dtype=np.float64)

        def reached(n: IntArray) -> BoolArray:
            tail = 2.0 * self._tail(_near(n))
            return np.where(given < 0.5, self._mass(n) >= given, tail <= 1.0 - given)

        k = self._first(1.0 - given, given, reached) - 1
        radius = np.where((given >= 0.0) & (given <= 1.0), k, np.nan)
        return (0.0 - radius)[()], radius[()]

    def _ppf(self, p: FloatArray) -> npt.NDArray[Any]:
        lower = p < 0.5

        def reached(n: IntArray) -> BoolArray:
            tail = self._tail(_near(n))
            return np.where(lower, tail < p, 1.0 - tail >= p)

        n = self._steps_out(p, reached)
        return np.where(p == 1.0, self.support()[1], np.where(lower, -n, n))

    def _isf(self, p: FloatArray) -> npt.NDArray[Any]:
        upper = p <= 0.5

        def reached(n: IntArray) -> BoolArray:
            tail = self._tail(_near(n))
            return np.where(upper, tail <= p, 1.0 - tail > p)

        n = self._steps_out(p, reached)
        return np.where(upper, n, -n)

    def _steps_out(
        self, p: FloatArray, reached: Callable[[IntArray], BoolArray]
    ) -> npt.NDArray[Any]:
        """How far from zero the quantile of p is, in either direction."""
        tail = 2.0 * np.minimum(p, 1.0 - p)
        return self._first(tail, 1.0 - tail, reached) - 1

    def _apart(self, shift: Any) -> int:
        """How far apart two inputs are, by default a sensitivity."""
        if shift is None:
            return self.sensitivity
        if not (number("shift", shift).is_integer() and 0 <= shift <= self.sensitivity):
            allowed = f"an integer in [0, {self.sensitivity}], up to the sensitivity"
            raise ValueError(refusal("shift", shift, allowed))
        return int(shift)


def _near(n: IntArray) -> Points:
    return Points(n, np.zeros(n.shape))
