"""Whether an address appears twice: in kernels, and the slow way where numba does not compile."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import compiles, kernels, read_only

Ids = npt.NDArray[np.int64]
Tops = npt.NDArray[np.uint32]
NO_TOPS = read_only(np.empty(0, np.uint32))

FEW = 1 << 16  # addresses that one thread is given at least
MOST_BITMAPS = 4
DENSE = 8  # bits per id, in each of the bitmaps; they may take as much memory as 4 bytes per id
MOST_BITS = 1 << 28  # beyond, a bit comes from memory and takes as long as the other way
PIECE = 1 << 13  # addresses, whose table stays in the second-level cache
MOST_PIECE_BITS = 12  # more pieces than a cache has room for lines that are written to


def ascend(ids: Ids) -> bool:
    """Whether each is above the one before it."""
    if not compiles():
        return bool(np.all(ids[1:] > ids[:-1]))
    return not kernels("repeats").descents(ids.size, read_only(ids))


def least_and_most(ids: Ids) -> tuple[int, int]:
    """Of one id at least."""
    if not compiles():
        return int(ids.min()), int(ids.max())
    found = np.empty(2 * _parts(ids.size), np.int64)
    kernels("repeats").extent(found.size // 2, read_only(ids), found, grain=FEW)
    return int(found.min()), int(found.max())


def has_repeats(ids: Ids, tops: Tops = NO_TOPS, bounds: tuple[int, int] | None = None) -> bool:
    """Whether two addresses are the same.

    tops: their upper 32 bits, or nothing if all are 0; bounds: the least and the most of `ids`
        then, so that it need not be found again.
    """
    if ids.size < 2 or (not tops.size and ascend(ids)):
        return False
    if not compiles():
        return _sorted_repeats(ids, tops) if tops.size else _sorted_repeats(ids)
    ids, tops = read_only(ids), read_only(tops)
    if not tops.size:
        least, most = bounds or least_and_most(ids)
        if most - least < min(DENSE * ids.size, MOST_BITS):
            return _bitmap_repeats(ids, least, most)
    return _hashed_repeats(ids, tops)


def _parts(size: int, most: int = 64) -> int:
    return max(1, min(most, size // FEW))


def _bitmap_repeats(ids: Ids, least: int, most: int) -> bool:
    """A bit for every number between: as many bitmaps as threads, as none may share a word."""
    parts = _parts(ids.size, MOST_BITMAPS)
    bits = np.zeros((parts, (most - least) // 64 + 1), np.uint64)
    if kernels("repeats").mark_bits(parts, ids, least, bits, grain=FEW):
        return True
    return bool(kernels("repeats").shared_bits(bits.shape[1], bits))


def _hashed_repeats(ids: Ids, tops: Tops) -> bool:
    """Addresses that may be the same are in the same piece, and there in one small table."""
    code, parts = kernels("repeats"), _parts(ids.size)
    bits = max(1, min(MOST_PIECE_BITS, (ids.size // PIECE).bit_length()))
    seed = np.frombuffer(os.urandom(8 * code.SEED_WORDS), np.uint64)
    counts = np.zeros((parts, 1 << bits), np.int64)
    code.count_pieces(parts, ids, tops, seed, bits, counts, grain=FEW)
    ends = np.concatenate([[0], np.cumsum(counts.T)])  # of each part in each piece
    starts = ends[:-1].reshape(-1, parts).T.copy()
    numbers, their_tops = np.empty(ids.size, np.uint64), np.empty(tops.size, np.uint32)
    code.sort_by_piece(parts, ids, tops, seed, bits, starts, numbers, their_tops, grain=FEW)
    pieces = np.ascontiguousarray(ends[::parts])
    return bool(code.piece_repeats(1 << bits, numbers, their_tops, bits, pieces, grain=PIECE))


def _sorted_repeats(*words: npt.NDArray[np.generic]) -> bool:
    order = np.lexsort(words)
    same = np.ones(order.size - 1, bool)
    for word in words:
        ordered = word[order]
        same &= ordered[1:] == ordered[:-1]
    return bool(same.any())
