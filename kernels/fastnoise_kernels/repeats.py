"""Whether an address appears twice: of rows in order, of numbers close together, of any.

None of it depends on what the addresses are for more than its speed: `SEED_WORDS` random words
decide which of any addresses share a piece and a place in its table, so that nobody can choose
ids that all meet.
"""

from typing import Final

import numpy as np

from fastnoise_kernels.jit import inlined, inner, kernel
from fastnoise_kernels.memory import element, put, wide_vectors

BLOCK = 4096  # addresses that are looked at before it is asked whether to go on
SEED_WORDS: Final = 2
TOP_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio, odd: different tops stay different
HALF = np.uint64(32)


@inner
def slice_of(part, parts, size):
    return size * part // parts, size * (part + 1) // parts


@kernel
def descents(start, stop, ids):
    """Whether some of ids[start - 1 : stop] is not above the one before it; not 0 if so."""
    wide_vectors()
    at = max(start, 1)
    while at < stop:
        end, found = min(at + BLOCK, stop), 0
        for i in range(at, end):
            found += element(ids, i) <= element(ids, i - 1)
        if found:
            return 1
        at = end
    return 0


@kernel
def extent(start, stop, ids, found):
    """The least and the most of each part of `ids`, one part after the other, in `found`."""
    wide_vectors()
    parts = len(found) // 2
    for part in range(start, stop):
        begin, end = slice_of(part, parts, len(ids))
        least = most = ids[begin]
        for i in range(begin, end):
            least, most = min(least, element(ids, i)), max(most, element(ids, i))
        found[2 * part], found[2 * part + 1] = least, most
    return 0


@kernel
def mark_bits(start, stop, ids, least, bits):
    """A bit for each id, in a bitmap for each part; counts those whose bit was set before."""
    repeats, parts = np.uint64(0), len(bits)
    for part in range(start, stop):
        begin, end = slice_of(part, parts, len(ids))
        own = bits[part]
        for i in range(begin, end):
            place = np.uint64(element(ids, i) - least)
            word, bit = place >> np.uint64(6), place & np.uint64(63)
            before = element(own, word)
            repeats += before >> bit & np.uint64(1)
            put(own, word, before | np.uint64(1) << bit)
    return np.int64(repeats)


@kernel
def shared_bits(start, stop, bits):
    """Whether two bitmaps have a bit in common; not 0 if so."""
    common = np.uint64(0)
    for word in range(start, stop):
        seen = np.uint64(0)
        for part in range(len(bits)):
            common |= seen & bits[part, word]
            seen |= bits[part, word]
    return 1 if common else 0


@inlined
def mixed(low, top, seed):
    """A number that looks random; different ones for different `low` beside the same `top`."""
    found = (low ^ top * TOP_FACTOR) * (seed[0] | np.uint64(1))
    found = (found ^ found >> HALF) * (seed[1] | np.uint64(1))
    return found ^ found >> HALF


@inlined
def mixed_at(i, ids, tops, seed):
    top = np.uint64(element(tops, i)) if len(tops) > 0 else np.uint64(0)
    return mixed(np.uint64(element(ids, i)), top, seed)


@kernel
def count_pieces(start, stop, ids, tops, seed, bits, counts):
    """How many addresses of each part belong to each of 2**bits pieces."""
    shift = np.uint64(64 - bits)
    for part in range(start, stop):
        begin, end = slice_of(part, len(counts), len(ids))
        own = counts[part]
        for i in range(begin, end):
            own[mixed_at(i, ids, tops, seed) >> shift] += 1
    return 0


@kernel
def sort_by_piece(start, stop, ids, tops, seed, bits, starts, numbers, their_tops):
    """Put mixed addresses piece by piece; starts: of each part in each piece, and changed here."""
    shift = np.uint64(64 - bits)
    for part in range(start, stop):
        begin, end = slice_of(part, len(starts), len(ids))
        own = starts[part]
        for i in range(begin, end):
            number = mixed_at(i, ids, tops, seed)
            to = own[number >> shift]
            own[number >> shift] = to + 1
            put(numbers, to, number)
            if len(tops) > 0:
                put(their_tops, to, element(tops, i))
    return 0


@kernel
def piece_repeats(start, stop, numbers, tops, bits, ends):
    """Pieces in which two addresses are the same."""
    found, most = 0, 0
    for piece in range(start, stop):
        most = max(most, ends[piece + 1] - ends[piece])
    size_bits = 1
    while 1 << size_bits < 2 * most:
        size_bits += 1
    table = np.empty(1 << size_bits, np.uint64)
    table_tops = np.empty(1 << size_bits if len(tops) > 0 else 0, np.uint32)
    for piece in range(start, stop):
        begin, end = ends[piece], ends[piece + 1]
        found += has_repeats(numbers[begin:end], tops[begin:end], bits, piece, table, table_tops)
    return found


@inner
def has_repeats(numbers, tops, bits, piece, table, table_tops):
    """Whether some numbers of a piece are the same, and their tops.

    A place of the table that is free has a number of another piece.
    """
    free = np.uint64(piece ^ 1) << np.uint64(64 - bits)
    last, wide = np.uint64(len(table) - 1), len(tops) > 0
    size_bits = np.uint64(0)
    while np.uint64(1) << size_bits <= last:
        size_bits += np.uint64(1)
    for i in range(len(table)):
        table[i] = free
    for i in range(len(numbers)):
        number = numbers[i]
        place = number << np.uint64(bits) >> np.uint64(64) - size_bits
        there = element(table, place)
        while there != free:
            if there == number and (not wide or element(table_tops, place) == tops[i]):
                return True
            place = place + np.uint64(1) & last
            there = element(table, place)
        put(table, place, number)
        if wide:
            put(table_tops, place, tops[i])
    return False
