"""How many integer vectors an l1 ball has, by the number of their zeros."""

from __future__ import annotations

from itertools import accumulate

from fastnoise_kernels.layout import LEAST_PER_SQUARE


def points_by_count(dim: int, radius: int) -> list[int]:
    """By j = 0 .. dim: how many vectors with |n_1| + .. + |n_dim| <= radius have j that are not 0.

    C(dim, j) places, C(radius, j) sets of partial sums, 2**j signs.
    """
    points = [1]
    for j in range(dim):
        points.append(2 * points[-1] * (dim - j) * (radius - j) // (j + 1) ** 2)
    return points


def l1_points(dim: int, radius: int) -> int:
    """How many integer vectors have |n_1| + .. + |n_dim| <= radius."""
    return sum(points_by_count(dim, radius))


def small_layers(dim: int, steps: int, radius: int) -> int:
    """How many layers, |n_1| + .. + |n_dim| <= radius - 1 + layer * steps, are small balls."""
    return max(0, -((radius - 1 + dim - LEAST_PER_SQUARE * dim**2) // steps))


def count_thresholds(dim: int, steps: int, radius: int) -> list[int]:
    """For each small layer: a uniform word above threshold j means more than j that are not 0.

    Equality leaves it open: thresholds are rounded down to 64 bits.
    """
    thresholds = []
    for layer in range(small_layers(dim, steps, radius)):
        *sums, total = accumulate(points_by_count(dim, radius - 1 + layer * steps))
        thresholds += [min((part << 64) // total, (1 << 64) - 1) for part in sums]
    return thresholds
