"""Tags of many ids (`fastnoise.identity`), by kernels or, without them, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import compiles, kernels, read_only
from fastnoise.identity import Id, address, id_tag, tag, tag_address, text_id

LOW_BITS = (1 << 64) - 1
Words = npt.NDArray[np.uint64]


def text_tags(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], secret: bytes, alone: bool
) -> Words:
    """Two words for each text, low half first: its tag, or the address if it is an id alone.

    offsets: where in `data` texts start, and the last one ends.
    """
    count = offsets.size - 1
    if not compiles():
        parts = (data[a:b].tobytes() for a, b in pairwise(offsets))
        texts = (part.decode("utf-8", "surrogateescape") for part in parts)
        return _words([_plain_tag(text_id(text), secret, alone) for text in texts])
    found = np.empty((count, 2), np.uint64)
    key = np.frombuffer(secret, "<u4")
    arrays = read_only(offsets), read_only(data)
    kernels("tags").tag_texts(count, key, *arrays, alone, found.reshape(-1), grain=16)
    return found


def block_tags(kind: bytes, bodies: Words, secret: bytes, alone: bool) -> Words:
    """The same for bodies of equal length; a row of words for each: integers, UUIDs, tags."""
    count, words = bodies.shape
    if not compiles():
        rows = [row.astype("<u8").tobytes() for row in bodies]
        if kind == b"t":
            tags = [tag(kind, row, secret) for row in rows]
            return _words([tag_address(found) for found in tags] if alone else tags)
        people = [int.from_bytes(row, "little", signed=True) for row in rows]
        ids = people if kind == b"i" else rows
        return _words([_plain_tag(person, secret, alone) for person in ids])
    found = np.empty((count, 2), np.uint64)
    key, flat = np.frombuffer(secret, "<u4"), read_only(np.ascontiguousarray(bodies).reshape(-1))
    sizes = np.uint64(ord(kind)), flat, words // 2
    kernels("tags").tag_blocks(count, key, *sizes, alone, found.reshape(-1), grain=16)
    return found


def _plain_tag(person: Id, secret: bytes, alone: bool) -> int:
    return address((person,), secret) if alone else id_tag(person, secret)


def _words(tags: Sequence[int]) -> Words:
    halves = [(found & LOW_BITS, found >> 64) for found in tags]
    return np.array(halves, np.uint64).reshape(-1, 2)
