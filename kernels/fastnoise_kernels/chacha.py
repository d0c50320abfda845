"""ChaCha20 (RFC 8439's rounds, Bernstein's 64-bit counter) and how rows map to its blocks.

Sixteen blocks are computed side by side, one in each lane, so a batch leaves the processor as 16
vectors: state word 0 of sixteen blocks, then state word 1, and so on. Rows are numbered so that
this is already their order in memory: sixteen rows that follow each other, a group, take the
vectors that follow each other. With w 32-bit words per row:

    epoch  = row // 2**40          the nonce
    group  = row % 2**40 // 16
    lane   = row % 16
    vector = w * group + i         holds word i of the row
    block  = vector // 16 * 16 + lane, state word vector % 16

A row's words are a pure function of (key, row); the words of rejected or extended draws come from
block `row` under a nonce of its own, so one row never shifts another. An epoch keeps the block
counter within 64 bits however many words a row has.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from llvmlite import ir
from numba import int64

from fastnoise_kernels.ahead import fetch_with_batches
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.lanes import I32, LANES, LANES_32, LANES_64, Lanes, Number, loop
from fastnoise_kernels.layout import BATCH, EPOCH_BITS, EXTRA_NONCE, REFINING_NONCE
from fastnoise_kernels.memory import copy
from fastnoise_kernels.pointers import Pointer
from fastnoise_kernels.shuffles import transposed

EPOCH_GROUPS = 1 << (EPOCH_BITS - 4)
CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)  # "expand 32-byte k"
COLUMNS = [(i, i + 4, i + 8, i + 12) for i in range(4)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def _quarter_rounds(states: list[list[Lanes]], quarters: list[tuple[int, int, int, int]]) -> None:
    """Four quarter rounds of each state, step by step in turn so that their latencies overlap."""
    for rotation in (16, 12, 8, 7):
        for state in states:
            for a, b, c, d in quarters:
                total, added, turned = (a, b, d) if rotation in (16, 8) else (c, d, b)
                state[total] = state[total] + state[added]
                state[turned] = (state[turned] ^ state[total]).rotated(rotation)


def _twenty_rounds(initial: list[list[Lanes]]) -> list[list[Lanes]]:
    """Ten double rounds as a loop in the emitted code: unrolled they compile ten times slower."""

    def double_round(_: Number, words: list[Lanes]) -> list[Lanes]:
        states = _in_states(words)
        _quarter_rounds(states, COLUMNS)
        _quarter_rounds(states, DIAGONALS)
        return [*chain(*states)]

    return _in_states(loop(10, [*chain(*initial)], double_round))


def _in_states(words: list[Lanes]) -> list[list[Lanes]]:
    return [words[i : i + 16] for i in range(0, len(words), 16)]


def _blocks_function(module: ir.Module, batches: int, block_by_block: bool) -> ir.Function:
    """void(key, sixteen counters and nonces, words): one compiled copy, however many callers."""
    name = f"fastnoise.chacha20.{batches}.{'block_by_block' if block_by_block else 'word_by_word'}"
    if name in module.globals:
        return module.globals[name]
    pointer = I32.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, LANES_64, LANES_64, pointer])
    function = ir.Function(module, kind, name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    # In the order that LLVM chooses for Zen 4, all rotations come together, and half of the units
    # have nothing to do: 1.28 -> 1.22 ns for 8 bytes. Set as `memory.wide_vectors` sets its own.
    set.add(function.attributes, '"tune-cpu"="generic"')
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    key, words = (Pointer(builder, function.args[i]) for i in (0, 3))
    counters, nonces = (Lanes(builder, value) for value in function.args[1:3])

    def initial(batch: int) -> Iterator[Lanes]:
        for constant in CONSTANTS:
            yield Lanes(builder, ir.Constant(LANES_32, [constant] * LANES))
        for i in range(8):
            yield key[i].lanes(LANES_32)
        for wide in (counters + LANES * batch, nonces):
            yield wide.narrowed()
            yield (wide >> 32).narrowed()

    mixed = _twenty_rounds([list(initial(batch)) for batch in range(batches)])
    for batch, state in enumerate(mixed):
        # Read again word by word between the stores: registers are for what is mixed.
        finished = (start + end for start, end in zip(initial(batch), state, strict=True))
        vectors = transposed(list(finished)) if block_by_block else finished
        for i, vector in enumerate(vectors):
            words.put(BATCH * batch + LANES * i, vector)
    builder.ret_void()
    return function


def _blocks_intrinsic(batches: int = 1, block_by_block: bool = False) -> Any:
    @intrinsic
    def blocks(here, key, counters, nonces, words, offset: int64):
        builder = here.builder
        if isinstance(counters, Pointer):
            counter, nonce = counters.lanes(0, LANES_64), nonces.lanes(0, LANES_64)
        else:
            following = Lanes(builder, ir.Constant(LANES_64, list(range(LANES))))
            counter, nonce = following + counters, nonces.lanes(LANES_64)
        # Two states are 32 vectors: as many as AVX-512 has registers, and others have not.
        together = batches if here.has_avx512 else 1
        function = _blocks_function(builder.module, together, block_by_block)
        for batch in range(0, batches, together):
            to = words.of(I32, offset + BATCH * batch)
            values = (counter + LANES * batch).value, nonce.value
            builder.call(function, [key.of(I32), *values, to])

    return blocks


# They write a batch, 256 words, at words[offset:]. `counters` and `nonces` are numbers, of
# consecutive blocks, or arrays of sixteen. First word 0 of the sixteen blocks, then word 1, ...; or
# block after block; or two batches that follow each other, whose latencies overlap: 1.40 -> 1.28 ns
# for 8 bytes.
sixteen_blocks = _blocks_intrinsic()
sixteen_blocks_in_order = _blocks_intrinsic(block_by_block=True)
two_batches = _blocks_intrinsic(batches=2)


@inner
def words_room(rows, width):
    """How many words `fill_words` may write."""
    return ((rows + 30) // 16 * width + 30) // 16 * BATCH


@inner
def fill_words(key, first, n, width, words, ahead):
    """The words of rows first .. first + n - 1, `width` 32-bit words each, in groups of 16 rows.

    Starts with the whole batch that holds `first`; returns where its group begins in `words`.
    ahead: what is fetched meanwhile (`ahead.look_ahead`).
    """
    epoch, group = first >> EPOCH_BITS, (first & ((1 << EPOCH_BITS) - 1)) >> 4
    batch, skipped = group * width // 16, group * width % 16
    groups = (first % 16 + n + 15) // 16
    batches, last = (skipped + groups * width + 15) // 16, EPOCH_GROUPS // 16 * width
    done = 0
    while done < batches:
        if batch == last:
            epoch, batch = epoch + 1, 0
        some = min(2, batches - done, last - batch)
        counter, nonce = np.uint64(16 * batch), np.uint64(epoch)
        if some == 2:
            two_batches(key, counter, nonce, words, done * BATCH)
        else:
            sixteen_blocks(key, counter, nonce, words, done * BATCH)
        fetch_with_batches(ahead, done, some)
        batch, done = batch + some, done + some
    return 16 * skipped


@inner
def fill_words_of(key, ids, width, words):
    """The words of the rows `ids`, in the same groups of 16."""
    counters, nonces = np.zeros(16, np.uint64), np.zeros(16, np.uint64)
    skipped = np.zeros(16, np.int64)
    block = np.empty(BATCH, np.uint32)
    for start in range(0, len(ids), 16):
        some = ids[start : start + 16]
        for lane in range(len(some)):
            vector = ((some[lane] & ((1 << EPOCH_BITS) - 1)) >> 4) * width
            nonces[lane], skipped[lane] = np.uint64(some[lane] >> EPOCH_BITS), vector % 16
            counters[lane] = np.uint64(vector - vector % 16 + some[lane] % 16)
        for batch in range((width + 29) // 16):
            sixteen_blocks(key, counters, nonces, block, 0)
            for lane in range(len(some)):
                counters[lane] += np.uint64(16)
                before = 16 * batch - skipped[lane]
                for i in range(max(0, before), min(width, before + 16)):
                    words[start * width + i * 16 + lane] = block[(i - before) * 16 + lane]


@inner
def put_half(words, i, half):
    """32-bit word i of 64-bit ones, which are put one after the other."""
    wide = np.uint64(half)
    words[i // 2] = wide if i % 2 == 0 else words[i // 2] | wide << np.uint64(32)


@inner
def row_words(key, row, width, words):
    """Row `row` alone: its own words, then as many extra ones as `words` (64-bit) has room for.

    Of an odd number of own 32-bit words the last is the lower half of a 64-bit one.
    """
    vector = ((row & ((1 << EPOCH_BITS) - 1)) >> 4) * width
    counters, nonces = np.empty(16, np.uint64), np.empty(16, np.uint64)
    nonces[:] = np.uint64(row >> EPOCH_BITS)
    counters[:] = np.uint64(vector - vector % 16 + row % 16)
    for lane in range(16):
        counters[lane] += np.uint64(16 * lane)
    block = np.empty(BATCH, np.uint32)
    for i in range(width):
        place = (vector % 16 + i) % BATCH
        if i == 0 or place == 0:
            sixteen_blocks(key, counters, nonces, block, 0)
            counters += np.uint64(256)
        put_half(words, i, block[16 * (place % 16) + place // 16])
    extra_words(key, row, words[(width + 1) // 2 :])


@inner
def extra_blocks(key, row, start, block):
    """Sixteen extra blocks of a row, from the `start`-th on, word by word."""
    counters, nonces = np.empty(16, np.uint64), np.empty(16, np.uint64)
    counters[:] = np.uint64(row)
    for lane in range(16):
        nonces[lane] = np.uint64(EXTRA_NONCE + start + lane)
    sixteen_blocks(key, counters, nonces, block, 0)


@inner
def extra_words(key, row, words):
    """The words of a row beyond its own: of its extra blocks, one after the other."""
    block = np.empty(BATCH, np.uint32)
    for i in range(len(words)):
        place = i % (BATCH // 2)
        if place == 0:
            extra_blocks(key, row, i // 8, block)
        lane, at = place // 8, 32 * (place % 8)
        low, high = block[at + lane], block[at + 16 + lane]
        words[i] = np.uint64(low) | np.uint64(high) << np.uint64(32)


@inner
def refining_words(key, row, numbers):
    """For each of up to sixteen uniform numbers of a row: the first word that makes it longer."""
    counters, nonces = np.empty(16, np.uint64), np.zeros(16, np.uint64)
    counters[:] = np.uint64(row)
    for lane in range(len(numbers)):
        nonces[lane] = np.uint64(REFINING_NONCE) + np.uint64(numbers[lane])
    block = np.empty(BATCH, np.uint32)
    sixteen_blocks(key, counters, nonces, block, 0)
    return block[:16].astype(np.uint64) | block[16:32].astype(np.uint64) << np.uint64(32)


@kernel
def keystream(start, stop, key, first, out):
    """Raw ChaCha20 in standard order; a row is a batch of sixteen blocks, the first `first`."""
    for batch in range(start, stop):
        counter = first + np.uint64(batch) * np.uint64(16)
        sixteen_blocks_in_order(key, counter, np.uint64(0), out, batch * BATCH)
    return 0


@kernel
def single_blocks(start, stop, key, counters, nonces, out):
    """One block for each counter and nonce."""
    counter, nonce = np.zeros(16, np.uint64), np.zeros(16, np.uint64)
    block = np.empty(BATCH, np.uint32)
    for first in range(start, stop, 16):
        count = min(16, stop - first)
        copy(counters[first : first + count], counter)
        copy(nonces[first : first + count], nonce)
        sixteen_blocks(key, counter, nonce, block, 0)
        for i in range(16 * count):
            out[16 * first + i] = block[16 * (i % 16) + i // 16]
    return 0
