"""From a call to kernels: law, rows and key, chunk after chunk. Nothing here draws.

All arguments are checked before a stream is advanced or `out` is touched, and no array is copied
whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.arrays import (
    array_of,
    check_row_shape,
    checked_out,
    noise_dtype,
    refuse_bad_values,
    result_for,
)
from fastnoise.columns import column_of, is_column, name_of
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import noise_identity
from fastnoise.laws.law import Law, Limits
from fastnoise.pieces import Lines, Part, is_plain, pieces
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
        parts = [
            Part(array_of(part.values, mechanism._row_shape, law), part.present)
            for part in column.parts
        ]
        results = [result_for(part.values, None, law) for part in parts]
        _perturb_parts(mechanism, law, parts, results, options)
        return column.with_values(results)
    data = array_of(x, mechanism._row_shape, law)
    result = result_for(data, out, law)
    _perturb_parts(mechanism, law, [Part(data)], [result], options)
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
    parts: Sequence[Part],
    results: Sequence[Array],
    options: Options,
) -> None:
    """The parts of one column, whose rows follow each other, after all arguments are checked."""
    limits = _limits(options.clip, parts[0].values.dtype, law.integers, options.nan == "keep")
    count = sum([part.values.size for part in parts]) // law.dim
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
        used = _rows_and_key(mechanism, law, options.clip, options.stream, rows, count)
        _run(law, parts, results, *used, limits)


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
    if count := result.size // law.dim:
        rows, key = _rows_and_key(mechanism, law, None, stream, None, count)
        result[...] = 0
        limits = _limits(None, kind, law.integers, nan=False)
        _run(law, [Part(result)], [result], rows, key, limits)
    if out is not None:
        return out
    return result.item() if size is None and result.ndim == 0 else result


def _rows_and_key(
    mechanism: Additive, law: Law, clip: Any, stream: Stream | None, rows: Rows | None, count: int
) -> tuple[Rows, bytes]:
    """Noise that nobody can draw again needs no identity."""
    identity = b"" if stream is None else noise_identity(mechanism, law, clip)
    return rows_and_key(stream, rows, count, identity)


def _run(
    law: Law,
    parts: Sequence[Part],
    results: Sequence[Array],
    rows: Rows,
    key: bytes,
    limits: Limits,
) -> None:
    """Perturb `parts` into `results`."""
    done = 0
    for part, result in zip(parts, results, strict=True):
        kind = _working_dtype(result.dtype)
        x, ready = part.ready(kind), result.dtype == kind and is_plain(result)
        if x is not None and ready:
            if x.size:
                law.perturb(key, rows, done, x, result.reshape(-1), limits)
        else:
            _run_in_pieces(law, part, result, kind, rows, done, key, limits)
        done += result.size


def _run_in_pieces(
    law: Law,
    part: Part,
    result: Array,
    kind: np.dtype[Any],
    rows: Rows,
    done: int,
    key: bytes,
    limits: Limits,
) -> None:
    """Through a buffer, which is written back only when it is whole.

    A call that is interrupted leaves the rest of `result` as it was: in place, nothing is lost.
    """
    buffer, lines = np.empty(0, kind), Lines.of(result)
    x = part.ready(kind)
    out = result.reshape(-1) if result.dtype == kind and is_plain(result) else None
    for piece in pieces(law.dim, part.lines, lines):
        size = piece.stop - piece.start
        buffer = buffer if buffer.size else np.empty(size, kind)  # the first one is the largest
        values = buffer[:size]
        if x is None:
            part.read(piece.start, values)
        to = values if out is None else out[piece]
        law.perturb(key, rows, done + piece.start, values if x is None else x[piece], to, limits)
        part.blank(piece.start, to)
        if out is None:
            lines.write(piece.start, to)


def _limits(clip: Any, kind: np.dtype[Any], integers: bool, nan: bool) -> Limits:
    if clip is None:
        return _widest_limits(kind, integers, nan)
    if integers:
        extent = np.iinfo(kind)
        low, high = integer_bounds("clip", clip, int(extent.min), int(extent.max))
        return Limits(low, high, int(extent.min), int(extent.max))
    bound = EXACT_FLOAT if kind.kind in "iu" else inf
    low_float, high_float = (float(min(max(b, -bound), bound)) for b in bounds("clip", clip))
    return Limits(low_float, high_float, nan=nan)


@cache
def _widest_limits(kind: np.dtype[Any], integers: bool, nan: bool) -> Limits:
    """Where nothing is clipped."""
    return _limits((-inf, inf), kind, integers, nan)


@cache
def _working_dtype(kind: np.dtype[Any]) -> np.dtype[Any]:
    """What kernels are compiled for: both floats, and the largest integers for all of them."""
    if kind.kind == "f":
        return np.dtype(f"f{kind.itemsize}")
    return np.dtype(np.uint64 if kind.kind == "u" and kind.itemsize == 8 else np.int64)
