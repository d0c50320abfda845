"""Are neighbours never further apart than e**epsilon, in exact arithmetic and in draws?

Exact: point probabilities from the words of the tables, at both sides of step edges, shifted by 1
and by a whole sensitivity. In draws: outputs of two inputs a sensitivity apart, cell by cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import exp, nextafter
from typing import Any

import numpy as np
from fastnoise_kernels import layout
from scipy.stats import binom

from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.arithmetic.floats import exact_delta
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.verify.fit import ALPHA, SHARES, Floats, Values
from fastnoise.verify.ideal import (
    IdealCut,
    IdealFall,
    IdealLayers,
    IdealSteps,
    ideal_law,
    many_digits,
    step_delta,
)
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.subjects import (
    CHOICES,
    EXTREME,
    USUAL,
    data_dtype,
    families,
    from_tables,
    neighbour_step,
)
from fastnoise.verify.tables import DEPTH, LayerSums, level_span

DRAWS = 200_000
FAR = 6  # sensitivities apart, which draws must tell from one
SHORT = 500  # integers of a support that is added up whole


def rows() -> list[Row]:
    drawn = [m for m in [*USUAL, *EXTREME] if from_tables(m)]
    lively = families([m for m in USUAL if 0.3 <= m.epsilon <= 3 and not m.delta])
    return [
        *by_family("ratios", check_exactly, families(drawn)),
        *by_family("ratios", check_levels, families(CHOICES)),
        *by_family("ratios", check_draws, {f"{name} in draws": ms for name, ms in lively.items()}),
    ]


def check_exactly(mechanism: Any, tally: Tally) -> None:
    check_claim(mechanism, mechanism.epsilon, exact_delta(mechanism.delta), tally)


def check_claim(mechanism: Any, epsilon: float, delta: Fraction, tally: Tally) -> None:
    """Whether nothing in the tables contradicts that they are (epsilon, delta)-DP."""
    law = mechanism._law(mechanism.grid).tables
    with many_digits():
        ideal = ideal_law(mechanism)
    match ideal:
        case IdealLayers():
            check_layers(DrawnLayers(law), ideal, Fraction(epsilon), tally)
        case IdealCut():
            check_cut(DrawnLaw(law), ideal, Fraction(epsilon), delta, tally)
        case IdealSteps() | IdealFall():
            check_line(DrawnLaw(law), ideal, Fraction(epsilon), tally)


def power_above(epsilon: Fraction) -> Fraction:
    """At least e**-epsilon, by next to nothing."""
    return min(Fraction(1), exp_bounds(epsilon)[1])


# --- laws on the line -----------------------------------------------------------------------------


def check_line(
    law: DrawnLaw, ideal: IdealSteps | IdealFall, epsilon: Fraction, tally: Tally
) -> None:
    """A staircase may fall by all of epsilon at a step, a Laplace law in proportion only."""
    for shift in (1, ideal.steps):
        whole = isinstance(ideal, IdealSteps) or shift == ideal.steps
        allowed = epsilon if whole else epsilon * shift / ideal.steps
        pairs = ((n, n + shift) for n in edge_points(law))
        compare(law, pairs, allowed, tally)


def edge_points(law: DrawnLaw) -> list[int]:
    """Both sides of step edges, on both sides of 0, and of edges of the tables."""
    digits = int(law.tables[layout.DIGIT_LEVELS]) * (law.levels if law.laps else 1)
    levels = {0, 1, 2, law.levels, law.levels + digits, DEPTH}
    sides = {n for level in levels for n in level_span(law, level)}
    sides |= {law.radius + (1 << i) - 1 for i in range(len(law.slopes.slopes))}
    return sorted(sides | {-n for n in sides})


def compare(
    law: DrawnLaw, pairs: Iterable[tuple[int, int]], epsilon: Fraction, tally: Tally
) -> None:
    above = power_above(epsilon)
    for n, moved in pairs:
        p, q = law.point(n), law.point(moved)
        holds = 0 < p * above <= q and q * above <= p
        tally.expect(holds, f"P({n}) and P({moved}) are further apart than e**{float(epsilon)}")


def check_cut(
    law: DrawnLaw, ideal: IdealCut, epsilon: Fraction, delta: Fraction, tally: Tally
) -> None:
    """(epsilon / steps, delta')-DP for a change of 1, and so (epsilon, delta) for one of `steps`.

    Where the support is short, also straight from the definition, at a shift of `steps`.
    """
    fall, end = epsilon / ideal.steps, ideal.core + 1
    inner = [n for n in edge_points(law) if -end < n < end - 1]
    compare(law, ((n, n + 1) for n in inner), fall, tally)
    growth, last, ends = 1 / power_above(fall), law.point(end - 1), law.point(end)
    excess = ends + max(Fraction(0), last - growth * ends)
    with many_digits():
        allowed = Fraction(step_delta(epsilon, delta, ideal.steps))
    tally.expect(excess <= allowed, f"the end at {end} costs more than delta {float(delta)}")
    tally.expect(law.point(end + 1) == 0, f"{end + 1} is possible")
    if end <= SHORT:
        excess = hockey_stick(law, 1 / power_above(epsilon), end, ideal.steps)
        tally.expect(excess <= delta, f"delta is {float(excess)} at a shift of {ideal.steps}")


def hockey_stick(law: DrawnLaw, growth: Fraction, end: int, shift: int) -> Fraction:
    """What P(n) is above growth * P(n + shift), added up."""
    points = {n: law.point(n) for n in range(-end, end + 1)}
    excess = (p - growth * points.get(n + shift, Fraction(0)) for n, p in points.items())
    return sum((e for e in excess if e > 0), Fraction(0))


# --- layers and levels ----------------------------------------------------------------------------


def check_layers(law: DrawnLayers, ideal: IdealLayers, epsilon: Fraction, tally: Tally) -> None:
    """A point of set j has the shares of all layers from j on: if none of these falls by more than
    e**epsilon to the next, nor do their sums, and a change moves a point by one set at most."""
    above, sums = power_above(epsilon), LayerSums(law)
    edges = {0, law.last, *(times * e for times in law.times for e in (1, 2, law.last // 2))}
    for edge in sorted(edges):
        near = range(max(0, edge - 2), edge + 3)
        shares = [sums.probability(layer) / ideal.points(layer) for layer in near]
        for layer, (here, below) in zip(near, pairwise(shares), strict=False):
            tally.expect(
                0 < here * above <= below, f"a point is more than e**epsilon rarer at {layer + 1}"
            )


def check_levels(mechanism: Any, tally: Tally) -> None:
    """Costs a sensitivity apart are one level apart at most, at the edges of levels above all."""
    steps, width = mechanism._law(mechanism.grid), mechanism.sensitivity
    edges = [(mechanism.gamma + k) * width for k in (0, 1, 2, 50)]
    for edge in (*edges, 0.0, *(-edge for edge in edges)):
        for cost in (edge, nextafter(edge, -1e9), nextafter(edge, 1e9), edge + 0.3 * width):
            apart = abs(steps.level(cost) - steps.level(cost + width))
            tally.expect(apart <= 1, f"costs {cost} and {cost + width} are {apart} levels apart")


# --- draws ----------------------------------------------------------------------------------------


def check_draws(mechanism: Any, tally: Tally) -> None:
    near, far = (apart(mechanism, times) for times in (1, FAR))
    tally.expect(not near, "outputs of neighbours differ by more than e**epsilon")
    tally.expect(far, f"the test lets inputs {FAR} sensitivities apart pass")


def apart(mechanism: Any, times: int) -> bool:
    """Whether some cell is more than e**epsilon as likely for one input as for another.

    An exact test: given where all outputs are, which input each is of is a coin, and that shows one
    side with a chance of e**epsilon / (1 + e**epsilon) at most.
    """
    change = times * neighbour_step(mechanism)
    here, there = outputs(mechanism, 0 * change), outputs(mechanism, change)
    edges = np.unique(np.quantile(np.concatenate([here, there]), SHARES))
    cells = [np.searchsorted(edges, y) for y in (here, there)]
    counts = [np.bincount(cell, minlength=edges.size + 1) for cell in cells]
    most = 1 / (1 + exp(-mechanism.epsilon))
    chances = [binom.sf(one - 1, sum(counts), most) for one in counts]
    return bool(np.min(chances) < ALPHA / (2 * counts[0].size))


def outputs(mechanism: Any, x: Floats) -> Values:
    """First coordinates of what is released of one row, many times."""
    count = DRAWS // getattr(mechanism, "dim", 1)
    data = np.tile(x, (count, 1)).reshape(count, *mechanism._row_shape)
    released = mechanism.perturb(data.astype(data_dtype(mechanism)))
    return np.asarray(released.reshape(count, -1)[:, 0])
