"""What one writes with numpy alone: the baselines. One thread, not secure, not attack-proof."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


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
