"""Elements in memory, as functions that write LLVM see arrays: no index is checked, or negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from fastnoise_kernels.lanes import (
    FLOAT_LANES,
    I8,
    I32,
    I64,
    LANES,
    LANES_32,
    LANES_64,
    Floats,
    Lanes,
    Number,
    Value,
    call,
)

LINE = 64  # bytes of a line of a cache


class Pointer:
    """Where an array starts, and how many elements it has where that is known."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value, size: Any = None) -> None:
        self.builder, self.value, self.size = builder, value, size

    def of(self, kind: ir.Type, index: Any = 0) -> ir.Value:
        """LLVM's own pointer to element `index` of that kind, or to a vector of them from there."""
        element = kind.element if isinstance(kind, ir.VectorType) else kind
        offset = ir.Constant(I64, index) if isinstance(index, int) else index.value
        elements = self.builder.bitcast(self.value, element.as_pointer())
        return self.builder.bitcast(self.builder.gep(elements, [offset]), kind.as_pointer())

    def __add__(self, index: Any) -> Pointer:
        return Pointer(self.builder, self.of(self.value.type.pointee, index))

    def __getitem__(self, index: Any) -> Number:
        return Number(self.builder, self.builder.load(self.of(self.value.type.pointee, index)))

    def __setitem__(self, index: Any, number: Number) -> None:
        self.builder.store(number.value, self.of(number.value.type, index))

    def lanes(self, index: Any = 0, kind: ir.VectorType = LANES_32) -> Lanes:
        """Sixteen integers that follow each other."""
        loaded = self.builder.load(self.of(kind, index), align=kind.element.width // 8)
        return Lanes(self.builder, loaded)

    def floats(self, index: Any = 0) -> Floats:
        return Floats(self.builder, self.builder.load(self.of(FLOAT_LANES, index), align=8))

    def put(self, index: Any, vector: Value) -> None:
        """Sixteen elements from `index` on."""
        self.builder.store(vector.value, self.of(vector.value.type, index), align=4)

    def word(self, index: Any, rows: Sequence[int] = range(LANES)) -> Lanes:
        """A 64-bit word of sixteen rows: their low halves are there, then their high halves.

        By one permutation of two vectors, instead of widening, shifting and joining them.
        rows: in which order they are in the lanes.
        """
        low, high = (self.lanes(at) for at in (index, index + LANES))
        halves = [row + half for row in rows for half in (0, LANES)]
        order = ir.Constant(ir.VectorType(I32, 2 * LANES), halves)
        words = self.builder.shuffle_vector(low.value, high.value, order)
        return Lanes(self.builder, self.builder.bitcast(words, LANES_64))

    def prefetch(self, cache: int, to_write: bool = False) -> None:
        """Have the line that it is in on its way to the first- or second-level cache."""
        where = self.builder.bitcast(self.value, I8.as_pointer())
        write, locality, data = (ir.Constant(I32, value) for value in (int(to_write), 4 - cache, 1))
        call(self.builder, "llvm.prefetch.p0", ir.VoidType(), where, write, locality, data)


def pointer_to(address: Number) -> Pointer:
    """An address as a pointer to bytes."""
    return Pointer(address.builder, address.builder.inttoptr(address.value, I8.as_pointer()))
