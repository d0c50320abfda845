"""Words that make a law draw what a test wants to see."""

import numpy as np
from fastnoise_kernels import layout, staircase

from fastnoise.bits import round_keys
from fastnoise.laws.line import reader

FILL = [0x0123456789ABCDEF * (i + 3) % 2**64 for i in range(64)]


def coin_for(table: reader.Table, entry: int) -> tuple[int, list[int]]:
    """A 32-bit coin, and the words after it, that pick `entry`."""
    shift, room = 32 - table.bits, 1 << (32 - table.bits)
    for cell, (threshold, alias) in enumerate(zip(table.thresholds, table.aliases, strict=True)):
        leading = threshold >> (64 * table.limbs)
        if alias == entry and leading < room - 1:
            return cell << shift | (room - 1), []
    cell, threshold = entry, table.thresholds[entry]
    assert threshold > 0, "nothing picks this entry"
    value = threshold - 1  # the largest number below the threshold, tying in every word but one
    words = [value >> (64 * i) & (2**64 - 1) for i in reversed(range(table.limbs))]
    return cell << shift | value >> (64 * table.limbs), words


def ties(table: reader.Table, cells: int):
    """Coins that equal a threshold in their leading bits, then in 1, 2, .. all of its words, and
    the words after them: of about so many cells."""
    for cell in range(0, 1 << table.bits, max(1, (1 << table.bits) // cells)):
        threshold = table.thresholds[cell]
        limbs = [threshold >> (64 * i) & (2**64 - 1) for i in reversed(range(table.limbs))]
        coin = cell << (32 - table.bits) | threshold >> (64 * table.limbs)
        for equal in range(table.limbs + 1):
            for step in (-1, 1):
                tail = limbs[:equal]
                if equal < table.limbs:
                    tail = [*tail, min(max(limbs[equal] + step, 0), 2**64 - 1)]
                yield coin, tail


def both_ways(law, words: list[int]) -> tuple[int, int]:
    """(kernel, reader) on the same words; the kernel must not run out of them."""
    noise, used = staircase.draw(law, np.array(words, np.uint64))
    assert used != staircase.OUT_OF_WORDS
    return int(noise), reader.LineReader(law).draw(iter(words))


def schedule_of(key: bytes):
    """The round keys, as kernels take them."""
    return np.frombuffer(b"".join(k.to_bytes(16, "little") for k in round_keys(key)), "<u4")


def coin_bits(law) -> int:
    """How many bits of the coin of a place are in the row's own words."""
    return 63 - int(law[layout.SLOPE_BITS])


def beyond_the_head(law, restarts: int) -> list[int]:
    """Words that draw a digit and restart it so often, then draw its entry 0."""
    head, digits = reader.Table.head(law), reader.Table.digit(law)
    again, again_tail = coin_for(digits, int(law[layout.DIGIT_LEVELS]))
    end, end_tail = coin_for(digits, 0)
    draws = [(again, again_tail)] * restarts + [(end, end_tail)]
    if law[layout.BEYOND] == layout.LAPS:
        coin, tail = coin_for(head, 1)
        words = [coin << 32 | draws[0][0], 0xD1B54A32D192ED03, *tail, *draws[0][1]]
        draws = draws[1:]
    else:
        coin, tail = coin_for(head, int(law[layout.HEAD_LEVELS]) + 1)
        words = [coin << 32 | 0x9E3779B9, 0xD1B54A32D192ED03][: int(law[layout.WIDTH]) // 2] + tail
    for coin, tail in draws:
        words += [coin << 32, *tail]
    return words
