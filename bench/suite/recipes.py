"""What one writes with numpy alone: the baselines. One thread, not secure, not attack-proof."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def staircase(
    generator: np.random.Generator, size: int, epsilon: float, sensitivity: float, gamma: float
) -> Array:
    """Algorithm 1 of Geng's dissertation, vectorised: sign, geometric, Bernoulli, uniform."""
    b = math.exp(-epsilon)
    noise = generator.random(size)
    inner = generator.random(size) < gamma / (gamma + (1 - gamma) * b)
    noise *= np.where(inner, gamma, 1 - gamma)
    noise += np.where(inner, 0.0, gamma)
    noise += generator.geometric(1 - b, size)
    noise -= 1.0
    noise *= sensitivity
    np.negative(noise, where=generator.random(size) < 0.5, out=noise)
    return noise


def discrete_staircase_table(
    generator: np.random.Generator, size: int, cumulative: Array, most: int
) -> Integers:
    """Inverse CDF by `searchsorted` in the cumulative probabilities of -most .. most."""
    return np.searchsorted(cumulative, generator.random(size)) - most


def discrete_staircase(
    generator: np.random.Generator, size: int, epsilon: float, sensitivity: int, r: int
) -> Integers:
    """Algorithm 1 in integers: sign, geometric, residue; the second zero is drawn again."""
    b = math.exp(-epsilon)
    inner = generator.random(size) < r / (r + b * (sensitivity - r))
    noise = np.where(
        inner, generator.integers(0, r, size), generator.integers(r, max(sensitivity, r + 1), size)
    )
    noise += (generator.geometric(1 - b, size) - 1) * sensitivity
    negative = generator.random(size) < 0.5
    again = negative & (noise == 0)
    np.negative(noise, where=negative, out=noise)
    if again.any():
        noise[again] = discrete_staircase(
            generator, int(np.count_nonzero(again)), epsilon, sensitivity, r
        )
    return noise


def geometric(generator: np.random.Generator, size: int, epsilon: float) -> Integers:
    """The difference of two geometric variables."""
    p = 1 - math.exp(-epsilon)
    noise = generator.geometric(p, size)
    noise -= generator.geometric(p, size)
    return noise
