"""The staircase on the integers, and the geometric mechanism (Geng 2013, section 2.8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastnoise.design.gamma import Cost, named_gamma
from fastnoise.design.radius import optimal_radius
from fastnoise.ideal.discrete_staircase import IdealDiscreteStaircase
from fastnoise.laws.grids import integer_sensitivity
from fastnoise.laws.line.law import LineLaw, StaircaseLaw, integer_law
from fastnoise.mechanisms.mechanism import (
    IntegerMechanism,
)
from fastnoise.validation import epsilon_below, whole


class _Staircase(IdealDiscreteStaircase, IntegerMechanism):
    """What `DiscreteStaircase` and `Geometric` share: everything but parameters and adjacency."""

    sensitivity: int

    def _law(self, grid: float | None) -> LineLaw:
        return integer_law(
            StaircaseLaw, epsilon=self.epsilon, steps=self.sensitivity, radius=self.r
        )


@dataclass(frozen=True, init=False)
class DiscreteStaircase(_Staircase):
    """Integer noise of least expected cost among all epsilon-DP noise for one integer.

    P(X = i) falls by a factor e**-epsilon at |i| = r + k * sensitivity, k = 0, 1, 2, ..., and is
    constant in between. Every element of an array gets its own noise: epsilon-DP when one element
    changes by at most `sensitivity`. A person in k elements pays k * epsilon.

    cost: what r minimises the mean of, as for `Staircase`. It is not stored.
    r: wins over `cost`: an integer in 1 .. sensitivity, or "heuristic" or "dominating" for the one
        nearest to that gamma of `Staircase`.

    >>> import fastnoise as fn
    >>> fn.DiscreteStaircase(epsilon=1.0, sensitivity=10)
    DiscreteStaircase(epsilon=1.0, sensitivity=10, r=4)
    """

    _adjacency = "element"

    epsilon: float
    sensitivity: int
    r: int

    def __init__(
        self,
        epsilon: float,
        sensitivity: int = 1,
        *,
        cost: Cost = "l1",
        r: int | str | None = None,
    ) -> None:
        epsilon = epsilon_below(epsilon)
        sensitivity = integer_sensitivity(epsilon, sensitivity)
        vars(self).update(
            epsilon=epsilon, sensitivity=sensitivity, r=_radius(epsilon, sensitivity, cost, r)
        )


@dataclass(frozen=True, init=False)
class Geometric(_Staircase):
    """P(X = i) proportional to e**(-epsilon |i|): `DiscreteStaircase` at sensitivity 1.

    epsilon-DP when the array changes by at most 1 in l1; optimal for every symmetric cost that
    does not decrease in |i| (Geng 2013, theorem 2.12).

    >>> import fastnoise as fn
    >>> counts = fn.Geometric(epsilon=1.0).perturb([3, 0, 12])
    >>> counts.dtype
    dtype('int64')
    """

    _adjacency = "l1"
    _lipschitz = True
    sensitivity = r = 1

    epsilon: float

    def __init__(self, epsilon: float) -> None:
        epsilon = epsilon_below(epsilon)
        integer_sensitivity(epsilon, 1)
        vars(self).update(epsilon=epsilon)


def _radius(epsilon: float, sensitivity: int, cost: Cost, r: Any) -> int:
    if r is None:
        return optimal_radius(epsilon, sensitivity, cost)
    if isinstance(r, str):
        gamma = named_gamma("r", r, epsilon, "an integer in 1 .. sensitivity")
        return max(1, round(gamma * sensitivity))
    return whole("r", r, 1, sensitivity + 1)
