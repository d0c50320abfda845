"""Random words: which blocks of the cipher a row has.

A block is an integer of 128 bits, encrypted under the key of the noise (`aes`):

    address    96 bits: the number of the row, or a hash that stands for an id
    index      32 bits: which of the row's blocks

so no two draws can meet. A row's own words are those of its blocks 0, 1, 2, ...; its extra ones,
for ties, rejections and restarts, those from EXTRA_INDEX on; and what may have no end, further
digits of its numbers, is under a key of its own, which is two more of its blocks. Rows of two
words share a block, row r and row r + 16 of every 32, whose address is that of r without its bit 4.

In memory, words are by groups of sixteen rows: word 0 of all sixteen, then word 1, and so on, as
many as their blocks hold.
"""

import numpy as np

from fastnoise_kernels.aes import batch, batch_in_order, batch_of, expanded, two_batches
from fastnoise_kernels.ahead import fetch_with_batches
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.layout import BATCH, EXTRA_INDEX, KEY_INDEX, KEY_WORDS, SHORT
from fastnoise_kernels.memory import copy
from fastnoise_kernels.scattered import (
    scattered_batch,
    scattered_short_rows,
    two_scattered_batches,
    two_scattered_short_rows,
)

HALF = np.uint64(32)
NEXT_INDEX = np.uint64(1 << 32)  # added to the upper half of a block


@inner
def words_stored(width):
    """How many 32-bit words a row of that width has in memory."""
    return SHORT if width <= SHORT else (width + 3) // 4 * 4


@inner
def words_room(rows, width):
    """How many words `fill_words` may write."""
    return (rows + 62) // 16 * 16 * words_stored(width)


@inner
def block_place(address, index):
    """The two halves of a block."""
    low, high = address
    return low, high | np.uint64(index) << HALF


@inner
def shared_low(low):
    """Without bit 4: what rows that share a block have in common."""
    return low >> np.uint64(5) << np.uint64(4) | low & np.uint64(15)


@inner
def following(low, high, last):
    """The first block of the next batch: the next blocks of sixteen rows, or those of the next."""
    if high < last:
        return low, high + NEXT_INDEX
    return low + np.uint64(16), np.uint64(0)


@inner
def fill_words(schedule, first, n, width, words, ahead):
    """The words of rows first .. first + n - 1, in groups of 16 rows.

    Returns where the group of `first` begins in `words`.
    ahead: what is fetched meanwhile (`ahead.look_ahead`).
    """
    rows, blocks = (32, 1) if width <= SHORT else (16, (width + 3) // 4)
    batches, last = (
        (first % rows + n + rows - 1) // rows * blocks,
        NEXT_INDEX * np.uint64(blocks - 1),
    )
    low, high = np.uint64(first // rows * 16), np.uint64(0)
    for done in range(0, batches - 1, 2):
        next_low, next_high = following(low, high, last)
        two_batches(schedule, low, high, next_low, next_high, words, done * BATCH)
        fetch_with_batches(ahead, done, 2)
        low, high = following(next_low, next_high, last)
    if batches % 2:
        batch(schedule, low, high, words, (batches - 1) * BATCH)
        fetch_with_batches(ahead, batches - 1, 1)
    return first % rows // 16 * 16 * SHORT


@inner
def fill_words_of(schedule, ids, tops, width, words):
    """The words of the rows `ids`, in the same groups of 16; tops: see `filler.Tile`."""
    whole = len(ids) // 16
    fill_groups(schedule, ids, tops, whole, width, words)
    if len(ids) % 16:
        last, high = np.zeros(16, np.int64), np.zeros(16, np.uint32)
        copy(ids[16 * whole :], last)
        copy(tops[16 * whole :], high)
        fill_groups(schedule, last, high, 1, width, words[16 * whole * words_stored(width) :])


@inner
def fill_groups(schedule, ids, tops, groups, width, words):
    """Whole groups of rows."""
    if width <= SHORT:
        for group in range(0, groups - 1, 2):
            at = 16 * group
            two_scattered_short_rows(schedule, ids, tops, at, 0, at + 16, 0, words, at * SHORT)
        if groups % 2:
            at = 16 * (groups - 1)
            scattered_short_rows(schedule, ids, tops, at, 0, words, at * SHORT)
        return
    blocks = (width + 3) // 4
    batches, at, index = groups * blocks, 0, 0
    for done in range(0, batches - 1, 2):
        next_at, next_index = following_of(at, index, blocks)
        to = done * BATCH
        two_scattered_batches(schedule, ids, tops, at, index, next_at, next_index, words, to)
        at, index = following_of(next_at, next_index, blocks)
    if batches % 2:
        scattered_batch(schedule, ids, tops, at, index, words, (batches - 1) * BATCH)


@inner
def following_of(at, index, blocks):
    """The next block of the sixteen rows at place `at`, or the first of the next sixteen."""
    return (at, index + 1) if index < blocks - 1 else (at + 16, 0)


@inner
def put_half(words, i, half):
    """32-bit word i of 64-bit ones, which are put one after the other."""
    wide = np.uint64(half)
    words[i // 2] = wide if i % 2 == 0 else words[i // 2] | wide << np.uint64(32)


@inner
def put_blocks(schedule, address, index, words):
    """64-bit words from blocks of a row that follow each other."""
    lows, highs, some = np.empty(16, np.uint64), np.empty(16, np.uint64), np.empty(BATCH, np.uint32)
    low, high = block_place(address, index)
    for start in range(0, len(words), 32):
        for lane in range(16):
            lows[lane] = low
            highs[lane] = high + (np.uint64(start // 2 + lane) << HALF)
        batch_in_order(schedule, lows, highs, some, 0)
        for i in range(start, min(start + 32, len(words))):
            at = 2 * (i - start)
            words[i] = np.uint64(some[at]) | np.uint64(some[at + 1]) << HALF


@inner
def row_words(schedule, address, width, words):
    """A row alone: its own words, then as many extra ones as `words` (64-bit) has room for.

    Of an odd number of own 32-bit words the last is the lower half of a 64-bit one.
    """
    own = (width + 1) // 2
    if width <= SHORT:
        both, (low, high) = np.empty(2, np.uint64), address
        put_blocks(schedule, (shared_low(low), high), 0, both)
        words[0] = both[low >> np.uint64(4) & np.uint64(1)]
    else:
        put_blocks(schedule, address, 0, words[:own])
        if width % 2:
            words[own - 1] &= np.uint64(0xFFFFFFFF)
    extra_words(schedule, address, words[own:])


@inner
def extra_words(schedule, address, words):
    """The words of a row beyond its own."""
    put_blocks(schedule, address, EXTRA_INDEX, words)


@inner
def row_schedule(schedule, address):
    """That of the row's own key."""
    halves = np.empty(KEY_WORDS // 2, np.uint64)
    put_blocks(schedule, address, KEY_INDEX, halves)
    return expanded(halves.view(np.uint32))


@inner
def refining_words(schedule, numbers):
    """For each of up to sixteen uniform numbers of a row: the first word that makes it longer.

    schedule: of the row's own key, under which block `number` has the first two words.
    """
    lows, highs, words = (
        np.zeros(16, np.uint64),
        np.zeros(16, np.uint64),
        np.empty(BATCH, np.uint32),
    )
    for lane in range(len(numbers)):
        lows[lane] = np.uint64(numbers[lane])
    batch_of(schedule, lows, highs, words, 0)
    return words[:16].astype(np.uint64) | words[16:32].astype(np.uint64) << HALF


@kernel
def keystream(start, stop, key, first, out):
    """Raw AES-256 in counter mode; a row is a batch of sixteen blocks, the first `first`.

    The counter is an integer of 128 bits, first byte highest.
    """
    schedule, lows, highs = expanded(key), np.zeros(16, np.uint64), np.empty(16, np.uint64)
    for at in range(start, stop):
        for lane in range(16):
            highs[lane] = reversed_bytes(first + np.uint64(16 * at + lane))
        batch_in_order(schedule, lows, highs, out, at * BATCH)
    return 0


@inner
def reversed_bytes(value):
    total = np.uint64(0)
    for _ in range(8):
        total = total << np.uint64(8) | value & np.uint64(255)
        value >>= np.uint64(8)
    return total


@kernel
def single_blocks(start, stop, key, lows, highs, out):
    """One block for each pair of halves, block after block."""
    schedule, low, high = expanded(key), np.zeros(16, np.uint64), np.zeros(16, np.uint64)
    words = np.empty(BATCH, np.uint32)
    for first in range(start, stop, 16):
        count = min(16, stop - first)
        for lane in range(count):
            low[lane], high[lane] = lows[first + lane], highs[first + lane]
        batch_in_order(schedule, low, high, words, 0)
        for i in range(4 * count):
            out[4 * first + i] = words[i]
    return 0
