"""What no kernel can beat, on as many threads: a pass over the data, and the keystream."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from fastnoise_kernels.chacha import BATCH, keystream

KEY = np.zeros(8, np.uint32)


def set_threads(threads: int) -> None:
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


class Pass:
    """np.add of a constant into an existing array, a part of it on each thread."""

    def __init__(self, x: Any, y: Any, threads: int) -> None:
        parts = (np.array_split(array.reshape(-1), threads) for array in (x, y))
        self.parts = list(zip(*parts, strict=True))
        self.pool = ThreadPoolExecutor(threads)

    def __call__(self) -> None:
        if len(self.parts) == 1:
            self._add(self.parts[0])
        else:
            list(self.pool.map(self._add, self.parts))

    @staticmethod
    def _add(part: Any) -> None:
        x, y = part
        np.add(x, x.dtype.type(1), out=y)


class Keystream:
    """ChaCha20 into existing memory, on as many threads as numba has."""

    def __init__(self, words: int) -> None:
        self.words = np.zeros(max(BATCH, words // BATCH * BATCH), np.uint32)

    def __call__(self) -> None:
        batches = self.words.size // BATCH
        keystream(batches, KEY, np.uint64(0), self.words, grain=BATCH)
