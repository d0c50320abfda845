"""Rows addressed by columns: whom each row is about, whatever the type of the ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.columns import arrow
from fastnoise.compiled import read_only
from fastnoise.rows import Rows
from fastnoise.stream import ROWS
from fastnoise.tags import Words, block_tags, text_tags

ALLOWED = "integers, texts, UUIDs or dates"
MANY = "integers from -2**63 to 2**64 - 1"
MASK_64 = np.uint64((1 << 64) - 1)


def addresses(column: Callable[[str], Any], key_columns: Sequence[str], secret: bytes) -> Rows:
    """The row of each person; `column` finds a column by its name."""
    columns = [_chunks(column(name), name) for name in key_columns]
    if len(columns) == 1 and (rows := _whole_numbers(columns[0])) is not None:
        return Rows(-1, read_only(rows))
    alone = len(columns) == 1
    tags = [
        np.concatenate([_tags(values, name, secret, alone) for values in chunks])
        for chunks, name in zip(columns, key_columns, strict=True)
    ]
    found = tags[0] if alone else block_tags(b"t", np.hstack(tags), secret, alone=True)
    lows, tops = np.ascontiguousarray(found[:, 0]), found[:, 1].astype(np.uint32)
    return Rows(-1, read_only(lows.view(np.int64)), read_only(tops if tops.any() else tops[:0]))


def _chunks(column: Any, name: str) -> list[Any]:
    """As Arrow arrays, one at least, each with a dictionary of its own if it has one."""
    pyarrow = arrow()
    try:
        values = pyarrow.chunked_array(column) if _is_chunked(column) else pyarrow.array(column)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):  # which may show an id
        what = "values of several types, or of one without an Arrow type of 64 bits"
        cure = "convert them to texts, which name the same people"
        raise TypeError(f"key {name!r} holds {what}: {cure}") from None
    chunks = values.chunks if isinstance(values, pyarrow.ChunkedArray) else [values]
    chunks = chunks or [pyarrow.nulls(0, values.type)]
    for chunk in chunks:
        _refuse_other_types(chunk.type, name)
    if missing := sum(int(_missing(chunk).sum()) for chunk in chunks):
        raise ValueError(f"key {name!r} has {missing} missing values: drop those rows")
    return chunks


def _is_chunked(column: Any) -> bool:
    return isinstance(column, arrow().ChunkedArray) or hasattr(column, "__arrow_c_stream__")


def _refuse_other_types(kind: Any, name: str) -> None:
    types = arrow().types
    while types.is_dictionary(kind):
        kind = kind.value_type
    known = types.is_integer(kind) or types.is_null(kind) or types.is_date(kind)
    if not (known or _is_text(kind) or _is_whole(kind) or kind == arrow().uuid()):
        # Names of fields may come from the data, where pandas or Polars made a type of it.
        raise TypeError(f"key {name!r} must hold {ALLOWED}, not {str(kind).partition('<')[0]}")


def _is_text(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_whole(kind: Any) -> bool:
    """Integers of databases."""
    return bool(arrow().types.is_decimal(kind) and kind.scale == 0)


def _missing(values: Any) -> npt.NDArray[np.bool_]:
    """Where there is nobody."""
    if not arrow().types.is_dictionary(values.type):
        if values.null_count == 0:
            return np.zeros(len(values), bool)
        return np.asarray(values.is_null().to_numpy(zero_copy_only=False))
    found, known = _missing(values.indices), _missing(values.dictionary)
    return found | known[_places(values)] if known.any() else found


def _places(values: Any) -> npt.NDArray[np.integer]:
    """Where in its dictionary a value is; 0 where there is none."""
    return np.asarray(values.indices.fill_null(0).to_numpy())


def _whole_numbers(chunks: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """Integers that are rows as they stand; None if any is not."""
    found = []
    for values in chunks:
        if not arrow().types.is_integer(values.type):
            return None
        numbers = values.to_numpy()
        if numbers.size and (int(numbers.min()) < 0 or int(numbers.max()) >= ROWS):
            return None
        found.append(np.asarray(numbers, np.int64))
    return np.concatenate(found)


def _tags(values: Any, name: str, secret: bytes, alone: bool) -> Words:
    """Of each value; if it is an id alone, its address instead. Nobody's may be anything."""
    types, kind = arrow().types, values.type
    if types.is_dictionary(kind):
        known = _tags(values.dictionary, name, secret, alone)
        return known[_places(values)] if len(known) else np.zeros((len(values), 2), np.uint64)
    if len(values) == 0 or types.is_null(kind):
        return np.zeros((len(values), 2), np.uint64)
    if kind == arrow().uuid():
        return block_tags(b"b", _blocks(values.storage), secret, alone)
    if types.is_integer(kind) or _is_whole(kind):
        return block_tags(b"i", _integers(values, name), secret, alone)
    if types.is_date(kind):  # 2026-11-18, as in a text
        values = _days(values, name).cast(arrow().string())
    return text_tags(*_texts(values), secret, alone)


def _blocks(values: Any) -> Words:
    """Values of sixteen bytes."""
    start = values.offset
    words: Words = np.frombuffer(values.buffers()[1], "<u8", 2 * (start + len(values)))
    return words.reshape(-1, 2)[start:]


def _integers(values: Any, name: str) -> Words:
    """As integers of 128 bits."""
    if arrow().types.is_integer(values.type):
        numbers = values.fill_null(0).to_numpy()
        found = np.empty((numbers.size, 2), np.uint64)
        found[:, 0] = numbers  # of negative ones 2**64 is added
        found[:, 1] = np.where(numbers < 0, MASK_64, 0)
        return found
    found = _blocks(_decimals(values, name))
    low, high = found.view(np.int64).T
    small = (high == 0) | (high == -1) & (low < 0) | _missing(values)
    if not small.all():
        raise ValueError(f"key {name!r} must hold {MANY}")
    return found


def _decimals(values: Any, name: str) -> Any:
    try:
        return values.cast(arrow().decimal128(38, 0))
    except arrow().ArrowInvalid:
        raise ValueError(f"key {name!r} must hold {MANY}") from None


def _texts(values: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Where texts start, and the last one ends; their bytes."""
    pyarrow = arrow()
    if pyarrow.types.is_string_view(values.type):
        values = _joined(values)
    kind = np.dtype(np.int32 if pyarrow.types.is_string(values.type) else np.int64)
    _, offsets, data = values.buffers()
    found = np.frombuffer(offsets, kind, len(values) + 1, values.offset * kind.itemsize)
    return found.astype(np.int64), np.frombuffer(data or b"", np.uint8)


def _joined(values: Any) -> Any:
    """Texts in views (Polars has them) as texts that follow each other."""
    kind = arrow().large_string()
    try:
        return values.cast(kind)
    except arrow().ArrowNotImplementedError:
        return arrow().array(values.to_pylist(), kind)


def _days(values: Any, name: str) -> Any:
    try:
        return values.cast(arrow().date32())
    except ValueError:  # with the time in it
        raise ValueError(f"key {name!r} must hold dates of whole days") from None
