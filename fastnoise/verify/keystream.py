"""Is the compiled keystream ChaCha20, at any block?"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from fastnoise.reader import chacha_block
from fastnoise.stream import Stream
from fastnoise.verify.outcome import Row, Tally

BLOCKS = [0, 1, 2**32 - 24, 2**32, 2**40 + 3, 2**60 - 1, 2**64 - 16]
KEYS = 8
SEVERAL = 8192  # blocks that all threads compute together


class Vector(NamedTuple):
    """A block of RFC 8439 whose nonce is 0."""

    where: str
    key: bytes
    counter: int
    block: str


VECTORS = [
    Vector(
        "A.1 #1",
        bytes(32),
        0,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    Vector(
        "A.1 #2",
        bytes(32),
        1,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    Vector(
        "A.1 #3",
        bytes(31) + b"\x01",
        1,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    Vector(
        "A.1 #4",
        b"\x00\xff" + bytes(30),
        2,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
]


def rows() -> list[Row]:
    return [
        Row("keystream", "RFC 8439", published, VECTORS),
        Row("keystream", "other implementations", independent, BLOCKS),
        Row("keystream", "several threads", threaded, [SEVERAL]),
    ]


def published(vector: Vector, tally: Tally) -> None:
    """Compiled, through a stream, and in plain Python."""
    block = bytes.fromhex(vector.block)
    tally.expect(compiled(vector.key, vector.counter, 1) == block, "the kernel differs")
    until = 64 * (vector.counter + 1)
    streamed = Stream.from_key(vector.key).keystream(until)[-64:]
    tally.expect(streamed == block, "Stream.keystream differs")
    tally.expect(plain(vector.key, vector.counter) == block, "plain Python differs")
    tally.note = "A.1 #1 to #4"


def independent(block: int, tally: Tally) -> None:
    """Sixteen blocks from this one on, under random keys."""
    others = {"plain Python": plain}
    try:
        from cryptography import __version__ as version
    except ImportError:
        tally.note = "plain Python (cryptography is not installed)"
    else:
        others["cryptography"] = cryptography_block
        tally.note = f"plain Python, cryptography {version}"
    for name, other in others.items():
        for _ in range(KEYS):
            key = os.urandom(32)
            expected = b"".join(other(key, block + i) for i in range(16))
            tally.expect(
                compiled(key, block, 16) == expected, f"{name} differs under key {key.hex()}"
            )


def threaded(blocks: int, tally: Tally) -> None:
    key = os.urandom(32)
    whole = Stream.from_key(key).keystream(64 * blocks)
    for block in np.linspace(0, blocks - 1, 40, dtype=int).tolist():
        same = whole[64 * block : 64 * (block + 1)] == plain(key, block)
        tally.expect(same, f"block {block} differs under key {key.hex()}")


def compiled(key: bytes, counter: int, blocks: int) -> bytes:
    """Up to sixteen blocks from the kernel."""
    from fastnoise_kernels import chacha

    words = np.empty(chacha.BATCH, np.uint32)
    chacha.keystream(1, np.frombuffer(key, "<u4"), np.uint64(counter), words)
    return words.astype("<u4").tobytes()[: 64 * blocks]


def plain(key: bytes, counter: int) -> bytes:
    return np.array(chacha_block(key, counter, 0), "<u4").tobytes()


def cryptography_block(key: bytes, counter: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    start = counter.to_bytes(8, "little") + bytes(8)
    return Cipher(algorithms.ChaCha20(key, start), None).encryptor().update(bytes(64))
