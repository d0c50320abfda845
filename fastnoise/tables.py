"""Exact integer tables: the law that is really drawn, rounded to the private side.

A law is the array of words that the kernels read (`fastnoise_kernels.layout`). Its probabilities
are integers over a power of two; every rounding makes a level a little *more* likely beside the
one above it than e**-epsilon asks for, so that no two neighbouring probabilities are further apart
than a factor e**epsilon, at any depth. What the rounding moves is below 2**-120 of any level.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, frexp

import numpy as np
import numpy.typing as npt
from fastnoise_kernels import layout

Law = npt.NDArray[np.uint64]

# A head table reaches so far that rows beyond it are rare: restarts have probability e**-REACH
# where the table may be as large as that takes, and never more than e**-SHORT_REACH.
REACH = 28
SHORT_REACH = 8
HEAD_ENTRIES = 1 << 11  # 8 KiB of cells: a quarter of a first-level cache
LONG_HEAD_ENTRIES = 1 << 12
DIGIT_ENTRIES = 1 << 13
TAIL_ENTRIES = 1 << 6
LARGEST_EPSILON = 2_700.0  # a larger epsilon is drawn as this: e**-2700 is no better than never


def exp_above(epsilon: float, times: int, bits: int) -> Fraction:
    """A multiple of 2**-bits, at least e**(-epsilon * times) and at most two units above it."""
    exact = Context(prec=1200, traps=[])  # no float has more than 767 digits
    context = Context(ceil(bits * 0.30103) + 8, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])
    exponent = exact.multiply(Decimal.from_float(epsilon), -times)
    above = context.exp(exponent).next_plus(context)
    return Fraction(ceil(Fraction(above) * (1 << bits)), 1 << bits)


@lru_cache(maxsize=64)  # up to 350 KB each
def staircase_law(epsilon: float, steps: int, radius: int) -> Law:
    """The integer staircase of sensitivity `steps` and r = `radius`, epsilon-DP as drawn."""
    epsilon = min(epsilon, LARGEST_EPSILON)
    reach = min(ceil(REACH / epsilon), HEAD_ENTRIES - 2)
    laps = reach * epsilon < SHORT_REACH
    if laps:
        reach = LONG_HEAD_ENTRIES - 2
        count = min(ceil(REACH / (reach * epsilon)), DIGIT_ENTRIES - 1)
    else:
        count = min(reach, TAIL_ENTRIES - 1)
    limbs = _limbs(epsilon, reach + count if laps else reach)
    build = _head_and_laps if laps else _head_and_tail
    head, digits = build(epsilon, steps, radius, reach, count, limbs)
    header = {
        layout.WORDS: 2 if laps or 2 * steps >= 1 << 32 else 1,
        layout.STEPS: steps,
        layout.RADIUS: radius,
        layout.LIMBS: limbs,
        layout.DEEPEST: (layout.DEEP_STEPS - radius) // steps,
        layout.HEAD_LEVELS: reach,
        layout.LAPS: int(laps),
        layout.DIGIT_LEVELS: count,
    }
    return _assemble(header, head, digits, limbs)


def _limbs(epsilon: float, levels: int) -> int:
    """So many that the least likely entry still has 128 significant bits."""
    bits = 128 + 1.4427 * epsilon * levels + max(0, 1 - frexp(epsilon)[1])
    return max(3, ceil(bits / 64))


def _falling(first: int, ratio: Fraction, count: int) -> list[int]:
    """`count` weights, each at least `ratio` times the one before."""
    weights = [first]
    for _ in range(count - 1):
        weights.append(ceil(weights[-1] * ratio))
    return weights


def _restarting(ratio: Fraction, count: int, whole: int) -> list[int]:
    """`count` falling weights and that of a restart: a geometric law without end.

    The entry after the last has the weight of a restart times that of the first: `slack` is taken
    from the first until that is enough.
    """
    slack = count + 2
    while True:
        first = int(whole * (1 - ratio)) - slack
        weights = _falling(first, ratio, count)
        restart = whole - sum(weights)
        if restart * first >= ratio * weights[-1] * whole:
            return [*weights, restart]
        slack *= 2


def _head_and_tail(
    epsilon: float, steps: int, radius: int, levels: int, count: int, limbs: int
) -> tuple[list[int], list[int]]:
    """Weights of the top step, of levels 1 .. `levels` and of all beyond; and how far beyond."""
    whole = 1 << (32 + 64 * limbs)
    b = exp_above(epsilon, 1, 32 + 64 * limbs + 64)
    tail = _restarting(b, count, whole)
    share = Fraction(2 * radius - 1, 2 * steps) / b  # weight of the top step beside level 1
    slack = levels + 2
    while True:
        # Take the slack from the larger of the two: a unit of the smaller stands for many.
        if share >= 1:
            top = int(whole * share / (share + 1 / (1 - b))) - slack
            first = ceil(top / share)
        else:
            first = int(whole / (share + 1 / (1 - b))) - slack
            top = int(first * share)
        below = _falling(first, b, levels)
        beyond = whole - top - sum(below)
        if beyond * tail[0] >= b * below[-1] * whole:
            return [top, *below, beyond], tail
        slack *= 2


def _head_and_laps(
    epsilon: float, steps: int, radius: int, levels: int, count: int, limbs: int
) -> tuple[list[int], list[int]]:
    """For small epsilon: level = 1 + low + levels * high, two independent geometric digits.

    The head holds the top step, the low digit and the weight that rounding left over, which redraws
    it. Where the low digit wraps around, the ratio of the high one makes up for what rounding added
    below.
    """
    whole = 1 << (32 + 64 * limbs)
    bits = 32 + 64 * limbs + 64
    b, lap = exp_above(epsilon, 1, bits), exp_above(epsilon, levels, bits)
    share = Fraction(2 * radius - 1, 2 * steps) / b
    first = int(whole * (1 - b) / (1 - lap) / (1 + (1 - b) * share)) - levels
    low = _falling(first, b, levels)
    high = _restarting(b * low[-1] / low[0], count, whole)
    top = int(Fraction(first * high[0], whole) * share)
    return [top, *low, whole - top - sum(low)], high


def alias_cells(weights: Sequence[int], bits: int, limbs: int) -> tuple[list[int], list[int]]:
    """Thresholds and alias entries of 2**bits equal cells (Walker 1977, Vose 1991), exactly."""
    room = 1 << (32 + 64 * limbs - bits)
    left = [*weights, *[0] * ((1 << bits) - len(weights))]
    thresholds, aliases = [0] * len(left), list(range(len(left)))
    small = [i for i, weight in enumerate(left) if weight < room]
    large = [i for i, weight in enumerate(left) if weight > room]
    while large:
        under, over = small.pop(), large[-1]
        thresholds[under], aliases[under] = left[under], over
        left[over] -= room - left[under]
        if left[over] <= room:
            large.pop()
            if left[over] < room:
                small.append(over)
    return thresholds, aliases


def _assemble(header: dict[int, int], head: list[int], digits: list[int], limbs: int) -> Law:
    words = [0] * layout.HEADER
    for at, value in header.items():
        words[at] = value
    for weights, bits_at, cells_at, thresholds_at in (
        (head, layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS),
        (digits, layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS),
    ):
        bits = (len(weights) - 1).bit_length()
        thresholds, aliases = alias_cells(weights, bits, limbs)
        cells = [
            (threshold >> 64 * limbs) << bits | alias
            for threshold, alias in zip(thresholds, aliases, strict=True)
        ]
        words[bits_at], words[cells_at] = bits, len(words)
        words += [low | high << 32 for low, high in zip(cells[::2], cells[1::2], strict=True)]
        words[thresholds_at] = len(words)
        for threshold in thresholds:
            words += [threshold >> 64 * i & (1 << 64) - 1 for i in reversed(range(limbs))]
    law = np.array(words, np.uint64)
    law.flags.writeable = False
    return law
