"""Choosing candidates in bulk: from costs to indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import frexp
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.compiled import compiles, count_bad
from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import noise_identity
from fastnoise.laws.choice.law import ChoiceLaw
from fastnoise.laws.law import CHUNK
from fastnoise.rows import Rows, check_stream, requested_rows, rows_and_key
from fastnoise.stream import Stream
from fastnoise.validation import data_array, data_refusal

Array = npt.NDArray[Any]


class UnfitCosts(Exception):
    """A cost is NaN or infinite."""


def choose(mechanism: Any, costs: Any, stream: Stream | None, rows: Any) -> Any:
    """See `StaircaseChoice.choose`."""
    refuse_odd_floats()
    check_stream(stream)
    law, costs = mechanism._law(mechanism.grid), cost_array(costs)
    # Without a stream no rows are used up before the kernel sees what is unfit.
    if (stream is not None or not compiles()) and (unfit := _unfit(costs)):
        raise ValueError(unfit)
    out = np.empty(costs.shape[:-1], np.int64)
    chosen = requested_rows(rows, out.size, stream)
    if stream is not None:
        stream._warn_of_seed()
    if out.size:
        try:
            _run(mechanism, law, costs, out, stream, chosen)
        except UnfitCosts:
            raise ValueError(_unfit(costs) or "costs changed while they were read") from None
    return out.item() if out.ndim == 0 else out


def _run(
    mechanism: Any,
    law: ChoiceLaw,
    costs: Array,
    out: Array,
    stream: Stream | None,
    rows: Rows | None,
) -> None:
    rows, key = rows_and_key(stream, rows, out.size, noise_identity(mechanism, law))
    done, flat = 0, out.reshape(-1)
    for block in _blocks(costs, law.grid):
        part = flat[done : done + len(block)]
        _choose_block(law, key, rows.after(done), block, part)
        done += len(block)


def _choose_block(law: ChoiceLaw, key: bytes, rows: Rows, costs: Array, out: Array) -> None:
    places: Iterable[int] = range(len(costs))
    if compiles():
        undecided = law.choose(key, rows, costs, out)
        places = np.flatnonzero(out < 0).tolist() if undecided else range(0)
        if undecided and not np.isfinite(costs[places]).all():
            raise UnfitCosts
    for row in places:
        out[row] = law.reader.choose(key, rows.address(row), costs[row].tolist())


def _blocks(costs: Array, grid: float) -> Iterator[Array]:
    """The rows in C order, as contiguous float64 matrices of moderate size."""
    count = costs.shape[-1]
    step = max(1, CHUNK // count)
    if costs.flags.c_contiguous:
        costs = costs.reshape(-1, count)
    for index in np.ndindex(costs.shape[:-2]):
        matrix = costs[index].reshape(-1, count) if costs.ndim < 2 else costs[index]
        if matrix.dtype == np.float64 and matrix.flags.c_contiguous and matrix.flags.aligned:
            yield matrix
        else:
            for start in range(0, len(matrix), step):
                yield _floats(matrix[start : start + step], grid)


def _floats(costs: Array, grid: float) -> Array:
    """Costs as contiguous floats; 64-bit integers are snapped to the grid on the way.

    Rounded twice, to a float and to the grid, neighbours might be two levels apart. What is still
    rounded is beyond 2**53 steps, where all costs are the same.
    """
    bits = frexp(grid)[1] - 1
    if costs.dtype.kind in "iu" and costs.dtype.itemsize == 8 and bits > 0:
        halves = costs >> np.array(bits - 1, costs.dtype)
        costs = ((halves >> 1) + (halves & 1)) * grid
    return np.ascontiguousarray(costs, np.float64)


def cost_array(costs: Any) -> Array:
    allowed = "numbers of shape (..., k), the costs of k candidates"
    data = data_array("costs", costs, allowed)
    if (
        data.dtype.kind not in "iuf"
        or data.dtype.itemsize > 8
        or isinstance(costs, np.ma.MaskedArray)
    ):
        raise TypeError(data_refusal("costs", costs, allowed))
    if data.ndim == 0 or data.shape[-1] == 0:
        raise ValueError(f"costs must be {allowed}, not of shape {data.shape}")
    return data


def _unfit(costs: Array) -> str:
    """What is wrong with costs that are not numbers; nothing if there are none."""
    bad = sum(count_bad(block.reshape(-1), False) for block in _blocks(costs, 1.0))
    if not bad:
        return ""
    first = next(i for i in np.ndindex(costs.shape) if not np.isfinite(costs[i]))
    count = f"{bad} NaN or infinite value{'s' if bad > 1 else ''}"
    where = f"the first {costs[first]} at index {first}"
    return f"costs has {count}, {where}: every candidate needs a cost"
