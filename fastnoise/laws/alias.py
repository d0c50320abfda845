"""Alias tables of exact weights, as kernels read them (`fastnoise_kernels.layout`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Tables = npt.NDArray[np.uint64]  # of a law: a header, then what it says where to find

LARGEST_EPSILON = 2_700.0  # a larger epsilon is drawn as this: e**-2700 is no better than never


def limb_words(value: int, limbs: int) -> list[int]:
    """64 bits at a time, the most significant first."""
    return [value >> 64 * i & (1 << 64) - 1 for i in reversed(range(limbs))]


def falling(first: int, ratio: Fraction, count: int) -> list[int]:
    """`count` weights, each at least `ratio` times the one before."""
    weights, (above, below) = [first], ratio.as_integer_ratio()
    for _ in range(count - 1):
        weights.append(-(-weights[-1] * above // below))
    return weights


def restarting(ratio: Fraction, count: int, whole: int) -> list[int]:
    """`count` falling weights and that of a restart: a geometric law without end.

    The entry after the last has the weight of a restart times that of the first: `slack` is taken
    from the first until that is enough.
    """
    slack = count + 2
    while True:
        first = int(whole * (1 - ratio)) - slack
        weights = falling(first, ratio, count)
        restart = whole - sum(weights)
        if restart * first >= ratio * weights[-1] * whole:
            return [*weights, restart]
        slack *= 2


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


def append_table(
    words: list[int], weights: list[int], limbs: int, bits_at: int, cells_at: int, limbs_at: int
) -> None:
    """An alias table at the end of a law, and where it is at these places of the header."""
    bits = (len(weights) - 1).bit_length()
    thresholds, aliases = alias_cells(weights, bits, limbs)
    cells = [
        (threshold >> 64 * limbs) << bits | alias
        for threshold, alias in zip(thresholds, aliases, strict=True)
    ]
    words[bits_at], words[cells_at] = bits, len(words)
    words += [low | high << 32 for low, high in zip(cells[::2], cells[1::2], strict=True)]
    words[limbs_at] = len(words)
    for threshold in thresholds:
        words += limb_words(threshold, limbs)
