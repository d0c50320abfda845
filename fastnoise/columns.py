"""Columns of other libraries: pandas, Polars, PyArrow, whatever speaks Arrow.

A column becomes arrays that share its memory, and a new column is made of the results, with the
validity, index, name and dtype of the old one. Nothing is imported unless such a column comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fastnoise.pieces import Part, Present

Array = npt.NDArray[Any]
ALLOWED = "a column of float64, float32 or integers"


class Column(Protocol):
    parts: list[Part]  # one at least

    def with_values(self, results: Sequence[Array]) -> Any: ...


def is_column(x: Any) -> bool:
    """Whether `x` offers itself as Arrow data (the Arrow PyCapsule interface).

    A Series of pandas 2 does not, but its array does what is needed.
    """
    series = hasattr(x, "array") and hasattr(x, "index")
    return series or hasattr(x, "__arrow_c_array__") or hasattr(x, "__arrow_c_stream__")


def column_of(x: Any, nan: str) -> Column:
    if len(getattr(x, "shape", ())) > 1 or hasattr(x, "column_names"):
        raise TypeError(f"x must be one column, not a {name_of(x)}: fastnoise.Plan takes tables")
    if type(x).__module__.partition(".")[0] == "narwhals":
        return _NarwhalsColumn(x, nan)
    if isinstance(getattr(x, "dtype", None), np.dtype):
        return _NumpyColumn(x)
    return _ArrowColumn(x, nan)


def name_of(x: Any) -> str:
    return f"{type(x).__module__.partition('.')[0]}.{type(x).__name__}"


class _NarwhalsColumn:
    """A narwhals Series: the Series of another library that it wraps."""

    def __init__(self, x: Any, nan: str) -> None:
        self.x, self.native = x, column_of(x.to_native(), nan)
        self.parts = self.native.parts

    def with_values(self, results: Sequence[Array]) -> Any:
        home = import_module(type(self.x).__module__)  # a stable API has a Series of its own
        home = home if hasattr(home, "from_native") else import_module("narwhals")
        return home.from_native(self.native.with_values(results), series_only=True)


class _NumpyColumn:
    """A pandas Series that holds a NumPy array; its missing values are NaN."""

    def __init__(self, x: Any) -> None:
        self.x, self.parts = x, [Part(x.to_numpy())]

    def with_values(self, results: Sequence[Array]) -> Any:
        return _pandas_like(self.x, results[0])


class _ArrowColumn:
    """Anything else: chunks of values, and a bit for each that says whether it is there."""

    def __init__(self, x: Any, nan: str) -> None:
        pyarrow = arrow()
        self.x, self.chunks = x, _chunks(x)
        nulls = sum(chunk.null_count for chunk in self.chunks)
        if nulls and nan != "keep":
            cure = 'drop or fill them, or pass nan="keep" to keep them'
            raise ValueError(f"x has {nulls} null{'s' if nulls > 1 else ''}: {cure}")
        kind = self.chunks[0].type
        floats = pyarrow.types.is_float32(kind) or pyarrow.types.is_float64(kind)
        if not (floats or pyarrow.types.is_integer(kind)):
            outer = str(kind).partition("<")[0]  # names within may come from the data
            raise TypeError(f"x must be {ALLOWED}, not of {outer}")
        self.parts = [_part(chunk) for chunk in self.chunks]

    def with_values(self, results: Sequence[Array]) -> Any:
        pairs = zip(self.chunks, results, strict=True)
        made = [_like(chunk, values) for chunk, values in pairs]
        if isinstance(self.x, arrow().Array):
            return made[0]
        chunked = arrow().chunked_array(made, made[0].type)
        if isinstance(self.x, arrow().ChunkedArray):
            return chunked
        if not hasattr(self.x, "index"):  # Polars
            return type(self.x)(self.x.name, chunked)
        values = _pandas_dtype(self.x.dtype, chunked.type).__from_arrow__(chunked)
        return _pandas_like(self.x, values)


def _pandas_like(x: Any, values: Any) -> Any:
    return type(x)(values, index=x.index, name=x.name, copy=False).__finalize__(x)


def arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        what = "columns and tables of other libraries need pyarrow"
        raise ImportError(f"{what}: pip install 'fastnoise[frames]'") from None
    return pyarrow


def _chunks(x: Any) -> list[Any]:
    """One chunk at least, which may be empty."""
    if hasattr(x, "array"):  # pandas: an extension array, with a mask of its own
        x = x.array
    try:
        found = arrow().array(x) if _is_single(x) else arrow().chunked_array(x)
    except (arrow().ArrowInvalid, arrow().ArrowTypeError):
        if not hasattr(x, "dtype"):
            raise
        # pandas' sparse arrays, Polars' 128-bit integers: a dtype may tell what it is filled with
        raise TypeError(f"x must be {ALLOWED}, not of {type(x.dtype).__name__}") from None
    chunks = [found] if isinstance(found, arrow().Array) else found.chunks
    return chunks or [arrow().nulls(0, found.type)]  # array([]) would import pandas


def _is_single(x: Any) -> bool:
    return hasattr(x, "__arrow_c_array__") or not hasattr(x, "__arrow_c_stream__")


def _part(chunk: Any) -> Part:
    """The values of a chunk, in its memory."""
    kind = np.dtype(chunk.type.to_pandas_dtype())
    if len(chunk) == 0:
        return Part(np.empty(0, kind))
    whole = np.frombuffer(chunk.buffers()[1], kind, chunk.offset + len(chunk))
    bits = chunk.buffers()[0] if chunk.null_count else None
    present = None if bits is None else Present(np.frombuffer(bits, np.uint8), chunk.offset)
    return Part(whole[chunk.offset :], present)


def _like(chunk: Any, values: Array) -> Any:
    """An array of these values, which are 0 where `chunk` is null, and it is null there, too."""
    pyarrow = arrow()
    kind, bits = pyarrow.from_numpy_dtype(values.dtype), None
    if chunk.null_count:
        bits = _shifted(chunk.buffers()[0], chunk.offset, len(values))
    buffers = [bits, pyarrow.py_buffer(values)]
    return pyarrow.Array.from_buffers(kind, len(values), buffers, chunk.null_count)


def _shifted(bits: Any, first: int, count: int) -> Any:
    """The bits from `first` on: a copy of them unless that is the first one of a byte."""
    skipped, shift = divmod(first, 8)
    if shift == 0:
        return bits.slice(skipped)
    found = np.frombuffer(bits, np.uint8)[skipped : (first + count + 7) // 8]
    upper = np.append(found[1:], np.uint8(0)) << (8 - shift)
    return arrow().py_buffer(found >> shift | upper)


def _pandas_dtype(dtype: Any, kind: Any) -> Any:
    """The pandas dtype of the same family for an Arrow type, which may have become float64."""
    if hasattr(dtype, "pyarrow_dtype"):
        return type(dtype)(kind)
    if dtype.numpy_dtype == kind.to_pandas_dtype():
        return dtype
    import pandas

    return pandas.Float64Dtype()
