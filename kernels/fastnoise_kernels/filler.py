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
from fastnoise_kernels.chacha import fill_words, fill_words_of, words_room
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inlined, named_after
from fastnoise_kernels.lanes import Number
from fastnoise_kernels.layout import WIDTH


class Tile(NamedTuple):
    """The rows that a filler is asked for, and what it may use.

    It fills whole groups of sixteen rows: `lead` others precede the first row that is asked for.
    What takes a tile is `inlined`: a call would count references to its arrays, 0.1 ns per row.
    """

    key: Any  # 8 words
    law: Any
    first: int  # the first row, or -1: the rows are `ids`
    ids: Any
    lead: int
    n: int  # rows that are asked for
    words: Any  # those of all groups, 32 bits each
    room: Any  # for whatever else, in 64-bit words
    ahead: Any  # see `ahead`
    noise: Any  # to be filled


@inlined
def rows_before(first):
    """How many rows of its group precede row `first`; 0 if the rows are ids."""
    return max(first, 0) % 16


@inlined
def marked_row(marks, at, tile):
    """The row at place `at`, if the mask of its group marks it and it is asked for; else -1."""
    if marks >> np.uint32(at % 16) & np.uint32(1) == 0 or not tile.lead <= at < tile.lead + tile.n:
        return np.int64(-1)
    return row_at(at, tile)


@inlined
def row_at(at, tile):
    return tile.ids[at] if tile.first < 0 else tile.first - tile.lead + at


@inlined
def tile_of(key, law, first, ids, n, ahead, scratch, noise):
    """With the words of its rows, which are at the start of `scratch`."""
    width = np.int64(law[WIDTH])
    used = words_room(n, width) // 2
    words, start = scratch[:used].view(np.uint32), 0
    if first < 0:
        fill_words_of(key, ids, width, words)
    else:
        start = fill_words(key, first, n, width, words, ahead)
    lead, room = rows_before(first), scratch[used:]
    return Tile(key, law, first, ids, lead, n, words[start:], room, ahead, noise)


class Filler:
    """A compiled tile filler; `address` compiles it, or loads it from the cache.

    The function gets a `Tile`, and returns whether there is noise that its loop must look at one by
    one: some that is undecided or, of integers, has more than 53 bits.
    """

    def __init__(self, noise: Any, function: Callable[..., Any]) -> None:
        key, law, ids, ahead, scratch = map(types.CPointer, (uint32, uint64, int64, int64, uint64))
        arguments = key, law, int64, int64, ids, int64, ahead, scratch, int64
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
    def entry(key, law, law_size, first, ids, n, ahead, scratch, room, noise, size):
        key, law, ids = carray(key, 8), carray(law, law_size), carray(ids, n)
        ahead, scratch, noise = carray(ahead, SLOTS), carray(scratch, room), carray(noise, size)
        return fill(tile_of(key, law, first, ids, n, ahead, scratch, noise))

    return entry


@intrinsic
def call_filler(
    here, address: int64, key, law, first: int64, ids, n: int64, ahead, scratch, noise
) -> int64:
    """Call the filler at `address` on arrays: not 0 if some noise must be looked at one by one."""
    passed = [key, law, law.size, first, ids, n, ahead, scratch, scratch.size, noise, noise.size]
    values = [argument.value for argument in passed]
    kind = ir.FunctionType(ir.IntType(64), [value.type for value in values])
    function = here.builder.inttoptr(address.value, kind.as_pointer())
    return Number(here.builder, here.builder.call(function, values))
