"""Is the law in the tables pure epsilon-DP, at any depth, and the law it should be?"""

from fractions import Fraction

import numpy as np
import pytest
from fastnoise_kernels import layout
from laws import (
    STAIRCASE_TABLES,
    ideal_laplace,
    ideal_level,
    leaks,
    mass,
    one_step_delta,
    one_step_excess,
)

from fastnoise.arithmetic.elementary import exp_above, exp_bounds
from fastnoise.laws.alias import LARGEST_EPSILON, alias_cells
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.laws.line.finite_tables import truncated_laplace_tables, uniform_tables
from fastnoise.laws.line.reader import Table
from fastnoise.laws.line.tables import laplace_tables, staircase_tables

pytestmark = pytest.mark.long


def interesting_levels(law: DrawnLaw) -> list[int]:
    """Both sides of every place where the arithmetic of levels changes, and all the early ones."""
    digits = int(law.tables[layout.DIGIT_LEVELS])
    lap, long_lap = law.levels, (law.levels if law.laps else 1) * digits
    edges = [0, lap, 2 * lap, lap + long_lap, lap + 2 * long_lap, 5 * long_lap, 5 * long_lap + lap]
    near = {edge + step for edge in edges for step in range(-3, 4)}
    return sorted(k for k in near | set(range(min(60, 3 * lap + 4))) if k >= 0)


@pytest.mark.parametrize("parameters", STAIRCASE_TABLES, ids=str)
def test_staircase__neighbours_differ_by_at_most_e_to_epsilon(parameters):
    """Shifting by up to `steps` moves a point by at most one level: compare adjacent levels."""
    epsilon, steps, radius = parameters
    law = DrawnLaw(staircase_tables(epsilon, steps, radius))
    above = exp_bounds(min(epsilon, LARGEST_EPSILON))[1]  # at least e**-epsilon

    def height(level: int) -> Fraction:
        return law.level(level) / (2 * steps if level else 2 * radius - 1)

    for level in interesting_levels(law):
        here, below = height(level), height(level + 1)
        assert below >= here * above, f"level {level} to {level + 1} is more than epsilon"
        assert below <= here / above, f"level {level} to {level + 1} rises by more than epsilon"
        assert below > 0


@pytest.mark.parametrize("parameters", [p for p in STAIRCASE_TABLES if p[0] <= 100], ids=str)
def test_staircase__within_2_to_minus_50_of_the_ideal(parameters):
    law = DrawnLaw(staircase_tables(*parameters))
    for level in interesting_levels(law):
        if level <= 1000:
            ideal = ideal_level(*parameters, level)
            assert abs(law.level(level) - ideal) <= ideal / 2**50


@pytest.mark.parametrize("parameters", STAIRCASE_TABLES, ids=str)
def test_staircase__sums_to_one(parameters):
    law = DrawnLaw(staircase_tables(*parameters))
    assert sum(law.head) == law.whole
    assert sum(law.digit) == law.whole
    if law.laps:
        assert mass(law, 0) + Fraction(sum(law.head[1:-1]), law.whole - law.last) == 1
    else:
        assert mass(law, law.levels) + Fraction(law.last, law.whole) == 1


@pytest.mark.parametrize("parameters", STAIRCASE_TABLES, ids=str)
def test_staircase__least_likely_entry_is_precise(parameters):
    """192 bits of threshold or more, and 120 of them left at the far end of the tables."""
    law = staircase_tables(*parameters)
    assert law[layout.LIMBS] >= 3
    if parameters[0] <= 100:
        drawn = DrawnLaw(law)
        smallest = min(w for w in drawn.head[1 : drawn.levels + 1] if w)
        assert smallest.bit_length() > 120


def test_a_law_that_leaks_is_seen():
    """The same comparison on tables rounded the wrong way, or for 1 part in 10**6 more epsilon."""
    epsilon = 1.0
    law = DrawnLaw(staircase_tables(epsilon * (1 + 1e-6), 2**20, 395_882))
    above = exp_bounds(epsilon)[1]
    assert law.level(2) < law.level(1) * above


def test_alias_cells__give_back_their_weights(rng):
    for _ in range(20):
        entries, limbs = int(rng.integers(2, 200)), 3
        bits = (entries - 1).bit_length()
        raw = [int.from_bytes(rng.bytes(12)) for _ in range(entries)]
        whole = 1 << (32 + 64 * limbs)
        weights = [w * whole // sum(raw) for w in raw]
        weights[0] += whole - sum(weights)
        thresholds, aliases = alias_cells(weights, bits, limbs)
        table = Table.__new__(Table)
        table.bits, table.limbs, table.thresholds, table.aliases = bits, limbs, thresholds, aliases
        assert table.weights()[:entries] == weights


@pytest.mark.parametrize("epsilon", [1e-12, 0.1, 1.0, 20.0, 700.0])
@pytest.mark.parametrize("times", [1, 4094])
def test_exp_above__is_above_and_close(epsilon, times):
    from mpmath import ldexp, mp

    bits = 300
    above = exp_above(Fraction(epsilon) * times, bits)
    assert above.denominator <= 1 << bits
    with mp.workprec(3000):
        exact = mp.exp(-mp.mpf(epsilon) * times)
        assert exact <= mp.mpf(above.numerator) / above.denominator <= exact + ldexp(2, -bits)


# --- discrete Laplace -----------------------------------------------------------------------------

LAPLACE_LAWS = [
    *((1e-6, steps) for steps in (1, 3, 2**20, 2**32)),
    *((1e-3, steps) for steps in (1, 1000, 2**40)),
    (2.0**-12, 2**40),  # a scale of 2**52
    *((0.01, steps) for steps in (1, 40, 41, 2**20)),
    *((1.0, steps) for steps in (1, 2, 255, 256, 4095, 8191, 8192, 2**20 + 1, 2**40)),
    *((50.0, steps) for steps in (1, 1000, 2**40)),
    *((1000.0, steps) for steps in (1, 7, 2**22, 2**57)),
    (32.0, 2**57),
    (1e5, 1),
]


def laplace_fall(epsilon: float, steps: int) -> Fraction:
    return min(Fraction(epsilon) / steps, Fraction(LARGEST_EPSILON))


def interesting_points(law: DrawnLaw, rng: np.random.Generator) -> list[int]:
    """Where n and n + 1 are neighbours of every kind: on levels, over their edges, at restarts."""
    starts = [law.radius + (level - 1) * law.steps for level in interesting_levels(law) if level]
    points = {0, *(start - 1 for start in starts)}
    bits = law.steps.bit_length() - 1
    if bits:
        carries = {(1 << i) - 1 for i in range(bits)} | {
            law.steps - 1,
            law.steps - 2,
            1 << bits - 1,
        }
        points |= {starts[0] + carry for carry in carries}  # every carry of binary digits
        for start in starts[::10]:
            points |= {start + int(rng.integers(law.steps)) for _ in range(2)}
            points.add(start + (1 << int(rng.integers(bits))) - 1)
    points |= {int(rng.integers(1000 * law.steps)) for _ in range(20)}
    return sorted(points)


@pytest.mark.parametrize("parameters", LAPLACE_LAWS, ids=str)
def test_laplace__neighbours_differ_by_at_most_a_step_of_epsilon(parameters, rng):
    law = DrawnLaw(laplace_tables(*parameters))
    assert leaks(law, laplace_fall(*parameters), interesting_points(law, rng)) == []


@pytest.mark.parametrize("parameters", [p for p in LAPLACE_LAWS if p[0] < 1e5], ids=str)
def test_laplace__within_2_to_minus_50_of_the_ideal(parameters, rng):
    """Where a step falls by more than e**-100, what is rarer than 2**-400 is only rounded up."""
    law, fall = DrawnLaw(laplace_tables(*parameters)), laplace_fall(*parameters)
    least = Fraction(1, 2**400) if fall > 100 else 0
    for noise in interesting_points(law, rng):
        if law.level_of(noise) <= 1000 and fall * noise < 10_000:
            ideal = ideal_laplace(fall, noise)
            assert abs(law.point(noise) - ideal) <= ideal / 2**50 + least
            assert law.point(-noise) == law.point(noise)


@pytest.mark.parametrize("parameters", LAPLACE_LAWS, ids=str)
def test_laplace__sums_to_one(parameters):
    law = DrawnLaw(laplace_tables(*parameters))
    check_tables_are_whole(law)
    places = law.slopes.slopes and range(law.steps)
    if len(places) <= 1 << 12:
        assert sum(map(law.place, places)) == (Fraction(1, 2) if places else 0)
    else:
        halves = range(law.steps >> 3, law.steps + 1, law.steps >> 3)
        sums = [law.mass_of(half) for half in halves]
        assert sums == sorted(sums)
        assert sums[3] * (1 + law.slopes.slopes[-1]) == sums[7]


def check_tables_are_whole(law: DrawnLaw) -> None:
    """All that entries can be is a level, a digit, a restart, or one end of a finite support."""
    assert sum(law.head[: law.levels + 2 + law.ends]) == law.whole
    assert sum(law.digit[: int(law.tables[layout.DIGIT_LEVELS]) + 1]) == law.whole
    if law.laps:
        assert mass(law, 0) + Fraction(sum(law.head[1:-1]), law.whole - law.last) == 1


@pytest.mark.parametrize("parameters", LAPLACE_LAWS, ids=str)
def test_laplace__quick_thresholds_never_keep_what_might_be_dropped(parameters):
    check_quick_thresholds(DrawnLaw(laplace_tables(*parameters)))


def check_quick_thresholds(law: DrawnLaw) -> None:
    """A coin that is not below them is kept unseen: flat, no bias; sloping, on the last place."""
    whole = 1 << (32 if law.tables[layout.WIDTH] == layout.SHORT else 64)
    assert law.tables[layout.REST_TOP] == whole % (2 * law.radius - 1)
    if law.slopes.slopes:
        assert law.steps == 1 << len(law.slopes.slopes)
        assert law.tables[layout.REST_SIDE] >= (1 - law.slopes.chance(law.steps - 1)) * whole
    else:
        assert law.tables[layout.REST_SIDE] == whole % (2 * law.steps)


@pytest.mark.parametrize("parameters", [(1.0, 1), (1.0, 1000), (1e-3, 2**20)], ids=str)
def test_laplace__one_part_in_a_million_is_seen(parameters, rng):
    epsilon, steps = parameters
    law = DrawnLaw(laplace_tables(epsilon * (1 + 1e-6), steps))
    points = interesting_points(law, rng)
    assert leaks(law, laplace_fall(epsilon, steps), points) == points


def tampered(law, at: int, change: int) -> DrawnLaw:
    words = law.copy()
    words[at] = int(words[at]) + change
    return DrawnLaw(words)


def test_laplace__a_slope_that_is_8_units_of_2_to_minus_256_too_low_is_seen(rng):
    law, fall = laplace_tables(1e-3, 2**20), laplace_fall(1e-3, 2**20)
    last_limb = int(law[layout.SLOPES]) + layout.SLOPE_LIMBS * 4 - 1
    points = interesting_points(DrawnLaw(law), rng)
    assert 8 in leaks(tampered(law, last_limb, -8), fall, points)  # from place 7 to place 8


@pytest.mark.parametrize("parameters", [(1.0, 2), (1.0, 1000), (1e-3, 2**20)], ids=str)
def test_laplace__a_level_that_is_2_units_of_2_to_minus_224_too_low_is_seen(parameters, rng):
    law, fall = laplace_tables(*parameters), laplace_fall(*parameters)
    limbs, table = int(law[layout.LIMBS]), Table.head(law)
    level = next(k for k in range(3, 20) if table.thresholds[k] % 2**64 > 2)
    last_limb = int(law[layout.HEAD_THRESHOLDS]) + limbs * level + limbs - 1
    points = interesting_points(DrawnLaw(law), rng)
    edge = DrawnLaw(law).steps * (level - 1)
    assert edge in leaks(tampered(law, last_limb, -2), fall, points)


# --- uniform --------------------------------------------------------------------------------------

UNIFORM_LAWS = [  # delta, sensitivity
    (Fraction(1, 10), 1),
    (Fraction(1, 3), 1),
    (Fraction(1, 4), 1),
    (Fraction(7, 100), 1),
    (Fraction(7, 100), 3),
    (Fraction(1, 7), 7),
    (Fraction(99, 100), 5),
    (Fraction(1), 3),
    (Fraction(1, 10**5), 1),
    (Fraction(1, 10**10), 10**4),
    (Fraction(3, 10**15), 7),
    (Fraction(1, 2**50), 3),
    (Fraction(1, 2**20 + 7), 2**36),
]


def uniform(delta: Fraction, steps: int, more: Fraction = Fraction(1)) -> DrawnLaw:
    """The law of a mechanism; built for `more` times its delta."""
    height = min(delta * more / steps, Fraction(1))
    return DrawnLaw(uniform_tables(2 * int((1 / height - 1) / 2) + 1, height))


def largest_window(law: DrawnLaw, size: int) -> Fraction:
    """The largest mass of so many consecutive points: of a law with one peak, those around 0."""
    core, end = 2 * law.radius - 1, law.point(law.radius)
    assert end <= law.point(0)
    return law.point(0) * min(size, core) + end * min(2, max(0, size - core))


@pytest.mark.parametrize("parameters", UNIFORM_LAWS, ids=str)
def test_uniform__no_window_is_heavier_than_delta(parameters):
    delta, steps = parameters
    law = uniform(delta, steps)
    assert delta * (1 - Fraction(1, 2**150)) <= largest_window(law, steps) <= delta


@pytest.mark.parametrize("parameters", [p for p in UNIFORM_LAWS if p[1] / p[0] < 500], ids=str)
def test_uniform__total_variation_is_at_most_delta(parameters):
    """Half the differences to the law moved by 1 .. sensitivity steps, added up exactly."""
    delta, steps = parameters
    law = uniform(delta, steps)
    assert all(hockey_stick(law, Fraction(1), law.radius, d) <= delta for d in range(1, steps + 1))


@pytest.mark.parametrize("parameters", UNIFORM_LAWS, ids=str)
def test_uniform__sums_to_one(parameters):
    law = uniform(*parameters)
    assert sum(law.head) == law.whole
    assert law.point(0) * (2 * law.radius - 1) + 2 * law.point(law.radius) == 1
    assert law.point(law.radius + 1) == 0
    check_quick_thresholds(law)


@pytest.mark.parametrize("parameters", [p for p in UNIFORM_LAWS if p[0] < 0.9], ids=str)
def test_uniform__one_part_in_a_million_is_seen(parameters):
    delta, steps = parameters
    law = uniform(delta, steps, 1 + Fraction(1, 10**6))
    assert largest_window(law, steps) > delta


# --- truncated discrete Laplace -------------------------------------------------------------------

TRUNCATED_LAWS = [
    (1.0, Fraction(1, 10), 1),
    (0.1, Fraction(1, 10), 2),
    (0.5, Fraction(1, 100), 3),
    (4.0, Fraction(1, 100), 3),
    (1.0, Fraction(1, 1000), 20),
    (0.01, Fraction(1, 10**4), 1),
    (1e-6, Fraction(1, 10), 1),
    (1e-6, Fraction(1, 10**12), 1),
    (1e-6, Fraction(1, 10), 2**32),
    (0.1, Fraction(1, 10**9), 1000),
    (1.0, Fraction(1, 10**6), 2**20),
    (1.0, Fraction(1, 10**30), 2**40),
    (1.0, Fraction(9, 10), 2**14),
    (2.0**-12, Fraction(1, 3), 2**40),
    (50.0, Fraction(1, 1000), 1),
    (50.0, Fraction(1, 10**30), 2**40),
    (1000.0, Fraction(1, 10), 1),
    (1000.0, Fraction(1, 10), 7),
]
SHORT_LAWS = [p for p in TRUNCATED_LAWS if DrawnLaw(truncated_laplace_tables(*p)).end < 150]


def truncated_points(law: DrawnLaw, rng: np.random.Generator) -> list[int]:
    """`interesting_points`, those near the end, and random ones; all before the end itself."""
    near = {law.end - i for i in (2, 3, 4, 10)}
    near |= {law.end - 1 - law.last_places + i for i in (-2, -1, 0, 1)}
    near |= {int(rng.integers(law.end)) for _ in range(50)}
    return sorted(n for n in near | set(interesting_points(law, rng)) if 0 <= n < law.end - 1)


@pytest.mark.parametrize("parameters", TRUNCATED_LAWS, ids=str)
def test_truncated__neighbours_differ_by_at_most_a_step_of_epsilon(parameters, rng):
    law = DrawnLaw(truncated_laplace_tables(*parameters))
    fall = Fraction(parameters[0]) / parameters[2]
    assert leaks(law, fall, truncated_points(law, rng)) == []


@pytest.mark.parametrize("parameters", TRUNCATED_LAWS, ids=str)
def test_truncated__what_the_end_adds_is_at_most_delta(parameters):
    """(epsilon / steps, delta')-DP for a change of 1, so (epsilon, delta)-DP for one of `steps`."""
    law = DrawnLaw(truncated_laplace_tables(*parameters))
    fall, allowed = Fraction(parameters[0]) / parameters[2], one_step_delta(*parameters)
    excess = one_step_excess(law, fall)
    assert allowed * (1 - Fraction(1, 2**90)) <= excess <= allowed


@pytest.mark.parametrize("parameters", TRUNCATED_LAWS, ids=str)
def test_truncated__within_2_to_minus_50_of_the_ideal(parameters, rng):
    """p(0) = (1 - b + 2 delta' b) / (1 + b), and b times as much one step further."""
    law = DrawnLaw(truncated_laplace_tables(*parameters))
    fall, part = Fraction(parameters[0]) / parameters[2], one_step_delta(*parameters)
    b = exp_bounds(fall)[0]
    top = (1 - b + 2 * part * b) / (1 + b)
    for noise in [0, *truncated_points(law, rng)]:
        ideal = top * exp_bounds(fall * noise, 120)[0]
        assert abs(law.point(noise) - ideal) <= ideal / 2**50
        assert law.point(-noise) == law.point(noise)


@pytest.mark.parametrize("parameters", TRUNCATED_LAWS, ids=str)
def test_truncated__sums_to_one(parameters):
    law = DrawnLaw(truncated_laplace_tables(*parameters))
    check_tables_are_whole(law)
    check_quick_thresholds(law)
    if law.ends:
        assert law.end == law.radius + law.levels * law.steps + law.last_places
        if law.last_places <= 1 << 13:
            assert sum(law.place(place, True) for place in range(law.last_places)) == Fraction(1, 2)
    else:
        assert law.end == law.levels
    if law.end < 2000:
        assert sum(law.point(n) for n in range(-law.end, law.end + 1)) == 1


def hockey_stick(law: DrawnLaw, growth: Fraction, end: int, shift: int) -> Fraction:
    """The sum of what P(n) is above growth * P(n + shift), over the whole support."""
    points = {n: law.point(n) for n in range(-end, end + 1)}
    excess = (p - growth * points.get(n + shift, Fraction(0)) for n, p in points.items())
    return sum((e for e in excess if e > 0), Fraction(0))


@pytest.mark.parametrize("parameters", SHORT_LAWS, ids=str)
def test_truncated__is_private_at_every_shift(parameters):
    """Both ways, point by point, and nothing else but the probabilities."""
    epsilon, delta, steps = parameters
    law, growth = DrawnLaw(truncated_laplace_tables(*parameters)), 1 / exp_bounds(epsilon)[1]
    for shift in [*range(1, steps + 1), *range(-steps, 0)]:
        assert hockey_stick(law, growth, law.end, shift) <= delta


def test_truncated__short_laws_have_many_shapes():
    assert len(SHORT_LAWS) >= 6


@pytest.mark.parametrize("parameters", TRUNCATED_LAWS, ids=str)
def test_truncated__one_part_in_a_million_more_delta_is_seen(parameters):
    epsilon, delta, steps = parameters
    law = DrawnLaw(truncated_laplace_tables(epsilon, delta * (1 + Fraction(1, 10**6)), steps))
    assert one_step_excess(law, Fraction(epsilon) / steps) > one_step_delta(*parameters)
    if parameters in SHORT_LAWS and epsilon < 5:
        growth = 1 / exp_bounds(epsilon)[1]
        assert hockey_stick(law, growth, law.end, steps) > delta


@pytest.mark.parametrize("parameters", [p for p in TRUNCATED_LAWS if p[0] <= 4], ids=str)
def test_truncated__one_part_in_a_million_more_epsilon_is_seen(parameters, rng):
    epsilon, delta, steps = parameters
    law = DrawnLaw(truncated_laplace_tables(epsilon * (1 + 1e-6), delta, steps))
    points = truncated_points(law, rng)
    assert leaks(law, Fraction(epsilon) / steps, points) == points
