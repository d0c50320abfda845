"""Is the keystream AES-256, bit for bit, at any block, and which blocks does a row have?"""

import shutil
import subprocess
from itertools import islice

import numba
import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from fastnoise_kernels import aes, words
from fastnoise_kernels.ahead import nothing_ahead
from fastnoise_kernels.layout import ADDRESS_BITS, BATCH, EXTRA_INDEX, KEY_INDEX, SCHEDULE

from fastnoise import bits
from fastnoise.rows import Rows
from fastnoise.verify.keystream import PUBLISHED

KEY = bytes(range(32))
FAR = [0, 1, 2**32 - 24, 2**32, 2**40 + 3, 2**60 - 1, 2**64 - 32]
# SP 800-38A, F.5.5: counter mode from this block on.
COUNTED_KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
COUNTED_FROM = 0xF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF
COUNTED = [
    ("6bc1bee22e409f96e93d7e117393172a", "601ec313775789a5b7a7f504bbf3d228"),
    ("ae2d8a571e03ac9c9eb76fac45af8e51", "f443e3ca4d62b59aca84e990cacaf5c5"),
    ("30c81c46a35ce411e5fbc1191a0a52ef", "2b0930daa23de94ce87017ba2d84988d"),
    ("f69f2445df4f9b17ad2b417be66c3710", "dfc9c58db67aada613c2dd08457941a6"),
]


def independent(key: bytes, block: int, blocks: int = 1) -> bytes:
    """Counter mode by the `cryptography` package."""
    start = block.to_bytes(16, "big")
    return Cipher(algorithms.AES(key), modes.CTR(start)).encryptor().update(bytes(16 * blocks))


def encrypted(key: bytes, block: int) -> list[int]:
    """One block, as words, by the same."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return np.frombuffer(cipher.update(block.to_bytes(16, "little")), "<u4").tolist()


def key_words(key: bytes):
    return np.frombuffer(key, "<u4")


def kernel_blocks(key: bytes, block: int, batches: int) -> bytes:
    out = np.empty(batches * BATCH, np.uint32)
    words.keystream(batches, key_words(key), np.uint64(block), out)
    return out.tobytes()


# --- the cipher -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_blocks(name):
    key, block, expected = map(bytes.fromhex, PUBLISHED[name])
    place = int.from_bytes(block, "little")
    for found in (bits.aes_block(key, place), bits.compiled_blocks(key, [place])[0]):
        assert np.array(found, "<u4").tobytes() == expected


def test_published_counter_mode():
    key = bytes.fromhex(COUNTED_KEY)
    for i, (text, expected) in enumerate(COUNTED):
        pad = np.array(bits.aes_block(key, bits.counter_block(COUNTED_FROM + i)), "<u4").tobytes()
        assert bytes(a ^ b for a, b in zip(pad, bytes.fromhex(text), strict=True)).hex() == expected


def test_substitutions__of_every_byte():
    """In plain Python, and as the processor has them: both tell of all 256."""

    @numba.njit
    def substituted(value):
        return aes.substituted_word(value)

    for byte in range(0, 256, 4):
        four = bytes(range(byte, byte + 4))
        found = int(substituted(np.uint32(int.from_bytes(four, "little"))))
        assert found.to_bytes(4, "little") == four.translate(bits.SUBSTITUTED)
    assert sorted(bits.SUBSTITUTED) == list(range(256))
    assert bits.SUBSTITUTED[:4].hex() == "637c777b"


def test_schedules__of_plain_python_and_the_kernel(rng):
    @numba.njit
    def schedule(key):
        return aes.expanded(key)

    for _ in range(50):
        key = rng.bytes(32)
        plain = b"".join(k.to_bytes(16, "little") for k in bits.round_keys(key))
        assert schedule(key_words(key)).tobytes() == plain
        assert len(plain) == 4 * SCHEDULE


@pytest.mark.parametrize("block", [0, 1, 2**64 - 8, 2**96 - 8, 3 << 126, 2**128 - 40])
def test_random_keys__any_block(block, rng):
    for _ in range(3):
        key = rng.bytes(32)
        places = [block + i for i in range(40)]
        expected = [encrypted(key, place) for place in places]
        assert bits.compiled_blocks(key, places) == expected
        assert bits.plain_blocks(key, places[:3]) == expected[:3]
    assert bits.compiled_blocks(KEY, []) == []


# --- keystreams -----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", FAR)
def test_random_keys_and_far_counters(block, rng):
    for _ in range(5):
        key = rng.bytes(32)
        assert kernel_blocks(key, block, 2) == independent(key, block, 32)


@pytest.mark.parametrize("nbytes", [0, 1, 15, 16, 17, 255, 256, 257, 100_000])
def test_any_length(nbytes, stream):
    blocks = independent(KEY, 0, -(-nbytes // 16))
    assert stream.keystream(nbytes) == blocks[:nbytes]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the command openssl")
def test_keystream__is_what_openssl_prints(stream):
    command = ["openssl", "enc", "-aes-256-ctr", "-K", KEY.hex(), "-iv", "0" * 32]
    printed = subprocess.run(command, input=bytes(1000), capture_output=True, check=True)
    assert stream.keystream(1000) == printed.stdout


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


# --- rows -----------------------------------------------------------------------------------------

WIDTHS = [2, 4, 9, 12, 42]
ADDRESSES = [0, 5, 16, 2**32 - 1, 2**62 + 21, 2**63 - 1, 2**64 + 3, 2**95 + 2**64 - 1, 2**96 - 1]


@numba.njit
def _following(key, first, n, width):
    found = np.zeros(words.words_room(n, width), np.uint32)
    at = words.fill_words(aes.expanded(key), first, n, width, found, nothing_ahead())
    return found[at:], words.words_stored(width)


@numba.njit
def _scattered(key, ids, tops, width):
    found = np.zeros(words.words_room(len(ids), width), np.uint32)
    words.fill_words_of(aes.expanded(key), ids, tops, width, found)
    return found, words.words_stored(width)


@numba.njit
def _alone(key, low, high, width, size):
    found = np.zeros(size, np.uint64)
    words.row_words(aes.expanded(key), (low, high), width, found)
    return found


def words_at(found, stored: int, place: int, width: int) -> list[int]:
    """Those of the row at a place, of groups of sixteen."""
    group = found[place // 16 * 16 * stored :]
    return [int(group[16 * i + place % 16]) for i in range(width)]


def own_words(address: int, width: int) -> list[int]:
    """By the definition, from `cryptography`'s blocks."""
    if width > 2:
        blocks = [encrypted(KEY, i << ADDRESS_BITS | address) for i in range(-(-width // 4))]
        return [word for block in blocks for word in block][:width]
    low = address % 2**64
    shared = address - low + (low // 32 * 16 + low % 16)
    return encrypted(KEY, shared)[2 * (low // 16 % 2) :][:2]


@pytest.mark.parametrize("first", [0, 7, 16, 31, 2**32 - 20, 2**62 + 9])
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_that_follow__have_the_words_of_the_definition(width, first):
    for n in (1, 15, 33, 70):
        found, stored = _following(key_words(KEY), first, n, width)
        for i in {0, n // 2, n - 1}:
            row = words_at(found, stored, first % 16 + i, width)
            assert row == own_words(first + i, width) == bits.own_words(KEY, first + i, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_scattered_rows__have_the_words_of_the_definition(width):
    for count in (1, 3, len(ADDRESSES)):
        rows = Rows.of([*ADDRESSES, *range(40)][-count - 40 :])
        found, stored = _scattered(key_words(KEY), rows.ids, rows.tops, width)
        for i in range(count + 40):
            address = rows.address(i)
            assert words_at(found, stored, i, width) == own_words(address, width)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_row_alone__goes_on_with_extra_words(width, address):
    top, low = divmod(address, 2**64)
    found = _alone(key_words(KEY), np.uint64(low), np.uint64(top), width, 60).tolist()
    assert found == list(islice(bits.row_words(KEY, address, width), 60))
    own = (width + 1) // 2
    extra = encrypted(KEY, EXTRA_INDEX << ADDRESS_BITS | address)
    assert found[own] == extra[0] | extra[1] << 32


def test_addresses__are_whole():
    """As 64 bits, and 32 more where there are any."""
    assert [Rows.of(ADDRESSES).address(i) for i in range(len(ADDRESSES))] == ADDRESSES
    assert Rows.of([3, 2**63 - 1]).tops.size == 0
    assert Rows.of(ADDRESSES).after(7).address(0) == ADDRESSES[7]


def test_blocks__of_rows_never_meet():
    """Own, extra and key blocks of all widths of a law, and of all addresses, are different."""
    for width in WIDTHS:
        places = {}
        for address in [*ADDRESSES, *range(64)]:
            own = [bits.own_block(address, width, i) for i in range(-(-width // 4))]
            other = [EXTRA_INDEX, EXTRA_INDEX + 2**29, KEY_INDEX, KEY_INDEX + 1]
            half = address % 2**64 // 16 % 2 if width == 2 else 0
            for place in [*own, *(bits.block_place(address, index) for index in other)]:
                assert place < 2**128
                owner = (address, half if place in own else 0)
                assert places.setdefault((place, half if place in own else 0), owner) == owner
    assert bits.row_key(KEY, 5) == b"".join(
        np.array(encrypted(KEY, KEY_INDEX + i << ADDRESS_BITS | 5), "<u4").tobytes() for i in (0, 1)
    )
