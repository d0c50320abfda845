"""The staircase mechanism of the l1 norm (Geng 2013, chapter 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastnoise.design.gamma import Cost, named_gamma
from fastnoise.design.radial_gamma import LARGEST_DIM, optimal_radial_gamma
from fastnoise.ideal.l1_staircase import IdealL1Staircase
from fastnoise.laws.layers.law import BallLaw, ball_grid, ball_law
from fastnoise.laws.line.law import StaircaseLaw, staircase_grid, staircase_law
from fastnoise.mechanisms.mechanism import VectorMechanism
from fastnoise.validation import epsilon_below, fraction, refusal, sensitivity_above, whole


@dataclass(frozen=True, init=False)
class L1Staircase(IdealL1Staircase, VectorMechanism):
    """Noise for a vector whose density depends on the l1 norm alone, and falls in steps.

    The density on R**dim falls by a factor e**-epsilon at ||x||_1 = (gamma + k) * sensitivity,
    k = 0, 1, 2, ..., and is flat in between; gamma 0 and gamma 1 are the same law. Every vector
    along the last axis gets its own noise: epsilon-DP when one vector changes by at most
    `sensitivity` in l1. Optimal for E||x||_1 at dim 2 (Geng 2013, theorem 3.1), and worth it over
    `Laplace` where epsilon is of the order of `dim` or more. `dim` is at most 128, and
    epsilon * dim, of what is drawn, 20,000.

    cost: what gamma minimises the mean of: "l1" for ||x||_1, "l2" for ||x||_2**2, a number m for
        ||x||_1**m ("l2" gives the gamma of 2), ("interval", 0.95) for the smallest l1 ball of that
        confidence, or a callable of ||x||_1, non-decreasing on x >= 0. It is not stored.
    gamma: wins over `cost`: a number in [0, 1]; at dim 1 also "heuristic" or "dominating", as for
        `Staircase`.

    >>> import fastnoise as fn
    >>> fn.L1Staircase(epsilon=4.0, dim=2)
    L1Staircase(epsilon=4.0, dim=2, sensitivity=1.0, gamma=0.31199974302420463)
    >>> round(fn.L1Staircase(epsilon=4.0, dim=2).expected_cost("l1"), 6)  # Laplace: 0.5
    0.388135
    """

    _adjacency = "l1"

    epsilon: float
    dim: int
    sensitivity: float
    gamma: float

    def __init__(
        self,
        epsilon: float,
        dim: int,
        sensitivity: float = 1.0,
        *,
        cost: Cost = "l1",
        gamma: float | str | None = None,
    ) -> None:
        epsilon, sensitivity = epsilon_below(epsilon), sensitivity_above(sensitivity)
        dim = whole("dim", dim, 1, LARGEST_DIM + 1)
        vars(self).update(
            epsilon=epsilon,
            dim=dim,
            sensitivity=sensitivity,
            gamma=_gamma(epsilon, dim, sensitivity, cost, gamma),
        )

    @property
    def grid(self) -> float:
        if self.dim == 1:
            return staircase_grid(self.epsilon, self.sensitivity, self.gamma)
        return ball_grid(self.epsilon, self.dim, self.sensitivity, self.gamma)

    def _law(self, grid: float | None) -> StaircaseLaw | BallLaw:
        if self.dim == 1:
            return staircase_law(self.epsilon, self.sensitivity, self.gamma, grid)
        return ball_law(self.epsilon, self.dim, self.sensitivity, self.gamma, grid)

    def _changed(self, changed: Any) -> int | None:
        return self.dim if changed is None else whole("changed", changed, 1, self.dim + 1)


def _gamma(
    epsilon: float, dim: int, sensitivity: float, cost: Cost, gamma: float | str | None
) -> float:
    if gamma is None:
        return optimal_radial_gamma(epsilon, dim, sensitivity, cost)
    if isinstance(gamma, str):
        if dim > 1:
            allowed = 'a number in [0, 1], or at dim 1 "heuristic" or "dominating"'
            raise ValueError(refusal("gamma", gamma, allowed))
        return named_gamma("gamma", gamma, epsilon, "a number in [0, 1]")
    return fraction("gamma", gamma)
