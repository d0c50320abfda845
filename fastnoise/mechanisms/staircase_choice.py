"""The staircase mechanism in the abstract setting (Geng 2013, section 2.9): choosing candidates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.laws.choice.choosing import choose, cost_array
from fastnoise.laws.choice.law import ChoiceLaw, choice_law
from fastnoise.laws.grids import STEPS_BITS, power_grid
from fastnoise.mechanisms.mechanism import Channel, Privacy
from fastnoise.mechanisms.staircase import staircase_gamma
from fastnoise.stream import Stream
from fastnoise.validation import epsilon_below, number, refusal, sensitivity_above


@dataclass(frozen=True, init=False)
class StaircaseChoice(Channel):
    """Picks one of k candidates by their costs: the cheaper, the likelier.

    A candidate has weight e**(-epsilon * level), where the level of a cost is 0 below
    gamma * sensitivity in size and 1 more every `sensitivity` from there on.

    2 * epsilon-DP when no cost changes by more than `sensitivity`: the weights move by a factor
    e**epsilon at most, and so does their sum. epsilon alone suffices where the sum does not change
    (the candidates are shifted, not their costs), or where between neighbours all costs rise or all
    fall; then run it with twice the epsilon.

    gamma: a number in [0, 1], "heuristic" or "dominating", as for `Staircase`; by default the one
        that is best there for |x|.

    >>> import fastnoise as fn
    >>> mechanism = fn.StaircaseChoice(epsilon=1.0)
    >>> mechanism.privacy.epsilon
    2.0
    >>> index = mechanism.choose([0.0, 3.5, 1.2])
    """

    _adjacency = "cost"

    epsilon: float
    sensitivity: float
    gamma: float

    def __init__(
        self, epsilon: float, sensitivity: float = 1.0, *, gamma: float | str | None = None
    ) -> None:
        epsilon, sensitivity = epsilon_below(epsilon), sensitivity_above(sensitivity)
        vars(self).update(
            epsilon=epsilon,
            sensitivity=sensitivity,
            gamma=staircase_gamma(epsilon, sensitivity, "l1", gamma),
        )

    @property
    def privacy(self) -> Privacy:
        return replace(super().privacy, epsilon=2.0 * self.epsilon)

    @property
    def grid(self) -> float:
        """The power of two that costs are snapped to, about a millionth of the sensitivity."""
        return power_grid(self.sensitivity, STEPS_BITS)

    def _law(self, grid: float) -> ChoiceLaw:
        return choice_law(self.epsilon, self.sensitivity, self.gamma, grid)

    def probabilities(self, costs: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """How likely each of the candidates along the last axis is, in the ideal law.

        >>> import fastnoise as fn, math
        >>> fn.StaircaseChoice(epsilon=math.log(2), gamma=0.5).probabilities([0.0, 1.0]).round(6)
        array([0.666667, 0.333333])
        """
        distance = np.abs(cost_array(costs).astype(np.float64)) / self.sensitivity
        levels = np.maximum(np.floor(distance - (self.gamma or 1.0)) + 1.0, 0.0)
        weights = np.exp(-self.epsilon * (levels - levels.min(axis=-1, keepdims=True)))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def choose(
        self, costs: npt.ArrayLike, *, stream: Stream | None = None, rows: Any = None
    ) -> Any:
        """The index of the chosen candidate, for costs of shape (k,); an array for (..., k).

        Costs are snapped to the grid first, so that none is two levels from its neighbour because
        of rounding; in size they are clamped to 2**52 grid steps. Every candidate is possible,
        however high its cost. A row of costs is one draw, of one 64-bit word.

        stream: repeatable choices; without one, every call draws 256 fresh bits.
        rows: the absolute rows of `stream` to use, each once, instead of its next ones.

        >>> import fastnoise as fn, numpy as np
        >>> fn.StaircaseChoice(epsilon=2.0).choose(np.ones((4, 3))).shape
        (4,)
        """
        return choose(self, costs, stream, rows)

    def _chosen_grid(self, grid: Any) -> float:
        own = self.grid
        auto = isinstance(grid, str) and grid == "auto"
        if not auto and number("grid", grid, f'"auto" or {own!r}') != own:
            raise ValueError(refusal("grid", grid, f'"auto" or {own!r}'))
        return own
