"""Fillers: functions that fill a tile with the integer noise of a law.

A loop calls its filler through an address, once per tile, so that laws and dtypes compile
separately: their sum, not their product.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import carray, int64, types, uint32, uint64
from numba.core.ccallback import CFunc

from fastnoise_kernels.ahead import SLOTS
from fastnoise_kernels.cache import kernel_cache
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inlined, named_after
from fastnoise_kernels.lanes import Number
from fastnoise_kernels.layout import SCHEDULE, WIDTH
from fastnoise_kernels.words import fill_words, fill_words_of, words_room, words_stored


class Tile(NamedTuple):
    """The rows that a filler is asked for, and what it may use.

    It fills whole groups of sixteen rows: `lead` others precede the first row that is asked for.
    What takes a tile is `inlined`: a call would count references to its arrays, 0.1 ns per row.
    """

    schedule: Any  # of the key (`aes`)
    law: Any
    first: int  # the first row, or -1: the rows are `ids`
    ids: Any  # 64 bits of their addresses;
    tops: Any  # the upper 32 bits, or nothing if all of them are 0
    lead: int
    n: int  # rows that are asked for
    words: Any  # those of all groups, 32 bits each, `stored` of them per row
    stored: int
    room: Any  # for whatever else, in 64-bit words
    ahead: Any  # see `ahead`
    noise: Any  # to be filled


@inlined
def rows_before(first):
    """How many rows of its group precede row `first`; 0 if the rows are ids."""
    return max(first, 0) % 16


@inlined
def is_marked(marks, at, tile):
    """Whether the mask of its group marks the row at place `at`, and it is asked for."""
    marked = marks >> np.uint32(at % 16) & np.uint32(1) != 0
    return marked and tile.lead <= at < tile.lead + tile.n


@inlined
def address_at(at, tile):
    """The address of a row: its lower 64 bits, and the upper 32."""
    if tile.first >= 0:
        return np.uint64(tile.first - tile.lead + at), np.uint64(0)
    return np.uint64(tile.ids[at]), np.uint64(tile.tops[at] if len(tile.tops) > 0 else 0)


@inlined
def tile_of(schedule, law, first, ids, tops, n, ahead, scratch, noise):
    """With the words of its rows, which are at the start of `scratch`."""
    width = np.int64(law[WIDTH])
    used = words_room(n, width) // 2
    words, start = scratch[:used].view(np.uint32), 0
    if first < 0:
        fill_words_of(schedule, ids, tops, width, words)
    else:
        start = fill_words(schedule, first, n, width, words, ahead)
    lead, room, stored = rows_before(first), scratch[used:], words_stored(width)
    return Tile(schedule, law, first, ids, tops, lead, n, words[start:], stored, room, ahead, noise)


class Filler:
    """A compiled tile filler; `address` compiles it, or loads it from the cache.

    The function gets a `Tile`, and returns whether there is noise that its loop must look at one by
    one: some that is undecided or, of integers, has more than 53 bits.
    """

    def __init__(self, noise: Any, function: Callable[..., Any]) -> None:
        schedule, law, ids, tops = map(types.CPointer, (uint32, uint64, int64, uint32))
        ahead, scratch = map(types.CPointer, (int64, uint64))
        arguments = schedule, law, int64, int64, ids, tops, int64, int64, ahead, scratch, int64
        self.signature = (*arguments, types.CPointer(noise), int64), int64  # see `call_filler`
        self.function = function

    @cached_property
    def address(self) -> int:
        entry = named_after(self.function, "entry", _entry(inlined(self.function)))
        compiled = CFunc(entry, self.signature, {}, {"error_model": "numpy"})
        compiled._cache = kernel_cache(self.function)
        compiled.compile()
        self._keep_alive = compiled
        return int(compiled.address)


filler = partial(Filler, int64)  # noise of scalars: integers
vector_filler = partial(Filler, types.float64)  # of vectors: see `vectors`


def _entry(fill: Any) -> Callable[..., Any]:
    def entry(
        schedule, law, law_size, first, ids, tops, high, n, ahead, scratch, room, noise, size
    ):
        schedule, law = carray(schedule, SCHEDULE), carray(law, law_size)
        ids, tops = carray(ids, n), carray(tops, high)
        ahead, scratch, noise = carray(ahead, SLOTS), carray(scratch, room), carray(noise, size)
        return fill(tile_of(schedule, law, first, ids, tops, n, ahead, scratch, noise))

    return entry


@intrinsic
def call_filler(
    here, address: int64, schedule, law, first: int64, ids, tops, n: int64, ahead, scratch, noise
) -> int64:
    """Call the filler at `address` on arrays: not 0 if some noise must be looked at one by one."""
    passed = [schedule, law, law.size, first, ids, tops, tops.size, n, ahead]
    passed += [scratch, scratch.size, noise, noise.size]
    values = [argument.value for argument in passed]
    kind = ir.FunctionType(ir.IntType(64), [value.type for value in values])
    function = here.builder.inttoptr(address.value, kind.as_pointer())
    return Number(here.builder, here.builder.call(function, values))
