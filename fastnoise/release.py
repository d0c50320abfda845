"""What is released: a power-of-two grid, an integer law on it, the sensitivity that covers both.

Snapping moves two inputs that are D apart to grid points at most ceil(D / grid) steps apart, so the
integer law is built for that many steps (docs/mathematics.md#grid-release). Where n elements may
change by D together, each after the first may add a step. What is added to the data is then an
exact integer draw, and only its sum with the snapped data is ever rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256
from math import ceil, frexp, ldexp
from sys import float_info
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.arithmetic import float_above
from fastnoise.design.moments import integer_moment
from fastnoise.finite_tables import truncated_laplace_law, uniform_law
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import encoded
from fastnoise.tables import Law, laplace_law, staircase_law
from fastnoise.validation import power_of_two, refusal, whole

STEPS_BITS = 20  # grid steps a sensitivity: E|noise| grows by less than 2**-19
MEAN_BITS = 17  # grid steps a mean of |noise|
WIDENED_BITS = 17  # grid steps a sensitivity for each changed element: 2**-17 is below 1e-5
CHANGED = 1 << 16  # elements or users that an l1 or sum-l2 change may be spread over
MOST_BITS = 57  # noise of a few sensitivities must fit 62 bits
SCALE_BITS = 51  # sensitivity / epsilon stays below 2**52 steps
LEAST_EPSILON = 1e-10  # below, a level takes thousands of draws
TEXTBOOK_BITS = 20  # how much finer the noise of grid=None is
EXPONENTS = range(-1000, 900)  # of a grid: everything computed from it is a normal float


@dataclass(frozen=True, eq=False)
class Release:
    """A law in grid steps, the filler that draws it, and the grid."""

    filler: str
    law: Law
    grid: float
    snapped: bool = True
    integers: bool = False  # the data is, too, and nothing is ever a float
    dim: int = 1  # values a row
    grids: npt.NDArray[np.float64] | None = None  # of vectors: a grid for each coordinate

    @cached_property
    def digest(self) -> bytes:
        """Of all that decides what is drawn: the words of the law, the grid, textbook or not."""
        grids = [self.grid] if self.grids is None else self.grids
        words = self.law.astype("<u8").tobytes(), np.asarray(grids, "<f8").tobytes()
        return sha256(encoded((*words, int(self.snapped)))).digest()

    @property
    def whole(self) -> float:
        """Where floats are on the grid by themselves; nothing is snapped in textbook noise."""
        return ldexp(self.grid, 52) if self.snapped else 0.0


@lru_cache(maxsize=256)
def staircase_grid(epsilon: float, sensitivity: float, gamma: float) -> float:
    """Fine beside the sensitivity and beside E|noise|, as far as 64-bit integers allow."""
    return power_grid(sensitivity, _staircase_bits(epsilon, gamma))


@lru_cache(maxsize=64)
def staircase_release(
    epsilon: float, sensitivity: float, gamma: float, grid: float | None
) -> Release:
    """The staircase on a grid; without one, textbook noise on a scale too fine to matter."""
    if grid is None:
        finest = _finest_bits(epsilon)
        bits = min(_staircase_bits(epsilon, gamma) + TEXTBOOK_BITS, finest)
        steps, unit = 1 << bits, ldexp(sensitivity, -bits)
    else:
        steps, unit = steps_across(epsilon, sensitivity, grid), grid
    radius = max(1, round(Fraction(gamma or 1.0) * steps))
    return Release("staircase", staircase_law(epsilon, steps, radius), unit, grid is not None)


@lru_cache(maxsize=256)
def laplace_grid(epsilon: float, sensitivity: float, changed: int = CHANGED) -> float:
    """Fine beside the sensitivity shared by so many elements, and beside the scale."""
    wanted = max(STEPS_BITS, WIDENED_BITS + (changed - 1).bit_length(), MEAN_BITS + _bits(epsilon))
    return power_grid(sensitivity, min(wanted, _finest_bits(epsilon)))


@lru_cache(maxsize=64)
def laplace_release(
    epsilon: float, sensitivity: float, grid: float | None, changed: int = CHANGED
) -> Release:
    """The Laplace law on a grid; without one, textbook noise on a scale too fine to matter."""
    if grid is None:
        bits = _finest_bits(epsilon)
        return Release(
            "staircase", laplace_law(epsilon, 1 << bits), ldexp(sensitivity, -bits), False
        )
    steps = steps_across(epsilon, sensitivity, grid, changed)
    return Release("staircase", laplace_law(epsilon, steps), grid)


@lru_cache(maxsize=64)
def integer_laplace_release(epsilon: float, sensitivity: int) -> Release:
    return Release("staircase", laplace_law(epsilon, sensitivity), 1.0, integers=True)


@lru_cache(maxsize=64)
def integer_uniform_release(core: int, height: Fraction) -> Release:
    return Release("staircase", uniform_law(core, height), 1.0, integers=True)


@lru_cache(maxsize=64)
def truncated_laplace_release(epsilon: float, delta: Fraction, sensitivity: int) -> Release:
    law = truncated_laplace_law(epsilon, delta, sensitivity)
    return Release("staircase", law, 1.0, integers=True)


@lru_cache(maxsize=64)
def discrete_staircase_release(epsilon: float, sensitivity: int, r: int) -> Release:
    return Release("staircase", staircase_law(epsilon, sensitivity, r), 1.0, integers=True)


def integer_sensitivity(epsilon: float, sensitivity: Any) -> int:
    """A sensitivity that 64-bit integers can serve."""
    steps = whole("sensitivity", sensitivity, 1, 1 << (MOST_BITS + 1))
    _finest_bits(epsilon)
    if steps > Fraction(epsilon) * (1 << (SCALE_BITS + 1)):
        allowed = f"at most 2**{SCALE_BITS + 1} times epsilon, which is {epsilon!r}"
        raise ValueError(refusal("sensitivity", sensitivity, allowed))
    return steps


def steps_across(epsilon: float, sensitivity: float, grid: float, changed: int = 1) -> int:
    """How many grid steps two neighbouring inputs can be apart in l1 once they are snapped."""
    refuse_small(epsilon)
    steps = ceil(Fraction(sensitivity) / Fraction(grid)) + changed - 1
    if steps > 1 << (MOST_BITS + 1) or steps > Fraction(epsilon) * (1 << (SCALE_BITS + 1)):
        allowed = (
            f"coarse enough for 64-bit integers: sensitivity {sensitivity!r} may have at most "
            f"2**{MOST_BITS + 1} steps, and sensitivity / epsilon 2**{SCALE_BITS + 1}"
        )
        raise ValueError(refusal("grid", grid, allowed))
    return steps


def given_grid(grid: Any) -> float:
    """A power of two that has an inverse in floats, and room for many times itself."""
    step = power_of_two("grid", grid)
    if frexp(step)[1] - 1 not in EXPONENTS:
        allowed = f"between 2**{EXPONENTS[0]} and 2**{EXPONENTS[-1]}"
        raise ValueError(refusal("grid", grid, allowed))
    return step


def covered_sensitivity(epsilon: float, sensitivity: float, grid: float, changed: int = 1) -> float:
    """What `steps_across` is in units of the data, rounded up."""
    return float_above(Fraction(grid) * steps_across(epsilon, sensitivity, grid, changed))


def power_grid(sensitivity: float, bits: int) -> float:
    """The power of two with 2**bits to 2**(bits + 1) steps a sensitivity."""
    refuse_odd_floats()  # grids are remembered, and so are `bits` in them
    exponent = frexp(sensitivity)[1] - 1 - bits
    if exponent not in EXPONENTS:
        allowed = "a number whose grid is a normal float: about 1e-280 to 1e280"
        raise ValueError(refusal("sensitivity", sensitivity, allowed))
    return ldexp(1.0, exponent)


def _bits(value: float) -> int:
    """The least b with value < 2**b."""
    return frexp(value)[1]


def refuse_small(epsilon: float) -> None:
    if not (epsilon >= LEAST_EPSILON):
        raise ValueError(refusal("epsilon", epsilon, f"at least {LEAST_EPSILON} to be released"))


def _finest_bits(epsilon: float) -> int:
    refuse_small(epsilon)
    return min(MOST_BITS, SCALE_BITS - 1 + frexp(epsilon)[1])


def _staircase_bits(epsilon: float, gamma: float) -> int:
    mean = integer_moment(epsilon, 1.0, gamma or 1.0, 1)  # in decimal: the same on every machine
    mean_exponent = frexp(max(mean, float_info.min))[1] - 1
    return min(max(STEPS_BITS, MEAN_BITS - mean_exponent), _finest_bits(epsilon))
