"""What is proved of l2 noise, in numbers and in words."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
from fastnoise_kernels import layout

from fastnoise.arithmetic.bounds import CERTAIN
from fastnoise.arithmetic.elementary import root_bounds
from fastnoise.arithmetic.floats import float_above
from fastnoise.certificate import Guarantee
from fastnoise.laws.l2.law import L2Law

ROOT_BITS = 200


def guarantee(law: L2Law, changed: int | None) -> Guarantee:
    """What is proved if `changed` users change together; by default, as many as it was made for.

    A row is decided in intervals, with more bits of its own until nothing is left open, so what is
    drawn is the law of real numbers of that scale, rounded to the grid: epsilon is the l2 distance
    of snapped inputs over the scale, with no delta. Where scales differ by a factor 1 + h, one
    density is at least (1 + h)**-dim times the other, and total variation at most dim h.
    """
    dim, step = int(law.tables[layout.DIM]), Fraction(law.grid)
    given = float(law.tables.view(np.float64)[layout.SCALE])
    if not 0 < given < inf:
        return Guarantee(inf, 0.0, 1.0, "bounded", "nothing.", "nothing.")
    scale, (low, high) = Fraction(given) * step, root_bounds(dim, ROOT_BITS)
    own, moved = Fraction(law.sensitivity), changed or law.users
    ideal = [(own + law.users * root * step) / Fraction(law.epsilon) for root in (low, high)]
    apart = max(scale / ideal[0], ideal[1] / scale) - 1
    return Guarantee(
        float_above((own + moved * high * step) / scale),
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
