"""Is the ideal l1 staircase law right: density, radius, moments, best gamma, guarantee?

Against mpmath from the definitions, and against `Staircase` at dim 1.
"""

import decimal
import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from reference import digits, near, relative_error

import fastnoise as fn
from fastnoise.design import radial_gamma
from fastnoise.design.radial_gamma import LARGEST_DIM, optimal_radial_gamma

ULP = 2.0**-52
EPSILONS = (1e-8, 1e-3, 0.3, 1.0, 5.0, 20.0, 100.0)
GRID = list(itertools.product(EPSILONS, [(1, 0.3), (2, 0.0), (3, 1.0), (5, 0.02), (64, 0.7)]))
in_digits = digits(60)


# --- mpmath, from the definitions -----------------------------------------------------------------


class Exact:
    """The law of the radius in units of D: a mixture of b^k (k+gamma)^d over balls k + gamma."""

    def __init__(self, law):
        self.eps, self.dim = mp.mpf(law.epsilon), law.dim
        self.gamma, self.width = mp.mpf(law.gamma or 1.0), mp.mpf(law.sensitivity)
        self.b = mp.exp(-self.eps)
        self.q = self.b / (1 - self.b)
        self.total = self.mean(self.gamma, self.dim)

    def mean(self, x, n):
        """E (G+x)^n by the recurrence for the moments of a geometric variable."""
        means = [mp.mpf(1)]
        for i in range(1, n + 1):
            terms = (math.comb(i, j) * means[j] for j in range(i))
            means.append(x**i + self.q * mp.fsum(terms))
        return means[n]

    def tail(self, r):
        rho = mp.mpf(r) / self.width
        k = max(mp.floor(rho - self.gamma) + 1, 0)
        return self.b**k * (self.mean(self.gamma + k, self.dim) - rho**self.dim) / self.total

    def density(self, r):
        """Of the radius."""
        rho = mp.mpf(r) / self.width
        k = max(mp.floor(rho - self.gamma) + 1, 0)
        return self.b**k * self.dim * rho ** (self.dim - 1) / self.total / self.width


def digits_for(law):
    """1 - tail cancels down to (epsilon r)^d / d!."""
    return mp.workdps(60 + law.dim * (12 if law.epsilon < 1e-2 else 4))


def probes(law):
    rng = np.random.default_rng(20)
    d, edge = law.sensitivity, (law.gamma or 1.0) * law.sensitivity
    bulk = rng.gamma(law.dim, d / law.epsilon, 2)
    far = rng.uniform(0.0, 600.0, 2) * d / law.epsilon
    beside = [0.4 * edge, edge * (1 - 1e-9), edge, edge * (1 + 1e-9), d, d + edge, 3.0 * d]
    return np.concatenate([rng.uniform(0.0, 3.0 * d, 2), bulk, 0.1 * bulk, far, beside])


@pytest.mark.parametrize(("epsilon", "shape"), GRID)
def test_l1_staircase__radius_against_mpmath(epsilon, shape):
    law = fn.L1Staircase(epsilon, shape[0], 0.3, gamma=shape[1])
    r = probes(law)
    r = r[:6] if law.dim > 50 else r
    for point, cdf, sf in zip(r.tolist(), law.radius.cdf(r), law.radius.sf(r), strict=True):
        with digits_for(law):
            exact = Exact(law)
            tail = exact.tail(point)
            condition = 2 * ULP * abs(exact.density(point)) * point
            assert relative_error(sf, tail) < 3e-13 + condition / tail
            if 1 - tail > mp.mpf("1e-300"):
                assert relative_error(cdf, 1 - tail) < 3e-13 + condition / (1 - tail)


@pytest.mark.parametrize(("epsilon", "shape"), GRID)
def test_l1_staircase__radius_quantiles_against_mpmath(epsilon, shape):
    law = fn.L1Staircase(epsilon, shape[0], 0.3, gamma=shape[1])
    p = np.array([1e-290, 1e-40, 1e-6, 0.1, 0.49])
    for chance, low, high in zip(p.tolist(), law.radius.ppf(p), law.radius.isf(p), strict=True):
        with digits_for(law), mp.workdps(mp.mp.dps + 300):
            exact = Exact(law)
            # beside the answer the probability is on either side of the one asked for
            for r, wanted in ((low, 1 - mp.mpf(chance)), (high, mp.mpf(chance))):
                below, above = (exact.tail(mp.mpf(float(r)) * (1 + s)) for s in (-1e-13, 1e-13))
                assert above <= wanted <= below


@pytest.mark.parametrize(("epsilon", "shape"), GRID)
def test_l1_staircase__moments_against_mpmath(epsilon, shape):
    law = fn.L1Staircase(epsilon, shape[0], 0.3, gamma=shape[1])
    exact, d = Exact(law), law.dim
    for m in (0, 1, 2, 5):
        ratio = exact.mean(exact.gamma, d + m) / exact.total * exact.width**m
        assert relative_error(law.radius.moment(m), ratio * d / (d + m)) < ULP
        if m == 2:
            assert relative_error(law.mse(), ratio * 2 * d / ((d + 1) * (d + 2))) < ULP
    assert law.expected_cost("l1") == law.expected_cost(1) == law.radius.moment(1)
    assert law.expected_cost("l2") == law.mse()
    assert law.expected_cost(5) == law.radius.moment(5)


@pytest.mark.parametrize(("epsilon", "shape"), GRID)
def test_l1_staircase__density_against_mpmath(epsilon, shape):
    law = fn.L1Staircase(epsilon, shape[0], 0.3, gamma=shape[1])
    exact = Exact(law)
    peak = mp.log(mp.factorial(law.dim)) - law.dim * mp.log(2 * exact.width) - mp.log(exact.total)
    v = np.random.default_rng(2).dirichlet(np.ones(law.dim), 5) * [[0.0], [0.2], [0.4], [1], [33]]
    v[:, ::2] *= -1
    for point, got in zip(v, law.logpdf(v), strict=True):
        rho = mp.fsum(abs(mp.mpf(x)) for x in point.tolist()) / exact.width
        level = max(mp.floor(rho - exact.gamma) + 1, 0)
        assert float(abs(got - (peak - level * exact.eps))) < 1e-14 * (law.dim + abs(got))


def test_l1_staircase__layers_add_up():
    for epsilon, (dim, gamma) in itertools.product((0.3, 5.0), [(1, 0.2), (3, 0.0), (12, 0.6)]):
        law = fn.L1Staircase(epsilon, dim, 2.0, gamma=gamma)
        k = np.arange(1000)
        weights = law.layer_pmf(k)
        assert weights.sum() == near(1.0, 1e-13)
        edges = (k + gamma) * 2.0
        mean = np.sum(weights * edges) * dim / (dim + 1)
        assert mean == near(law.radius.moment(1), 1e-12)
        r = 1.3
        inside = np.minimum(r / np.maximum(edges, 1e-300), 1.0) ** dim
        assert law.radius.cdf(r) == near(np.sum(weights * inside), 1e-12)
        np.testing.assert_array_equal(law.layer_pmf([-1, 0.5, np.inf]), 0.0)


# --- the best gamma -------------------------------------------------------------------------------


def growth(epsilon, dim, m, gamma):
    """The sign of dV/dgamma for the cost R^m."""
    with mp.workdps(80 + math.ceil((dim + 3) * max(0.0, 1.0 - math.log10(epsilon)))):
        law = Exact(fn.L1Staircase(epsilon, dim, gamma=gamma))
        top, under = law.mean(law.gamma, dim + m), law.mean(law.gamma, dim + m - 1)
        last = law.mean(law.gamma, dim - 1)
        return mp.sign((dim + m) * under * law.total - dim * top * last)


@pytest.mark.parametrize("m", [1, 2, 7])
@pytest.mark.parametrize("dim", [2, 3, 4, 7, 12])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_l1_staircase__best_gamma_is_right_to_the_last_bits(epsilon, dim, m):
    gamma = fn.L1Staircase(epsilon, dim, cost=m).gamma
    assert growth(epsilon, dim, m, gamma * (1.0 - ULP)) < 0
    assert gamma == 1.0 or growth(epsilon, dim, m, gamma * (1.0 + ULP)) > 0


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("dim", [2, 3, 5, 9, 20])
@pytest.mark.parametrize("epsilon", [1.0, 4.0, 15.0, 50.0])
def test_l1_staircase__no_other_gamma_is_better(epsilon, dim, m):
    best = fn.L1Staircase(epsilon, dim, cost=m).radius.moment(m)
    for gamma in np.linspace(0.0, 1.0, 41):
        other = fn.L1Staircase(epsilon, dim, gamma=gamma).radius.moment(m)
        assert best <= other * (1.0 + 1e-15)


def test_l1_staircase__gamma_of_l2_is_that_of_two():
    """E ||X||_2^2 is in proportion to E ||X||_1^2."""
    assert fn.L1Staircase(2.0, 3, cost="l2") == fn.L1Staircase(2.0, 3, cost=2)


def test_l1_staircase__gamma_at_large_dim_and_extreme_epsilon():
    assert fn.L1Staircase(1e-8, 64).gamma == near(0.2499999832820047, 1e-15)
    assert fn.L1Staircase(3.0, LARGEST_DIM).gamma == fn.L1Staircase(3.0, LARGEST_DIM, 7.0).gamma
    assert fn.L1Staircase(1e4, 2).gamma == np.finfo(np.float64).tiny
    assert fn.L1Staircase(1000.0, 2).gamma == near((2 * mp.exp(-1000)) ** (mp.mpf(1) / 3), 1e-12)


def test_l1_staircase__gamma_does_not_depend_on_the_decimal_context():
    wanted = optimal_radial_gamma(0.123, 3, 1.0, "l1")
    radial_gamma._power_gamma.cache_clear()
    with decimal.localcontext() as context:
        context.prec = 5
        context.traps[decimal.Inexact] = True
        context.traps[decimal.FloatOperation] = True
        law = fn.L1Staircase(0.123, 3)
        assert law.gamma == wanted
        law.radius.isf(0.1)
        law.mse()


@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.95, 0.999])
@pytest.mark.parametrize(("epsilon", "dim"), [(0.1, 3), (1.0, 2), (2.0, 7), (9.0, 3), (30.0, 12)])
def test_l1_staircase__interval_ball_is_the_smallest(epsilon, dim, confidence):
    law = fn.L1Staircase(epsilon, dim, cost=("interval", confidence))
    best = law.radius.ppf(confidence)
    # the ball is a layer: just inside it the density is e^epsilon times that just outside
    assert math.remainder(best - law.gamma, 1.0) == pytest.approx(0.0, abs=1e-3)
    for gamma in np.linspace(0.0, 1.0, 40):
        other = fn.L1Staircase(epsilon, dim, gamma=gamma).radius.ppf(confidence)
        assert best <= other * (1.0 + 1e-12)


@pytest.mark.parametrize("dim", [2, 3, 12])
@pytest.mark.parametrize("epsilon", [5.0, 20.0, 100.0])
def test_l1_staircase__callable_cost_agrees_with_powers(epsilon, dim):
    offset = 3.0 if epsilon < 50.0 else 0.0  # beyond, x**2 is below the rounding of 3
    numeric = fn.L1Staircase(epsilon, dim, 2.0, cost=lambda x: np.abs(x) ** 2 - offset)
    exact = fn.L1Staircase(epsilon, dim, 2.0, cost=2)
    assert numeric.gamma == near(exact.gamma, 1e-9)
    assert exact.expected_cost(lambda x: x**2) == near(exact.radius.moment(2), 1e-12)


def test_l1_staircase__callable_cost_is_least_where_gamma_hardly_matters():
    for epsilon, dim in ((0.05, 5), (1.0, 12), (1.0, 64)):
        best = fn.L1Staircase(epsilon, dim, cost="l1").radius.moment(1)
        numeric = fn.L1Staircase(epsilon, dim, cost=abs)
        assert numeric.radius.moment(1) == near(best, 1e-10)


def test_l1_staircase__callable_jump_is_found():
    """P(R > r) is least where a layer ends at r."""
    law = fn.L1Staircase(3.0, 2, cost=lambda x: x > 2.3)
    assert law.gamma == pytest.approx(0.3, abs=1e-9)
    assert law.expected_cost(lambda x: float(x > 1.1)) == near(law.radius.sf(1.1), 1e-12)
    wide = fn.L1Staircase(20.0, 30, gamma=0.05)
    assert wide.expected_cost(lambda x: x) == near(wide.radius.moment(1), 1e-12)


# --- what the theorems say ------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cost", ["l1", "l2", 5, ("interval", 0.9)])
def test_l1_staircase__dim_one_is_staircase(epsilon, cost):
    vector, line = fn.L1Staircase(epsilon, 1, 0.7, cost=cost), fn.Staircase(epsilon, 0.7, cost=cost)
    assert vector.gamma == line.gamma
    r = probes(vector)
    np.testing.assert_allclose(vector.logpdf(-r[:, None]), line.logpdf(r), rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(vector.radius.sf(r), 2.0 * line.sf(r), rtol=2e-13)
    p = np.array([1e-200, 0.01, 0.3, 0.7, 0.99])
    # where the density is e^-epsilon of the top, an ulp of p is that much more of r
    rtol = 1e-13 if epsilon < 10.0 else 1e-6
    np.testing.assert_allclose(vector.radius.isf(p), line.isf(0.5 * p), rtol=rtol)
    assert vector.radius.moment(3) == line.moment(3)
    assert vector.mse() == line.var()


def test_l1_staircase__rules_of_thumb_at_dim_one():
    for rule in ("heuristic", "dominating"):
        assert fn.L1Staircase(2.0, 1, gamma=rule).gamma == fn.Staircase(2.0, gamma=rule).gamma


@pytest.mark.parametrize("epsilon", [*EPSILONS, 30.0])
@pytest.mark.parametrize("dim", [1, 2, 4, 5])
def test_l1_staircase__gamma_zero_is_gamma_one(epsilon, dim):
    zero, one = (fn.L1Staircase(epsilon, dim, 0.7, gamma=gamma) for gamma in (0.0, 1.0))
    r, p = probes(one), np.linspace(0.0, 1.0, 11)
    np.testing.assert_array_equal(zero.radius.sf(r), one.radius.sf(r))
    np.testing.assert_array_equal(zero.radius.isf(p), one.radius.isf(p))
    v = np.random.default_rng(0).normal(size=(50, dim))
    np.testing.assert_array_equal(zero.logpdf(v), one.logpdf(v))
    assert zero.mse() == one.mse()
    assert zero.layer_pmf(0) == 0.0
    np.testing.assert_array_equal(zero.layer_pmf([1, 2, 3]), one.layer_pmf([0, 1, 2]))


@pytest.mark.parametrize("gamma", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("dim", [1, 2, 6])
def test_l1_staircase__density_falls_by_at_most_epsilon(dim, gamma):
    rng = np.random.default_rng(dim)
    law = fn.L1Staircase(0.5, dim, 2.0, gamma=gamma)
    v, t = rng.normal(size=(2, 2000, dim)) * 3.0
    t *= 2.0 / np.sum(np.abs(t), axis=-1, keepdims=True)
    loss = np.abs(law.logpdf(v) - law.logpdf(v + t * (1.0 - 1e-15)))
    assert loss.max() == near(0.5, 1e-12)


def test_l1_staircase__gain_over_laplace():
    """docs/mathematics.md#norm-ball-staircase: at epsilon 1, 2, 5, 10, 20."""
    gains = {2: (1.007, 1.048, 1.507, 4.35, 62.0), 5: (1.00003, 1.0015, 1.088, 1.65, 5.16)}
    for dim, wanted in gains.items():
        for epsilon, gain in zip((1.0, 2.0, 5.0, 10.0, 20.0), wanted, strict=True):
            law = fn.L1Staircase(epsilon, dim)
            assert dim / epsilon / law.expected_cost("l1") == near(gain, 1e-2 * (gain - 0.99))


# --- parameters -----------------------------------------------------------------------------------


def test_l1_staircase__parameters():
    mechanism = fn.L1Staircase(0.5, np.int64(2), 3)
    assert mechanism == fn.L1Staircase(0.5, 2, 3.0)
    assert (mechanism.delta, mechanism.privacy.adjacency) == (0.0, "l1")
    assert mechanism.privacy.lipschitz is None
    assert mechanism.privacy.at(3.1) == 1.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fn.L1Staircase(1.0, LARGEST_DIM + 1), ValueError, "dim must be .*not 129"),
        (lambda: fn.L1Staircase(1.0, 2, gamma=1.1), ValueError, r"gamma must be .*not 1\.1"),
        (lambda: fn.L1Staircase(1.0, 2, gamma="heuristic"), ValueError, "gamma must be .*dim 1"),
        (lambda: fn.L1Staircase(1.0, 1, gamma="best"), ValueError, "gamma must be .*'best'"),
        (lambda: fn.L1Staircase(5e-4, 2, cost=abs), ValueError, r"epsilon must be .*0\.001.*gamma"),
        (lambda: fn.L1Staircase(1.0, 65, cost=abs), ValueError, "dim must be .*64.*not 65"),
        (lambda: fn.L1Staircase(1.0, 3, cost=lambda x: x / (1 + x * x)), ValueError, "decreasing"),
    ],
)
def test_l1_staircase__bad_argument_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
