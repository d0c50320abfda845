"""Words of rows that do not follow each other: blocks of sixteen addresses side by side."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int64

from fastnoise_kernels.aes import encrypted, gathered_blocks, places_of, way_of, words_of
from fastnoise_kernels.intrinsics import Here, common_function, intrinsic
from fastnoise_kernels.lanes import I32, I64, LANES, LANES_64, Lanes, Number
from fastnoise_kernels.layout import BATCH, SHORT
from fastnoise_kernels.pointers import Pointer

GROUP_ARGUMENTS = 4  # ids, tops, index of the block, words


def _function(here: Here, groups: int, short: bool) -> ir.Function:
    """void(schedule, then of each group of sixteen rows: ids, tops, index, words).

    short: rows of two words, of blocks that they share with others.
    """
    way, places = way_of(here.context), places_of(way_of(here.context)[0])
    kinds = [I64.as_pointer(), I32.as_pointer(), I64, I32.as_pointer()]

    def write(builder: ir.IRBuilder, schedule: ir.Value, *given: ir.Value) -> None:
        rows = [given[i : i + GROUP_ARGUMENTS] for i in range(0, len(given), GROUP_ARGUMENTS)]
        lows = [Pointer(builder, ids).lanes(0, LANES_64) for ids, *_ in rows]
        states = [
            state
            for low, (_, tops, index, _) in zip(lows, rows, strict=True)
            for state in gathered_blocks(
                builder,
                places,
                _without_bit_4(low).value if short else low.value,
                _high_halves(builder, tops, index).value,
            )
        ]
        done = encrypted(way, Pointer(builder, schedule), states)
        for i, (low, (*_, words)) in enumerate(zip(lows, rows, strict=True)):
            found = words_of(builder, done[i * len(places) : (i + 1) * len(places)])
            if short:
                upper = (low & 16).equals(16).value
                pairs = zip(found[SHORT:], found[:SHORT], strict=True)
                found = [builder.select(upper, *pair) for pair in pairs]
            for j, word in enumerate(found):
                Pointer(builder, words).put(LANES * j, Lanes(builder, word))

    name = f"fastnoise.aes.scattered.{groups}.{short}"
    return common_function(here, name, [I32.as_pointer(), *kinds * groups], write)


def _without_bit_4(low: Lanes) -> Lanes:
    """`words.shared_low` of sixteen rows."""
    return low >> 5 << 4 | low & 15


def _high_halves(builder: ir.IRBuilder, tops: ir.Value, index: ir.Value) -> Lanes:
    """`words.block_place` of sixteen rows."""
    return Pointer(builder, tops).lanes().widened() | Number(builder, index) << 32


def _tops_or_zeros(here: Here, tops: Pointer, at: Number) -> ir.Value:
    """An array that is empty has only zeros."""
    name, kind, builder = "fastnoise.zeros", ir.ArrayType(I32, LANES), here.builder
    if name not in builder.module.globals:
        zeros = ir.GlobalVariable(builder.module, kind, name)
        zeros.linkage, zeros.global_constant = "internal", True
        zeros.initializer = ir.Constant(kind, [0] * LANES)
    zeros = builder.bitcast(builder.module.globals[name], I32.as_pointer())
    return builder.select(tops.size.equals(0).value, zeros, tops.of(I32, at))


def _intrinsic(short: bool) -> Any:
    @intrinsic
    def scattered_batch(here, schedule, ids, tops, at: int64, index: int64, words, to: int64):
        """A batch, at words[to:], of sixteen rows from ids[at] on: block `index` of each.

        Short rows: two words of sixteen rows, half a batch.
        """
        group = ids.of(I64, at), _tops_or_zeros(here, tops, at), index.value, words.of(I32, to)
        here.builder.call(_function(here, 1, short), [schedule.of(I32), *group])

    return scattered_batch


def _pair_intrinsic(short: bool) -> Any:
    @intrinsic
    def two_scattered_batches(
        here,
        schedule,
        ids,
        tops,
        at: int64,
        index: int64,
        next_at: int64,
        next_index: int64,
        words,
        to: int64,
    ):
        """Two, one after the other in `words`, whose rounds take turns."""
        size = BATCH // 2 if short else BATCH
        groups = [
            (ids.of(I64, a), _tops_or_zeros(here, tops, a), i.value, words.of(I32, to + shift))
            for a, i, shift in ((at, index, 0), (next_at, next_index, size))
        ]
        if way_of(here.context)[0] == 4:
            both = [argument for group in groups for argument in group]
            here.builder.call(_function(here, 2, short), [schedule.of(I32), *both])
            return
        for group in groups:  # there are not as many registers
            here.builder.call(_function(here, 1, short), [schedule.of(I32), *group])

    return two_scattered_batches


scattered_batch, scattered_short_rows = _intrinsic(False), _intrinsic(True)
two_scattered_batches, two_scattered_short_rows = _pair_intrinsic(False), _pair_intrinsic(True)
