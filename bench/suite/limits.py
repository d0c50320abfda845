"""What no kernel can beat, on as many threads: a pass over the data, and the keystream."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from fastnoise_kernels.aes import expanded
from fastnoise_kernels.ahead import nothing_ahead
from fastnoise_kernels.layout import BATCH
from fastnoise_kernels.release import TILE
from fastnoise_kernels.words import fill_words, keystream, words_room

KEY = np.zeros(8, np.uint32)


def set_threads(threads: int) -> None:
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


@numba.njit(parallel=True)
def add_one(x, y):
    for i in numba.prange(x.size):
        y[i] = x[i] + 1


class Pass:
    """Data plus a constant, into an existing array: np.add, or the same on several threads."""

    def __init__(self, x: Any, y: Any, threads: int) -> None:
        self.x, self.y, self.threads = x.reshape(-1), y.reshape(-1), threads

    def __call__(self) -> None:
        if self.threads == 1:
            np.add(self.x, self.x.dtype.type(1), out=self.y)
        else:
            add_one(self.x, self.y)


@numba.njit(parallel=True, fastmath=True)
def total(x):
    found = 0.0
    for i in numba.prange(x.size):
        found += x[i]
    return found


class Read:
    """A pass that reads all data, on as many threads as numba has."""

    def __init__(self, x: Any) -> None:
        self.x = x.reshape(-1)

    def __call__(self) -> None:
        total(self.x)


class Keystream:
    """AES-256 into existing memory, on as many threads as numba has."""

    def __init__(self, words: int) -> None:
        self.words = np.zeros(max(BATCH, words // BATCH * BATCH), np.uint32)

    def __call__(self) -> None:
        batches = self.words.size // BATCH
        keystream(batches, KEY, np.uint64(0), self.words, grain=BATCH)


@numba.njit(parallel=True)
def fill_tiles(tiles, tasks):
    """The words of so many tiles of rows of 64 bits, one after the other into the same memory."""
    seen, schedule = 0, expanded(KEY)
    for task in numba.prange(tasks):
        words, ahead = np.empty(words_room(TILE, 2), np.uint32), nothing_ahead()
        for tile in range(tiles * task // tasks, tiles * (task + 1) // tasks):
            fill_words(schedule, TILE * tile, TILE, 2, words, ahead)
        seen += words[0]
    return seen


class Words:
    """The keystream as kernels use it, in the first-level cache."""

    def __init__(self, size: int) -> None:
        self.tiles = max(1, size // (8 * TILE))
        self.bytes = 8 * TILE * self.tiles

    def __call__(self) -> None:
        fill_tiles(self.tiles, min(self.tiles, 4 * numba.get_num_threads()))
