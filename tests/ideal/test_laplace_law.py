"""Is the ideal Laplace law right: density, quantiles, moments, costs and privacy curves?

Against mpmath from the definitions, and against what the theorems say.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from reference import check_curve, check_moments, digits, near, pure_region, relative_error

import fastnoise as fn

pytestmark = pytest.mark.filterwarnings("error")

EPSILONS = (1e-8, 1e-6, 1e-4, 0.1, 1.0, 5.0, 20.0, 50.0, 100.0)
ULP = 2.0**-52
in_digits = digits(50)


def exact_scale(law):
    return mp.mpf(law.sensitivity) / mp.mpf(law.epsilon)


def exact_pdf(law, x):
    return mp.exp(-abs(mp.mpf(x)) / exact_scale(law)) / (2 * exact_scale(law))


def exact_cdf(law, x):
    half = mp.exp(-abs(mp.mpf(x)) / exact_scale(law)) / 2
    return half if x < 0 else 1 - half


def exact_moment(law, m):
    return exact_scale(law) ** mp.mpf(m) * mp.gamma(mp.mpf(m) + 1)


# --- mpmath, from the definitions -----------------------------------------------------------------


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1e-200, 1e200])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace__density_and_tails_against_mpmath(epsilon, sensitivity):
    law = fn.Laplace(epsilon, sensitivity)
    rng = np.random.default_rng(30)
    x = (
        rng.uniform(0.0, 3.0, 4),
        rng.exponential(1.0, 4) / epsilon,
        rng.uniform(0, 700, 6) / epsilon,
    )
    x = np.concatenate([*x, [0.0, 1e-12, 1.0]]) * sensitivity
    x = np.concatenate([x, -x])
    for point, pdf, cdf, sf, logpdf in zip(
        x.tolist(), law.pdf(x), law.cdf(x), law.sf(x), law.logpdf(x), strict=True
    ):
        density = exact_pdf(law, point)
        if density > 1e-300:  # a subnormal float has no 16 digits
            assert relative_error(pdf, density) < 3e-13
        assert relative_error(cdf, exact_cdf(law, point)) < 3e-13
        assert relative_error(sf, exact_cdf(law, -point)) < 3e-13
        assert abs(logpdf - mp.log(density)) < 1e-15 * (2.0 + abs(logpdf) + abs(law.logpdf(0.0)))


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1e-200, 1e200])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace__quantiles_against_mpmath(epsilon, sensitivity):
    law = fn.Laplace(epsilon, sensitivity)
    rng = np.random.default_rng(31)
    p = np.concatenate([rng.uniform(0, 0.5, 6), 10 ** rng.uniform(-300, -1, 6), [0.5 - 1e-12]])
    for tail, lower, upper in zip(p.tolist(), law.ppf(p), law.isf(p), strict=True):
        radius = -exact_scale(law) * mp.log(2 * mp.mpf(tail))
        assert relative_error(-lower, radius) < 1e-15
        assert relative_error(upper, radius) < 1e-15
    inside = np.concatenate([rng.uniform(0, 1, 6), 10 ** rng.uniform(-300, -1, 6)])
    low, high = law.interval(inside)
    np.testing.assert_array_equal(low, -high)
    for confidence, radius in zip(inside.tolist(), high, strict=True):
        exact = -exact_scale(law) * mp.log1p(-mp.mpf(confidence))
        assert radius == near(float(exact), 1e-15)


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 40.0])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace__moments_against_mpmath(epsilon, sensitivity):
    law = fn.Laplace(epsilon, sensitivity)
    for m in (0, 1, 2, 3, 7, 20):
        assert law.moment(m) == float(exact_moment(law, m))
    for m in (1e-9, 0.5, 1.5, 2.5, 20.25):
        assert law.moment(m) == near(float(exact_moment(law, m)), 1e-14)
    check_moments(law)
    assert law.scale == sensitivity / epsilon


def test_laplace__highest_moments():
    law = fn.Laplace(100.0, 0.5)
    for m in (99.5, 170.0, 200):
        assert law.moment(m) == near(float(exact_moment(law, m)), 1e-13)
    assert fn.Laplace(1e-8).moment(200) == fn.Laplace(1e-8).moment(60.5) == math.inf
    assert fn.Laplace(1e8).moment(60.5) == 0.0
    assert fn.Laplace(1.0).moment(171) == math.inf
    assert fn.Laplace(1e6).moment(200) == 0.0


# --- what the theorems say ------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace__quantile_inverts_cdf(epsilon):
    law = fn.Laplace(epsilon, 2.0)
    z = np.array([1e-9, 0.1, 0.5, 1.0, 3.0, 30.0, 600.0])
    x = z * law.scale
    allowed = 4.0 * ULP * (1.0 + 1.0 / z) * x  # a rounding of the cdf at 0 is one of 1/2
    assert np.all(np.abs(law.ppf(law.cdf(-x)) + x) <= allowed)
    assert np.all(np.abs(law.isf(law.sf(x)) - x) <= allowed)
    np.testing.assert_allclose(law.cdf(x) + law.cdf(-x), 1.0, rtol=ULP)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_laplace__density_ratio_is_lipschitz(epsilon):
    law = fn.Laplace(epsilon, 2.0)
    rng = np.random.default_rng(32)
    x, shift = rng.laplace(0.0, law.scale, 200), rng.uniform(-6.0, 6.0, 200)
    ratio = np.abs(law.logpdf(x) - law.logpdf(x + shift))
    assert np.all(ratio <= law.privacy.lipschitz * np.abs(shift) + 1e-13 * (1.0 + epsilon))
    assert law.privacy.lipschitz == epsilon / 2.0
    assert law.privacy.at(5.0) == near(2.5 * epsilon, 1e-15)


def test_laplace__parameters():
    law = fn.Laplace(epsilon=0.5, sensitivity=2)
    assert law == fn.Laplace(0.5, 2.0)
    assert fn.Laplace(1.0).sensitivity == 1.0
    assert fn.Laplace(1.0).pdf(0.0) == 0.5
    assert law.delta == 0.0
    assert law.privacy == fn.Privacy(0.5, 0.0, "l1", 2.0, 0.25, 65_536)


# --- callable costs -------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.7, 20.0, 100.0])
def test_laplace__callable_cost(epsilon):
    law, e = fn.Laplace(epsilon, 0.3), mp.mpf(epsilon)
    for m in (0.1, 1, 2.5, 8):
        by_integral = law.expected_cost(lambda x, m=m: (x / 0.3) ** m)
        assert by_integral == near(float(mp.gamma(mp.mpf(m) + 1) / e ** mp.mpf(m)), 1e-13)
    logarithm = float(mp.exp(e) * mp.e1(e))
    assert law.expected_cost(lambda x: np.log1p(x / 0.3)) == near(logarithm, 1e-13)
    assert law.expected_cost(lambda x: math.log1p(x / 0.3)) == near(logarithm, 1e-13)
    assert law.expected_cost(lambda x: min(x / 0.3, 1.0)) == near(float(-mp.expm1(-e) / e), 1e-13)
    assert law.expected_cost(lambda x: 7.0) == 7.0


def test_laplace__jumps_of_a_cost_are_found():
    """Wherever they are: the nodes of a quadrature rule leave gaps, most of all near its ends."""
    rng = np.random.default_rng(33)
    edges = [k / 8 + d for k in range(1, 20) for d in (0.0, 1e-3, -1e-3, 1e-7, -1e-7, -1e-11)]
    for z in (*edges, *rng.exponential(1.0, 40), 1e-9, 100.0):
        law = fn.Laplace(1.0)
        assert law.expected_cost(lambda x, z=z: x > z) == near(math.exp(-z), 1e-12)
    for epsilon in (0.003, 0.01, 0.05, 0.3, 2.0):
        ceiling = fn.Laplace(epsilon).expected_cost(np.ceil)
        assert ceiling == near(-1.0 / math.expm1(-epsilon), 2e-12)


def test_laplace__cost_that_starts_far_out():
    late = fn.Laplace(2.0).expected_cost(lambda x: max(0.0, x - 50.0))
    assert late == near(0.5 * math.exp(-100.0), 1e-12)


# --- the attacker ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.7, 2.0])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace__tradeoff_is_a_threshold_test(epsilon, shift):
    """The likelihood ratio is monotone: alarm above t, where P(X > t) = p; miss at X + T <= t."""
    law = fn.Laplace(epsilon, 2.0)
    rng = np.random.default_rng(34)
    p = np.concatenate([rng.uniform(0.0, 1.0, 10), 10 ** rng.uniform(-120, -1, 10), [0.5, 1e-300]])
    p = np.concatenate([p, 0.5 * math.exp(-0.5 * epsilon * shift) * np.array([0.6, 0.99, 1.01])])
    for alarm, missed in zip(p.tolist(), law.tradeoff(p, shift=shift), strict=True):
        tail = mp.mpf(alarm)
        t = -mp.log(2 * tail) if tail < 0.5 else mp.log(2 * (1 - tail))
        t -= mp.mpf(epsilon) * mp.mpf(shift) / 2
        exact = mp.exp(t) / 2 if t < 0 else 1 - mp.exp(-t) / 2
        assert missed == near(float(exact), 1e-13)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 800.0, 1300.0])
def test_laplace__tradeoff_shape(epsilon):
    law = fn.Laplace(epsilon, 2.0)
    x = np.linspace(0.0, 1.0, 501)
    curve = check_curve(law, x, 1e-15)
    np.testing.assert_array_equal(curve, law.tradeoff(x, shift=2.0))
    np.testing.assert_allclose(law.tradeoff(x, shift=0.0), 1.0 - x, rtol=1e-15)
    if epsilon < 700.0:
        assert np.all(curve >= pure_region(epsilon, x) * (1.0 - 1e-15))


def test_laplace__tradeoff_of_a_huge_epsilon():
    """e^-800 is no float, but e^-800 / (4 p) is one."""
    exact = mp.exp(-800) / (4 * mp.mpf(1e-200))
    assert fn.Laplace(800.0).tradeoff(1e-200) == near(float(exact), 1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace__delta_is_what_the_tradeoff_leaves(epsilon):
    law = fn.Laplace(epsilon, 2.0)
    shares = np.array([0.0, 0.2, 0.7, 0.999999, 1.0, 1.5, math.inf])
    for share, delta in zip(shares, law.delta_at(epsilon * shares), strict=True):
        asked = min(mp.mpf(epsilon * share), mp.mpf(epsilon))
        assert delta == near(float(-mp.expm1((asked - mp.mpf(epsilon)) / 2)), 1e-14)
    if 0.01 < epsilon < 30.0:
        x = np.exp(np.linspace(-epsilon - 2.0, 0.0, 20001))
        for asked in epsilon * shares[:5]:
            excess = np.max(1.0 - law.tradeoff(x) - math.exp(asked) * x)
            assert law.delta_at(asked) == pytest.approx(excess, abs=1e-5)
