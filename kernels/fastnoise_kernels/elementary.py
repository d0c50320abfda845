"""Logarithm, sine and cosine from + - * / and fma alone: the same bits everywhere, in vectors.

libm differs between machines, and a call to it in a loop keeps LLVM from vectorising. Polynomials
were fitted at Chebyshev points in 60 digits; `tests/test_elementary.py` measures their errors.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels.jit import inlined

ONE_BITS = np.uint64(0x3FF << 52)
ROOT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
# Integers of up to 51 bits as floats, by arithmetic that vectorises everywhere: 1.5 * 2**52 + i.
INTEGER_BITS, INTEGER_FLOAT = np.int64(0x433 << 52 | 1 << 51), 6755399441055744.0

LN2_HIGH = float.fromhex("0x1.62e42fefa2000p-1")  # 40 bits: times an exponent it is exact
LN2_LOW = float.fromhex("0x1.9ef35793c7673p-41")

# log((1 + s) / (1 - s)) = 2 s + s**3 * polynomial(s**2), to 5e-18 for |s| < 0.172
LOGARITHM = tuple(
    map(
        float.fromhex,
        (
            "0x1.5555555555558p-1",
            "0x1.99999999952d7p-2",
            "0x1.2492492df281ap-2",
            "0x1.c71c62e3f11e6p-3",
            "0x1.7462b51cb66b1p-3",
            "0x1.39fe51a7c18f9p-3",
            "0x1.2b5900de53b32p-3",
        ),
    )
)

# sin(pi/2 f) = pi/2 f + f**3 * polynomial(f**2) and cos(pi/2 f) = 1 + f**2 * polynomial(f**2), to
# 2e-20 and 2e-19 for |f| <= 1/2
HALF_PI = float.fromhex("0x1.921fb54442d18p+0")
SINE = tuple(
    map(
        float.fromhex,
        (
            "-0x1.4abbce625be53p-1",
            "0x1.466bc6775aae1p-4",
            "-0x1.32d2cce62b872p-8",
            "0x1.50783486facaap-13",
            "-0x1.e3074d2614b2dp-19",
            "0x1.e8f036bcd3237p-25",
            "-0x1.6cc577dadd922p-31",
        ),
    )
)
COSINE = tuple(
    map(
        float.fromhex,
        (
            "-0x1.3bd3cc9be45dep+0",
            "0x1.03c1f081b5ac0p-2",
            "-0x1.55d3c7e3cb241p-6",
            "0x1.e1f5068688d5bp-11",
            "-0x1.a6d1eef479be1p-16",
            "0x1.f9ce245cada0bp-22",
            "-0x1.b2f3eb054afcdp-28",
        ),
    )
)


@intrinsic
def float_bits(typing, value):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


@intrinsic
def float_of_bits(typing, bits):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen


@intrinsic
def fma(typing, a, b, c):
    """a * b + c, rounded once."""

    def codegen(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), codegen


@inlined
def polynomial(c, x):
    """Of seven coefficients, the constant first."""
    value = fma(c[6], x, c[5])
    value = fma(value, x, c[4])
    value = fma(value, x, c[3])
    value = fma(value, x, c[2])
    value = fma(value, x, c[1])
    return fma(value, x, c[0])


@inlined
def unit(word):
    """The middle of one of 2**52 equal parts of (0, 1), from the leading bits of a word."""
    one_to_two = float_of_bits(np.int64(word >> np.uint64(12) | ONE_BITS))
    return (one_to_two - 1.0) + 2.0**-53


@inlined
def logarithm(x):
    """ln x of a normal x > 0, with a relative error below 2**-51."""
    bits = float_bits(x)
    exponent = (bits - ROOT_HALF_BITS) >> np.int64(52)
    f = float_of_bits(bits - (exponent << np.int64(52))) - 1.0  # within sqrt(1/2) - 1, sqrt(2) - 1
    e = float_of_bits(exponent + INTEGER_BITS) - INTEGER_FLOAT
    s = f / (2.0 + f)
    z = s * s
    rest = fma(s * z, polynomial(LOGARITHM, z), e * LN2_LOW)
    return fma(e, LN2_HIGH, fma(2.0, s, rest))


@inlined
def turned(word):
    """Cosine and sine of a uniform angle: two bits choose the quarter, 52 the place in it.

    Absolute errors are below 2**-52.
    """
    f = (float_of_bits(np.int64(word << np.uint64(2) >> np.uint64(12) | ONE_BITS)) - 1.5) + 2.0**-53
    y = f * f
    sine = fma(f, HALF_PI, f * (y * polynomial(SINE, y)))
    cosine = fma(y, polynomial(COSINE, y), 1.0)
    across, back = word >> np.uint64(62) & np.uint64(1), word >> np.uint64(63)
    a, b = (cosine, sine) if across == 0 else (-sine, cosine)
    return (a, b) if back == 0 else (-a, -b)
