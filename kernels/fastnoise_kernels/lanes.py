"""Sixteen rows at a time: LLVM vectors that read like arithmetic.

The loop vectoriser gives up on table look-ups and would decide anew on every machine; these
vectors compile to the same instructions everywhere, split to the width the processor has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

LANES = 16
I16, I32, I64 = (ir.IntType(bits) for bits in (16, 32, 64))
DOUBLE = ir.DoubleType()
LANES_32 = ir.VectorType(I32, LANES)
LANES_64 = ir.VectorType(I64, LANES)
FLOAT_LANES = ir.VectorType(DOUBLE, LANES)
EIGHT = ir.VectorType(DOUBLE, 8)
# Rows as they come where vectors are interleaved within 128 bits. That takes one instruction of two
# operands; the order of rows takes one of three, which on Zen 4 keeps units busy that multiply, and
# l2 noise 0.88 instead of 0.80 ns a coordinate.
WOVEN = [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]
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

    def exceeds(self, other: Any) -> Lanes:
        """As signed integers."""
        return self._new(self.builder.icmp_signed(">", self.value, self._like(other)))

    def equals(self, other: Any) -> Lanes:
        return self._new(self.builder.icmp_unsigned("==", self.value, self._like(other)))

    def rotated(self, bits: int) -> Lanes:
        return (self << bits) | (self >> (32 - bits))

    def followed_by(self, other: Lanes, bits: Any) -> Lanes:
        """Shifted left; the leading bits of `other`, both of 32, take the place of what is free."""
        values = self.value, other.value, self._like(bits)
        return self._new(call(self.builder, "llvm.fshl.v16i32", LANES_32, *values))

    def where(self, chosen: Lanes, otherwise: Any) -> Lanes:
        """Lane by lane: `chosen` where this mask is set."""
        other = chosen._like(otherwise)
        return self._new(self.builder.select(self.value, chosen.value, other))

    def unless_all(self, otherwise: Callable[[], Sequence[Lanes]]) -> list[Lanes]:
        """Masks of none if this mask is set in all lanes; else those of `otherwise`."""
        none, before = ir.Constant(self.value.type, [0] * LANES), self.builder.block
        missing = self.builder.icmp_unsigned("!=", (~self).bits(), ir.Constant(I32, 0))
        with self.builder.if_then(missing, likely=False):
            found, inside = otherwise(), self.builder.block
        masks = []
        for mask in found:
            phi = self.builder.phi(self.value.type)
            phi.add_incoming(none, before)
            phi.add_incoming(mask.value, inside)
            masks.append(Lanes(self.builder, phi))
        return masks

    def widened(self) -> Lanes:
        return self._new(self.builder.zext(self.value, LANES_64))

    def narrowed(self) -> Lanes:
        return self._new(self.builder.trunc(self.value, LANES_32))

    def sign_widened(self) -> Lanes:
        return self._new(self.builder.sext(self.value, LANES_64))

    def high_product(self, other: Lanes) -> Lanes:
        """The upper half of a product; one of 64 x 64 bits from four products of halves."""
        if self.value.type == LANES_32:
            return (self.widened() * other.widened() >> 32).narrowed()
        low, high = self & _LOW, self >> 32
        other_low, other_high = other & _LOW, other >> 32
        cross, other_cross = low * other_high, high * other_low
        carry = ((low * other_low) >> 32) + (cross & _LOW) + (other_cross & _LOW)
        return high * other_high + (cross >> 32) + (other_cross >> 32) + (carry >> 32)

    def bits(self) -> ir.Value:
        """A mask as a 32-bit integer, lane 0 in the lowest bit."""
        return self.builder.zext(self.builder.bitcast(self.value, I16), I32)

    def sign_shifted(self, bits: int) -> Lanes:
        """Shifted right as signed integers."""
        return self._new(self.builder.ashr(self.value, self._like(bits)))

    def floats(self) -> Floats:
        """Integers below 2**31, as floats."""
        return Floats(self.builder, self.builder.sitofp(self.value, FLOAT_LANES))

    def woven(self) -> Lanes:
        """Of rows in their order, in that of WOVEN."""
        order = ir.Constant(LANES_32, WOVEN)
        return self._new(self.builder.shuffle_vector(self.value, self.value, order))

    def halves(self) -> list[ir.Value]:
        """The first eight lanes, and the others."""
        parts = (list(range(start, start + 8)) for start in (0, 8))
        masks = (ir.Constant(ir.VectorType(I32, 8), part) for part in parts)
        return [self.builder.shuffle_vector(self.value, self.value, mask) for mask in masks]

    def as_floats(self) -> Floats:
        """The floats that have these bits."""
        return Floats(self.builder, self.builder.bitcast(self.value, FLOAT_LANES))


class Floats(Lanes):
    """A vector of float64."""

    def __add__(self, other: Any) -> Floats:
        return self._new(self.builder.fadd(self.value, self._like(other)))

    def __sub__(self, other: Any) -> Floats:
        return self._new(self.builder.fsub(self.value, self._like(other)))

    def __rsub__(self, other: Any) -> Floats:
        return self._new(self.builder.fsub(self._like(other), self.value))

    def __mul__(self, other: Any) -> Floats:
        return self._new(self.builder.fmul(self.value, self._like(other)))

    def __lt__(self, other: Any) -> Lanes:
        return Lanes(self.builder, self.builder.fcmp_ordered("<", self.value, self._like(other)))

    def __gt__(self, other: Any) -> Lanes:
        return Lanes(self.builder, self.builder.fcmp_ordered(">", self.value, self._like(other)))

    def same_as(self, other: Any) -> Lanes:
        return Lanes(self.builder, self.builder.fcmp_ordered("==", self.value, self._like(other)))

    def _new(self, value: ir.Value) -> Floats:
        return Floats(self.builder, value)

    def chosen(self, mask: Lanes, otherwise: Any) -> Floats:
        """Lane by lane: this where the mask is set."""
        return self._new(self.builder.select(mask.value, self.value, self._like(otherwise)))

    def __truediv__(self, other: Any) -> Floats:
        return self._new(self.builder.fdiv(self.value, self._like(other)))

    def __neg__(self) -> Floats:
        return self._new(self.builder.fneg(self.value))

    def floor(self) -> Floats:
        return self._call("floor")

    def size(self) -> Floats:
        """Without the sign."""
        return self._call("fabs")

    def root(self) -> Floats:
        return self._call("sqrt")

    def times_plus(self, factor: Any, addend: Any) -> Floats:
        """self * factor + addend, rounded once."""
        return self._call("fma", factor, addend)

    def floored_times_plus(self, factor: Any, addend: Any) -> Floats:
        """self * factor + addend, rounded down; with AVX-512 alone."""
        name, down = "llvm.x86.avx512.vfmadd.pd.512", ir.Constant(I32, 1 | 8)  # and no exceptions
        values = (self._new(self._like(value)).halves() for value in (self, factor, addend))
        eights = zip(*values, strict=True)
        return joined(self.builder, *(call(self.builder, name, EIGHT, *v, down) for v in eights))

    def with_sign(self, word: Lanes) -> Floats:
        """Negated where the leading bit of `word` is set."""
        return (self.as_bits() ^ (word & 1 << 63)).as_floats()

    def as_bits(self) -> Lanes:
        return Lanes(self.builder, self.builder.bitcast(self.value, LANES_64))

    def _call(self, name: str, *others: Any) -> Floats:
        values = self.value, *map(self._like, others)
        return self._new(call(self.builder, f"llvm.{name}.v{LANES}f64", FLOAT_LANES, *values))


def call(builder: ir.IRBuilder, name: str, kind: ir.Type, *arguments: ir.Value) -> ir.Value:
    """What LLVM's own function of that name returns, which is of that kind."""
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(kind, [value.type for value in arguments]), name
    )
    return builder.call(function, arguments)


def mask_of(builder: ir.IRBuilder, bits: ir.Value) -> Lanes:
    """The opposite of `bits`."""
    return Lanes(builder, builder.bitcast(builder.trunc(bits, I16), _LANES_1))


def broadcast(builder: ir.IRBuilder, scalar: Any, kind: ir.VectorType) -> Lanes:
    if isinstance(scalar, int | float):
        return Lanes(builder, ir.Constant(kind, [scalar] * kind.count))
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(I32, 0))
    same = ir.Constant(LANES_32, [0] * kind.count)
    return Lanes(builder, builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), same))


def floats(builder: ir.IRBuilder, scalar: Any) -> Floats:
    return Floats(builder, broadcast(builder, scalar, FLOAT_LANES).value)


def unpacked(builder: ir.IRBuilder, tuple_: ir.Value, count: int) -> Iterator[Floats]:
    """Each float of a tuple in sixteen lanes."""
    return (floats(builder, builder.extract_value(tuple_, i)) for i in range(count))


def counting(builder: ir.IRBuilder) -> Lanes:
    """0, 1, .. 15."""
    return Lanes(builder, ir.Constant(LANES_64, list(range(LANES))))


def times(builder: ir.IRBuilder, index: ir.Value, factor: int) -> ir.Value:
    """An index, multiplied."""
    return builder.mul(index, ir.Constant(I64, factor))


def plus(builder: ir.IRBuilder, index: ir.Value, more: int) -> ir.Value:
    """An index, further."""
    return builder.add(index, ir.Constant(I64, more))


def pointer(builder: ir.IRBuilder, data: ir.Value, index: Any, kind: ir.Type) -> ir.Value:
    """The address of element `index` of `data`, which has those of `kind`, as one to `kind`."""
    element = kind.element if isinstance(kind, ir.VectorType) else kind
    offset = ir.Constant(I64, index) if isinstance(index, int) else index
    address = builder.gep(builder.bitcast(data, element.as_pointer()), [offset])
    return builder.bitcast(address, kind.as_pointer())


def load(builder: ir.IRBuilder, data: ir.Value, index: Any, kind: ir.VectorType) -> Lanes:
    where = pointer(builder, data, index, kind)
    return Lanes(builder, builder.load(where, align=kind.element.width // 8))


def load_floats(builder: ir.IRBuilder, data: ir.Value, index: Any) -> Floats:
    return Floats(builder, builder.load(pointer(builder, data, index, FLOAT_LANES), align=8))


def load_word(
    builder: ir.IRBuilder, data: ir.Value, index: ir.Value, rows: Sequence[int] = range(LANES)
) -> Lanes:
    """A 64-bit word of sixteen rows: their low halves are there, then their high halves.

    By one permutation of two vectors, instead of widening, shifting and joining them.
    rows: in which order they are in the lanes.
    """
    following = builder.add(index, ir.Constant(I64, LANES))
    low, high = (load(builder, data, at, LANES_32) for at in (index, following))
    halves = [row + half for row in rows for half in (0, LANES)]
    order = ir.Constant(ir.VectorType(I32, 2 * LANES), halves)
    words = builder.shuffle_vector(low.value, high.value, order)
    return Lanes(builder, builder.bitcast(words, LANES_64))


def store(lanes: Lanes, data: ir.Value, index: Any) -> None:
    kind = lanes.value.type
    where = pointer(lanes.builder, data, index, kind)
    lanes.builder.store(lanes.value, where, align=4)


def prefetch(builder: ir.IRBuilder, address: ir.Value, cache: int, to_write: bool = False) -> None:
    """Have the line at that address on its way to the first- or second-level cache."""
    where = builder.bitcast(address, ir.IntType(8).as_pointer())
    write, locality, data = (ir.Constant(I32, value) for value in (int(to_write), 4 - cache, 1))
    call(builder, "llvm.prefetch.p0", ir.VoidType(), where, write, locality, data)


def loop(
    builder: ir.IRBuilder,
    count: Any,
    carried: list[Any],
    turn: Callable[[ir.Value, list[Any]], list[Any]],
) -> list[Any]:
    """`turn(i, carried)` for i = 0 .. count - 1, of at least one; it returns what is carried on.

    Vectors that are carried (or a scalar as one) stay in registers. In a loop of numba's they go
    through an array and back each time, which takes some 20 cycles.
    """
    before, again = builder.block, builder.append_basic_block("again")
    after = builder.append_basic_block("after")
    builder.branch(again)
    builder.position_at_end(again)
    i = builder.phi(I64)
    i.add_incoming(ir.Constant(I64, 0), before)
    phis = [builder.phi(vector.value.type) for vector in carried]
    for phi, vector in zip(phis, carried, strict=True):
        phi.add_incoming(vector.value, before)
    carried = turn(i, [type(v)(builder, phi) for v, phi in zip(carried, phis, strict=True)])
    following, end = builder.add(i, ir.Constant(I64, 1)), builder.block
    i.add_incoming(following, end)
    for phi, vector in zip(phis, carried, strict=True):
        phi.add_incoming(vector.value, end)
    stop = ir.Constant(I64, count) if isinstance(count, int) else count
    builder.cbranch(builder.icmp_signed("<", following, stop), again, after)
    builder.position_at_end(after)
    return carried


def has(context: Any, feature: str) -> bool:
    """Whether the processor that is compiled for has it."""
    return f"+{feature}" in str(context.codegen().magic_tuple()[-1]).split(",")


def has_avx512(context: Any) -> bool:
    """Whether it has what `lookups` finds in registers, and 32 of them."""
    return has(context, "avx512f")


def joined(builder: ir.IRBuilder, first: ir.Value, second: ir.Value) -> Floats:
    """Two vectors of eight as one."""
    both = ir.Constant(LANES_32, list(range(LANES)))
    return Floats(builder, builder.shuffle_vector(first, second, both))
