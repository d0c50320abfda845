"""What sixteen rows find in a table: in memory, or in registers where it is small enough."""

from __future__ import annotations

from llvmlite import ir

from fastnoise_kernels import lanes
from fastnoise_kernels.lanes import EIGHT, I32, I64, LANES, LANES_32, Floats, Lanes
from fastnoise_kernels.pointers import Pointer


def gather(table: Pointer, index: Lanes) -> Lanes:
    """The 32-bit elements of a table at the sixteen indices, of 32 bits as well.

    One by one: a gather instruction takes longer (1.0 -> 0.55 ns per row on AMD's Zen 4). Two
    indices leave their vector at a time.
    """
    builder, found = index.builder, ir.Constant(LANES_32, ir.Undefined)
    pairs = builder.bitcast(index.value, ir.VectorType(I64, LANES // 2))
    for i in range(0, LANES, 2):
        both = lanes.Number(builder, builder.extract_element(pairs, ir.Constant(I32, i // 2)))
        for j, at in enumerate((both & 0xFFFFFFFF, both >> 32)):
            element = builder.load(table.of(I32, at))
            found = builder.insert_element(found, element, ir.Constant(I32, i + j))
    return Lanes(builder, found)


def permuted(table: Pointer, index: Lanes, cells: int = 32) -> Lanes:
    """What `gather` gives, of 32 or 64 elements, all of which are read: 1.0 -> 0.1 ns per row."""
    low = of_two(index, *table_of(table, 0))
    if cells == 32:
        return low
    return (index < 32).where(low, of_two(index, *table_of(table, 32)))


def table_of(table: Pointer, start: int) -> list[Lanes]:
    """32 elements of 32 bits in two registers."""
    return [table.lanes(at) for at in (start, start + LANES)]


def of_two(index: Lanes, first: Lanes, second: Lanes) -> Lanes:
    """Of 32 elements, what the last five bits say; with AVX-512 alone."""
    name, values = "llvm.x86.avx512.vpermi2var.d.512", (first.value, index.value, second.value)
    return Lanes(index.builder, lanes.call(index.builder, name, LANES_32, *values))


def picked(table: tuple[float, ...], index: Lanes) -> Floats:
    """Of a table of sixteen, what the last four bits of 64 say; with AVX-512 alone."""
    builder, name = index.builder, "llvm.x86.avx512.vpermi2var.pd.512"
    first, second = (ir.Constant(EIGHT, list(table[at : at + 8])) for at in (0, 8))
    halves = (lanes.call(builder, name, EIGHT, first, half, second) for half in index.halves())
    return lanes.joined(builder, *halves)
