"""Sums and products of floats that are rounded once, with and without fused multiply-add."""

from fastnoise_kernels.jit import inlined
from fastnoise_kernels.memory import float_bits, float_of_bits, fused, fuses

LARGE, SMALLER = 2.0**1000, 2.0**-64  # noise beyond 2**53 steps has parts of at most 2**62


@inlined
def times_plus_once(value, factor, addend):
    """value * factor + addend, rounded once on every processor; the product need not be exact."""
    if fuses():
        return fused(value, factor, addend)
    return times_plus_in_parts(value, factor, addend)


@inlined
def times_plus_in_parts(value, factor, addend):
    """The same without an instruction for it: of whole numbers up to 2**53 times 2**-1000 or more.

    Near the largest floats a part of the sum may overflow and the sum not, so all is made smaller.
    """
    unit = SMALLER if abs(addend) > LARGE else 1.0
    factor, addend = factor * unit, addend * unit
    product, lost = exact_product(value, factor)
    low, lowest = two_sum(addend, lost)
    high, rest = two_sum(product, low)
    total = high + rounded_to_odd(lowest, rest)
    return (product + addend if lost == 0.0 else total) / unit  # the sign of 0.0, too


@inlined
def two_sum(a, b):
    """a + b rounded, and what rounding lost (Knuth)."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


@inlined
def rounded_to_odd(a, b):
    """a + b; if that is not exact, the one of the floats next to it whose last bit is set.

    What is added to such a sum, is as if rounded once (Boldo & Melquiond 2008).
    """
    total, lost = two_sum(a, b)
    bits = float_bits(total)
    further = 1 if (lost > 0.0) == (total > 0.0) else -1
    return float_of_bits(bits + further) if lost != 0.0 and bits & 1 == 0 else total


@inlined
def exact_product(a, b):
    """a * b rounded, and what rounding lost (Dekker)."""
    product, (high, low), (b_high, b_low) = a * b, halves_of(a), halves_of(b)
    return product, low * b_low - (((product - high * b_high) - low * b_high) - high * b_low)


@inlined
def halves_of(a):
    """Two floats of 26 bits (Veltkamp)."""
    scaled = a * (2.0**27 + 1.0)
    high = scaled - (scaled - a)
    return high, a - high
