"""What laws of vectors share: kernels that add a vector per row, on a grid per coordinate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import kernels
from fastnoise.laws.law import Array, Chunk, Law
from fastnoise.rows import Rows


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorLaw(Law):
    """Noise of vectors, as floats that hold whole grid steps, NaN where it is undecided."""

    @abstractmethod
    def _undecided_noise(
        self, some: list[int], key: bytes, address: int, noise: Array
    ) -> list[int]:
        """The noise of some coordinates of a row, given what a kernel knows of them all."""

    def noise(self, key: bytes, rows: Rows, count: int) -> npt.NDArray[np.float64]:
        """The noise itself in grid steps, a vector per row, NaN where it is undecided."""
        noise = np.empty(count * self.dim)
        # Weighed by rows: tiles of few are read while other threads wait, and none should be woken.
        kernels("vectors").fill_vectors(count, *self._drawn(key, rows), noise)
        return noise.reshape(count, self.dim)

    def undecided(self, key: bytes, rows: Rows, count: int) -> list[int]:
        unknown = np.isnan(self.noise(key, rows, count)).any(axis=1)
        return [int(place) for place in np.flatnonzero(unknown)]

    def _perturb_compiled(self, chunk: Chunk, count: int) -> None:
        step = int(kernels("vectors").tile_rows.py_func(self.dim))
        marks = np.zeros(count // step + 1, np.uint8)  # of tiles with undecided rows
        limits, drawn = chunk.limits, self._drawn(chunk.key, chunk.rows)
        undecided = kernels("vectors").perturb_vectors(
            count,
            *drawn,
            *(chunk.skip, chunk.x, chunk.out),
            *(limits.low, limits.high, limits.nan),
            *(self.grids, self.whole / self.grid, marks),
            grain=self.dim,
        )
        for start in (step * np.flatnonzero(marks)).tolist() if undecided else []:
            self._perturb_undecided(chunk, start, min(step, count - start))

    def _perturb_undecided(self, chunk: Chunk, start: int, count: int) -> None:
        """Coordinates that floats cannot decide, which the kernel has left out.

        A few in 2**23 of l2 noise at most; next to none of the staircases.
        """
        rows = chunk.rows.after(start)
        noise = self.noise(chunk.key, rows, count)
        unknown = np.isnan(noise)
        for place in np.flatnonzero(unknown.any(axis=1)).tolist():
            some = np.flatnonzero(unknown[place]).tolist()
            drawn = self._undecided_noise(some, chunk.key, rows.address(place), noise[place])
            self._add_exactly(chunk, start + place, dict(zip(some, drawn, strict=True)))
