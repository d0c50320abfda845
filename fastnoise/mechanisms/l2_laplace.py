"""Laplace noise of the l2 norm, for one vector and for users (Koufogiannis, Han and Pappas)."""

from __future__ import annotations

from dataclasses import dataclass

from fastnoise.ideal.l2_laplace import IdealL2Laplace, IdealMultiUserLaplace
from fastnoise.laws.grids import CHANGED
from fastnoise.laws.l2.law import L2Law, l2_grid, l2_law
from fastnoise.laws.line.law import LaplaceLaw, laplace_grid, laplace_law
from fastnoise.mechanisms.mechanism import (
    VectorMechanism,
)
from fastnoise.validation import epsilon_below, sensitivity_above, whole

LARGEST_DIM = 65_536


@dataclass(frozen=True, init=False)
class _Vectors(VectorMechanism):
    """The parameters of both, and what does not depend on the adjacency."""

    _lipschitz = True

    epsilon: float
    dim: int
    sensitivity: float

    def __init__(self, epsilon: float, dim: int, sensitivity: float = 1.0) -> None:
        vars(self).update(
            epsilon=epsilon_below(epsilon),
            dim=whole("dim", dim, 1, LARGEST_DIM + 1),
            sensitivity=sensitivity_above(sensitivity),
        )

    @property
    def grid(self) -> float:
        if self.dim == 1:
            return laplace_grid(self.epsilon, self.sensitivity, self._made_for or 1)
        return l2_grid(self.epsilon, self.dim, self.sensitivity, self._made_for or 1)

    def _law(self, grid: float | None) -> LaplaceLaw | L2Law:
        """On the line, and for users on the line, the exact Laplace law."""
        if self.dim == 1:
            return laplace_law(self.epsilon, self.sensitivity, grid, self._made_for or 1)
        return l2_law(self.epsilon, self.dim, self.sensitivity, self._made_for or 1, grid)


@dataclass(frozen=True, init=False)
class L2Laplace(IdealL2Laplace, _Vectors):
    """Noise of density proportional to e**(-epsilon ||v||_2 / sensitivity) on R**dim.

    The radius is Gamma(dim) distributed, the direction uniform. Every vector along the last axis
    gets its own noise: epsilon-DP when one vector changes by at most `sensitivity` in l2. The cost
    is in proportion to the change (epsilon / sensitivity is a Lipschitz constant), and no noise
    with that property has a smaller mean square (Koufogiannis, Han and Pappas, theorem 8). `dim` is
    at most 65,536.

    What is released is the rounding of such a vector of real numbers to the grid, exactly: a kernel
    decides what floats with proved errors can decide, and the rest, a few in ten million, is
    computed with as many bits as it takes. Cells of the grid are translates of each other, so the
    ratio of their probabilities is at most that of densities, and delta is 0.

    >>> import fastnoise as fn
    >>> mechanism = fn.L2Laplace(epsilon=0.5, dim=2, sensitivity=3.0)
    >>> mechanism, mechanism.mse()  # dim (dim + 1) scale**2
    (L2Laplace(epsilon=0.5, dim=2, sensitivity=3.0), 216.0)
    """

    _adjacency = "l2"


@dataclass(frozen=True, init=False)
class MultiUserLaplace(IdealMultiUserLaplace, _Vectors):
    """The l2 noise of many users: every row of an (n, dim) matrix gets its own.

    The density is proportional to e**(-epsilon / sensitivity * (||v_1||_2 + .. + ||v_n||_2)).
    epsilon-DP when the sum over users of ||u_i - u'_i||_2 is at most `sensitivity`, which covers
    one user who moves by `sensitivity` in l2 (Koufogiannis, Han and Pappas, theorem 9). The number
    of users comes from the data; `mse`, `expected_cost` and `radius` take it as n. `dim` is at most
    65,536.

    >>> import fastnoise as fn
    >>> mechanism = fn.MultiUserLaplace(epsilon=2.0, dim=2)
    >>> mechanism.privacy.adjacency, mechanism.privacy.at(0.5)
    ('sum-l2', 1.0)
    """

    _adjacency = "sum-l2"
    _made_for = CHANGED
