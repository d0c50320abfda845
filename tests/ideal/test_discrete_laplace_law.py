"""Is the ideal discrete Laplace law right: probabilities, quantiles, moments, costs, privacy?

Against mpmath from the definition, and against exhaustive scans.
"""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from reference import (
    check_curve,
    check_moments,
    check_quantiles,
    digits,
    least_missed,
    lower,
    near,
    pure_region,
)

import fastnoise as fn

pytestmark = pytest.mark.filterwarnings("error")

EPSILONS = (1e-8, 1e-6, 0.1, 1.0, 5.0, 50.0, 100.0)
GRID = list(itertools.product(EPSILONS, (1, 2, 3, 10, 1001)))
WIDE = [
    *((epsilon, 2**40) for epsilon in (1e-3, 1.0, 100.0)),
    *((1.0, 2**52), (100.0, 2**57 + 3), (1e-8, 2**25)),
]
in_digits = digits(150)


def rate(law):
    return mp.mpf(law.epsilon) / law.sensitivity


def exact_pmf(law, i):
    return mp.tanh(rate(law) / 2) * mp.exp(-rate(law) * abs(i))


def upper(law, n):
    """P(X >= n), n >= 0."""
    return mp.exp(-rate(law) * n) / (1 + mp.exp(-rate(law)))


def exact_cdf(law, i):
    return lower(law, upper, i)


# --- against the definition -----------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*GRID, *WIDE])
def test_discrete_laplace__probabilities(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    rng = np.random.default_rng(40)
    reach = rng.uniform(0.0, 690.0, 12) * sensitivity / epsilon
    n = [0, 1, 2, 7, sensitivity, 2 * sensitivity + 1, *reach.astype(np.int64).tolist()]
    n = [x for x in n if x <= 690 * sensitivity / epsilon]
    i = np.array([-x for x in n] + n)
    exact = [float(exact_pmf(law, int(x))) for x in i]
    np.testing.assert_allclose(law.pmf(i), exact, rtol=3e-13)
    np.testing.assert_allclose(law.logpmf(i), np.log(exact), rtol=1e-13, atol=1e-15)
    low = [float(exact_cdf(law, int(x))) for x in i]
    np.testing.assert_allclose(law.cdf(i), low, rtol=3e-13)
    np.testing.assert_allclose(law.sf(-1 - i), low, rtol=3e-13)


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_laplace__quantiles_invert(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    i = np.unique(np.geomspace(1, 600 * sensitivity / epsilon + 1, 60).astype(np.int64))
    i = i[(law.sf(i) > 1e-300) & (i < 1e13)]
    np.testing.assert_array_equal(law.ppf(law.cdf(-i)), -i)
    np.testing.assert_array_equal(law.isf(law.sf(i)), i)
    assert law.isf(law.sf(0)) == 0.0
    assert law.ppf(law.cdf(0)) == (0.0 if law.cdf(0) < 1.0 else math.inf)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*GRID, *WIDE])
def test_discrete_laplace__quantiles_by_definition(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)

    def tiny(p):
        """The rate is rounded once, and where i has 16 digits so is i."""
        return mp.mpf(2) ** -50 * (4 - mp.log(min(p, 1 - p)))

    check_quantiles(law, upper, (1e-290, 1e-9, 0.01, 0.3, 0.5, 0.7, 0.999), tiny)


def exact_moment(law, m):
    """E|X|^m = 2 p lam A_m(lam) / (1-lam)^(m+1), A_m the Eulerian polynomial."""
    row = [mp.mpf(1)]
    for n in range(2, m + 1):
        left, right = [*row, 0], [0, *row]
        row = [(k + 1) * left[k] + (n - k) * right[k] for k in range(n)]
    lam = mp.exp(-rate(law))
    top = mp.fsum(a * lam**k for k, a in enumerate(row))
    return 2 * exact_pmf(law, 0) * lam * top / (-mp.expm1(-rate(law))) ** (m + 1)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*GRID, *WIDE])
def test_discrete_laplace__moments(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    rounding = 2.0**-53 * (2.0 + epsilon / sensitivity)  # the rate's, in e^-rate
    for m in (1, 2, 3, 6, 11):
        assert law.moment(m) == near(float(exact_moment(law, m)), rounding + m * 2.0**-53)
    assert law.moment(1) == near(float(1 / mp.sinh(rate(law))), 2.0 * rounding)
    assert law.var() == near(float(1 / (2 * mp.sinh(rate(law) / 2) ** 2)), 2.0 * rounding)
    assert law.scale == sensitivity / epsilon
    check_moments(law)


# --- callable costs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(1e-3, 3), (0.1, 1), (0.1, 50), (1.0, 5000), (40.0, 5), (40.0, 1)]
)
def test_discrete_laplace__callable_cost(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    for m in (1, 3):
        by_sum = law.expected_cost(lambda x, m=m: x**m)
        assert by_sum == near(law.moment(m), 1e-12)
    assert law.expected_cost(lambda x: 7.0) == 7.0
    assert law.expected_cost(lambda x: x > 3) == near(2.0 * law.sf(3), 1e-12)
    i = np.arange(1, math.ceil(40.0 * sensitivity / epsilon) + 2)
    by_pmf = 2.0 * math.fsum(law.pmf(i) * np.log1p(i))
    assert law.expected_cost(math.log1p if epsilon > 1.0 else np.log1p) == near(by_pmf, 1e-12)


def test_discrete_laplace__callable_has_limits():
    with pytest.raises(ValueError, match=r"epsilon must be .*0\.001.*cost, not 0\.0005: .*moment"):
        fn.DiscreteLaplace(0.0005, 1).expected_cost(abs)
    with pytest.raises(ValueError, match=r"sensitivity must be .*10000.*cost, not 10001: .*moment"):
        fn.DiscreteLaplace(1.0, 10_001).expected_cost(abs)


# --- the attacker ---------------------------------------------------------------------------------


def exact_missed(law, p, shift):
    """On the line through (P(X >= t), P(X <= t-1-shift)), t the last with P(X >= t) >= p."""
    p = mp.mpf(p)
    if p == 0:
        return mp.mpf(1)

    def above(t):
        return 1 - exact_cdf(law, t - 1)

    lam = mp.exp(-rate(law))
    if p <= above(0):
        t = max(int(mp.floor(-mp.log(p * (1 + lam)) / rate(law))), 0)
    else:
        t = 1 - int(mp.ceil(-mp.log((1 - p) * (1 + lam)) / rate(law)))
    assert above(t) >= p >= above(t + 1)
    low, high = exact_cdf(law, t - 1 - shift), exact_cdf(law, t - shift)
    return low + (above(t) - p) * (high - low) / (above(t) - above(t + 1))


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*GRID, *WIDE])
def test_discrete_laplace__tradeoff_against_mpmath(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    rng = np.random.default_rng(41)
    middle = np.exp(-epsilon * rng.uniform(0.0, 1.0, 8)) * 0.5
    p = np.concatenate([rng.uniform(0.0, 0.99, 8), middle, 10 ** rng.uniform(-60, 0, 6), [0.0]])
    for shift in {0, 1, sensitivity // 2, sensitivity}:
        for alarm, missed in zip(p.tolist(), law.tradeoff(p, shift=shift), strict=True):
            exact = exact_missed(law, alarm, shift)
            # a rounding of epsilon moves the curve as one of p does, and it may be steep there
            moved = float(exact_missed(law, alarm * (1.0 - 1e-9), shift) - exact) / 1e-9
            assert abs(missed - float(exact)) <= 1e-14 * (float(exact) + moved) * (1.0 + epsilon)
    np.testing.assert_array_equal(law.tradeoff(p), law.tradeoff(p, shift=sensitivity))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 12.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 5, 8])
def test_discrete_laplace__tradeoff_is_neyman_pearson(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    span = math.ceil(45.0 / epsilon + 2) * sensitivity
    i = np.arange(-span, span + 1)
    x = np.linspace(0.0, 0.999, 101)
    for shift in range(1, sensitivity + 1):
        here, there = law.pmf(i), law.pmf(i - shift)
        missed = least_missed(here, there, x)
        np.testing.assert_allclose(law.tradeoff(x, shift=shift), missed, atol=1e-12)


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_laplace__tradeoff_shape(epsilon, sensitivity):
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    x = np.linspace(0.0, 1.0, 501)
    curve = check_curve(law, x, 1e-14)
    if sensitivity == 1:
        np.testing.assert_allclose(law.tradeoff(x, shift=0), 1.0 - x, rtol=1e-15)
    assert np.all(curve >= pure_region(epsilon, x) * (1.0 - 1e-13) - 1e-15)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), list(itertools.product(EPSILONS, (1, 2, 3, 4, 7, 10, 50)))
)
def test_discrete_laplace__delta_by_the_definition(epsilon, sensitivity):
    """sum_i (p_i - e^epsilon p_(i-D))^+: for i <= 0 a geometric series, for i >= D nothing."""
    law = fn.DiscreteLaplace(epsilon, sensitivity)
    rng = np.random.default_rng(42)
    for asked in epsilon * np.array([0.0, 0.5, 1.0 - 1e-9, 1.0, 1.5, *rng.uniform(0.0, 1.0, 4)]):
        factor = mp.exp(mp.mpf(asked))
        centre = mp.fsum(
            max(mp.mpf(0), exact_pmf(law, i) - factor * exact_pmf(law, i - sensitivity))
            for i in range(1, sensitivity)
        )
        excess = -mp.expm1(min(mp.mpf(asked) - mp.mpf(epsilon), 0))
        total = centre + upper(law, 0) * excess  # P(X >= 0) = P(X <= 0)
        assert law.delta_at(asked) == near(float(total), 1e-13)
    assert np.all(law.delta_at([epsilon, 2.0 * epsilon, math.inf]) == 0.0)


@pytest.mark.parametrize(("epsilon", "sensitivity"), WIDE)
def test_discrete_laplace__delta_of_a_wide_law_is_that_of_laplace(epsilon, sensitivity):
    asked = epsilon * np.array([0.0, 0.3, 0.999, 1.0, 3.0])
    narrow = fn.Laplace(epsilon, sensitivity).delta_at(asked)
    wide = fn.DiscreteLaplace(epsilon, sensitivity).delta_at(asked)
    np.testing.assert_allclose(wide, narrow, rtol=1e-6)
    assert np.all(wide[:3] > 0.0)


# --- parameters -----------------------------------------------------------------------------------


def test_discrete_laplace__parameters():
    law = fn.DiscreteLaplace(epsilon=0.5, sensitivity=np.int32(4))
    assert law == fn.DiscreteLaplace(0.5, 4)
    assert fn.DiscreteLaplace(1.0).sensitivity == 1
    assert law.delta == 0.0
    assert law.privacy == fn.Privacy(0.5, 0.0, "l1", 4, 0.125)
    assert law.privacy.at(6) == 0.75
    assert law.released_sensitivity == 4
    assert law.grid == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1e-11,), "epsilon must be at least 1e-10 to be released, not 1e-11"),
        ((1.0, 2**52 + 1), r"sensitivity must be at most 2\*\*52 times epsilon"),
    ],
)
def test_discrete_laplace__parameters_have_limits(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fn.DiscreteLaplace(*arguments)


# --- large integers -------------------------------------------------------------------------------


def test_discrete_laplace__large_integers():
    law = fn.DiscreteLaplace(1e-3, 2**40)
    for i in (2**53 + 1, 2**55 + 12345, 2**58 - 1):
        assert law.sf(i) == near(float(upper(law, i + 1)), 3e-13)
        assert law.cdf(-i) == near(float(upper(law, i)), 3e-13)
        assert law.pmf(np.uint64(i)) == law.pmf(i) == law.pmf(-i)
    assert law.sf(2**62) == law.sf(1e300) == law.sf(2**200) == law.cdf(-(2**63)) == 0.0
    assert law.cdf(2**63 - 1) == 1.0
