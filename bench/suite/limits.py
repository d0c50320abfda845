"""What no kernel can beat, on as many threads: a pass over the data, and the keystream."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from fastnoise_kernels.chacha import BATCH, keystream

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


class Keystream:
    """ChaCha20 into existing memory, on as many threads as numba has."""

    def __init__(self, words: int) -> None:
        self.words = np.zeros(max(BATCH, words // BATCH * BATCH), np.uint32)

    def __call__(self) -> None:
        batches = self.words.size // BATCH
        keystream(batches, KEY, np.uint64(0), self.words, grain=BATCH)
