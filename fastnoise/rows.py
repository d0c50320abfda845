"""Which rows of a stream an array uses: consecutive ones, or a list of ids."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import read_only
from fastnoise.stream import KEY_BYTES, ROWS, Stream
from fastnoise.validation import data_array, data_refusal, refusal

Ids = npt.NDArray[np.int64]


_NO_IDS = read_only(np.empty(0, np.int64))
_NO_TOPS = read_only(np.empty(0, np.uint32))
LOW_BITS = (1 << 64) - 1


class Rows(NamedTuple):
    """Rows first, first + 1, ..., or those of `ids` where `first` is -1.

    An address has 96 bits: 64 in `ids`, and the upper 32 in `tops`, which is empty if all are 0.
    """

    first: int
    ids: Ids = _NO_IDS
    tops: npt.NDArray[np.uint32] = _NO_TOPS

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
    """The rows that the caller names for `count` draws; None for the stream's next ones."""
    if rows is None:
        return None
    if stream is None:
        raise ValueError("rows needs a stream: rows of which noise? Pass stream=")
    if isinstance(rows, range) and rows.step == 1 and 0 <= rows.start < rows.stop <= ROWS:
        found, size = Rows(rows.start), rows.stop - rows.start
    else:
        found = Rows(-1, _checked_ids(rows))
        size = found.ids.size
    if size != count:
        raise ValueError(f"rows must have one id a draw, {count} in all, not {size}")
    return found


def _checked_ids(rows: Any) -> Ids:
    allowed = "distinct integers from 0 to 2**63 - 1"
    try:
        ids = data_array("rows", rows, allowed).reshape(-1)
    except MemoryError:
        raise ValueError(data_refusal("rows", rows, allowed)) from None
    if ids.size and ids.dtype.kind not in "iu":
        raise TypeError(data_refusal("rows", ids, allowed))
    if ids.size and (int(ids.min()) < 0 or int(ids.max()) >= ROWS):
        _refuse_some((ids < 0) | (ids > ROWS - 1), allowed, "are outside")
    ids = np.ascontiguousarray(ids, np.int64)
    if not np.all(ids[1:] > ids[:-1]):
        ordered = np.sort(ids)
        if np.any(ordered[1:] == ordered[:-1]):
            later = np.ones(ids.size, bool)
            later[np.unique(ids, return_index=True)[1]] = False
            _refuse_some(later, allowed, "repeat another")
    return read_only(ids)


def _refuse_some(bad: npt.NDArray[np.bool_], allowed: str, what: str) -> NoReturn:
    """How many and where: an id is somebody's."""
    count = f"{int(bad.sum()):,} of them {what}, the first at index {int(bad.argmax())}"
    raise ValueError(f"rows must be {allowed}: {count}")
