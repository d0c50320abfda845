"""Rows for columns: numbers that change places in registers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir

from fastnoise_kernels.lanes import I32, LANES, LANES_32, Lanes


def columns_of(builder: ir.IRBuilder, rows: Iterator[Lanes]) -> list[Lanes]:
    """The last 32 bits of sixteen rows of 64-bit numbers, column by column.

    Rows are taken one by one: LLVM keeps that order, and with it fewer of them in registers.
    """

    def mixed(places: list[int], a: ir.Value, b: ir.Value) -> ir.Value:
        """Those of each quarter of two vectors."""
        order = [4 * quarter + place for quarter in range(4) for place in places]
        return builder.shuffle_vector(a, b, ir.Constant(LANES_32, order))

    def every_second(first: int, a: ir.Value, b: ir.Value) -> ir.Value:
        """Every second quarter of two vectors, from `first` on."""
        order = [4 * quarter + place for quarter in range(first, 8, 2) for place in range(4)]
        return builder.shuffle_vector(a, b, ir.Constant(LANES_32, order))

    pairs = []
    for row in rows:
        halves = zip(row.halves(), next(rows).halves(), strict=True)
        parts = ([builder.bitcast(part, LANES_32) for part in half] for half in halves)
        pairs.append([mixed([0, 16, 2, 18], *half) for half in parts])
    columns = {}
    for i, half in enumerate(zip(*pairs, strict=True)):
        for j, places in enumerate(([0, 1, 16, 17], [2, 3, 18, 19])):
            fours = [mixed(places, a, b) for a, b in zip(half[::2], half[1::2], strict=True)]
            for k in (0, 1):
                upper, lower = every_second(k, *fours[:2]), every_second(k, *fours[2:])
                for m in (0, 1):
                    column = Lanes(builder, every_second(m, upper, lower))
                    columns[8 * i + 4 * m + 2 * k + j] = column
    return [columns[i] for i in range(LANES)]


def _interleaved(builder: Any, a: Any, b: Any, size: int) -> list[Any]:
    """`size` of a, `size` of b, and so on: two vectors of eight."""
    order = [
        place + start + i for start in range(0, 8, size) for place in (0, 8) for i in range(size)
    ]
    masks = (ir.Constant(ir.VectorType(I32, 8), half) for half in (order[:8], order[8:]))
    return [builder.shuffle_vector(a, b, mask) for mask in masks]


def rows_of(builder: Any, columns: list[Any]) -> list[Any]:
    """Columns of eight rows as vectors of eight that hold row after row."""
    size = len(columns) // 2
    if size == 0:
        return columns
    left, right = rows_of(builder, columns[:size]), rows_of(builder, columns[size:])
    return [v for a, b in zip(left, right, strict=True) for v in _interleaved(builder, a, b, size)]
