"""From exact numbers to floats, rounded to a side that is known."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral
from typing import Any


def float_toward(value: Any, side: float) -> float:
    """The float at a real number, or else the next one on that side of it, inf or -inf.

    >>> float_toward(2**53 + 1, -math.inf), float_toward(Fraction(1, 10), -math.inf)
    (9007199254740992.0, 0.09999999999999999)
    """
    nearest = float(value)
    if isinstance(value, Integral):
        value = int(value)  # numpy compares its integers with floats as floats
    if math.isfinite(nearest) and (nearest < value if side > 0 else nearest > value):
        return math.nextafter(nearest, side)
    return nearest


def nearest_float(value: Fraction) -> float:
    """The nearest float; inf or -inf beyond them all."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_above(value: Fraction) -> float:
    """The least float that is no smaller; inf beyond them all."""
    try:
        return float_toward(value, math.inf)
    except OverflowError:
        return math.inf


def exact_delta(delta: float | Fraction) -> Fraction:
    """The number that is meant: of a float its shortest decimal.

    >>> exact_delta(0.1)
    Fraction(1, 10)
    """
    return delta if isinstance(delta, Fraction) else Fraction(repr(delta))


def stated_delta(delta: float | Fraction) -> float:
    """The least float that is no smaller, read as its shortest decimal.

    >>> stated_delta(0.1), stated_delta(Fraction(1, 3))
    (0.1, 0.33333333333333337)
    """
    nearest = float(delta)
    return nearest if exact_delta(nearest) >= exact_delta(delta) else math.nextafter(nearest, 1.0)
