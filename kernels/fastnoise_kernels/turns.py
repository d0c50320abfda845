"""Threads that share rows: whoever is free takes the next piece. And a clock to see them wait."""

import sys

from llvmlite import ir
from numba import int64

from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.lanes import I32, I64, Number, call

MONOTONIC = 6 if sys.platform == "darwin" else 1  # of clock_gettime
NANOSECONDS = 1_000_000_000


@intrinsic
def take(here, taken, piece: int64) -> int64:
    """Add to taken[0]; what it was before. No two threads get the same."""
    return Number(
        here.builder, here.builder.atomic_rmw("add", taken.of(I64), piece.value, "monotonic")
    )


@intrinsic
def nanoseconds(here) -> int64:
    """Of a clock that all threads share; 0 on Windows, whose C library has none."""
    if sys.platform == "win32":
        return here.number(0)
    builder = here.builder
    with builder.goto_entry_block():  # room on the stack, once per function
        time = builder.alloca(ir.ArrayType(I64, 2))
    call(builder, "clock_gettime", I32, ir.Constant(I32, MONOTONIC), time)
    parts = builder.load(time)
    seconds, rest = (Number(builder, builder.extract_value(parts, i)) for i in range(2))
    return seconds * NANOSECONDS + rest
