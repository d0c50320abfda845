"""What is proved of staircases on vectors, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from fastnoise.arithmetic.bounds import CERTAIN
from fastnoise.arithmetic.floats import float_above
from fastnoise.certificate import BOUNDED, READ_BACK, Guarantee
from fastnoise.laws.alias import Tables
from fastnoise.laws.layers.balls import count_thresholds, l1_points
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.layers.proof import LayerProof


def ball_guarantee(tables: Tables, epsilon: float, steps: int, radius: int) -> Guarantee:
    """Of nested l1 balls of integers, for a vector that moves by at most `steps` in l1."""
    drawn = DrawnLayers(tables)
    (its_steps, its_radius), *_ = drawn.sizes
    if drawn.thresholds != count_thresholds(drawn.dim, its_steps, its_radius):
        return Guarantee(inf, 0.0, 1.0, "exact", "nothing.", "nothing.")  # some ball is not uniform
    points = [l1_points(drawn.dim, its_radius - 1 + k * its_steps) for k in range(drawn.dim + 1)]
    return _layer_guarantee(drawn, epsilon, [(steps, radius)], points)


def box_guarantee(
    tables: Tables, epsilon: float, steps: Sequence[int], radii: Sequence[int]
) -> Guarantee:
    """Of nested boxes of integers, for a vector whose coordinates move by at most `steps` each."""
    drawn = DrawnLayers(tables)
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
