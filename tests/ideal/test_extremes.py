"""Are functions of laws right, or a clear refusal, where floats come to an end?"""

from decimal import Context, Decimal, getcontext, localcontext

import numpy as np
import pytest

import fastnoise as fn

TINY, HUGE = 5e-324, 1.7e308
POINTS = np.array([0.0, TINY, -1e-300, 1.0, -3.5, 2.0**62, 1e300, HUGE, np.inf, -np.inf, np.nan])


@pytest.fixture(autouse=True)
def strict_floats():
    """A user may have told numpy to raise, at an underflow too."""
    with np.errstate(all="raise"):
        yield


def test_density__is_right_where_its_factors_are_no_floats():
    """Against the formula in decimals; x is on a level of its own, far from an edge."""
    cases = [(1e-300, 300.0, 2), (1e-270, 300.0, 0), (1e300, 700.0, 1), (1e-308, 400.0, 3)]
    for sensitivity, epsilon, level in cases:
        law = fn.Staircase(epsilon, sensitivity)
        with localcontext(Context(60)):
            b, gamma = (-Decimal(epsilon)).exp(), Decimal(law.gamma)
            height = 1 / (2 * Decimal(sensitivity) * (gamma + b / (1 - b)))
            exact = height * b**level
            logarithm = float(exact.ln())
        x = (level - 0.5) * sensitivity if level else 0.0
        np.testing.assert_allclose(law.pdf(x), float(exact), rtol=1e-13)
        np.testing.assert_allclose(law.logpdf(x), logarithm, rtol=1e-14)


def test_densities_of_vectors__keep_their_logarithms():
    for epsilon in (1.0, 800.0, 1e5):
        for width in (TINY, 1e-300, 1e300, HUGE):
            box = fn.BoxStaircase(epsilon, (width,) * 3)
            assert np.isfinite(fn.L1Staircase(epsilon, 3, width).logpdf(np.zeros(3)))
            assert np.isfinite(box.logpdf(np.zeros(3)))
            density = box.marginal_pdf(0, POINTS)
            assert np.array_equal(np.isnan(density), np.isnan(POINTS))
            assert density[0] > 0.0


def test_real_moments__of_a_large_epsilon():
    """D^m S_{m+1} / ((m+1) S_1), S_n = sum_k b^k (k+gamma)^n, of which a few terms count."""
    for epsilon in (150.0, 300.0, 600.0, 1e5, 1e200):
        for gamma in (1e-100, 0.3, 1.0):
            law = fn.Staircase(epsilon, 2.0, gamma=gamma)
            for m in (0.5, 20.5, 99.5):
                with localcontext(Context(60)):
                    n, terms = (
                        Decimal(m) + 1,
                        [((-Decimal(epsilon) * k).exp(), k + Decimal(gamma)) for k in range(6)],
                    )
                    total = sum(weight * (x.ln() * n).exp() for weight, x in terms)
                    below = n * sum(weight * x for weight, x in terms)
                    exact = float(2 ** Decimal(m) * total / below)
                np.testing.assert_allclose(law.moment(m), exact, rtol=1e-13)


def test_real_moments__of_integers_and_a_huge_epsilon():
    for epsilon in (2e65, HUGE):
        assert fn.DiscreteStaircase(epsilon, 3, r=3).moment(0.5) == pytest.approx(
            2.0 * (1.0 + 2.0**0.5) / 5.0, rel=1e-15
        )
        assert fn.DiscreteLaplace(epsilon, 3).moment(0.5) == 0.0


@pytest.mark.parametrize("epsilon", [2e65, HUGE])
def test_certificate__of_a_truncated_law_and_a_huge_epsilon(epsilon):
    for sensitivity in (1, 3, 20863):
        certificate = fn.TruncatedDiscreteLaplace(epsilon, 0.4976, sensitivity).certificate()
        assert certificate.epsilon <= epsilon
        assert certificate.delta <= 0.4976
        assert 0.0 <= certificate.total_variation <= 1.0


def test_certificate__of_many_coordinates_is_near_the_ideal_law():
    for epsilon, dim, grid in ((100, 128, 2.0**-20), (100, 16, 2.0**-10), (700, 20, 2.0**-30)):
        certificate = fn.L1Staircase(epsilon, dim).certificate(grid=grid)
        assert certificate.epsilon <= epsilon
        assert certificate.total_variation < 1e-20


def test_best_gamma_of_a_callable__is_refused_where_it_would_be_wrong():
    for epsilon in (720.0, 746.0, 1e300):
        for build in (fn.Staircase, lambda e, cost: fn.L1Staircase(e, 1, cost=cost)):
            with pytest.raises(ValueError, match="epsilon must be at most 700"):
                build(epsilon, cost=lambda x: x)
    assert fn.Staircase(699.0, cost=lambda x: x).gamma == pytest.approx(
        fn.Staircase(699.0).gamma, rel=1e-9
    )


def test_callable_cost_of_a_vector__is_integrated_where_powers_underflow():
    law = fn.L1Staircase(1e-3, 64, gamma=0.5)
    assert law.expected_cost(lambda x: x * x) == pytest.approx(law.expected_cost(2), rel=1e-12)


def test_cost_bounds__of_a_large_power_have_no_warnings():
    for epsilon, delta, sensitivity in ((1e-10, 0.01, 100), (600.0, 1e-300, 3)):
        bounds = fn.cost_bounds(epsilon, delta, sensitivity, cost=200)
        assert bounds.lower <= bounds.upper


def test_callable_cost__is_summed_once_for_all_mechanisms():
    asked = []

    def cost(x):
        asked.append(np.size(x))
        return x * x

    fn.DiscreteStaircase(0.01, 100, cost=cost)
    alone = sum(asked)
    asked.clear()
    fn.approximate(0.01, 0.01, 100, cost=cost)
    assert sum(asked) < 1.2 * alone


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-10, 0.01), (1e-3, 1e-300), (1e-10, 1e-300)])
def test_real_moments__of_a_long_support_take_few_digits(epsilon, delta, monkeypatch):
    """The value is a little below the geometric mean of its neighbours, by log-convexity."""
    from fastnoise.design import lerch

    def short(a, z, of=lerch._lower_gamma):
        assert getcontext().prec < 250
        return of(a, z)

    monkeypatch.setattr(lerch, "_lower_gamma", short)
    law = fn.TruncatedDiscreteLaplace(epsilon, delta, 100)
    for m in (0.5, 20.5):
        low, high = law.moment(int(m)), law.moment(int(m) + 1)
        assert 0.8 * np.sqrt(low) * np.sqrt(high) < law.moment(m) < np.sqrt(low) * np.sqrt(high)
