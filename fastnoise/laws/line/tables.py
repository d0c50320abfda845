"""Exact integer tables: the law that is really drawn, rounded to the private side.

A law is the array of words that the kernels read (`fastnoise_kernels.layout`). Its probabilities
are integers over a power of two; every rounding makes a level a little *more* likely beside the
one above it than e**-epsilon asks for, so that no two neighbouring probabilities are further apart
than a factor e**epsilon, at any depth. What the rounding moves is below 2**-120 of any level, up to
epsilon 100 per level; beyond, levels are rarer than 2**-140, and none is rarer than it should be.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp, prod
from typing import NamedTuple

import numpy as np
from fastnoise_kernels import layout

from fastnoise.arithmetic.elementary import exp_above
from fastnoise.compiled import read_only
from fastnoise.laws.alias import (
    LARGEST_EPSILON,
    Tables,
    append_table,
    falling,
    limb_words,
    restarting,
)

# A head table reaches so far that rows beyond it are rare: restarts have probability e**-REACH
# where the table may be as large as that takes, and never more than e**-SHORT_REACH.
REACH = 28
SHORT_REACH = 8
HEAD_ENTRIES = 1 << 11  # 8 KiB of cells: a quarter of a first-level cache
FINE_HEAD_ENTRIES = 1 << 13  # a level is one step: one word less per row up to a scale of 1,000
LONG_HEAD_ENTRIES = 1 << 12
DIGIT_ENTRIES = 1 << 13
TAIL_ENTRIES = 1 << 6
SLOPING_HEAD_ENTRIES = 1 << 10
SLOPE_BITS = 12  # a sloping level falls by less than 2**-12: so rarely is a place not kept


@lru_cache(maxsize=64)  # up to 350 KB each
def staircase_tables(epsilon: float, steps: int, radius: int) -> Tables:
    """The integer staircase of sensitivity `steps` and r = `radius`, epsilon-DP as drawn."""
    return _endless_tables(Fraction(min(epsilon, LARGEST_EPSILON)), steps, radius, 0)


@lru_cache(maxsize=64)
def laplace_tables(epsilon: float, steps: int) -> Tables:
    """The discrete Laplace law of sensitivity `steps`, epsilon-DP as drawn for an l1 change of it.

    A step is a level of its own where the scale is below 2**(SLOPE_BITS + 1); else levels are
    so wide, a power of two, that they fall by about 2**-SLOPE_BITS, and have sloping places.
    """
    fall = min(Fraction(epsilon) / steps, Fraction(LARGEST_EPSILON))
    return _endless_tables(fall, 1, 1, slope_bits(fall))


def slope_bits(fall: Fraction) -> int:
    return max(0, int(1 / fall).bit_length() - 1 - SLOPE_BITS)


def _endless_tables(fall: Fraction, steps: int, radius: int, bits: int) -> Tables:
    """Flat levels of `steps`, e**-fall apart; or sloping ones of 2**bits steps, each e**-fall."""
    epsilon = float(fall * (1 << bits))  # of a level
    reach = min(ceil(REACH / epsilon), (HEAD_ENTRIES if steps > 1 else FINE_HEAD_ENTRIES) - 2)
    laps = reach * epsilon < SHORT_REACH
    if laps:
        reach = (SLOPING_HEAD_ENTRIES if bits else LONG_HEAD_ENTRIES) - 2
        # Of a sloping row, restarts have probability e**-7.8 to e**-15.7.
        sloping = layout.is_sloping(layout.LAPS, radius, bits)
        most = 1 << layout.SLOPING_DIGIT_BITS if sloping else DIGIT_ENTRIES
        count = min(ceil(REACH / (reach * epsilon)), most - 1)
    else:
        count = min(reach, TAIL_ENTRIES - 1)
    limbs = limbs_of(epsilon, reach + count if laps else reach)
    slopes = Slopes(fall, bits)
    ratio = slopes.ratio if bits else exp_above(fall, _precision(limbs))
    share = Fraction(2 * radius - 1, 2 * steps) / ratio
    if bits:
        share = 1 / (2 * slopes.mass * slopes.step)
    if laps:
        lap = exp_above(fall * (reach << bits), _precision(limbs))
        head, digits = _head_and_laps(ratio, lap, share, reach, count, limbs)
    else:
        head, digits = _head_and_tail(ratio, share, reach, count, limbs)
    beyond = layout.LAPS if laps else layout.TAIL
    levels = Levels(reach, beyond, steps << bits, radius, slopes)
    return assemble(Entries(head, digits, limbs), levels)


class Slopes:
    """How likely places on a level of 2**bits are to be kept: products of slopes.

    The slope of 2**i steps is at least that of one step times all smaller ones, so that from any
    place to the next, over every carry of binary digits, the fall is never more than e**-fall.
    """

    def __init__(self, fall: Fraction, bits: int) -> None:
        whole = 1 << 64 * layout.SLOPE_LIMBS
        self.step = exp_above(fall, 64 * layout.SLOPE_LIMBS + ceil(1.4427 * fall))
        self.slopes: list[Fraction] = []
        self.last = Fraction(1)  # the product of all: the chance of the last place
        self.mass = Fraction(1)  # the sum of the chances of all places
        for _ in range(bits):
            slope = Fraction(ceil(self.step * self.last * whole), whole)
            self.slopes.append(slope)
            self.last *= slope
            self.mass *= 1 + slope

    @property
    def ratio(self) -> Fraction:
        """From a level to the next: what follows the last place, at least."""
        return self.step * self.last

    def chance(self, place: int) -> Fraction:
        return prod((s for i, s in enumerate(self.slopes) if place >> i & 1), start=Fraction(1))

    def mass_below(self, place: int) -> Fraction:
        """The sum of the chances of the places before this one, from its leading digit down."""
        total, kept = Fraction(0), Fraction(1)
        for i in reversed(range(len(self.slopes) + 1)):
            if place >> i & 1:
                total += kept * prod((1 + s for s in self.slopes[:i]), start=Fraction(1))
                kept *= self.slopes[i] if i < len(self.slopes) else 0
        return total

    def words(self) -> list[int]:
        limbs = layout.SLOPE_LIMBS
        scaled = [int(slope * (1 << 64 * limbs)) for slope in self.slopes]
        return [word for slope in scaled for word in limb_words(slope, limbs)]


def _precision(limbs: int) -> int:
    return 32 + 64 * limbs + 64


def limbs_of(epsilon: float, levels: int) -> int:
    """So many that the least likely entry still has 128 significant bits."""
    bits = 128 + 1.4427 * epsilon * levels + max(0, 1 - frexp(epsilon)[1])
    return max(3, ceil(bits / 64))


def _head_and_tail(
    b: Fraction, share: Fraction, levels: int, count: int, limbs: int
) -> tuple[list[int], list[int]]:
    """Weights of the top step, of levels 1 .. `levels` and of all beyond; and how far beyond.

    b: the ratio of a level to the one above; share: the weight of the top step beside level 1.
    """
    whole = 1 << (32 + 64 * limbs)
    tail = restarting(b, count, whole)
    slack = levels + 2
    while True:
        # Take the slack from the larger of the two: a unit of the smaller stands for many.
        if share >= 1:
            top = int(whole * share / (share + 1 / (1 - b))) - slack
            first = ceil(top / share)
        else:
            first = int(whole / (share + 1 / (1 - b))) - slack
            top = int(first * share)
        below = falling(first, b, levels)
        beyond = whole - top - sum(below)
        if beyond * tail[0] >= b * below[-1] * whole:
            return [top, *below, beyond], tail
        slack *= 2


def _head_and_laps(
    b: Fraction, lap: Fraction, share: Fraction, levels: int, count: int, limbs: int
) -> tuple[list[int], list[int]]:
    """For small epsilon: level = 1 + low + levels * high, two independent geometric digits.

    The head holds the top step, the low digit and the weight that rounding left over, which redraws
    it. Where the low digit wraps around, the ratio of the high one makes up for what rounding added
    below.
    """
    whole = 1 << (32 + 64 * limbs)
    first = int(whole * (1 - b) / (1 - lap) / (1 + (1 - b) * share)) - levels
    low = falling(first, b, levels)
    high = restarting(b * low[-1] / low[0], count, whole)
    top = int(Fraction(first * high[0], whole) * share)
    return [top, *low, whole - top - sum(low)], high


def row_width(beyond: int, steps: int, radius: int, slope_bits: int) -> int:
    """How many words a row has: as few as do."""
    if beyond == layout.TAIL and slope_bits == 0 and max(2 * steps, 2 * radius - 1) < 1 << 32:
        return layout.SHORT
    return layout.LONG


class Entries(NamedTuple):
    """The weights of both alias tables, in units of 2**-(32 + 64 * limbs)."""

    head: list[int]
    digits: list[int]
    limbs: int


class Levels(NamedTuple):
    """What the entries of the head mean: `listed` levels of `steps` places, and what is beyond.

    last_places, end: of a law that ends, the places of its last level and where its ends are.
    """

    listed: int
    beyond: int
    steps: int
    radius: int
    slopes: Slopes | None = None
    last_places: int = 0
    end: int = 0


def assemble(entries: Entries, levels: Levels) -> Tables:
    """The words that kernels read."""
    listed, beyond, steps, radius, slopes, *ends = levels
    words = [0] * layout.HEADER
    slope_bits = len(slopes.slopes) if slopes is not None else 0
    words[layout.WIDTH] = width = row_width(beyond, steps, radius, slope_bits)
    whole = 1 << (32 if width == layout.SHORT else 64)
    words[layout.STEPS], words[layout.RADIUS] = steps, radius
    words[layout.LIMBS] = limbs = entries.limbs
    words[layout.DEEPEST] = (layout.DECIDED_STEPS - radius) // steps
    words[layout.HEAD_LEVELS], words[layout.DIGIT_LEVELS] = listed, len(entries.digits) - 1
    words[layout.BEYOND] = beyond
    words[layout.REST_TOP] = whole % (2 * radius - 1)
    words[layout.REST_SIDE] = whole % (2 * steps)
    words[layout.LAST_PLACES], words[layout.END] = ends
    places = layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS
    append_table(words, entries.head, limbs, *places)
    places = layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS
    append_table(words, entries.digits, limbs, *places)
    if slopes is not None and slope_bits:
        words[layout.REST_SIDE] = ceil((1 - slopes.last) * whole)
        words[layout.SLOPE_BITS], words[layout.SLOPES] = slope_bits, len(words)
        words += slopes.words()
    words += [0] * (layout.HEADER + (1 << layout.FEW_BITS) // 2 - len(words))
    return read_only(np.array(words, np.uint64))
