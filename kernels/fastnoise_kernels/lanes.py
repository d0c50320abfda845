"""Sixteen rows at a time: LLVM vectors that read like arithmetic.

The loop vectoriser gives up on table look-ups and would decide anew on every machine; these
vectors compile to the same instructions everywhere, split to the width the processor has. How to
read a function that is written with them: `docs/kernels.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from llvmlite import ir
from numba.core.registry import cpu_target

LANES = 16
I8, I16, I32, I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
DOUBLE = ir.DoubleType()
LANES_32 = ir.VectorType(I32, LANES)
LANES_64 = ir.VectorType(I64, LANES)
FLOAT_LANES = ir.VectorType(DOUBLE, LANES)
EIGHT = ir.VectorType(DOUBLE, 8)
# Rows as they come where vectors are interleaved within 128 bits. That takes one instruction of two
# operands; the order of rows takes one of three, which on Zen 4 keeps units busy that multiply, and
# l2 noise 0.88 instead of 0.80 ns per coordinate.
WOVEN = [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]
_LOW = 0xFFFFFFFF
_LANES_1 = ir.VectorType(ir.IntType(1), LANES)
V = TypeVar("V", bound="Vector")


class Value:
    """What LLVM computes with, and where it writes its instructions: vectors and numbers alike.

    Ints and floats on either side of an operator become constants, and single numbers beside a
    vector are put in all of its lanes.
    """

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder, self.value = builder, value

    def _like(self, other: Any) -> ir.Value:
        kind = self.value.type
        if isinstance(other, int | float):
            count = getattr(kind, "count", None)
            return ir.Constant(kind, [other] * count if count else other)
        if isinstance(other, Number) and not isinstance(self, Number):
            return other.lanes(kind).value
        return other.value

    def _new(self, value: ir.Value) -> Self:
        return type(self)(self.builder, value)


class Integers(Value):
    """Unsigned ones, unless a method says otherwise."""

    def _with(self, other: Any, operation: str) -> Self:
        if isinstance(self, Number) and isinstance(other, Vector):
            return NotImplemented  # type: ignore[no-any-return]  # the vector does it
        return self._new(getattr(self.builder, operation)(self.value, self._like(other)))

    def __add__(self, other: Any) -> Self:
        return self._with(other, "add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self._with(other, "sub")

    def __rsub__(self, other: Any) -> Self:
        return self._new(self.builder.sub(self._like(other), self.value))

    def __mul__(self, other: Any) -> Self:
        return self._with(other, "mul")

    __rmul__ = __mul__

    def __and__(self, other: Any) -> Self:
        return self._with(other, "and_")

    def __or__(self, other: Any) -> Self:
        return self._with(other, "or_")

    def __xor__(self, other: Any) -> Self:
        return self._with(other, "xor")

    def __invert__(self) -> Self:
        return self._new(self.builder.not_(self.value))

    def __lshift__(self, other: Any) -> Self:
        return self._with(other, "shl")

    def __rlshift__(self, other: Any) -> Self:
        return self._new(self.builder.shl(self._like(other), self.value))

    def __rshift__(self, other: Any) -> Self:
        return self._with(other, "lshr")


class Number(Integers):
    """A single integer, the same for all rows: an index, a size; or a float to put in lanes."""

    def narrowed(self) -> Number:
        return self._new(self.builder.trunc(self.value, I32))

    def widened(self) -> Number:
        return self._new(self.builder.zext(self.value, I64))

    def as_float(self) -> Number:
        """The float64 that is nearest."""
        return self._new(self.builder.uitofp(self.value, DOUBLE))

    def is_below(self, other: Any) -> Number:
        """As signed integers."""
        return self._new(self.builder.icmp_signed("<", self.value, self._like(other)))

    def equals(self, other: Any) -> Number:
        return self._new(self.builder.icmp_unsigned("==", self.value, self._like(other)))

    def where(self, chosen: Number, otherwise: Any) -> Number:
        """`chosen` if this holds."""
        return self._new(self.builder.select(self.value, chosen.value, chosen._like(otherwise)))

    def at_most(self, other: Number) -> Number:
        """The lesser of two signed integers."""
        return self.is_below(other).where(self, other)

    def as_mask(self) -> Mask:
        """The opposite of `Mask.bits`."""
        return Mask(
            self.builder, self.builder.bitcast(self.builder.trunc(self.value, I16), _LANES_1)
        )

    def lanes(self, kind: ir.VectorType) -> Lanes:
        """The same number in every lane."""
        unknown = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(unknown, self.value, ir.Constant(I32, 0))
        same = ir.Constant(ir.VectorType(I32, kind.count), [0] * kind.count)
        return Lanes(self.builder, self.builder.shuffle_vector(first, unknown, same))

    def floats(self) -> Floats:
        """A float64 in sixteen lanes."""
        return Floats(self.builder, self.lanes(FLOAT_LANES).value)


class Mask(Value):
    """A bit for each of sixteen rows: what comparisons give."""

    def __and__(self, other: Mask) -> Mask:
        return self._new(self.builder.and_(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return self._new(self.builder.or_(self.value, other.value))

    def __invert__(self) -> Mask:
        return self._new(self.builder.not_(self.value))

    def where(self, chosen: V | float, otherwise: V | float) -> V:
        """Lane by lane: `chosen` where this is set. At least one of both is a vector."""
        like: Any = chosen if isinstance(chosen, Vector) else otherwise
        values = like._like(chosen), like._like(otherwise)
        found: V = like._new(self.builder.select(self.value, *values))
        return found

    def bits(self) -> Number:
        """As a 32-bit integer, lane 0 in the lowest bit."""
        return Number(self.builder, self.builder.zext(self.builder.bitcast(self.value, I16), I32))

    def unless_all(self, otherwise: Callable[[], Sequence[Mask]]) -> list[Mask]:
        """Masks of none if this one is set in all lanes; else those of `otherwise`."""
        none, before = ir.Constant(self.value.type, [0] * LANES), self.builder.block
        some_unset = self.builder.icmp_unsigned("!=", (~self).bits().value, ir.Constant(I32, 0))
        with self.builder.if_then(some_unset, likely=False):
            found, inside = otherwise(), self.builder.block
        masks = []
        for mask in found:
            phi = self.builder.phi(self.value.type)
            phi.add_incoming(none, before)
            phi.add_incoming(mask.value, inside)
            masks.append(self._new(phi))
        return masks


class Vector(Value):
    """Sixteen lanes, or the eight of a half."""

    def like(self, other: Any) -> Self:
        """A constant or a number as a vector of the same kind."""
        return self._new(self._like(other))

    def halves(self) -> list[ir.Value]:
        """The first eight lanes, and the others."""
        parts = (list(range(start, start + 8)) for start in (0, 8))
        masks = (ir.Constant(ir.VectorType(I32, 8), part) for part in parts)
        return [self.builder.shuffle_vector(self.value, self.value, mask) for mask in masks]


class Lanes(Vector, Integers):
    """A vector of unsigned integers, of 32 or 64 bits."""

    def __lt__(self, other: Any) -> Mask:
        return self._compared("<", other)

    def __gt__(self, other: Any) -> Mask:
        return self._compared(">", other)

    def equals(self, other: Any) -> Mask:
        return self._compared("==", other)

    def _compared(self, how: str, other: Any) -> Mask:
        found = self.builder.icmp_unsigned(how, self.value, self._like(other))
        return Mask(self.builder, found)

    def exceeds(self, other: Any) -> Mask:
        """As signed integers."""
        return Mask(self.builder, self.builder.icmp_signed(">", self.value, self._like(other)))

    def followed_by(self, other: Lanes, bits: Any) -> Lanes:
        """Shifted left; the leading bits of `other`, both of 32, take the place of what is free."""
        values = self.value, other.value, self._like(bits)
        return self._new(call(self.builder, "llvm.fshl.v16i32", LANES_32, *values))

    def widened(self, kind: ir.VectorType = LANES_64) -> Lanes:
        return self._new(self.builder.zext(self.value, kind))

    def narrowed(self) -> Lanes:
        return self._new(self.builder.trunc(self.value, LANES_32))

    def sign_widened(self) -> Lanes:
        return self._new(self.builder.sext(self.value, LANES_64))

    def sign_shifted(self, bits: int) -> Lanes:
        """Shifted right as signed integers."""
        return self._new(self.builder.ashr(self.value, self._like(bits)))

    def high_product(self, other: Lanes) -> Lanes:
        """The upper half of a product; one of 64 x 64 bits from four products of halves."""
        if self.value.type == LANES_32:
            return (self.widened() * other.widened() >> 32).narrowed()
        low, high = self & _LOW, self >> 32
        other_low, other_high = other & _LOW, other >> 32
        cross, other_cross = low * other_high, high * other_low
        carry = ((low * other_low) >> 32) + (cross & _LOW) + (other_cross & _LOW)
        return high * other_high + (cross >> 32) + (other_cross >> 32) + (carry >> 32)

    def floats(self) -> Floats:
        """Integers below 2**31, as floats."""
        return Floats(self.builder, self.builder.sitofp(self.value, FLOAT_LANES))

    def as_floats(self) -> Floats:
        """The floats that have these bits."""
        return Floats(self.builder, self.builder.bitcast(self.value, FLOAT_LANES))

    def woven(self) -> Lanes:
        """Of rows in their order, in that of WOVEN."""
        order = ir.Constant(LANES_32, WOVEN)
        return self._new(self.builder.shuffle_vector(self.value, self.value, order))


class Floats(Vector):
    """A vector of float64."""

    def __add__(self, other: Any) -> Floats:
        return self._new(self.builder.fadd(self.value, self._like(other)))

    def __sub__(self, other: Any) -> Floats:
        return self._new(self.builder.fsub(self.value, self._like(other)))

    def __rsub__(self, other: Any) -> Floats:
        return self._new(self.builder.fsub(self._like(other), self.value))

    def __mul__(self, other: Any) -> Floats:
        return self._new(self.builder.fmul(self.value, self._like(other)))

    def __truediv__(self, other: Any) -> Floats:
        return self._new(self.builder.fdiv(self.value, self._like(other)))

    def __neg__(self) -> Floats:
        return self._new(self.builder.fneg(self.value))

    def __lt__(self, other: Any) -> Mask:
        return self._compared("<", other)

    def __gt__(self, other: Any) -> Mask:
        return self._compared(">", other)

    def equals(self, other: Any) -> Mask:
        return self._compared("==", other)

    def _compared(self, how: str, other: Any) -> Mask:
        """Never where either is NaN."""
        found = self.builder.fcmp_ordered(how, self.value, self._like(other))
        return Mask(self.builder, found)

    def floor(self) -> Floats:
        return self._call("floor")

    def size(self) -> Floats:
        """Without the sign."""
        return self._call("fabs")

    def root(self) -> Floats:
        return self._call("sqrt")

    def times_plus(self, factor: Any, addend: Any) -> Floats:
        """self * factor + addend, rounded once or, where there is no instruction for it, twice.

        For products that are exact, and for bounds with room for the error of both.
        """
        if fuses(cpu_target.target_context):
            return self._call("fma", factor, addend)
        rounded_twice: Floats = self * factor + addend
        return rounded_twice

    def times_plus_once(self, factor: Any, addend: Any) -> Floats:
        """The same, rounded once everywhere."""
        if fuses(cpu_target.target_context):
            return self._call("fma", factor, addend)
        return self.times_plus_in_parts(factor, addend)

    def times_plus_in_parts(self, factor: Any, addend: Any) -> Floats:
        """The same without an instruction for it, of products of 2**-960 or more, or 0.

        Three exact floats are added (Boldo & Melquiond 2008), which takes twenty times as long as
        rounding twice; LLVM would call libm for each lane. No number may exceed 2**990.
        """
        addend, (product, lost) = self.like(addend), self._product(self.like(factor))
        low, lowest = addend.exact_sum(lost)
        high, rest = product.exact_sum(low)
        odd = high + lowest.rounded_to_odd(rest)
        found: Floats = lost.equals(0.0).where(product + addend, odd)  # the sign of 0.0, too
        return found

    def exact_sum(self, other: Floats) -> tuple[Floats, Floats]:
        """Rounded, and what rounding lost (Knuth)."""
        total = self + other
        others = total - self
        return total, (self - (total - others)) + (other - others)

    def rounded_to_odd(self, other: Floats) -> Floats:
        """The sum; if it is not exact, that of both floats next to it whose last bit is set."""
        total, lost = self.exact_sum(other)
        bits = total.as_bits()
        further = (lost > 0.0).where(lost.like(1.0), lost.like(-1.0)).with_sign(bits) > 0.0
        inexact_even = (bits & 1).equals(0) & ~lost.equals(0.0)
        odd = further.where(bits + 1, bits - 1)
        found: Lanes = inexact_even.where(odd, bits)
        return found.as_floats()

    def _product(self, other: Floats) -> tuple[Floats, Floats]:
        """Rounded, and what rounding lost (Dekker)."""
        product, (a, b), (c, d) = self * other, self._parts(), other._parts()
        return product, b * d - (((product - a * c) - b * c) - a * d)

    def _parts(self) -> tuple[Floats, Floats]:
        """Two floats of 26 bits (Veltkamp)."""
        scaled = self * (2.0**27 + 1.0)
        high = scaled - (scaled - self)
        return high, self - high

    def floored_times_plus(self, factor: Any, addend: Any) -> Floats:
        """self * factor + addend, rounded down; with AVX-512 alone."""
        name, down = "llvm.x86.avx512.vfmadd.pd.512", ir.Constant(I32, 1 | 8)  # and no exceptions
        values = (self.like(value).halves() for value in (self, factor, addend))
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


def joined(builder: ir.IRBuilder, first: ir.Value, second: ir.Value) -> Floats:
    """Two vectors of eight as one."""
    both = ir.Constant(LANES_32, list(range(LANES)))
    return Floats(builder, builder.shuffle_vector(first, second, both))


def loop(
    count: int | Number,
    carried: list[Any],
    turn: Callable[[Number, list[Any]], list[Any]],
) -> list[Any]:
    """`turn(i, carried)` for i = 0 .. count - 1, of at least one; it returns what is carried on.

    Values that are carried stay in registers. In a loop of numba's vectors go through an array and
    back each time, which takes some 20 cycles.
    """
    builder = carried[0].builder
    before, again = builder.block, builder.append_basic_block("again")
    after = builder.append_basic_block("after")
    builder.branch(again)
    builder.position_at_end(again)
    i = builder.phi(I64)
    i.add_incoming(ir.Constant(I64, 0), before)
    phis = [builder.phi(value.value.type) for value in carried]
    for phi, value in zip(phis, carried, strict=True):
        phi.add_incoming(value.value, before)
    index = Number(builder, i)
    carried = turn(index, [v._new(phi) for v, phi in zip(carried, phis, strict=True)])
    following, end = index + 1, builder.block
    i.add_incoming(following.value, end)
    for phi, value in zip(phis, carried, strict=True):
        phi.add_incoming(value.value, end)
    builder.cbranch(following.is_below(count).value, again, after)
    builder.position_at_end(after)
    return carried


def has(context: Any, feature: str) -> bool:
    """Whether the processor that is compiled for has it."""
    return f"+{feature}" in str(context.codegen().magic_tuple()[-1]).split(",")


def fuses(context: Any) -> bool:
    """Whether it multiplies and adds in one instruction, with one rounding: all ARM64 do."""
    return has(context, "fma") or context.codegen().magic_tuple()[0].startswith("aarch64")


def has_avx512(context: Any) -> bool:
    """Whether it has what `lookups` finds in registers, and 32 of them."""
    return has(context, "avx512f")
