"""What is released of vectors: a grid, a law on it, the sensitivity that covers both.

Sensitivities are those of docs/mathematics.md#grid-release.
Balls of integers, in l1 or coordinate by coordinate, make staircases that are exact. The l2 noise
is that of real numbers, rounded to the grid, which any ratio of densities survives: cells of the
grid are translates of each other.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp, inf, isqrt, ldexp, prod, sqrt

import numpy as np
from fastnoise_kernels import layout
from fastnoise_kernels.layout import BYTE_BITS, SPARE_BITS

from fastnoise.arithmetic import float_above
from fastnoise.balls import count_thresholds, l1_points
from fastnoise.design.moments import geometric_mean, power_means, precise
from fastnoise.layer_tables import fits_one_table, layer_law
from fastnoise.release import (
    LEAST_EPSILON,
    MEAN_BITS,
    STEPS_BITS,
    WIDENED_BITS,
    Release,
    laplace_release,
    power_grid,
    refuse_small,
    staircase_release,
    steps_across,
)
from fastnoise.tables import Law
from fastnoise.validation import refusal

NOISE_BITS = 50  # noise of many sensitivities stays below 2**53, where floats have no gaps
# Layers are about a Gamma(dim + 1) number over epsilon. The reader draws those of 2**52 steps or
# more: less than 2% of them if that is dim + 7 over epsilon, 5% if it is dim + 6.
FARTHEST_LAYER, FARTHEST_GIVEN = 7, 6
FLOAT_BITS = 53
CELL_BITS = 16
FEWEST_FINE_BITS = 6  # of coins that matter, one in 2**fine is left to the reader
TEXTBOOK_BITS = 10  # how much finer the noise of grid=None is, at least where it fits


def vector_release(filler: str, law: Law, grids: Sequence[float], snapped: bool) -> Release:
    array = np.array(grids)
    array.flags.writeable = False
    return Release(filler, law, grids[0], snapped, dim=len(grids), grids=array)


# --- l2 -------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def l2_grid(epsilon: float, dim: int, sensitivity: float, users: int) -> float:
    """Fine beside the sensitivity shared by so many users, and beside a coordinate of the noise."""
    refuse_small(epsilon)
    spread = ((users * users * dim - 1).bit_length() + 1) // 2  # of users * sqrt(dim)
    wanted = max(STEPS_BITS, WIDENED_BITS + spread, MEAN_BITS + frexp(epsilon)[1])
    for bits in range(min(wanted, FLOAT_BITS), -1, -1):
        grid = power_grid(sensitivity, bits)
        if _l2_scale(epsilon, dim, l2_sensitivity(dim, sensitivity, users, grid), grid) is not None:
            return grid
    allowed = f"larger for {users:,} vectors of {dim} numbers: their noise has 2**53 grid steps"
    raise ValueError(refusal("epsilon", epsilon, allowed))


def l2_sensitivity(dim: int, sensitivity: float, users: int, grid: float) -> float:
    """At least sensitivity + users * sqrt(dim) * grid."""
    return float_above(Fraction(sensitivity) + users * _root_above(dim) * Fraction(grid))


@lru_cache(maxsize=64)
def l2_release(
    epsilon: float, dim: int, sensitivity: float, users: int, grid: float | None
) -> Release:
    """The l2 Laplace law; on the line, and for users on the line, the exact Laplace law."""
    if dim == 1:
        return laplace_release(epsilon, sensitivity, grid, users)
    if grid is None:
        finer = range(TEXTBOOK_BITS, 0, -1)
        own = l2_grid(epsilon, dim, sensitivity, users)
        units = [*(ldexp(own, -bits) for bits in finer), own]
        pairs = [(unit, _l2_scale(epsilon, dim, sensitivity, unit)) for unit in units]
        unit, scale = next(pair for pair in pairs if pair[1] is not None)
    else:
        refuse_small(epsilon)
        wide = l2_sensitivity(dim, sensitivity, users, grid)
        unit, scale = grid, _l2_scale(epsilon, dim, wide, grid)
    if scale is None:
        raise ValueError(refusal("grid", grid, "coarse enough for noise of less than 2**53 steps"))
    return vector_release("l2_laplace", _l2_law(dim, scale), [unit] * dim, grid is not None)


def _l2_law(dim: int, scale: float) -> Law:
    fine, shape = fine_bits(dim, scale), _shape(dim)
    law = np.zeros(layout.VECTOR_HEADER, np.uint64)
    bytes_of_places = (dim + 3) // 4 if fine > SPARE_BITS else 0
    law[layout.WIDTH], law[layout.DIM] = 2 * layout.l2_words(dim) + bytes_of_places, dim
    kept = max(Fraction(0), 1 - _slope(dim, scale, fine)) * (1 << SPARE_BITS + 64)
    law[layout.KEPT_BELOW : layout.KEPT_BELOW + 2] = divmod(int(kept), 1 << 64)
    law[layout.FINE_BITS], law[layout.SCALE] = fine, _float_word(scale)
    law[layout.SHAPE : layout.SHAPE + 2] = _float_word(shape), _float_word(1 / sqrt(9 * shape))
    law.flags.writeable = False
    return law


def fine_bits(dim: int, scale: float) -> int:
    """How many grid steps a cell has, as a power of two.

    Noise of n cells is too near to the edge of one about once in 2**35 / n coordinates, which is
    half a microsecond for a second look, and has a place that may not be kept once in n / dim rows,
    another one, and more for many coordinates: the best n is about 2**16 * sqrt(dim).
    """
    cells = CELL_BITS + (dim.bit_length() - 1) // 2
    fine = frexp(scale * _typical_radius(dim))[1] - cells
    if fine == SPARE_BITS + 1:  # one less costs less than a byte a coordinate
        return SPARE_BITS
    return min(fine, SPARE_BITS + BYTE_BITS) if fine > FEWEST_FINE_BITS else 0


def _slope(dim: int, scale: float, bits: int) -> Fraction:
    """At least how much the density falls across a cell: by less than its diagonal / scale."""
    return (1 << bits) * _root_above(dim) / Fraction(scale)


def _root_above(dim: int) -> Fraction:
    return Fraction(isqrt(dim << 100) + 1, 1 << 50)


def _shape(dim: int) -> float:
    """chi of dim + 1 degrees is the root of twice a Gamma((dim + 1) / 2) variable."""
    return (dim + 1) / 2 - 1 / 3


def _typical_radius(dim: int) -> float:
    """Of noise of scale 1; from four dimensions on, of its factor chi."""
    return float(dim) if dim <= layout.SPACE else sqrt(dim + 1)


def _l2_scale(epsilon: float, dim: int, sensitivity: float, grid: float) -> float | None:
    """The scale of the noise in grid steps; None if floats might not count its coordinates.

    What is 2**52 steps or more is left to the reader: a radius of 64, a chi of 8 more than twice
    the typical one, which no one will see.
    """
    if sensitivity == inf:
        return None
    scale = float_above(Fraction(sensitivity) / Fraction(epsilon) / Fraction(grid))
    most = 2.0**46 if dim <= layout.SPACE else 2.0**49 / (2 * _typical_radius(dim) + 8)
    return scale if scale <= most else None


# --- staircases -----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def l1_staircase_grid(epsilon: float, dim: int, sensitivity: float, gamma: float) -> float:
    """Fine beside the sensitivity shared by all coordinates, and beside the mean of one."""
    finest = _finest_staircase_bits(epsilon, dim, sensitivity)
    return power_grid(sensitivity, min(_staircase_bits(epsilon, dim, gamma, dim), finest))


@lru_cache(maxsize=16)  # up to 4 MB each
def l1_staircase_release(
    epsilon: float, dim: int, sensitivity: float, gamma: float, grid: float | None
) -> Release:
    if dim == 1:
        return staircase_release(epsilon, sensitivity, gamma, grid)
    if grid is None:
        unit = _finer(
            epsilon, dim, l1_staircase_grid(epsilon, dim, sensitivity, gamma), sensitivity
        )
        steps = ceil(Fraction(sensitivity) / Fraction(unit))
    else:
        steps, unit = steps_across(epsilon, sensitivity, grid, dim), grid
    radius = max(1, round(Fraction(gamma or 1.0) * steps))
    _refuse_wide(grid, epsilon, dim, [steps], [radius])
    law = ball_law(epsilon, dim, steps, radius)
    return vector_release("l1_staircase", law, [unit] * dim, grid is not None)


def ball_law(epsilon: float, dim: int, steps: int, radius: int) -> Law:
    points = [l1_points(dim, radius - 1 + k * steps) for k in range(dim + 1)]
    thresholds = count_thresholds(dim, steps, radius)
    return layer_law(epsilon, points, [steps], [radius], thresholds)


@lru_cache(maxsize=256)
def box_staircase_grids(
    epsilon: float, widths: tuple[float, ...], core: tuple[float, ...]
) -> tuple[float, ...]:
    """For each coordinate: fine beside its width and the mean of its noise."""
    dim = len(widths)
    shares = [min(z / s, 1.0) for z, s in zip(core, widths, strict=True)]
    wanted = _staircase_bits(epsilon, dim, min(shares), 1)
    bits = min(wanted, *(_finest_staircase_bits(epsilon, dim, width) for width in widths))
    return tuple(power_grid(width, bits) for width in widths)


@lru_cache(maxsize=16)
def box_staircase_release(
    epsilon: float,
    widths: tuple[float, ...],
    core: tuple[float, ...],
    grids: tuple[float, ...] | None,
) -> Release:
    dim, units = len(widths), grids
    if units is None:
        pairs = zip(box_staircase_grids(epsilon, widths, core), widths, strict=True)
        units = tuple(_finer(epsilon, dim, grid, width) for grid, width in pairs)
    steps = [steps_across(epsilon, s, unit) for s, unit in zip(widths, units, strict=True)]
    # A core that is empty has no weight: layers start at the next. Where they are too many for one
    # table, its one grid point has next to none.
    start = 0 in core and fits_one_table(epsilon, dim)
    shares = [Fraction(z) / Fraction(s) + start for z, s in zip(core, widths, strict=True)]
    radii = [max(1, round(share * n)) for share, n in zip(shares, steps, strict=True)]
    _refuse_wide(grids, epsilon, dim, steps, radii)
    points = [
        prod(2 * (r + k * n) - 1 for r, n in zip(radii, steps, strict=True)) for k in range(dim + 1)
    ]
    law = layer_law(epsilon, points, steps, radii)
    return vector_release("box_staircase", law, units, grids is not None)


def _refuse_wide(
    grid: object, epsilon: float, dim: int, steps: Sequence[int], radii: Sequence[int]
) -> None:
    """Kernels draw noise of less than 2**52 steps; more must be rare."""
    if max(radii) >> NOISE_BITS:
        if grid is None:
            raise ValueError(f"core must be less than 2**{NOISE_BITS} grid steps to be released")
        allowed = f"coarse enough for an innermost step of less than 2**{NOISE_BITS} grid steps"
        raise ValueError(refusal("grid", grid, allowed))
    if max(steps) * max(2 * dim, dim + FARTHEST_GIVEN) > Fraction(epsilon) * (1 << NOISE_BITS + 2):
        allowed = (
            f"coarse enough that noise of 2**{NOISE_BITS + 2} steps is rare at epsilon {epsilon!r}"
        )
        raise ValueError(refusal("grid", grid, allowed))


def _staircase_bits(epsilon: float, dim: int, gamma: float, changed: int) -> int:
    """Grid steps a sensitivity, as a power of two; in decimal: the same on every machine."""
    with precise(max(epsilon, LEAST_EPSILON)) as exact:
        means = power_means(geometric_mean(exact), Decimal(gamma or 1.0), dim + 1)
        mean = float(max(means[dim + 1] / means[dim] / (dim + 1), Decimal("1e-300")))
    return max(
        STEPS_BITS, WIDENED_BITS + (changed - 1).bit_length(), MEAN_BITS - frexp(mean)[1] + 1
    )


def _finest_staircase_bits(epsilon: float, dim: int, sensitivity: float) -> int:
    """A typical layer, dim / epsilon, times the steps of one is within NOISE_BITS."""
    refuse_small(epsilon)
    bits = NOISE_BITS - max(0, frexp(dim / epsilon)[1])
    farthest, steps = (dim + FARTHEST_LAYER) / epsilon, 2.0 * frexp(sensitivity)[0]
    while farthest * ldexp(steps, bits) > 2.0 ** (NOISE_BITS + 2):
        bits -= 1
    return bits


def _finer(epsilon: float, dim: int, grid: float, sensitivity: float) -> float:
    bits = frexp(sensitivity)[1] - frexp(grid)[1]
    finest = _finest_staircase_bits(epsilon, dim, sensitivity)
    return ldexp(grid, -max(0, min(TEXTBOOK_BITS, finest - bits)))


# --- floats ---------------------------------------------------------------------------------------


def _float_word(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")
