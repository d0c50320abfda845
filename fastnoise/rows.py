"""Which rows of a stream an array uses: consecutive ones, or a list of ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import read_only
from fastnoise.repeats import NO_TOPS, Ids, Tops, ascend, has_repeats, least_and_most
from fastnoise.stream import KEY_BYTES, ROWS, Stream
from fastnoise.validation import data_array, data_refusal, refusal

_NO_IDS = read_only(np.empty(0, np.int64))
LOW_BITS = (1 << 64) - 1


class Rows(NamedTuple):
    """Rows first, first + 1, ..., or those of `ids` where `first` is -1.

    An address has 96 bits: 64 in `ids`, and the upper 32 in `tops`, which is empty if all are 0.
    """

    first: int
    ids: Ids = _NO_IDS
    tops: Tops = NO_TOPS

    @classmethod
    def of(cls, addresses: Sequence[int]) -> Rows:
        ids = np.array([address & LOW_BITS for address in addresses], np.uint64).view(np.int64)
        tops = np.array([address >> 64 for address in addresses], np.uint32)
        return cls(-1, read_only(ids), read_only(tops if tops.any() else tops[:0]))

    def after(self, done: int) -> Rows:
        """The rows that are left when `done` are used."""
        if self.first < 0:
            return Rows(-1, self.ids[done:], self.tops[done:])
        return Rows(self.first + done)

    def address(self, i: int) -> int:
        if self.first >= 0:
            return self.first + i
        top = int(self.tops[i]) if self.tops.size else 0
        return top << 64 | int(self.ids[i]) & LOW_BITS


FROM_0 = Rows(0)


def check_stream(stream: Any) -> None:
    if stream is not None and not isinstance(stream, Stream):
        # The type only: what stands there may be a key.
        raise TypeError(refusal("stream", type(stream), "a fastnoise.Stream or None"))


def rows_and_key(
    stream: Stream | None, rows: Rows | None, count: int, identity: bytes
) -> tuple[Rows, bytes]:
    """For `count` draws: of a fresh key, or of the stream's for this identity, its next rows."""
    if stream is None:
        return FROM_0, os.urandom(KEY_BYTES)
    rows = rows if rows is not None else Rows(stream._reserve(count))
    return rows, stream._noise_key(identity)


def requested_rows(rows: Any, count: int, stream: Stream | None) -> Rows | None:
    """The rows that the caller names for `count` draws; None for the stream's next ones.

    `Rows` are taken as they are: whoever made them has checked them.
    """
    if rows is None:
        return None
    if stream is None:
        raise ValueError("rows needs a stream: rows of which noise? Pass stream=")
    if isinstance(rows, range) and rows.step == 1 and 0 <= rows.start < rows.stop <= ROWS:
        found, size = Rows(rows.start), rows.stop - rows.start
    elif isinstance(rows, Rows):
        found, size = rows, rows.ids.size if rows.first < 0 else count
    else:
        found, size = _checked_rows(rows)
    if size != count:
        raise ValueError(f"rows must have one id a draw, {count} in all, not {size}")
    return found


def _checked_rows(rows: Any) -> tuple[Rows, int]:
    """The rows of these ids, and how many."""
    allowed = "distinct integers from 0 to 2**63 - 1"
    try:
        given = data_array("rows", rows, allowed).reshape(-1)
    except MemoryError:
        raise ValueError(data_refusal("rows", rows, allowed)) from None
    if given.size == 0:
        return Rows(-1), 0
    if given.dtype.kind not in "iu":
        raise TypeError(data_refusal("rows", given, allowed))
    # As signed integers of 64 bits, those of 2**63 and more are negative.
    whole = np.uint64 if given.dtype.kind == "u" and given.dtype.itemsize == 8 else np.int64
    ids = read_only(np.ascontiguousarray(given, whole).view(np.int64))
    in_order = ascend(ids)
    least, most = (int(ids[0]), int(ids[-1])) if in_order else least_and_most(ids)
    if least < 0:
        _refuse_some((given < 0) | (given > ROWS - 1), allowed, "are outside")
    if not in_order and has_repeats(ids, bounds=(least, most)):
        later = np.ones(ids.size, bool)
        later[np.unique(ids, return_index=True)[1]] = False
        _refuse_some(later, allowed, "repeat another")
    consecutive = in_order and most - least == ids.size - 1
    return Rows(least) if consecutive else Rows(-1, ids), ids.size


def by_the_first(rows: Rows) -> Rows:
    """The same rows; if each is the next one, by the first alone, which halves the time."""
    ids = rows.ids
    if rows.tops.size or not ids.size or int(ids[-1]) - int(ids[0]) != ids.size - 1:
        return rows
    return Rows(int(ids[0])) if ascend(ids) else rows


def _refuse_some(bad: npt.NDArray[np.bool_], allowed: str, what: str) -> NoReturn:
    """How many and where: an id is somebody's."""
    count = f"{int(bad.sum()):,} of them {what}, the first at index {int(bad.argmax())}"
    raise ValueError(f"rows must be {allowed}: {count}")
