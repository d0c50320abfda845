"""From a call to kernels: law, rows and key, chunk after chunk. Nothing here draws.

All arguments are checked before a stream is advanced or `out` is touched, and no array is copied
whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import inf, prod
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from fastnoise_kernels import threads as _threads  # noqa: F401  # refuses FASTNOISE_NUM_THREADS
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.arrays import (
    array_of,
    check_row_shape,
    checked_out,
    is_plain,
    is_same,
    noise_dtype,
    refuse_bad_values,
    result_for,
)
from fastnoise.columns import column_of, is_column, name_of
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import noise_identity
from fastnoise.laws.law import CHUNK, Law, Limits
from fastnoise.rows import Rows, check_stream, requested_rows, rows_and_key
from fastnoise.stream import Stream
from fastnoise.validation import bounds, integer_bounds, one_of, refusal, shape

Array = npt.NDArray[Any]


class Additive(Protocol):
    """What is asked of a mechanism here."""

    @property
    def grid(self) -> Any: ...

    @property
    def _row_shape(self) -> tuple[int, ...]: ...

    def _law(self, grid: Any) -> Law: ...

    def _check_spread(self, grid: Any, rows: int) -> None: ...


class TextbookNoiseWarning(UserWarning):
    """Float noise added to a float: the low bits of the sum give the data away."""


class Options(NamedTuple):
    """What a caller of `perturb` may choose; `grid` is checked."""

    stream: Stream | None
    rows: Any
    clip: Any
    grid: Any
    nan: str


def perturb(mechanism: Additive, x: Any, out: Any, options: Options) -> Any:
    """See `Mechanism.perturb`."""
    refuse_odd_floats()
    one_of("nan", options.nan, "raise", "keep")
    check_stream(options.stream)
    law = mechanism._law(options.grid)
    if is_column(x):
        if out is not None:
            raise TypeError(f"out must be left out for a {name_of(x)}: a new one comes back")
        column = column_of(x, options.nan)
        parts = [array_of(part, mechanism._row_shape, law) for part in column.parts]
        results = [result_for(part, None, law) for part in parts]
        _perturb_parts(mechanism, law, parts, results, options)
        return column.with_values(results)
    data = array_of(x, mechanism._row_shape, law)
    result = result_for(data, out, law)
    _perturb_parts(mechanism, law, [data], [result], options)
    if out is not None:
        return out
    if isinstance(x, np.matrix):
        return result.view(np.matrix)
    if isinstance(x, np.ndarray | list | tuple):
        return result
    return result[()] if isinstance(x, np.generic) else result.item()


def _perturb_parts(
    mechanism: Additive,
    law: Law,
    parts: Sequence[Array],
    results: Sequence[Array],
    options: Options,
) -> None:
    """The parts of one column, whose rows follow each other, after all arguments are checked."""
    limits = _limits(options.clip, parts[0], law, options.nan == "keep")
    identity = noise_identity(mechanism, law, options.clip)
    count = _rows_in(parts, mechanism)
    if options.grid is not None:
        mechanism._check_spread(options.grid, count)
    rows = requested_rows(options.rows, count, options.stream)
    refuse_bad_values(parts, options.nan)
    if options.grid is None:
        message = "grid=None: float noise whose low bits give the data away, for simulation only"
        warnings.warn(message, TextbookNoiseWarning, stacklevel=4)
    if options.stream is not None:
        options.stream._warn_of_seed(stacklevel=5)
    if count:
        _run(law, parts, results, *rows_and_key(options.stream, rows, count, identity), limits)


def sample(mechanism: Additive, size: Any, dtype: Any, out: Any, stream: Stream | None) -> Any:
    """See `Mechanism.sample`."""
    refuse_odd_floats()
    check_stream(stream)
    law = mechanism._law(mechanism.grid)
    default = np.int64 if law.integers else np.float64
    wanted = dtype if dtype is not None or out is None else np.asarray(out).dtype
    kind = noise_dtype(default if wanted is None else wanted, law)
    wanted_shape = (*shape("size", size), *mechanism._row_shape)
    if out is None:
        try:
            result = np.empty(wanted_shape, kind)
        except ValueError:  # numpy's own words do not name it
            raise ValueError(refusal("size", size, "an array that numpy can hold")) from None
    else:
        result = checked_out(out, np.shape(out) if size is None else wanted_shape, kind)
        check_row_shape("out", result.shape, mechanism._row_shape)
    if count := _rows_in([result], mechanism):
        rows, key = rows_and_key(stream, None, count, noise_identity(mechanism, law))
        result[...] = 0
        _run(law, [result], [result], rows, key, _limits(None, result, law, nan=False))
    if out is not None:
        return out
    return result.item() if size is None and result.ndim == 0 else result


def _run(
    law: Law,
    parts: Sequence[Array],
    results: Sequence[Array],
    rows: Rows,
    key: bytes,
    limits: Limits,
) -> None:
    """Perturb `parts` into `results`."""
    done = 0
    for part, result in zip(parts, results, strict=True):
        in_place = is_same(part, result)
        for x, out in _chunks(part, result, _working_dtype(result.dtype)):
            try:
                law.perturb(key, rows, done, x, out, limits)
            except BaseException:
                # A buffer is written back on the way out: in place what was there, else nothing.
                if not np.shares_memory(x, out):
                    out[:] = x if in_place else 0
                raise
            done += x.size


def _rows_in(parts: Sequence[Array], mechanism: Additive) -> int:
    return sum(part.size for part in parts) // prod(mechanism._row_shape)


def _limits(clip: Any, data: Array, law: Law, nan: bool) -> Limits:
    if law.integers:
        extent = np.iinfo(data.dtype)
        low, high = integer_bounds("clip", clip, int(extent.min), int(extent.max))
        return Limits(low, high, int(extent.min), int(extent.max))
    bound = EXACT_FLOAT if data.dtype.kind in "iu" else inf
    low_float, high_float = (float(min(max(b, -bound), bound)) for b in bounds("clip", clip))
    return Limits(low_float, high_float, nan=nan)


def _working_dtype(kind: np.dtype[Any]) -> np.dtype[Any]:
    """What kernels are compiled for: both floats, and the largest integers for all of them."""
    if kind.kind == "f":
        return np.dtype(f"f{kind.itemsize}")
    return np.dtype(np.uint64 if kind.kind == "u" and kind.itemsize == 8 else np.int64)


def _chunks(data: Array, result: Array, kind: np.dtype[Any]) -> Iterator[tuple[Array, Array]]:
    """`data` and `result` in C order: whole if they are plain arrays, else through buffers."""
    if data.size == 0:
        return
    if is_plain(data) and is_plain(result) and data.dtype == kind == result.dtype:
        yield data.reshape(-1), result.reshape(-1)
        return
    buffers = np.nditer(  # type: ignore[call-overload]  # numpy's stubs misspell "contig"
        [data, result],
        flags=["external_loop", "buffered", "delay_bufalloc"],
        op_flags=[["readonly", "contig"], ["writeonly", "contig"]],
        op_dtypes=[kind, kind],
        order="C",
        casting="unsafe",
        buffersize=CHUNK,
    )
    with buffers:
        buffers.reset()
        yield from buffers
