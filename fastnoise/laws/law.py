"""A law is one object: whoever draws, reads, proves or refines it asks it.

Here is what all laws that are added to data share; each family has a package of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from math import floor, inf, ldexp, nan
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.arithmetic.floats import nearest_float
from fastnoise.certificate import Guarantee
from fastnoise.compiled import compiles, filler, read_only
from fastnoise.identity import encoded
from fastnoise.laws.alias import Tables
from fastnoise.rows import Rows

Array = npt.NDArray[Any]

CHUNK = 1 << 18  # rows at a time where they pass through a buffer


KEY_WORDS = np.dtype("<u4")


class Limits(NamedTuple):
    """What data is clipped to; what the sum may be: the limits of an integer dtype; NaN or not."""

    low: float = -inf
    high: float = inf
    least: float = -inf
    most: float = inf
    nan: bool = True


class Chunk(NamedTuple):
    """Values that lie one after another in memory, and the rows that they belong to."""

    key: bytes
    rows: Rows
    skip: int  # values of the first row that belong to an earlier chunk
    x: Array
    out: Array
    limits: Limits


class Reader(Protocol):
    """Noise the slow and obvious way, in integers without end."""

    def noise(self, key: bytes, address: int) -> int | list[int]: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Law(ABC):
    """A law on a grid, as it is drawn.

    grid: a power of two, or for textbook noise, which is not snapped, any unit.
    integers: the data is, too, and nothing is ever a float.
    dim: how many values a row has.
    """

    filler: ClassVar[str]  # the kernel that fills tiles with noise

    grid: float
    snapped: bool = True
    integers: bool = False
    dim: int = 1

    @abstractmethod
    def _tables(self) -> Tables: ...

    @cached_property
    def tables(self) -> Tables:
        """The words that kernels read, built when they are first asked for."""
        return self._tables()

    def with_tables(self, tables: Tables) -> Self:
        """The same law with other tables."""
        made = replace(self)
        made.__dict__["tables"] = read_only(tables)
        return made

    @property
    @abstractmethod
    def covered(self) -> Any:
        """The sensitivity that the noise covers: that of snapped data."""

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """What draws it in plain Python."""

    @abstractmethod
    def guarantee(self, changed: int | None) -> Guarantee:
        """What its tables prove if `changed` elements or users change together.

        Proofs are imported when they are asked for: an import of noise is 10 ms faster.
        """

    @abstractmethod
    def _perturb_compiled(self, chunk: Chunk, count: int) -> None:
        """Perturb `count` rows by kernels, and in Python what they leave undecided."""

    @abstractmethod
    def noise(self, key: bytes, rows: Rows, count: int) -> Array:
        """The noise of `count` rows in grid steps, as kernels draw it."""

    @abstractmethod
    def undecided(self, key: bytes, rows: Rows, count: int) -> list[int]:
        """Which of `count` rows kernels leave to Python."""

    @cached_property
    def grids(self) -> npt.NDArray[np.float64]:
        """The grid of each coordinate."""
        return read_only(np.full(self.dim, self.grid))

    @cached_property
    def digest(self) -> bytes:
        """A hash of what decides the noise: the tables, the grid, textbook or not."""
        words = self.tables.astype("<u8").tobytes(), self.grids.astype("<f8").tobytes()
        return sha256(encoded((*words, int(self.snapped)))).digest()

    @cached_property
    def whole(self) -> float:
        """Where floats are on the grid by themselves; nothing is snapped in textbook noise."""
        return ldexp(self.grid, 52) if self.snapped else 0.0

    def perturb(
        self, key: bytes, rows: Rows, done: int, x: Array, out: Array, limits: Limits
    ) -> None:
        """Perturb one contiguous array into another, or into itself.

        A call that is interrupted leaves none of `x` in another array: values that Python has yet
        to compute are NaN, or 0, until then. Both are float64 or float32, or for laws on the
        integers, int64 or uint64. `done` values of the same call came before: `rows` are those of
        the whole call.
        """
        before, skip = divmod(done, self.dim) if done else (0, 0)
        rows = rows.after(before) if before else rows
        chunk = Chunk(key, rows, skip, read_only(x), out, limits)
        count = -(-(skip + out.size) // self.dim)
        if compiles():
            self._perturb_compiled(chunk, count)
        else:
            self._perturb_plainly(chunk, range(count))

    def exact_noise(self, key: bytes, rows: Rows) -> list[list[int]]:
        """The noise of the rows `rows.ids` in grid steps, however large: a list per row."""
        count = rows.ids.size
        if not compiles():
            return [self._plainly(key, rows.address(i)) for i in range(count)]
        left = set(self.undecided(key, rows, count))
        noise = self.noise(key, rows, count).reshape(-1, self.dim)
        return [
            self._plainly(key, rows.address(i)) if i in left else list(map(int, noise[i]))
            for i in range(count)
        ]

    def _plainly(self, key: bytes, address: int) -> list[int]:
        noise = self.reader.noise(key, address)
        return [noise] if isinstance(noise, int) else noise

    def _drawn(self, key: bytes, rows: Rows) -> tuple[Any, ...]:
        """What every kernel that draws is told first."""
        return filler(self.filler), np.frombuffer(key, KEY_WORDS), self.tables, *rows

    def _perturb_plainly(self, chunk: Chunk, places: Iterable[int]) -> None:
        """Perturb the values of these rows, in integers without end."""
        for place in places:
            drawn = self._plainly(chunk.key, chunk.rows.address(place))
            self._add_exactly(chunk, place, dict(enumerate(drawn)))

    @np.errstate(over="ignore")  # float32 saturates at infinity
    def _add_exactly(self, chunk: Chunk, place: int, noise: dict[int, int]) -> None:
        """out = x and the noise of some coordinates of a row; a part of it may be outside."""
        exact_sum = _integer_sum if self.integers else _float_sum
        for i, steps in noise.items():
            at = place * self.dim - chunk.skip + i
            if 0 <= at < chunk.out.size:
                value, grid = chunk.x[at].item(), float(self.grids[i])
                chunk.out[at] = exact_sum(value, steps, grid, self.snapped, chunk.limits)


def _integer_sum(value: int, noise: int, grid: float, snapped: bool, limits: Limits) -> float:
    total = min(max(value, limits.low), limits.high) + noise
    return min(max(total, limits.least), limits.most)


def _float_sum(value: float, noise: int, grid: float, snapped: bool, limits: Limits) -> float:
    if value != value:
        return nan
    value = min(max(value, limits.low), limits.high)
    if snapped and abs(value) < grid * 2.0**52:
        steps = value / grid  # exact: grids are powers of two
        value = (floor(steps) + (steps - floor(steps) >= 0.5)) * grid
    if snapped and abs(noise) <= EXACT_FLOAT:
        return value + noise * grid + 0.0  # rounded once; -0.0 is 0.0
    return nearest_float(Fraction(value) + noise * Fraction(grid))
