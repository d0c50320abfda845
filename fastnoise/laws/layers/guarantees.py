"""What is proved of staircases on vectors, in numbers and in words."""

from __future__ import annotations

from functools import singledispatch
from math import inf, prod
from typing import Any

from fastnoise.arithmetic.bounds import CERTAIN
from fastnoise.arithmetic.floats import float_above
from fastnoise.certificate import BOUNDED, READ_BACK, Guarantee
from fastnoise.laws.layers.balls import count_thresholds, l1_points
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.layers.law import BallLaw, BoxLaw
from fastnoise.laws.layers.proof import LayerProof


@singledispatch
def guarantee(law: Any, changed: int | None) -> Guarantee:
    """What the tables of a law prove if `changed` coordinates change together."""
    raise TypeError(f"nothing is proved of a {type(law).__name__}")


@guarantee.register
def _(law: BallLaw, changed: int | None) -> Guarantee:
    drawn = DrawnLayers(law.tables)
    (its_steps, its_radius), *_ = drawn.sizes
    if drawn.thresholds != count_thresholds(drawn.dim, its_steps, its_radius):
        return Guarantee(inf, 0.0, 1.0, "exact", "nothing.", "nothing.")  # some ball is not uniform
    points = [l1_points(drawn.dim, its_radius - 1 + k * its_steps) for k in range(drawn.dim + 1)]
    proved = _layer_guarantee(drawn, law.epsilon, [(law.steps, law.radius)], points)
    return proved._replace(changed=changed)


@guarantee.register
def _(law: BoxLaw, changed: int | None) -> Guarantee:
    drawn = DrawnLayers(law.tables)
    sides = [[2 * (r + k * n) - 1 for n, r in drawn.sizes] for k in range(drawn.dim + 1)]
    sizes = list(zip(law.steps, law.radii, strict=True))
    return _layer_guarantee(drawn, law.epsilon, sizes, [prod(side) for side in sides])


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
