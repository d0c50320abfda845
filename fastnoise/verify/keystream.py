"""Is the compiled cipher AES-256, whatever the key and the block?"""

from __future__ import annotations

import os

import numpy as np
from fastnoise_kernels import layout

from fastnoise.bits import BLOCK_BYTES, aes_block, compiled_blocks, counter_block
from fastnoise.stream import Stream
from fastnoise.verify.outcome import Row, Tally

# Blocks as integers, lowest byte first: the ends, and where parts of an address and an index meet.
BLOCKS = [0, 1, 2**32 - 8, 2**63 - 16, 2**64 - 8, 2**95, 2**96 - 8, 2**126, 3 << 126, 2**128 - 16]
COUNTERS = [0, 1, 2**32 - 8, 2**32, 2**40 + 3, 2**60 - 1, 2**64 - 16]  # of counter mode
KEYS = 8
SEVERAL = 8192  # blocks that all threads compute together

# Key, block, what it is encrypted to: FIPS 197, C.3, and SP 800-38A, F.1.5.
OF_38A = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
PUBLISHED = {
    "FIPS 197 C.3": (
        bytes(range(32)).hex(),
        "00112233445566778899aabbccddeeff",
        "8ea2b7ca516745bfeafc49904b496089",
    ),
    "SP 800-38A F.1.5 #1": (
        OF_38A,
        "6bc1bee22e409f96e93d7e117393172a",
        "f3eed1bdb5d2a03c064b5a7e3db181f8",
    ),
    "#2": (OF_38A, "ae2d8a571e03ac9c9eb76fac45af8e51", "591ccb10d410ed26dc5ba74a31362870"),
    "#3": (OF_38A, "30c81c46a35ce411e5fbc1191a0a52ef", "b6ed21b99ca6f4f9f153e7b1beafed1d"),
    "#4": (OF_38A, "f69f2445df4f9b17ad2b417be66c3710", "23304b7a39f9f3ff067d8d8f9e24ecc7"),
}


def rows() -> list[Row]:
    return [
        Row("keystream", "FIPS 197, SP 800-38A", published, list(PUBLISHED)),
        Row("keystream", "single blocks", single, BLOCKS),
        Row("keystream", "counter mode", counted, COUNTERS),
        Row("keystream", "several threads", threaded, [SEVERAL]),
    ]


def published(name: str, tally: Tally) -> None:
    """Compiled and in plain Python."""
    key, block, encrypted = map(bytes.fromhex, PUBLISHED[name])
    tally.expect(compiled(key, [block]) == [encrypted], "the kernel differs")
    tally.expect(plain(key, block) == encrypted, "plain Python differs")
    tally.note = ", ".join(PUBLISHED)


def single(first: int, tally: Tally) -> None:
    """The sixteen blocks from `first` on, under random keys."""
    blocks = [(first + i).to_bytes(BLOCK_BYTES, "little") for i in range(16)]
    others = {"plain Python": plain}
    try:
        from cryptography import __version__ as version
    except ImportError:
        tally.note = "plain Python (cryptography is not installed)"
    else:
        others["cryptography"] = independent
        tally.note = f"plain Python, cryptography {version}"
    for name, other in others.items():
        for _ in range(KEYS):
            key = os.urandom(32)
            same = compiled(key, blocks) == [other(key, block) for block in blocks]
            tally.expect(same, f"{name} differs under {key.hex()}")


def counted(counter: int, tally: Tally) -> None:
    """The kernel of keystreams, sixteen blocks from a counter on."""
    for _ in range(KEYS):
        key = os.urandom(32)
        blocks = [counter_block(counter + i) for i in range(16)]
        expected = np.array([aes_block(key, block) for block in blocks], "<u4").tobytes()
        same = compiled_in_order(key, counter) == expected
        tally.expect(same, f"plain Python differs under {key.hex()}")


def threaded(blocks: int, tally: Tally) -> None:
    key = os.urandom(32)
    whole = Stream.from_key(key).keystream(BLOCK_BYTES * blocks)
    for i in np.linspace(0, blocks - 1, 40, dtype=int).tolist():
        same = whole[BLOCK_BYTES * i :][:BLOCK_BYTES] == plain(key, i.to_bytes(BLOCK_BYTES, "big"))
        tally.expect(same, f"Stream.keystream differs in block {i} under {key.hex()}")


def compiled(key: bytes, blocks: list[bytes]) -> list[bytes]:
    """From the kernel that rows are drawn with."""
    found = compiled_blocks(key, [int.from_bytes(block, "little") for block in blocks])
    return [np.array(words, "<u4").tobytes() for words in found]


def compiled_in_order(key: bytes, counter: int) -> bytes:
    """Sixteen blocks from the kernel of keystreams."""
    from fastnoise_kernels import words

    out = np.empty(layout.BATCH, np.uint32)
    words.keystream(1, np.frombuffer(key, "<u4"), np.uint64(counter), out)
    return out.astype("<u4").tobytes()


def plain(key: bytes, block: bytes) -> bytes:
    return np.array(aes_block(key, int.from_bytes(block, "little")), "<u4").tobytes()


def independent(key: bytes, block: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)
