"""Random words: AES-256 in plain Python, and through the kernels where there are many.

What kernels compute is checked against the plain one, bit for bit; and rows that kernels leave
undecided read on here. Which blocks a row has: `fastnoise_kernels.words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import count
from operator import itemgetter, xor

import numpy as np
import numpy.typing as npt
from fastnoise_kernels import layout

from fastnoise.compiled import compiles, kernels
from fastnoise.float_mode import refuse_odd_floats

MASK_32 = (1 << 32) - 1
BLOCK_BYTES = 16
HALF_BLOCK = 64  # bits

Blocks = Callable[[bytes, Sequence[int]], list[list[int]]]


def _doubled(byte: int) -> int:
    """Times x in the field of AES."""
    return byte << 1 & 0xFF ^ (0x1B if byte & 0x80 else 0)


def _substitutions() -> bytes:
    """FIPS 197, 5.1.1: the inverse of a byte, then an affine map of its bits.

    3 generates the field, so that inverses are powers: of 3**i, 3**(255 - i).
    """
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] ^ _doubled(powers[-1]))
    inverses = {power: powers[-i % 255] for i, power in enumerate(powers)} | {0: 0}
    turned = [reduce(xor, (inverses[byte] << i for i in range(5))) for byte in range(256)]
    return bytes((wide ^ wide >> 8) & 0xFF ^ 0x63 for wide in turned)


SUBSTITUTED = _substitutions()
DOUBLED = bytes(_doubled(byte) for byte in range(256))
SHIFTED_ROWS = itemgetter(*((5 * i) % 16 for i in range(16)))
NEXT_ROW = itemgetter(*(i // 4 * 4 + (i + 1) % 4 for i in range(16)))
NEXT_BUT_ONE = itemgetter(*(i // 4 * 4 + (i + 2) % 4 for i in range(16)))


@lru_cache(maxsize=8)
def round_keys(key: bytes) -> list[int]:
    """FIPS 197, 5.2, as integers of 128 bits."""
    words, constant = [key[i : i + 4] for i in range(0, 32, 4)], 1
    for i in range(8, 4 * (layout.ROUNDS + 1)):
        word = words[-1]
        if i % 8 == 0:
            word = (word[1:] + word[:1]).translate(SUBSTITUTED)
            word, constant = bytes([word[0] ^ constant]) + word[1:], _doubled(constant)
        elif i % 8 == 4:
            word = word.translate(SUBSTITUTED)
        words.append(bytes(a ^ b for a, b in zip(words[-8], word, strict=True)))
    return [_integer(b"".join(words[i : i + 4])) for i in range(0, len(words), 4)]


def aes_block(key: bytes, block: int) -> list[int]:
    """The four 32-bit words of an encrypted block of 128 bits; all lowest byte first."""
    first, *middle, last = round_keys(key)
    state = block ^ first
    for round_key in middle:
        shifted = _shifted(state)
        following = bytes(NEXT_ROW(shifted))
        # Columns times 2, 3, 1, 1: a, b, c, d become 2 (a + b) + b + (c + d).
        sums = (_integer(shifted) ^ _integer(following)).to_bytes(BLOCK_BYTES, "little")
        rest = _integer(following) ^ _integer(bytes(NEXT_BUT_ONE(sums)))
        state = _integer(sums.translate(DOUBLED)) ^ rest ^ round_key
    state = _integer(_shifted(state)) ^ last
    return [state >> bits & MASK_32 for bits in range(0, 128, 32)]


def _shifted(state: int) -> bytes:
    """Bytes substituted, rows shifted."""
    return bytes(SHIFTED_ROWS(state.to_bytes(BLOCK_BYTES, "little").translate(SUBSTITUTED)))


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "little")


def plain_blocks(key: bytes, blocks: Sequence[int]) -> list[list[int]]:
    return [aes_block(key, block) for block in blocks]


def compiled_blocks(key: bytes, blocks: Sequence[int]) -> list[list[int]]:
    """The same, a hundred times faster."""
    halves = [divmod(block, 1 << HALF_BLOCK) for block in blocks]
    highs, lows = np.array(halves, np.uint64).reshape(-1, 2).T.copy()
    words = np.empty((len(blocks), layout.BATCH // 16), np.uint32)
    key_words = np.frombuffer(key, "<u4")
    kernels("words").single_blocks(len(blocks), key_words, lows, highs, words.reshape(-1))
    found: list[list[int]] = words.tolist()
    return found


def cipher_blocks() -> Blocks:
    """Compiled, unless numba must not: tables of plain Python may tell a key to other processes."""
    return compiled_blocks if compiles() else plain_blocks


def block_place(address: int, index: int) -> int:
    """Block `index` of the row with that address."""
    return index << layout.ADDRESS_BITS | address


def own_block(address: int, width: int, index: int) -> int:
    """One of its own words; rows of two words share theirs, row r and row r + 16 of every 32."""
    if width <= layout.SHORT:
        top, low = divmod(address, 1 << HALF_BLOCK)
        address = top << HALF_BLOCK | low >> 5 << 4 | low & 15
    return block_place(address, index)


def own_words(key: bytes, address: int, width: int, blocks: Blocks = plain_blocks) -> list[int]:
    """A row's own words, of 32 bits."""
    places = [own_block(address, width, index) for index in range((width + 3) // 4)]
    words = [word for block in blocks(key, places) for word in block]
    first = layout.SHORT * (address >> 4 & 1) if width <= layout.SHORT else 0
    return words[first : first + width]


def row_words(key: bytes, address: int, width: int, blocks: Blocks = plain_blocks) -> Iterator[int]:
    """The 64-bit words of a row: its own, `width` halves of them, then extra ones without end."""
    own = own_words(key, address, width, blocks)
    yield from pairs_of([*own, 0] if width % 2 else own)
    for index in count(layout.EXTRA_INDEX):
        yield from pairs_of(blocks(key, [block_place(address, index)])[0])


def row_key(key: bytes, address: int, blocks: Blocks = plain_blocks) -> bytes:
    """The key of a row's own, for what may have no end."""
    places = [block_place(address, layout.KEY_INDEX + i) for i in range(2)]
    return np.array(blocks(key, places), "<u4").tobytes()


def pairs_of(words: Sequence[int]) -> Iterator[int]:
    """32-bit words as 64-bit ones."""
    for low, high in zip(words[::2], words[1::2], strict=True):
        yield low | high << 32


def counter_block(counter: int) -> int:
    """A block of counter mode, whose first byte is the highest."""
    return _integer(counter.to_bytes(BLOCK_BYTES, "big"))


def fill_keystream(key: bytes, words: npt.NDArray[np.uint32]) -> None:
    """Raw AES-256 in counter mode, from 0; whole batches of sixteen blocks."""
    refuse_odd_floats()  # there is none in it, but in the modules that this may import
    if not compiles():
        blocks = plain_blocks(key, [counter_block(i) for i in range(words.size // 4)])
        words[:] = [word for block in blocks for word in block]
        return
    batches, start = words.size // layout.BATCH, np.uint64(0)
    key_words = np.frombuffer(key, "<u4")
    kernels("words").keystream(batches, key_words, start, words, grain=layout.BATCH)
