"""Elements, lines, bits and products as LLVM sees them, without what numba adds."""

import numpy as np
from llvmlite import ir
from numba import boolean, float64, int64, uint64

from fastnoise_kernels import lanes
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inlined, inner
from fastnoise_kernels.lanes import DOUBLE, EIGHT, I32, I64, Number
from fastnoise_kernels.pointers import pointer_to
from fastnoise_kernels.shuffles import rows_of


@intrinsic
def wide_vectors(here):
    """Have this function vectorised as wide as the processor goes, which LLVM shies away from.

    The keystream runs at that width anyway; measured: 0.65 -> 0.44 ns per row of `add_tile`.
    """
    # llvmlite knows no attributes with a value, but writes what it finds.
    set.add(here.builder.function.attributes, '"prefer-vector-width"="512"')


@inlined
def element(array, index):
    """array[index] for an index that is never negative.

    numba's own indexing counts negative ones from the end, which keeps loops from vectorising;
    unsigned ones it takes as they are.
    """
    return array[np.uint64(index)]


@inlined
def put(array, index, value):
    """array[index] = value, likewise."""
    array[np.uint64(index)] = value


@inner
def copy(values, to):
    """to[: len(values)] = values, without the second it takes to compile numba's error message."""
    for i in range(len(values)):
        to[i] = values[i]


def rows_intrinsic(order, count):
    @intrinsic
    def eight_rows(here, columns, at: int64, rows, to: int64, dim: int64):
        """Copy `count` columns of eight float64 (1, 2, 4 or 8 of them) to the rows of `order`.

        The columns are 16 apart from columns[at] on, the rows `dim` from rows[to] on.
        """
        builder, some = here.builder, ir.VectorType(DOUBLE, count)
        starts = (columns.of(EIGHT, at + 16 * i) for i in range(count))
        vectors = rows_of(builder, [builder.load(start, align=8) for start in starts])
        for place in range(8):
            vector, start = vectors[place * count // 8], place * count % 8
            kept = ir.Constant(ir.VectorType(I32, count), list(range(start, start + count)))
            row = builder.shuffle_vector(vector, vector, kept)
            builder.store(row, rows.of(some, to + dim * order[place]), align=8)

    return eight_rows


def _prefetch_intrinsic(cache, to_write=False):
    @intrinsic
    def prefetch(here, address: int64):
        """Have the line at that address on its way to the first- or second-level cache."""
        pointer_to(address).prefetch(cache, to_write)

    return prefetch


prefetch, prefetch_near = _prefetch_intrinsic(cache=2), _prefetch_intrinsic(cache=1)
prefetch_to_write = _prefetch_intrinsic(cache=2, to_write=True)


@intrinsic
def product_high(here, a: uint64, b: uint64) -> uint64:
    """The upper 64 bits of a 64 x 64 bit product."""
    builder, wide = here.builder, ir.IntType(128)
    a, b = (Number(builder, builder.zext(factor.value, wide)) for factor in (a, b))
    return Number(builder, builder.trunc((a * b >> 64).value, I64))


@intrinsic
def fuses(here) -> boolean:
    """Whether the processor multiplies and adds in one instruction."""
    return here.number(lanes.fuses(here.context), ir.IntType(1))


@intrinsic
def fused(here, value: float64, factor: float64, addend: float64) -> float64:
    """value * factor + addend, rounded once; slow where a processor has no instruction for it."""
    numbers = (value.value, factor.value, addend.value)
    return Number(here.builder, lanes.call(here.builder, "llvm.fma.f64", DOUBLE, *numbers))


@inlined
def times_plus(value, factor, addend):
    """value * factor + addend, of a product that is exact: the same bits with and without fma."""
    return fused(value, factor, addend) if fuses() else value * factor + addend


@inlined
def float_bits(value):
    return np.float64(value).view(np.int64)


@inlined
def float_of_bits(bits):
    return np.int64(bits).view(np.float64)
