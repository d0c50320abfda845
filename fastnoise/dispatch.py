"""From arguments to kernels: arrays, outputs, rows. Nothing here draws or copies an array whole.

All arguments are checked before a stream is advanced or `out` is touched.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor, inf, prod
from numbers import Integral, Rational, Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.columns import column_of, is_column, name_of
from fastnoise.compiled import count_bad
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import noise_identity
from fastnoise.laws.law import CHUNK, Law, Limits
from fastnoise.rows import Rows, check_stream, requested_rows, rows_and_key
from fastnoise.stream import Stream
from fastnoise.validation import (
    bounds,
    data_array,
    data_refusal,
    integer_bounds,
    one_of,
    refusal,
    shape,
)

Array = npt.NDArray[Any]

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

BEYOND_INT64 = "x must be integers from -2**63 to 2**63 - 1, not beyond, if they are Python's own"

# Of a memmap comes an array in memory: where else to write is for the caller to say, with `out`.
PLAIN_ARRAYS = (np.ndarray, np.matrix, np.memmap)


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


def perturb(
    mechanism: Additive,
    x: Any,
    out: Any,
    stream: Stream | None,
    rows: Any,
    clip: Any,
    grid: Any,
    nan: str,
) -> Any:
    """See `Mechanism.perturb`."""
    refuse_odd_floats()
    one_of("nan", nan, "raise", "keep")
    check_stream(stream)
    law = mechanism._law(grid)
    if is_column(x):
        if out is not None:
            raise TypeError(f"out must be left out for a {name_of(x)}: a new one comes back")
        column = column_of(x, nan)
        parts = [_checked_array(part, mechanism, law) for part in column.parts]
        results = [_result(part, None, law) for part in parts]
        _perturb_parts(mechanism, law, grid, parts, results, stream, rows, clip, nan)
        return column.with_values(results)
    data = _checked_array(x, mechanism, law)
    result = _result(data, out, law)
    _perturb_parts(mechanism, law, grid, [data], [result], stream, rows, clip, nan)
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
    grid: Any,
    parts: Sequence[Array],
    results: Sequence[Array],
    stream: Stream | None,
    rows: Any,
    clip: Any,
    nan: str,
) -> None:
    """The parts of one column, whose rows follow each other, after all arguments are checked."""
    limits = _limits(clip, parts[0], law, nan == "keep")
    identity = noise_identity(mechanism, law, clip)
    count = sum(_rows_in(part, mechanism) for part in parts)
    if grid is not None:
        mechanism._check_spread(grid, count)
    chosen = requested_rows(rows, count, stream)
    _refuse_bad_values(parts, nan)
    if grid is None:
        message = "grid=None: float noise whose low bits give the data away, for simulation only"
        warnings.warn(message, TextbookNoiseWarning, stacklevel=4)
    if stream is not None:
        stream._warn_of_seed(stacklevel=5)
    _run(mechanism, law, identity, parts, results, stream, chosen, limits)


def sample(mechanism: Additive, size: Any, dtype: Any, out: Any, stream: Stream | None) -> Any:
    """See `Mechanism.sample`."""
    refuse_odd_floats()
    check_stream(stream)
    law = mechanism._law(mechanism.grid)
    default = np.int64 if law.integers else np.float64
    wanted = dtype if dtype is not None or out is None else np.asarray(out).dtype
    kind = _noise_dtype(default if wanted is None else wanted, law)
    wanted_shape = (*shape("size", size), *mechanism._row_shape)
    if out is None:
        try:
            result = np.empty(wanted_shape, kind)
        except ValueError:  # numpy's own words do not name it
            raise ValueError(refusal("size", size, "an array that numpy can hold")) from None
    else:
        result = _checked_out(out, np.shape(out) if size is None else wanted_shape, kind)
        _check_rows(result.shape, mechanism, "out")
    limits = _limits(None, result, law, nan=False)
    identity = noise_identity(mechanism, law)
    _run(mechanism, law, identity, None, [result], stream, None, limits)
    if out is not None:
        return out
    return result.item() if size is None and result.ndim == 0 else result


def _run(
    mechanism: Additive,
    law: Law,
    identity: bytes,
    parts: Sequence[Array] | None,
    results: Sequence[Array],
    stream: Stream | None,
    rows: Rows | None,
    limits: Limits,
) -> None:
    """Perturb `parts`, or zeros, into `results`: a fresh key, or the stream's for the identity."""
    count = sum(_rows_in(result, mechanism) for result in results)
    if count == 0:
        return
    rows, key = rows_and_key(stream, rows, count, identity)
    if parts is None:
        parts = results
        for result in results:
            result[...] = 0
    done = 0
    for part, result in zip(parts, results, strict=True):
        in_place = _is_same(part, result)
        for x, out in _chunks(part, result, _working_dtype(result.dtype)):
            try:
                law.perturb(key, rows, done, x, out, limits)
            except BaseException:
                # A buffer is written back on the way out: in place what was there, else nothing.
                if not np.shares_memory(x, out):
                    out[:] = x if in_place else 0
                raise
            done += x.size


def _rows_in(array: Array, mechanism: Additive) -> int:
    return array.size // prod(mechanism._row_shape)


def _check_rows(found: tuple[int, ...], mechanism: Additive, name: str = "x") -> None:
    wanted = mechanism._row_shape
    if wanted and found[-1:] != wanted:
        allowed = f"vectors of {wanted[0]} along the last axis"
        raise ValueError(f"{name} must hold {allowed}, not shape {found}")


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
    if _is_plain(data) and _is_plain(result) and data.dtype == kind == result.dtype:
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


def _is_plain(array: Array) -> bool:
    return array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative


def _noise_dtype(dtype: Any, law: Law) -> np.dtype[Any]:
    allowed = "an integer dtype" if law.integers else "float64 or float32"
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise TypeError(refusal("dtype", dtype, allowed)) from None
    fits = kind.kind in "iu" if law.integers else kind.newbyteorder("=") in FLOATS
    if not fits:
        raise TypeError(refusal("dtype", dtype, allowed))
    return kind


def _checked_array(x: Any, mechanism: Additive, law: Law) -> Array:
    data = _integer_array(x) if law.integers else _float_array(x, law)
    _check_rows(data.shape, mechanism)
    return data


def _float_array(x: Any, law: Law) -> Array:
    allowed = "numbers: a scalar, a list or a NumPy array of float64, float32 or integers"
    if isinstance(x, np.ndarray | np.generic | list | tuple):
        data = _as_array(x, allowed)
    elif isinstance(x, bool) or not isinstance(x, Real):
        raise TypeError(data_refusal("x", x, allowed))
    elif isinstance(x, Integral):
        data = np.asarray(max(-EXACT_FLOAT, min(int(x), EXACT_FLOAT)))
    else:
        data = np.asarray(_scalar(x, law))
    if data.dtype.kind not in "iu" and data.dtype.newbyteorder("=") not in FLOATS:
        raise TypeError(data_refusal("x", data, allowed))
    return data


def _scalar(x: Real, law: Law) -> float:
    """As a float; a fraction is snapped to the grid on the way.

    Rounded twice, to a float and to the grid, neighbours might be a step too far apart.
    """
    if not isinstance(x, Rational):
        value = float(x)
        if value != x and x == x:
            raise TypeError(data_refusal("x", x, "a number that is a float, or a fraction"))
        return value
    steps = floor(Fraction(x) / Fraction(law.grid) + Fraction(1, 2))
    if abs(steps) < EXACT_FLOAT and law.snapped:
        return steps * law.grid
    try:
        value = float(x)
    except OverflowError:
        value = inf
    if value == x or not law.snapped:
        return value
    allowed = "a float, or a fraction of less than 2**53 grid steps"
    raise ValueError(data_refusal("x", x, allowed))


def _integer_array(x: Any) -> Array:
    allowed = "integers: a scalar, a list or a NumPy array of int8 to int64 or uint8 to uint64"
    if isinstance(x, np.ndarray | np.generic | list | tuple):
        data = _as_array(x, allowed)
        if data.size == 0 and isinstance(x, list | tuple):
            return data.astype(np.int64)
        if data.dtype.kind not in "iu":
            raise TypeError(data_refusal("x", data, allowed))
        if data.dtype.kind == "u" and any(isinstance(value, int) for value in _leaves(x)):
            raise ValueError(BEYOND_INT64)  # or the limits of the sum would tell of the list
        return data
    if isinstance(x, bool) or not isinstance(x, Integral):
        raise TypeError(data_refusal("x", x, allowed))
    if not -(1 << 63) <= int(x) < 1 << 63:
        raise ValueError(BEYOND_INT64)
    return np.asarray(int(x), np.int64)


def _leaves(x: Any) -> Iterator[Any]:
    """What is in a list of lists."""
    if not isinstance(x, list | tuple):
        yield x
        return
    for part in x:
        yield from _leaves(part)


def _as_array(x: Any, allowed: str) -> Array:
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"x must be {allowed}, not a masked array: fill it first")
    if isinstance(x, np.ndarray) and type(x) not in PLAIN_ARRAYS:
        cure = "noise may not mean to it what it means to numbers, so pass np.asarray(x)"
        raise TypeError(f"x must be {allowed}, not a {type(x).__name__}: {cure}")
    return data_array("x", x, allowed)


def _result(data: Array, out: Any, law: Law) -> Array:
    kind = data.dtype if law.integers or data.dtype.kind == "f" else np.dtype(np.float64)
    if out is None:
        return np.empty_like(data, kind, subok=False)
    result = _checked_out(out, data.shape, kind)
    if _is_same(data, result) or not np.may_share_memory(data, result):
        return result
    if np.shares_memory(data, result):
        raise ValueError("out must be x itself or share no memory with it: they overlap in part")
    return result


def _is_same(data: Array, result: Array) -> bool:
    """Whether both are the same elements, in the same places."""
    return data is result or data.__array_interface__ == result.__array_interface__


def _checked_out(out: Any, wanted: tuple[int, ...], kind: np.dtype[Any]) -> Array:
    if not isinstance(out, np.ndarray) or isinstance(out, np.ma.MaskedArray):
        raise TypeError(refusal("out", type(out), "a NumPy array"))
    if out.dtype != kind:
        raise TypeError(f"out must have dtype {kind}, not {out.dtype}")
    if out.shape != wanted:
        raise ValueError(f"out must have shape {wanted}, not {out.shape}")
    if not out.flags.writeable:
        raise ValueError("out must be writeable, not read-only")
    if _overlaps(out):
        raise ValueError("out must not repeat its own elements: they overlap in memory")
    return out.view(np.ndarray)  # a matrix would stay two-dimensional whatever one does


def _overlaps(array: Array) -> bool:
    """Whether any two elements share memory, exactly; quick where axes are nested in each other."""
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
    if array.size == 0:
        return False
    extent, nested = array.itemsize, True
    for stride, n in axes:
        nested &= stride >= extent
        extent += stride * (n - 1)
    if nested or extent < array.size * array.itemsize:
        return not nested
    places = np.zeros(1, np.int64)
    for stride, n in axes:
        places = np.add.outer(places, stride * np.arange(n)).reshape(-1)
    return bool((np.diff(np.sort(places)) < array.itemsize).any())


def _refuse_bad_values(parts: Sequence[Array], nan: str) -> None:
    if parts[0].dtype.kind != "f":
        return
    keep = nan == "keep"
    counts = [_count_bad(part, keep) for part in parts]
    if bad := sum(counts):
        what = "infinite" if keep else "NaN or infinite"
        cure = "drop them" if keep else 'drop or fill them, or pass nan="keep" to let NaN through'
        first = next(i for i, count in enumerate(counts) if count)
        where, value = _first_bad(parts[first], keep, sum(part.size for part in parts[:first]))
        count = f"{bad} {what} value{'s' if bad > 1 else ''}"
        raise ValueError(f"x has {count}, the first {value} at {where}: {cure}")


def _count_bad(data: Array, keep: bool) -> int:
    if data.size == 0:
        return 0
    return sum(
        count_bad(part, keep)
        for part in ([data.reshape(-1)] if _is_plain(data) else _buffers(data))
    )


def _buffers(data: Array) -> Iterator[Array]:
    kind = data.dtype.newbyteorder("=")
    flags = ["external_loop", "buffered"]
    yield from np.nditer(data, flags, ["readonly", "contig"], kind, order="C", buffersize=CHUNK)  # type: ignore[call-overload]


def _first_bad(data: Array, keep: bool, before: int) -> tuple[str, float]:
    """Where, after so many values of other parts, and what."""
    done = 0
    for part in _buffers(data):
        bad = np.isinf(part) if keep else ~np.isfinite(part)
        if bad.any():
            flat = done + int(bad.argmax())
            index = tuple(int(i) for i in np.unravel_index(flat, data.shape))
            return f"index {before + index[0] if len(index) == 1 else index}", float(data[index])
        done += part.size
    raise AssertionError("a bad value was counted and is gone: x changed during the call")
