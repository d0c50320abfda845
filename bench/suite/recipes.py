"""What one writes with numpy alone: the baselines. One thread, not secure, not attack-proof.

Each draws `size` values or vectors of a mechanism's law. Several ways were tried, and the fastest
kept; `BASELINES` says which is whose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Generator = np.random.Generator


def staircase(generator: Generator, law: Any, size: int) -> Array:
    """Algorithm 1 of Geng's dissertation, vectorised: sign, geometric, Bernoulli, uniform."""
    b, gamma = math.exp(-law.epsilon), law.gamma
    noise = generator.random(size)
    inner = generator.random(size) < gamma / (gamma + (1 - gamma) * b)
    noise *= np.where(inner, gamma, 1 - gamma)
    noise += np.where(inner, 0.0, gamma)
    noise += generator.geometric(1 - b, size)
    noise -= 1.0
    noise *= law.sensitivity
    np.negative(noise, where=generator.random(size) < 0.5, out=noise)
    return noise


def laplace(generator: Generator, law: Any, size: int) -> Array:
    return generator.laplace(scale=law.scale, size=size)


def l2_laplace(generator: Generator, law: Any, size: int) -> Array:
    """A Gamma radius times normalised normals."""
    noise = generator.standard_normal((size, law.dim))
    radius = generator.standard_gamma(law.dim, size)
    radius *= law.scale
    radius /= np.sqrt(np.einsum("ij,ij->i", noise, noise))
    noise *= radius[:, None]
    return noise


def inverse_cdf(generator: Generator, law: Any, size: int) -> Integers:
    """`searchsorted` in the cumulative probabilities of -most .. most."""
    most = int(min(law.support()[1], 40 * law.sensitivity))
    return np.searchsorted(_cumulative(law, most), generator.random(size)) - most


@lru_cache
def _cumulative(law: Any, most: int) -> Array:
    return np.asarray(np.cumsum(law.pmf(np.arange(-most, most + 1))))


def discrete_uniform(generator: Generator, law: Any, size: int) -> Integers:
    """Flat, with half as much at either end: one of two neighbours of a uniform integer."""
    most = int(law.support()[1])
    noise = generator.integers(-most, most, size)
    noise += generator.integers(0, 2, size)
    return noise


def discrete_staircase(generator: Generator, law: Any, size: int) -> Integers:
    """Algorithm 1 in integers: sign, geometric, residue; the second zero is drawn again."""
    b, r, sensitivity = math.exp(-law.epsilon), law.r, law.sensitivity
    inner = generator.random(size) < r / (r + b * (sensitivity - r))
    noise = np.where(
        inner, generator.integers(0, r, size), generator.integers(r, max(sensitivity, r + 1), size)
    )
    noise += (generator.geometric(1 - b, size) - 1) * sensitivity
    negative = generator.random(size) < 0.5
    again = negative & (noise == 0)
    np.negative(noise, where=negative, out=noise)
    if again.any():
        noise[again] = discrete_staircase(generator, law, int(np.count_nonzero(again)))
    return noise


def discrete_laplace(generator: Generator, law: Any, size: int) -> Integers:
    """The difference of two geometric variables."""
    p = -math.expm1(-law.epsilon / law.sensitivity)
    noise = generator.geometric(p, size)
    noise -= generator.geometric(p, size)
    return noise


def l1_staircase(generator: Generator, law: Any, size: int) -> Array:
    """A layer by `searchsorted`, then exponentials over their sum, with signs."""
    noise = generator.standard_exponential((size, law.dim))
    total = noise.sum(axis=1)
    total += generator.standard_exponential(size)
    np.divide((_layers(generator, law, size) + law.gamma) * law.sensitivity, total, out=total)
    signs = generator.integers(0, 2, noise.shape, dtype=np.int8)
    signs *= 2
    signs -= 1
    noise *= signs
    noise *= total[:, None]
    return noise


def box_staircase(generator: Generator, law: Any, size: int) -> Array:
    """A layer by `searchsorted`, then uniforms."""
    half = np.multiply.outer(_layers(generator, law, size), np.array(law.widths))
    half += law.core
    noise = generator.random((size, law.dim))
    noise *= 2.0
    noise -= 1.0
    noise *= half
    return noise


def _layers(generator: Generator, law: Any, size: int) -> Integers:
    return np.searchsorted(_layer_cdf(law), generator.random(size))


@lru_cache
def _layer_cdf(law: Any) -> Array:
    return np.asarray(np.cumsum(law.layer_pmf(np.arange(80))))


def staircase_choice(generator: Generator, law: Any, costs: Array) -> Integers:
    """Inverse CDF in the running sums of the weights of each row."""
    weights = costs / law.sensitivity
    weights -= law.gamma
    np.floor(weights, out=weights)
    weights += 1.0
    np.maximum(weights, 0.0, out=weights)
    weights *= -law.epsilon
    np.exp(weights, out=weights)
    np.cumsum(weights, axis=1, out=weights)
    threshold = generator.random(len(costs)) * weights[:, -1]
    return np.asarray((weights <= threshold[:, None]).sum(axis=1))


class Baseline(NamedTuple):
    recipe: Callable[..., Any]
    wanted: int  # how many times as fast as it we have to be on 2 threads


# By the name of a mechanism in the registry, or of one of its benchmarked parameters.
BASELINES = {
    "Staircase": Baseline(staircase, 20),
    "Laplace": Baseline(laplace, 5),
    "L2Laplace": Baseline(l2_laplace, 10),
    "MultiUserLaplace": Baseline(l2_laplace, 6),
    "L1Staircase": Baseline(l1_staircase, 8),
    "BoxStaircase": Baseline(box_staircase, 8),
    "Geometric": Baseline(discrete_laplace, 8),
    "DiscreteStaircase, sensitivity 10": Baseline(inverse_cdf, 20),
    "DiscreteStaircase, sensitivity 10**6": Baseline(discrete_staircase, 10),
    "DiscreteLaplace": Baseline(discrete_laplace, 8),
    "DiscreteUniform": Baseline(discrete_uniform, 4),
    "StaircaseChoice": Baseline(staircase_choice, 5),
}
FOR_INTEGERS = Baseline(inverse_cdf, 10)  # draws any law on the integers
