"""The staircase mechanism of a box (Soria-Comas and Domingo-Ferrer 2013, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from fastnoise.design.radial_gamma import LARGEST_DIM, optimal_radial_gamma
from fastnoise.ideal.box_staircase import IdealBoxStaircase
from fastnoise.laws.grids import given_grid
from fastnoise.laws.layers.law import BoxLaw, box_grids, box_law
from fastnoise.mechanisms.mechanism import VectorMechanism
from fastnoise.validation import epsilon_below, number, refusal, sensitivity_above

MOST_STEPS = 2.0**53  # of a width in the core: beyond, a width no longer moves its edge


@dataclass(frozen=True, init=False)
class BoxStaircase(IdealBoxStaircase, VectorMechanism):
    """Noise for a vector whose coordinates have sensitivities of their own.

    The density is constant between nested boxes, box k of half-widths core + k * widths, and falls
    by a factor e**-epsilon from each to the next. Every vector along the last axis gets its own
    noise: epsilon-DP when one vector changes by at most `widths`, coordinate by coordinate, all at
    once. `privacy` measures changes in units of the widths.

    widths: the sensitivity of each coordinate, up to 128 of them; epsilon times their number, of
        what is drawn, is at most 20,000.
    core: the half-widths of the innermost box, from 0 up; by default gamma * widths with the gamma
        that minimises the sum of the variances over widths**2.

    >>> import fastnoise as fn
    >>> fn.BoxStaircase(epsilon=1.0, widths=(1.0, 10.0))
    BoxStaircase(epsilon=1.0, widths=(1.0, 10.0), core=(0.6975328256299355, 6.975328256299354))
    """

    _adjacency = "box"
    sensitivity = 1.0  # changes are measured in units of the widths

    epsilon: float
    widths: tuple[float, ...]
    core: tuple[float, ...]

    def __init__(
        self, epsilon: float, widths: Sequence[float], *, core: Sequence[float] | None = None
    ) -> None:
        epsilon = epsilon_below(epsilon)
        widths = tuple(sensitivity_above(width, "widths") for width in _numbers("widths", widths))
        if not 1 <= len(widths) <= LARGEST_DIM:
            raise ValueError(refusal("widths", widths, f"1 to {LARGEST_DIM} numbers"))
        vars(self).update(epsilon=epsilon, widths=widths, core=_core(epsilon, widths, core))

    @property
    def grid(self) -> tuple[float, ...]:
        return box_grids(self.epsilon, self.widths, self.core)

    def _chosen_grid(self, grid: Any) -> tuple[float, ...] | None:
        """One power of two for all coordinates, or one for each."""
        if grid is None or isinstance(grid, str | Real):
            chosen = super()._chosen_grid(grid)
            return (chosen,) * self.dim if isinstance(chosen, float) else chosen
        chosen = tuple(given_grid(step) for step in _numbers("grid", grid))
        if len(chosen) != self.dim:
            raise ValueError(refusal("grid", grid, f"a power of two, or {self.dim} of them"))
        return chosen

    def _law(self, grid: tuple[float, ...] | None) -> BoxLaw:
        return box_law(self.epsilon, self.widths, self.core, grid)


def _core(epsilon: float, widths: tuple[float, ...], core: Any) -> tuple[float, ...]:
    if core is None:
        gamma = optimal_radial_gamma(epsilon, len(widths), 1.0, "l2")
        return tuple(gamma * width for width in widths)
    allowed = f"{len(widths)} numbers, each from 0 to 2**53 times its width"
    halves = tuple(number("core", half, allowed) + 0.0 for half in _numbers("core", core))
    if len(halves) != len(widths) or not all(
        0.0 <= half <= MOST_STEPS * width for half, width in zip(halves, widths, strict=False)
    ):
        raise ValueError(refusal("core", core, allowed))
    return halves


def _numbers(name: str, value: Any) -> tuple[Any, ...]:
    """The elements of a sequence or of an array with one axis."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple(value.tolist())
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise TypeError(refusal(name, value, "a sequence of numbers, one for each coordinate"))
    return tuple(value)
