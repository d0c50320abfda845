"""Refuses threads in which floats do not behave as usual.

How a thread rounds, and whether it takes denormal floats for 0, is a setting that any library may
change: one that was built with -ffast-math does so when it is loaded. Noise would no longer be what
is proved of it, and neither would tables, nor the very constants in modules imported meanwhile. So
whatever draws, certifies or makes something that is kept asks here first: 0.15 microseconds.
"""

from __future__ import annotations

# In hexadecimal: Python reads 0.1 otherwise in another rounding mode.
ONE, HALF = float.fromhex("0x1p0"), float.fromhex("0x1p-1")
TINY, LEAST_NORMAL = float.fromhex("0x1p-60"), float.fromhex("0x1p-1022")


def refuse_odd_floats() -> None:
    """A RuntimeError unless this thread rounds to nearest and knows denormal floats."""
    if not (ONE + TINY == ONE == ONE - TINY):
        raise RuntimeError(
            "the floating-point rounding mode of this thread is not to-nearest, and noise would "
            "not be what is promised: set it back, in C by fesetround(FE_TONEAREST)"
        )
    if LEAST_NORMAL * HALF == 0.0:
        raise RuntimeError(
            "this thread flushes denormal floats to zero, and noise would not be what is promised: "
            "a library built with -ffast-math may have set that; use another thread, or set it back"
        )
