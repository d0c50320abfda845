"""Whether floats behave as usual in the thread that asks; see `fastnoise.float_mode`.

A worker thread keeps the mode of the thread that started it, even for someone else's kernels.
"""

from llvmlite import ir
from numba import boolean

from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.lanes import DOUBLE, I64, Number


def _hidden(builder, value):
    """A constant that the compiler cannot compute with: it would round to nearest."""
    known = builder.bitcast(ir.Constant(DOUBLE, value), I64)
    through = builder.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [known], side_effect=True)
    return builder.bitcast(through, DOUBLE)


@intrinsic
def usual_floats(here) -> boolean:
    """Sums are rounded to nearest, and denormal floats are neither read nor written as 0."""
    builder, zero = here.builder, ir.Constant(DOUBLE, 0.0)
    one, tiny, least, half = (_hidden(builder, v) for v in (1.0, 2.0**-60, 2.0**-1022, 0.5))
    not_up = builder.fcmp_ordered("==", builder.fadd(one, tiny), one)
    not_down = builder.fcmp_ordered("==", builder.fsub(one, tiny), one)
    kept = builder.fcmp_ordered("!=", builder.fmul(least, half), zero)
    return Number(builder, builder.and_(builder.and_(not_up, not_down), kept))
