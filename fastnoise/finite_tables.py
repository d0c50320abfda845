"""Exact integer tables of laws with finite support, rounded to the private side.

A probability that is rounded moves by less than 2**-200; delta is taken 2**-100 smaller to begin
with, so that what is drawn is (epsilon, delta)-DP exactly as asked for.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil

from fastnoise_kernels import layout

from fastnoise.tables import HEAD_ENTRIES, LARGEST_EPSILON, Law, Slopes, assemble, falling, limbs_of

SLACK = 1 - Fraction(1, 1 << 100)
DIGITS = 160  # of decimals: half of them may cancel at epsilon / sensitivity 2**-150


@lru_cache(maxsize=64)
def uniform_law(core: int, height: Fraction) -> Law:
    """`core` (odd) central integers of that probability each, the rest on the two next ones."""
    limbs = 3
    whole = 1 << (32 + 64 * limbs)
    top = int(whole * core * height)
    if (whole - top) * core > 2 * top:  # rounding made the ends higher than the core
        core += 2
        top = whole
    return assemble(
        [top, whole - top],
        _unused(limbs),
        limbs,
        levels=1,
        beyond=layout.TAIL,
        steps=1,
        radius=(core + 1) // 2,
    )


@lru_cache(maxsize=64)
def truncated_laplace_law(epsilon: float, delta: Fraction, steps: int) -> Law:
    """Probabilities that fall by e**(-epsilon / steps) a step, then one last one, then none.

    With delta' = delta (e**(epsilon / steps) - 1) / (e**epsilon - 1) it is (epsilon / steps,
    delta')-DP for a change of 1, and so (epsilon, delta)-DP for one of `steps` (spec 8.3).
    """
    fall = Fraction(epsilon) / steps
    top_share, most = _truncation(Fraction(epsilon), delta * SLACK, steps)
    bits = max(0, (most + 1).bit_length() - HEAD_ENTRIES.bit_length() + 1)
    slopes = Slopes(fall, bits)
    levels, last_places = divmod(most, 1 << bits)
    limbs = limbs_of(min(float(fall * (1 << bits)), LARGEST_EPSILON), levels + 1)
    whole = 1 << (32 + 64 * limbs)
    top, slack = int(whole * top_share), 0
    while True:
        top -= slack
        first = ceil(2 * top * slopes.step * slopes.mass)
        below = falling(first, slopes.ratio, levels + 1)
        last = ceil(below.pop() / slopes.mass * slopes.mass_below(last_places))
        ends = whole - top - sum(below) - last
        if ends >= 0:
            break
        slack = 2 * slack + 1
    if bits == 0:
        head, levels, beyond = [top, *below, ends], levels + 1, layout.TAIL
    else:
        head, beyond = [top, *below, last, ends], layout.ENDS
    return assemble(
        head, _unused(limbs), limbs, levels, beyond, 1 << bits, 1, slopes, last_places, most + 1
    )


def _truncation(epsilon: Fraction, delta: Fraction, steps: int) -> tuple[Fraction, int]:
    """The probability of 0, and how far out probabilities fall geometrically."""
    with localcontext(Context(DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])):
        fall = _decimal(epsilon) / steps
        growth, whole_growth = fall.exp() - 1, _decimal(epsilon).exp() - 1
        ratio, part = (-fall).exp(), _decimal(delta) * growth / whole_growth
        top = (1 - ratio + 2 * part * ratio) / (1 + ratio)
        return Fraction(top), int((top / part).ln() / fall)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _unused(limbs: int) -> list[int]:
    """A digit that no level asks for; tables have two entries at least."""
    half = 1 << (31 + 64 * limbs)
    return [half, half]
