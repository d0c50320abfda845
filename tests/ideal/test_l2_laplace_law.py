"""Are the ideal l2 Laplace laws right: density, radius, moments, costs, guarantee?

Against mpmath from the definitions.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from reference import digits, near, relative_error

import fastnoise as fn

ULP = 2.0**-52
DIMS = (1, 2, 3, 4, 7, 50, 333, 4096)
in_digits = digits(50)


# --- mpmath, from the definitions -----------------------------------------------------------------


def upper(n, z):
    """P(Gamma(n) > z) = P(Poisson(z) < n), summed from the largest term down."""
    term = total = mp.exp(-z + (n - 1) * mp.log(z) - mp.loggamma(n))
    for j in range(n - 1, 0, -1):
        term *= j / z
        total += term
        if term < total * mp.mpf(10) ** -30:
            break
    return total


def lower(n, z):
    term = total = mp.exp(-z + n * mp.log(z) - mp.loggamma(n + 1))
    j = n + 1
    while term > total * mp.mpf(10) ** -30:
        term *= z / j
        total += term
        j += 1
    return total


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1e-8, 1.0), (0.7, 3e-200), (100.0, 2e200)])
def test_l2_laplace__radius_against_mpmath(dim, epsilon, sensitivity):
    radius = fn.L2Laplace(epsilon, dim, sensitivity).radius
    rng = np.random.default_rng(dim)
    spread = dim + math.sqrt(dim) * np.array([-5.0, -1.0, 0.3, 2.0, 6.0])
    z = np.concatenate([spread, dim * 10.0 ** rng.uniform(-2, 0, 3), dim + rng.uniform(0, 500, 3)])
    r = np.abs(z) / epsilon * sensitivity
    for point, cdf, sf in zip(r.tolist(), radius.cdf(r), radius.sf(r), strict=True):
        exact = mp.mpf(epsilon) * mp.mpf(point) / mp.mpf(sensitivity)
        # one ulp of r moves the probability by so many of its own
        below, above = lower(dim, exact), upper(dim, exact)
        density = mp.exp(-exact + dim * mp.log(exact) - mp.loggamma(dim))
        if below > mp.mpf("1e-290"):
            assert relative_error(cdf, below) < 5e-13 + 4.0 * ULP * density / below
        if above > mp.mpf("1e-290"):
            assert relative_error(sf, above) < 5e-13 + 4.0 * ULP * density / above


@pytest.mark.parametrize("dim", DIMS)
def test_l2_laplace__radius_quantiles_against_mpmath(dim):
    radius = fn.L2Laplace(0.3, dim, 7.0).radius
    p = np.array([1e-290, 1e-100, 1e-20, 1e-5, 0.05, 0.3, 0.49])
    for chance, low, high in zip(p.tolist(), radius.ppf(p), radius.isf(p), strict=True):
        for got, law in ((low, lower), (high, upper)):
            z = mp.mpf(0.3) * mp.mpf(float(got)) / 7
            density = mp.exp(-z + dim * mp.log(z) - mp.loggamma(dim))
            assert float(abs(law(dim, z) - chance) / density) < 1e-13


@pytest.mark.parametrize("dim", [1, 2, 3, 10, 47, 48, 4096, 65536])
@pytest.mark.parametrize("epsilon", [1e-8, 1.3, 100.0])
def test_l2_laplace__moments_against_mpmath(dim, epsilon):
    law = fn.L2Laplace(epsilon, dim, 0.3)
    scale = mp.mpf(0.3) / mp.mpf(epsilon)
    with mp.workdps(70):
        for m in (0, 1, 2, 3, 7):
            exact = scale**m * mp.rf(dim, m)
            assert relative_error(law.radius.moment(m), exact) < ULP
        for m in (0.5, 1.25, 6.9):
            exact = scale ** mp.mpf(m) * mp.exp(mp.loggamma(dim + mp.mpf(m)) - mp.loggamma(dim))
            assert relative_error(law.radius.moment(m), exact) < 1e-14
        half = mp.mpf(dim) / 2
        ratio = mp.exp(mp.loggamma(half + 1) - mp.loggamma(half + mp.mpf("0.5")))
        exact = dim * 2 / mp.sqrt(mp.pi) * ratio * scale
        assert relative_error(law.expected_cost("l1"), exact) < 2e-15
        assert relative_error(law.mse(), dim * (dim + 1) * scale**2) < ULP
    assert law.expected_cost("l2") == law.mse() == law.radius.moment(2) == law.expected_cost(2)
    assert law.expected_cost(3) == law.radius.moment(3)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1e-8, 0.3), (1.0, 1.0), (100.0, 1e200)])
def test_l2_laplace__density_against_mpmath(dim, epsilon, sensitivity):
    law = fn.L2Laplace(epsilon, dim, sensitivity)
    v = np.random.default_rng(3).normal(size=dim) * law.scale
    k, n = mp.mpf(epsilon) / mp.mpf(sensitivity), mp.mpf(dim)
    normaliser = n * mp.log(k) + mp.loggamma(n / 2 + 1) - n / 2 * mp.log(mp.pi)
    norm = mp.sqrt(mp.fsum(mp.mpf(float(x)) ** 2 for x in v))
    exact = normaliser - mp.loggamma(n + 1) - k * norm
    assert float(abs(law.logpdf(v) - exact)) < 1e-14 * (dim + abs(float(exact)))


def test_l2_laplace__density_integrates_to_the_radius():
    """In the plane: 2 pi r times the density is the derivative of the radius's cdf."""
    law = fn.L2Laplace(0.8, 2, 1.5)
    r = np.linspace(0.0, 150.0, 300_001)
    density = np.exp(law.logpdf(np.stack([0.6 * r, -0.8 * r], axis=-1))) * 2.0 * math.pi * r
    for stop in (2_000, 10_000, 300_000):
        simpson = density[0] + density[stop] + 4 * density[1:stop:2].sum()
        mass = (simpson + 2 * density[2:stop:2].sum()) * (r[1] / 3)
        assert mass == near(law.radius.cdf(r[stop]), 1e-11)


@pytest.mark.parametrize("dim", [1, 2, 9, 60, 4096])
def test_l2_laplace__callable_costs(dim):
    law = fn.L2Laplace(0.01, dim, 3.0)
    assert law.expected_cost(lambda r: r) == near(law.radius.moment(1), 1e-12)
    assert law.expected_cost(lambda r: r**3 - 4.0) == near(law.radius.moment(3) - 4.0, 1e-12)
    assert law.expected_cost(math.sqrt) == near(law.radius.moment(0.5), 1e-11)
    threshold = float(law.radius.isf(0.02))
    assert law.expected_cost(lambda r: r > threshold) == near(0.02, 1e-9)
    assert law.expected_cost(lambda r: 7.0) == 7.0
    for growing in (lambda r: math.exp(0.01 * r), lambda r: np.exp(r * r)):
        with pytest.raises(ValueError, match=r"cost.* must be .*growing slower"):
            law.expected_cost(growing)


def test_l2_laplace__dim_one_is_laplace():
    vector, line = fn.L2Laplace(0.7, 1, 2.0), fn.Laplace(0.7, 2.0)
    x = np.array([-30.0, -1.0, 0.0, 0.3, 8.0])
    np.testing.assert_allclose(vector.logpdf(x[:, None]), line.logpdf(x), rtol=1e-14)
    np.testing.assert_allclose(vector.radius.sf(abs(x)), 2.0 * line.sf(abs(x)), rtol=1e-13)
    assert vector.expected_cost("l1") == near(line.expected_cost("l1"), 1e-15)
    assert vector.mse() == line.var()


# --- many users -----------------------------------------------------------------------------------


def test_multi_user_laplace__is_one_l2_law_a_row():
    many, one = fn.MultiUserLaplace(0.7, 3, 2.0), fn.L2Laplace(0.7, 3, 2.0)
    v = np.random.default_rng(0).normal(size=(4, 5, 3)) * 4.0
    np.testing.assert_allclose(many.logpdf(v), one.logpdf(v).sum(axis=-1), rtol=1e-14)
    assert many.logpdf(v[:, :1]) == pytest.approx(one.logpdf(v[:, 0]))
    assert many.mse(5) == near(5 * one.mse(), 1e-15)
    assert many.expected_cost("l1", 5) == near(5 * one.expected_cost("l1"), 1e-15)
    assert many.expected_cost("l2", 5) == many.mse(5)
    assert many.expected_cost(1, 5) == many.radius(5).moment(1) == near(15 * 2.0 / 0.7, 1e-15)
    assert many.expected_cost(lambda r: r * r, 5) == near(many.radius(5).moment(2), 1e-12)
    assert many.radius(5) == fn.L2Laplace(0.7, 15, 2.0).radius
    assert type(many.logpdf(v[0])) is np.float64


# --- parameters -----------------------------------------------------------------------------------


def test_l2_laplace__norms_neither_overflow_nor_underflow():
    law = fn.L2Laplace(1.0, 3)
    with np.errstate(all="raise"):
        assert law.logpdf([1e300, 1e300, 0.0]) == near(-math.sqrt(2.0) * 1e300, 1e-15)
        tiny = fn.L2Laplace(1.0, 3, 1e-300).logpdf([3e-300, 4e-300, 0.0])
        assert tiny - fn.L2Laplace(1.0, 3, 1e-300).logpdf([0.0, 0.0, 0.0]) == near(-5.0, 1e-12)
    assert fn.L2Laplace(1e-300, 3).radius.moment(3) == math.inf


def test_l2_laplace__parameters():
    for mechanism in (fn.L2Laplace(0.5, 2, 3.0), fn.MultiUserLaplace(0.5, np.int64(2), 3)):
        assert (mechanism.delta, mechanism.scale) == (0.0, 6.0)
        assert mechanism.privacy.at(1.5) == 0.25
    assert fn.L2Laplace(0.5, 2).privacy.adjacency == "l2"
    assert fn.MultiUserLaplace(0.5, 2).privacy.adjacency == "sum-l2"
    assert fn.L2Laplace(0.5, 2) != fn.MultiUserLaplace(0.5, 2)


def test_l2_laplace__density_falls_by_at_most_epsilon():
    rng = np.random.default_rng(1)
    law = fn.L2Laplace(0.5, 4, 2.0)
    v, t = rng.normal(size=(2, 1000, 4))
    t *= 2.0 / np.linalg.norm(t, axis=-1, keepdims=True)
    loss = np.abs(law.logpdf(v) - law.logpdf(v + t))
    assert 0.4 < loss.max() <= 0.5 + 1e-12


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fn.L2Laplace(1.0, 2**16 + 1), ValueError, "dim must be .*not 65537"),
        (lambda: fn.MultiUserLaplace(1.0, 2).mse(0), ValueError, "n must be .*not 0"),
        (lambda: fn.MultiUserLaplace(1.0, 2).radius(1.5), TypeError, r"n must be .*not 1\.5"),
    ],
)
def test_l2_laplace__bad_argument_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
