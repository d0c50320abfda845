"""Exact integer tables of layers: how likely a vector is to be uniform on layer k.

Layer k has weight b**k times the number of its points, a polynomial of degree d in k
(docs/mathematics.md#layers). The tables are those of epsilon * (1 - 2**-80): rounding moves no
weight by more than 2**-140 of itself, far less than that leaves, so what is drawn is epsilon-DP at
any depth.

Where a table of all likely layers would be too long, a layer is J + (a sum of d + 1 geometric
numbers): J has d + 1 values (generalised Eulerian numbers), and the sum is drawn digit by
digit, for the digits of a geometric number are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import ceil, comb, expm1, log, log2

import numpy as np
from fastnoise_kernels import layout
from fastnoise_kernels.sorting import sorting_network

from fastnoise.arithmetic.elementary import exp_above
from fastnoise.compiled import read_only
from fastnoise.laws.alias import LARGEST_EPSILON, Tables, append_table, restarting
from fastnoise.laws.line.tables import REACH
from fastnoise.validation import refusal

SLACK = 1 - Fraction(1, 1 << 80)
MOST_ENTRIES = 1 << 14
PRECISE_BITS = 160  # of every weight
TAIL_BITS = 66  # a table ends where all beyond is less likely than 2**-64
DIGIT_LEVELS = 63
LARGEST_EXPONENT = 20_000  # epsilon * dim: weights of 30,000 bits, and 2 seconds for all of them
LOG2_E = 1.4426950408889634
NO_LAST = 0xFFFFFFFF


def layer_tables(
    epsilon: float,
    points: Sequence[int],
    steps: Sequence[int],
    radii: Sequence[int],
    thresholds: Sequence[int] = (),
) -> Tables:
    """Layers of points[0], points[1], ... points, of which points[: d + 1] tell all others.

    thresholds: of balls, `count_thresholds`.
    """
    dim = len(points) - 1
    # Beyond this epsilon all layers but the first are rarer than e**-200, and that will do; a
    # whole number, because a logarithm is not the same to the last bit on every machine.
    capped = min(epsilon, ceil(log(points[1]) - log(points[0])) + 200.0, LARGEST_EPSILON)
    if capped * dim > LARGEST_EXPONENT:
        allowed = f"at most {LARGEST_EXPONENT // dim} for {dim} coordinates on this grid"
        raise ValueError(refusal("epsilon", epsilon, allowed, "tables take too long beyond that"))
    epsilon = capped
    coins, top = _coins(Fraction(epsilon) * SLACK, points)
    if len(coins) > layout.MOST_COINS:
        raise AssertionError("epsilon is too small for a law of layers")
    limbs = max(3, ceil((max(coin.bits for coin in coins) - 32) / 64))
    words = [0] * layout.VECTOR_HEADER
    words[layout.WIDTH] = 2 * dim + len(coins)
    words[layout.LIMBS] = limbs
    words[layout.DEEPEST] = ((1 << 60) - max(radii)) // max(steps)
    words[layout.DIM], words[layout.COINS] = dim, len(coins)
    whole = 1 << (32 + 64 * limbs)
    for i, weights in enumerate([*(coin.weights(whole) for coin in coins), top.tail(whole)]):
        at = layout.TABLES + layout.TABLE * i
        table = at + layout.TABLE_BITS, at + layout.TABLE_CELLS, at + layout.TABLE_THRESHOLDS
        append_table(words, weights, limbs, *table)
        words[at + layout.TABLE_TIMES] = coins[i].times if i < len(coins) else 1
        words[at + layout.TABLE_LAST] = NO_LAST
    last = layout.TABLES + layout.TABLE * (len(coins) - 1) + layout.TABLE_LAST
    words[last] = len(top.points)
    count = min(ceil(REACH / top.exponent), DIGIT_LEVELS)
    digits = restarting(exp_above(top.exponent, 96 + 64 * limbs), count, whole)
    words[layout.DIGIT_LEVELS] = count
    table = layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS
    append_table(words, digits, limbs, *table)
    words[layout.SIZES] = len(words)
    words += [size for pair in zip(steps, radii, strict=True) for size in pair]
    network = list(sorting_network(dim))
    words[layout.NETWORK], words[layout.PAIRS] = len(words), len(network)
    words += [place for pair in network for place in pair]
    words[layout.COUNT_THRESHOLDS], words[layout.SMALL_LAYERS] = len(words), len(thresholds) // dim
    words += thresholds
    return read_only(np.array(words, np.uint64))


class Coin:
    """One alias table of layers: weights e**(-exponent k) * points[k], for `times` layers each."""

    deepest = 0  # powers of e**-exponent beyond those of the points that are needed

    def __init__(self, exponent: Fraction, points: list[int], times: int = 1) -> None:
        self.exponent, self.points, self.times = exponent, points, times

    @cached_property
    def logarithms(self) -> list[float]:
        rate = float(self.exponent) * LOG2_E
        return [log2(p) - k * rate if p else -1e300 for k, p in enumerate(self.points)]

    @property
    def bits(self) -> int:
        """How many a table needs. Entry 0 may be short of them: fewer points at the very centre
        only flatten the law."""
        likely = [value for value in self.logarithms[1:] if value > -1e300]
        return ceil(max(self.logarithms) - min(likely)) + PRECISE_BITS + 16

    @cached_property
    def fixed(self) -> tuple[list[int], int]:
        """The weights in units of a power of two, and that power."""
        levels = len(self.points) + self.deepest
        bits = self.bits + ceil(float(self.exponent) * levels * LOG2_E) + 64
        ratio = int(exp_above(self.exponent, bits) * (1 << bits))
        powers = accumulate(
            range(len(self.points) - 1), lambda p, _: p * ratio >> bits, initial=1 << bits
        )
        return [power * p for power, p in zip(powers, self.points, strict=True)], bits

    def beyond(self) -> int:
        """The weight of all that is not listed, in the same units."""
        return 0

    def weights(self, whole: int) -> list[int]:
        """Parts of `whole`; what rounding leaves goes to the likeliest."""
        fixed, beyond = self.fixed[0], self.beyond()
        total = sum(fixed) + beyond
        parts = [whole * weight // total for weight in [*fixed, beyond]]
        parts[max(range(len(parts)), key=parts.__getitem__)] += whole - sum(parts)
        return parts if beyond else parts[:-1]


class TopCoin(Coin):
    """A table without end: the last entry stands for all layers that are not listed."""

    def __init__(self, exponent: Fraction, first: Sequence[int], times: int = 1) -> None:
        self.rate = float(exponent) * LOG2_E
        points, self.differences = self._listed(differences(first))
        self.deepest = len(self.differences)
        super().__init__(exponent, points, times)

    def _listed(self, differences: list[int]) -> tuple[list[int], list[int]]:
        """Points of layers up to where the rest is unlikely, and their differences from there."""
        points: list[int] = []
        heaviest = -1e300
        while True:
            weight = log2(differences[0]) - len(points) * self.rate
            following = log2(differences[0] + differences[1]) - (len(points) + 1) * self.rate
            heaviest = max(heaviest, weight)
            # from here on a layer is at most 2**(following - weight) times the one before
            fall = min(following - weight, -1e-9)
            rest = following - log2(1 - 2**fall)
            if len(points) > 1 and following < weight and rest < heaviest - TAIL_BITS:
                return points, differences
            points.append(differences[0])
            differences = [a + b for a, b in zip(differences, [*differences[1:], 0], strict=True)]

    @property
    def bits(self) -> int:
        """Enough for what is beyond, too, and for each of its parts."""
        missing = log2(-expm1(-float(self.exponent)))
        start = len(self.points)
        parts = [
            log2(difference) - (start + m) * self.rate - (m + 1) * missing
            for m, difference in enumerate(self.differences)
        ]
        listed = max(self.logarithms) - max(parts)
        return max(super().bits, ceil(max(listed, max(parts) - min(parts))) + PRECISE_BITS + 16)

    @cached_property
    def beyond_parts(self) -> list[int]:
        """By m: differences[m] * C(i, m) * b**i, summed over i, has i = m + m + 1 geometrics."""
        bits = self.fixed[1]
        ratio = int(exp_above(self.exponent, bits) * (1 << bits))
        power = int(exp_above(self.exponent * len(self.points), bits) * (1 << bits))
        missing = (1 << bits) - ratio
        parts = []
        for difference in self.differences:
            power = (power << bits) // missing  # b**m / (1 - b)**(m + 1)
            parts.append(difference * power)
            power = power * ratio >> bits
        return parts

    def beyond(self) -> int:
        return sum(self.beyond_parts)

    def tail(self, whole: int) -> list[int]:
        parts = self.beyond_parts
        scaled = [whole * part // sum(parts) for part in parts]
        scaled[-1] += whole - sum(scaled)
        return scaled


def _coins(exponent: Fraction, points: Sequence[int]) -> tuple[list[Coin], TopCoin]:
    """All of them, and the last."""
    dim = len(points) - 1
    if fits_one_table(exponent, dim):
        top = TopCoin(exponent, points)
        return [top], top
    start = eulerian(points)
    if min(start) < 0:
        allowed = "not wider than the widths where epsilon is this small"
        raise ValueError(f"core must be {allowed}")
    base = 1 << ((MOST_ENTRIES // (dim + 1)).bit_length() - 1)
    coins: list[Coin] = [Coin(exponent, start)]
    times = 1
    while not fits_one_table(exponent * times, dim):
        coins.append(Coin(exponent * times, digit_sums(base, dim + 1), times))
        times *= base
    first = [comb(k + dim, dim) for k in range(dim + 1)]
    top = TopCoin(exponent * times, first, times)
    return [*coins, top], top


def fits_one_table(exponent: float | Fraction, dim: int) -> bool:
    """Whether the likely layers, some beyond the mean of dim / exponent, are not too many."""
    return (dim + TAIL_BITS / LOG2_E) / exponent < MOST_ENTRIES


def differences(values: Sequence[int]) -> list[int]:
    """Forward differences of all orders at the first value."""
    row, result = list(values), []
    while row:
        result.append(row[0])
        row = [b - a for a, b in pairwise(row)]
    return result


def eulerian(points: Sequence[int]) -> list[int]:
    """A_j with points[k] = sum of A_j C(k + d - j, d): (1 - x)**(d + 1) times their series."""
    order = len(points)
    return [
        sum((-1) ** i * comb(order, i) * points[j - i] for i in range(j + 1)) for j in range(order)
    ]


def digit_sums(base: int, terms: int) -> list[int]:
    """In how many ways `terms` digits add up to 0, 1, 2, ..."""
    counts = [0] * (terms * (base - 1) + 1)
    for i in range((len(counts) - 1) // base + 1):
        counts[i * base] = (-1) ** i * comb(terms, i)
    for _ in range(terms):
        counts = list(accumulate(counts))
    return counts
