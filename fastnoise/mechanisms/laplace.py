"""The Laplace mechanism on the real line (Koufogiannis, Han and Pappas, theorem 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastnoise.certificate import Guarantee
from fastnoise.ideal.laplace import IdealLaplace
from fastnoise.laws.line.release import (
    CHANGED,
    Release,
    covered_sensitivity,
    laplace_grid,
    laplace_release,
    steps_across,
)
from fastnoise.mechanisms.mechanism import Mechanism, Privacy, any_changed
from fastnoise.validation import epsilon_below, sensitivity_above


@dataclass(frozen=True, init=False)
class Laplace(IdealLaplace, Mechanism):
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

    epsilon: float
    sensitivity: float

    def __init__(self, epsilon: float, sensitivity: float = 1.0) -> None:
        object.__setattr__(self, "epsilon", epsilon_below(epsilon))
        object.__setattr__(self, "sensitivity", sensitivity_above(sensitivity))

    @property
    def delta(self) -> float:
        return 0.0

    @property
    def privacy(self) -> Privacy:
        lipschitz = self.epsilon / self.sensitivity
        return Privacy(self.epsilon, self.delta, "l1", self.sensitivity, lipschitz, CHANGED)

    @property
    def grid(self) -> float:
        """The power of two that `perturb` snaps to unless told otherwise.

        Fine enough that E|noise| grows by less than 1 part in 10**5 though 65,536 elements may
        change together, wherever 64-bit integers allow it.
        """
        return laplace_grid(self.epsilon, self.sensitivity)

    def _covered(self, grid: float) -> float:
        """In l1, of 65,536 elements on the grid."""
        return covered_sensitivity(self.epsilon, self.sensitivity, grid, CHANGED)

    def _release(self, grid: float | None) -> Release:
        return laplace_release(self.epsilon, self.sensitivity, grid)

    def _guarantee(self, changed: Any, grid: float) -> Guarantee:
        from fastnoise.laws.guarantees import laplace_guarantee

        some, law = any_changed(changed) or CHANGED, self._release(grid).law
        steps = steps_across(self.epsilon, self.sensitivity, grid, CHANGED)
        return laplace_guarantee(law, self.epsilon, steps, steps - CHANGED + some, some)
