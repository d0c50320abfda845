"""Are the tables of every integer mechanism right, entry by entry, wherever its parameters lie?"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from laws import leaks, one_step_delta, one_step_excess
from mechanisms import name

import fastnoise as fn
from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.arithmetic.floats import exact_delta
from fastnoise.laws.line.drawn import DrawnLaw

pytestmark = pytest.mark.long

DEPTH = 1000  # steps of a staircase, levels of other laws
RANDOM_POINTS = 1000
CLOSE = Fraction(1, 2**50)
DIGITS = 70

EPSILONS = [1e-6, 1e-3, 0.1, 1.0, 7.3, 50.0]
SENSITIVITIES = [1, 3, 2**20 + 1, 2**32, 2**40]
PAIRS = [(e, s) for e in EPSILONS for s in SENSITIVITIES if s <= Fraction(e) * 2**52]
DELTAS = [1e-12, 1e-6, 0.01, 0.3]

STAIRCASES = [
    *(fn.Geometric(epsilon) for epsilon in EPSILONS),
    *(fn.DiscreteStaircase(*pair) for pair in PAIRS if pair[1] > 1),
    *(fn.DiscreteStaircase(*pair, r=1) for pair in PAIRS[1::7]),
    *(fn.DiscreteStaircase(*pair, r=pair[1]) for pair in PAIRS[2::7]),
]
LAPLACES = [fn.DiscreteLaplace(*pair) for pair in PAIRS]
UNIFORMS = [
    fn.DiscreteUniform(delta, steps)
    for delta in DELTAS
    for steps in SENSITIVITIES
    if steps <= exact_delta(delta) * 2**52
]
TRUNCATED = [
    fn.TruncatedDiscreteLaplace(epsilon, delta, steps)
    for epsilon, steps in PAIRS[::4]
    for delta in DELTAS[::2]
]


@cache
def drawn(mechanism) -> DrawnLaw:
    law = DrawnLaw(mechanism._law(mechanism.grid).tables)
    assert law.is_sound()
    return law


def title(mechanism) -> str:
    return f"{name(mechanism)}-{getattr(mechanism, 'r', '')}"


def every(mechanisms):
    return pytest.mark.parametrize("mechanism", mechanisms, ids=title)


def random_points(law: DrawnLaw, rng: np.random.Generator) -> list[int]:
    """As many on each power of ten of levels, from none to DEPTH, on either side."""
    depths = 10 ** rng.uniform(0, 3, RANDOM_POINTS) - 1
    size = law.radius + DEPTH * law.steps
    size = min(size, law.end) if law.end else size
    points = [int(Fraction(depth) * law.steps) + int(rng.integers(law.steps)) for depth in depths]
    return [int(rng.choice([-1, 1])) * min(point, size - 1) for point in points]


def entry_levels(law: DrawnLaw) -> list[int]:
    """Of every entry of both tables one level that it is drawn for, and the level after it."""
    lap = law.levels if law.laps else 1
    start = 1 if law.laps else law.levels + 1
    last_lows = {start + lap * digit - 1 for digit in range(law.digits + 2)}
    return sorted({*range(law.levels + 1), *last_lows, *(level + 1 for level in last_lows)})


def edges(law: DrawnLaw, levels: range) -> list[int]:
    """The last integer of each of these levels, and the first one after it."""
    ends = [law.radius + level * law.steps for level in levels]
    return [point for end in ends for point in (end - 1, -end)]


def check_entries_sum_to_one(law: DrawnLaw) -> None:
    """Levels of the head, and beyond it digits, which restarts make a geometric series of."""
    restart = Fraction(law.digit[law.digits], law.whole)
    digits = sum(map(law.digit_probability, range(law.digits))) / (1 - restart)
    assert digits == 1
    head = sum(law.head[: law.levels + 1 + (not law.laps)])
    assert head == law.whole - (law.last if law.laps else 0)
    assert 2 * law.full_mass * law.place(0) == 1


def first_round(law: DrawnLaw, level: int) -> tuple[int, int]:
    """How many restarts lead to a level, and the level that is as many rounds nearer to 0."""
    start, levels = (1, law.levels) if law.laps else (law.levels + 1, 1)
    restarts = max(0, level - start) // (levels * law.digits)
    return restarts, level - restarts * levels * law.digits


def worst_error(law: DrawnLaw, exponent: Fraction, ideal, points: list[int]) -> Fraction:
    """The largest relative error of P(point), of a law whose levels are e**-exponent apart.

    A point many restarts deep has the error of the same point in the first round, and once more
    that of a restart for each: a sum of errors so small is within a factor 2 of their product.
    """
    levels = law.levels if law.laps else 1
    restart = exp_bounds(exponent * law.digits * levels, DIGITS)[0]
    slip = abs(Fraction(law.digit[law.digits], law.whole) / restart - 1)
    rounds: dict[int, int] = {}
    for point in points:
        restarts, level = first_round(law, law.level_of(point))
        near = abs(point) - (law.level_of(point) - level) * law.steps
        rounds[near] = max(restarts, rounds.get(near, 0))
    return max(error(law.point(near), ideal(near)) + 2 * n * slip for near, n in rounds.items())


def error(found: Fraction, ideal: Fraction) -> Fraction:
    """|found / ideal - 1|, rounded up to 2**-80."""
    here, wanted = (
        a * b
        for a, b in zip(found.as_integer_ratio(), reversed(ideal.as_integer_ratio()), strict=True)
    )
    return Fraction((abs(here - wanted) << 80) // wanted + 1, 1 << 80)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 7.3, 50.0])
def test_levels__repeat_after_a_restart(epsilon):
    """What `worst_error` takes for granted, in exact probabilities."""
    law = drawn(fn.DiscreteStaircase(epsilon, 1000))
    restart = Fraction(law.digit[law.digits], law.whole)
    levels = law.levels if law.laps else 1
    for level in [1, law.levels + 1, *(law.levels + 2 + levels * n for n in range(9))]:
        for restarts in (1, 2, 5):
            deeper = level + restarts * levels * law.digits
            more, nearest = first_round(law, deeper)
            assert more >= restarts or level <= law.levels + 1
            assert law.level(deeper) == law.level(nearest) * restart**more


# --- staircases -----------------------------------------------------------------------------------


def ideal_heights(mechanism) -> Callable[[int], Fraction]:
    """P(integer) of the ideal law, by its level (docs/mathematics.md#discrete-staircase)."""
    exponent, b = Fraction(mechanism.epsilon), exp_bounds(mechanism.epsilon, DIGITS)[0]
    top = 1 / (2 * mechanism.r - 1 + 2 * mechanism.sensitivity * b / (1 - b))
    top = Fraction(int(top * 10**DIGITS), 10**DIGITS)  # it has hundreds of digits
    return cache(lambda level: top * exp_bounds(exponent * level, DIGITS)[0])


def staircase_error(mechanism, points: list[int]) -> Fraction:
    law, heights = drawn(mechanism), ideal_heights(mechanism)
    ideal = lambda point: heights(law.level_of(point))  # noqa: E731
    return worst_error(law, Fraction(mechanism.epsilon), ideal, points)


@every(STAIRCASES)
def test_staircase__is_the_same_on_both_sides(mechanism, rng):
    law = drawn(mechanism)
    points = [point for point in random_points(law, rng) if law.level_of(point) < 20]
    assert all(law.point(point) == law.point(-point) for point in points)


@every(STAIRCASES)
def test_staircase__no_two_neighbours_are_further_apart_than_e_to_epsilon(mechanism):
    """Of any depth: from every entry to the next one, and over every restart."""
    law, above = drawn(mechanism), exp_bounds(mechanism.epsilon)[1]
    levels = entry_levels(law)
    heights = {k: law.level(k) / (2 * law.steps if k else 2 * law.radius - 1) for k in levels}
    pairs = [(heights[k], heights[k + 1]) for k in levels if k + 1 in heights]
    assert len(pairs) > law.levels + law.digits
    assert all(0 < here * above <= below <= here for here, below in pairs)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.3])
def test_staircase__2_to_minus_48_more_of_epsilon_is_seen(epsilon):
    """In probabilities, and in ratios between neighbours."""
    mechanism = fn.DiscreteStaircase(epsilon, 1000)
    law = drawn(fn.DiscreteStaircase(epsilon * (1 + 2.0**-48), 1000, r=mechanism.r))
    heights, points = ideal_heights(mechanism), edges(law, range(DEPTH))
    ideal = lambda point: heights(law.level_of(point))  # noqa: E731
    assert worst_error(law, Fraction(epsilon), ideal, points) > CLOSE
    assert law.level(2) < law.level(1) * exp_bounds(epsilon)[1]


# --- discrete Laplace -----------------------------------------------------------------------------


def fall_of(mechanism) -> Fraction:
    return Fraction(mechanism.epsilon) / mechanism.sensitivity


def falling_error(law: DrawnLaw, fall: Fraction, top: Fraction, points: list[int]) -> Fraction:
    """From P(n) = top * e**(-fall |n|)."""
    ideal = lambda point: top * exp_bounds(fall * point, DIGITS)[0]  # noqa: E731
    return worst_error(law, fall * law.steps, ideal, points)


def laplace_top(mechanism) -> Fraction:
    b = exp_bounds(fall_of(mechanism), DIGITS)[0]
    return (1 - b) / (1 + b)


def laplace_error(mechanism, points: list[int]) -> Fraction:
    return falling_error(drawn(mechanism), fall_of(mechanism), laplace_top(mechanism), points)


@every(LAPLACES)
def test_laplace__no_two_neighbours_are_further_apart_than_e_to_a_step(mechanism):
    """Over every carry of the places of a level, from level to level, and over every restart."""
    law, fall = drawn(mechanism), fall_of(mechanism)
    carries = [law.radius + (1 << i) - 1 for i in range(law.steps.bit_length() - 1)]
    assert leaks(law, fall, [0, *carries]) == []
    above, levels = exp_bounds(fall)[1], entry_levels(law)
    heights = {level: law.level(level) for level in levels if level}
    pairs = [(heights[k] * law.tilt, heights[k + 1]) for k in heights if k + 1 in heights]
    assert len(pairs) >= law.levels + law.digits
    assert all(0 < here * above <= below <= here for here, below in pairs)


# --- laws that never end --------------------------------------------------------------------------


def largest_error(mechanism, points: list[int]) -> Fraction:
    laplace = isinstance(mechanism, fn.DiscreteLaplace)
    return (laplace_error if laplace else staircase_error)(mechanism, points)


@every([*STAIRCASES, *LAPLACES])
def test_endless__sums_to_one(mechanism):
    check_entries_sum_to_one(drawn(mechanism))


@every([*STAIRCASES, *LAPLACES])
def test_endless__every_entry_is_right(mechanism):
    law = drawn(mechanism)
    starts = [law.radius + (level - 1) * law.steps for level in entry_levels(law) if level]
    assert len(starts) > law.levels + law.digits
    assert largest_error(mechanism, [0, *starts]) <= CLOSE


@every([*STAIRCASES, *LAPLACES])
def test_endless__both_sides_of_every_level_are_right(mechanism):
    assert largest_error(mechanism, edges(drawn(mechanism), range(DEPTH))) <= CLOSE


@every([*STAIRCASES, *LAPLACES])
def test_endless__random_points_are_right(mechanism, rng):
    law = drawn(mechanism)
    points = random_points(law, rng)
    assert len({law.level_of(point) for point in points}) > 100
    assert largest_error(mechanism, points) <= CLOSE


# --- uniform --------------------------------------------------------------------------------------


@every(UNIFORMS)
def test_uniform__is_right_and_sums_to_one(mechanism, rng):
    law, (core, height, edge) = drawn(mechanism), mechanism.exact_weights()
    inside = [0, core, -core, *(int(rng.integers(core + 1)) for _ in range(RANDOM_POINTS))]
    assert all(abs(law.point(point) - height) <= height * CLOSE for point in inside)
    assert abs(law.point(core + 1) - edge) <= height * CLOSE
    assert law.point(core + 2) == 0
    assert law.point(0) * (2 * law.radius - 1) + 2 * law.point(law.radius) == 1


@every(UNIFORMS)
def test_uniform__no_step_moves_more_than_its_share_of_delta(mechanism):
    law = drawn(mechanism)
    assert law.point(law.radius) <= law.point(0)
    assert mechanism.sensitivity * law.point(0) <= exact_delta(mechanism.delta)


# --- truncated discrete Laplace -------------------------------------------------------------------


def truncated_top(mechanism) -> Fraction:
    b, delta = exp_bounds(fall_of(mechanism))[0], exact_delta(mechanism.delta)
    part = one_step_delta(mechanism.epsilon, delta, mechanism.sensitivity)
    exact = (1 - b + 2 * part * b) / (1 + b)
    return Fraction(int(exact * 10**DIGITS), 10**DIGITS)  # it has thousands of digits


def regular_levels(law: DrawnLaw) -> int:
    """Those before the ends; without slopes, the ends are a level of their own."""
    return law.levels if law.ends else law.levels - 1


@every(TRUNCATED)
def test_truncated__sums_to_one(mechanism):
    law = drawn(mechanism)
    assert sum(law.head[: law.levels + 1 + 2 * law.ends]) == law.whole
    assert 2 * law.full_mass * law.place(0) == 1
    if law.ends:
        assert 2 * law.last_mass * law.place(0, last=True) == 1


@every(TRUNCATED)
def test_truncated__every_entry_and_both_sides_of_every_level_are_right(mechanism):
    law = drawn(mechanism)
    points = [0, *edges(law, range(regular_levels(law))), law.end - 1]
    inside = [point for point in points if abs(point) < law.end]
    top = truncated_top(mechanism)
    assert falling_error(law, fall_of(mechanism), top, inside) <= CLOSE


@every(TRUNCATED)
def test_truncated__random_points_are_right(mechanism, rng):
    law, top = drawn(mechanism), truncated_top(mechanism)
    assert falling_error(law, fall_of(mechanism), top, random_points(law, rng)) <= CLOSE


@every(TRUNCATED)
def test_truncated__no_two_neighbours_are_further_apart_than_e_to_a_step(mechanism):
    law, fall = drawn(mechanism), fall_of(mechanism)
    carries = [law.radius + (1 << i) - 1 for i in range(law.steps.bit_length() - 1)]
    ends = [abs(point) for point in edges(law, range(regular_levels(law)))[::2]]
    assert leaks(law, fall, [p for p in (0, *carries, *ends) if p < law.end - 1]) == []


@every(TRUNCATED)
def test_truncated__the_ends_add_no_more_than_delta(mechanism):
    law, delta = drawn(mechanism), exact_delta(mechanism.delta)
    allowed = one_step_delta(mechanism.epsilon, delta, mechanism.sensitivity)
    assert one_step_excess(law, fall_of(mechanism)) <= allowed
