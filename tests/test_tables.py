"""Is the law in the tables pure epsilon-DP, at any depth, and the law it should be?"""

from fractions import Fraction

import pytest
from exact import DrawnLaw, exp_bounds, ideal_level
from fastnoise_kernels import layout

from fastnoise.reader import Table
from fastnoise.tables import LARGEST_EPSILON, alias_cells, exp_above, staircase_law

LAWS = [
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


def interesting_levels(law: DrawnLaw) -> list[int]:
    """Both sides of every place where the arithmetic of levels changes, and all the early ones."""
    digits = int(law.law[layout.DIGIT_LEVELS])
    lap, long_lap = law.levels, (law.levels if law.laps else 1) * digits
    edges = [0, lap, 2 * lap, lap + long_lap, lap + 2 * long_lap, 5 * long_lap, 5 * long_lap + lap]
    near = {edge + step for edge in edges for step in range(-3, 4)}
    return sorted(k for k in near | set(range(min(60, 3 * lap + 4))) if k >= 0)


@pytest.mark.parametrize("parameters", LAWS, ids=str)
def test_staircase__neighbours_differ_by_at_most_e_to_epsilon(parameters):
    """Shifting by up to `steps` moves a point by at most one level: compare adjacent levels."""
    epsilon, steps, radius = parameters
    law = DrawnLaw(staircase_law(epsilon, steps, radius))
    above = exp_bounds(min(epsilon, LARGEST_EPSILON))[1]  # at least e**-epsilon

    def height(level: int) -> Fraction:
        return law.level(level) / (2 * steps if level else 2 * radius - 1)

    for level in interesting_levels(law):
        here, below = height(level), height(level + 1)
        assert below >= here * above, f"level {level} to {level + 1} is more than epsilon"
        assert below <= here / above, f"level {level} to {level + 1} rises by more than epsilon"
        assert below > 0


@pytest.mark.parametrize("parameters", [p for p in LAWS if p[0] <= 100], ids=str)
def test_staircase__within_2_to_minus_50_of_the_ideal(parameters):
    law = DrawnLaw(staircase_law(*parameters))
    for level in interesting_levels(law):
        if level <= 1000:
            ideal = ideal_level(*parameters, level)
            assert abs(law.level(level) - ideal) <= ideal / 2**50


@pytest.mark.parametrize("parameters", LAWS, ids=str)
def test_staircase__sums_to_one(parameters):
    law = DrawnLaw(staircase_law(*parameters))
    assert sum(law.head) == law.whole
    assert sum(law.digit) == law.whole
    if law.laps:
        assert law.mass(0) + Fraction(sum(law.head[1:-1]), law.whole - law.last) == 1
    else:
        assert law.mass(law.levels) + Fraction(law.last, law.whole) == 1


@pytest.mark.parametrize("parameters", LAWS, ids=str)
def test_staircase__least_likely_entry_is_precise(parameters):
    """192 bits of threshold or more, and 120 of them left at the far end of the tables."""
    law = staircase_law(*parameters)
    assert law[layout.LIMBS] >= 3
    if parameters[0] <= 100:
        drawn = DrawnLaw(law)
        smallest = min(w for w in drawn.head[1 : drawn.levels + 1] if w)
        assert smallest.bit_length() > 120


def test_a_law_that_leaks_is_seen():
    """The same comparison on tables rounded the wrong way, or for 1 part in 10**6 more epsilon."""
    epsilon = 1.0
    law = DrawnLaw(staircase_law(epsilon * (1 + 1e-6), 2**20, 395_882))
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
