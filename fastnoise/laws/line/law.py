"""Laws on the line and on the integers: staircases, Laplace, flat, cut off.

One kernel draws them all, from a head and a digit (`fastnoise_kernels.layout`). On floats, a law is
that of integers times a grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import frexp, ldexp
from sys import float_info
from typing import Any

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import UNDECIDED

from fastnoise.arithmetic.floats import float_above
from fastnoise.bits import cipher_blocks
from fastnoise.certificate import Guarantee
from fastnoise.compiled import kernels
from fastnoise.design.moments import integer_moment
from fastnoise.ideal.discrete_uniform import FlatWeights
from fastnoise.laws.alias import Tables
from fastnoise.laws.grids import (
    CHANGED,
    MEAN_BITS,
    STEPS_BITS,
    WIDENED_BITS,
    finest_bits,
    power_grid,
    released_radius,
    steps_across,
)
from fastnoise.laws.law import CHUNK, Chunk, Law
from fastnoise.laws.line.finite_tables import truncated_laplace_tables, uniform_tables
from fastnoise.laws.line.reader import LineReader
from fastnoise.laws.line.tables import laplace_tables, staircase_tables
from fastnoise.rows import Rows

TEXTBOOK_BITS = 20  # how much finer the noise of grid=None is


@dataclass(frozen=True, eq=False, kw_only=True)
class LineLaw(Law):
    """Noise of numbers, in 64-bit integers, UNDECIDED where it is."""

    filler = "staircase"

    steps: int  # that neighbours can be apart

    @property
    def covered(self) -> float:
        if self.integers:
            return self.steps
        return float_above(Fraction(self.grid) * self.steps)

    @cached_property
    def reader(self) -> LineReader:
        return LineReader(self.tables, cipher_blocks())

    def noise(self, key: bytes, rows: Rows, count: int) -> npt.NDArray[np.int64]:
        """The noise itself in grid steps, UNDECIDED where it is."""
        noise = np.empty(count, np.int64)
        kernels("release").fill_noise(count, *self._drawn(key, rows), noise)
        return noise

    def undecided(self, key: bytes, rows: Rows, count: int) -> list[int]:
        return [int(place) for place in np.flatnonzero(self.noise(key, rows, count) == UNDECIDED)]

    def guarantee(self, changed: int | None) -> Guarantee:
        from fastnoise.laws.line.guarantees import guarantee

        return guarantee(self, changed)

    def _perturb_compiled(self, chunk: Chunk, count: int) -> None:
        key, rows, _, x, out, limits = chunk
        drawn = self._drawn(key, rows)
        if self.integers:
            bounds = map(out.dtype.type, limits[:4])
            undecided = kernels("integers").perturb_integers(count, *drawn, x, out, *bounds)
        else:
            low, high, _, _, nan = limits
            undecided = kernels("release").perturb_floats(
                count, *drawn, x, out, low, high, nan, self.grid, self.whole
            )
        for start in range(0, count, CHUNK) if undecided else ():
            # Next to never with the grid of a mechanism's own; here so that no tail is cut off.
            rows, some = chunk.rows.after(start), min(CHUNK, count - start)
            places = self.undecided(chunk.key, rows, some)
            self._perturb_plainly(chunk, (start + place for place in places))


@dataclass(frozen=True, eq=False, kw_only=True)
class StaircaseLaw(LineLaw):
    """The integer staircase, for one element that moves by at most `steps`."""

    epsilon: float
    radius: int

    def _tables(self) -> Tables:
        return staircase_tables(self.epsilon, self.steps, self.radius)


@dataclass(frozen=True, eq=False, kw_only=True)
class LaplaceLaw(LineLaw):
    """The discrete Laplace law, for elements that move by at most `steps` together.

    made_for: how many elements that is for, each of which snapping may move by a step; None where
        nothing is snapped.
    """

    epsilon: float
    made_for: int | None = None

    def _tables(self) -> Tables:
        return laplace_tables(self.epsilon, self.steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class UniformLaw(LineLaw):
    """The flat law on an interval of integers."""

    weights: FlatWeights

    def _tables(self) -> Tables:
        return uniform_tables(2 * self.weights.core + 1, self.weights.height)


@dataclass(frozen=True, eq=False, kw_only=True)
class TruncatedLaplaceLaw(LineLaw):
    """The discrete Laplace law with its tails cut off."""

    epsilon: float
    delta: Fraction

    def _tables(self) -> Tables:
        return truncated_laplace_tables(self.epsilon, self.delta, self.steps)


# --- on a grid ------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def staircase_grid(epsilon: float, sensitivity: float, gamma: float) -> float:
    """Fine compared with the sensitivity and with E|noise|, as far as 64-bit integers allow."""
    return power_grid(sensitivity, _staircase_bits(epsilon, gamma))


@lru_cache(maxsize=64)
def staircase_law(
    epsilon: float, sensitivity: float, gamma: float, grid: float | None
) -> StaircaseLaw:
    """The staircase on a grid; without one, textbook noise on a scale too fine to matter."""
    if grid is None:
        bits = min(_staircase_bits(epsilon, gamma) + TEXTBOOK_BITS, finest_bits(epsilon))
        steps, unit = 1 << bits, ldexp(sensitivity, -bits)
    else:
        steps, unit = steps_across(epsilon, sensitivity, grid), grid
    snapped, radius = grid is not None, released_radius(gamma, steps)
    return StaircaseLaw(grid=unit, snapped=snapped, epsilon=epsilon, steps=steps, radius=radius)


@lru_cache(maxsize=256)
def laplace_grid(epsilon: float, sensitivity: float, changed: int = CHANGED) -> float:
    """Fine compared with the sensitivity shared by `changed` elements and with the scale."""
    beside_scale = MEAN_BITS + frexp(epsilon)[1]
    wanted = max(STEPS_BITS, WIDENED_BITS + (changed - 1).bit_length(), beside_scale)
    return power_grid(sensitivity, min(wanted, finest_bits(epsilon)))


@lru_cache(maxsize=64)
def laplace_law(
    epsilon: float, sensitivity: float, grid: float | None, changed: int = CHANGED
) -> LaplaceLaw:
    """The Laplace law on a grid; without one, textbook noise on a scale too fine to matter."""
    if grid is None:
        bits = finest_bits(epsilon)
        steps, unit = 1 << bits, ldexp(sensitivity, -bits)
    else:
        steps, unit = steps_across(epsilon, sensitivity, grid, changed), grid
    snapped = grid is not None
    return LaplaceLaw(grid=unit, snapped=snapped, epsilon=epsilon, steps=steps, made_for=changed)


def _staircase_bits(epsilon: float, gamma: float) -> int:
    mean = integer_moment(epsilon, 1.0, gamma or 1.0, 1)  # in decimal: the same on every machine
    mean_exponent = frexp(max(mean, float_info.min))[1] - 1
    return min(max(STEPS_BITS, MEAN_BITS - mean_exponent), finest_bits(epsilon))


# --- on the integers ------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def integer_law(kind: type[LineLaw], **parameters: Any) -> LineLaw:
    """A law of that kind for integers, which are on their grid as they are."""
    return kind(grid=1.0, integers=True, **parameters)
