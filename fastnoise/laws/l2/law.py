"""The l2 Laplace law: real numbers, rounded to the grid exactly.

Any ratio of densities survives that: cells of the grid are translates of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import frexp, inf, ldexp, sqrt

import numpy as np
from fastnoise_kernels import layout
from fastnoise_kernels.layout import BYTE_BITS, SPARE_BITS

from fastnoise.arithmetic.elementary import root_bounds
from fastnoise.arithmetic.floats import float_above
from fastnoise.bits import cipher_blocks
from fastnoise.certificate import Guarantee
from fastnoise.compiled import read_only
from fastnoise.laws.alias import Tables
from fastnoise.laws.grids import MEAN_BITS, STEPS_BITS, WIDENED_BITS, power_grid, refuse_small
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.laws.law import Array
from fastnoise.laws.vectors import VectorLaw
from fastnoise.rows import Rows
from fastnoise.validation import refusal

FLOAT_BITS = 53
CELL_BITS = 16
FEWEST_FINE_BITS = 6  # of coins that matter, one in 2**fine is left to the reader
TEXTBOOK_BITS = 10  # how much finer the noise of grid=None is, at least where it fits
ROOT_BITS = 50


@dataclass(frozen=True, eq=False, kw_only=True)
class L2Law(VectorLaw):
    """l2 noise for vectors that move by at most `covered` together, once they are snapped.

    users: how many vectors that is for, each of which snapping may move by half a grid cell.
    """

    filler = "l2_laplace"

    epsilon: float
    sensitivity: float  # of the data before it is snapped
    users: int
    scale: float  # of the noise, in grid steps

    def _tables(self) -> Tables:
        return l2_tables(self.dim, self.scale)

    @property
    def covered(self) -> float:
        return l2_sensitivity(self.dim, self.sensitivity, self.users, self.grid)

    @cached_property
    def reader(self) -> L2Reader:
        return L2Reader(self.tables, cipher_blocks())

    def guarantee(self, changed: int | None) -> Guarantee:
        from fastnoise.laws.l2.guarantees import guarantee

        return guarantee(self, changed)

    def _undecided_noise(
        self, some: list[int], key: bytes, address: int, noise: Array
    ) -> list[int]:
        if len(some) == self.dim:  # the coin, most likely; without it the cells are known
            tables = self.tables.copy()
            tables[layout.KEPT_BELOW] = 1 << SPARE_BITS
            noise = self.with_tables(tables).noise(key, Rows.of([address]), 1)[0]
        return list(self.reader.noise_at(some, key, address, noise.tolist()))


# --- on a grid ------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def l2_grid(epsilon: float, dim: int, sensitivity: float, users: int) -> float:
    """Fine compared with the sensitivity shared by `users` and with a coordinate of the noise."""
    refuse_small(epsilon)
    spread = ((users * users * dim - 1).bit_length() + 1) // 2  # of users * sqrt(dim)
    wanted = max(STEPS_BITS, WIDENED_BITS + spread, MEAN_BITS + frexp(epsilon)[1])
    for bits in range(min(wanted, FLOAT_BITS), -1, -1):
        grid = power_grid(sensitivity, bits)
        if _l2_scale(epsilon, dim, l2_sensitivity(dim, sensitivity, users, grid), grid) is not None:
            return grid
    allowed, why = f"larger for {users:,} vectors of {dim} numbers", "noise has 2**53 grid steps"
    raise ValueError(refusal("epsilon", epsilon, allowed, why))


def l2_sensitivity(dim: int, sensitivity: float, users: int, grid: float) -> float:
    """At least sensitivity + users * sqrt(dim) * grid."""
    return float_above(
        Fraction(sensitivity) + users * root_bounds(dim, ROOT_BITS)[1] * Fraction(grid)
    )


@lru_cache(maxsize=64)
def l2_law(epsilon: float, dim: int, sensitivity: float, users: int, grid: float | None) -> L2Law:
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
    return L2Law(
        grid=unit,
        snapped=grid is not None,
        dim=dim,
        epsilon=epsilon,
        sensitivity=sensitivity,
        users=users,
        scale=scale,
    )


def l2_tables(dim: int, scale: float) -> Tables:
    fine, shape = fine_bits(dim, scale), _shape(dim)
    law = np.zeros(layout.VECTOR_HEADER, np.uint64)
    bytes_of_places = (dim + 3) // 4 if fine > SPARE_BITS else 0
    law[layout.WIDTH], law[layout.DIM] = 2 * layout.l2_words(dim) + bytes_of_places, dim
    kept = max(Fraction(0), 1 - _slope(dim, scale, fine)) * (1 << SPARE_BITS + 64)
    law[layout.KEPT_BELOW : layout.KEPT_BELOW + 2] = divmod(int(kept), 1 << 64)
    law[layout.FINE_BITS] = fine
    floats = law.view(np.float64)
    floats[layout.SCALE] = scale
    floats[layout.SHAPE : layout.SHAPE + 2] = shape, 1 / sqrt(9 * shape)
    return read_only(law)


def fine_bits(dim: int, scale: float) -> int:
    """How many grid steps a cell has, as a power of two.

    Noise of n cells is too near to the edge of one about once in 2**35 / n coordinates, which is
    half a microsecond for a second look, and has a place that may not be kept once in n / dim rows,
    another one, and more for many coordinates: the best n is about 2**16 * sqrt(dim).
    """
    cells = CELL_BITS + (dim.bit_length() - 1) // 2
    fine = frexp(scale * _typical_radius(dim))[1] - cells
    if fine == SPARE_BITS + 1:  # one less costs less than a byte per coordinate
        return SPARE_BITS
    return min(fine, SPARE_BITS + BYTE_BITS) if fine > FEWEST_FINE_BITS else 0


def _slope(dim: int, scale: float, bits: int) -> Fraction:
    """At least how much the density falls across a cell: by less than its diagonal / scale."""
    return (1 << bits) * root_bounds(dim, ROOT_BITS)[1] / Fraction(scale)


def _shape(dim: int) -> float:
    """chi of dim + 1 degrees is the root of twice a Gamma((dim + 1) / 2) variable."""
    return (dim + 1) / 2 - 1 / 3


def _typical_radius(dim: int) -> float:
    """The typical size of noise of scale 1; from four dimensions on, of its factor chi."""
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
