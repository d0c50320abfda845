"""What every mechanism can do with data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fastnoise import dispatch
from fastnoise.certificate import Certificate, Guarantee, certified
from fastnoise.release import Release
from fastnoise.stream import Stream
from fastnoise.validation import number, power_of_two, refusal, whole


@dataclass(frozen=True)
class Privacy:
    """What a release of one array promises: (epsilon, delta)-DP between neighbours.

    >>> import fastnoise as fn
    >>> fn.Staircase(epsilon=0.5, sensitivity=2.0).privacy
    Privacy(epsilon=0.5, delta=0.0, adjacency='element', sensitivity=2.0, lipschitz=None)
    """

    epsilon: float
    delta: float
    adjacency: str
    sensitivity: float
    lipschitz: float | None

    def at(self, distance: float) -> float:
        """The epsilon between inputs `distance` apart.

        Staircases pay for each sensitivity begun, Lipschitz mechanisms in proportion; laws that
        end, which have a delta, pay in proportion up to the sensitivity, and infinity beyond.

        >>> import fastnoise as fn
        >>> fn.Staircase(epsilon=0.5, sensitivity=2.0).privacy.at(2.1)
        1.0
        """
        apart = number("distance", distance)
        if not (apart >= 0):
            raise ValueError(refusal("distance", distance, "a number from 0 up"))
        if self.delta > 0:
            return (
                self.epsilon * apart / self.sensitivity if apart <= self.sensitivity else math.inf
            )
        if self.lipschitz is not None or math.isinf(apart):
            return apart * (self.lipschitz or self.epsilon)
        return self.epsilon * math.ceil(Fraction(apart) / Fraction(self.sensitivity))


class Mechanism(ABC):
    """An immutable value: parameters, mathematics, guarantee. It holds no random state."""

    @property
    @abstractmethod
    def grid(self) -> Any:
        """The power of two that `perturb` snaps to unless told otherwise."""

    @property
    def _row_shape(self) -> tuple[int, ...]:
        """The shape of one draw."""
        return ()

    @abstractmethod
    def _release(self, grid: Any) -> Release:
        """The law that is drawn on that grid; on None, the textbook's."""

    @abstractmethod
    def _guarantee(self, changed: Any) -> Guarantee:
        """What the tables of the mechanism's own grid prove, if so many change together.

        Proofs are imported when they are asked for: an import of noise is 10 ms faster.
        """

    def _chosen_grid(self, grid: Any) -> Any:
        if isinstance(grid, str) and grid == "auto":
            return self.grid
        return None if grid is None else power_of_two("grid", grid)

    def perturb(
        self,
        x: Any,
        *,
        out: Any = None,
        stream: Stream | None = None,
        rows: Any = None,
        clip: tuple[float, float] | None = None,
        grid: Any = "auto",
        nan: str = "raise",
    ) -> Any:
        """`x` with noise: same shape, same dtype, same container.

        Every element gets its own; for mechanisms on vectors, every vector along the last axis.

        Clips `x` to `clip`, snaps it to the grid with exact round-half-up, adds noise that is a
        whole number of grid steps, and rounds the exact sum once. float32 is computed in float64
        and cast once; integers are clamped to +-2**53 and become float64; a list becomes an array.
        Mechanisms on the integers add them exactly and saturate at the limits of their dtype.

        out: where to put the result; `out=x` works in place.
        stream: repeatable noise; without one, every call draws 256 fresh bits.
        rows: the absolute rows of `stream` to use, each once, instead of its next ones.
        clip: (low, high), clamps before the noise.
        grid: a power of two, "auto" for `self.grid`, or None for textbook float noise and addition,
            whose low bits give `x` away: for simulation only.
        nan: "raise", or "keep" to let NaN through as NaN; it uses up its row like any other value.

        >>> import fastnoise as fn, numpy as np
        >>> noisy = fn.Staircase(epsilon=1.0).perturb(np.arange(4.0))
        >>> noisy.shape, noisy.dtype
        ((4,), dtype('float64'))
        """
        return dispatch.perturb(self, x, out, stream, rows, clip, self._chosen_grid(grid), nan)

    def sample(
        self,
        size: int | tuple[int, ...] | None = None,
        *,
        dtype: Any = None,
        out: Any = None,
        stream: Stream | None = None,
    ) -> Any:
        """The noise alone, exactly as `perturb` adds it; one draw if `size` is None.

        size: how many draws, an int or a shape; vectors have one more axis.

        dtype: float64, the default, or float32; for integer mechanisms int64 or any other integer.

        >>> import fastnoise as fn
        >>> fn.Staircase(epsilon=1.0).sample((2, 3)).shape
        (2, 3)
        """
        return dispatch.sample(self, size, dtype, out, stream)

    def certificate(self, *, changed: int | None = None) -> Certificate:
        """What is really drawn on the mechanism's own grid: epsilon, delta, how near the ideal.

        Computed from the very tables that kernels read, in exact or interval arithmetic.

        changed: how many elements, users or coordinates change together, where the adjacency shares
            epsilon among them. Snapping to the grid moves each; l1 and sum-l2 mechanisms are made
            for 65,536, and more cost more.

        >>> import fastnoise as fn
        >>> mechanism = fn.Laplace(epsilon=1.0)
        >>> mechanism.certificate().epsilon
        1.0
        >>> round(mechanism.certificate(changed=10**9).epsilon, 6)
        1.116407
        """
        return certified(self, self._guarantee(changed))


class VectorMechanism(Mechanism):
    """A mechanism on vectors along the last axis, of `dim` numbers."""

    @property
    def _row_shape(self) -> tuple[int, ...]:
        dim: int = self.dim  # type: ignore[attr-defined]  # a field of some, a property of others
        return (dim,)


class IntegerMechanism(Mechanism):
    """A mechanism on the integers: added exactly, saturating at the limits of the dtype."""

    sensitivity: int

    @property
    def grid(self) -> float:
        """1: integers lie on it as they are."""
        return 1.0

    @property
    def released_sensitivity(self) -> int:
        """The sensitivity itself: nothing is snapped."""
        return self.sensitivity

    def _chosen_grid(self, grid: Any) -> float | None:
        if (isinstance(grid, str) and grid == "auto") or (
            isinstance(grid, int | float) and not isinstance(grid, bool) and grid == 1
        ):
            return self.grid
        raise ValueError(refusal("grid", grid, '"auto" or 1 for integers'))


def refuse_changed(changed: Any, what: str) -> None:
    """Where epsilon is not shared among those that change."""
    if changed is not None:
        allowed = f"left out, because each {what} that changes pays epsilon by itself"
        raise ValueError(refusal("changed", changed, allowed))


def any_changed(changed: Any) -> int | None:
    """Where epsilon is shared among as many as change."""
    return None if changed is None else whole("changed", changed, 1, 1 << 63)
