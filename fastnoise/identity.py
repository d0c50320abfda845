"""What names noise, version 2: a law as it is drawn, an entry of a plan, a person.

Noise is a function of (key, identity, row). Two draws under one key share bits exactly if their
identity and their row are the same, so an identity holds all that gives a number its meaning, and
nothing that depends on how the call is written or on which machine it runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import inf
from numbers import Rational
from typing import Any, Final, Protocol
from uuid import UUID

from fastnoise.bits import BLOCK_BYTES, aes_block
from fastnoise.stream import ROWS

VERSION: Final = 2

LEAST_INTEGER, MOST_INTEGER = -(1 << 63), (1 << 64) - 1
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,19}")
DIGITS = "[0-9a-fA-F]"
UUID_TEXT = re.compile(rf"{DIGITS}{{32}}|{DIGITS}{{8}}(-{DIGITS}{{4}}){{3}}-{DIGITS}{{12}}")

HASHED: Final = 1 << 95  # in an address: a tag, not the number of a row

Id = int | bytes | str  # an integer, the 16 bytes of a UUID, any other text
Name = None | int | bytes | str | tuple[Any, ...]


class Drawn(Protocol):
    """A law as it is drawn."""

    @property
    def digest(self) -> bytes:
        """Of its words and its grid."""


def noise_identity(mechanism: object, drawn: Drawn, clip: Any = None) -> bytes:
    """Of what a mechanism draws for data that is clipped so: its class, law, grid and clip.

    The law, not the parameters: a gamma that another machine computes a bit off, or a sensitivity
    written otherwise, is the same noise if the same is drawn.
    """
    bounds = None if clip is None else tuple(map(_bound, clip))
    bounds = None if bounds == ("-inf", "inf") else bounds
    return encoded(("noise", VERSION, type(mechanism).__name__, drawn.digest, bounds))


def _bound(value: Any) -> str:
    """A bound of a clip by its value: 2, 2.0 and Fraction(4, 2) are the same."""
    if isinstance(value, Rational):
        return str(Fraction(int(value.numerator), int(value.denominator)))
    return str(float(value)) if value in (-inf, inf) else str(Fraction(*value.as_integer_ratio()))


def entry_identity(
    release: str | None, key_columns: Sequence[str], name: str, columns: Sequence[str]
) -> bytes:
    """Of one entry of a plan: its release, how rows are addressed, its name and columns.

    No key columns: rows are addressed by their position.
    """
    return encoded(("entry", VERSION, release, tuple(key_columns), name, tuple(columns)))


def ids_identity(release: str | None, key_columns: Sequence[str]) -> bytes:
    """Of the tags that address people."""
    return encoded(("ids", VERSION, release, tuple(key_columns)))


def encoded(name: Name) -> bytes:
    """Bytes that no other name has: each part with its kind and its length."""
    if name is None:
        kind, body = b"n", b""
    elif isinstance(name, int):
        kind, body = b"i", str(name).encode()
    elif isinstance(name, bytes):
        kind, body = b"b", name
    elif isinstance(name, str):
        kind, body = b"s", name.encode("utf-8", "surrogatepass")
    else:
        kind, body = b"t", b"".join(map(encoded, name))
    return kind + len(body).to_bytes(8, "little") + body


def text_id(text: str) -> Id:
    """Whom a text names: "7" is the integer, "007", "+7" and "7.0" are texts.

    >>> text_id("7"), text_id("007")
    (7, '007')
    >>> text_id("00000000-0000-0000-0000-00000000000A") == text_id("0" * 31 + "a")
    True
    """
    if INTEGER.fullmatch(text) and LEAST_INTEGER <= int(text) <= MOST_INTEGER:
        return int(text)
    return UUID(text).bytes if UUID_TEXT.fullmatch(text) else text


def address(ids: tuple[Id, ...], secret: bytes) -> int:
    """Where a person's rows are: an integer from 0 to 2**63 - 1 itself, all else by its tag.

    Addresses have 96 bits, and that of a tag has the highest one set, which no row's number has.
    Of 10**9 people two have the same with probability 1.3e-11.

    ids: one, or those of several columns.
    secret: keys the tags, so that addresses tell nothing about texts.
    """
    if len(ids) == 1 and isinstance(ids[0], int) and 0 <= ids[0] < ROWS:
        return ids[0]
    return tag_address(id_tag(ids if len(ids) > 1 else ids[0], secret))


def tag_address(found: int) -> int:
    return HASHED | found & (HASHED - 1)


def id_tag(person: Id | tuple[Id, ...], secret: bytes) -> int:
    """128 bits that stand for an id, or for those of several columns together."""
    if isinstance(person, int):
        return tag(b"i", person.to_bytes(BLOCK_BYTES, "little", signed=True), secret)
    if isinstance(person, bytes):
        return tag(b"b", person, secret)
    if isinstance(person, str):
        return tag(b"s", person.encode("utf-8", "surrogateescape"), secret)
    parts = (id_tag(part, secret).to_bytes(BLOCK_BYTES, "little") for part in person)
    return tag(b"t", b"".join(parts), secret)


def tag(kind: bytes, body: bytes, secret: bytes) -> int:
    """AES-256 in CBC mode (CBC-MAC) over a block with kind and length, and over the body.

    That block keeps messages from being the beginning of others. For such messages CBC-MAC cannot
    be told from a random function (Petrank and Rackoff, "CBC MAC for real-time data sources",
    2000), as far as AES cannot be told from a random permutation.
    """
    half = BLOCK_BYTES // 2
    message = kind.ljust(half, b"\0") + len(body).to_bytes(half, "little") + body
    state = 0
    for start in range(0, len(message), BLOCK_BYTES):
        block = message[start : start + BLOCK_BYTES].ljust(BLOCK_BYTES, b"\0")
        words = aes_block(secret, state ^ int.from_bytes(block, "little"))
        state = sum(word << 32 * i for i, word in enumerate(words))
    return state
