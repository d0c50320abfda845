"""The mechanisms that are verified, by family, in the shapes that the code tells apart."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.mechanisms.box_staircase import BoxStaircase
from fastnoise.mechanisms.discrete_laplace import DiscreteLaplace
from fastnoise.mechanisms.discrete_staircase import DiscreteStaircase, Geometric
from fastnoise.mechanisms.discrete_uniform import DiscreteUniform
from fastnoise.mechanisms.l1_staircase import L1Staircase
from fastnoise.mechanisms.l2_laplace import L2Laplace, MultiUserLaplace
from fastnoise.mechanisms.laplace import Laplace
from fastnoise.mechanisms.staircase import Staircase
from fastnoise.mechanisms.staircase_choice import StaircaseChoice
from fastnoise.mechanisms.truncated_discrete_laplace import TruncatedDiscreteLaplace

# Short rows, long ones, two digits of levels, sloping rows, one table of layers, several;
# l2 noise without places in cells, with spare bits for them, with words for them.
USUAL: list[Any] = [
    *(Staircase(1.0), Staircase(0.005, 0.3), Staircase(20.0, 1000.0)),
    *(Staircase(1e-3, 2.0, cost="l2"), Staircase(0.5, gamma=0.0)),
    *(Laplace(1.0), Laplace(1e-3, 0.3), Laplace(20.0, 1000.0)),
    *(L2Laplace(0.5, dim, 3.0) for dim in (1, 2, 3, 5, 16)),
    *(MultiUserLaplace(2.0, dim) for dim in (1, 2, 5)),
    MultiUserLaplace(1e-3, 5),
    *(L1Staircase(2.0, dim, 0.7) for dim in (1, 2, 4, 16)),
    L1Staircase(0.01, 3, gamma=0.25),
    *(BoxStaircase(1.0, (3.0,)), BoxStaircase(1.0, (1.0, 2.0, 4.0, 8.0))),
    *(BoxStaircase(0.01, (1.0, 10.0), core=(0.1, 1.0)), BoxStaircase(1.0, (1.0, 3.0), core=(0, 3))),
    *(Geometric(1.0), Geometric(0.01)),
    *(DiscreteStaircase(0.5, 10), DiscreteStaircase(1e-3, 1000, r=1000)),
    *(DiscreteLaplace(1.0), DiscreteLaplace(0.3, 7), DiscreteLaplace(1e-3, 1000)),
    *(DiscreteUniform(0.01, 3), DiscreteUniform(0.07)),
    *(TruncatedDiscreteLaplace(0.5, 1e-4, 3), TruncatedDiscreteLaplace(2.0, 1e-6)),
    TruncatedDiscreteLaplace(1.0, 0.01, 2**20),
]
# As far as it goes: the least and the largest epsilon, sensitivity and scale, in exact arithmetic.
EXTREME: list[Any] = [
    *(Staircase(1e-6, 1e-9), Staircase(50.0, 7e12, gamma=0.5)),
    *(Laplace(1e-6, 1e-9), Laplace(50.0, 7e12)),
    *(L1Staircase(1e-6, 2), L1Staircase(50.0, 3, 1e-9), L1Staircase(20.0, 64)),
    *(BoxStaircase(1e-6, (1.0, 2.0, 3.0)), BoxStaircase(50.0, (1.0, 1e9))),
    *(Geometric(1e-6), Geometric(50.0)),
    *(DiscreteStaircase(1e-6, 2**30), DiscreteStaircase(50.0, 2**40)),
    *(DiscreteLaplace(2.0**-12, 2**40), DiscreteLaplace(50.0, 2**40)),
    *(DiscreteUniform(Fraction(1, 2**50), 3), DiscreteUniform(0.99, 5)),
    *(TruncatedDiscreteLaplace(1e-6, 0.1, 2**32), TruncatedDiscreteLaplace(50.0, 1e-3)),
    TruncatedDiscreteLaplace(1.0, Fraction(1, 10**30), 2**40),
]
CHOICES: list[Any] = [StaircaseChoice(0.5), StaircaseChoice(2.0, 3.0, gamma=0.25)]


def families(mechanisms: list[Any]) -> dict[str, list[Any]]:
    """By the name of the class."""
    found: dict[str, list[Any]] = {}
    for mechanism in mechanisms:
        found.setdefault(type(mechanism).__name__, []).append(mechanism)
    return found


def from_tables(mechanism: Any) -> bool:
    """Whether it is drawn from tables alone: l2 noise of vectors is computed."""
    return not (isinstance(mechanism, L2Laplace | MultiUserLaplace) and mechanism.dim > 1)


def data_dtype(mechanism: Any) -> type[np.generic]:
    """What it takes without converting."""
    return np.int64 if mechanism._release(mechanism.grid).integers else np.float64


def grids(mechanism: Any) -> list[float]:
    """One for each value of a draw."""
    dim = getattr(mechanism, "dim", 1)
    return list(mechanism.grid) if isinstance(mechanism.grid, tuple) else [mechanism.grid] * dim


def neighbour_step(mechanism: Any) -> npt.NDArray[np.float64]:
    """A change of one draw that privacy covers: the widths of a box, else the first coordinate."""
    if isinstance(mechanism, BoxStaircase):
        return np.array(mechanism.widths)
    step = np.zeros(getattr(mechanism, "dim", 1))
    step[0] = mechanism.sensitivity
    return step
