"""Sixteen rows at a time: LLVM vectors that read like arithmetic.

The loop vectoriser gives up on table look-ups and would decide anew on every machine; these
vectors compile to the same instructions everywhere, split to the width the processor has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

LANES = 16
I16, I32, I64 = (ir.IntType(bits) for bits in (16, 32, 64))
LANES_32 = ir.VectorType(I32, LANES)
LANES_64 = ir.VectorType(I64, LANES)
_LOW = 0xFFFFFFFF
_LANES_1 = ir.VectorType(ir.IntType(1), LANES)


class Lanes:
    """A vector of unsigned integers; ints and LLVM scalars on the right are broadcast."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder, self.value = builder, value

    def _like(self, other: Any) -> ir.Value:
        if isinstance(other, Lanes):
            return other.value
        return broadcast(self.builder, other, self.value.type).value

    def _new(self, value: ir.Value) -> Lanes:
        return Lanes(self.builder, value)

    def __add__(self, other: Any) -> Lanes:
        return self._new(self.builder.add(self.value, self._like(other)))

    def __sub__(self, other: Any) -> Lanes:
        return self._new(self.builder.sub(self.value, self._like(other)))

    def __rsub__(self, other: Any) -> Lanes:
        return self._new(self.builder.sub(self._like(other), self.value))

    def __mul__(self, other: Any) -> Lanes:
        return self._new(self.builder.mul(self.value, self._like(other)))

    def __and__(self, other: Any) -> Lanes:
        return self._new(self.builder.and_(self.value, self._like(other)))

    def __or__(self, other: Any) -> Lanes:
        return self._new(self.builder.or_(self.value, self._like(other)))

    def __xor__(self, other: Any) -> Lanes:
        return self._new(self.builder.xor(self.value, self._like(other)))

    def __invert__(self) -> Lanes:
        return self._new(self.builder.not_(self.value))

    def __lshift__(self, other: Any) -> Lanes:
        return self._new(self.builder.shl(self.value, self._like(other)))

    def __rshift__(self, other: Any) -> Lanes:
        return self._new(self.builder.lshr(self.value, self._like(other)))

    def __lt__(self, other: Any) -> Lanes:
        return self._new(self.builder.icmp_unsigned("<", self.value, self._like(other)))

    def __gt__(self, other: Any) -> Lanes:
        return self._new(self.builder.icmp_unsigned(">", self.value, self._like(other)))

    def equals(self, other: Any) -> Lanes:
        return self._new(self.builder.icmp_unsigned("==", self.value, self._like(other)))

    def rotated(self, bits: int) -> Lanes:
        return (self << bits) | (self >> (32 - bits))

    def where(self, chosen: Lanes, otherwise: Any) -> Lanes:
        """Lane by lane: `chosen` where this mask is set."""
        other = chosen._like(otherwise)
        return self._new(self.builder.select(self.value, chosen.value, other))

    def widened(self) -> Lanes:
        return self._new(self.builder.zext(self.value, LANES_64))

    def narrowed(self) -> Lanes:
        return self._new(self.builder.trunc(self.value, LANES_32))

    def high_product(self, other: Lanes) -> Lanes:
        """The upper half of a 64 x 64 bit product, from four products of halves."""
        low, high = self & _LOW, self >> 32
        other_low, other_high = other & _LOW, other >> 32
        cross, other_cross = low * other_high, high * other_low
        carry = ((low * other_low) >> 32) + (cross & _LOW) + (other_cross & _LOW)
        return high * other_high + (cross >> 32) + (other_cross >> 32) + (carry >> 32)

    def bits(self) -> ir.Value:
        """A mask as a 32-bit integer, lane 0 in the lowest bit."""
        return self.builder.zext(self.builder.bitcast(self.value, I16), I32)


def broadcast(builder: ir.IRBuilder, scalar: Any, kind: ir.VectorType) -> Lanes:
    if isinstance(scalar, int):
        return Lanes(builder, ir.Constant(kind, [scalar] * kind.count))
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(I32, 0))
    same = ir.Constant(LANES_32, [0] * kind.count)
    return Lanes(builder, builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), same))


def counting(builder: ir.IRBuilder) -> Lanes:
    """0, 1, .. 15."""
    return Lanes(builder, ir.Constant(LANES_64, list(range(LANES))))


def pointer(builder: ir.IRBuilder, data: ir.Value, index: Any, kind: ir.Type) -> ir.Value:
    """The address of 32- or 64-bit element `index` of `data`, as a pointer to `kind`."""
    element = kind.element if isinstance(kind, ir.VectorType) else kind
    offset = ir.Constant(I64, index) if isinstance(index, int) else index
    address = builder.gep(builder.bitcast(data, element.as_pointer()), [offset])
    return builder.bitcast(address, kind.as_pointer())


def load(builder: ir.IRBuilder, data: ir.Value, index: Any, kind: ir.VectorType) -> Lanes:
    where = pointer(builder, data, index, kind)
    return Lanes(builder, builder.load(where, align=kind.element.width // 8))


def store(lanes: Lanes, data: ir.Value, index: Any) -> None:
    kind = lanes.value.type
    where = pointer(lanes.builder, data, index, kind)
    lanes.builder.store(lanes.value, where, align=kind.element.width // 8)


def gather(builder: ir.IRBuilder, data: ir.Value, index: Lanes) -> Lanes:
    """The 32-bit elements of `data` at the sixteen 32-bit indices."""
    pointers = ir.VectorType(I32.as_pointer(), LANES)
    name = f"llvm.masked.gather.v{LANES}i32.v{LANES}p0"
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(LANES_32, [pointers, I32, _LANES_1, LANES_32]), name
    )
    addresses = (index.widened() << 2) + builder.ptrtoint(data, I64)
    where = builder.inttoptr(addresses.value, pointers)
    everywhere = ir.Constant(_LANES_1, [1] * LANES)
    arguments = [where, ir.Constant(I32, 4), everywhere, ir.Constant(LANES_32, ir.Undefined)]
    return Lanes(builder, builder.call(function, arguments))


def transposed(rows: list[Lanes]) -> list[Lanes]:
    """Sixteen vectors of sixteen, rows for columns: blocks of 8, 4, 2, 1 change places."""
    rows = list(rows)
    for step in (8, 4, 2, 1):
        for i in range(LANES):
            if not i & step:
                a, b = rows[i], rows[i + step]
                first = [lane - step + LANES if lane & step else lane for lane in range(LANES)]
                second = [lane + LANES if lane & step else lane + step for lane in range(LANES)]
                for at, lanes in ((i, first), (i + step, second)):
                    mask = ir.Constant(LANES_32, lanes)
                    rows[at] = Lanes(a.builder, a.builder.shuffle_vector(a.value, b.value, mask))
    return rows


@intrinsic
def wide_vectors(typing: Any) -> Any:
    """Have this function vectorised as wide as the processor goes, which LLVM shies away from.

    The keystream runs at that width anyway; measured: 0.65 -> 0.44 ns a row of `add_tile`.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite knows no attributes with a value, but writes what it finds.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def element(typing: Any, array: Any, index: Any) -> Any:
    """array[index] of a contiguous array for an index that is never negative.

    numba's own indexing counts negative ones from the end, which keeps loops from vectorising.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load(builder.gep(data, [arguments[1]]))

    return array.dtype(array, types.int64), codegen


@intrinsic
def put(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = value, likewise."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store(arguments[2], builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), codegen
