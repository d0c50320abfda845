"""Arrays that kernels cannot take as they are, in pieces that they can.

Strided, converted and nullable values go through a buffer, a piece at a time: numpy copies it
there, a kernel perturbs it, numpy copies it back. It stays in the cache meanwhile, and since
neither holds the interpreter, several threads do so at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import compiles, kernels

Array = npt.NDArray[Any]
T = TypeVar("T")

VALUES = 1 << 16  # of a piece: few enough for a second-level cache, and for a kernel of one thread


class Piece(NamedTuple):
    """A box of an array, whose values follow each other in C order."""

    box: tuple[int | slice, ...]
    start: int  # the place of its first value
    size: int

    @property
    def range(self) -> slice:
        return slice(self.start, self.start + self.size)


def pieces(shape: Sequence[int]) -> Iterator[Piece]:
    """Boxes of an array of that shape, in C order; vectors stay whole where they fit."""
    axis, inner = len(shape) - 1, 1
    while axis and inner * shape[axis] <= VALUES:
        inner *= shape[axis]
        axis -= 1
    some, start = max(1, VALUES // max(1, inner)), 0
    for outer in np.ndindex(*shape[:axis]) if prod(shape) else ():
        for first in range(0, shape[axis], some):
            count = min(some, shape[axis] - first)
            yield Piece((*outer, slice(first, first + count)), start, count * inner)
            start += count * inner


def whole(array: Array) -> Piece:
    """All of an array with one axis."""
    return Piece((slice(None),), 0, array.size)


class Present(NamedTuple):
    """Which values are there: bit first, first + 1, ... of some bytes, from the lowest on."""

    bits: npt.NDArray[np.uint8]
    first: int

    def missing(self, piece: Piece) -> npt.NDArray[np.bool_]:
        first = self.first + piece.start
        some = self.bits[first // 8 : (first + piece.size + 7) // 8]
        there = np.unpackbits(some, bitorder="little")[first % 8 :][: piece.size]
        return np.logical_not(there.view(np.bool_))


class Part:
    """Values, and which of them are there: all, unless it says otherwise."""

    def __init__(self, values: Array, present: Present | None = None) -> None:
        self.values, self.present = values, present
        # In C order, to read, if they are in memory like that and all are there.
        self.flat = flat(values) if present is None and is_plain(values) else None

    def ready(self, kind: np.dtype[Any]) -> Array | None:
        """What kernels for that dtype can take as it is."""
        return self.flat if self.values.dtype == kind else None

    def pieces(self) -> Iterator[Piece]:
        return pieces(np.atleast_1d(self.values).shape)

    def read(self, piece: Piece, kind: np.dtype[Any]) -> Array:
        """A copy of a piece in C order, as that dtype; 0 where a value is missing."""
        values = np.empty(piece.size, kind)
        box = np.atleast_1d(self.values)[piece.box]
        np.copyto(values.reshape(box.shape), box, casting="unsafe")
        self.blank(piece, values)
        return values

    def blank(self, piece: Piece, values: Array) -> None:
        """`values`, which belong to the piece, become 0 where one is missing."""
        if self.present is not None:
            np.copyto(values, 0, where=self.present.missing(piece))


def write(piece: Piece, values: Array, to: Array) -> None:
    """A piece of `to` becomes `values`, which fit."""
    box = np.atleast_1d(to)[piece.box]
    np.copyto(box, values.reshape(box.shape), casting="unsafe")


def is_plain(array: Array) -> bool:
    flags = array.flags
    return flags.c_contiguous and flags.aligned and array.dtype.isnative


def flat(array: Array) -> Array:
    """A view of a plain array, to read."""
    view = array.reshape(-1)
    view.setflags(write=False)
    return view


def in_threads(work: Callable[[Piece], T], some: Iterator[Piece]) -> Iterator[T]:
    """What comes of each piece, in order; by as many threads as large calls use.

    When one fails or is interrupted, those that have not begun are left.
    """
    every = list(some)
    threads = min(len(every), kernels("jit").threads_now() if compiles() else 1)
    if threads <= 1:
        yield from map(work, every)
        return
    with ThreadPoolExecutor(threads, "fastnoise") as pool:
        yield from pool.map(work, every)
