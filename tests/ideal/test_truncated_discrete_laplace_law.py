"""Is the truncated discrete Laplace law right: probabilities, quantiles, moments, privacy?

Against mpmath from the recursion that defines it, and, where the
support is too large to walk through, against closed forms in many digits.
"""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from reference import both_sides, check_ending, check_ending_tradeoff, check_moments, digits, near

import fastnoise as fn
from fastnoise.arithmetic.floats import exact_delta
from fastnoise.ideal.truncated_discrete_laplace import power_sums, truncation

SMALL = [
    *itertools.product((1e-8, 0.05, 0.5, 2.0, 9.0), (0.3, 0.04), (1, 2, 5)),
    *[(1.0, 1e-6, 4), (1.0, 1e-15, 1), (50.0, 0.01, 3), (100.0, 1e-12, 7), (0.3, 0.2, 30)],
    *[(0.4, 0.9, 6), (1e-6, 0.95, 9), (0.01, 0.999, 4), (2.0, 0.7, 20), (0.5, 0.5, 3)],
    *[(1.0, Fraction(1, 3), 2), (0.7, Fraction(1, 7**5), 2), (1e-3, 0.01, 1)],
]
WIDE = [
    *[(1e-8, 1e-12, 1), (1.0, 1e-12, 2**40), (100.0, 1e-9, 2**40), (1e-6, 1e-6, 2**30)],
    *[(1e-10, 1e-15, 1000), (20.0, 1e-250, 2**50), (1e-5, 0.3, 2**35), (0.3, 0.01, 2**45)],
]
in_digits = digits(80)


def law_of(epsilon, delta, sensitivity):
    return fn.TruncatedDiscreteLaplace(epsilon, delta, sensitivity)


def rational(delta):
    exact = exact_delta(delta)
    return mp.mpf(exact.numerator) / exact.denominator


def walk(epsilon, delta, sensitivity):
    """p_0, p_1, ..., until they end, from T_{k+1} = l (T_k - d)^+ and T_0 + T_1 = 1."""
    t = mp.mpf(epsilon) / sensitivity
    d = rational(delta) * mp.expm1(t) / mp.expm1(mp.mpf(epsilon))
    lam = mp.exp(-t)
    tails = [(1 + lam * d) / (1 + lam)]
    while tails[-1] > 0:
        tails.append(max(lam * (tails[-1] - d), mp.mpf(0)))
    return [a - b for a, b in itertools.pairwise(tails)]


def closed(epsilon, delta, sensitivity):
    """(t, p, j, edge) in many digits."""
    t = mp.mpf(epsilon) / sensitivity
    d = rational(delta) * mp.expm1(t) / mp.expm1(mp.mpf(epsilon))
    lam = mp.exp(-t)
    p = (1 - lam + 2 * d * lam) / (1 + lam)
    j = int(mp.floor(mp.log(p / d) / t))
    edge = (1 - p * (1 + 2 * lam * (1 - lam**j) / (1 - lam))) / 2
    return t, p, j, edge


def closed_tail(parts, n):
    t, p, j, edge = parts
    if n > j:
        return edge if n == j + 1 else mp.mpf(0)
    return edge + p * mp.exp(-t * n) * mp.expm1(-t * (j + 1 - n)) / mp.expm1(-t)


# --- against the recursion ------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), SMALL)
def test_truncated__probabilities(epsilon, delta, sensitivity):
    half = walk(epsilon, delta, sensitivity)
    check_ending(law_of(epsilon, delta, sensitivity), half, 1e-13, least=1e-15)


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), SMALL)
def test_truncated__quantiles(epsilon, delta, sensitivity):
    law = law_of(epsilon, delta, sensitivity)
    last = law.support()[1]
    i = np.arange(-last, 1)
    np.testing.assert_array_equal(law.ppf(law.cdf(i)), i)
    np.testing.assert_array_equal(law.isf(law.sf(-1 - i)), -1 - i)
    i = np.arange(last)
    i = i[(law.cdf(i) > law.cdf(i - 1)) & (law.cdf(i) < 1.0)]
    np.testing.assert_array_equal(law.ppf(law.cdf(i)), i)
    inside = (np.cumsum(law.pmf(np.arange(last + 1))) * 2.0 - law.pmf(0)) * (1.0 - 1e-12)
    k = np.arange(last + 1)[inside < 1.0 - 1e-9]
    np.testing.assert_array_equal(law.interval(inside[k])[1], k)
    np.testing.assert_array_equal(law.ppf([0.0, 1.0]), [-last - 1, last])
    np.testing.assert_array_equal(law.isf([0.0, 1.0]), [last, -last - 1])
    np.testing.assert_array_equal(law.interval([0.0, 1.0]), [[0, -last], [0, last]])


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), SMALL)
def test_truncated__moments(epsilon, delta, sensitivity):
    half = walk(epsilon, delta, sensitivity)
    law = law_of(epsilon, delta, sensitivity)
    for m in (1, 2, 3, 7, 40):
        exact = 2 * mp.fsum(p * mp.mpf(k) ** m for k, p in enumerate(half))
        assert law.moment(m) == near(float(exact), 1e-15)
    check_moments(law)
    assert law.expected_cost(lambda x: 3.0 + abs(x)) == near(3.0 + law.moment(1), 1e-13)
    assert law.expected_cost(np.sqrt) == near(law.expected_cost(lambda x: math.sqrt(x)), 1e-13)


def test_truncated__highest_moment():
    for parts in [(2.0, 0.01, 3), (1e-6, 0.2, 2), (30.0, 1e-9, 2)]:
        exact = 2 * mp.fsum(p * mp.mpf(k) ** 200 for k, p in enumerate(walk(*parts)))
        assert law_of(*parts).moment(200) == near(float(exact), 1e-15)
    assert law_of(1e-5, 1e-5, 2**20).moment(200) == math.inf


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), SMALL)
def test_truncated__privacy_profile(epsilon, delta, sensitivity):
    half = walk(epsilon, delta, sensitivity)
    law = law_of(epsilon, delta, sensitivity)
    p = [mp.mpf(0)] * sensitivity + both_sides(half) + [mp.mpf(0)] * sensitivity
    pairs = list(zip(p, p[sensitivity:], strict=False))
    asked = [0.0, 0.1 * epsilon, 0.5 * epsilon, 0.93 * epsilon, epsilon, 1.2 * epsilon, 1.0, 40.0]
    exact = [
        mp.fsum(max(a - mp.exp(e) * b, mp.mpf(0)) for a, b in pairs) + mp.fsum(p[-sensitivity:])
        for e in map(mp.mpf, asked)
    ]
    np.testing.assert_allclose(law.delta_at(asked), [float(x) for x in exact], rtol=1e-12)
    if delta <= 0.5:
        assert law.delta_at(epsilon) == near(float(exact_delta(delta)), 1e-13)
    assert law.delta_at(epsilon) <= float(exact_delta(delta)) * (1.0 + 1e-13)
    disjoint = mp.fsum(both_sides(half)[-sensitivity:])
    assert law.delta_at(math.inf) == near(float(disjoint), 1e-13)


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), SMALL)
def test_truncated__tradeoff_is_neyman_pearson(epsilon, delta, sensitivity):
    half = walk(epsilon, delta, sensitivity)
    law = law_of(epsilon, delta, sensitivity)
    x = np.concatenate((np.linspace(0.0, 1.0, 41), 10.0 ** -np.arange(2.0, 12.0)))
    check_ending_tradeoff(law, half, x, rtol=1e-9, atol=2e-13)
    bound = np.exp(min(epsilon, 700.0))
    promised = np.maximum(1.0 - float(delta) - bound * x, (1.0 - float(delta) - x) / bound)
    assert np.all(law.tradeoff(x) >= promised - 1e-13)


def test_truncated__tradeoff_is_accurate_where_it_is_small():
    law = law_of(20.0, 1e-9, 3)
    half = walk(20.0, 1e-9, 3)
    p = both_sides(half)
    last = len(half) - 1
    for i in (-2, -1, 0, 1, 2):  # p_fa = P(X >= i)
        alarm, missed = mp.fsum(p[last + i :]), mp.fsum(p[: last + i - 3])
        slack = float(abs(float(alarm) - alarm) * p[last + i - 3] / p[last + i])
        assert law.tradeoff(float(alarm)) == pytest.approx(float(missed), rel=1e-12, abs=2 * slack)


def test_truncated__random_parameters():
    rng = np.random.default_rng(20261116)
    for _ in range(40):
        epsilon, delta = 10.0 ** rng.uniform(-1.2, 1.7), float(10.0 ** rng.uniform(-12.0, -0.05))
        sensitivity = int(rng.integers(1, 12))
        half = walk(epsilon, delta, sensitivity)
        law = law_of(epsilon, delta, sensitivity)
        n = np.arange(len(half))
        np.testing.assert_allclose(law.pmf(n), [float(p) for p in half], rtol=2e-13)
        tails = np.cumsum(half[::-1])[::-1].astype(float)
        np.testing.assert_allclose(law.cdf(-n), tails, rtol=2e-13)
        m = int(rng.integers(1, 9))
        exact = 2 * mp.fsum(p * mp.mpf(k) ** m for k, p in enumerate(half))
        assert law.moment(m) == near(float(exact), 1e-15)
        asked = epsilon * rng.uniform(0.0, 1.4)
        p = both_sides(half) + [mp.mpf(0)] * sensitivity
        pairs = zip(p, p[sensitivity:], strict=False)
        excess = mp.fsum(max(a - mp.exp(asked) * b, mp.mpf(0)) for a, b in pairs)
        assert law.delta_at(asked) == near(float(excess), 1e-12)


# --- large supports -------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), WIDE)
def test_truncated__wide_law(epsilon, delta, sensitivity):
    with mp.workdps(420):
        parts = t, p, j, edge = closed(epsilon, delta, sensitivity)
        law = law_of(epsilon, delta, sensitivity)
        assert law.support() == (-j - 1, j + 1)
        assert truncation(epsilon, exact_delta(delta), sensitivity) == j
        for n in (0, 1, 2, sensitivity, j // 3, j // 2, j - 1, j):
            assert law.pmf(n) == near(float(p * mp.exp(-t * n)), 1e-12)
            assert law.cdf(-n) == near(float(closed_tail(parts, n)), 1e-12)
            assert law.sf(n) == near(float(closed_tail(parts, n + 1)), 1e-12)
        assert law.pmf(j + 1) == law.sf(j) == near(float(edge), 1e-14)
        for m in (1, 2, 5):
            exact = 2 * p * closed_power_sum(t, j + 1, m) + 2 * edge * mp.mpf(j + 1) ** m
            assert law.moment(m) == near(float(exact), 1e-15)
        asked = [0.0, 0.3 * epsilon, 0.999 * epsilon, epsilon, 1.5 * epsilon, 3.0]
        exact = [closed_profile(parts, sensitivity, mp.mpf(e)) for e in asked]
        np.testing.assert_allclose(law.delta_at(asked), [float(x) for x in exact], rtol=1e-12)
        assert law.delta_at(epsilon) == near(float(exact_delta(delta)), 1e-12)


def closed_power_sum(t, count, m):
    """sum_{k < count} l^k k^m by parts, in digits enough."""
    lam, sums = mp.exp(-t), []
    for l in range(m + 1):  # noqa: E741
        below = mp.fsum(math.comb(l, i) * sums[i] for i in range(l))
        edge = mp.exp(-t * count) * mp.mpf(count) ** l
        sums.append(((l == 0) + lam * below - edge) / (1 - lam))
    return sums[m]


def closed_profile(parts, sensitivity, asked):
    """The largest P(X >= c) - e^asked P(X >= c + D): where p_{c+D} / p_c passes e^-asked."""
    t, _, j, _ = parts

    def upper(c):
        return closed_tail(parts, c) if c > 0 else 1 - closed_tail(parts, 1 - c)

    turn = int(mp.floor((asked / t - sensitivity) / 2))
    places = {turn, turn + 1, 0, j + 1 - sensitivity, j + 2 - sensitivity}
    return max(upper(c) - mp.exp(asked) * upper(c + sensitivity) for c in places)


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), WIDE)
def test_truncated__quantiles_of_a_wide_law(epsilon, delta, sensitivity):
    law = law_of(epsilon, delta, sensitivity)
    p = np.array([1e-250, 1e-30, 1e-10, 1e-3, 0.2, 0.4])
    i = law.isf(p)
    assert np.all(law.sf(i) <= p * (1.0 + 1e-12))  # beyond 2**53 i is rounded
    assert np.all(law.sf(np.nextafter(i, -1.0) - 1.0) >= p * (1.0 - 1e-12))
    assert np.all(np.abs(law.ppf(p) + i) <= 1.0 + 1e-15 * i)
    c = np.array([1e-12, 1e-3, 0.5, 0.99])
    k = law.interval(c)[1]
    assert np.all(2.0 * law.sf(k) <= (1.0 - c) * (1.0 + 1e-13))
    x = np.array([0.0, 1e-200, 1e-6, 0.1, 0.5, 0.9, 1.0])
    missed = law.tradeoff(x)
    assert missed[0] == near(1.0 - law.delta_at(math.inf), 1e-12)
    assert missed[-1] == 0.0
    assert np.all(np.diff(missed) <= 0.0)
    assert np.all(missed >= 1.0 - float(delta) - np.exp(epsilon) * x - 1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "sensitivity"), WIDE)
def test_truncated__tradeoff_of_a_wide_law(epsilon, delta, sensitivity):
    """At p_fa = P(X >= c) the missed detections are P(X <= c - 1 - D)."""
    with mp.workdps(420):
        parts = closed(epsilon, delta, sensitivity)
        law = law_of(epsilon, delta, sensitivity)
        for share in (0.1, 0.4, 0.5, 0.8):
            c = max(1, int(share * sensitivity))
            alarm = float(closed_tail(parts, c))
            exact = float(closed_tail(parts, sensitivity + 1 - c))
            assert law.tradeoff(alarm) == near(exact, 1e-11)


def test_truncated__core_ends_where_it_should():
    """j is the last k with p l^k >= d, for parameters that come close to equality as well."""
    for n in range(3, 40):
        for epsilon in (1e-9, 1e-4, 0.1):
            _, _, j, edge = closed(epsilon, Fraction(1, n), 1)
            assert truncation(epsilon, Fraction(1, n), 1) == j
            assert 0 < edge < rational(Fraction(1, n))
    assert truncation(1e-10, Fraction(1, 10**6 + 1), 1) == 499987  # 1/(2 delta) = 500000.5


def test_truncated__power_sums():
    import decimal

    with decimal.localcontext(prec=60):
        for rate, count in itertools.product(("1e-12", "0.01", "3"), (0, 1, 2, 17)):
            ratio = mp.exp(-mp.mpf(rate))
            for m, value in enumerate(power_sums(decimal.Decimal(rate), count, 6)):
                exact = mp.fsum(ratio**k * mp.mpf(k) ** m for k in range(count))
                assert abs(mp.mpf(str(value)) - exact) <= mp.mpf(10) ** -45 * (1 + exact)


# --- the mechanism as a value ---------------------------------------------------------------------


def test_truncated__value():
    law = law_of(1.0, 1e-6, 4)
    assert repr(law) == "TruncatedDiscreteLaplace(epsilon=1.0, delta=1e-06, sensitivity=4)"
    third = law_of(1, Fraction(1, 3), np.int64(2))
    text = "TruncatedDiscreteLaplace(epsilon=1.0, delta=Fraction(1, 3), sensitivity=2)"
    assert repr(third) == text
    assert (law.epsilon, law.delta, law.sensitivity) == (1.0, 1e-6, 4)
    privacy = law.privacy
    assert (privacy.epsilon, privacy.delta) == (1.0, 1e-6)
    assert (privacy.adjacency, privacy.sensitivity, privacy.lipschitz) == ("l1", 4, None)
    assert Fraction(third.privacy.delta) >= Fraction(1, 3)
    assert law.grid == 1.0
    assert law.released_sensitivity == 4
    weights = law.exact_weights(20)
    assert weights.core + 1 == law.support()[1]
    assert float(weights.height) == law.pmf(0)
    np.testing.assert_array_equal(
        law_of(1.0, Fraction(1, 10), 2).pmf([0, 1]), law_of(1.0, 0.1, 2).pmf([0, 1])
    )


def test_truncated__exact_weights_sum_to_one():
    for parts in SMALL[::4]:
        core, ratio, height, edge = law_of(*parts).exact_weights(10)
        ratio, height, edge = (mp.mpf(str(x)) for x in (ratio, height, edge))
        total = height * (1 + 2 * mp.fsum(ratio**k for k in range(1, core + 1))) + 2 * edge
        assert abs(total - 1) < mp.mpf(10) ** -48


def test_truncated__limits():
    """epsilon -> 0 is the uniform law, delta -> 0 the discrete Laplace law."""
    i = np.arange(-20, 21)
    flat = fn.DiscreteUniform(0.07, 2)
    np.testing.assert_allclose(law_of(1e-9, 0.07, 2).pmf(i), flat.pmf(i), rtol=1e-7)
    whole = fn.DiscreteLaplace(1.0, 2)
    np.testing.assert_allclose(law_of(1.0, 1e-200, 2).pmf(i), whole.pmf(i), rtol=1e-13)
    assert law_of(1.0, 1e-200, 2).moment(1) == near(whole.moment(1), 1e-14)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((1.0, 5e-324), ValueError, r"delta must be at least .*not 5e-324"),
        ((1.0, 0.1, 2**53), ValueError, r"sensitivity must be at most 2\*\*52 times epsilon"),
    ],
)
def test_truncated__parameters_have_limits(arguments, error, words):
    with pytest.raises(error, match=words):
        fn.TruncatedDiscreteLaplace(*arguments)


def test_truncated__callable_has_a_limit():
    with pytest.raises(ValueError, match=r"cost must be .*10000000"):
        law_of(1e-8, 1e-9, 1).expected_cost(abs)
