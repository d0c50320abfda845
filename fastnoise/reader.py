"""Noise the slow and obvious way: plain Python integers on the same words and the same tables.

What kernels draw is checked against this, bit for bit; and the rare row whose noise does not fit
64-bit integers is drawn by it for real, because Python's integers have no end.
"""

from __future__ import annotations

from collections.abc import Iterator

from fastnoise_kernels import layout

from fastnoise.tables import Law

MASK_32 = (1 << 32) - 1


def chacha_block(key: bytes, counter: int, nonce: int) -> list[int]:
    """The sixteen 32-bit words of one ChaCha20 block (RFC 8439, with a 64-bit counter)."""
    inputs = b"expand 32-byte k" + key + counter.to_bytes(8, "little") + nonce.to_bytes(8, "little")
    initial = [int.from_bytes(inputs[i : i + 4], "little") for i in range(0, 64, 4)]
    state = list(initial)

    def quarter_round(a: int, b: int, c: int, d: int) -> None:
        for total, added, turned, bits in (
            (a, b, d, 16),
            (c, d, b, 12),
            (a, b, d, 8),
            (c, d, b, 7),
        ):
            state[total] = (state[total] + state[added]) & MASK_32
            mixed = state[turned] ^ state[total]
            state[turned] = (mixed << bits | mixed >> (32 - bits)) & MASK_32

    for _ in range(10):
        for i in range(4):
            quarter_round(i, i + 4, i + 8, i + 12)
        for i in range(4):
            quarter_round(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(x + y) & MASK_32 for x, y in zip(state, initial, strict=True)]


def row_words(key: bytes, row: int, own: int) -> Iterator[int]:
    """The 64-bit words of a row: its own, then extra ones without end."""
    batch, lane = row // (128 // own), row % 16
    group = row // 16 % (8 // own)
    block = chacha_block(key, 16 * batch + lane, 0)
    yield from _pairs(block[2 * own * group : 2 * own * (group + 1)])
    nonce = layout.EXTRA_NONCE
    while True:
        yield from _pairs(chacha_block(key, row, nonce))
        nonce += 1


def _pairs(words: list[int]) -> Iterator[int]:
    for low, high in zip(words[::2], words[1::2], strict=True):
        yield low | high << 32


class Table:
    """One alias table of a law."""

    def __init__(self, law: Law, bits_at: int, cells_at: int, thresholds_at: int) -> None:
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
    def head(cls, law: Law) -> Table:
        return cls(law, layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS)

    @classmethod
    def digit(cls, law: Law) -> Table:
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


def bounded(width: int, word: int, bits: int, words: Iterator[int]) -> int:
    """A uniform integer below `width` from a `bits`-bit word, or from more words (Lemire 2019)."""
    while (word * width) % (1 << bits) < (1 << bits) % width:
        word, bits = next(words), 64
    return word * width >> bits


class Reader:
    """Draws from a law."""

    def __init__(self, law: Law) -> None:
        header = [int(word) for word in law[: layout.HEADER]]
        self.own, self.laps = header[layout.WORDS], header[layout.LAPS] == 1
        self.steps, self.radius = header[layout.STEPS], header[layout.RADIUS]
        self.levels, self.digits = header[layout.HEAD_LEVELS], header[layout.DIGIT_LEVELS]
        self.head, self.digit = Table.head(law), Table.digit(law)

    def noise(self, key: bytes, row: int) -> int:
        """The noise of one row, in grid steps, of any size."""
        return self.draw(row_words(key, row, self.own))

    def draw(self, words: Iterator[int]) -> int:
        """The noise that a row's words give."""
        own = [next(words) for _ in range(self.own)]
        level = self._level(own[0], words)
        width = 2 * self.steps if level else 2 * self.radius - 1
        if self.own == 1:
            place = bounded(width, own[0] & MASK_32, 32, words)
        else:
            place = bounded(width, own[1], 64, words)
        if level == 0:
            return place - (self.radius - 1)
        distance = self.radius + (level - 1) * self.steps
        return distance + place if place < self.steps else -(distance + place - self.steps)

    def _level(self, word: int, words: Iterator[int]) -> int:
        level = self.head.pick(word >> 32, words)
        if not self.laps:
            beyond = level > self.levels
            return level + self._digit(next(words) >> 32, words) if beyond else level
        while level > self.levels:
            level = self.head.pick(next(words) >> 32, words)
        return level and level + self.levels * self._digit(word & MASK_32, words)

    def _digit(self, coin: int, words: Iterator[int]) -> int:
        """How far down, beyond what the head says."""
        restarts, entry = 0, self.digit.pick(coin, words)
        while entry == self.digits:
            restarts += 1
            entry = self.digit.pick(next(words) >> 32, words)
        return restarts * self.digits + entry
