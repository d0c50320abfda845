"""Laws made of tables that no mechanism has, and what tests ask of laws."""

from fractions import Fraction
from itertools import pairwise
from math import exp, expm1

from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.laws.l2.law import L2Law
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.laws.layers.law import BallLaw, BoxLaw
from fastnoise.laws.layers.reader import BallReader, BoxReader
from fastnoise.laws.line.law import StaircaseLaw

READERS = {"box_staircase": BoxReader, "l1_staircase": BallReader, "l2_laplace": L2Reader}


def drawn_law(mechanism):
    """What a mechanism draws on its own grid."""
    return mechanism._law(mechanism.grid)


def line_law(tables, grid=1.0, integers=False):
    """A law on the line with these tables; what it claims to be does not matter."""
    law = StaircaseLaw(grid=grid, integers=integers, epsilon=1.0, steps=1, radius=1)
    return law.with_tables(tables)


def vector_law(filler, tables, grids):
    """A law of vectors with these tables, drawn by that filler."""
    fields = {"grid": grids[0], "dim": len(grids), "epsilon": 1.0}
    kinds = {
        "box_staircase": (BoxLaw, {"steps": (1,), "radii": (1,), "units": grids}),
        "l1_staircase": (BallLaw, {"steps": 1, "radius": 1}),
        "l2_laplace": (L2Law, {"sensitivity": 1.0, "users": 1, "scale": 1.0}),
    }
    kind, more = kinds[filler]
    return kind(**fields, **more).with_tables(tables)


# --- ideal probabilities ------------------------------------------------------------------------


def ideal_level(epsilon, steps, radius, level, bits=400):
    """P(level) of the staircase with e**-epsilon itself, to about 2**-bits."""
    b = exp_bounds(epsilon, bits)[0]
    height = (1 - b) / (2 * radius + 2 * b * (steps - radius) - (1 - b))
    return height * (2 * radius - 1) if level == 0 else height * b**level * 2 * steps


def ideal_laplace(fall, noise, digits=120):
    """P(noise) of the discrete Laplace law that falls by e**-fall per step."""
    b = exp_bounds(fall, digits)[0]
    return (1 - b) / (1 + b) * exp_bounds(fall * abs(noise), digits)[0]


def integer_sf(noise, epsilon, steps, radius):
    """P(X >= noise) of the integer staircase, for noise >= 0.

    See docs/mathematics.md#discrete-staircase.
    """
    b, q = exp(-epsilon), exp(-epsilon) / -expm1(-epsilon)
    height = 1 / (2 * radius - 1 + 2 * steps * q)
    k, j = divmod(noise, steps)
    inside = min(j, radius) + b * max(0, j - radius)
    return b**k * ((1 + height) / 2 - height * inside)


def ideal_layers(epsilon, first, points):
    """P(layer k), proportional to e**(-epsilon k) * points[k], of which `first` tell all."""
    b = exp_bounds(epsilon, 200)[0]
    total, row, m = Fraction(0), list(first), 0
    while row:  # sums of b**k C(k, m)
        total += row[0] * b**m / (1 - b) ** (m + 1)
        row, m = [y - x for x, y in pairwise(row)], m + 1
    powers = [exp_bounds(Fraction(epsilon) * k, 60)[0] for k in range(len(points))]
    return [power * p / total for power, p in zip(powers, points, strict=True)]


# --- what tables hold -----------------------------------------------------------------------------


def mass(law, levels):
    """P(level <= levels)."""
    return sum(law.level(k) for k in range(levels + 1))


def layer_probabilities(law, beyond):
    """P(layer 0), P(layer 1), .. to that many entries beyond the last table."""
    *lower, top = law.coins
    last = Fraction(top[law.last], law.whole)
    entries = [Fraction(weight, law.whole) for weight in top[: law.last]]
    entries += [last * part for part in law.beyond(beyond)]
    below = [Fraction(1)]
    for weights, times in zip(lower, law.times, strict=False):
        weights = weights[: max(i for i, weight in enumerate(weights) if weight) + 1]
        below = _convolved(below, [Fraction(w, law.whole) for w in weights], times)
    size = law.times[-1] * len(entries)  # layers from there on are not complete
    return _convolved(below, entries, law.times[-1])[:size]


def _convolved(a, b, times):
    total = [Fraction(0)] * (len(a) + times * (len(b) - 1) + times)
    for j, y in enumerate(b):
        for i, x in enumerate(a):
            total[i + times * j] += x * y
    return total
