"""The Laplace mechanism on the real line (Koufogiannis, Han and Pappas, theorem 6)."""

from __future__ import annotations

from dataclasses import dataclass

from fastnoise.ideal.laplace import IdealLaplace
from fastnoise.laws.grids import CHANGED
from fastnoise.laws.line.law import LaplaceLaw, laplace_grid, laplace_law
from fastnoise.mechanisms.mechanism import Additive
from fastnoise.validation import epsilon_below, sensitivity_above


@dataclass(frozen=True, init=False)
class Laplace(IdealLaplace, Additive):
    """Independent noise of density proportional to e**(-epsilon |x| / sensitivity) per element.

    epsilon-DP when the array changes by at most `sensitivity` in l1, however many elements that is
    spread over. The epsilon spent is in proportion to the change, and no noise with that property
    has a smaller variance (Koufogiannis, Han and Pappas, theorems 6 and 7).

    >>> import fastnoise as fn
    >>> mechanism = fn.Laplace(epsilon=0.5, sensitivity=2.0)
    >>> mechanism, mechanism.scale
    (Laplace(epsilon=0.5, sensitivity=2.0), 4.0)
    >>> mechanism.privacy.at(1.0)
    0.25
    """

    _adjacency = "l1"
    _lipschitz = True
    _made_for = CHANGED

    epsilon: float
    sensitivity: float

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        vars(self).update(
            epsilon=epsilon_below(epsilon), sensitivity=sensitivity_above(sensitivity)
        )

    @property
    def grid(self) -> float:
        return laplace_grid(self.epsilon, self.sensitivity)

    def _law(self, grid: float | None) -> LaplaceLaw:
        return laplace_law(self.epsilon, self.sensitivity, grid)
