"""ChaCha20 (RFC 8439's rounds, Bernstein's 64-bit counter) and how rows map to its blocks.

Sixteen blocks are computed side by side, one in each lane, so a batch leaves the processor as 16
vectors: state word 0 of sixteen blocks, then state word 1, and so on. Rows are numbered so that
this is already their order in memory and nothing needs transposing. With w 32-bit words a row:

    batch = row // (256 // w)     sixteen blocks, with counters 16 * batch + lane
    group = row // 16 % (16 // w)
    lane  = row % 16
    the row's words = state words w * group .. w * group + w - 1 of block 16 * batch + lane

A row's words are a pure function of (key, row); the words of rejected or extended draws come from
block `row` under a nonce of its own, so one row never shifts another.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.jit import inner, kernel
from fastnoise_kernels.layout import EXTRA_NONCE

BATCH = 256  # 32-bit words that sixteen blocks hold
CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)  # "expand 32-byte k"
COLUMNS = [(i, i + 4, i + 8, i + 12) for i in range(4)]
DIAGONALS = [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def _quarter_rounds(state: list[lanes.Lanes], quarters: list[tuple[int, int, int, int]]) -> None:
    """Four quarter rounds, step by step in turn so that their latencies overlap."""
    for rotation in (16, 12, 8, 7):
        for a, b, c, d in quarters:
            total, added, turned = (a, b, d) if rotation in (16, 8) else (c, d, b)
            state[total] = state[total] + state[added]
            state[turned] = (state[turned] ^ state[total]).rotated(rotation)


def _twenty_rounds(builder: ir.IRBuilder, initial: list[lanes.Lanes]) -> list[lanes.Lanes]:
    """Ten double rounds as a loop in the emitted code: unrolled they compile ten times slower."""
    before = builder.block
    rounds = builder.append_basic_block("rounds")
    after = builder.append_basic_block("after")
    builder.branch(rounds)
    builder.position_at_end(rounds)
    count = builder.phi(lanes.I32)
    count.add_incoming(ir.Constant(lanes.I32, 0), before)
    carried = [builder.phi(lanes.LANES_32) for _ in initial]
    for phi, start in zip(carried, initial, strict=True):
        phi.add_incoming(start.value, before)
    state = [lanes.Lanes(builder, phi) for phi in carried]
    _quarter_rounds(state, COLUMNS)
    _quarter_rounds(state, DIAGONALS)
    following = builder.add(count, ir.Constant(lanes.I32, 1))
    count.add_incoming(following, rounds)
    for phi, end in zip(carried, state, strict=True):
        phi.add_incoming(end.value, rounds)
    again = builder.icmp_unsigned("<", following, ir.Constant(lanes.I32, 10))
    builder.cbranch(again, rounds, after)
    builder.position_at_end(after)
    return state


def _blocks_function(module: ir.Module, block_by_block: bool) -> ir.Function:
    """void(key, sixteen counters, nonce, words): one compiled copy, however many callers inline."""
    name = f"fastnoise.chacha20.{'block_by_block' if block_by_block else 'word_by_word'}"
    if name in module.globals:
        return module.globals[name]
    pointer = lanes.I32.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, lanes.LANES_64, lanes.I64, pointer])
    function = ir.Function(module, kind, name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    key, counters, nonce, words = function.args
    state = [lanes.broadcast(builder, c, lanes.LANES_32) for c in CONSTANTS]
    for i in range(8):
        word = builder.load(lanes.pointer(builder, key, i, lanes.I32))
        state.append(lanes.broadcast(builder, word, lanes.LANES_32))
    for wide in (lanes.Lanes(builder, counters), lanes.broadcast(builder, nonce, lanes.LANES_64)):
        state += [wide.narrowed(), (wide >> 32).narrowed()]
    mixed = zip(state, _twenty_rounds(builder, state), strict=True)
    finished = [start + end for start, end in mixed]
    for i, vector in enumerate(lanes.transposed(finished) if block_by_block else finished):
        lanes.store(vector, words, lanes.LANES * i)
    builder.ret_void()
    return function


def _blocks_intrinsic(block_by_block: bool) -> Any:
    @intrinsic
    def sixteen_blocks(typing, key, counters, nonce, words, offset):
        consecutive = not isinstance(counters, types.Array)

        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            if consecutive:
                counter = lanes.counting(builder) + arguments[1]
            else:
                counter = lanes.load(builder, data(1), 0, lanes.LANES_64)
            where = lanes.pointer(builder, data(3), arguments[4], lanes.I32)
            key_at = builder.bitcast(data(0), lanes.I32.as_pointer())
            blocks = _blocks_function(builder.module, block_by_block)
            builder.call(blocks, [key_at, counter.value, arguments[2], where])
            return context.get_dummy_value()

        counter_type = types.uint64 if consecutive else counters
        return types.void(key, counter_type, types.uint64, words, types.int64), codegen

    return sixteen_blocks


# Both write 256 words at words[offset:]. `counters` is one number, for consecutive blocks, or an
# array of sixteen. First word 0 of the sixteen blocks, then word 1, ...; or block after block.
sixteen_blocks = _blocks_intrinsic(block_by_block=False)
sixteen_blocks_in_order = _blocks_intrinsic(block_by_block=True)


@inner
def fill_words(key, first, n, width, words):
    """The words of rows first .. first + n - 1, `width` 32-bit words each, in groups of 16 rows.

    Starts with the whole batch that holds `first`; returns how many rows precede it there.
    """
    rows = BATCH // width
    batch = first // rows
    lead = first - batch * rows
    for i in range((lead + n + rows - 1) // rows):
        sixteen_blocks(key, np.uint64(batch + i) * np.uint64(16), np.uint64(0), words, i * BATCH)
    return lead


@inner
def fill_words_of(key, ids, width, words):
    """The words of the rows `ids`, in the same groups of 16: one block a row."""
    rows = BATCH // width
    counters = np.zeros(16, np.uint64)
    block = np.empty(BATCH, np.uint32)
    for start in range(0, len(ids), 16):
        some = ids[start : start + 16]
        for lane in range(len(some)):
            counters[lane] = np.uint64(some[lane] // rows * 16 + some[lane] % 16)
        sixteen_blocks(key, counters, np.uint64(0), block, 0)
        for lane in range(len(some)):
            group = some[lane] // 16 % (16 // width)
            for i in range(width):
                words[start * width + i * 16 + lane] = block[(group * width + i) * 16 + lane]


@inner
def row_words(key, row, width, words):
    """Row `row` alone: its own words, then as many extra ones as `words` (64-bit) has room for."""
    own = width // 2
    counters = np.empty(16, np.uint64)
    block = np.empty(BATCH, np.uint32)
    counters[:] = np.uint64(row // (BATCH // width) * 16 + row % 16)
    nonce, start, word = np.uint64(0), 0, row // 16 % (16 // width) * own
    while start < len(words):
        sixteen_blocks(key, counters, nonce, block, 0)
        n = min(8 if nonce else own, len(words) - start)
        for i in range(n):
            low, high = block[32 * (word + i)], block[32 * (word + i) + 16]
            words[start + i] = np.uint64(low) | np.uint64(high) << np.uint64(32)
        start += n
        word = 0
        nonce = nonce + np.uint64(1) if nonce else np.uint64(EXTRA_NONCE)
        counters[:] = np.uint64(row)


@kernel
def keystream(start, stop, key, first, out):
    """Raw ChaCha20 in standard order; a row is a batch of sixteen blocks, the first `first`."""
    for batch in range(start, stop):
        counter = first + np.uint64(batch) * np.uint64(16)
        sixteen_blocks_in_order(key, counter, np.uint64(0), out, batch * BATCH)
    return 0
