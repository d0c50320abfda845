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
    columns = [_chunks(column(name), name) for name in key_columns]
    if len(columns) == 1 and (rows := _whole_numbers(columns[0])) is not None:
        return rows
    people = list(zip(*map(_ids, columns, key_columns), strict=True))
    return np.fromiter((address(person, secret) for person in people), np.int64, len(people))


def _chunks(column: Any, name: str) -> list[Any]:
    """As Arrow arrays, one at least, each with a dictionary of its own if it has one."""
    pyarrow = arrow()
    try:
        values = pyarrow.chunked_array(column) if _is_chunked(column) else pyarrow.array(column)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):  # which may show an id
        what = "values of several types, or of one without an Arrow type of 64 bits"
        cure = "convert them to texts, which name the same people"
        raise TypeError(f"key {name!r} holds {what}: {cure}") from None
    if isinstance(values, pyarrow.ChunkedArray):
        return values.chunks or [pyarrow.nulls(0, values.type)]
    return [values]


def _is_chunked(column: Any) -> bool:
    return isinstance(column, arrow().ChunkedArray) or hasattr(column, "__arrow_c_stream__")


def _whole_numbers(chunks: Sequence[Any]) -> Ids | None:
    """Integers that are rows as they stand; None if any is not."""
    found = []
    for values in chunks:
        if not arrow().types.is_integer(values.type) or values.null_count:
            return None
        numbers = values.to_numpy()
        if numbers.size and (int(numbers.min()) < 0 or int(numbers.max()) >= ROWS):
            return None
        found.append(np.asarray(numbers, np.int64))
    return np.concatenate(found)


def _ids(chunks: Sequence[Any], name: str) -> list[Id]:
    """Whom the values name (`fastnoise.identity`)."""
    found = [person for values in chunks for person in _people(values, name)]
    if missing := found.count(None):
        raise ValueError(f"key {name!r} has {missing} missing values: drop those rows")
    return found


def _people(values: Any, name: str) -> list[Any]:
    """The same, None where there is nobody."""
    types, kind = arrow().types, values.type
    if types.is_dictionary(kind):
        known = _people(values.dictionary, name)
        return [None if i is None else known[i] for i in values.indices.to_pylist()]
    if kind == arrow().uuid():
        return list(values.storage.to_pylist())
    if types.is_integer(kind) or types.is_null(kind):
        return list(values.to_pylist())
    if types.is_date(kind):  # 2026-11-18, as in a text
        return list(_days(values, name).cast(arrow().string()).to_pylist())
    if types.is_decimal(kind) and kind.scale == 0:  # integers of databases
        return [v if v is None else _integer(int(v), name) for v in values.to_pylist()]
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return [t if t is None else text_id(t) for t in values.to_pylist()]
    # Names of fields may come from the data, where pandas or Polars made a type of it.
    raise TypeError(f"key {name!r} must hold {ALLOWED}, not {str(kind).partition('<')[0]}")


def _days(values: Any, name: str) -> Any:
    try:
        return values.cast(arrow().date32())
    except ValueError:  # with the time in it
        raise ValueError(f"key {name!r} must hold dates of whole days") from None


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
