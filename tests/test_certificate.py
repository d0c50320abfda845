"""Does a certificate tell what is drawn: no more than was asked for, no less than is true?"""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf, nextafter, prod

import numpy as np
import pytest
from fastnoise_kernels import layout
from fastnoise_kernels.choice import choose_sixteen
from mechanisms import CHOICES, DRAWN, EVERY, INTEGERS, name
from mpmath import mp

import fastnoise as fn
from fastnoise.choice import powers_of
from fastnoise.exact import DrawnLaw, DrawnLayers, exp_bounds
from fastnoise.mechanisms.ideal_truncated_discrete_laplace import exact_delta
from fastnoise.tables import alias_cells, laplace_law, staircase_law
from fastnoise.vector_release import l1_points

EXTREME = [
    fn.Staircase(1e-10),
    fn.Staircase(1e-8, 3.3, gamma=1.0),
    fn.Staircase(100.0, 1e-200),
    fn.Staircase(1e5),
    fn.Laplace(1e-9, 1e30),
    fn.Laplace(300.0),
    fn.Geometric(1e-6),
    fn.Geometric(2_500.0),
    fn.DiscreteStaircase(1e-6, 2**32),
    fn.DiscreteStaircase(1e300, 2**57, r=1),
    fn.DiscreteLaplace(2.0**-12, 2**40),
    fn.DiscreteLaplace(50.0, 2**40),
    fn.DiscreteUniform(Fraction(1, 3), 2**40),
    fn.DiscreteUniform(1e-15, 3),
    fn.TruncatedDiscreteLaplace(1e-6, 0.1, 2**32),
    fn.TruncatedDiscreteLaplace(1.0, 1e-30, 2**40),
    fn.TruncatedDiscreteLaplace(50.0, Fraction(1, 7)),
    fn.TruncatedDiscreteLaplace(1e4, 0.1, 7),
    fn.MultiUserLaplace(0.5, dim=1),
    fn.MultiUserLaplace(0.01, dim=128),
    fn.L2Laplace(1e-6, dim=2),
    fn.L2Laplace(30.0, dim=1000, sensitivity=1e-3),
    fn.L1Staircase(1e-9, dim=2),
    fn.L1Staircase(1e-3, dim=32),
    fn.L1Staircase(100.0, dim=3),
    fn.BoxStaircase(1e-10, (1.0, 3.0)),
    fn.BoxStaircase(1e-3, (1.0, 2.0, 5.0), core=(0.0, 1.0, 2.0)),
    fn.BoxStaircase(1.0, (1.0, 2.0), core=(30.0, 0.0)),
    fn.BoxStaircase(1e4, (1.0, 2.0)),
    fn.BoxStaircase(0.7, (4.0,)),
]
FLOAT_LAWS = (fn.L2Laplace, fn.MultiUserLaplace)
LAYERED = (fn.L1Staircase, fn.BoxStaircase)


def is_vector(mechanism, kinds) -> bool:
    return isinstance(mechanism, kinds) and mechanism.dim > 1


def farthest(mechanism) -> float:
    """How far a law may be from the ideal: by the rounding of floats, by slack, by tables."""
    if is_vector(mechanism, FLOAT_LAWS):
        return mechanism.dim * 2.0**-51
    if isinstance(mechanism, LAYERED):
        return (getattr(mechanism, "dim", 1) + 1) * 2.0**-79
    return 1e-29 if isinstance(mechanism, fn.TruncatedDiscreteLaplace) else 1e-55


# --- what was asked for ---------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [*EVERY, *EXTREME], ids=repr)
def test_certificate__is_never_above_what_was_asked_for(mechanism):
    certificate, privacy = mechanism.certificate(), mechanism.privacy
    assert certificate.epsilon <= privacy.epsilon
    assert exact_delta(certificate.delta) <= exact_delta(privacy.delta)
    assert certificate.adjacency == privacy.adjacency
    assert (certificate.grid, certificate.released_sensitivity) == (
        mechanism.grid,
        mechanism.released_sensitivity,
    )


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__is_what_was_asked_for_to_the_last_digit(mechanism):
    """No rounding of tables reaches a float; that of a float scale does."""
    certificate, privacy = mechanism.certificate(), mechanism.privacy
    if is_vector(mechanism, FLOAT_LAWS):
        assert certificate.epsilon >= privacy.epsilon * (1 - 2.0**-51)
    else:
        assert certificate.epsilon == privacy.epsilon
    assert certificate.delta == privacy.delta


@pytest.mark.parametrize("mechanism", [*DRAWN, *EXTREME], ids=repr)
def test_certificate__is_near_the_ideal(mechanism):
    assert 0 <= mechanism.certificate().total_variation <= farthest(mechanism)


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__says_on_what_it_is_based(mechanism):
    exact = not is_vector(mechanism, FLOAT_LAWS) and mechanism not in CHOICES
    certificate = mechanism.certificate()
    assert certificate.basis == ("exact" if exact else "bounded")
    assert certificate.exact
    assert certificate.bounded


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__is_json_and_a_page(mechanism):
    certificate = mechanism.certificate()
    copy = json.loads(json.dumps(certificate.to_dict()))
    assert copy["epsilon"] == certificate.epsilon
    assert copy["mechanism"] == repr(mechanism)
    assert set(copy) == set(certificate.__dataclass_fields__)
    page = str(certificate)
    assert all(len(line) <= 100 for line in page.splitlines()[1:])
    assert len(page.splitlines()) < 100
    assert f"epsilon               {certificate.epsilon}\n" in page
    assert certificate == mechanism.certificate()
    assert repr(certificate).startswith("Certificate(mechanism=")


# --- how many change ------------------------------------------------------------------------------

SHARED = [fn.Laplace(1.0), fn.MultiUserLaplace(2.0, 1), fn.MultiUserLaplace(2.0, 5)]
COUNTS = [1, 1000, 65_536, 65_537, 10**6, 10**9]


@pytest.mark.parametrize("mechanism", SHARED, ids=name)
def test_changed__more_cost_more(mechanism):
    epsilons = [mechanism.certificate(changed=count).epsilon for count in COUNTS]
    assert epsilons == sorted(epsilons)
    assert epsilons[0] < epsilons[2] <= mechanism.epsilon < epsilons[4]
    assert mechanism.certificate() == mechanism.certificate(changed=65_536)
    assert mechanism.certificate(changed=7).changed == 7


@pytest.mark.parametrize("mechanism", SHARED, ids=name)
def test_changed__costs_what_snapping_moves(mechanism):
    """A grid step for each after the first, or the diagonal of a cell for each, over the scale."""
    moved = mechanism.grid * getattr(mechanism, "dim", 1) ** 0.5
    few, many = (mechanism.certificate(changed=count).epsilon for count in (1, 1 + 10**7))
    expected = 10**7 * moved * mechanism.epsilon / mechanism.released_sensitivity
    assert many - few == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "mechanism", [m for m in INTEGERS if m.privacy.adjacency == "l1"], ids=name
)
def test_changed__makes_no_difference_where_nothing_is_snapped(mechanism):
    certificate = mechanism.certificate(changed=10**9)
    assert replace(certificate, changed=None) == mechanism.certificate()


def test_changed__coordinates_of_a_vector_share_epsilon():
    mechanism = fn.L1Staircase(1.0, dim=3)
    assert mechanism.certificate().changed == 3
    assert {mechanism.certificate(changed=k).epsilon for k in (1, 2, 3)} == {1.0}
    with pytest.raises(ValueError, match=r"changed must be an integer in \[1, 4\), not 4"):
        mechanism.certificate(changed=4)


ALONE = [
    fn.Staircase(1.0),
    fn.DiscreteStaircase(1.0, 2),
    fn.BoxStaircase(1.0, (1.0, 2.0)),
    fn.L2Laplace(1.0, 1),
    fn.L2Laplace(1.0, 2),
    *CHOICES,
]


@pytest.mark.parametrize("mechanism", ALONE, ids=name)
@pytest.mark.parametrize("changed", [1, 2, True])
def test_changed__is_refused_where_each_pays(mechanism, changed):
    with pytest.raises(ValueError, match="changed must be left out, because each .* pays epsilon"):
        mechanism.certificate(changed=changed)


@pytest.mark.parametrize(
    "mechanism", [*SHARED, fn.Geometric(1.0), fn.L1Staircase(1.0, 2)], ids=name
)
@pytest.mark.parametrize(
    ("changed", "kind"), [(0, ValueError), (-3, ValueError), (True, TypeError), (1.5, TypeError)]
)
def test_changed__must_count(mechanism, changed, kind):
    with pytest.raises(kind, match="changed must be an integer"):
        mechanism.certificate(changed=changed)


# --- small laws, by brute force -------------------------------------------------------------------


def law_of(mechanism) -> DrawnLaw:
    return DrawnLaw(mechanism._release(mechanism.grid).law)


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
    drawn = DrawnLayers(mechanism._release(mechanism.grid).law)
    layers = drawn.layers(30)
    weights = [p / layer_points(mechanism, drawn, k) for k, p in enumerate(layers)]
    above = exp_bounds(mechanism.certificate().epsilon)[1]
    least_rest = weights[-1] * above / (1 - above)
    most_rest = (1 - sum(layers)) / layer_points(mechanism, drawn, len(layers))
    left = [sum(weights[k:], Fraction(0)) for k in range(len(layers) - 25)]
    for here, below in zip(left, left[1:], strict=False):
        assert below + least_rest >= above * (here + least_rest)
        # and it is no larger than it has to be: the certificate is not vacuous
        assert below + least_rest <= above * (1 + Fraction(1, 2**40)) * (here + most_rest)


@pytest.mark.parametrize("mechanism", SMALL, ids=name)
def test_layers__a_change_leads_to_the_next_layer_at_most(mechanism, rng):
    """Vectors on the grid and all that the mechanism was made for, at the edges of layers."""
    drawn = DrawnLayers(mechanism._release(mechanism.grid).law)
    steps, radii = (np.array(column) for column in zip(*drawn.sizes, strict=True))

    def layer(vector: np.ndarray) -> int:
        size = np.abs(vector)
        size = np.array([size.sum()]) if isinstance(mechanism, fn.L1Staircase) else size
        return int(np.maximum(0, -((radii - 1 - size) // steps)).max())

    for k in range(4):
        for _ in range(50):
            vector = np.zeros(mechanism.dim, np.int64)
            vector[:] = (radii - 1 + k * steps) * rng.choice([-1, 1], mechanism.dim)
            moved = np.broadcast_to(steps, mechanism.dim) * rng.choice([-1, 0, 1], mechanism.dim)
            if isinstance(mechanism, fn.L1Staircase):
                vector, moved = vector * 0, moved * 0
                vector[0], moved[rng.integers(mechanism.dim)] = (
                    radii[0] - 1 + k * steps[0],
                    steps[0],
                )
            assert abs(layer(vector) - layer(vector + moved)) <= 1


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
    drawn = DrawnLayers(mechanism._release(mechanism.grid).law)
    layers = drawn.layers(5)
    with mp.workprec(600):
        b = mp.exp(-mp.mpf(mechanism.epsilon))
        enough = range(len(layers) + int(100 / mechanism.epsilon))
        ideal = [b**k * layer_points(mechanism, drawn, k) for k in enough]
        total = mp.fsum(ideal)
        pairs = zip(layers, ideal, strict=False)
        off = [abs(mp.mpf(p.numerator) / p.denominator - q / total) for p, q in pairs]
        half = mp.fsum(off) / 2
        assert half <= mechanism.certificate().total_variation <= 3 * half


# --- damage ---------------------------------------------------------------------------------------

HEAD = layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS
DIGIT = layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS


def table_at(index: int) -> tuple[int, int, int]:
    at = layout.TABLES + layout.TABLE * index
    return at + layout.TABLE_BITS, at + layout.TABLE_CELLS, at + layout.TABLE_THRESHOLDS


def rewritten(law: np.ndarray, table: tuple[int, int, int], weights: list[int]) -> np.ndarray:
    """A law with other weights in one of its tables."""
    words = [int(word) for word in law]
    bits, cells_at, limbs_at = (words[at] for at in table)
    limbs = words[layout.LIMBS]
    thresholds, aliases = alias_cells(weights, bits, limbs)
    halves = [t >> 64 * limbs << bits | a for t, a in zip(thresholds, aliases, strict=True)]
    packed = [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]
    words[cells_at : cells_at + len(packed)] = packed
    rest = [t >> 64 * i & (1 << 64) - 1 for t in thresholds for i in reversed(range(limbs))]
    words[limbs_at : limbs_at + len(rest)] = rest
    return np.array(words, np.uint64)


def moved(weights: list[int], source: int, target: int, share: Fraction) -> list[int]:
    """With a share of one entry given to another."""
    weights, amount = list(weights), int(weights[source] * share)
    assert amount
    weights[source] -= amount
    weights[target] += amount
    return weights


@pytest.fixture
def damaged(monkeypatch):
    """The certificate of a mechanism whose law has been changed."""

    def certificate(mechanism, change):
        release = mechanism._release(mechanism.grid)
        broken = replace(release, law=change(release.law.copy()))
        assert not np.array_equal(broken.law, release.law)
        monkeypatch.setattr(type(mechanism), "_release", lambda self, grid: broken)
        return mechanism.certificate()

    return certificate


MILLIONTH = Fraction(1, 10**6)
LINES = [
    fn.Staircase(1.0),
    fn.Staircase(1e-3),
    fn.Laplace(1.0),
    fn.DiscreteStaircase(0.5, 10),
    fn.DiscreteLaplace(1.0, 1000),
]


@pytest.mark.parametrize("mechanism", LINES, ids=name)
@pytest.mark.parametrize("entry", [0, 1, 2, 7, -2, -1])
@pytest.mark.parametrize("table", ["head", "digit"])
def test_damage__one_entry_off_by_a_millionth_is_seen(mechanism, table, entry, damaged):
    """Lighter, and its neighbour heavier: of levels, of what is beyond them, of restarts."""
    law = law_of(mechanism)
    weights, size = (
        (law.head, law.levels + (not law.laps) + 1)
        if table == "head"
        else (law.digit, law.digits + 1)
    )
    source = entry % size
    changed = moved(weights, source, source - 1 if source else 1, MILLIONTH)
    at = HEAD if table == "head" else DIGIT
    assert damaged(mechanism, lambda law: rewritten(law, at, changed)).epsilon > mechanism.epsilon


@pytest.mark.parametrize("mechanism", LINES, ids=name)
def test_damage__one_threshold_off_by_a_millionth_is_seen(mechanism, damaged):
    """The leading bits of one, as they stand in a cell."""

    def change(law):
        cells, bits = int(law[layout.HEAD_CELLS]), int(law[layout.HEAD_BITS])
        packed = int(law[cells + 1]) >> 32
        low = packed & ((1 << bits) - 1)
        leading = packed >> bits
        less = leading - max(1, leading // 10**6)
        law[cells + 1] = int(law[cells + 1]) & (1 << 32) - 1 | (less << bits | low) << 32
        return law

    certificate = damaged(mechanism, change)
    assert certificate.epsilon > mechanism.epsilon
    assert certificate.total_variation > 1e-12


@pytest.mark.parametrize("mechanism", LINES, ids=name)
def test_damage__a_tail_that_ends_is_seen(mechanism, damaged):
    """No restart: its weight is on the last entry before it."""
    law = law_of(mechanism)
    ended = moved(law.digit, law.digits, law.digits - 1, Fraction(1))
    certificate = damaged(mechanism, lambda law: rewritten(law, DIGIT, ended))
    assert certificate.epsilon == inf
    assert certificate.total_variation > 0


@pytest.mark.parametrize("more", [1 + 1e-6, 1 - 1e-6])
@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.DiscreteLaplace(1.0, 1000)], ids=name)
def test_damage__a_wrong_ratio_is_seen(mechanism, more, damaged):
    law = law_of(mechanism)
    wrong = staircase_law(more, law.steps, law.radius)
    if isinstance(mechanism, fn.DiscreteLaplace):
        wrong = laplace_law(more, mechanism.sensitivity)
    certificate = damaged(mechanism, lambda _: wrong)
    assert certificate.epsilon == pytest.approx(more, rel=1e-12)
    assert certificate.total_variation > 1e-8


def test_damage__a_wrong_gamma_is_seen(damaged):
    mechanism = fn.Staircase(1.0)
    law = law_of(mechanism)
    wrong = staircase_law(1.0, law.steps, law.radius + 1)
    assert damaged(mechanism, lambda _: wrong).total_variation == 1.0


def test_damage__steps_that_are_too_narrow_cost_twice(damaged):
    mechanism = fn.DiscreteStaircase(1.0, 10)
    certificate = damaged(mechanism, lambda _: staircase_law(1.0, 9, 4))
    assert certificate.epsilon == 2.0
    assert certificate.total_variation == 1.0


@pytest.mark.parametrize("at", [layout.REST_TOP, layout.REST_SIDE])
def test_damage__a_place_that_is_biased_is_seen(at, damaged):
    """A word more or less that is drawn again."""

    def change(law):
        law[at] = int(law[at]) - 1
        return law

    certificate = damaged(fn.DiscreteStaircase(1.0, 10), change)
    assert certificate.epsilon == inf
    assert certificate.total_variation == 1.0


def test_damage__an_entry_that_should_not_be_is_seen(damaged):
    mechanism = fn.DiscreteStaircase(1.0, 10)
    law = law_of(mechanism)
    stray = moved(law.head, 0, law.levels + 2, MILLIONTH)
    assert damaged(mechanism, lambda law: rewritten(law, HEAD, stray)).epsilon == inf


def test_damage__a_slope_that_is_too_low_is_seen(damaged):
    def change(law):
        at = int(law[layout.SLOPES]) + layout.SLOPE_LIMBS * 4
        law[at] = int(law[at]) - 2**40
        return law

    mechanism = fn.DiscreteLaplace(1e-3, 2**20)
    certificate = damaged(mechanism, change)
    assert certificate.epsilon > mechanism.epsilon
    assert certificate.total_variation > 1e-12


@pytest.mark.parametrize(
    "mechanism",
    [fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), fn.TruncatedDiscreteLaplace(1.0, 1e-6, 2**20)],
    ids=name,
)
@pytest.mark.parametrize("entry", [0, 1, 5, -2, -1])
def test_damage__of_a_truncated_law_is_seen(mechanism, entry, damaged):
    """Lighter than it should be: too steep from the one before, or too much at the ends."""
    law = law_of(mechanism)
    source = entry % (law.levels + 1 + 2 * law.ends)
    changed = moved(law.head, source, source - 1 if source else 1, MILLIONTH)
    certificate = damaged(mechanism, lambda law: rewritten(law, HEAD, changed))
    assert certificate.epsilon > mechanism.epsilon or certificate.delta > mechanism.delta
    assert certificate.total_variation > 1e-16


def test_damage__of_a_flat_law_is_seen(damaged):
    mechanism = fn.DiscreteUniform(0.07)
    law = law_of(mechanism)
    changed = moved(law.head, 1, 0, MILLIONTH)
    certificate = damaged(mechanism, lambda law: rewritten(law, HEAD, changed))
    assert certificate.delta > mechanism.delta
    assert certificate.total_variation > 1e-8


FLAT_LAYERS = [
    fn.L1Staircase(1.0, 2),
    fn.BoxStaircase(0.5, (1.0, 2.0, 3.0)),
    fn.L1Staircase(1e-5, 3),
]


@pytest.mark.parametrize("mechanism", FLAT_LAYERS, ids=name)
@pytest.mark.parametrize("entry", [1, 2, -2, -1])
def test_damage__of_layers_is_seen(mechanism, entry, damaged):
    """An entry of every table: coins, parts of what is beyond, digits and restarts."""
    law = DrawnLayers(mechanism._release(mechanism.grid).law)
    tables = [(table_at(i), weights) for i, weights in enumerate([*law.coins, law.tail])]
    for at, weights in [*tables, (DIGIT, law.digit)]:
        listed = [i for i, weight in enumerate(weights) if weight]
        source = listed[entry % len(listed)]
        changed = moved(weights, source, source - 1, MILLIONTH)
        certificate = damaged(mechanism, lambda law: rewritten(law, at, changed))  # noqa: B023
        assert certificate.epsilon > mechanism.epsilon


@pytest.mark.parametrize("mechanism", FLAT_LAYERS, ids=name)
def test_damage__layers_that_end_are_seen(mechanism, damaged):
    law = DrawnLayers(mechanism._release(mechanism.grid).law)
    ended = moved(law.digit, law.digits, law.digits - 1, Fraction(1))
    certificate = damaged(mechanism, lambda law: rewritten(law, DIGIT, ended))
    assert certificate.epsilon == inf
    assert certificate.total_variation == 1.0


def test_damage__layers_that_are_too_narrow_are_seen(damaged):
    def change(law):
        at = int(law[layout.SIZES])
        law[at] = int(law[at]) - 1
        return law

    mechanism = fn.L1Staircase(1.0, 2)
    certificate = damaged(mechanism, change)
    assert certificate.epsilon > 1.9
    assert certificate.total_variation == 1.0


@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
def test_damage__of_a_scale_is_seen(factor, damaged):
    def change(law):
        scale = law[layout.SCALE : layout.SCALE + 1].view(np.float64)
        scale *= factor
        return law

    mechanism = fn.L2Laplace(1.0, 3)
    certificate = damaged(mechanism, change)
    assert certificate.epsilon == pytest.approx(1 / factor, rel=1e-12)
    assert certificate.total_variation == pytest.approx(3e-6, rel=1e-4)


def test_damage__a_scale_that_is_no_number_is_seen(damaged):
    def change(law):
        law[layout.SCALE : layout.SCALE + 1].view(np.float64)[:] = np.nan
        return law

    assert damaged(fn.L2Laplace(1.0, 3), change).epsilon == inf


# --- choices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-7, 0.01, 0.5, 2.0, 40.0])
@pytest.mark.parametrize("count", [1, 2, 33, 1000])
def test_choice__floats_are_as_near_as_the_certificate_says(epsilon, count, rng):
    """The kernel's own sums and goals, against exact ones: (count + 6) and (count + 9) roundings."""
    spread = min(30.0 / epsilon, 2.0**31)
    costs = np.floor(rng.random((count, 16)) ** 3 * spread)
    words = rng.integers(2**32, size=32, dtype=np.uint32)
    lanes, columns = tuple(np.empty(16) for _ in range(4)), costs.ravel().copy()
    sizes = 1.0, 1.0, 1.0, 1.0, (count + 16) * 2.0**-51
    choose_sixteen(words, 0, count, sizes, powers_of(epsilon), columns, lanes)
    sums = columns.reshape(count, 16)
    for lane in range(0, 16, 5):
        levels = [int(cost) for cost in costs[:, lane]]
        exact, total = [], Fraction(0)
        for level in levels:
            total += exp_bounds(Fraction(epsilon) * (level - min(levels)), 40)[0]
            total = Fraction(int(total * 2**120), 2**120)
            exact.append(total)
        room = total / 2**53
        off = [abs(Fraction(s) - e) for s, e in zip(sums[:, lane].tolist(), exact, strict=True)]
        assert max(off) <= (count + 6) * room
        uniform = Fraction(int(words[lane]) | int(words[16 + lane]) << 32, 2**64)
        assert abs(Fraction(lanes[2][lane].item()) - uniform * total) <= (count + 9) * room
