"""Exact probabilities of layers, recovered from the tables of a law."""

from __future__ import annotations

from fractions import Fraction

from fastnoise_kernels import layout

from fastnoise.laws.alias import Tables
from fastnoise.laws.line.reader import Table


class DrawnLayers:
    """P(layer) of a law of vectors, from nothing but its words."""

    def __init__(self, law: Tables) -> None:
        self.tables, self.dim = law, int(law[layout.DIM])
        sizes = [int(word) for word in law[int(law[layout.SIZES]) : int(law[layout.NETWORK])]]
        self.sizes = list(zip(sizes[::2], sizes[1::2], strict=True))  # steps and radius
        coins = int(law[layout.COINS])
        heads = [layout.TABLES + layout.TABLE * i for i in range(coins + 1)]
        tables = [
            Table(law, h + layout.TABLE_BITS, h + layout.TABLE_CELLS, h + layout.TABLE_THRESHOLDS)
            for h in heads
        ]
        self.whole = 1 << (32 + 64 * int(law[layout.LIMBS]))
        *self.coins, self.tail = [table.weights() for table in tables]
        self.times = [int(law[head + layout.TABLE_TIMES]) for head in heads[:-1]]
        self.last = int(law[heads[-2] + layout.TABLE_LAST])
        self.digit, self.digits = Table.digit(law).weights(), int(law[layout.DIGIT_LEVELS])
        start = int(law[layout.COUNT_THRESHOLDS])
        stop = start + self.dim * int(law[layout.SMALL_LAYERS])
        self.thresholds = [int(word) for word in law[start:stop]]

    def digit_probability(self, digit: int) -> Fraction:
        restarts, entry = divmod(digit, self.digits)
        again = Fraction(self.digit[self.digits], self.whole) ** restarts
        return again * Fraction(self.digit[entry], self.whole)

    def beyond(self, count: int) -> list[Fraction]:
        """P(so much beyond the table | beyond it): m and m + 1 digits."""
        digit = [self.digit_probability(i) for i in range(count)]
        totals, sums = [Fraction(0)] * count, [Fraction(1), *[Fraction(0)] * (count - 1)]
        for m, weight in enumerate(self.tail[:count]):
            sums = [
                sum((sums[j] * digit[i - j] for j in range(i + 1)), Fraction(0))
                for i in range(count)
            ]
            for i in range(m, count):
                totals[i] += Fraction(weight, self.whole) * sums[i - m]
        return totals
