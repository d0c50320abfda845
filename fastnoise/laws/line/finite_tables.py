"""Exact integer tables of laws with finite support, rounded to the private side.

delta is taken 2**-100 of itself smaller than asked for, which is far more than rounding moves; and
the tables of a truncated law are checked against it when they are built.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil

from fastnoise_kernels import layout

from fastnoise.arithmetic.elementary import exp_above
from fastnoise.laws.alias import LARGEST_EPSILON, Tables, falling
from fastnoise.laws.line.tables import HEAD_ENTRIES, Entries, Levels, Slopes, assemble

SLACK = 1 - Fraction(1, 1 << 100)
DIGITS = 160  # of decimals, besides those that a large epsilon or a small delta takes
PRECISE_BITS = 160
LOG2_E = 1.4426950408889634


@lru_cache(maxsize=64)
def uniform_tables(core: int, height: Fraction) -> Tables:
    """`core` (odd) central integers of that probability each, the rest on the two next ones."""
    limbs = 3
    whole = 1 << (32 + 64 * limbs)
    top = int(whole * core * height)
    if (whole - top) * core > 2 * top:  # rounding made the ends higher than the core
        core += 2
        top = whole
    levels = Levels(1, layout.TAIL, steps=1, radius=(core + 1) // 2)
    return assemble(Entries([top, whole - top], _unused(limbs), limbs), levels)


@lru_cache(maxsize=64)
def truncated_laplace_tables(epsilon: float, delta: Fraction, steps: int) -> Tables:
    """Probabilities that fall by e**(-epsilon / steps) per step, then one last one, then none.

    With delta' = delta (e**(epsilon / steps) - 1) / (e**epsilon - 1) it is (epsilon / steps,
    delta')-DP for a change of 1, and so (epsilon, delta)-DP for one of `steps`
    (docs/mathematics.md#truncated-discrete-laplace).
    """
    exponent = Fraction(min(epsilon, LARGEST_EPSILON))
    fall = exponent / steps
    most, part = _truncation(exponent, delta * SLACK, steps)
    bits = max(0, (most + 1).bit_length() - HEAD_ENTRIES.bit_length() + 1)
    slopes = Slopes(fall, bits)
    levels, last_places = divmod(most, 1 << bits)
    limbs = ceil((PRECISE_BITS + _bits_below(part) + LOG2_E * float(fall * (2 << bits))) / 64)
    head = _Head(fall, part, slopes, levels, last_places, 32 + 64 * limbs).weights()
    if bits == 0:
        del head[-2]  # no level is shorter than a step
    beyond = layout.ENDS if bits else layout.TAIL
    levels += bits == 0
    ended = Levels(levels, beyond, 1 << bits, 1, slopes, last_places, most + 1)
    return assemble(Entries(head, _unused(limbs), limbs), ended)


@dataclass(frozen=True)
class _Head:
    """Weights of 0, of the levels, of the last and shorter one, and of the two ends.

    All follow from that of 0, which is as large as delta' allows: with p the probability of the
    last place and e that of an end, p - e**fall e + e <= delta' (and e <= delta').
    """

    fall: Fraction
    part: Fraction  # delta', rounded down
    slopes: Slopes
    levels: int
    last_places: int
    bits: int

    def weights(self) -> list[int]:
        whole, growth = 1 << self.bits, self._growth()
        trial = self._below(whole)  # 2**bits times too much: only the shares matter
        share, last = Fraction(sum(trial), whole), self._last_place(trial) / whole
        half = (growth - 1) / 2
        top = int(whole * min((self.part + half) / (last + half * share), 1 / share))
        slack = self.levels + 4
        while True:
            top -= slack
            weights = self._below(top)
            ends = whole - sum(weights)
            end, place = Fraction(ends, 2), self._last_place(weights)
            least = self.part * whole
            if ends >= 0 and place - growth * end + end <= least and end <= least:
                return [*weights, ends]
            slack *= 2

    def _below(self, top: int) -> list[int]:
        """The weights of 0, of the levels and of the shorter one, if 0 has weight `top`."""
        slopes = self.slopes
        first = ceil(2 * top * slopes.step * slopes.mass)
        below = falling(first, slopes.ratio, self.levels + 1)
        last = ceil(below.pop() / slopes.mass * slopes.mass_below(self.last_places))
        return [top, *below, last]

    def _last_place(self, weights: list[int]) -> Fraction:
        """The weight of the last place before the ends."""
        slopes, places = self.slopes, self.last_places
        if places:
            share = slopes.chance(places - 1) / slopes.mass_below(places)
            return weights[-1] * share / 2
        return weights[-2] * slopes.last / slopes.mass / 2 if self.levels else Fraction(weights[0])

    def _growth(self) -> Fraction:
        """At least e**fall."""
        bits = self.bits + ceil(LOG2_E * float(self.fall)) + 64
        return 1 / (exp_above(self.fall, bits) - Fraction(2, 1 << bits))


def _truncation(epsilon: Fraction, delta: Fraction, steps: int) -> tuple[int, Fraction]:
    """How far out probabilities fall geometrically; and delta', rounded down."""
    size = 2 * steps.bit_length() + delta.denominator.bit_length()
    digits = DIGITS + ceil(2 * epsilon) + ceil(0.30103 * size)
    with localcontext(Context(digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])):
        fall = _decimal(epsilon) / steps
        growth, whole_growth = fall.exp() - 1, _decimal(epsilon).exp() - 1
        ratio, part = 1 / (growth + 1), _decimal(delta) * growth / whole_growth
        top = (1 - ratio + 2 * part * ratio) / (1 + ratio)
        # All digits of a logarithm take seconds at a large epsilon, and a whole number is wanted.
        return int(Context(DIGITS).ln(top / part) / fall), Fraction(part) * SLACK


def _bits_below(value: Fraction) -> int:
    """The least b with value >= 2**-b."""
    return value.denominator.bit_length() - value.numerator.bit_length() + 1


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _unused(limbs: int) -> list[int]:
    """A digit that no level asks for; tables have two entries at least."""
    half = 1 << (31 + 64 * limbs)
    return [half, half]
