"""Arrays that kernels cannot take as they are, in pieces that they can.

Strided, converted and nullable values go through a buffer, a piece at a time. All threads fill it,
perturb it and write it back, and it stays in the cache meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import compiles, kernels, read_only

Array = npt.NDArray[Any]

VALUES = 1 << 18  # of a piece, for each thread: a quarter of that takes 0.2 ns longer per value
BLOCK = 512  # values of a line that are moved at a time
LINES = 512  # that are moved at a time
LINE_BYTES = 64  # of a line of a cache


class Present(NamedTuple):
    """Which values are there: bit first, first + 1, ... of some bytes, from the lowest on."""

    bits: npt.NDArray[np.uint8]
    first: int


class Part:
    """Values, and which of them are there: all, unless it says otherwise."""

    def __init__(self, values: Array, present: Present | None = None) -> None:
        self.values, self.present = values, present
        # In C order, to read, if they are in memory like that and all are there.
        self.flat = flat(values) if present is None and is_plain(values) else None

    def ready(self, kind: np.dtype[Any]) -> Array | None:
        """What kernels for that dtype can take as it is."""
        return self.flat if self.values.dtype == kind else None

    @cached_property
    def lines(self) -> Lines:
        return Lines.of(self.values)

    def read(self, start: int, values: Array) -> None:
        """`values` become those from `start` on in C order, converted; 0 where one is missing."""
        self.lines.read(start, values)
        self.blank(start, values)

    def blank(self, start: int, values: Array) -> None:
        """`values`, which belong to those from `start` on, become 0 where one is missing."""
        if self.present is None:
            return
        bits, first = self.present.bits, self.present.first + start
        if compiles():
            words = values.view(f"u{values.itemsize}")
            kernels("strided").blank(values.size, read_only(bits), first, words)
        else:
            some = np.unpackbits(bits[first // 8 :], bitorder="little")[first % 8 :]
            values[some[: values.size] == 0] = 0


def is_plain(array: Array) -> bool:
    flags = array.flags
    return flags.c_contiguous and flags.aligned and array.dtype.isnative


def flat(array: Array) -> Array:
    """A view of a plain array, to read."""
    view = array.reshape(-1)
    view.setflags(write=False)
    return view


class Lines(NamedTuple):
    """An array as lines along its last axis, which is as long as its strides allow."""

    array: Array
    memory: int  # its address
    shape: npt.NDArray[np.int64]  # of the other axes
    strides: npt.NDArray[np.int64]
    length: int
    step: int
    block: int  # how much of a line is moved at a time

    @classmethod
    def of(cls, array: Array) -> Lines:
        axes: list[tuple[int, int]] = []
        for n, stride in zip(array.shape, array.strides, strict=True):
            if axes and axes[-1][1] == n * stride:
                axes[-1] = axes[-1][0] * n, stride
            elif n != 1:
                axes.append((n, stride))
        *others, (length, step) = axes or [(1, 0)]
        denser = any(abs(stride) < abs(step) for _, stride in others)
        shape, strides = np.array(others or [(1, length * step)], np.int64).T.copy()
        block = LINE_BYTES // array.itemsize if denser else BLOCK
        return cls(array, array.ctypes.data, shape, strides, length, step, block)

    def read(self, start: int, values: Array) -> None:
        """`values` become those from `start` on, converted."""
        if not compiles():
            values[:] = self.array.flat[start : start + values.size]
            return
        kind = self.array.dtype
        to_float = values.dtype.kind == "f" != kind.kind
        form = kind.itemsize, not kind.isnative, kind.kind == "i", to_float
        for where, buffer, grain in self._rectangles(start, values):
            kernels("strided").gather(*where, *form, *buffer, grain=grain)

    def write(self, start: int, values: Array) -> None:
        """Those from `start` on become `values`, which fit."""
        if not compiles():
            self.array.flat[start : start + values.size] = values
            return
        form = self.array.itemsize, not self.array.dtype.isnative
        for where, buffer, grain in self._rectangles(start, values):
            kernels("strided").scatter(*where, *form, *buffer, grain=grain)

    def _rectangles(self, start: int, values: Array) -> Iterator[tuple[Any, Any, int]]:
        """The rest of a line, whole lines, the start of one: each as kernels are told of it."""
        buffer, done = values.ctypes.data, 0
        while done < values.size:
            line, column = divmod(start + done, self.length)
            left = values.size - done
            lines = 1 if column else max(1, left // self.length)
            columns = min(self.length - column, left // lines)
            blocks = -(-columns // self.block)
            across = blocks > lines  # then threads share out blocks, else lines
            tasks = blocks if across else lines
            memory = self.memory + column * self.step
            where = tasks, across, line, lines, columns, self.block, LINES
            yield (
                (*where, memory, self.shape, self.strides, self.step),
                (buffer + done * values.itemsize, values.itemsize),
                lines * columns // tasks,
            )
            done += lines * columns


def pieces(dim: int, *some: Lines) -> Iterator[slice]:
    """Ranges of the values of arrays of one size.

    They are whole vectors of `dim` and whole lines, where those are no longer than a piece.
    """
    count = some[0].array.size
    most = VALUES * (_threads() if count > VALUES else 1)
    lengths = (lines.length for lines in some if dim <= lines.length <= most)
    unit = max(lengths, default=dim if dim <= most else 1)
    step = max(1, most // unit) * unit
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _threads() -> int:
    return max(1, int(kernels("jit").threads_now())) if compiles() else 1
