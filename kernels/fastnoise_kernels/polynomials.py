"""The constants of elementary functions that kernels and the plain reader agree on."""

from typing import Final


def _floats(*hexadecimal: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, hexadecimal))


ROOT_HALF_BITS: Final = 0x3FE6A09E667F3BCD  # of the square root of 1/2, as a float

LN2_HIGH: Final = float.fromhex("0x1.62e42fefa2000p-1")  # 40 bits: times an exponent it is exact
LN2_LOW: Final = float.fromhex("0x1.9ef35793c7673p-41")

# log((1 + s) / (1 - s)) = 2 s + s**3 * polynomial(s**2), to 5e-18 for |s| < 0.172
LOGARITHM: Final = _floats(
    "0x1.5555555555558p-1",
    "0x1.99999999952d7p-2",
    "0x1.2492492df281ap-2",
    "0x1.c71c62e3f11e6p-3",
    "0x1.7462b51cb66b1p-3",
    "0x1.39fe51a7c18f9p-3",
    "0x1.2b5900de53b32p-3",
)

# Largest error of the quicker logarithm; that of quicker cosines and sines is twice as large.
NEAR: Final = 2.0**-42

# The same to NEAR from an exponent, a table for four bits, and ln(1 + r) = r * polynomial(r), to
# 2**-44 for |r| <= 1/33: inverses of the middles of sixteen intervals of 1 .. 2; minus their
# logarithms, less 1023 LN2.
LN2: Final = float.fromhex("0x1.62e42fefa39efp-1")
INVERSES: Final = tuple(32 / (33 + 2 * i) for i in range(16))
INVERSE_LOGARITHMS: Final = _floats(
    "-0x1.6287869045e70p+9",
    "-0x1.627ffe7a62435p+9",
    "-0x1.6278e190af961p+9",
    "-0x1.627224890ac1bp+9",
    "-0x1.626bbdcb3a57dp+9",
    "-0x1.6265a51e31f3dp+9",
    "-0x1.625fd3682905fp+9",
    "-0x1.625a427c9a338p+9",
    "-0x1.6254ecf4b01cfp+9",
    "-0x1.624fce0f9e328p+9",
    "-0x1.624ae199111ecp+9",
    "-0x1.624623d45be2bp+9",
    "-0x1.6241916b5d8f4p+9",
    "-0x1.623d27605a5d6p+9",
    "-0x1.6238e30230f51p+9",
    "-0x1.6234c1e276df9p+9",
)
NEAR_LOGARITHM: Final = _floats(
    "0x1.000000000d523p+0",
    "-0x1.0000000053483p-1",
    "0x1.55554e404cbabp-2",
    "-0x1.ffffe8f9fa873p-3",
    "0x1.9a121210d32e5p-3",
    "-0x1.55dce450bb0d9p-3",
)

# sin(pi/2 f) = pi/2 f + f**3 * polynomial(f**2), to 2e-17 for |f| <= 1/2
HALF_PI: Final = float.fromhex("0x1.921fb54442d18p+0")
SINE: Final = _floats(
    "-0x1.4abbce625be52p-1",
    "0x1.466bc6775a476p-4",
    "-0x1.32d2cce500387p-8",
    "0x1.50783208843ebp-13",
    "-0x1.e3027dea82bd7p-19",
    "0x1.e4a9d9166f052p-25",
)

# cos(pi/2 f) = 1 + f**2 * polynomial(f**2), to 2e-19 for |f| <= 1/2
COSINE: Final = _floats(
    "-0x1.3bd3cc9be45dep+0",
    "0x1.03c1f081b5ac0p-2",
    "-0x1.55d3c7e3cb241p-6",
    "0x1.e1f5068688d5bp-11",
    "-0x1.a6d1eef479be1p-16",
    "0x1.f9ce245cada0bp-22",
    "-0x1.b2f3eb054afcdp-28",
)

# cos(pi/8 f) = polynomial(f**2) and sin(pi/8 f) = f * polynomial(f**2) for |f| <= 1/2, to 2**-41.09
# and 2**-47.6; and cosines and sines of the middles of sixteen parts of a circle, (2 i - 3) pi/16
NEAR_COSINE: Final = _floats(
    "0x1.ffffffffff0f4p-1",
    "-0x1.3bd3cc9821619p-4",
    "0x1.03c1ddb2299c0p-10",
    "-0x1.555b5d9ecdd48p-18",
)
NEAR_SINE: Final = _floats(
    "0x1.921fb54442730p-2",
    "-0x1.4abbce5fe58c0p-7",
    "0x1.466bb4bc5c07ep-14",
    "-0x1.3274384b178c0p-22",
)
_C1, _C3, _C5, _C7 = _floats(
    "0x1.f6297cff75cb0p-1",
    "0x1.a9b66290ea1a3p-1",
    "0x1.1c73b39ae68c8p-1",
    "0x1.8f8b83c69a60bp-3",
)
COSINES: Final = (
    *(_C3, _C1, _C1, _C3),
    *(_C5, _C7, -_C7, -_C5),
    *(-_C3, -_C1, -_C1, -_C3),
    *(-_C5, -_C7, _C7, _C5),
)
SINES: Final = COSINES[12:] + COSINES[:12]

# 2**x = 1 + x * polynomial(x), to 2**-39.8 of itself for |x| <= 1/2, and the error of powers
POWER_ERROR: Final = 2.0**-39
POWER: Final = _floats(
    "0x1.62e42fef8672bp-1",
    "0x1.ebfbdff9321d9p-3",
    "0x1.c6b08dd46d77ep-5",
    "0x1.3b2ab5c52a980p-7",
    "0x1.5d87483893247p-10",
    "0x1.430acca1cd9eap-13",
    "0x1.00dad22c7b920p-16",
    "0x1.61afcff7d8c8dp-20",
)
