"""From what a caller passes as `x`, `out` and `dtype` to arrays that kernels can take.

Whatever they cannot is refused here, without a value of the data in the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import floor, inf
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.compiled import count_bad
from fastnoise.laws.law import Law
from fastnoise.pieces import Part, in_threads
from fastnoise.validation import data_array, data_refusal, refusal

Array = npt.NDArray[Any]

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

BEYOND_INT64 = "x must be integers from -2**63 to 2**63 - 1, not beyond, if they are Python's own"

# Of a memmap comes an array in memory: where else to write is for the caller to say, with `out`.
PLAIN_ARRAYS = (np.ndarray, np.matrix, np.memmap)


ARRAYS = np.ndarray, np.generic, list, tuple


def array_of(x: Any, row_shape: tuple[int, ...], law: Law) -> Array:
    data = _integer_array(x) if law.integers else _float_array(x, law)
    check_row_shape("x", data.shape, row_shape)
    return data


def check_row_shape(name: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if wanted and found[-1:] != wanted:
        allowed = f"vectors of {wanted[0]} along the last axis"
        raise ValueError(f"{name} must hold {allowed}, not shape {found}")


def _float_array(x: Any, law: Law) -> Array:
    if type(x) is np.ndarray and x.dtype in FLOATS:
        return x  # as most are; the rest would find nothing else, in three times the time
    allowed = "numbers: a scalar, a list or a NumPy array of float64, float32 or integers"
    if isinstance(x, ARRAYS):
        data = _as_array(x, allowed)
    elif isinstance(x, bool) or not isinstance(x, Real):
        raise TypeError(data_refusal("x", x, allowed))
    elif isinstance(x, Integral):
        data = np.asarray(max(-EXACT_FLOAT, min(int(x), EXACT_FLOAT)))
    else:
        data = np.asarray(_scalar(x, law))
    if data.dtype not in FLOATS and not _may_be_float(data.dtype):
        raise TypeError(data_refusal("x", data, allowed))
    return data


def _may_be_float(kind: np.dtype[Any]) -> bool:
    return kind.kind in "iu" or kind.newbyteorder("=") in FLOATS


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
    if isinstance(x, ARRAYS):
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


def result_for(data: Array, out: Any, law: Law) -> Array:
    kind = data.dtype if law.integers or data.dtype.kind == "f" else np.dtype(np.float64)
    if out is None:
        return np.empty_like(data, kind, subok=False)
    result = checked_out(out, data.shape, kind)
    if data is out or not np.may_share_memory(data, result) or is_same(data, result):
        return result
    if np.shares_memory(data, result):
        raise ValueError("out must be x itself or share no memory with it: they overlap in part")
    return result


def is_same(data: Array, result: Array) -> bool:
    """Whether both are the same elements, in the same places."""
    return data is result or data.__array_interface__ == result.__array_interface__


def checked_out(out: Any, wanted: tuple[int, ...], kind: np.dtype[Any]) -> Array:
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
    if array.flags.c_contiguous or array.size == 0:
        return False
    axes = sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1)
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


def noise_dtype(dtype: Any, law: Law) -> np.dtype[Any]:
    allowed = "an integer dtype" if law.integers else "float64 or float32"
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise TypeError(refusal("dtype", dtype, allowed)) from None
    fits = kind.kind in "iu" if law.integers else kind.newbyteorder("=") in FLOATS
    if not fits:
        raise TypeError(refusal("dtype", dtype, allowed))
    return kind


def refuse_bad_values(parts: Sequence[Part], nan: str) -> None:
    if parts[0].values.dtype.kind != "f":
        return
    keep = nan == "keep"
    bad = 0
    for part in parts:
        bad += _count_bad(part, keep) if part.flat is None else count_bad(part.flat, keep)
    if bad:
        what = "infinite" if keep else "NaN or infinite"
        cure = "drop them" if keep else 'drop or fill them, or pass nan="keep" to let NaN through'
        where, value = _first_bad(parts, keep)
        count = f"{bad} {what} value{'s' if bad > 1 else ''}"
        raise ValueError(f"x has {count}, the first {value} at {where}: {cure}")


def _count_bad(part: Part, keep: bool) -> int:
    kind = part.values.dtype.newbyteorder("=")
    return sum(in_threads(lambda piece: count_bad(part.read(piece, kind), keep), part.pieces()))


def _first_bad(parts: Sequence[Part], keep: bool) -> tuple[str, float]:
    """Where, and what."""
    before = 0
    for part in parts:
        for piece in part.pieces():
            values = part.read(piece, part.values.dtype.newbyteorder("="))
            bad = np.isinf(values) if keep else ~np.isfinite(values)
            if bad.any():
                place = int(bad.argmax())
                index = tuple(map(int, np.unravel_index(piece.start + place, part.values.shape)))
                where = before + index[0] if len(index) == 1 else index
                return f"index {where}", float(values[place])
        before += part.values.size
    raise AssertionError("a bad value was counted and is gone: x changed during the call")
