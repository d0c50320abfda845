"""Rows addressed by a column: integers as they are, texts and UUIDs through a keyed hash."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.columns import arrow
from fastnoise.stream import ROWS

Ids = npt.NDArray[np.int64]


def ids_of(column: Any, name: str, secret: bytes) -> Ids:
    """The row of each value; `secret` keys the hash, so that rows tell nothing about texts."""
    pyarrow = arrow()
    values = _plain(column)
    if values.null_count:
        raise ValueError(f"key {name!r} has {values.null_count} missing values: drop those rows")
    kind = values.type
    if pyarrow.types.is_integer(kind):
        found = values.to_numpy()
        if found.size and (int(found.min()) < 0 or int(found.max()) >= ROWS):
            raise ValueError(f"key {name!r} must hold integers from 0 to 2**63 - 1")
        return np.asarray(found, np.int64)
    if not _is_text(kind):
        raise TypeError(f"key {name!r} must hold integers, texts or UUIDs, not {kind}")
    return np.fromiter((_hashed(v.as_py(), secret) for v in values), np.int64, len(values))


def _plain(column: Any) -> Any:
    """As one Arrow array, without dictionaries and extension types."""
    pyarrow = arrow()
    values = pyarrow.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else column
    if isinstance(values, pyarrow.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pyarrow.ChunkedArray):  # of none
        values = pyarrow.array([], values.type)
    if isinstance(values, pyarrow.ExtensionArray):
        values = values.storage
    if pyarrow.types.is_dictionary(values.type):
        texts = values.dictionary.cast(pyarrow.large_string())
        values = pyarrow.DictionaryArray.from_arrays(values.indices, texts).dictionary_decode()
    return values


def _is_text(kind: Any) -> bool:
    types = arrow().types
    tests = (
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_binary,
        types.is_large_binary,
        types.is_fixed_size_binary,
        types.is_binary_view,
    )
    return any(test(kind) for test in tests)


def _hashed(value: str | bytes, secret: bytes) -> int:
    data = value.encode() if isinstance(value, str) else value
    return int.from_bytes(blake2b(data, digest_size=8, key=secret).digest(), "little") >> 1


class Seen:
    """The ids of all batches so far, in sorted runs that double in size."""

    def __init__(self, name: str) -> None:
        self.name, self.runs = name, list[Ids]()

    def add(self, ids: Ids) -> None:
        """Refuse one that was there before: two rows would get the same noise."""
        run = np.sort(ids)
        if np.any(run[1:] == run[:-1]) or any(_share(old, run) for old in self.runs):
            cure = "each row needs an id of its own (texts: or two of them have one hash)"
            raise ValueError(f"key {self.name!r} repeats an id: {cure}")
        while self.runs and len(self.runs[-1]) <= len(run):
            run = np.sort(np.concatenate([self.runs.pop(), run]), kind="stable")
        self.runs.append(run)


def _share(one: Ids, other: Ids) -> bool:
    places = np.minimum(np.searchsorted(one, other), max(0, len(one) - 1))
    return bool(len(one) and np.any(one[places] == other))
