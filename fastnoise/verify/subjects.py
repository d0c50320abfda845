"""The mechanisms that are verified, by family, in the shapes that the code tells apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.laws.l2.law import L2Law
from fastnoise.registry import REGISTRY

USUAL: list[Any] = [m for r in REGISTRY.values() if r.kind == "additive" for m in r.build()]
EXTREME: list[Any] = [m for r in REGISTRY.values() for m in r.build_extremes()]
CHOICES: list[Any] = [m for r in REGISTRY.values() if r.kind == "channel" for m in r.build()]


def families(mechanisms: list[Any]) -> dict[str, list[Any]]:
    """By the name of the class."""
    found: dict[str, list[Any]] = {}
    for mechanism in mechanisms:
        found.setdefault(type(mechanism).__name__, []).append(mechanism)
    return found


def from_tables(mechanism: Any) -> bool:
    """Whether it is drawn from tables alone: l2 noise of vectors is computed."""
    return not isinstance(mechanism._law(mechanism.grid), L2Law)


def data_dtype(mechanism: Any) -> type[np.generic]:
    """What it takes without converting."""
    return np.int64 if mechanism._law(mechanism.grid).integers else np.float64


def grids(mechanism: Any) -> list[float]:
    """One for each value of a draw."""
    dim = getattr(mechanism, "dim", 1)
    return list(mechanism.grid) if isinstance(mechanism.grid, tuple) else [mechanism.grid] * dim


def neighbour_step(mechanism: Any) -> npt.NDArray[np.float64]:
    """A change of one draw that privacy covers: the widths of a box, else the first coordinate."""
    if mechanism.privacy.adjacency == "box":
        return np.array(mechanism.widths)
    step = np.zeros(getattr(mechanism, "dim", 1))
    step[0] = mechanism.sensitivity
    return step
