"""Choices among candidates: levels of costs on a grid, and weights that fall with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256
from math import ceil, exp, floor

import numpy as np
from fastnoise_kernels import layout
from fastnoise_kernels.polynomials import LN2

from fastnoise.arithmetic.elementary import exp_above
from fastnoise.bits import Blocks, cipher_blocks, plain_blocks, row_words
from fastnoise.certificate import Guarantee
from fastnoise.compiled import kernels, read_only
from fastnoise.identity import encoded
from fastnoise.laws.grids import released_radius
from fastnoise.laws.law import Array
from fastnoise.rows import Rows

MOST_STEPS = 1 << 52  # as in the kernel: costs beyond count as that
NEVER = 745.0  # e**-745 is no float: a larger epsilon makes no difference to those


@dataclass(frozen=True)
class ChoiceLaw:
    """Levels of costs on a grid: 0 below `radius` steps, then 1 more every `steps`."""

    epsilon: float
    grid: float
    steps: int
    radius: int

    @property
    def digest(self) -> bytes:
        """A hash of everything that decides a choice."""
        sizes = self.epsilon.hex(), self.grid.hex(), self.steps, self.radius
        return sha256(encoded(sizes)).digest()

    def level(self, cost: float) -> int:
        """A cost snapped to the grid with exact round-half-up has this level.

        Costs `steps` grid points apart are one level apart at most, so neighbours are.
        """
        snapped = floor(Fraction(cost) / Fraction(self.grid) + Fraction(1, 2))
        beyond = min(abs(snapped), MOST_STEPS) - self.radius
        return max(0, beyond // self.steps + 1)

    @property
    def covered(self) -> float:
        """The sensitivity that a choice covers: that of costs on the grid."""
        return self.grid * self.steps

    @cached_property
    def reader(self) -> ChoiceReader:
        return ChoiceReader(self, cipher_blocks())

    @cached_property
    def sizes(self) -> Array:
        """What the kernel is told: sizes of levels, in halves of a grid step, then the rate."""
        sizes = 2.0 / self.grid, 1.0 - 2.0 * self.radius - self.steps, 0.5 / self.steps
        return read_only(np.array([*sizes, rate_of(self.epsilon)]))

    def choose(self, key: bytes, rows: Rows, costs: Array, out: Array) -> int:
        """Choices of rows of costs by the kernel; how many are undecided, where `out` is -1."""
        count = costs.shape[1]
        drawn = np.frombuffer(key, "<u4"), *rows
        values, tables = read_only(costs.reshape(-1)), weight_tables(self, count)
        arguments = *drawn, values, count, self.sizes, tables, out
        return int(kernels("choice").choose(len(costs), *arguments, grain=count))

    def guarantee(self, changed: int | None) -> Guarantee:
        """For candidates of weight e**(-epsilon level) and costs that move by one level at most.

        A row is decided in floats only where running sums are further from the goal than twice
        what errors of weights, 2**-39 of themselves, and roundings may add up to
        (`fastnoise_kernels.choice.margin`). All others are decided in integers, so that a candidate
        has exactly its weight; each, and their sum, moves by a factor e**epsilon at most.
        """
        return Guarantee(
            2.0 * self.epsilon,
            0.0,
            0.0,
            "bounded",
            "levels of costs, in integers; every choice, which is decided with as many bits as it "
            "takes; hence epsilon, twice what a level costs, and the law itself.",
            "errors of floats, by which a kernel knows what it leaves open.",
        )


@lru_cache(maxsize=256)
def choice_law(epsilon: float, sensitivity: float, gamma: float, grid: float) -> ChoiceLaw:
    steps = ceil(Fraction(sensitivity) / Fraction(grid))
    return ChoiceLaw(epsilon, grid, steps, released_radius(gamma, steps))


def rate_of(epsilon: float) -> float:
    """-epsilon / ln 2, to two roundings: a level costs that many powers of two."""
    return -min(epsilon, NEVER) / LN2


@lru_cache(maxsize=64)
def weight_tables(law: ChoiceLaw, count: int) -> Array:
    """Weights for the kernel in 32 bits, digit by digit of a level; none if it cannot be used.

    Level 0 weighs what a sum of `count` such weights has room for. A level with more digits than
    there are has to weigh less than 1.
    """
    largest, base = layout.MOST_WEIGHT // count, layout.LEVEL_BASE
    epsilon = min(law.epsilon, NEVER)
    enough = (n for n in layout.LEVEL_DIGITS if largest * exp(-epsilon * (base**n - 1)) < 0.5)
    fits = law.steps >= layout.LEAST_STEPS and count <= layout.MOST_CANDIDATES
    digits = next(enough, 0) if fits else 0
    with np.errstate(under="ignore"):
        tables = np.exp(-epsilon * np.outer(base ** np.arange(digits), np.arange(base)))
        tables[:1] *= largest
        return read_only(tables.astype(np.float32).reshape(-1))


class ChoiceReader:
    """Choices in exact arithmetic: e**-epsilon to as many bits as it takes."""

    def __init__(self, law: ChoiceLaw, blocks: Blocks = plain_blocks) -> None:
        self.law, self.blocks = law, blocks

    def choose(self, key: bytes, address: int, costs: list[float]) -> int:
        return self.draw(row_words(key, address, layout.SHORT, self.blocks), costs)

    def draw(self, words: Iterator[int], costs: list[float]) -> int:
        """The first i whose running sum of weights is beyond a uniform number times their sum."""
        levels = [self.law.level(cost) for cost in costs]
        levels = [level - min(levels) for level in levels]
        uniform, bits = next(words), 64
        while True:
            low, high = self._sums(levels, bits + 64)
            first = next(i for i, sum_ in enumerate(high) if sum_ << bits > uniform * low[-1])
            if first == len(levels) - 1 or low[first] << bits >= (uniform + 1) * high[-1]:
                return first
            uniform, bits = uniform << 64 | next(words), bits + 64

    def _sums(self, levels: list[int], bits: int) -> tuple[list[int], list[int]]:
        """Bounds of the running sums of e**(-epsilon * level), in units of 2**-bits."""
        low, high, lows, highs = 0, 0, [], []
        for level in levels:
            above = exp_above(Fraction(self.law.epsilon) * level, bits) * (1 << bits)
            low, high = low + max(0, int(above) - 2), high + int(above)
            lows.append(low)
            highs.append(high)
        return lows, highs
