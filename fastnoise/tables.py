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
MAX_LIMBS = 64  # an epsilon above 2,800 is drawn as a smaller one: still private


def exp_above(epsilon: float, times: int, bits: int) -> Fraction:
    """A multiple of 2**-bits, at least e**(-epsilon * times) and at most two units above it."""
    exact = Context(prec=1200)  # no float has more than 767 digits
    context = Context(ceil(bits * 0.30103) + 8, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX)
    exponent = exact.multiply(Decimal(epsilon), -times)
    above = context.exp(exponent).next_plus(context)
    return Fraction(ceil(Fraction(above) * (1 << bits)), 1 << bits)


@lru_cache(maxsize=256)
def staircase_law(epsilon: float, steps: int, radius: int) -> Law:
    """The integer staircase of sensitivity `steps` and r = `radius`, epsilon-DP as drawn."""
    reach = min(ceil(REACH / epsilon), HEAD_ENTRIES - 2)
    if reach * epsilon >= SHORT_REACH:
        limbs = _limbs(epsilon, reach)
        head = _restarting_head(epsilon, steps, radius, reach, limbs)
        digits = [1 << (32 + 64 * limbs), 0]
        passed, digit_restart = reach, layout.NO_ENTRY
    else:
        reach = LONG_HEAD_ENTRIES - 2
        count = min(ceil(REACH / (reach * epsilon)), DIGIT_ENTRIES - 1)
        limbs = _limbs(epsilon, reach + count)
        head, digits = _head_and_digits(epsilon, steps, radius, reach, count, limbs)
        passed, digit_restart = 0, count
    narrow = passed and 2 * steps < 1 << 32
    header = {
        layout.WORDS: 1 if narrow else 2,
        layout.STEPS: steps,
        layout.RADIUS: radius,
        layout.LIMBS: limbs,
        layout.DEEPEST: (layout.DEEP_STEPS - radius) // steps,
        layout.HEAD_LEVELS: reach,
        layout.HEAD_RESTART: reach + 1,
        layout.HEAD_PASSED: passed,
        layout.DIGIT_LEVELS: len(digits) - 1,
        layout.DIGIT_RESTART: digit_restart,
    }
    return _assemble(header, head, digits, limbs)


def _limbs(epsilon: float, levels: int) -> int:
    """So many that the least likely entry still has 128 significant bits."""
    bits = 128 + 1.4427 * epsilon * levels + max(0, 1 - frexp(epsilon)[1])
    return min(MAX_LIMBS, max(3, ceil(bits / 64)))


def _falling(first: int, ratio: Fraction, count: int) -> list[int]:
    """`count` weights, each at least `ratio` times the one before."""
    weights = [first]
    for _ in range(count - 1):
        weights.append(ceil(weights[-1] * ratio))
    return weights


def _restarting_head(epsilon: float, steps: int, radius: int, levels: int, limbs: int) -> list[int]:
    """Weights of the top step, of levels 1 .. `levels`, and of a restart beyond them.

    A restart redraws a level below `levels` more, so level `levels` + 1 has the weight of a restart
    times that of level 1 among the levels: `slack` is taken from level 1 until that is enough.
    """
    whole = 1 << (32 + 64 * limbs)
    least = Fraction(1 << 160, whole)  # matters only where MAX_LIMBS does
    b = max(exp_above(epsilon, 1, 32 + 64 * limbs + 64), least)
    top_share = Fraction(2 * radius - 1, 2 * steps) / b  # weight of the top step beside level 1
    slack = levels + 2
    while True:
        first = int(whole / (top_share + 1 / (1 - b))) - slack
        top = int(first * top_share)
        below = _falling(first, b, levels)
        restart = whole - top - sum(below)
        if restart * first >= b * below[-1] * (whole - top):
            return [top, *below, restart]
        slack *= 2


def _head_and_digits(
    epsilon: float, steps: int, radius: int, levels: int, count: int, limbs: int
) -> tuple[list[int], list[int]]:
    """For small epsilon: level = 1 + low + levels * high, two independent geometric digits.

    The head holds the top step, the low digit and the weight that rounding left over, which redraws
    it; the high digit has `count` entries and a restart beyond them. Where the low digit wraps
    around, the ratio of the high one makes up for what rounding added below.
    """
    whole = 1 << (32 + 64 * limbs)
    bits = 32 + 64 * limbs + 64
    b = exp_above(epsilon, 1, bits)
    lap = exp_above(epsilon, levels, bits)
    top_share = Fraction(2 * radius - 1, 2 * steps) / b
    first = int(whole * (1 - b) / (1 - lap) / (1 + (1 - b) * top_share)) - levels
    low = _falling(first, b, levels)
    ratio = b * low[-1] / low[0]
    slack = count + 2
    while True:
        first_high = int(whole * (1 - ratio)) - slack
        high = _falling(first_high, ratio, count)
        restart = whole - sum(high)
        if restart * first_high >= ratio * high[-1] * whole:
            break
        slack *= 2
    top = int(Fraction(first * first_high, whole) * top_share)
    return [top, *low, whole - top - sum(low)], [*high, restart]


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
