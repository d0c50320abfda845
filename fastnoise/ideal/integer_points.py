"""Integers as arguments of a law, taken as they are: up to 2**62 none passes through a float."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

FAR = 2.0**62  # floats from here on are not split in integers
MOST = 2**63 - 1


class Points(NamedTuple):
    """Integers i: `near`, or where that is 0 because i is inf, nan or beyond 2**62, `far`."""

    near: IntArray
    far: FloatArray

    def negative(self) -> BoolArray:
        return np.asarray((self.near < 0) | (self.far < 0.0))


def points(i: npt.ArrayLike) -> Points:
    """The integers at or below i."""
    given = np.asarray(i)
    if given.dtype.kind in "bi" or given.dtype in (np.uint8, np.uint16, np.uint32):
        near = given.astype(np.int64)
        return Points(near, np.zeros(near.shape))
    if given.dtype == np.uint64 and np.all(given <= MOST):
        return points(given.astype(np.int64))
    value = np.floor(given.astype(np.float64))
    inside = np.abs(value) < FAR
    return Points(np.where(inside, value, 0.0).astype(np.int64), np.where(inside, 0.0, value))


def outward(at: Points) -> Points:
    """-i for i < 0, else i + 1: the n whose tail P(X >= n) gives cdf and sf at i."""
    near = np.clip(at.near, -MOST, MOST - 1)
    near = np.where(at.far != 0.0, 0, np.where(near < 0, -near, near + 1))
    return Points(near, np.abs(at.far))


def between(i: npt.ArrayLike) -> BoolArray:
    """Where i is not an integer."""
    given = np.asarray(i)
    if given.dtype.kind in "biu":
        return np.zeros(given.shape, dtype=np.bool_)
    value = given.astype(np.float64)
    return np.asarray(np.floor(value) < value)
