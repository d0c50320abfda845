"""The staircase mechanism on the real line (Geng 2013, chapter 2; Soria-Comas 2013, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from fastnoise.design.gamma import Cost, named_gamma, optimal_gamma
from fastnoise.ideal.staircase import IdealStaircase
from fastnoise.laws.line.law import StaircaseLaw, staircase_grid, staircase_law
from fastnoise.mechanisms.mechanism import Additive
from fastnoise.validation import epsilon_below, fraction, sensitivity_above


@dataclass(frozen=True, init=False)
class Staircase(IdealStaircase, Additive):
    """Noise of least expected cost among all epsilon-DP noise for one number.

    The density falls by a factor e**-epsilon at |x| = (gamma + k) * sensitivity, k = 0, 1, 2, ...,
    and is flat in between; gamma 0 and gamma 1 are the same law. Every element of an array gets its
    own noise: epsilon-DP when one element changes by at most `sensitivity`. A person in k elements
    pays k * epsilon.

    cost: what gamma minimises the mean of: "l1", "l2", a number m for |x|**m, ("interval", 0.95)
        for the shortest symmetric interval of that confidence, or a callable that is symmetric and
        non-decreasing on x >= 0. It is not stored.
    gamma: wins over `cost`: a number in [0, 1], "heuristic" for e**-epsilon / 2 (never better), or
        "dominating" for 1 / epsilon - 1 / (e**epsilon - 1), which beats Laplace for every cost.

    >>> import fastnoise as fn
    >>> fn.Staircase(epsilon=1.0)
    Staircase(epsilon=1.0, sensitivity=1.0, gamma=0.37754066879814546)
    >>> round(float(fn.Staircase(epsilon=1.0).moment(1)), 6)  # Laplace: 1.0
    0.959517
    """

    _adjacency = "element"

    epsilon: float
    sensitivity: float
    gamma: float

    def __init__(
        self,
        epsilon: float,
        sensitivity: float = 1.0,
        *,
        cost: Cost = "l1",
        gamma: float | str | None = None,
    ) -> None:
        epsilon, sensitivity = epsilon_below(epsilon), sensitivity_above(sensitivity)
        vars(self).update(
            epsilon=epsilon,
            sensitivity=sensitivity,
            gamma=staircase_gamma(epsilon, sensitivity, cost, gamma),
        )

    @property
    def grid(self) -> float:
        return staircase_grid(self.epsilon, self.sensitivity, self.gamma)

    def _law(self, grid: float | None) -> StaircaseLaw:
        return staircase_law(self.epsilon, self.sensitivity, self.gamma, grid)


def staircase_gamma(
    epsilon: float, sensitivity: float, cost: Cost, gamma: float | str | None
) -> float:
    if gamma is None:
        return optimal_gamma(epsilon, sensitivity, cost)
    if isinstance(gamma, str):
        return named_gamma("gamma", gamma, epsilon, "a number in [0, 1]")
    return fraction("gamma", gamma)
