"""Is |x|**m a cost for every positive m, as good as for whole ones?"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from reference import near

import fastnoise as fn

pytestmark = pytest.mark.long

POWERS = [0.5, 2.5, Fraction(1, 3), 0.01, 17.25]


def lerch(epsilon, n, x):
    """S_n(x) from other formulas than the library's: zeta functions, or a plain sum."""
    if n == int(n):  # M_i = x^i + q sum_j C(i, j) M_j
        b, means = mp.exp(-epsilon), []
        for i in range(int(n) + 1):
            below = mp.fsum(mp.binomial(i, j) * means[j] for j in range(i))
            means.append(x**i + b / (1 - b) * below)
        return means[-1] / (1 - b)
    if epsilon < 0.05:
        parts = (mp.zeta(-n - j, x) * (-epsilon) ** j / mp.factorial(j) for j in range(40))
        part = mp.mpf(0)
        for i, term in enumerate(parts):
            part += term
            if i > 2 and abs(term) < abs(part) * mp.mpf(10) ** -45:
                break
        return mp.exp(x * epsilon) * (mp.gamma(n + 1) / epsilon ** (n + 1) + part)
    count = int((130 + 6 * float(n)) / float(epsilon)) + 5
    return mp.fsum(mp.exp(-epsilon * k) * (k + x) ** n for k in range(count))


def slope(epsilon, dim, m, x):
    """Has the sign of the derivative of the mean of R^m."""
    e, n, x = mp.mpf(epsilon), dim + mp.mpf(m), mp.mpf(x)
    rise = n * lerch(e, n - 1, x) * lerch(e, mp.mpf(dim), x)
    return rise - dim * lerch(e, n, x) * lerch(e, mp.mpf(dim - 1), x)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.3, 1.0, 10.0, 100.0])
def test_gamma__is_where_the_mean_turns(epsilon):
    """Between the floats beside it, in 50 digits."""
    with mp.workdps(50):
        for m in POWERS[: 2 if epsilon < 0.1 else None]:
            gamma = fn.Staircase(epsilon, cost=m).gamma
            below, above = math.nextafter(gamma, 0.0), math.nextafter(gamma, 1.0)
            assert slope(epsilon, 1, float(m), below) < 0 < slope(epsilon, 1, float(m), above)


def test_gamma__up_to_where_terms_are_added_up():
    with mp.workdps(50):
        for epsilon in np.linspace(1.6, 1.999, 30).tolist():
            gamma = fn.Staircase(epsilon, cost=0.1).gamma
            below, above = math.nextafter(gamma, 0.0), math.nextafter(gamma, 1.0)
            assert slope(epsilon, 1, 0.1, below) < 0 < slope(epsilon, 1, 0.1, above)


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_radial_gamma__is_where_the_mean_turns(dim):
    with mp.workdps(60):
        for epsilon, m in ((0.7, 0.5), (5.0, 2.5), (30.0, 0.2)):
            gamma = fn.L1Staircase(epsilon, dim, cost=m).gamma
            below, above = math.nextafter(gamma, 0.0), math.nextafter(gamma, 1.0)
            assert slope(epsilon, dim, m, below) < 0 < slope(epsilon, dim, m, above)


def test_gamma__is_best_by_brute_force():
    for m in (0.25, 0.5, 1.5, 7.7):
        for epsilon in (0.2, 1.0, 4.0):
            best = fn.Staircase(epsilon, cost=m)
            least = best.expected_cost(m)
            assert least == best.moment(m)
            others = [fn.Staircase(epsilon, gamma=g).moment(m) for g in np.linspace(0.01, 1, 100)]
            assert min(others) >= least * (1 - 1e-13)
            assert min(others) <= least * (1 + 1e-2)


def test_gamma__is_continuous_in_the_power():
    for epsilon in (1e-6, 1.0, 20.0):
        for m in (1, 2, 5):
            gamma = fn.Staircase(epsilon, cost=m).gamma
            assert fn.Staircase(epsilon, cost=float(m)).gamma == gamma
            assert fn.Staircase(epsilon, cost=Fraction(m)).gamma == gamma
            for near_by in (m - 1e-9, m + 1e-9):
                assert fn.Staircase(epsilon, cost=near_by).gamma == near(gamma, 1e-7)
    for dim in (2, 4):
        gamma = fn.L1Staircase(3.0, dim, cost=2).gamma
        assert fn.L1Staircase(3.0, dim, cost=2 + 1e-9).gamma == near(gamma, 1e-7)


def test_gamma__of_extreme_powers():
    """m -> 0 is the cost ln|x|; a large epsilon gives next to nothing, but never 0."""
    for epsilon in (0.1, 1.0, 30.0):
        limit = fn.Staircase(epsilon, cost=1e-9).gamma
        for m in (1e-12, 1e-30, 5e-324):
            assert fn.Staircase(epsilon, cost=m).gamma == near(limit, 1e-7)
    assert 0.0 < fn.Staircase(5000.0, cost=0.5).gamma < 1e-300
    with mp.workdps(40):
        gamma = fn.Staircase(600.0, cost=0.5).gamma
        assert (
            slope(600.0, 1, 0.5, gamma * (1 - 1e-12))
            < 0
            < slope(600.0, 1, 0.5, gamma * (1 + 1e-12))
        )


@pytest.mark.parametrize("epsilon", [1e-8, 0.3, 20.0])
def test_radius__moments(epsilon):
    with mp.workdps(40):
        for dim, m in ((2, 0.5), (5, 2.5)):
            law = fn.L1Staircase(epsilon, dim, 3.0, gamma=0.3)
            sums = [lerch(mp.mpf(epsilon), mp.mpf(n), mp.mpf(0.3)) for n in (dim + m, dim)]
            expected = mp.mpf(3) ** m * dim / (dim + mp.mpf(m)) * sums[0] / sums[1]
            assert law.radius.moment(m) == near(float(expected), 1e-15)
            assert law.expected_cost(m) == law.radius.moment(m)


# --- integers -------------------------------------------------------------------------------------


def mean_power(law, m) -> float:
    """E|X|^m term by term."""
    high = law.support()[1]
    last = high if math.isfinite(high) else math.ceil(120 * law.sensitivity / law.epsilon)
    points = np.arange(1, last + 1)
    return float(2 * math.fsum(law.pmf(points) * points ** float(m)))


INTEGERS = [
    fn.Geometric(0.7),
    fn.DiscreteStaircase(1.0, 7, r=2),
    fn.DiscreteStaircase(0.05, 40, r=40),
    fn.DiscreteLaplace(0.5, 3),
    fn.DiscreteUniform(0.01, 3),
    fn.TruncatedDiscreteLaplace(0.2, 1e-3, 2),
    fn.TruncatedDiscreteLaplace(1e-3, 1e-4, 2),
]


@pytest.mark.parametrize("law", INTEGERS, ids=repr)
def test_integers__moments(law):
    for m in (0.5, 2.5, Fraction(1, 3)):
        assert law.moment(m) == near(mean_power(law, m), 1e-12)
        assert law.expected_cost(m) == law.moment(m)
    assert law.moment(1 + 1e-12) == near(law.moment(1), 1e-10)


@pytest.mark.parametrize("m", [0.3, 0.5, 1.5, 6.5])
def test_integers__r_is_best_by_brute_force(m):
    for epsilon, width in ((0.1, 5), (1.0, 30), (3.0, 100), (8.0, 12)):
        costs = [
            mean_power(fn.DiscreteStaircase(epsilon, width, r=r), m) for r in range(1, width + 1)
        ]
        best = fn.DiscreteStaircase(epsilon, width, cost=m)
        assert costs[best.r - 1] <= min(costs) * (1 + 1e-13)


def test_integers__wide_laws_are_those_of_the_line():
    for epsilon, width in ((1e-8, 10**6), (1e-3, 10**9), (1.0, 2**50), (30.0, 2**40)):
        law, line = fn.DiscreteStaircase(epsilon, width, cost=0.5), fn.Staircase(epsilon, cost=0.5)
        assert law.r / width == near(line.gamma, 3 / width / line.gamma)
        assert law.moment(0.5) == near(line.moment(0.5) * math.sqrt(width), 1e-3)
        beside = [fn.DiscreteStaircase(epsilon, width, r=law.r * i // 10) for i in (9, 11)]
        # at 1e-8 the cost depends on r in the 18th digit
        assert epsilon == 1e-8 or all(law.moment(0.5) < other.moment(0.5) for other in beside)


def test_optimum__takes_real_powers():
    law = fn.approximate(0.5, 1e-3, 3, cost=0.5)
    bounds = fn.cost_bounds(0.5, 1e-3, 3, cost=0.5)
    assert bounds.upper == law.expected_cost(0.5)
    assert 0 < bounds.lower <= bounds.upper
    assert fn.cost_bounds(0.5, 1e-3, 3, cost=2 + 1e-9).lower == near(
        fn.cost_bounds(0.5, 1e-3, 3, cost=2).lower, 1e-6
    )
    plan = {"mechanism": "staircase", "epsilon": 1.0, "sensitivity": 1.0, "cost": 0.5}
    entry = fn.Plan({"columns": {"x": plan}}).entries[0]
    assert entry.mechanism == fn.Staircase(1.0, cost=0.5)


# --- callables ------------------------------------------------------------------------------------


def test_callable__gamma_has_12_digits():
    """More would hang on the machine's own exp and log."""
    for cost in (lambda x: x**1.3, lambda x: np.log1p(x), lambda x: x > 1.7):
        for law in (fn.Staircase(0.8, cost=cost), fn.L1Staircase(4.0, 3, cost=cost)):
            assert law.gamma == float(f"{law.gamma:.12g}")
    by_power = fn.Staircase(0.8, cost=1.3).gamma
    assert fn.Staircase(0.8, cost=lambda x: x**1.3).gamma == near(by_power, 1e-9)
