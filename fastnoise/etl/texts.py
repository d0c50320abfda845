"""Numbers that are texts: each becomes a float that lies in the text's own cell of the grid.

The nearest float of a text is not always enough, because it is rounded again, to the grid. But the
edges of cells, the odd multiples of half a step, are floats themselves up to 2**52 steps, and no
text is rounded past a float: only one whose float is such an edge can have come from the cell
below. Further out floats are on the grid or coarser than it. Those few texts are snapped exactly,
and those that have no float of their own get their noise in integers.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor, ldexp
from typing import Any

import numpy as np
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.columns import arrow


def float_column(texts: Any, grid: float, low: float, high: float) -> tuple[Any, dict[int, int]]:
    """A column of floats for one of texts, which are to be clipped and then snapped to the grid.

    Beyond 2**53 steps floats are further apart than the grid: the grid points, in steps, of the
    numbers that no float is equal to, by their row.
    """
    floats = texts.cast(arrow().float64())
    values = floats.to_numpy()  # missing ones are NaN
    with np.errstate(invalid="ignore", over="ignore"):
        is_edge = values * (2.0 / grid) % 2.0 == 1.0
        doubtful = is_edge | (np.abs(values) >= ldexp(grid, 52))
    doubtful &= np.isfinite(values) & (values >= low) & (values <= high)
    places = np.flatnonzero(doubtful)
    between: dict[int, int] = {}
    if not places.size:
        return floats, between
    values = values.copy()
    for place, text in zip(places.tolist(), texts.take(places).to_pylist(), strict=True):
        exact = min(max(Decimal(text), Decimal(low)), Decimal(high))
        if exact != Decimal(values[place].item()):
            steps = floor(Fraction(exact) / Fraction(grid) + Fraction(1, 2))
            if abs(steps) > EXACT_FLOAT:
                between[place] = steps
            else:
                values[place] = steps * grid
    column = arrow().array(values, mask=floats.is_null().to_numpy(), from_pandas=False)
    return column, between
