"""Is what a certificate says of small laws what trying everything finds?"""

from fractions import Fraction
from itertools import pairwise, product
from math import floor, inf, nextafter, prod

import numpy as np
import pytest
from laws import layer_probabilities
from mechanisms import name
from mpmath import mp

import fastnoise as fn
from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.arithmetic.floats import exact_delta
from fastnoise.laws.layers.balls import l1_points
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.line.drawn import DrawnLaw


def law_of(mechanism) -> DrawnLaw:
    return DrawnLaw(mechanism._law(mechanism.grid).tables)


def logarithm_above(ratio: Fraction) -> float:
    """The least float that is no smaller, by another library's logarithm."""
    with mp.workprec(2000):
        exact = mp.log(mp.mpf(ratio.numerator)) - mp.log(mp.mpf(ratio.denominator))
        nearest = float(exact)
        return nearest if mp.mpf(nearest) >= exact else nextafter(nearest, inf)


def largest_ratio(law: DrawnLaw, reach: int, shift: int) -> Fraction:
    """Between any integer as far as `reach` and any other that is `shift` away, exactly."""
    points = {n: law.point(n) for n in range(-reach - shift, reach + shift + 1)}
    return max(
        points[n] / points[n + moved]
        for n in range(-reach, reach + 1)
        for moved in range(-shift, shift + 1)
    )


@pytest.mark.parametrize(
    "mechanism",
    [
        fn.Geometric(1.0),
        fn.Geometric(30.0),
        fn.DiscreteStaircase(1.0, 5),
        fn.DiscreteStaircase(3.0, 7, r=7),
        fn.DiscreteStaircase(9.0, 4, r=1),
    ],
    ids=name,
)
def test_staircase__is_the_largest_ratio_there_is(mechanism):
    """Among all pairs of integers in three rounds of restarts, and to the last digit of a float."""
    law = law_of(mechanism)
    reach = law.radius + (law.levels + 3 * law.digits) * law.steps
    ratio = largest_ratio(law, reach, mechanism.sensitivity)
    assert mechanism.certificate().epsilon == logarithm_above(ratio)


@pytest.mark.parametrize("parameters", [(1.0, 1), (2.0, 3), (8.0, 2), (40.0, 5)], ids=str)
def test_laplace__covers_every_change_in_l1(parameters):
    """Of two elements, by all that adds up to the sensitivity."""
    mechanism = fn.DiscreteLaplace(*parameters)
    law, steps = law_of(mechanism), mechanism.sensitivity
    reach = law.levels + 2 * law.digits
    ratios = [largest_ratio(law, reach, shift) for shift in range(steps + 1)]
    worst = max(ratios[shift] * ratios[steps - shift] for shift in range(steps + 1))
    claimed = mechanism.certificate().epsilon
    assert claimed * (1 - 1e-15) <= logarithm_above(worst) <= claimed


@pytest.mark.parametrize("parameters", [(1e-3, 2**20), (0.3, 2**13)], ids=str)
def test_sloping_laplace__has_no_larger_ratio(parameters, rng):
    """Between integers up to the sensitivity apart, on levels of thousands of places."""
    mechanism = fn.DiscreteLaplace(*parameters)
    law, steps = law_of(mechanism), mechanism.sensitivity
    assert law.slopes.slopes
    bound = 1 / exp_bounds(mechanism.certificate().epsilon)[1]
    for n in [0, *(int(n) for n in rng.integers(3 * steps, size=200))]:
        here = law.point(n)
        for moved in (1, -1, steps, -steps, int(rng.integers(1, steps))):
            assert here <= bound * law.point(n + moved)


def excess(points: dict, growth: Fraction, shift: tuple[int, ...]) -> Fraction:
    """What probabilities of vectors are above `growth` times those moved by `shift`, added up."""
    moved = (tuple(a + b for a, b in zip(point, shift, strict=True)) for point in points)
    pairs = zip(points.values(), (points.get(other, Fraction(0)) for other in moved), strict=True)
    return sum((p - growth * q for p, q in pairs if p > growth * q), Fraction(0))


@pytest.mark.parametrize(
    "mechanism",
    [
        fn.TruncatedDiscreteLaplace(1.0, 0.1),
        fn.TruncatedDiscreteLaplace(0.5, 0.01, 3),
        fn.TruncatedDiscreteLaplace(50.0, 0.001, 1),
        fn.TruncatedDiscreteLaplace(4.0, 0.3, 3),
        fn.DiscreteUniform(0.07, 1),
        fn.DiscreteUniform(0.3, 4),
        fn.DiscreteUniform(Fraction(9, 10), 3),
    ],
    ids=name,
)
def test_delta__covers_every_change_in_l1(mechanism):
    """Of one element and of two, and to 2**-50 of itself for the worst of them."""
    law, certificate = law_of(mechanism), mechanism.certificate()
    end, steps = law.end or law.radius, mechanism.sensitivity
    growth = 1 / exp_bounds(certificate.epsilon)[1]
    line = {n: law.point(n) for n in range(-end, end + 1)}
    plane = {(m, n): line[m] * line[n] for m, n in product(line, repeat=2)} if end < 30 else {}
    alone = {(n,): p for n, p in line.items()}
    found = [excess(alone, growth, (shift,)) for shift in range(1, steps + 1)]
    found += [excess(plane, growth, (shift, steps - shift)) for shift in range(1, steps)]
    delta = exact_delta(certificate.delta)
    assert max(found) <= delta
    assert max(found) >= delta * (1 - Fraction(1, 2**50)) or delta < exact_delta(mechanism.delta)


# --- small layers, by brute force -----------------------------------------------------------------

SMALL = [
    fn.L1Staircase(1.0, 2, gamma=0.5),
    fn.L1Staircase(0.4, 3),
    fn.L1Staircase(5.0, 2),
    fn.BoxStaircase(1.0, (1.0, 2.0)),
    fn.BoxStaircase(2.0, (1.0, 1.0, 1.0), core=(0.3, 1.0, 2.0)),
]


def layer_points(mechanism, drawn: DrawnLayers, layer: int) -> int:
    halves = [radius - 1 + layer * steps for steps, radius in drawn.sizes]
    if isinstance(mechanism, fn.L1Staircase):
        return l1_points(mechanism.dim, halves[0])
    return prod(2 * half + 1 for half in halves)


@pytest.mark.parametrize("mechanism", SMALL, ids=name)
def test_layers__points_fall_by_no_more_than_the_certificate_says(mechanism):
    """P(point) itself, added up over the layers that hold it, with bounds of what is left out."""
    drawn = DrawnLayers(mechanism._law(mechanism.grid).tables)
    layers = layer_probabilities(drawn, 30)
    weights = [p / layer_points(mechanism, drawn, k) for k, p in enumerate(layers)]
    above = exp_bounds(mechanism.certificate().epsilon)[1]
    least_rest = weights[-1] * above / (1 - above)
    most_rest = (1 - sum(layers)) / layer_points(mechanism, drawn, len(layers))
    left = [sum(weights[k:], Fraction(0)) for k in range(len(layers) - 25)]
    for here, below in pairwise(left):
        assert below + least_rest >= above * (here + least_rest)
        # and it is no larger than it has to be: the certificate is not vacuous
        assert below + least_rest <= above * (1 + Fraction(1, 2**40)) * (here + most_rest)


def snapped(values: list[Fraction], grids: list[Fraction]) -> np.ndarray:
    """Half up, in grid steps."""
    halves = [v / grid + Fraction(1, 2) for v, grid in zip(values, grids, strict=True)]
    return np.array([floor(half) for half in halves])


def neighbours(mechanism, grids: list[Fraction], rng) -> tuple[np.ndarray, np.ndarray]:
    """Inputs on the grid that are as far apart as neighbours can be: each coordinate crosses a
    rounding edge more than its change is worth, by next to nothing of the sensitivity."""
    tiny, dim = min(grids) / 2**20, mechanism.dim
    where = [grid * (int(rng.integers(1000)) + Fraction(1, 2)) - tiny / 2 for grid in grids]
    if isinstance(mechanism, fn.L1Staircase):
        change = [Fraction(mechanism.sensitivity) - (dim - 1) * tiny, *[tiny] * (dim - 1)]
        assert sum(change) == Fraction(mechanism.sensitivity)
    else:
        change = [Fraction(width) for width in mechanism.widths]
    there = [x + moved for x, moved in zip(where, change, strict=True)]
    return snapped(where, grids), snapped(there, grids)


@pytest.mark.parametrize("mechanism", SMALL, ids=name)
def test_layers__neighbours_are_one_layer_apart_at_most(mechanism, rng):
    """Which layer of noise leads from either of them to the same output."""
    drawn = DrawnLayers(mechanism._law(mechanism.grid).tables)
    steps, radii = (np.array(column) for column in zip(*drawn.sizes, strict=True))
    balls = isinstance(mechanism, fn.L1Staircase)
    grids = [Fraction(grid) for grid in np.broadcast_to(mechanism.grid, mechanism.dim)]

    def layer(noise: np.ndarray) -> int:
        size = np.abs(noise).sum(keepdims=True) if balls else np.abs(noise)
        return int(np.maximum(0, -((radii - 1 - size) // steps)).max())

    apart = set()
    for k in range(40):
        here, there = neighbours(mechanism, grids, rng)
        far = np.abs(there - here).sum(keepdims=True) if balls else np.abs(there - here)
        assert (far <= steps).all()
        noise = np.zeros(mechanism.dim, np.int64)
        noise[0] = radii[0] - 1 + k % 4 * steps[0]  # the outermost of a layer
        signs = rng.choice([-1, 1], mechanism.dim)
        apart.add(layer(noise * signs + there - here) - layer(noise * signs))
    assert max(apart) == 1
    assert min(apart) >= -1


# --- total variation, by brute force --------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [fn.Geometric(1.0), fn.DiscreteStaircase(0.5, 10)], ids=name)
def test_total_variation__is_at_least_the_distance_and_little_more(mechanism):
    """Half the differences of all levels until they are rarer than 10**-80."""
    law = law_of(mechanism)
    steps, radius = law.steps, law.radius
    with mp.workprec(600):
        b = mp.exp(-mp.mpf(mechanism.epsilon))
        top = 1 / (2 * radius - 1 + 2 * steps * b / (1 - b))
        levels = range(int(190 / mechanism.epsilon))
        ideal = [top * (2 * steps * b**k if k else 2 * radius - 1) for k in levels]
        drawn = [law.level(k) for k in levels]
        off = [
            abs(mp.mpf(p.numerator) / p.denominator - q) for p, q in zip(drawn, ideal, strict=True)
        ]
        half = mp.fsum(off) / 2
        assert half <= mechanism.certificate().total_variation <= 3 * half


@pytest.mark.parametrize("mechanism", SMALL, ids=name)
def test_total_variation__of_layers_is_at_least_the_distance_and_little_more(mechanism):
    drawn = DrawnLayers(mechanism._law(mechanism.grid).tables)
    layers = layer_probabilities(drawn, 5)
    with mp.workprec(600):
        b = mp.exp(-mp.mpf(mechanism.epsilon))
        enough = range(len(layers) + int(100 / mechanism.epsilon))
        ideal = [b**k * layer_points(mechanism, drawn, k) for k in enough]
        total = mp.fsum(ideal)
        pairs = zip(layers, ideal, strict=False)
        off = [abs(mp.mpf(p.numerator) / p.denominator - q / total) for p, q in pairs]
        half = mp.fsum(off) / 2
        assert half <= mechanism.certificate().total_variation <= 3 * half
