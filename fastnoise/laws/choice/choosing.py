"""Choosing candidates in bulk: from costs to indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from math import ceil, exp, floor, frexp
from typing import Any

import numpy as np
import numpy.typing as npt
from fastnoise_kernels import layout
from fastnoise_kernels.polynomials import LN2

from fastnoise.float_mode import refuse_odd_floats
from fastnoise.identity import encoded, noise_identity
from fastnoise.laws.engine import CHUNK, compiles, count_bad
from fastnoise.laws.line.reader import row_words
from fastnoise.laws.line.tables import exp_above
from fastnoise.rows import Rows, check_stream, read_only, requested_rows, rows_and_key
from fastnoise.stream import Stream
from fastnoise.validation import data_array, data_refusal

Array = npt.NDArray[Any]
MOST_STEPS = 1 << 52  # as in the kernel: costs beyond count as that
NEVER = 745.0  # e**-745 is no float: a larger epsilon makes no difference to those


@dataclass(frozen=True)
class Steps:
    """Levels of costs on a grid: 0 below `radius` steps, then 1 more every `steps`."""

    epsilon: float
    grid: float
    steps: int
    radius: int

    @property
    def digest(self) -> bytes:
        """Of all that decides a choice."""
        sizes = self.epsilon.hex(), self.grid.hex(), self.steps, self.radius
        return sha256(encoded(sizes)).digest()

    def level(self, cost: float) -> int:
        """A cost snapped to the grid with exact round-half-up has this level.

        Costs `steps` grid points apart are one level apart at most, so neighbours are.
        """
        snapped = floor(Fraction(cost) / Fraction(self.grid) + Fraction(1, 2))
        beyond = min(abs(snapped), MOST_STEPS) - self.radius
        return max(0, beyond // self.steps + 1)


def choice_steps(epsilon: float, sensitivity: float, gamma: float, grid: float) -> Steps:
    steps = ceil(Fraction(sensitivity) / Fraction(grid))
    return Steps(epsilon, grid, steps, max(1, round(Fraction(gamma or 1.0) * steps)))


def rate_of(epsilon: float) -> float:
    """-epsilon / ln 2, to two roundings: a level costs that many powers of two."""
    return -min(epsilon, NEVER) / LN2


def law_of(steps: Steps) -> Array:
    """What the kernel is told: sizes of levels, in halves of a grid step, then the rate."""
    sizes = 2.0 / steps.grid, 1.0 - 2.0 * steps.radius - steps.steps, 0.5 / steps.steps
    return read_only(np.array([*sizes, rate_of(steps.epsilon)]))


@lru_cache(maxsize=64)
def tables_of(steps: Steps, count: int) -> Array:
    """Weights for the kernel in 32 bits, digit by digit of a level; none if it cannot be used.

    Level 0 weighs what a sum of `count` such weights has room for. A level with more digits than
    there are has to weigh less than 1.
    """
    largest, base = layout.MOST_WEIGHT // count, layout.LEVEL_BASE
    epsilon = min(steps.epsilon, NEVER)
    enough = (n for n in layout.LEVEL_DIGITS if largest * exp(-epsilon * (base**n - 1)) < 0.5)
    fits = steps.steps >= layout.LEAST_STEPS and count <= layout.MOST_CANDIDATES
    digits = next(enough, 0) if fits else 0
    with np.errstate(under="ignore"):
        tables = np.exp(-epsilon * np.outer(base ** np.arange(digits), np.arange(base)))
        tables[:1] *= largest
        return read_only(tables.astype(np.float32).reshape(-1))


class UnfitCosts(Exception):
    """A cost is NaN or infinite."""


class ChoiceReader:
    """Choices in exact arithmetic: e**-epsilon to as many bits as it takes."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def choose(self, key: bytes, row: int, costs: list[float]) -> int:
        return self.draw(row_words(key, row, 2), costs)

    def draw(self, words: Iterator[int], costs: list[float]) -> int:
        """The first i whose running sum of weights is beyond a uniform number times their sum."""
        levels = [self.steps.level(cost) for cost in costs]
        levels = [level - min(levels) for level in levels]
        uniform, bits = next(words), 64
        while True:
            low, high = self._sums(levels, bits + 64)
            first = next(i for i, sum_ in enumerate(high) if sum_ << bits > uniform * low[-1])
            if first == len(levels) - 1 or low[first] << bits >= (uniform + 1) * high[-1]:
                return first
            uniform, bits = uniform << 64 | next(words), bits + 64

    def _sums(self, levels: list[int], bits: int) -> tuple[list[int], list[int]]:
        """Bounds of the running sums of e**(-epsilon * level), in units of 2**-bits."""
        low, high, lows, highs = 0, 0, [], []
        for level in levels:
            above = exp_above(Fraction(self.steps.epsilon) * level, bits) * (1 << bits)
            low, high = low + max(0, int(above) - 2), high + int(above)
            lows.append(low)
            highs.append(high)
        return lows, highs


def choose(mechanism: Any, costs: Any, stream: Stream | None, rows: Any) -> Any:
    """See `StaircaseChoice.choose`."""
    refuse_odd_floats()
    check_stream(stream)
    steps, data = mechanism._steps, cost_array(costs)
    # Without a stream no rows are used up before the kernel sees what is unfit.
    if (stream is not None or not compiles()) and (unfit := _unfit(data)):
        raise ValueError(unfit)
    result = np.empty(data.shape[:-1], np.int64)
    chosen = requested_rows(rows, result.size, stream)
    if stream is not None:
        stream._warn_of_seed()
    if result.size:
        try:
            _run(mechanism, steps, data, result, stream, chosen)
        except UnfitCosts:
            raise ValueError(_unfit(data) or "costs changed meanwhile") from None
    return result.item() if result.ndim == 0 else result


def _run(
    mechanism: Any,
    steps: Steps,
    data: Array,
    result: Array,
    stream: Stream | None,
    rows: Rows | None,
) -> None:
    rows, key = rows_and_key(stream, rows, result.size, noise_identity(mechanism, steps))
    done, flat = 0, result.reshape(-1)
    for block in _blocks(data, steps.grid):
        part = flat[done : done + len(block)]
        _choose_block(steps, key, rows.after(done), block, part)
        done += len(block)


def _choose_block(steps: Steps, key: bytes, rows: Rows, costs: Array, out: Array) -> None:
    places: Iterable[int] = range(len(costs))
    if compiles():
        from fastnoise_kernels import choice

        count = costs.shape[1]
        values = read_only(costs.reshape(-1))
        words = np.frombuffer(key, "<u4")
        law = law_of(steps), tables_of(steps, count)
        arguments = words, rows.first, rows.ids, values, count, *law, out
        undecided = choice.choose(len(costs), *arguments, grain=count)
        places = np.flatnonzero(out < 0).tolist() if undecided else range(0)
        if undecided and not np.isfinite(costs[places]).all():
            raise UnfitCosts
    reader = ChoiceReader(steps)
    for row in places:
        out[row] = reader.choose(key, rows.row(row), costs[row].tolist())


def _blocks(data: Array, grid: float) -> Iterator[Array]:
    """The rows in C order, as contiguous float64 matrices of moderate size."""
    count = data.shape[-1]
    step = max(1, CHUNK // count)
    if data.flags.c_contiguous:
        data = data.reshape(-1, count)
    for index in np.ndindex(data.shape[:-2]):
        matrix = data[index].reshape(-1, count) if data.ndim < 2 else data[index]
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


def _unfit(data: Array) -> str:
    """What is wrong with costs that are no numbers; nothing if there are none."""
    bad = sum(count_bad(block.reshape(-1), False) for block in _blocks(data, 1.0))
    if not bad:
        return ""
    first = next(i for i in np.ndindex(data.shape) if not np.isfinite(data[i]))
    count = f"{bad} NaN or infinite value{'s' if bad > 1 else ''}"
    where = f"the first {data[first]} at index {first}"
    return f"costs has {count}, {where}: every candidate needs a cost"
