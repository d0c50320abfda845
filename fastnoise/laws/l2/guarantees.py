"""What is proved of l2 noise, in numbers and in words."""

from __future__ import annotations

import struct
from fractions import Fraction
from math import inf

from fastnoise_kernels import layout

from fastnoise.arithmetic.bounds import CERTAIN
from fastnoise.arithmetic.elementary import root_bounds
from fastnoise.arithmetic.floats import float_above
from fastnoise.certificate import Guarantee
from fastnoise.laws.alias import Tables

ROOT_BITS = 200


def l2_guarantee(
    tables: Tables, epsilon: float, sensitivity: float, grid: float, users: int, changed: int
) -> Guarantee:
    """Of l2 noise made for so many users, of which `changed` change; real numbers on a grid.

    A row is decided in intervals, with more bits of its own until nothing is left open, so what is
    drawn is the law of real numbers of that scale, rounded to the grid: epsilon is the l2 distance
    of snapped inputs over the scale, with no delta. Where scales differ by a factor 1 + h, one
    density is at least (1 + h)**-dim times the other, and total variation at most dim h.
    """
    dim, step = int(tables[layout.DIM]), Fraction(grid)
    given = struct.unpack("<d", int(tables[layout.SCALE]).to_bytes(8, "little"))[0]
    if not 0 < given < inf:
        return Guarantee(inf, 0.0, 1.0, "bounded", "nothing.", "nothing.")
    scale, (low, high) = Fraction(given) * step, root_bounds(dim, ROOT_BITS)
    ideal = [
        (Fraction(sensitivity) + users * root * step) / Fraction(epsilon) for root in (low, high)
    ]
    apart = max(scale / ideal[0], ideal[1] / scale) - 1
    return Guarantee(
        float_above((Fraction(sensitivity) + changed * high * step) / scale),
        0.0,
        float_above(min(CERTAIN, dim * apart)),
        "bounded",
        "every draw, which is the rounding of real numbers: where floats leave it open, the row is "
        "computed again in intervals with more bits of its own, as many as it takes; the scale, "
        "read back from the law.",
        "errors of floats, by which a kernel knows what it leaves open; epsilon, by the distance "
        "of inputs on the grid over the scale; the total variation, by how much the scale was "
        "rounded up.",
        changed,
    )
