"""Noise the slow and obvious way: plain Python integers on the same words and the same tables.

What kernels draw is checked against this, bit for bit; and the rare row whose noise does not fit
64-bit integers is drawn by it for real, because Python's integers have no end.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from fastnoise_kernels import layout

from fastnoise.bits import MASK_32, Blocks, plain_blocks, row_words
from fastnoise.laws.alias import Tables


class Table:
    """One alias table of a law."""

    def __init__(self, law: Tables, bits_at: int, cells_at: int, thresholds_at: int) -> None:
        self.bits, self.limbs = int(law[bits_at]), int(law[layout.LIMBS])
        cells, thresholds = int(law[cells_at]), int(law[thresholds_at])
        packed = [int(word) for word in law[cells : cells + (1 << self.bits) // 2]]
        leading = [half for word in packed for half in (word & MASK_32, word >> 32)]
        self.aliases = [cell & ((1 << self.bits) - 1) for cell in leading]
        self.thresholds = []
        for i, cell in enumerate(leading):
            threshold = cell >> self.bits
            for limb in law[thresholds + i * self.limbs : thresholds + (i + 1) * self.limbs]:
                threshold = threshold << 64 | int(limb)
            self.thresholds.append(threshold)

    @classmethod
    def head(cls, law: Tables) -> Table:
        return cls(law, layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS)

    @classmethod
    def digit(cls, law: Tables) -> Table:
        return cls(law, layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS)

    def weights(self) -> list[int]:
        """How many of the 2**(32 + 64 * limbs) uniform numbers give each entry."""
        room = 1 << (32 + 64 * self.limbs - self.bits)
        weights = [0] * (1 << self.bits)
        for i, (threshold, alias) in enumerate(zip(self.thresholds, self.aliases, strict=True)):
            weights[i] += threshold
            weights[alias] += room - threshold
        return weights

    def pick(self, coin: int, words: Iterator[int]) -> int:
        """The entry of a 32-bit coin, made longer 64 bits at a time while that could matter."""
        cell, value = coin >> (32 - self.bits), coin & ((1 << (32 - self.bits)) - 1)
        threshold = self.thresholds[cell]
        for missing in range(self.limbs, -1, -1):
            leading = threshold >> (64 * missing)
            if value != leading:
                return cell if value < leading else self.aliases[cell]
            if missing:
                value = value << 64 | next(words)
        return self.aliases[cell]


def restarted_digit(table: Table, levels: int, coin: int, words: Iterator[int]) -> int:
    """Entry `levels` of the table draws again, that much further."""
    restarts, entry = 0, table.pick(coin, words)
    while entry == levels:
        restarts += 1
        entry = table.pick(next(words) >> 32, words)
    return restarts * levels + entry


def bounded(width: int, word: int, bits: int, words: Iterator[int]) -> int:
    """A uniform integer below `width` from a `bits`-bit word, or from more words (Lemire 2019)."""
    while width >> bits:
        word, bits = word << 64 | next(words), bits + 64
    while (word * width) % (1 << bits) < (1 << bits) % width:
        word = sum(next(words) << i for i in reversed(range(0, bits, 64)))
        bits = max(bits, 64)
    return word * width >> bits


class Slopes:
    """How likely places on a sloping level are to be kept."""

    def __init__(self, law: Tables) -> None:
        start, limbs = int(law[layout.SLOPES]), layout.SLOPE_LIMBS
        self.slopes = []
        for i in range(int(law[layout.SLOPE_BITS])):
            slope = 0
            for limb in law[start + i * limbs : start + (i + 1) * limbs]:
                slope = slope << 64 | int(limb)
            self.slopes.append(Fraction(slope, 1 << 64 * limbs))

    def chance(self, place: int) -> Fraction:
        """That a place is kept; reduced to lowest terms only once."""
        slopes = [slope for i, slope in enumerate(self.slopes) if place >> i & 1]
        return Fraction(prod(s.numerator for s in slopes), prod(s.denominator for s in slopes))


class LineReader:
    """Draws from a law."""

    def __init__(self, law: Tables, blocks: Blocks = plain_blocks) -> None:
        self.blocks = blocks
        header = [int(word) for word in law[: layout.HEADER]]
        self.width, self.beyond = header[layout.WIDTH], header[layout.BEYOND]
        self.steps, self.radius = header[layout.STEPS], header[layout.RADIUS]
        self.levels, self.digits = header[layout.HEAD_LEVELS], header[layout.DIGIT_LEVELS]
        self.last_places, self.end = header[layout.LAST_PLACES], header[layout.END]
        self.slope_rest = header[layout.REST_SIDE] if header[layout.SLOPES] else 0
        self.head, self.digit = Table.head(law), Table.digit(law)
        self.slopes = Slopes(law)

    def noise(self, key: bytes, address: int) -> int:
        """The noise of one row, in grid steps, of any size."""
        return self.draw(row_words(key, address, self.width, self.blocks))

    def draw(self, words: Iterator[int]) -> int:
        """The noise that a row's words give."""
        first = next(words)
        head, low = first >> 32, first & MASK_32
        word, bits = (low, 32) if self.width == layout.SHORT else (next(words), 64)
        level = self._level(head, low, words)
        if level == 0:
            width = 2 * self.radius - 1
            return self._place(width, width, word, bits, words) - (self.radius - 1)
        room = self.steps
        if self.beyond == layout.ENDS and level > self.levels:
            if level == self.levels + 2:
                return self.end if word >> 63 == 0 else -self.end
            room = self.last_places
        place = self._place(2 * self.steps, room, word, bits, words)
        distance = self.radius + (level - 1) * self.steps
        return distance + place if place < self.steps else -(distance + place - self.steps)

    def _level(self, coin: int, digit_coin: int, words: Iterator[int]) -> int:
        level = self.head.pick(coin, words)
        if self.beyond == layout.ENDS:
            return level
        if self.beyond == layout.TAIL:
            beyond = level > self.levels
            return level + self._digit(next(words) >> 32, words) if beyond else level
        while level > self.levels:
            level = self.head.pick(next(words) >> 32, words)
        return level and level + self.levels * self._digit(digit_coin, words)

    def _digit(self, coin: int, words: Iterator[int]) -> int:
        """How far down, beyond what the head says."""
        return restarted_digit(self.digit, self.digits, coin, words)

    def _place(self, width: int, room: int, word: int, bits: int, words: Iterator[int]) -> int:
        """A place below `width`, of which either side has `room`, from a word or from more."""
        while True:
            place, coin = divmod(word * width, 1 << bits)
            if place % self.steps < room and self._kept(width, place, coin, bits, words):
                return place
            word, bits = next(words), 64

    def _kept(self, width: int, place: int, coin: int, bits: int, words: Iterator[int]) -> bool:
        """Flat: unless it were a bias (Lemire 2019). Sloping: with the chance of the place."""
        if not self.slope_rest or width == 1:
            return coin >= (1 << bits) % width
        if coin << 64 >= self.slope_rest << bits:
            return True
        dropped = 1 - self.slopes.chance(place % self.steps)
        known = bits - (width.bit_length() - 1)  # width is a power of two: that many bits are left
        value = coin >> (bits - known)
        while True:
            value, known = value << 64 | next(words), known + 64
            if value >= dropped * (1 << known):
                return True
            if value + 1 <= dropped * (1 << known):
                return False
