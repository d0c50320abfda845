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

# 2**x = 1 + x * polynomial(x), to 2e-17 of itself for |x| <= 1/2
POWER: Final = _floats(
    "0x1.62e42fefa39efp-1",
    "0x1.ebfbdff82c598p-3",
    "0x1.c6b08d704a0c2p-5",
    "0x1.3b2ab6fba1ddap-7",
    "0x1.5d87fe78a5276p-10",
    "0x1.430913096fd9fp-13",
    "0x1.ffcbfc670dcd4p-17",
    "0x1.62bfd47773353p-20",
    "0x1.b524fae627834p-24",
    "0x1.e6063f7217bc6p-28",
    "0x1.e9d3fe3952179p-32",
)
