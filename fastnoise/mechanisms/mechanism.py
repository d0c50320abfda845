"""What every mechanism can do with data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self, TypedDict, Unpack, overload

import numpy.typing as npt

from fastnoise import dispatch
from fastnoise.arithmetic.floats import float_above, stated_delta
from fastnoise.certificate import Certificate
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.laws.grids import given_grid
from fastnoise.laws.law import Law
from fastnoise.stream import Stream
from fastnoise.validation import exact, refusal, whole

# By adjacency, where epsilon is not shared among those that change.
PAYS_ALONE = {"element": "element", "l2": "vector", "box": "vector", "cost": "row of costs"}
TOLERATED = 1.01  # times epsilon, where more rows change than an explicit grid is made for


@dataclass(frozen=True)
class Privacy:
    """What a release of one array promises: (epsilon, delta)-DP between neighbours.

    >>> import fastnoise as fn
    >>> fn.Staircase(epsilon=0.5, sensitivity=2.0).privacy  # doctest: +NORMALIZE_WHITESPACE
    Privacy(epsilon=0.5, delta=0.0, adjacency='element', sensitivity=2.0, lipschitz=None,
            changed=None)

    changed: how many elements or users may differ between neighbours; None where it makes no
        difference. `certificate(changed=k)` tells what more of them cost.
    """

    epsilon: float
    delta: float
    adjacency: str
    sensitivity: float
    lipschitz: float | None
    changed: int | None = None

    def at(self, distance: float) -> float:
        """The epsilon between inputs `distance` apart, rounded up.

        Staircases pay for each sensitivity begun, Lipschitz mechanisms in proportion; laws that
        end, which have a delta, pay in proportion up to the sensitivity, and infinity beyond.

        >>> import fastnoise as fn
        >>> fn.Staircase(epsilon=0.5, sensitivity=2.0).privacy.at(2.1)
        1.0
        """
        apart = exact("distance", distance)
        if not (apart >= 0):
            raise ValueError(refusal("distance", distance, "a number from 0 up"))
        if math.inf in (apart, self.epsilon):
            return math.inf
        times = Fraction(apart) / Fraction(self.sensitivity)
        if self.delta > 0 and times > 1:
            return math.inf
        if self.delta == 0 and self.lipschitz is None:
            times = Fraction(math.ceil(times))
        return float_above(Fraction(self.epsilon) * times)


class PerturbOptions(TypedDict, total=False):
    """What `perturb` takes besides `x`, for type checkers."""

    out: Any
    stream: Stream | None
    rows: Any
    clip: tuple[float, float] | None
    grid: Any
    nan: str


class Mechanism(ABC):
    """An immutable value: parameters, mathematics, guarantee. It holds no random state.

    Of two kinds (`fastnoise.registry`): additive laws, and channels, which replace a value.
    """

    epsilon: float
    delta: float | Fraction = 0.0
    sensitivity: float
    _lipschitz: ClassVar[bool] = False  # epsilon is in proportion to the change
    _made_for: ClassVar[int | None] = None  # how many changes snapping is widened for

    def __new__(cls, *_: Any, **__: Any) -> Self:
        refuse_odd_floats()  # parameters are computed and kept
        return super().__new__(cls)

    @property
    @abstractmethod
    def grid(self) -> Any:
        """The power of two that data is snapped to unless told otherwise; of boxes, one for each
        coordinate.

        Fine enough that E|noise| grows by less than 1 part in 10**5, though 65,536 elements may
        share an l1 change, and small beside the noise, wherever 64-bit integers or floats allow it.
        """

    @abstractmethod
    def _law(self, grid: Any) -> Any:
        """The law that is drawn on that grid; on None, the textbook's."""

    @abstractmethod
    def _chosen_grid(self, grid: Any) -> Any:
        """The grid that the caller means, checked."""

    @property
    @abstractmethod
    def _adjacency(self) -> str:
        """What may change between neighbours: "element", "l1", "l2", "sum-l2", "box" or "cost"."""

    @property
    def privacy(self) -> Privacy:
        """What is promised."""
        rate = self.epsilon / self.sensitivity if self._lipschitz else None
        delta = stated_delta(self.delta) if self.delta else 0.0
        return Privacy(self.epsilon, delta, self._adjacency, self.sensitivity, rate, self._made_for)

    def _changed(self, changed: Any) -> int | None:
        """How many change together, checked; None where it makes no difference."""
        if changed is None:
            return self._made_for
        if alone := PAYS_ALONE.get(self._adjacency):
            why = f"each {alone} that changes pays epsilon by itself"
            raise ValueError(refusal("changed", changed, "left out", why))
        return whole("changed", changed, 1, 1 << 63)

    @property
    def released_sensitivity(self) -> Any:
        """The sensitivity that is really covered: that of data on the grid."""
        return self._law(self.grid).covered

    def certificate(self, *, changed: int | None = None, grid: Any = "auto") -> Certificate:
        """What is really drawn on a grid: epsilon, delta, how near the ideal.

        Computed from the very tables that kernels read, in exact or interval arithmetic.

        changed: how many elements, users or coordinates change together, where the adjacency shares
            epsilon among them. Snapping to the grid moves each; l1 and sum-l2 mechanisms are made
            for 65,536, and more cost more.
        grid: as for `perturb`; textbook noise, None, has no certificate.

        >>> import fastnoise as fn
        >>> mechanism = fn.Laplace(epsilon=1.0)
        >>> mechanism.certificate().epsilon
        1.0
        >>> round(mechanism.certificate(changed=10**9).epsilon, 6)
        1.116407
        >>> round(mechanism.certificate(changed=10**6, grid=1.0).epsilon, 6)
        15.258789
        """
        refuse_odd_floats()
        if grid is None:
            why = "textbook noise has no certificate"
            raise ValueError(refusal("grid", grid, 'a power of two or "auto"', why))
        chosen = self._chosen_grid(grid)
        law = self._law(chosen)
        guarantee = law.guarantee(self._changed(changed))
        return Certificate(
            mechanism=repr(self),
            adjacency=self._adjacency,
            grid=chosen,
            released_sensitivity=law.covered,
            **guarantee._asdict(),
        )


class Channel(Mechanism):
    """A mechanism that replaces a value: it has no noise of its own, and no density."""


class Additive(Mechanism):
    """A mechanism that adds noise to data."""

    @property
    def _row_shape(self) -> tuple[int, ...]:
        """The shape of one draw."""
        return ()

    @abstractmethod
    def _law(self, grid: Any) -> Law:
        """The law that is drawn on that grid; on None, the textbook's."""

    def _chosen_grid(self, grid: Any) -> Any:
        if isinstance(grid, str) and grid == "auto":
            return self.grid
        if grid is None:
            _ = self.grid  # refuses what is too large or too small for any noise
            return None
        return given_grid(grid)

    def _check_spread(self, grid: Any, rows: int) -> None:
        """Refuse a grid on which this many rows, if all change, cost more than TOLERATED * epsilon.

        The certificate decides, but it takes milliseconds: it is asked where a float, which is
        right to a billionth, does not know. A mechanism's own grid is never refused.
        """
        if grid == self.grid:  # looked up, while a guarantee is made
            return
        privacy = self.privacy
        if privacy.changed is None or rows <= privacy.changed:
            return
        moved = (rows - privacy.changed) * math.sqrt(math.prod(self._row_shape)) * grid
        most = TOLERATED * privacy.epsilon
        if privacy.epsilon * (1 + moved / self._law(grid).covered) < most * (1 - 1e-6):
            return
        epsilon = self.certificate(changed=rows, grid=grid).epsilon
        if epsilon > most:
            allowed = f"finer for {rows:,} elements or users"
            why = f"epsilon is {epsilon!r} if all of them change, see certificate(changed=, grid=)"
            raise ValueError(refusal("grid", grid, allowed, why))

    @overload
    def perturb(
        self, x: npt.NDArray[Any] | list[Any], **options: Unpack[PerturbOptions]
    ) -> npt.NDArray[Any]: ...

    @overload
    def perturb(self, x: Any, **options: Unpack[PerturbOptions]) -> Any: ...

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
        and cast once; integers are clamped to +-2**53 and become float64. Mechanisms on the
        integers add them exactly and saturate at the limits of their dtype. A list or a memmap
        becomes an array; subclasses of arrays other than np.matrix are refused.

        out: where to put the result; `out=x` works in place. A call that is interrupted leaves
            nothing of `x` in another `out`, whose rows may be old, new, NaN or 0. In place, rows
            are old or new: to blank them would destroy the only copy of the data.
        stream: repeatable noise; without one, every call draws 256 fresh bits.
        rows: the absolute rows of `stream` to use, each once, instead of its next ones.
        clip: (low, high), clamps before the noise.
        grid: a power of two, "auto" for `self.grid`, or None for textbook float noise and addition,
            whose low bits give `x` away: for simulation only. A grid of your own is refused where
            an array of more than `privacy.changed` rows would cost 1.01 epsilon or more on it.
        nan: "raise", or "keep" to let NaN through as NaN; it uses up its row like any other value.

        >>> import fastnoise as fn, numpy as np
        >>> noisy = fn.Staircase(epsilon=1.0).perturb(np.arange(4.0))
        >>> noisy.shape, noisy.dtype
        ((4,), dtype('float64'))
        """
        options = dispatch.Options(stream, rows, clip, self._chosen_grid(grid), nan)
        return dispatch.perturb(self, x, out, options)

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


class VectorMechanism(Additive):
    """A mechanism on vectors along the last axis, of `dim` numbers."""

    @property
    def _row_shape(self) -> tuple[int, ...]:
        dim: int = self.dim  # type: ignore[attr-defined]  # a field of some, a property of others
        return (dim,)


class IntegerMechanism(Additive):
    """A mechanism on the integers: added exactly, saturating at the limits of the dtype."""

    sensitivity: int

    @property
    def grid(self) -> float:
        """1: integers lie on it as they are."""
        return 1.0

    def _chosen_grid(self, grid: Any) -> float | None:
        if (isinstance(grid, str) and grid == "auto") or (
            isinstance(grid, int | float) and not isinstance(grid, bool) and grid == 1
        ):
            return self.grid
        raise ValueError(refusal("grid", grid, '"auto" or 1 for integers'))
