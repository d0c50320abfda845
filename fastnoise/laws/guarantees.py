"""What is proved of each kind of law, in numbers and in words."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction
from math import inf, isqrt, prod

from fastnoise_kernels import layout

from fastnoise.arithmetic.bounds import CERTAIN
from fastnoise.arithmetic.floats import float_above
from fastnoise.certificate import Guarantee
from fastnoise.ideal.discrete_uniform import FlatWeights
from fastnoise.ideal.truncated_discrete_laplace import stated_delta, truncation
from fastnoise.laws.layers.balls import count_thresholds, l1_points
from fastnoise.laws.layers.proof import LayerProof
from fastnoise.laws.line import proof as line
from fastnoise.laws.line.drawn import DrawnLaw, DrawnLayers
from fastnoise.laws.line.tables import Law

READ_BACK = (
    "the probabilities, which are integers over a power of two, read back from the tables that "
    "kernels draw from; "
)
BOUNDED = "the total variation, in interval arithmetic, table by table"
ROOT_BITS = 200


def staircase_guarantee(law: Law, epsilon: float, steps: int, radius: int) -> Guarantee:
    """Of the integer staircase, for one element that moves by at most `steps`."""
    drawn = DrawnLaw(law)
    return Guarantee(
        line.staircase_epsilon(drawn, steps),
        0.0,
        float_above(line.staircase_distance(drawn, epsilon, steps, radius)),
        "exact",
        READ_BACK
        + "epsilon, which is the logarithm of the largest ratio between two adjacent levels. "
        "Beyond the tables the same ratios come again, so it holds at any depth.",
        f"{BOUNDED}.",
    )


def laplace_guarantee(
    law: Law, epsilon: float, steps: int, shift: int, changed: int | None
) -> Guarantee:
    """Of the discrete Laplace law of sensitivity `steps`, for a change of `shift` steps in l1."""
    drawn = DrawnLaw(law)
    return Guarantee(
        line.endless_epsilon(drawn, shift),
        0.0,
        float_above(line.laplace_distance(drawn, Fraction(epsilon) / steps)),
        "exact",
        READ_BACK
        + "the largest ratio between two adjacent integers, whose logarithm is what a step costs. "
        "Beyond the tables the same ratios come again, so it holds at any depth.",
        f"epsilon, by that cost times the steps that inputs can be apart ({shift:,}); {BOUNDED}.",
        changed,
    )


def uniform_guarantee(law: Law, ideal: FlatWeights, shift: int, changed: int | None) -> Guarantee:
    """Of the flat law, for a change of `shift` in l1."""
    drawn = DrawnLaw(law)
    return Guarantee(
        0.0 if drawn.is_sound() else inf,
        stated_delta(line.uniform_delta(drawn, shift)),
        float_above(line.uniform_distance(drawn, *ideal)),
        "exact",
        READ_BACK
        + "delta, which is the sensitivity times the largest of them; the total variation.",
        "nothing.",
        changed,
    )


def truncated_guarantee(
    law: Law, epsilon: float, delta: Fraction, shift: int, changed: int | None
) -> Guarantee:
    """Of the law with its tails cut off, for a change of `shift` in l1."""
    drawn, core = DrawnLaw(law), truncation(epsilon, delta, shift)
    proved, excess = line.truncated_guarantee(drawn, epsilon, shift)
    return Guarantee(
        proved,
        stated_delta(excess),
        float_above(line.truncated_distance(drawn, epsilon, delta, shift, core)),
        "exact",
        READ_BACK
        + "the largest ratio between two adjacent integers before the ends, and how much the ends "
        "are above it.",
        f"delta, from that of one step by group privacy, in interval arithmetic; {BOUNDED}.",
        changed,
    )


def ball_guarantee(law: Law, epsilon: float, steps: int, radius: int) -> Guarantee:
    """Of nested l1 balls of integers, for a vector that moves by at most `steps` in l1."""
    drawn = DrawnLayers(law)
    (its_steps, its_radius), *_ = drawn.sizes
    if drawn.thresholds != count_thresholds(drawn.dim, its_steps, its_radius):
        return Guarantee(inf, 0.0, 1.0, "exact", "nothing.", "nothing.")  # some ball is not uniform
    points = [l1_points(drawn.dim, its_radius - 1 + k * its_steps) for k in range(drawn.dim + 1)]
    return _layer_guarantee(drawn, epsilon, [(steps, radius)], points)


def box_guarantee(
    law: Law, epsilon: float, steps: Sequence[int], radii: Sequence[int]
) -> Guarantee:
    """Of nested boxes of integers, for a vector whose coordinates move by at most `steps` each."""
    drawn = DrawnLayers(law)
    sides = [[2 * (r + k * n) - 1 for n, r in drawn.sizes] for k in range(drawn.dim + 1)]
    sizes = list(zip(steps, radii, strict=True))
    return _layer_guarantee(drawn, epsilon, sizes, [prod(side) for side in sides])


def _layer_guarantee(
    drawn: DrawnLayers, epsilon: float, sizes: list[tuple[int, int]], points: list[int]
) -> Guarantee:
    """sizes: the (steps, radius) of each coordinate, or of all, that the mechanism asks for."""
    proof = LayerProof(drawn, points)
    crossed = max(-(-mine // its) for (mine, _), (its, _) in zip(sizes, drawn.sizes, strict=True))
    return Guarantee(
        crossed * proof.epsilon(),
        0.0,
        float_above(proof.distance(epsilon) if sizes == drawn.sizes else CERTAIN),
        "exact",
        READ_BACK
        + "the numbers of points of layers, on which vectors are uniform; and what digits beyond "
        "the tables fall by, for ever.",
        "epsilon, by how far entries are from the ideal law that falls like those digits, at any "
        f"depth; {BOUNDED}.",
    )


def l2_guarantee(
    law: Law, epsilon: float, sensitivity: float, grid: float, users: int, changed: int
) -> Guarantee:
    """Of l2 noise made for so many users, of which `changed` change; real numbers on a grid.

    A row is decided in intervals, with more bits of its own until nothing is left open, so what is
    drawn is the law of real numbers of that scale, rounded to the grid: epsilon is the l2 distance
    of snapped inputs over the scale, with no delta. Where scales differ by a factor 1 + h, one
    density is at least (1 + h)**-dim times the other, and total variation at most dim h.
    """
    dim, step = int(law[layout.DIM]), Fraction(grid)
    given = struct.unpack("<d", int(law[layout.SCALE]).to_bytes(8, "little"))[0]
    if not 0 < given < inf:
        return Guarantee(inf, 0.0, 1.0, "bounded", "nothing.", "nothing.")
    scale, low = Fraction(given) * step, Fraction(isqrt(dim << 2 * ROOT_BITS), 1 << ROOT_BITS)
    high = low + Fraction(1, 1 << ROOT_BITS)
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


def choice_guarantee(epsilon: float) -> Guarantee:
    """Of candidates with weights e**(-epsilon level), for costs that move by a level at most.

    A row is decided in floats only where running sums are further from the goal than twice what
    errors of weights, 2**-39 of themselves, and roundings may add up to
    (`fastnoise_kernels.choice.margin`). All others are decided in integers, so that a candidate has
    exactly its weight; each, and their sum, moves by a factor e**epsilon at most.
    """
    return Guarantee(
        2.0 * epsilon,
        0.0,
        0.0,
        "bounded",
        "levels of costs, in integers; every choice, which is decided with as many bits as it "
        "takes; hence epsilon, twice what a level costs, and the law itself.",
        "errors of floats, by which a kernel knows what it leaves open.",
    )
