"""Numbers that are texts: each becomes a float that lies in the text's own cell of the grid.

The nearest float of a text is not always enough, because it is rounded again, to the grid. But the
edges of cells, the odd multiples of half a step, are floats themselves up to 2**52 steps, and no
text is rounded past a float: only one whose float is such an edge can have come from the cell
below. Further out floats are on the grid or coarser than it. Those few texts are snapped exactly.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor, ldexp
from typing import Any

import numpy as np
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.columns import arrow


def float_column(texts: Any, grid: float, low: float, high: float) -> Any:
    """A column of floats for one of texts, which are to be clipped and then snapped to the grid.

    Beyond 2**53 steps a text that is no float has no grid point that is one: a ValueError.
    """
    floats = texts.cast(arrow().float64())
    values = floats.to_numpy()  # missing ones are NaN
    with np.errstate(invalid="ignore", over="ignore"):
        is_edge = values * (2.0 / grid) % 2.0 == 1.0
        doubtful = is_edge | (np.abs(values) >= ldexp(grid, 52))
    doubtful &= np.isfinite(values) & (values >= low) & (values <= high)
    places = np.flatnonzero(doubtful)
    if not places.size:
        return floats
    values = values.copy()
    unfit = 0
    for place, text in zip(places.tolist(), texts.take(places).to_pylist(), strict=True):
        exact = Decimal(text)
        if exact != Decimal(values[place].item()):
            steps = floor(Fraction(exact) / Fraction(grid) + Fraction(1, 2))
            if abs(steps) > EXACT_FLOAT:
                unfit += 1
            else:
                values[place] = steps * grid
    if unfit:
        what = (
            f"{unfit} number{'s' * (unfit > 1)} beyond 2**53 grid steps that no float is equal to"
        )
        raise ValueError(f"{what}: clip or round the column")
    return arrow().array(values, mask=floats.is_null().to_numpy(), from_pandas=False)
