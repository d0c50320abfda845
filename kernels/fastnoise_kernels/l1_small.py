"""Uniform points of small l1 balls of integers, |n_1| + .. + |n_d| <= N.

C(d, j) C(N, j) 2**j of them have j numbers that are not 0: the law has thresholds for j, by layer.
Then j different integers below N, in order, leave gaps, which are the sizes; j of d places are
where they go; and each coordinate has a bit that is its sign.
"""

import numpy as np

from fastnoise_kernels.alias import OUT_OF_WORDS
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layers import ONE, bounded
from fastnoise_kernels.layout import COUNT_THRESHOLDS, DIM

WORD_BITS = 64


@inner
def draw_small_ball(law, layer, most, words, used, noise):
    """The noise of a row on a small layer, N + d = most; how many words were used.

    NaN if 64 bits leave open how many are not 0.
    """
    dim = np.int64(law[DIM])
    sign_words = (dim + WORD_BITS - 1) // WORD_BITS
    if used + 1 + sign_words > len(words):
        return OUT_OF_WORDS
    count, signs = nonzero_count(law, layer, words[used]), used + 1
    for i in range(dim):
        noise[i] = np.nan if count < 0 else 0.0
    if count <= 0:
        return signs
    ends, places = np.empty(count, np.int64), np.empty(count, np.int64)
    used = choose(most - law[DIM], ends, words, signs + sign_words)
    if used != OUT_OF_WORDS:
        used = choose(law[DIM], places, words, used)
    before = np.int64(-1)
    for i in range(count if used != OUT_OF_WORDS else 0):
        size, before = ends[i] - before, ends[i]
        noise[places[i]] = np.float64(-size if is_set(words[signs:], places[i]) else size)
    return used


@inner
def nonzero_count(law, layer, word):
    """How many thresholds of the layer are below the word; -1 if the next one equals it."""
    start = np.int64(law[COUNT_THRESHOLDS] + law[DIM] * layer)
    low, high = start, start + np.int64(law[DIM])
    end = high
    while low < high:
        middle = (low + high) // 2
        if law[middle] < word:
            low = middle + 1
        else:
            high = middle
    return np.int64(-1) if low < end and law[low] == word else low - start


@inner
def choose(size, chosen, words, used):
    """A uniform set of integers below `size`, in order; how many words were used.

    Floyd's way (Bentley, CACM 30, 1987): an integer that is there already stands for the largest
    that may be, which is not.
    """
    count, taken = len(chosen), np.zeros(np.int64(size) // WORD_BITS + 1, np.uint64)
    for i in range(count):
        if used == len(words):
            return OUT_OF_WORDS
        last = size - np.uint64(count - i)
        value, used = bounded(last + ONE, words[used], words, used + 1)
        if used == OUT_OF_WORDS:
            return used
        if is_set(taken, np.int64(value)):
            value = last
        chosen[i] = np.int64(value)
        taken[chosen[i] // WORD_BITS] |= ONE << np.uint64(chosen[i] % WORD_BITS)
    chosen.sort()
    return used


@inner
def is_set(words, bit):
    return words[bit // WORD_BITS] >> np.uint64(bit % WORD_BITS) & ONE != 0
