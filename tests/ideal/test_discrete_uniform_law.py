"""Is the discrete uniform law right: probabilities, quantiles, moments, privacy?

Against rational arithmetic from the definition.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from reference import both_sides, check_ending, check_ending_tradeoff, check_moments, near

import fastnoise as fn
from fastnoise.arithmetic.floats import exact_delta, stated_delta

SMALL = [
    *itertools.product((0.5, 0.25, 0.1, 0.07, 0.013, Fraction(1, 7)), (1, 2, 3, 10)),
    *[(0.9, 1), (0.9, 2), (0.99, 2), (0.9, 4), (0.7, 5), (0.999, 6), (0.6, 1), (Fraction(2, 3), 2)],
    *[(0.3, 3), (1e-3, 1), (Fraction(999, 1000), 1), (Fraction(3, 1000), 2), (0.51, 1)],
]
WIDE = [(1e-15, 1), (1e-12, 4000), (0.3, 2**50), (Fraction(1, 3), 2**50), (Fraction(1, 2**52), 1)]


def law_of(delta, sensitivity):
    return fn.DiscreteUniform(delta, sensitivity)


def fill(delta, sensitivity):
    """p_0, p_1, ..: every integer gets delta / sensitivity, in pairs from 0, while mass lasts."""
    height = exact_delta(delta) / sensitivity
    half, left = [height], 1 - height
    while left > 0:
        half.append(min(height, left / 2))
        left -= 2 * half[-1]
    return half


# --- against rational arithmetic ------------------------------------------------------------------


@pytest.mark.parametrize(("delta", "sensitivity"), SMALL)
def test_uniform__probabilities(delta, sensitivity):
    half = fill(delta, sensitivity)
    law = law_of(delta, sensitivity)
    core, height, edge = law.exact_weights()
    assert (2 * core + 1) * height + 2 * edge == 1
    assert [height] * (core + 1) + [edge] * (edge > 0) == half
    check_ending(law, half, 1e-15)
    np.testing.assert_array_equal(law.pmf(np.arange(len(half))), [float(x) for x in half])


@pytest.mark.parametrize(("delta", "sensitivity"), SMALL)
def test_uniform__quantiles(delta, sensitivity):
    law = law_of(delta, sensitivity)
    last = law.support()[1]
    i = np.arange(-last, last)
    np.testing.assert_array_equal(law.ppf(law.cdf(i)), i)
    np.testing.assert_array_equal(law.isf(law.sf(i)), i)
    inside = 2 * np.cumsum(law.pmf(np.arange(last + 1))) - law.pmf(0)
    k = np.arange(last + 1)
    np.testing.assert_array_equal(law.interval(inside * (1.0 - 1e-12))[1], k)
    np.testing.assert_array_equal(law.interval(inside[:-1] * (1.0 + 1e-12))[1], k[:-1] + 1)
    np.testing.assert_array_equal(law.ppf([0.0, 1.0]), [-last - 1, last])
    np.testing.assert_array_equal(law.isf([0.0, 1.0]), [last, -last - 1])
    np.testing.assert_array_equal(law.interval([0.0, 1.0]), [[0, -last], [0, last]])


@pytest.mark.parametrize(("delta", "sensitivity"), SMALL)
def test_uniform__moments(delta, sensitivity):
    half = fill(delta, sensitivity)
    law = law_of(delta, sensitivity)
    for m in (1, 2, 3, 7, 40):
        assert law.moment(m) == float(2 * sum(p * k**m for k, p in enumerate(half)))
    check_moments(law)
    assert law.expected_cost(lambda x: 3.0 + abs(x)) == near(3.0 + law.moment(1), 1e-14)
    assert law.expected_cost(np.sqrt) == near(law.expected_cost(lambda x: math.sqrt(x)), 1e-14)


@pytest.mark.parametrize("delta", [Fraction(1, n) for n in (2, 4, 10, 12)])
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_uniform__even_number_has_the_moments_of_gengs_interval(delta, sensitivity):
    n = int(sensitivity / delta)
    law = law_of(delta, sensitivity)
    interval = range(-(n // 2), (n + 1) // 2)
    for m in (1, 2, 5):
        assert law.moment(m) == near(sum(abs(k) ** m for k in interval) / n, 1e-15)


@pytest.mark.parametrize(("delta", "sensitivity"), SMALL)
def test_uniform__privacy(delta, sensitivity):
    half = fill(delta, sensitivity)
    law = law_of(delta, sensitivity)
    for shift in range(1, sensitivity + 1):
        zeros = [Fraction(0)] * shift
        p = zeros + both_sides(half) + zeros
        apart = [max(a - b, 0) for a, b in zip(p, p[shift:], strict=False)]
        variation = sum(apart) + sum(p[-shift:])
        assert variation <= exact_delta(delta)
        assert law.tradeoff(0.0, shift=shift) == near(
            float(1 - sum(both_sides(half)[-shift:])), 1e-14
        )
    assert law.delta_at(0.0) == near(float(variation), 1e-15)
    if exact_delta(delta) <= Fraction(sensitivity, sensitivity + 1):
        assert variation == exact_delta(delta)
    for asked in (0.1, 1.0, 5.0, 40.0):
        factor = Fraction(math.exp(asked))
        exact = sum(max(a - factor * b, 0) for a, b in zip(p, p[sensitivity:], strict=False))
        assert law.delta_at(asked) == near(float(exact + sum(p[-sensitivity:])), 1e-13)
    assert law.delta_at(math.inf) == near(float(sum(both_sides(half)[-sensitivity:])), 1e-14)


@pytest.mark.parametrize(("delta", "sensitivity"), SMALL)
def test_uniform__tradeoff_is_neyman_pearson(delta, sensitivity):
    half = fill(delta, sensitivity)
    law = law_of(delta, sensitivity)
    x = np.linspace(0.0, 1.0, 41)
    check_ending_tradeoff(law, half, x, rtol=1e-12, atol=1e-14)
    assert np.all(law.tradeoff(x) >= 1.0 - float(delta) - x - 1e-14)


# --- large supports -------------------------------------------------------------------------------


@pytest.mark.parametrize(("delta", "sensitivity"), WIDE)
def test_uniform__wide_law(delta, sensitivity):
    law = law_of(delta, sensitivity)
    core, height, edge = law.exact_weights()
    assert height == exact_delta(delta) / sensitivity
    assert 0 <= edge < height
    assert (2 * core + 1) * height + 2 * edge == 1
    for n in (1, 2, core // 3, core // 2, core - 1, core, core + 1):
        tail = edge + height * (core + 1 - n)
        assert law.sf(n - 1) == law.cdf(-n) == near(float(tail), 1e-15)
        assert law.isf(law.sf(n - 1)) == near(n - 1, 1e-15)
    first = height * core * (core + 1) + 2 * edge * (core + 1)
    second = height * core * (core + 1) * (2 * core + 1) / 3 + 2 * edge * (core + 1) ** 2
    assert law.moment(1) == float(first)
    assert law.var() == float(second)
    assert law.moment(200) == math.inf
    assert law.delta_at(0.0) == near(float(exact_delta(delta)), 1e-15)
    x = np.linspace(0.0, 1.0, 21)
    exact = np.maximum(1.0 - float(delta) - x, 0.0)
    np.testing.assert_allclose(law.tradeoff(x), exact, rtol=1e-12, atol=1e-15)
    half = law.tradeoff(x, shift=sensitivity // 2)
    share = sensitivity // 2 / sensitivity
    np.testing.assert_allclose(half, np.maximum(1.0 - share * float(delta) - x, 0.0), atol=1e-15)


# --- the mechanism as a value ---------------------------------------------------------------------


def test_uniform__value():
    law = law_of(0.1, 3)
    assert repr(law) == "DiscreteUniform(delta=0.1, sensitivity=3)"
    third = law_of(Fraction(1, 3), np.int64(5))
    assert repr(third) == "DiscreteUniform(delta=Fraction(1, 3), sensitivity=5)"
    assert (law.epsilon, law.delta, law.sensitivity) == (0.0, 0.1, 3)
    privacy = law.privacy
    assert (privacy.epsilon, privacy.delta) == (0.0, 0.1)
    assert (privacy.adjacency, privacy.sensitivity, privacy.lipschitz) == ("l1", 3, None)
    assert Fraction(third.privacy.delta) >= Fraction(1, 3)
    assert law.grid == 1.0
    assert law.released_sensitivity == 3


def test_uniform__float_is_its_shortest_decimal():
    assert exact_delta(0.1) == Fraction(1, 10)
    assert law_of(0.1, 1).exact_weights() == law_of(Fraction(1, 10), 1).exact_weights()
    assert stated_delta(Fraction(1, 10)) == 0.1
    for n in range(2, 60):
        assert exact_delta(stated_delta(Fraction(1, n))) >= Fraction(1, n)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((Fraction(1, 10**400),), ValueError, r"delta must be at least .*not Fraction\(1, 1000"),
        ((1e-16, 1), ValueError, r"sensitivity must be at most 2\*\*52 times delta, .* 1e-16"),
        ((0.5, 2**51 + 1), ValueError, r"sensitivity must be at most 2\*\*52 times delta"),
        ((0.5, 2**60), ValueError, "sensitivity must be "),
    ],
)
def test_uniform__parameters_have_limits(arguments, error, words):
    with pytest.raises(error, match=words):
        fn.DiscreteUniform(*arguments)


def test_uniform__largest_support_is_allowed():
    assert law_of(0.5, 2**51).support() == (-(2**51), 2**51)


def test_uniform__callable_has_a_limit():
    with pytest.raises(ValueError, match=r"cost must be .*10000000"):
        law_of(1e-9, 1).expected_cost(abs)
