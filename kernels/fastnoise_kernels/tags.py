"""Tags of ids: 128 bits that stand for a text, an integer, a UUID, or for several tags.

The definition is `fastnoise.identity.tag`: AES-256 in CBC mode over a block that holds the kind and
the length, and over the body. Rows go side by side, sixteen at a time; one that has ended leaves
its tag and goes on with nothing, so that none waits for another.
"""

from typing import Final

import numpy as np
from llvmlite import ir
from numba import int64, uint64

from fastnoise_kernels.aes import encrypted, expanded, way_of
from fastnoise_kernels.intrinsics import common_function, intrinsic
from fastnoise_kernels.jit import inlined, inner, kernel
from fastnoise_kernels.lanes import I32, I64, LANES, Number
from fastnoise_kernels.pointers import Pointer

INTEGER, UUID, TEXT, TAGS = (np.uint64(ord(letter)) for letter in "ibst")
BLOCK: Final = 16  # bytes
KNOWN: Final = -1  # blocks of a row that is its own address, or is not there
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
SIGN = np.uint64(1 << 63)
HASHED = np.uint64(1 << 31)  # the upper 32 bits of an address that is a hash, and no row's number

# The same byte eight times, for eight characters in a word.
EVERY = np.uint64(0x0101010101010101)
HIGH_BITS = EVERY * np.uint64(0x80)
ZERO, NINE, MINUS, SMALL_A, SMALL_F = (ord(letter) for letter in "09-af")
DIGITS: Final = 20  # of the largest integer
AS_BARE, AS_DASHED = 32, 36  # characters of a UUID
DASHES = (8, 13, 18, 23)


@intrinsic
def chain(here, schedule, messages, states):
    """states = the encrypted `states ^ messages`: sixteen blocks each, low half, high half."""
    way = way_of(here.context)
    kind = ir.VectorType(I64, 2 * way[0])

    def write(builder, schedule, messages, states):
        starts = range(0, 2 * LANES, kind.count)
        places = [Pointer(builder, states).of(kind, i) for i in starts]
        added = [Pointer(builder, messages).of(kind, i) for i in starts]
        blocks = [
            builder.xor(*(builder.load(half, align=8) for half in pair))
            for pair in zip(places, added, strict=True)
        ]
        done = encrypted(way, Pointer(builder, schedule), blocks)
        for block, place in zip(done, places, strict=True):
            builder.store(block, place, align=8)

    kinds = [I32.as_pointer(), I64.as_pointer(), I64.as_pointer()]
    function = common_function(here, "fastnoise.aes.chain", kinds, write)
    here.builder.call(function, [schedule.of(I32), messages.of(I64), states.of(I64)])


@intrinsic
def word_at(here, data, at: int64) -> uint64:
    """Eight bytes, wherever they are."""
    return Number(here.builder, here.builder.load((data + at).of(I64), align=1))


@inlined
def at_least(word, character):
    """The high bit of each of eight characters below 128 that are that one or come after it."""
    return ((word | HIGH_BITS) - EVERY * np.uint64(character)) & HIGH_BITS


@inlined
def hexadecimal(word):
    """Four bytes from eight hexadecimal digits; and whether they are."""
    small = word | EVERY * np.uint64(0x20)
    digits = at_least(word, ZERO) & ~at_least(word, NINE + 1)
    letters = at_least(small, SMALL_A) & ~at_least(small, SMALL_F + 1)
    right = digits | letters == HIGH_BITS and word & HIGH_BITS == 0
    values = (word & EVERY * np.uint64(15)) + np.uint64(9) * (letters >> np.uint64(7))
    pairs = (values << np.uint64(4) | values >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs | pairs >> np.uint64(8)) & np.uint64(0x0000FFFF0000FFFF)
    return (fours | fours >> np.uint64(16)) & np.uint64(0xFFFFFFFF), right


@inlined
def halves_at(data, at, other):
    """Four characters from each of two places."""
    low = np.uint64(0xFFFFFFFF)
    return word_at(data, at) & low | word_at(data, other) << np.uint64(32)


@inlined
def uuid_at(data, at, size):
    """The two halves of a UUID's bytes, and whether that text is one."""
    first, right = hexadecimal(word_at(data, at))
    if not right:
        return first, first, False
    if size == AS_BARE:
        words = word_at(data, at + 8), word_at(data, at + 16), word_at(data, at + 24)
    else:
        for dash in DASHES:
            if data[at + dash] != MINUS:
                return first, first, False
        words = (
            halves_at(data, at + 9, at + 14),
            halves_at(data, at + 19, at + 24),
            word_at(data, at + 28),
        )
    second, right = hexadecimal(words[0])
    third, right_too = hexadecimal(words[1])
    fourth, right_as_well = hexadecimal(words[2])
    half = np.uint64(32)
    low, high = first | second << half, third | fourth << half
    return low, high, right and right_too and right_as_well


@inlined
def integer_at(data, at, size):
    """The two halves of an integer of 128 bits, and whether that text is one, in full and alone."""
    negative = data[at] == MINUS
    begin, end, value = at + negative, at + size, np.uint64(0)
    if begin == end or (data[begin] == ZERO and size > 1):
        return value, value, False
    for i in range(begin, end):
        digit = np.uint64(data[i]) - np.uint64(ZERO)
        too_large = i - begin == DIGITS - 1 and value > (ONES - digit) // np.uint64(10)
        if digit > np.uint64(9) or too_large:
            return value, value, False
        value = value * np.uint64(10) + digit
    if negative:
        return np.uint64(0) - value, ONES, value <= SIGN
    return value, np.uint64(0), True


@inlined
def bytes_at(data, at, left):
    """Sixteen bytes as two words, zeros after the `left` ones that are there."""
    low, high = np.uint64(0), np.uint64(0)
    if at + BLOCK > len(data):
        for i in range(min(left, BLOCK)):
            byte = np.uint64(data[at + i]) << np.uint64(8 * (i % 8))
            low, high = (low | byte, high) if i < 8 else (low, high | byte)
        return low, high
    low, high = word_at(data, at), word_at(data, at + 8)
    if left < 8:
        return low & (np.uint64(1) << np.uint64(8 * left)) - np.uint64(1), np.uint64(0)
    if left < BLOCK:
        high &= (np.uint64(1) << np.uint64(8 * left - 64)) - np.uint64(1)
    return low, high


@inlined
def leave(low, high, alone, tags, row):
    """The tag of a row, or the address that is made of it."""
    tags[2 * row] = low
    tags[2 * row + 1] = high & (HASHED - np.uint64(1)) | HASHED if alone else high


@inlined
def is_row(kind, low, high, alone):
    """Whether an id is the number of a row."""
    return alone and kind == INTEGER and high == 0 and low < SIGN


@inlined
def put_pair(pairs, lane, low, high):
    pairs[2 * lane], pairs[2 * lane + 1] = low, high


@inner
def look_at_text(data, at, size):
    """What a text is: its kind, and two words that are its body if that is not the text."""
    if 1 <= size <= DIGITS:
        low, high, right = integer_at(data, at, size)
        if right:
            return INTEGER, low, high
    elif size in (AS_BARE, AS_DASHED):
        low, high, right = uuid_at(data, at, size)
        if right:
            return UUID, low, high
    return TEXT, np.uint64(0), np.uint64(0)


@kernel
def tag_texts(start, stop, key, offsets, data, alone, tags):
    """Tags of texts, or of the integers and UUIDs that they are; two words per row.

    offsets: where in `data` texts start, and the last one ends; alone: addresses instead of tags.
    """
    schedule, blocks = expanded(key), np.empty(LANES, np.int64)
    kinds, bodies = np.empty(LANES, np.uint64), np.empty(2 * LANES, np.uint64)
    messages, states = np.zeros(2 * LANES, np.uint64), np.empty(2 * LANES, np.uint64)
    for first in range(start, stop, LANES):
        rows, most = min(LANES, stop - first), KNOWN
        for lane in range(rows):
            at = offsets[first + lane]
            size = offsets[first + lane + 1] - at
            kind, low, high = look_at_text(data, at, size)
            if is_row(kind, low, high, alone):
                put_pair(tags, first + lane, low, high)
                blocks[lane] = KNOWN
                continue
            length = size if kind == TEXT else BLOCK
            kinds[lane], blocks[lane] = kind, (length + BLOCK - 1) // BLOCK
            put_pair(bodies, lane, low, high)
            put_pair(messages, lane, kind, np.uint64(length))
            most = max(most, blocks[lane])
        for i in range(2 * LANES):
            states[i] = 0
        for block in range(most + 1):
            chain(schedule, messages, states)
            for lane in range(rows):
                if blocks[lane] == block:
                    leave(states[2 * lane], states[2 * lane + 1], alone, tags, first + lane)
                elif blocks[lane] > block:
                    low, high = bodies[2 * lane], bodies[2 * lane + 1]
                    if kinds[lane] == TEXT:
                        at = offsets[first + lane] + BLOCK * block
                        low, high = bytes_at(data, at, offsets[first + lane + 1] - at)
                    put_pair(messages, lane, low, high)
    return 0


@kernel
def tag_blocks(start, stop, key, kind, bodies, blocks, alone, tags):
    """Tags of bodies of so many blocks each, all of that kind; two words per block and per row."""
    schedule = expanded(key)
    messages, states = np.zeros(2 * LANES, np.uint64), np.empty(2 * LANES, np.uint64)
    for first in range(start, stop, LANES):
        rows = min(LANES, stop - first)
        for lane in range(LANES):
            put_pair(messages, lane, kind, np.uint64(BLOCK * blocks))
            put_pair(states, lane, np.uint64(0), np.uint64(0))
        chain(schedule, messages, states)
        for block in range(blocks):
            for lane in range(rows):
                at = 2 * ((first + lane) * blocks + block)
                put_pair(messages, lane, bodies[at], bodies[at + 1])
            chain(schedule, messages, states)
        for lane in range(rows):
            at, row = 2 * (first + lane) * blocks, first + lane
            if is_row(kind, bodies[at], bodies[at + 1], alone):
                put_pair(tags, row, bodies[at], bodies[at + 1])
            else:
                leave(states[2 * lane], states[2 * lane + 1], alone, tags, row)
    return 0
