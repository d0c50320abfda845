"""From a call to kernels: law, rows and key, chunk after chunk. Nothing here draws.

All arguments are checked before a stream is advanced or `out` is touched, and no array is copied
whole.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from fastnoise_kernels import threads as _threads  # noqa: F401  # refuses FASTNOISE_NUM_THREADS
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
from fastnoise.compiled import count_bad
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import noise_identity
from fastnoise.laws.grids import CHANGED
from fastnoise.laws.law import Law, Limits
from fastnoise.pieces import Part, Piece, flat, in_threads, is_plain, write
from fastnoise.rows import FROM_0, Rows, check_stream, requested_rows, rows_and_key
from fastnoise.stream import KEY_BYTES, Stream
from fastnoise.validation import bounds, integer_bounds, one_of, refusal, shape

Array = npt.NDArray[Any]

SMALL = CHANGED  # values: a grid can only be too coarse for more


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
    if data.size > SMALL or not _perturb_small(law, data, result, options):
        _perturb_parts(mechanism, law, [Part(data)], [result], options)
    if out is not None:
        return out
    if isinstance(x, np.matrix):
        return result.view(np.matrix)
    if isinstance(x, (np.ndarray, list, tuple)):  # a union is made anew every time
        return result
    return result[()] if isinstance(x, np.generic) else result.item()


def _perturb_small(law: Law, data: Array, result: Array, options: Options) -> bool:
    """Whether this was a plain array and nothing but `nan` was chosen, and is done.

    `_perturb_parts` does the same and takes 2 microseconds longer, a third of a small call. All is
    checked here, too.
    """
    stream, rows, clip, grid, nan = options
    kind = result.dtype
    if not (
        stream is rows is clip is None is not grid
        and data.dtype == kind == _working_dtype(kind)
        and is_plain(data)
        and is_plain(result)
        and data.size
    ):
        return False
    x, keep = flat(data), nan == "keep"
    if not law.integers and count_bad(x, keep):
        return False  # and is refused there
    key = os.urandom(KEY_BYTES)
    law.perturb(key, FROM_0, 0, x, result.reshape(-1), _limits(None, kind, law.integers, keep))
    return True


def _perturb_parts(
    mechanism: Additive,
    law: Law,
    parts: Sequence[Part],
    results: Sequence[Array],
    options: Options,
) -> None:
    """The parts of one column, whose rows follow each other, after all arguments are checked."""
    stream, rows, clip, grid, nan = options
    limits = _limits(clip, parts[0].values.dtype, law.integers, nan == "keep")
    count = 0
    for part in parts:
        count += part.values.size // law.dim
    if grid is not None:
        mechanism._check_spread(grid, count)
    chosen = requested_rows(rows, count, stream)
    refuse_bad_values(parts, nan)
    if grid is None:
        message = "grid=None: float noise whose low bits give the data away, for simulation only"
        warnings.warn(message, TextbookNoiseWarning, stacklevel=4)
    if stream is not None:
        stream._warn_of_seed(stacklevel=5)
    if count:
        # Noise that nobody can draw again needs no identity.
        identity = b"" if stream is None else noise_identity(mechanism, law, clip)
        _run(law, parts, results, *rows_and_key(stream, chosen, count, identity), limits)


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
        identity = b"" if stream is None else noise_identity(mechanism, law)
        rows, key = rows_and_key(stream, None, count, identity)
        result[...] = 0
        limits = _limits(None, kind, law.integers, nan=False)
        _run(law, [Part(result)], [result], rows, key, limits)
    if out is not None:
        return out
    return result.item() if size is None and result.ndim == 0 else result


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
        x, out = part.ready(kind), _ready(result, kind)
        if x is None or out is None:
            _run_in_pieces(law, part, result, rows, done, key, limits)
        elif x.size:
            law.perturb(key, rows, done, x, out, limits)
        done += result.size


def _ready(result: Array, kind: np.dtype[Any]) -> Array | None:
    """In C order, if it lies like that in memory and kernels for that dtype can write it."""
    return result.reshape(-1) if result.dtype == kind and is_plain(result) else None


def _run_in_pieces(
    law: Law,
    part: Part,
    result: Array,
    rows: Rows,
    done: int,
    key: bytes,
    limits: Limits,
) -> None:
    """Through buffers, which are written back only when they are whole.

    A call that is interrupted leaves the rest of `result` as it was: in place, nothing is lost.
    """
    kind = _working_dtype(result.dtype)
    x, out = part.ready(kind), _ready(result, kind)

    def perturb(piece: Piece) -> None:
        values = part.read(piece, kind) if x is None else x[piece.range]
        to = np.empty_like(values) if out is None else out[piece.range]
        law.perturb(key, rows, done + piece.start, values, to, limits)
        part.blank(piece, to)
        if out is None:
            write(piece, to, result)

    for _ in in_threads(perturb, part.pieces()):
        pass


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
