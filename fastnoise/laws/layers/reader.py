"""Vector noise the slow and obvious way: plain Python on the same words and the same tables.

What kernels draw is checked against this, bit for bit; and the rare row that 64-bit arithmetic
cannot decide is drawn by it for real.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate

from fastnoise_kernels import layout

from fastnoise.bits import MASK_32, Blocks, plain_blocks, row_words
from fastnoise.laws.alias import Tables
from fastnoise.laws.layers.balls import points_by_count
from fastnoise.laws.line.reader import Table, bounded, restarted_digit


class LayerReader(ABC):
    """Draws a layer, and leaves to its subclasses what is uniform on it."""

    def __init__(self, law: Tables, blocks: Blocks = plain_blocks) -> None:
        self.blocks = blocks
        header = [int(word) for word in law[: layout.VECTOR_HEADER]]
        self.width, self.dim, coins = (
            header[at] for at in (layout.WIDTH, layout.DIM, layout.COINS)
        )
        tables = [self._table(law, layout.TABLES + layout.TABLE * i) for i in range(coins + 1)]
        self.coins, self.tail = tables[:-1], tables[-1]
        heads = [layout.TABLES + layout.TABLE * i for i in range(coins)]
        self.times = [header[head + layout.TABLE_TIMES] for head in heads]
        self.last = header[heads[-1] + layout.TABLE_LAST]
        self.digit, self.digits = Table.digit(law), header[layout.DIGIT_LEVELS]
        start = header[layout.SIZES]
        sizes = [int(word) for word in law[start : start + 2 * self.dim]]
        self.steps, self.radii = sizes[::2], sizes[1::2]

    @staticmethod
    def _table(law: Tables, at: int) -> Table:
        return Table(
            law, at + layout.TABLE_BITS, at + layout.TABLE_CELLS, at + layout.TABLE_THRESHOLDS
        )

    def noise(self, key: bytes, address: int) -> list[int]:
        return self.draw(row_words(key, address, self.width, self.blocks))

    def draw(self, words: Iterator[int]) -> list[int]:
        own = [next(words) for _ in range((self.width + 1) // 2)]
        layer = self.layer(own[self.dim :], words)
        return self.place(layer, own[: self.dim], words)

    def layer(self, own: list[int], words: Iterator[int]) -> int:
        halves = [half for word in own for half in (word & MASK_32, word >> 32)]
        entries = [coin.pick(half, words) for coin, half in zip(self.coins, halves, strict=False)]
        layer = sum(times * entry for times, entry in zip(self.times, entries, strict=True))
        if entries[-1] != self.last:
            return layer
        more = self.tail.pick(next(words) >> 32, words)
        for _ in range(more + 1):
            more += restarted_digit(self.digit, self.digits, next(words) >> 32, words)
        return layer + self.times[-1] * more

    @abstractmethod
    def place(self, layer: int, own: list[int], words: Iterator[int]) -> list[int]:
        """A uniform vector of that layer."""


class BoxReader(LayerReader):
    """Uniform on a box."""

    def place(self, layer: int, own: list[int], words: Iterator[int]) -> list[int]:
        halves = [r + layer * n for r, n in zip(self.radii, self.steps, strict=True)]
        pairs = zip(halves, own, strict=True)
        return [bounded(2 * half - 1, word, 64, words) - (half - 1) for half, word in pairs]


class BallReader(LayerReader):
    """Uniform on an l1 ball."""

    def place(self, layer: int, own: list[int], words: Iterator[int]) -> list[int]:
        most = self.radii[0] - 1 + layer * self.steps[0] + self.dim
        if most < layout.LEAST_PER_SQUARE * self.dim**2:
            return self.small_place(most - self.dim, words)
        given = iter(own)
        while True:
            drawn = [bounded(2 * most, word, 64, words) for word in given]
            signs = [place // most for place in drawn]
            places = sorted(place % most for place in drawn)
            sizes = [b - a - 1 for a, b in zip([-1, *places], places, strict=False)]
            if all(size >= sign for size, sign in zip(sizes, signs, strict=True)):
                return [-s if sign else s for s, sign in zip(sizes, signs, strict=True)]
            given = (next(words) for _ in range(self.dim))

    def small_place(self, radius: int, words: Iterator[int]) -> list[int]:
        count = nonzero_count(self.dim, radius, words)
        signs = sum(next(words) << i for i in range(0, self.dim, 64))
        ends, places = chosen(radius, count, words), chosen(self.dim, count, words)
        point = [0] * self.dim
        for place, before, end in zip(places, [-1, *ends], ends, strict=False):
            point[place] = before - end if signs >> place & 1 else end - before
        return point


def nonzero_count(dim: int, radius: int, words: Iterator[int]) -> int:
    """How many numbers of a uniform vector in the ball are not 0: as many words as decide it."""
    *sums, total = accumulate(points_by_count(dim, radius))
    value, bits = next(words), 64
    while True:
        low = bisect_right(sums, value * total >> bits)
        high = bisect_left(sums, -(-(value + 1) * total >> bits))
        if low == high:
            return low
        value, bits = value << 64 | next(words), bits + 64


def chosen(size: int, count: int, words: Iterator[int]) -> list[int]:
    """A uniform set of `count` integers below `size`, in order (Floyd; Bentley, CACM 30, 1987)."""
    found: set[int] = set()
    for last in range(size - count, size):
        value = bounded(last + 1, next(words), 64, words)
        found.add(last if value in found else value)
    return sorted(found)
