"""Rows addressed by columns: whom each row is about, whatever the type of the ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.columns import arrow
from fastnoise.identity import MOST_INTEGER, Id, address, text_id
from fastnoise.stream import ROWS

Ids = npt.NDArray[np.int64]
ALLOWED = "integers, texts, UUIDs or dates"


def addresses(column: Callable[[str], Any], key_columns: Sequence[str], secret: bytes) -> Ids:
    """The row of each person; `column` finds a column by its name."""
    arrays = [_array(column(name), name) for name in key_columns]
    if len(arrays) == 1 and (rows := _whole_numbers(arrays[0])) is not None:
        return rows
    people = zip(
        *(_ids(array, name) for array, name in zip(arrays, key_columns, strict=True)), strict=True
    )
    return np.fromiter((address(person, secret) for person in people), np.int64, len(arrays[0]))


def _array(column: Any, name: str) -> Any:
    """As one Arrow array without missing values."""
    pyarrow = arrow()
    try:
        values = pyarrow.chunked_array(column) if _is_chunked(column) else pyarrow.array(column)
    except (pyarrow.ArrowException, TypeError, ValueError):  # whose words may show an id
        cure = "convert them to texts, which name the same people"
        raise TypeError(f"key {name!r} holds values of several types: {cure}") from None
    if isinstance(values, pyarrow.ChunkedArray):
        chunks = values.unify_dictionaries().chunks
        values = pyarrow.concat_arrays(chunks or [pyarrow.nulls(0, values.type)])
    missing = values.null_count
    if pyarrow.types.is_dictionary(values.type):
        missing += values.dictionary.null_count
    if missing:
        raise ValueError(f"key {name!r} has {missing} missing values: drop those rows")
    return values


def _is_chunked(column: Any) -> bool:
    return isinstance(column, arrow().ChunkedArray) or hasattr(column, "__arrow_c_stream__")


def _whole_numbers(values: Any) -> Ids | None:
    """Integers that are rows as they stand; None if any is not."""
    if not arrow().types.is_integer(values.type):
        return None
    found = values.to_numpy()
    if found.size and (int(found.min()) < 0 or int(found.max()) >= ROWS):
        return None
    return np.asarray(found, np.int64)


def _ids(values: Any, name: str) -> list[Id]:
    """Whom the values name (`fastnoise.identity`)."""
    types, kind = arrow().types, values.type
    if types.is_dictionary(kind):
        known = _ids(values.dictionary, name)
        return [known[i] for i in values.indices.to_pylist()]
    if kind == arrow().uuid():
        return list(values.storage.to_pylist())
    if types.is_integer(kind):
        return list(values.to_pylist())
    if types.is_date(kind):  # 2026-11-18, as in a text
        return list(values.cast(arrow().date32()).cast(arrow().string()).to_pylist())
    if types.is_decimal(kind) and kind.scale == 0:  # integers of databases
        return [_integer(int(value), name) for value in values.to_pylist()]
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return [text_id(text) for text in values.to_pylist()]
    raise TypeError(f"key {name!r} must hold {ALLOWED}, not {kind}")


def _integer(value: int, name: str) -> int:
    if not -(1 << 63) <= value <= MOST_INTEGER:
        raise ValueError(f"key {name!r} must hold integers from -2**63 to 2**64 - 1")
    return value


class Seen:
    """The addresses of all batches so far, in sorted runs that double in size."""

    def __init__(self, name: str) -> None:
        self.name, self.runs = name, list[Ids]()

    def add(self, rows: Ids) -> None:
        """Refuse one that was there before: two rows would get the same noise."""
        run = np.sort(rows)
        if np.any(run[1:] == run[:-1]) or any(_share(old, run) for old in self.runs):
            cure = "each row needs an id of its own (texts: or two of them have one hash)"
            raise ValueError(f"key {self.name} repeats an id: {cure}")
        while self.runs and len(self.runs[-1]) <= len(run):
            run = np.sort(np.concatenate([self.runs.pop(), run]), kind="stable")
        self.runs.append(run)


def _share(one: Ids, other: Ids) -> bool:
    places = np.minimum(np.searchsorted(one, other), max(0, len(one) - 1))
    return bool(len(one) and np.any(one[places] == other))
