"""Laws made of tables that no mechanism has, and what tests ask of laws."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, expm1, floor

import numpy as np

from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.laws.l2 import law as laws_of_l2
from fastnoise.laws.l2.law import L2Law
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.laws.layers.balls import l1_points
from fastnoise.laws.layers.law import BallLaw, BoxLaw
from fastnoise.laws.layers.reader import BallReader, BoxReader
from fastnoise.laws.layers.tables import layer_tables
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.laws.line.law import StaircaseLaw
from fastnoise.laws.line.tables import staircase_tables

READERS = {"box_staircase": BoxReader, "l1_staircase": BallReader, "l2_laplace": L2Reader}
STAIRCASE_TABLES = [  # epsilon, steps, radius
    (1.0, 2**20, 395_882),
    (1.0, 1, 1),
    (0.5, 10, 3),
    (2.0, 1_048_577, 1_048_577),
    (0.01, 2**20, 1),
    (0.0045, 1_000_003, 400_000),
    (1e-3, 2**20, 2**19),
    (1e-6, 2**30, 5),
    (1e-8, 2**20, 2**19),
    (5.0, 2**21, 159_000),
    (20.0, 2**35, 1_560_000),
    (50.0, 2**56, 2**20),
    (100.0, 2**57, 1),
    (1000.0, 2**57, 3),
    (1e5, 2**57, 2**57),
    (1e300, 2**20, 1),
]


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


def l2_law(dim: int, scale: float, fine: int, monkeypatch):
    """A law with cells of so many bits, be they sensible or not."""
    with monkeypatch.context() as patch:
        patch.setattr(laws_of_l2, "fine_bits", lambda dim, scale: fine)
        tables = laws_of_l2.l2_tables(dim, scale)
    return vector_law("l2_laplace", tables, [1.0] * dim)


def wide_vectors(filler):
    """Noise that often leaves the integers that floats have without gaps."""
    steps, radius = 1 << 48, 1 << 47
    if filler == "l1_staircase":
        points = [l1_points(2, radius - 1 + k * steps) for k in range(3)]
        sizes = [steps], [radius]
    else:
        points = [(2 * (radius + k * steps) - 1) ** 2 for k in range(3)]
        sizes = [steps] * 2, [radius] * 2
    tables = layer_tables(1 / 8, points, *sizes)
    return vector_law(filler, tables, [2.0**-20, 2.0**-12])


WIDE = line_law(staircase_tables(1e-2, 2**50, 2**49), 2.0**-20)
DEEPER = line_law(staircase_tables(2.0**-6, 2**57, 2**50), 2.0**-20)


def half_up(x: float, grid: float) -> int:
    return floor(Fraction(x) / Fraction(grid) + Fraction(1, 2))


def exact(x: float, noise: int, grid: float) -> float:
    return float((half_up(x, grid) + noise) * Fraction(grid))


def leaks(law: DrawnLaw, fall: Fraction, points: list[int]) -> list[int]:
    """Points whose probability is further from the next one's than a factor e**fall."""
    above = exp_bounds(fall)[1]
    pairs = [(n, law.point(n), law.point(n + 1)) for n in points]
    return [n for n, p, q in pairs if not 0 < p * above <= q <= p / above]


def one_step_excess(law: DrawnLaw, fall: Fraction) -> Fraction:
    """At least what p(n) is above e**fall p(n + 1), added up, if all but the last two keep it."""
    growth = 1 / exp_bounds(fall)[1]
    last, end = law.point(law.end - 1), law.point(law.end)
    assert end <= last * growth
    assert law.point(law.end + 1) == 0
    return end + max(Fraction(0), last - growth * end)


def one_step_delta(epsilon: float, delta: Fraction, steps: int) -> Fraction:
    """Not more than delta (e**(epsilon / steps) - 1) / (e**epsilon - 1)."""
    growth = 1 / exp_bounds(Fraction(epsilon) / steps)[1] - 1
    return delta * growth / (1 / exp_bounds(epsilon)[0] - 1)


def costs_at_edges(steps, rng):
    """Where levels begin, up to 2**52 grid steps; a half, a rounding away; others; and negative."""
    last = (2**52 - steps.radius) // steps.steps
    starts = [0, 1, 2, 1000, last // 4, last // 2, last - 1, last]
    starts += [int(last * 2.0**-e) for e in rng.random(300) * 32]
    edges = np.array([steps.radius + start * steps.steps for start in starts], float)
    around = [edges + more for more in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    around += [np.nextafter(edges - 0.5, to) for to in (0.0, np.inf)]
    sizes = [*around, [0.0, 0.5, np.nextafter(0.5, 0), 2.0**52, 2.0**53, 2.0**90, 1e300], starts]
    sizes = np.concatenate([*sizes, 2.0 ** (rng.random(300) * 60 - 4)])
    return np.concatenate([sizes, -sizes]) * steps.grid


def end_of(steps, row, at):
    """The first word beyond candidate `at`."""
    levels = [steps.level(cost) for cost in row]
    exponents = [Fraction(steps.epsilon) * (level - min(levels)) for level in levels]
    weights = [exp_bounds(exponent, 40)[0] for exponent in exponents]
    return ceil(sum(weights[: at + 1]) / sum(weights) * 2**64)


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
