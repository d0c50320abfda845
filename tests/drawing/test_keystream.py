"""Is the keystream ChaCha20, bit for bit, at any block?"""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from fastnoise_kernels import chacha

import fastnoise as fn
from fastnoise.bits import chacha_block

# RFC 8439, 2.3.2 uses a 32-bit counter and a 96-bit nonce: the same state with the counter's upper
# half and the nonce below.
RFC_KEY = bytes(range(32))
RFC_COUNTER = 1 | 0x09000000 << 32
RFC_NONCE = 0x4A000000
RFC_BLOCK = bytes.fromhex(
    "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
    "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
)
ZERO_BLOCK = bytes.fromhex(
    "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
)


def independent(key: bytes, block: int, blocks: int = 1, nonce: int = 0) -> bytes:
    """The `cryptography` package, a block at a time: it refuses to cross 2**32."""
    out = b""
    for counter in range(block, block + blocks):
        start = counter.to_bytes(8, "little") + nonce.to_bytes(8, "little")
        out += Cipher(algorithms.ChaCha20(key, start), None).encryptor().update(bytes(64))
    return out


def words(data: bytes) -> list[int]:
    return np.frombuffer(data, "<u4").tolist()


def kernel_blocks(key: bytes, block: int, batches: int) -> bytes:
    out = np.empty(batches * chacha.BATCH, np.uint32)
    chacha.keystream(batches, np.frombuffer(key, "<u4"), np.uint64(block), out)
    return out.tobytes()


def test_rfc_8439_block():
    assert words(RFC_BLOCK) == chacha_block(RFC_KEY, RFC_COUNTER, RFC_NONCE)
    assert independent(RFC_KEY, RFC_COUNTER, nonce=RFC_NONCE) == RFC_BLOCK


def test_rfc_8439_block__from_the_kernel():
    """The kernel's extra words run under nonces of their own: drive that path with the RFC's."""
    import numba

    @numba.njit
    def block(key, counters, nonces, out):
        chacha.sixteen_blocks(key, counters, nonces, out, 0)

    out = np.empty(256, np.uint32)
    counters, nonces = np.full(16, RFC_COUNTER, np.uint64), np.full(16, RFC_NONCE, np.uint64)
    block(np.frombuffer(RFC_KEY, "<u4"), counters, nonces, out)
    for lane in range(16):
        assert out[lane::16].tobytes() == RFC_BLOCK


def test_all_zero_key():
    assert fn.Stream.from_key(bytes(32)).keystream(64) == ZERO_BLOCK


@pytest.mark.parametrize("block", [0, 1, 2**32 - 24, 2**32, 2**40 + 3, 2**60 - 1, 2**64 - 32])
def test_random_keys_and_far_blocks(block, rng):
    for _ in range(5):
        key = rng.bytes(32)
        assert kernel_blocks(key, block, 2) == independent(key, block, 32)


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 1023, 1024, 1025, 100_000])
def test_any_length(nbytes, stream):
    blocks = independent(bytes(range(32)), 0, -(-nbytes // 64))
    assert stream.keystream(nbytes) == blocks[:nbytes]


def test_parallel_is_serial(stream, threads):
    threads(1)
    one = stream.keystream(3_000_001)
    threads(2)
    assert stream.keystream(3_000_001) == one


def test_does_not_advance(stream):
    stream.keystream(10_000)
    assert stream.position == 0


@pytest.mark.parametrize("nbytes", [-1, 1.0, "8", None, True])
def test_bad_nbytes(nbytes, stream):
    with pytest.raises((TypeError, ValueError), match="nbytes"):
        stream.keystream(nbytes)
