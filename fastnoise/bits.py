"""Random words: ChaCha20 in plain Python, and through the kernels where there are many.

What kernels compute is checked against the plain one, bit for bit; and rows that kernels leave
undecided read on here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import numpy.typing as npt
from fastnoise_kernels import layout

from fastnoise.compiled import compiles, kernels
from fastnoise.float_mode import refuse_odd_floats

MASK_32 = (1 << 32) - 1


def chacha_block(key: bytes, counter: int, nonce: int) -> list[int]:
    """The sixteen 32-bit words of one ChaCha20 block (RFC 8439, with a 64-bit counter)."""
    inputs = b"expand 32-byte k" + key + counter.to_bytes(8, "little") + nonce.to_bytes(8, "little")
    initial = [int.from_bytes(inputs[i : i + 4], "little") for i in range(0, 64, 4)]
    state = list(initial)

    def quarter_round(a: int, b: int, c: int, d: int) -> None:
        for total, added, turned, bits in (
            (a, b, d, 16),
            (c, d, b, 12),
            (a, b, d, 8),
            (c, d, b, 7),
        ):
            state[total] = (state[total] + state[added]) & MASK_32
            mixed = state[turned] ^ state[total]
            state[turned] = (mixed << bits | mixed >> (32 - bits)) & MASK_32

    for _ in range(10):
        for i in range(4):
            quarter_round(i, i + 4, i + 8, i + 12)
        for i in range(4):
            quarter_round(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(x + y) & MASK_32 for x, y in zip(state, initial, strict=True)]


def row_words(key: bytes, row: int, width: int) -> Iterator[int]:
    """The 64-bit words of a row: its own, `width` halves of them, then extra ones without end."""
    epoch, group = divmod(row // 16, 1 << (layout.EPOCH_BITS - 4))
    vectors = range(width * group, width * (group + 1))
    blocks = range(vectors[0] // 16, vectors[-1] // 16 + 1)
    words = [w for b in blocks for w in chacha_block(key, 16 * b + row % 16, epoch)]
    own = words[vectors[0] % 16 :][:width]
    yield from pairs_of([*own, 0] if width % 2 else own)
    for nonce in count(layout.EXTRA_NONCE):
        yield from pairs_of(chacha_block(key, row, nonce))


def pairs_of(words: Sequence[int]) -> Iterator[int]:
    """32-bit words as 64-bit ones."""
    for low, high in zip(words[::2], words[1::2], strict=True):
        yield low | high << 32


def fill_keystream(key: bytes, words: npt.NDArray[np.uint32]) -> None:
    """Raw ChaCha20 in standard order; whole batches of 256 words."""
    refuse_odd_floats()  # there is none in it, but in the modules that this may import
    if not compiles():
        blocks = (chacha_block(key, block, 0) for block in range(words.size // 16))
        words[:] = [word for block in blocks for word in block]
        return
    chacha = kernels("chacha")
    batches = words.size // layout.BATCH
    start = np.uint64(0)
    chacha.keystream(batches, np.frombuffer(key, "<u4"), start, words, grain=layout.BATCH)


def compiled_blocks(key: bytes, addresses: Sequence[tuple[int, int]]) -> list[list[int]]:
    """`chacha_block` of every (counter, nonce), fifty times faster."""
    words = np.empty((len(addresses), 16), np.uint32)
    counters, nonces = np.array(addresses, np.uint64).reshape(-1, 2).T.copy()
    kernels("chacha").single_blocks(
        len(addresses), np.frombuffer(key, "<u4"), counters, nonces, words.reshape(-1)
    )
    found: list[list[int]] = words.tolist()
    return found
