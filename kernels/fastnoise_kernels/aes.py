"""AES-256 (FIPS 197), sixteen blocks at a time, by whatever the processor has for it.

    VAES       rounds of four blocks in a register of 512 bits, or of two in one of 256
    AES        of x86 or ARM: rounds of one block
    neither    bits of sixteen blocks side by side (`aes_bits`), without look-ups: a table at an
               address that depends on the key tells it to whoever shares a cache

All give the same bits. A block is two integers of 64 bits, `low` and `high`, lowest byte first; a
schedule is the fifteen round keys, in SCHEDULE words of 32 bits. What comes out is word 0 of
sixteen blocks, then their word 1, and so on: words of 32 bits, each a vector of sixteen rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import int64, uint32, uint64

from fastnoise_kernels.aes_bits import BLOCK, BYTES, encrypted_by_bits, substituted
from fastnoise_kernels.intrinsics import Here, common_function, intrinsic
from fastnoise_kernels.jit import inner
from fastnoise_kernels.lanes import I32, I64, LANES, LANES_64, Number, call, has
from fastnoise_kernels.layout import BATCH, KEY_WORDS, ROUNDS, SCHEDULE
from fastnoise_kernels.pointers import Pointer

Encrypt = Callable[[Pointer, list[ir.Value]], list[ir.Value]]
SIDE_BY_SIDE = 8  # registers whose rounds take turns: each waits four cycles for its own


def _round_key(schedule: Pointer, i: int, kind: ir.VectorType) -> ir.Value:
    """For every block of a register."""
    builder = schedule.builder
    key = builder.load(schedule.of(BLOCK, 2 * i), align=4)
    every = ir.Constant(ir.VectorType(I32, kind.count), [0, 1] * (kind.count // 2))
    return builder.shuffle_vector(key, key, every)


def _x86_rounds(blocks: int) -> Encrypt:
    """blocks: how many a register has."""
    kind = ir.VectorType(I64, 2 * blocks)
    name = "llvm.x86.aesni.aesenc{}" + {1: "", 2: ".256", 4: ".512"}[blocks]

    def encrypted(schedule: Pointer, states: list[ir.Value]) -> list[ir.Value]:
        builder, key = schedule.builder, _round_key(schedule, 0, kind)
        states = [builder.xor(state, key) for state in states]
        for i in range(1, ROUNDS + 1):
            key, last = _round_key(schedule, i, kind), "last" if i == ROUNDS else ""
            states = [call(builder, name.format(last), kind, state, key) for state in states]
        return states

    return encrypted


def _arm_rounds(schedule: Pointer, states: list[ir.Value]) -> list[ir.Value]:
    """ARM adds a round key before it substitutes, so that one is left for the end."""
    builder, name = schedule.builder, "llvm.aarch64.crypto.aes{}"
    for i in range(ROUNDS):
        key = builder.bitcast(_round_key(schedule, i, BLOCK), BYTES)
        states = [builder.bitcast(state, BYTES) for state in states]
        states = [call(builder, name.format("e"), BYTES, state, key) for state in states]
        if i < ROUNDS - 1:
            states = [call(builder, name.format("mc"), BYTES, state) for state in states]
    last = _round_key(schedule, ROUNDS, BLOCK)
    return [builder.xor(builder.bitcast(state, BLOCK), last) for state in states]


def way_of(context: Any) -> tuple[int, Encrypt]:
    """How many blocks a register has on the processor that is compiled for; what encrypts them."""
    if not has(context, "aes"):
        return 1, encrypted_by_bits
    if context.codegen().magic_tuple()[0].startswith("aarch64"):
        return 1, _arm_rounds
    blocks = 1
    if has(context, "vaes") and has(context, "avx2"):  # which NUMBA_ENABLE_AVX=0 takes away
        blocks = 4 if has(context, "avx512bw") else 2
    return blocks, _x86_rounds(blocks)


def encrypted(way: tuple[int, Encrypt], schedule: Pointer, states: list[ir.Value]) -> list[Any]:
    if way[1] is encrypted_by_bits:
        return encrypted_by_bits(schedule, states)
    some = range(0, len(states), SIDE_BY_SIDE)
    return [done for i in some for done in way[1](schedule, states[i : i + SIDE_BY_SIDE])]


def places_of(blocks: int) -> list[list[int]]:
    """Which blocks each register has, so that words come out in their order."""
    sets = range(0, LANES, 4 * blocks)
    return [[start + 4 * i + j for i in range(blocks)] for start in sets for j in range(4)]


def places_in_order(blocks: int) -> list[list[int]]:
    """So that blocks come out one after the other."""
    return [[*range(i, i + blocks)] for i in range(0, LANES, blocks)]


def _quarters(builder: Any, places: list[int], a: ir.Value, b: ir.Value) -> ir.Value:
    """Of each four elements of two vectors, those at `places`, 4 to 7 being the second's."""
    count = a.type.count
    order = [
        p + start if p < 4 else p - 4 + start + count
        for start in range(0, count, 4)
        for p in places
    ]
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, count), order))


def _in_one(builder: Any, parts: list[ir.Value]) -> ir.Value:
    """Vectors as one that is as long as all together."""
    while len(parts) > 1:
        order = ir.Constant(
            ir.VectorType(I32, 2 * parts[0].type.count), list(range(2 * parts[0].type.count))
        )
        parts = [
            builder.shuffle_vector(a, b, order)
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def words_of(builder: Any, registers: list[ir.Value]) -> list[ir.Value]:
    """Four vectors of sixteen words: rows for columns in every four registers."""
    kind = ir.VectorType(I32, 2 * registers[0].type.count)
    found: list[list[ir.Value]] = [[], [], [], []]
    for i in range(0, len(registers), 4):
        a, b, c, d = (builder.bitcast(register, kind) for register in registers[i : i + 4])
        for at, places in ((0, [0, 4, 1, 5]), (2, [2, 6, 3, 7])):
            ab, cd = _quarters(builder, places, a, b), _quarters(builder, places, c, d)
            found[at].append(_quarters(builder, [0, 1, 4, 5], ab, cd))
            found[at + 1].append(_quarters(builder, [2, 3, 6, 7], ab, cd))
    return [_in_one(builder, parts) for parts in found]


def _following(builder: Any, places: list[list[int]], low: ir.Value, high: ir.Value) -> list[Any]:
    """The blocks low, low + 1, ... of the same high half, in registers."""
    pair = ir.Constant(BLOCK, ir.Undefined)
    for i, half in enumerate((low, high)):
        pair = builder.insert_element(pair, half, ir.Constant(I32, i))
    kind = ir.VectorType(I64, 2 * len(places[0]))
    every = ir.Constant(ir.VectorType(I32, kind.count), [0, 1] * len(places[0]))
    first = builder.shuffle_vector(pair, pair, every)
    steps = ([value for place in some for value in (place, 0)] for some in places)
    return [builder.add(first, ir.Constant(kind, step)) for step in steps]


def gathered_blocks(
    builder: Any, places: list[list[int]], lows: ir.Value, highs: ir.Value
) -> list[Any]:
    """Those of any low and high halves."""
    orders = ([at for place in some for at in (place, place + LANES)] for some in places)
    masks = (ir.Constant(ir.VectorType(I32, len(order)), order) for order in map(list, orders))
    return [builder.shuffle_vector(lows, highs, mask) for mask in masks]


def _function(here: Here, batches: int, gathered: bool, in_order: bool) -> ir.Function:
    """void(schedule, low and high halves of each batch, words): one copy, however many callers."""
    way = way_of(here.context)
    name = f"fastnoise.aes.{batches}.{'gathered' if gathered else 'following'}.{in_order}"
    halves = LANES_64 if gathered else I64
    kinds = [I32.as_pointer(), *[halves] * (2 * batches), I32.as_pointer()]

    def write(builder: ir.IRBuilder, *arguments: ir.Value) -> None:
        schedule, *addresses, words = arguments
        schedule, words = Pointer(builder, schedule), Pointer(builder, words)
        blocks, make = way[0], gathered_blocks if gathered else _following
        places = places_in_order(blocks) if in_order else places_of(blocks)
        states = [
            state
            for batch in range(batches)
            for state in make(builder, places, *addresses[2 * batch : 2 * batch + 2])
        ]
        done = encrypted(way, schedule, states)
        for batch in range(batches):
            some = done[batch * len(places) : (batch + 1) * len(places)]
            vectors = some if in_order else words_of(builder, some)
            for i, vector in enumerate(vectors):
                at = BATCH * batch + BATCH // len(vectors) * i
                builder.store(
                    vector, words.of(vector.type, at * 32 // vector.type.element.width), align=4
                )

    return common_function(here, name, kinds, write)


def _written(here: Here, function: ir.Function, *arguments: Any) -> None:
    here.builder.call(function, [getattr(argument, "value", argument) for argument in arguments])


# They write a batch, sixteen blocks, at words[offset:]: BATCH words.


@intrinsic
def batch(here, schedule, low: uint64, high: uint64, words, offset: int64):
    """Of the blocks from `low` on."""
    function = _function(here, 1, False, False)
    _written(here, function, schedule.of(I32), low, high, words.of(I32, offset))


@intrinsic
def two_batches(
    here,
    schedule,
    low: uint64,
    high: uint64,
    next_low: uint64,
    next_high: uint64,
    words,
    offset: int64,
):
    """Two, whose rounds take turns: 0.65 -> 0.49 ns for 8 bytes."""
    halves = low, high, next_low, next_high
    if way_of(here.context)[0] == 4:
        function = _function(here, 2, False, False)
        _written(here, function, schedule.of(I32), *halves, words.of(I32, offset))
        return
    function = _function(here, 1, False, False)  # there are not as many registers
    for i in range(2):
        at = words.of(I32, offset + BATCH * i)
        _written(here, function, schedule.of(I32), *halves[2 * i : 2 * i + 2], at)


def _gathered_intrinsic(in_order: bool) -> Any:
    @intrinsic
    def batch_of(here, schedule, lows, highs, words, offset: int64):
        """Of the blocks that arrays of sixteen halves name."""
        function = _function(here, 1, True, in_order)
        halves = (array.lanes(0, LANES_64) for array in (lows, highs))
        _written(here, function, schedule.of(I32), *halves, words.of(I32, offset))

    return batch_of


batch_of, batch_in_order = (_gathered_intrinsic(in_order) for in_order in (False, True))


@intrinsic
def substituted_word(here, word: uint32) -> uint32:
    """AES's substitution of each byte."""
    builder, (_, encrypt) = here.builder, way_of(here.context)
    if encrypt is encrypted_by_bits:
        ones = here.number(0x01010101, I32)
        bits = substituted([word >> bit & ones for bit in range(8)])
        bytes_ = [(bit & ones) << i for i, bit in enumerate(bits)]
        total = bytes_[0]
        for byte in bytes_[1:]:
            total = total | byte
        return total
    # A last round of four equal columns, which shifted rows leave as they are, and no key.
    columns = word.lanes(ir.VectorType(I32, 4)).value
    nothing = ir.Constant(BLOCK, [0, 0])
    if encrypt is _arm_rounds:
        nothing = ir.Constant(BYTES, [0] * 16)
        name, state = "llvm.aarch64.crypto.aese", builder.bitcast(columns, BYTES)
    else:
        name, state = "llvm.x86.aesni.aesenclast", builder.bitcast(columns, BLOCK)
    done = builder.bitcast(call(builder, name, state.type, state, nothing), columns.type)
    return Number(builder, builder.extract_element(done, ir.Constant(I32, 0)))


@inner
def expanded(key):
    """The schedule of a key of eight words."""
    words, constant = np.empty(SCHEDULE, np.uint32), np.uint32(1)
    for i in range(KEY_WORDS):
        words[i] = key[i]
    for i in range(KEY_WORDS, SCHEDULE):
        word = words[i - 1]
        if i % KEY_WORDS == 0:
            word = substituted_word(word)
            word = word >> np.uint32(8) ^ word << np.uint32(24) ^ constant
            constant <<= np.uint32(1)
        elif i % KEY_WORDS == 4:
            word = substituted_word(word)
        words[i] = words[i - KEY_WORDS] ^ word
    return words
