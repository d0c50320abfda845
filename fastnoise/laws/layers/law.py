"""Staircases on vectors: an exact layer, then uniform integers on it.

Balls of integers in l1, or boxes, are nested in each other. A layer is drawn from tables, a place
on it is a uniform integer vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, frexp, ldexp, prod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from fastnoise.arithmetic.floats import float_above
from fastnoise.bits import cipher_blocks
from fastnoise.certificate import Guarantee
from fastnoise.compiled import read_only
from fastnoise.design.moments import geometric_mean, power_means, precise
from fastnoise.laws.alias import Tables
from fastnoise.laws.grids import (
    LEAST_EPSILON,
    MEAN_BITS,
    STEPS_BITS,
    WIDENED_BITS,
    power_grid,
    refuse_small,
    released_radius,
    steps_across,
)
from fastnoise.laws.law import Array
from fastnoise.laws.layers.balls import count_thresholds, l1_points
from fastnoise.laws.layers.reader import BallReader, BoxReader, LayerReader
from fastnoise.laws.layers.tables import fits_one_table, layer_tables
from fastnoise.laws.vectors import VectorLaw
from fastnoise.validation import refusal

NOISE_BITS = 50  # noise of many sensitivities stays below 2**53, where floats have no gaps
TEXTBOOK_BITS = 10  # how much finer the noise of grid=None is, at least where it fits
# Layers are about a Gamma(dim + 1) number over epsilon. The reader draws those of 2**52 steps or
# more: less than 2% of them if that is dim + 7 over epsilon, 5% if it is dim + 6.
FARTHEST_LAYER, FARTHEST_GIVEN = 7, 6


@dataclass(frozen=True, eq=False, kw_only=True)
class LayersLaw(VectorLaw):
    """Layers of integer vectors."""

    reader_class: ClassVar[type[LayerReader]]

    epsilon: float

    @cached_property
    def reader(self) -> LayerReader:
        return self.reader_class(self.tables, cipher_blocks())

    def guarantee(self, changed: int | None) -> Guarantee:
        from fastnoise.laws.layers.guarantees import guarantee

        return guarantee(self, changed)

    def _undecided_noise(
        self, some: list[int], key: bytes, address: int, noise: Array
    ) -> list[int]:
        drawn = self.reader.noise(key, address)
        return [drawn[i] for i in some]


@dataclass(frozen=True, eq=False, kw_only=True)
class BallLaw(LayersLaw):
    """Nested l1 balls, for a vector that moves by at most `steps` in l1."""

    filler = "l1_staircase"
    reader_class = BallReader

    steps: int
    radius: int

    def _tables(self) -> Tables:
        radii = (self.radius - 1 + k * self.steps for k in range(self.dim + 1))
        points = [l1_points(self.dim, radius) for radius in radii]
        thresholds = count_thresholds(self.dim, self.steps, self.radius)
        return layer_tables(self.epsilon, points, [self.steps], [self.radius], thresholds)

    @property
    def covered(self) -> float:
        return float_above(Fraction(self.grid) * self.steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxLaw(LayersLaw):
    """Nested boxes, for a vector whose coordinates move by at most `steps` each."""

    filler = "box_staircase"
    reader_class = BoxReader

    units: tuple[float, ...]  # the grid of each coordinate
    steps: tuple[int, ...]
    radii: tuple[int, ...]

    def _tables(self) -> Tables:
        sizes = list(zip(self.radii, self.steps, strict=True))
        points = [prod(2 * (r + k * n) - 1 for r, n in sizes) for k in range(self.dim + 1)]
        return layer_tables(self.epsilon, points, self.steps, self.radii)

    @cached_property
    def grids(self) -> npt.NDArray[np.float64]:
        return read_only(np.array(self.units))

    @property
    def covered(self) -> tuple[float, ...]:
        pairs = zip(self.steps, self.grids.tolist(), strict=True)
        return tuple(float_above(Fraction(grid) * steps) for steps, grid in pairs)


# --- on a grid ------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def ball_grid(epsilon: float, dim: int, sensitivity: float, gamma: float) -> float:
    """Fine compared with the sensitivity shared by all coordinates and with the mean of one."""
    finest = _finest_bits(epsilon, dim, sensitivity)
    return power_grid(sensitivity, min(_wanted_bits(epsilon, dim, gamma, dim), finest))


@lru_cache(maxsize=16)  # up to 4 MB each
def ball_law(
    epsilon: float, dim: int, sensitivity: float, gamma: float, grid: float | None
) -> BallLaw:
    if grid is None:
        unit = _finer(epsilon, dim, ball_grid(epsilon, dim, sensitivity, gamma), sensitivity)
        steps = ceil(Fraction(sensitivity) / Fraction(unit))
    else:
        steps, unit = steps_across(epsilon, sensitivity, grid, dim), grid
    radius = released_radius(gamma, steps)
    _refuse_wide(grid, epsilon, dim, [steps], [radius])
    return BallLaw(
        grid=unit,
        snapped=grid is not None,
        dim=dim,
        epsilon=epsilon,
        steps=steps,
        radius=radius,
    )


@lru_cache(maxsize=256)
def box_grids(
    epsilon: float, widths: tuple[float, ...], core: tuple[float, ...]
) -> tuple[float, ...]:
    """For each coordinate: fine beside its width and the mean of its noise."""
    dim = len(widths)
    shares = [min(z / s, 1.0) for z, s in zip(core, widths, strict=True)]
    wanted = _wanted_bits(epsilon, dim, min(shares), 1)
    bits = min(wanted, *(_finest_bits(epsilon, dim, width) for width in widths))
    return tuple(power_grid(width, bits) for width in widths)


@lru_cache(maxsize=16)
def box_law(
    epsilon: float,
    widths: tuple[float, ...],
    core: tuple[float, ...],
    grids: tuple[float, ...] | None,
) -> BoxLaw:
    dim, units = len(widths), grids
    if units is None:
        pairs = zip(box_grids(epsilon, widths, core), widths, strict=True)
        units = tuple(_finer(epsilon, dim, grid, width) for grid, width in pairs)
    steps = tuple(steps_across(epsilon, s, unit) for s, unit in zip(widths, units, strict=True))
    # A core that is empty has no weight: layers start at the next. Where they are too many for one
    # table, its one grid point has next to none.
    start = 0 in core and fits_one_table(epsilon, dim)
    shares = [Fraction(z) / Fraction(s) + start for z, s in zip(core, widths, strict=True)]
    radii = tuple(max(1, round(share * n)) for share, n in zip(shares, steps, strict=True))
    _refuse_wide(grids, epsilon, dim, steps, radii)
    return BoxLaw(
        grid=units[0],
        units=units,
        snapped=grids is not None,
        dim=dim,
        epsilon=epsilon,
        steps=steps,
        radii=radii,
    )


def _refuse_wide(
    grid: object, epsilon: float, dim: int, steps: Sequence[int], radii: Sequence[int]
) -> None:
    """Kernels draw noise of less than 2**52 steps; more must be rare."""
    if max(radii) >> NOISE_BITS:
        if grid is None:
            raise ValueError(f"core must be less than 2**{NOISE_BITS} grid steps to be released")
        allowed = f"coarse enough for an innermost step of less than 2**{NOISE_BITS} grid steps"
        raise ValueError(refusal("grid", grid, allowed))
    farthest, most = max(2 * dim, dim + FARTHEST_GIVEN), 1 << NOISE_BITS + 2
    second = max(steps) + max(radii) + dim  # the layer that a large epsilon may well reach
    if max(steps) * farthest > Fraction(epsilon) * most or second > most:
        allowed = (
            f"coarse enough that noise of 2**{NOISE_BITS + 2} steps is rare at epsilon {epsilon!r}"
        )
        raise ValueError(refusal("grid", grid, allowed))


def _wanted_bits(epsilon: float, dim: int, gamma: float, changed: int) -> int:
    """Grid steps per sensitivity, as a power of two; in decimal: the same on every machine."""
    with precise(max(epsilon, LEAST_EPSILON)) as exact:
        means = power_means(geometric_mean(exact), Decimal(gamma or 1.0), dim + 1)
        mean = float(max(means[dim + 1] / means[dim] / (dim + 1), Decimal("1e-300")))
    return max(
        STEPS_BITS, WIDENED_BITS + (changed - 1).bit_length(), MEAN_BITS - frexp(mean)[1] + 1
    )


def _finest_bits(epsilon: float, dim: int, sensitivity: float) -> int:
    """A typical layer, dim / epsilon, times the steps of one is within NOISE_BITS."""
    refuse_small(epsilon)
    bits = NOISE_BITS - max(0, frexp(dim / epsilon)[1])
    farthest, steps = (dim + FARTHEST_LAYER) / epsilon, 2.0 * frexp(sensitivity)[0]
    while farthest * ldexp(steps, bits) > 2.0 ** (NOISE_BITS + 2):
        bits -= 1
    return bits


def _finer(epsilon: float, dim: int, grid: float, sensitivity: float) -> float:
    bits = frexp(sensitivity)[1] - frexp(grid)[1]
    finest = _finest_bits(epsilon, dim, sensitivity)
    return ldexp(grid, -max(0, min(TEXTBOOK_BITS, finest - bits)))
