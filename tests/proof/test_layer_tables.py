"""Is the law of layers epsilon-DP, at any depth, and the law it should be?"""

from fractions import Fraction
from itertools import pairwise, permutations, product
from math import comb, prod

import pytest
from fastnoise_kernels import layout
from fastnoise_kernels.sorting import sorting_network
from laws import ideal_layers, layer_probabilities

from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.laws.layers import tables
from fastnoise.laws.layers.balls import l1_points
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.layers.tables import (
    SLACK,
    differences,
    digit_sums,
    eulerian,
    layer_tables,
)

pytestmark = pytest.mark.long

BEYOND = 20


class Ball:
    """Layers of integer l1 balls."""

    def __init__(self, dim: int, steps: int, radius: int) -> None:
        self.dim, self.steps, self.radii = dim, [steps], [radius]

    def points(self, layer: int) -> int:
        return l1_points(self.dim, self.radii[0] - 1 + layer * self.steps[0])


class Box:
    """Layers of boxes of integers."""

    def __init__(self, steps: list[int], radii: list[int]) -> None:
        self.dim, self.steps, self.radii = len(steps), steps, radii

    def points(self, layer: int) -> int:
        pairs = zip(self.steps, self.radii, strict=True)
        return prod(2 * (radius + layer * steps) - 1 for steps, radius in pairs)


def drawn(epsilon: float, shape: Ball | Box) -> DrawnLayers:
    first = [shape.points(k) for k in range(shape.dim + 1)]
    return DrawnLayers(layer_tables(epsilon, first, shape.steps, shape.radii))


SINGLE = {
    "ball-2-0.01": (0.01, Ball(2, 2**20, 300_000)),
    "ball-2-1": (1.0, Ball(2, 2**20, 1)),
    "ball-3-50": (50.0, Ball(3, 2**20, 7)),
    "ball-3-0.1": (0.1, Ball(3, 5, 2)),
    "ball-5-1": (1.0, Ball(5, 10**6 + 3, 10**6 + 3)),
    "ball-16-1": (1.0, Ball(16, 2**25, 2**24)),
    "ball-16-20": (20.0, Ball(16, 2**25, 2**24)),
    "ball-64-5": (5.0, Ball(64, 2**23, 2**22)),
    "ball-2-100": (100.0, Ball(2, 2**25, 2**24)),
    "box-2-0.01": (0.01, Box([2**20, 3], [2**19, 3])),
    "box-2-1": (1.0, Box([2**20, 2**20 + 1], [3 * 2**20, 1])),
    "box-3-1": (1.0, Box([1, 1, 1], [1, 1, 1])),
    "box-4-50": (50.0, Box([2**30, 2, 17, 5], [1, 1, 30, 5])),
    "box-5-0.3": (0.3, Box([2**20] * 5, [2**19] * 5)),
    "box-2-1000": (1000.0, Box([2**20, 2**21], [5, 2**20])),
}
SEVERAL = {
    "ball-2-0.05": (0.05, Ball(2, 2**20, 300_000)),
    "ball-2-0.01": (0.01, Ball(2, 3, 1)),
    "ball-3-0.05": (0.05, Ball(3, 2**20, 2**20)),
    "box-2-0.02": (0.02, Box([2**20, 7], [2**19, 7])),
    "box-3-0.1": (0.1, Box([2**20, 7, 1], [2**19, 3, 1])),
}


@pytest.fixture
def short_tables(monkeypatch):
    """Several coins, without tables of thousands of entries."""
    monkeypatch.setattr(tables, "MOST_ENTRIES", 64)


@pytest.fixture
def law_of(request):
    """The law of a case, its shape and its epsilon."""

    def made(case):
        if case in SEVERAL:
            request.getfixturevalue("short_tables")
        epsilon, shape = {**SINGLE, **SEVERAL}[case]
        law = drawn(epsilon, shape)
        assert len(law.coins) >= 3 if case in SEVERAL else len(law.coins) == 1
        return law, shape, epsilon

    return made


def up_to(most):
    """One coin, of an epsilon up to that; or several."""
    return [*(case for case in SINGLE if SINGLE[case][0] <= most), *SEVERAL]


def leaks(layers: list[Fraction], shape: Ball | Box, epsilon: float) -> list[int]:
    """Layers k with a point less than e**-epsilon as likely on layer k + 1 as on layer k.

    Where there are none, what is left from a layer on falls by no more than that either: the
    probabilities of points are sums of these.
    """
    above = exp_bounds(epsilon)[1]
    weights = [p / shape.points(k) for k, p in enumerate(layers)]
    return [k for k, (here, below) in enumerate(pairwise(weights)) if below < here * above]


def check_private(law: DrawnLayers, shape: Ball | Box, epsilon: float) -> None:
    layers = layer_probabilities(law, BEYOND)
    assert len(layers) == law.times[-1] * (law.last + BEYOND)
    assert leaks(layers, shape, epsilon) == []


def check_ideal(law: DrawnLayers, shape: Ball | Box, epsilon: float) -> None:
    layers = layer_probabilities(law, BEYOND)
    first = [shape.points(k) for k in range(shape.dim + 1)]
    ideal = ideal_layers(epsilon, first, [shape.points(k) for k in range(len(layers))])
    errors = [abs(p - wanted) for p, wanted in zip(layers, ideal, strict=True)]
    errors[0] -= Fraction(2, law.whole)  # the very centre may be all but impossible
    assert [k for k, error in enumerate(errors) if error > ideal[k] / 2**50] == []
    assert 0 < 1 - sum(layers) < Fraction(1, 2**60)


def check_tail(law: DrawnLayers, shape: Ball | Box, epsilon: float) -> None:
    """Beyond the tables, at any depth.

    Given m, digits that each fall by no more than e**-exponent make sums that do; and m is within
    2**-100 of what makes their mixture b**k times a polynomial. The slack in epsilon is larger.
    """
    exponent = Fraction(epsilon) * SLACK * law.times[-1]
    above, near_b = exp_bounds(exponent)[1], exp_bounds(exponent, 100)[0]
    digits = [law.digit_probability(i) for i in range(2 * law.digits + 3)]
    near = above * (1 + Fraction(1, 2**100))
    assert all(here * above <= following <= here * near for here, following in pairwise(digits))
    if len(law.coins) == 1:
        following = [shape.points(law.last + k) for k in range(shape.dim + 1)]
    else:
        following = [comb(law.last + k + shape.dim, shape.dim) for k in range(shape.dim + 1)]
    parts = [d * (near_b / (1 - near_b)) ** m for m, d in enumerate(differences(following))]
    total = sum(parts) / law.whole
    shares = [weight * total for weight in law.tail[: len(parts)]]
    errors = [abs(share / part - 1) for share, part in zip(shares, parts, strict=True)]
    assert [m for m, error in enumerate(errors) if error > Fraction(1, 2**100)] == []
    assert Fraction(epsilon) / 2**60 > Fraction(4, 2**100)


@pytest.mark.parametrize("case", up_to(1000))
def test_layers__are_private(case, law_of):
    check_private(*law_of(case))


@pytest.mark.parametrize("case", up_to(100))
def test_layers__within_2_to_minus_50_of_the_ideal(case, law_of):
    check_ideal(*law_of(case))


@pytest.mark.parametrize("case", up_to(20))
def test_layers__tail_is_private_at_any_depth(case, law_of):
    check_tail(*law_of(case))


@pytest.mark.parametrize("case", SINGLE)
def test_tables__are_whole(case):
    law = drawn(*SINGLE[case])
    tables = [*law.coins, law.tail, law.digit]
    assert [sum(table) for table in tables] == [law.whole] * len(tables)
    assert sum(law.coins[-1][: law.last + 1]) == law.whole
    assert sum(law.digit[: law.digits + 1]) == law.whole
    assert sum(law.tail[: int(law.tables[layout.DIM]) + 1]) == law.whole
    assert law.tables[layout.WIDTH] == 2 * law.tables[layout.DIM] + law.tables[layout.COINS]


@pytest.mark.parametrize("case", ["ball-2-1", "ball-3-0.1", "box-3-1", "box-5-0.3", "box-3-0.1"])
def test_one_part_in_a_million__is_seen(case, law_of):
    _, shape, epsilon = law_of(case)
    layers = layer_probabilities(drawn(epsilon * (1 + 1e-6), shape), BEYOND)
    assert leaks(layers, shape, epsilon) == list(range(len(layers) - 1))


def test_a_layer_that_is_too_light__is_seen():
    """By 2**-59 of itself, where the slack is 2**-60; and one too many points on the first."""
    epsilon, shape = SINGLE["box-3-1"]
    layers = layer_probabilities(drawn(epsilon, shape), BEYOND)
    layers[7] *= 1 - Fraction(1, 2**59)
    assert leaks(layers, shape, epsilon) == [6]
    first = [shape.points(k) + (k == 0) for k in range(4)]
    wrong = DrawnLayers(layer_tables(epsilon, first, shape.steps, shape.radii))
    assert leaks(layer_probabilities(wrong, BEYOND), shape, epsilon) != []


def test_what_is_left__falls_by_no_more_than_epsilon():
    """P(point of layer j) itself: P(layer) / points added up from layer j on, with a bound of
    the rest."""
    epsilon, shape = SINGLE["ball-2-1"]
    layers = layer_probabilities(drawn(epsilon, shape), 100)
    above = exp_bounds(epsilon)[1]
    weights = [p / shape.points(k) for k, p in enumerate(layers)]
    left = [sum(weights[j:]) for j in range(40)]
    least_rest = weights[-1] * above / (1 - above)
    for here, below in pairwise(left):
        assert below + least_rest >= (here + least_rest) * above


def test_smallest_epsilon__in_the_most_dimensions_has_a_law():
    """More terms than a digit has values."""
    shape = Ball(128, 2**20, 2**20)
    law = drawn(1e-3, shape)
    assert len(law.coins) >= 3
    assert all(sum(coin) == law.whole for coin in law.coins)


# --- what the tables are made of ------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 11))
def test_sorting_network__sorts_zeros_and_ones(size):
    """And so everything (Knuth 5.3.4, theorem Z)."""
    network = list(sorting_network(size))
    assert all(0 <= i < j < size for i, j in network)
    assert all(is_sorted_by(network, bits) for bits in product((0, 1), repeat=size))


def is_sorted_by(network, values) -> bool:
    row = list(values)
    for i, j in network:
        row[i], row[j] = min(row[i], row[j]), max(row[i], row[j])
    return row == sorted(values)


@pytest.mark.parametrize("size", [17, 64, 100])
def test_sorting_network__sorts_many(size, rng):
    network = list(sorting_network(size))
    assert all(is_sorted_by(network, rng.permutation(size).tolist()) for _ in range(50))


@pytest.mark.parametrize("size", [2, 5, 8])
def test_sorting_network__needs_every_comparison(size):
    """The same check on a network that lacks one."""
    network = list(sorting_network(size))
    for missing in range(len(network)):
        some = network[:missing] + network[missing + 1 :]
        assert not all(is_sorted_by(some, bits) for bits in product((0, 1), repeat=size))


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("radius", [0, 1, 2, 5])
def test_l1_points__counts_them(dim, radius):
    vectors = product(range(-radius, radius + 1), repeat=dim)
    assert l1_points(dim, radius) == sum(sum(map(abs, v)) <= radius for v in vectors)


@pytest.mark.parametrize(("base", "terms"), [(2, 1), (2, 5), (3, 4), (4, 4), (4, 3), (10, 2)])
def test_digit_sums__counts_them(base, terms):
    sums = [sum(digits) for digits in product(range(base), repeat=terms)]
    assert digit_sums(base, terms) == [sums.count(k) for k in range(terms * (base - 1) + 1)]


@pytest.mark.parametrize("shape", [Ball(3, 5, 2), Box([4, 7], [1, 7]), Box([1] * 5, [1] * 5)])
def test_differences__tell_all_others(shape):
    """Newton's forward formula, against the points of the first 30 layers."""
    parts = differences([shape.points(k) for k in range(shape.dim + 1)])
    for k in range(30):
        choices = [
            prod(k - i for i in range(m)) // prod(range(1, m + 1)) for m in range(len(parts))
        ]
        assert sum(d * c for d, c in zip(parts, choices, strict=True)) == shape.points(k)


@pytest.mark.parametrize("shape", [Ball(3, 5, 2), Box([4, 7], [1, 7]), Box([1] * 5, [1] * 5)])
def test_eulerian__makes_layers_of_geometric_sums(shape):
    """Layer k is J + k' in points[k] ways: A_j ways for J, C(k - j + d, d) for the rest."""
    ways = eulerian([shape.points(k) for k in range(shape.dim + 1)])
    assert min(ways) >= 0
    for k in range(30):
        terms = [a * comb(k - j + shape.dim, shape.dim) for j, a in enumerate(ways) if j <= k]
        assert sum(terms) == shape.points(k)


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_eulerian__of_powers_counts_descents(dim):
    """Points (k + 1)**dim, by definition: permutations with j descents."""
    counts = [0] * (dim + 1)
    for order in permutations(range(dim)):
        counts[sum(a > b for a, b in pairwise(order))] += 1
    assert eulerian([(k + 1) ** dim for k in range(dim + 1)]) == counts
