"""Grids: powers of two that data is snapped to, and the sensitivity of snapped data.

Snapping moves two inputs that are D apart to grid points at most ceil(D / grid) steps apart, so an
integer law is built for that many steps (docs/mathematics.md#grid-release). Where n elements may
change by D together, each after the first may add a step. What is added to the data is then an
exact integer draw, and only its sum with the snapped data is ever rounded.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, frexp, ldexp
from typing import Any

from fastnoise.float_mode import refuse_odd_floats
from fastnoise.validation import power_of_two, refusal, whole

STEPS_BITS = 20  # grid steps per sensitivity: E|noise| grows by less than 2**-19
MEAN_BITS = 17  # grid steps per mean of |noise|
WIDENED_BITS = 17  # grid steps per sensitivity for each changed element: 2**-17 is below 1e-5
CHANGED = 1 << 16  # elements or users that an l1 or sum-l2 change may be spread over
MOST_BITS = 57  # noise of a few sensitivities must fit 62 bits
SCALE_BITS = 51  # sensitivity / epsilon stays below 2**52 steps
LEAST_EPSILON = 1e-10  # below, a level takes thousands of draws
EXPONENTS = range(-1000, 900)  # of a grid: everything computed from it is a normal float


def power_grid(sensitivity: float, bits: int) -> float:
    """The power of two with 2**bits to 2**(bits + 1) steps per sensitivity."""
    refuse_odd_floats()  # grids are remembered, and so are `bits` in them
    exponent = frexp(sensitivity)[1] - 1 - bits
    if exponent not in EXPONENTS:
        allowed = "a number whose grid is a normal float: about 1e-280 to 1e280"
        raise ValueError(refusal("sensitivity", sensitivity, allowed))
    return ldexp(1.0, exponent)


def given_grid(grid: Any) -> float:
    """A power of two that has an inverse in floats, and room for many times itself."""
    step = power_of_two("grid", grid)
    if frexp(step)[1] - 1 not in EXPONENTS:
        allowed = f"between 2**{EXPONENTS[0]} and 2**{EXPONENTS[-1]}"
        raise ValueError(refusal("grid", grid, allowed))
    return step


def steps_across(epsilon: float, sensitivity: float, grid: float, changed: int = 1) -> int:
    """How many grid steps two neighbouring inputs can be apart in l1 once they are snapped."""
    refuse_small(epsilon)
    steps = ceil(Fraction(sensitivity) / Fraction(grid)) + changed - 1
    if steps > 1 << (MOST_BITS + 1) or steps > Fraction(epsilon) * (1 << (SCALE_BITS + 1)):
        why = (
            f"sensitivity {sensitivity!r} may have at most 2**{MOST_BITS + 1} steps, and "
            f"sensitivity / epsilon 2**{SCALE_BITS + 1}"
        )
        raise ValueError(refusal("grid", grid, "coarse enough for 64-bit integers", why))
    return steps


def released_radius(gamma: float, steps: int) -> int:
    """The r nearest to gamma * steps that is not 0; gamma 0 is gamma 1."""
    return max(1, round(Fraction(gamma or 1.0) * steps))


def refuse_small(epsilon: float) -> None:
    if not (epsilon >= LEAST_EPSILON):
        raise ValueError(refusal("epsilon", epsilon, f"at least {LEAST_EPSILON} to be released"))


def finest_bits(epsilon: float) -> int:
    refuse_small(epsilon)
    return min(MOST_BITS, SCALE_BITS - 1 + frexp(epsilon)[1])


def integer_sensitivity(epsilon: float, sensitivity: Any) -> int:
    """A sensitivity that 64-bit integers can serve."""
    steps = whole("sensitivity", sensitivity, 1, 1 << (MOST_BITS + 1))
    finest_bits(epsilon)
    if steps > Fraction(epsilon) * (1 << (SCALE_BITS + 1)):
        allowed = f"at most 2**{SCALE_BITS + 1} times epsilon, which is {epsilon!r}"
        raise ValueError(refusal("sensitivity", sensitivity, allowed))
    return steps
