"""Is the compiled keystream ChaCha20, at any block and under any nonce?"""

from __future__ import annotations

import os

import numpy as np

from fastnoise.bits import chacha_block
from fastnoise.stream import Stream
from fastnoise.verify.outcome import Row, Tally

# (counter, nonce), each of 64 bits: the ends of both, and where they carry.
BLOCKS = [
    *((counter, 0) for counter in (0, 1, 2**32 - 8, 2**32, 2**40 + 3, 2**60 - 1, 2**64 - 16)),
    *((77, nonce) for nonce in (1, 2**32, 2**63, 2**64 - 1)),
]
KEYS = 8
SEVERAL = 8192  # blocks that all threads compute together

# Blocks of RFC 8439. Its counter has 32 bits and its nonce 96: the same state with the first word
# of the nonce as the upper half of the counter.
PUBLISHED = {
    "2.3.2": (
        bytes(range(32)),
        (0x09000000 << 32 | 1, 0x4A000000),
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    "A.1 #1": (
        bytes(32),
        (0, 0),
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    "A.1 #2": (
        bytes(32),
        (1, 0),
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    "A.1 #3": (
        bytes(31) + b"\x01",
        (1, 0),
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    "A.1 #4": (
        b"\x00\xff" + bytes(30),
        (2, 0),
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
}


def rows() -> list[Row]:
    return [
        Row("keystream", "RFC 8439", published, list(PUBLISHED)),
        Row("keystream", "other implementations", independent, BLOCKS),
        Row("keystream", "several threads", threaded, [SEVERAL]),
    ]


def published(name: str, tally: Tally) -> None:
    """Compiled, through a stream where the nonce is 0, and in plain Python."""
    key, (counter, nonce), text = PUBLISHED[name]
    block = bytes.fromhex(text)
    tally.expect(compiled(key, counter, nonce) == block, "the kernel differs")
    tally.expect(plain(key, counter, nonce) == block, "plain Python differs")
    if nonce == 0:
        streamed = Stream.from_key(key).keystream(64 * (counter + 1))[-64:]
        tally.expect(streamed == block, "Stream.keystream differs")
    tally.note = ", ".join(PUBLISHED)


def independent(place: tuple[int, int], tally: Tally) -> None:
    """The same block, and the sixteen from it on, under random keys."""
    others = {"plain Python": plain}
    try:
        from cryptography import __version__ as version
    except ImportError:
        tally.note = "plain Python (cryptography is not installed)"
    else:
        others["cryptography"] = cryptography_block
        tally.note = f"plain Python, cryptography {version}"
    counter, nonce = place
    for name, other in others.items():
        for _ in range(KEYS):
            key = os.urandom(32)
            expected = [other(key, counter + i, nonce) for i in range(16)]
            same = compiled(key, counter, nonce) == expected[0]
            if nonce == 0:
                same = same and compiled_in_order(key, counter) == b"".join(expected)
            tally.expect(same, f"{name} differs under key {key.hex()}")


def threaded(blocks: int, tally: Tally) -> None:
    key = os.urandom(32)
    whole = Stream.from_key(key).keystream(64 * blocks)
    for block in np.linspace(0, blocks - 1, 40, dtype=int).tolist():
        same = whole[64 * block : 64 * (block + 1)] == plain(key, block, 0)
        tally.expect(same, f"block {block} differs under key {key.hex()}")


def compiled(key: bytes, counter: int, nonce: int) -> bytes:
    """A block from the kernel that rows are drawn with."""
    from fastnoise_kernels import chacha

    words, numbers = np.empty(16, np.uint32), np.array([[counter], [nonce]], np.uint64)
    chacha.single_blocks(1, np.frombuffer(key, "<u4"), *numbers, words)
    return words.astype("<u4").tobytes()


def compiled_in_order(key: bytes, counter: int) -> bytes:
    """Sixteen blocks from the kernel of keystreams."""
    from fastnoise_kernels import chacha, layout

    words = np.empty(layout.BATCH, np.uint32)
    chacha.keystream(1, np.frombuffer(key, "<u4"), np.uint64(counter), words)
    return words.astype("<u4").tobytes()


def plain(key: bytes, counter: int, nonce: int) -> bytes:
    return np.array(chacha_block(key, counter, nonce), "<u4").tobytes()


def cryptography_block(key: bytes, counter: int, nonce: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    start = counter.to_bytes(8, "little") + nonce.to_bytes(8, "little")
    return Cipher(algorithms.ChaCha20(key, start), None).encryptor().update(bytes(64))
