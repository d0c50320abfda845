"""Is the ideal discrete staircase law right: probabilities, quantiles, moments, best r, privacy?

Against mpmath from the definitions, and against exhaustive scans.
"""

import decimal
import itertools
import math
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest
from reference import check_moments, check_quantiles, digits, least_missed, lower, near

from fastnoise.design.radius import discrete_moment, optimal_radius
from fastnoise.ideal.discrete_staircase import IdealDiscreteStaircase

pytestmark = pytest.mark.long

EPSILONS = (1e-6, 0.1, 1.0, 5.0, 50.0)
GRID = list(itertools.product(EPSILONS, (1, 2, 3, 5, 8, 12)))
DIGITS = 60
in_digits = digits(DIGITS)


@dataclass(frozen=True)
class Law(IdealDiscreteStaircase):
    epsilon: float
    sensitivity: int
    r: int


def laws(epsilon, sensitivity):
    return [Law(epsilon, sensitivity, r) for r in range(1, sensitivity + 1)]


# --- the definition, in 60 digits -----------------------------------------------------------------


def weight(law, i):
    """The probability of i over that of 0: e^-epsilon for every edge k D + r up to |i|."""
    edges = (abs(i) - law.r) // law.sensitivity + 1
    return mp.exp(-mp.mpf(law.epsilon) * max(edges, 0))


def upper_weight(law, n):
    """All weights from n >= 0 on: they repeat every D, times b."""
    period = mp.fsum(weight(law, i) for i in range(n, n + law.sensitivity))
    return period / -mp.expm1(-mp.mpf(law.epsilon))


def upper(law, n):
    """P(X >= n), n >= 0."""
    return upper_weight(law, n) / (2 * upper_weight(law, 0) - 1)


def exact_cdf(law, i):
    return lower(law, upper, i)


def lerch(epsilon, x, n):
    """sum_k b^k (k+x)^n, by the recurrence for the moments of a geometric variable."""
    q = 1 / mp.expm1(mp.mpf(epsilon))
    means = [mp.mpf(1)]
    for i in range(1, n + 1):
        means.append(x**i + q * mp.fsum(math.comb(i, j) * means[j] for j in range(i)))
    return means[n] / -mp.expm1(-mp.mpf(epsilon))


def columns(epsilon, sensitivity, m):
    """2 sum_k b^k (k D + i)^m for every residue i."""
    width = mp.mpf(sensitivity)
    return [2 * width**m * lerch(epsilon, i / width, m) for i in range(sensitivity)]


def expectation(law, sums):
    b = mp.exp(-mp.mpf(law.epsilon))
    total = mp.fsum(sums[: law.r]) + b * mp.fsum(sums[law.r :])
    return total / (2 * upper_weight(law, 0) - 1)


# --- against the definition -----------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_staircase__probabilities(epsilon, sensitivity):
    n = [*range(2 * sensitivity + 3), 7 * sensitivity, 10 * sensitivity + 1]
    for law in laws(epsilon, sensitivity):
        total = 2 * upper_weight(law, 0) - 1
        i = np.array([-x for x in n] + n)
        exact = [float(weight(law, int(x)) / total) for x in i]
        np.testing.assert_allclose(law.pmf(i), exact, rtol=1e-14)
        np.testing.assert_allclose(np.exp(law.logpmf(i)), law.pmf(i), rtol=1e-12)
        low = [float(exact_cdf(law, int(x))) for x in i]
        np.testing.assert_allclose(law.cdf(i), low, rtol=1e-14)
        np.testing.assert_allclose(law.sf(-1 - i), low, rtol=1e-14)
        np.testing.assert_array_equal(law.cdf(i.astype(float)), law.cdf(i))


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_staircase__identities(epsilon, sensitivity):
    for law in laws(epsilon, sensitivity):
        count = min(math.ceil(45.0 / epsilon) + 2, 500) * sensitivity
        i = np.arange(-count, count + 1)
        pmf = law.pmf(i)
        assert math.fsum(pmf) + 2.0 * law.sf(count) == near(1.0, 1e-15)
        np.testing.assert_array_equal(pmf, pmf[::-1])
        np.testing.assert_allclose(law.cdf(i) + law.sf(i), 1.0, rtol=1e-15)
        np.testing.assert_allclose(np.diff(law.cdf(i)), pmf[1:], atol=3e-16)
        bound = math.exp(epsilon) * (1.0 + 1e-13)
        edges = np.array([-sensitivity - law.r, -law.r, law.r - 1, law.r, law.r + sensitivity])
        for shift in range(sensitivity + 1):
            assert np.all(law.pmf(edges) <= bound * law.pmf(edges + shift))
            assert np.all(law.pmf(edges) <= bound * law.pmf(edges - shift))


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_staircase__quantiles_invert(epsilon, sensitivity):
    span = min(math.ceil(200.0 / epsilon), 8) * sensitivity
    for law in laws(epsilon, sensitivity):
        i = np.arange(-span, 1)
        i = i[(law.cdf(i) > 1e-300) & (law.cdf(i) > law.cdf(i - 1)) & (law.cdf(i) < 1.0)]
        np.testing.assert_array_equal(law.ppf(law.cdf(i)), i)
        np.testing.assert_array_equal(law.isf(law.sf(-1 - i)), -1 - i)
        i = np.arange(span)
        i = i[(law.cdf(i) > law.cdf(i - 1)) & (law.cdf(i) < 1.0)]
        np.testing.assert_array_equal(law.ppf(law.cdf(i)), i)
        i = i[law.pmf(i + 1) > 1e-14]
        np.testing.assert_array_equal(law.isf(law.sf(-i - 1)), -i - 1)
        low, high = law.interval(law.cdf(i) - law.cdf(-i - 1) - 0.5 * law.pmf(i))
        np.testing.assert_array_equal(low, -high)
        np.testing.assert_array_equal(high, i)


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_staircase__quantiles_by_definition(epsilon, sensitivity):
    shares = (1e-200, 1e-9, 0.01, 0.3, 0.5, 0.7, 0.999)
    for law in laws(epsilon, sensitivity)[:: max(1, sensitivity // 4)]:
        check_quantiles(law, upper, shares, lambda p: mp.mpf(2) ** -52)


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_discrete_staircase__moments(epsilon, sensitivity):
    for m in (1, 2, 3, 6, 11):
        sums = columns(epsilon, sensitivity, m)
        for law in laws(epsilon, sensitivity):
            assert law.moment(m) == near(float(expectation(law, sums)), 1e-15)
    check_moments(law)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 30.0, 100.0])
@pytest.mark.parametrize("sensitivity", [1, 1000, 2**40, 2**60])
def test_discrete_staircase__closed_moments(epsilon, sensitivity):
    """The forms of docs/mathematics.md#discrete-staircase, which cancel, in enough digits."""
    with mp.workdps(200):
        q, width = 1 / mp.expm1(mp.mpf(epsilon)), mp.mpf(sensitivity)
        s = q * (1 + q)
        for r in {1, (sensitivity + 1) // 2, sensitivity}:
            rho = r - mp.mpf(1) / 2 + width * q
            first = (rho**2 + width**2 * s - 0.25) / (2 * rho)
            second = (rho**2 + 3 * width**2 * s + width**3 * s * (1 + 2 * q) / rho - 0.25) / 3
            assert discrete_moment(epsilon, sensitivity, r, 1) == float(first)
            assert discrete_moment(epsilon, sensitivity, r, 2) == float(second)


def test_discrete_staircase__highest_moment():
    for law in (Law(9.0, 4, 2), Law(50.0, 4, 2), Law(400.0, 9, 3)):
        exact = expectation(law, columns(law.epsilon, law.sensitivity, 200))
        assert law.moment(200) == near(float(exact), 1e-15)
        assert law.moment(200) < math.inf
    assert Law(1e-8, 2**40, 7).moment(200) == math.inf


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(1e-3, 3), (0.1, 1), (0.1, 50), (1.0, 50), (40.0, 5), (40.0, 1)]
)
def test_discrete_staircase__callable_cost(epsilon, sensitivity):
    for r in {1, (sensitivity + 1) // 2, sensitivity}:
        law = Law(epsilon, sensitivity, r)
        for m in (1, 3):
            by_sum = law.expected_cost(lambda x, m=m: abs(x) ** m)
            assert by_sum == near(law.moment(m), 1e-12)
        assert law.expected_cost(lambda x: 7.0) == 7.0
        outside = law.expected_cost(lambda x: np.abs(x) > 3)
        assert outside == near(2.0 * law.sf(3), 1e-12)
        assert law.expected_cost("l1") == law.expected_cost(1) == law.moment(1)


# --- large integers -------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-1, 0, 1])
def test_discrete_staircase__no_digit_of_an_integer_is_lost(offset):
    sensitivity, r = 2**60 + 3, 2**59 + 1
    law = Law(1.0, sensitivity, r)
    for k in (0, 1, 2):
        edge = k * sensitivity + r + offset
        assert law.pmf(edge) == near(law.pmf(0) * math.exp(-(k + (offset >= 0))), 1e-15)
        assert law.pmf(np.array([-edge])) == law.pmf(edge)
    small = Law(1e-8, 3, 2)
    i = 3 * (2**30 + 12345) + 1 + offset
    assert small.pmf(i) == near(float(weight(small, i) / (2 * upper_weight(small, 0) - 1)), 1e-14)
    assert small.sf(i) == near(float(upper(small, i + 1)), 1e-14)
    assert law.pmf(np.uint64(2**62)) == law.pmf(2**62)


def test_discrete_staircase__far_tail():
    law = Law(1e-3, 10, 4)
    for i in (7_000_000, 7_000_004, 7_000_009):
        assert law.sf(i) == near(float(upper(law, i + 1)), 1e-14)
        assert law.cdf(-i) == near(float(upper(law, i)), 1e-14)
        assert law.isf(law.sf(i)) == i
    assert law.sf(2**62) == law.sf(1e300) == law.sf(2**200) == 0.0
    assert law.cdf(-(2**63)) == law.pmf(-(2**63)) == 0.0
    assert law.cdf(2**63 - 1) == 1.0


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 100.0])
def test_discrete_staircase__quantiles_of_a_wide_law(epsilon):
    sensitivity = 2**40
    law = Law(epsilon, sensitivity, optimal_radius(epsilon, sensitivity, "l1"))
    p = np.array([1e-300, 1e-30, 1e-3, 0.2, 0.4])
    i = law.isf(p)
    assert np.all(law.sf(i) <= p * (1.0 + 1e-13))  # at epsilon 1e-8 i has 23 digits, p has 16
    assert np.all(law.sf(np.nextafter(i, -1.0) - 1.0) > p * (1.0 - 1e-13))
    np.testing.assert_array_equal(law.ppf(p), -i)
    c = np.array([1e-12, 1e-3, 0.5, 0.99])
    k = law.interval(c)[1]
    assert np.all(2.0 * law.sf(k) <= (1.0 - c) * (1 + 1e-15))
    assert k[0] == max(0.0, math.ceil(0.5 * (1e-12 / law.pmf(0) - 1.0)))  # all on the top step


def closed_upper(law, n):
    """P(X >= n), n >= 0, by the form of docs/mathematics.md#discrete-staircase, which cancels."""
    k, j = divmod(n, law.sensitivity)
    b, q = mp.exp(-mp.mpf(law.epsilon)), 1 / mp.expm1(mp.mpf(law.epsilon))
    a = 1 / (2 * law.r - 1 + 2 * law.sensitivity * q)
    return b**k * ((1 + a) / 2 - a * (min(j, law.r) + b * max(j - law.r, 0)))


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 30.0, 100.0])
@pytest.mark.parametrize("sensitivity", [1000, 10**6, 2**40, 2**60 + 1])
def test_discrete_staircase__wide_law(epsilon, sensitivity):
    assert closed_upper(Law(0.3, 7, 3), 37) == near(upper(Law(0.3, 7, 3), 37), 1e-50)
    for r in (1, sensitivity // 3, sensitivity):
        law = Law(epsilon, sensitivity, r)
        far = [0, 1, r - 1, r, sensitivity - 1, sensitivity, 2 * sensitivity + r, 3 * sensitivity]
        for n in far:
            assert law.sf(n) == near(float(closed_upper(law, n + 1)), 1e-14)
            assert law.cdf(-n - 1) == near(float(closed_upper(law, n + 1)), 1e-14)
        if epsilon / sensitivity < 1e-13 or sensitivity > 2**50:
            continue  # the answers have more digits than a float
        for p in (1e-200, 1e-9, 0.01, 0.3):
            i = int(law.isf(p))
            assert closed_upper(law, i + 1) <= p * (1 + mp.mpf(2) ** -50)
            assert closed_upper(law, i) > p * (1 - mp.mpf(2) ** -50)
        for c in (1e-9, 0.1, 0.7, 0.95):
            k = int(law.interval(c)[1])
            assert 2 * closed_upper(law, k + 1) <= (1 - mp.mpf(c)) * (1 + mp.mpf(2) ** -50)
            assert k == 0 or 2 * closed_upper(law, k) > (1 - mp.mpf(c)) * (1 - mp.mpf(2) ** -50)


# --- the best r -----------------------------------------------------------------------------------


def scan(epsilon, sensitivity, sums):
    values = [expectation(law, sums) for law in laws(epsilon, sensitivity)]
    least = min(values) * (1 + mp.mpf(10) ** -40)
    return next(r for r, value in enumerate(values, 1) if value <= least)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 3.0, 8.0, 50.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 3, 4, 7, 10, 23, 50])
def test_discrete_staircase__best_r_for_a_power(epsilon, sensitivity):
    for cost, m in (("l1", 1), ("l2", 2), (3, 3)):
        best = scan(epsilon, sensitivity, columns(epsilon, sensitivity, m))
        assert optimal_radius(epsilon, sensitivity, cost) == best
        if epsilon >= 0.1:
            by_sum = optimal_radius(epsilon, sensitivity, lambda x, m=m: np.abs(x) ** m)
            assert by_sum == best


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 13, 50])
@pytest.mark.parametrize("cost", [math.log1p, math.sqrt], ids=["log1p", "sqrt"])
def test_discrete_staircase__best_r_for_a_callable(epsilon, sensitivity, cost):
    best = optimal_radius(epsilon, sensitivity, cost)
    values = [law.expected_cost(cost) for law in laws(epsilon, sensitivity)]
    assert values[best - 1] <= min(values) * (1.0 + 1e-14)


def shortest(law, confidence):
    """The least k with P(|X| <= k) >= confidence, by bisection of the definition."""
    low, high = 0, math.ceil(50.0 / law.epsilon + 2) * law.sensitivity
    while low < high:
        k = (low + high) // 2
        if 2 * upper(law, k + 1) <= 1 - mp.mpf(repr(confidence)):
            high = k
        else:
            low = k + 1
    return low


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 7, 15])
def test_discrete_staircase__best_r_for_an_interval(epsilon, sensitivity):
    for confidence in (0.001, 0.4, 0.5, 0.8, 0.95, 0.999999):
        ks = [shortest(law, confidence) for law in laws(epsilon, sensitivity)]
        best = optimal_radius(epsilon, sensitivity, ("interval", confidence))
        assert best == ks.index(min(ks)) + 1
        assert Law(epsilon, sensitivity, best).interval(confidence)[1] == min(ks)


@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 1.0, 20.0, 100.0])
@pytest.mark.parametrize("cost", ["l1", "l2", 3, 20])
@pytest.mark.parametrize("sensitivity", [2**40, 2**60 - 1])
def test_discrete_staircase__best_r_of_a_wide_law(epsilon, cost, sensitivity):
    best = optimal_radius(epsilon, sensitivity, cost)
    m = cost if isinstance(cost, int) else int(cost[1])
    with mp.workdps(150):

        def value(r):
            """E|X|^m by Bernoulli polynomials: the mean of a power sum over the layers."""
            q, width = 1 / mp.expm1(mp.mpf(epsilon)), mp.mpf(sensitivity)
            start = mp.mpf(r) / width
            means = [mp.mpf(1)]
            for i in range(1, m + 2):
                part = mp.fsum(math.comb(i, j) * means[j] for j in range(i))
                means.append(start**i + q * part)
            powers = mp.fsum(
                math.comb(m + 1, j) * mp.bernoulli(m + 1 - j) * width**j * means[j]
                for j in range(1, m + 2)
            )
            return powers / (m + 1) / (r - mp.mpf(1) / 2 + width * q)

        here = value(best)
        assert best == 1 or here < value(best - 1)
        assert here <= value(best + 1)
    assert discrete_moment(epsilon, sensitivity, best, m) == near(float(here), 1e-15)


def test_discrete_staircase__best_r_does_not_depend_on_the_context():
    with decimal.localcontext(prec=3, rounding=decimal.ROUND_UP):
        assert optimal_radius(1.0, 2**40, "l1") == 415110355302
        assert optimal_radius(1.0, 100, "l2") == 42
        assert Law(1.0, 1, 1).moment(1) == near(1.0 / math.sinh(1.0), 1e-15)


# --- the attacker ---------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 12.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 5, 8])
def test_discrete_staircase__tradeoff_is_neyman_pearson(epsilon, sensitivity):
    span = math.ceil(45.0 / epsilon + 2) * sensitivity
    i = np.arange(-span, span + 1)
    x = np.linspace(0.0, 0.999, 40)
    for law, shift in itertools.product(laws(epsilon, sensitivity), range(1, sensitivity + 1)):
        here, there = law.pmf(i), law.pmf(i - shift)
        missed = least_missed(here, there, x)
        np.testing.assert_allclose(law.tradeoff(x, shift=shift), missed, atol=1e-12)
        if shift == sensitivity:
            np.testing.assert_array_equal(law.tradeoff(x), law.tradeoff(x, shift=shift))
            asked = epsilon * np.array([0.0, 0.2, 0.7, 1.0, 1.5])
            excess = [np.sum(np.maximum(0.0, here - math.exp(e) * there)) for e in asked]
            np.testing.assert_allclose(law.delta_at(asked), excess, atol=1e-12)
            assert np.all(law.delta_at([epsilon, 2.0 * epsilon, math.inf]) == 0.0)


# --- limits ---------------------------------------------------------------------------------------


def test_discrete_staircase__callable_has_limits():
    with pytest.raises(ValueError, match=r"epsilon must be .*0\.001.*cost, not 0\.0005: .*r"):
        optimal_radius(0.0005, 1, abs)
    with pytest.raises(ValueError, match=r"sensitivity must be .*10000.*cost, not 10001: .*r"):
        optimal_radius(1.0, 10_001, abs)
    with pytest.raises(ValueError, match=r"sensitivity must be .*10000.*cost, not 20000: .*moment"):
        Law(1.0, 20_000, 5).expected_cost(abs)
