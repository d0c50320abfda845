"""Is the ideal staircase law right: density, quantiles, moments, best gamma and privacy curves?

Against mpmath from the definitions, and against what the theorems say.
"""

import decimal
import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from reference import (
    check_curve,
    check_moments,
    digits,
    least_missed,
    near,
    pure_region,
    relative_error,
)

import fastnoise as fn
from fastnoise.design.gamma import dominating_gamma, heuristic_gamma, optimal_gamma

pytestmark = pytest.mark.filterwarnings("error")

EPSILONS = (1e-8, 1e-4, 0.1, 1.0, 5.0, 20.0, 100.0)
GAMMAS = (0.0, "l1", 0.3, 0.5, 1.0)
GRID = list(itertools.product(EPSILONS, GAMMAS))
ULP = 2.0**-52
in_digits = digits(60)


def law_of(epsilon, gamma, sensitivity=1.0):
    """The law of a number gamma, or of the best gamma for the cost that a string names."""
    if isinstance(gamma, str):
        return fn.Staircase(epsilon, sensitivity, cost=gamma)
    return fn.Staircase(epsilon, sensitivity, gamma=gamma)


def scalar_log1p(x):
    return math.log1p(abs(x))


# --- mpmath, from the definitions -----------------------------------------------------------------


class Exact:
    """The law at 60 digits: the density is a b^level and everything else is its integral."""

    def __init__(self, law):
        self.eps, self.width = mp.mpf(float(law.epsilon)), mp.mpf(float(law.sensitivity))
        self.gamma = mp.mpf(float(law.gamma) or 1.0)
        self.b = mp.exp(-self.eps)
        self.q = self.b / (1 - self.b)
        self.peak = 1 / (2 * self.width * (self.gamma + self.q))

    def level(self, r):
        return max(mp.floor(r / self.width - self.gamma) + 1, 0)

    def pdf(self, x):
        return self.peak * self.b ** self.level(abs(x))

    def tail(self, r):
        """What is left of the step that r lies on, and all the steps below it."""
        k = self.level(r)
        left = (k + self.gamma) * self.width - r
        return 2 * self.peak * (self.b**k * left + self.width * self.b ** (k + 1) / (1 - self.b))

    def cdf(self, x):
        return self.tail(-x) / 2 if x < 0 else 1 - self.tail(x) / 2

    def radius(self, w):
        k = max(int(mp.floor(-mp.log(w) / self.eps)) - 1, 0)
        while self.tail((k + self.gamma) * self.width) > w:
            k += 1
        edge = (k + self.gamma) * self.width
        return edge - (w - self.tail(edge)) / (2 * self.peak * self.b**k)

    def moment(self, m):
        """A mixture of uniform laws: E|X|^m = D^m S_{m+1} / ((m+1) S_1)."""
        n = mp.mpf(m) + 1
        return self.width ** mp.mpf(m) * self.power_sum(n) / (n * self.power_sum(1))

    def power_sum(self, n):
        """sum_k b^k (k+gamma)^n; a series in epsilon with Hurwitz zetas where it converges fast."""
        if self.eps > 0.5:
            stop = int((150 + 12 * n) / self.eps) + 2
            return mp.fsum(self.b**k * (k + self.gamma) ** n for k in range(stop))
        series = mp.fsum(
            mp.zeta(-n - j, self.gamma) * (-self.eps) ** j / mp.factorial(j)
            for j in range(30 if self.eps > 0.01 else 8)
        )
        return mp.exp(self.gamma * self.eps) * (mp.gamma(n + 1) / self.eps ** (n + 1) + series)

    def growth(self, m):
        """The sign of dV/dgamma for the cost |x|^m."""
        sums = [self.power_sum(mp.mpf(n)) for n in (0, 1, m, m + 1)]
        return (m + 1) * sums[2] * sums[1] - sums[3] * sums[0]


def probes(law):
    """Points on the first steps, in the bulk and in the tail, at and beside the edges."""
    rng = np.random.default_rng(20)
    d, edge = law.sensitivity, (law.gamma or 1.0) * law.sensitivity
    bulk, far = rng.exponential(d / law.epsilon, 4), rng.uniform(0.0, 650.0, 4) * d / law.epsilon
    beside = [0.4 * edge, edge * (1 - 1e-9), edge, edge * (1 + 1e-9), d, d + edge, 3.0 * d]
    beside.append(1e-12 * d)
    x = np.concatenate([rng.uniform(0.0, 3.0 * d, 4), bulk, far, beside])
    return np.concatenate([x, -x])


@pytest.mark.parametrize("sensitivity", [1.0, 0.3])
@pytest.mark.parametrize(("epsilon", "gamma"), GRID)
def test_staircase__density_and_tails_against_mpmath(epsilon, gamma, sensitivity):
    law = law_of(epsilon, gamma, sensitivity)
    exact, x = Exact(law), probes(law)
    for point, pdf, cdf, sf, logpdf in zip(
        x.tolist(), law.pdf(x), law.cdf(x), law.sf(x), law.logpdf(x), strict=True
    ):
        assert relative_error(pdf, exact.pdf(mp.mpf(point))) < 1e-14
        assert relative_error(cdf, exact.cdf(mp.mpf(point))) < 1e-14
        assert relative_error(sf, exact.cdf(-mp.mpf(point))) < 1e-14
        assert abs(logpdf - mp.log(exact.pdf(mp.mpf(point)))) < 1e-14 * (1.0 + abs(logpdf))


@pytest.mark.parametrize("sensitivity", [1.0, 0.3])
@pytest.mark.parametrize(("epsilon", "gamma"), [*GRID, (1.0, 1e-9), (5.0, 1e-9)])
def test_staircase__quantiles_against_mpmath(epsilon, gamma, sensitivity):
    law = law_of(epsilon, gamma, sensitivity)
    exact = Exact(law)
    rng = np.random.default_rng(21)
    p = np.concatenate([rng.uniform(0, 0.5, 6), 10 ** rng.uniform(-290, -1, 6), [0.499999, 0.4999]])
    for tail, lower, upper in zip(p.tolist(), law.ppf(p), law.isf(p), strict=True):
        radius = exact.radius(2 * mp.mpf(tail))
        # one ulp of p, or of 1/2 - p where that is smaller, moves x by so many of its own
        condition = float(min(tail, 0.5 - tail) / (radius * exact.pdf(radius)))
        allowed = 1e-14 + 4.0 * ULP * condition
        assert relative_error(-lower, radius) < allowed
        assert relative_error(upper, radius) < allowed


@pytest.mark.parametrize(("epsilon", "gamma"), [*GRID, (0.009, 0.3), (0.011, 0.3)])
def test_staircase__moments_against_mpmath(epsilon, gamma):
    law = law_of(epsilon, gamma, 0.3)
    exact = Exact(law)
    for m in (1, 2, 3, 7):
        assert relative_error(law.moment(m), exact.moment(m)) < 2 * ULP
    for m in (0.5, 1.5, 6.25):
        assert relative_error(law.moment(m), exact.moment(m)) < 2e-14


@pytest.mark.parametrize("m", [1, 2, 3, 4, 10, 30])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_staircase__best_gamma_is_right_to_the_last_bits(epsilon, m):
    gamma = optimal_gamma(epsilon, 1.0, m)
    with mp.workdps(90):
        below = Exact(fn.Staircase(epsilon, gamma=gamma * (1.0 - ULP)))
        above = Exact(fn.Staircase(epsilon, gamma=gamma * (1.0 + ULP)))
        assert below.growth(m) < 0 < above.growth(m)


@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.9, 0.95, 0.999999])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_staircase__interval_gamma_against_mpmath(epsilon, confidence):
    gamma = optimal_gamma(epsilon, 1.0, ("interval", confidence))
    w, eps = 1 - mp.mpf(repr(confidence)), mp.mpf(epsilon)
    v = w * mp.exp(mp.floor(-mp.log(w) / eps) * eps)
    assert relative_error(gamma, (1 / v - 1) / mp.expm1(eps)) < ULP


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_staircase__rules_of_thumb_against_mpmath(epsilon):
    eps = mp.mpf(epsilon)
    assert relative_error(heuristic_gamma(epsilon), mp.exp(-eps) / 2) < ULP
    assert relative_error(dominating_gamma(epsilon), 1 / eps - 1 / mp.expm1(eps)) < ULP


# --- what the theorems say ------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [*EPSILONS, 1e-3, 0.3, 30.0, 1000.0])
def test_staircase__gamma_zero_is_gamma_one(epsilon):
    zero, one = law_of(epsilon, 0.0, 0.7), law_of(epsilon, 1.0, 0.7)
    x, p = probes(one), np.linspace(0.0, 1.0, 21)
    for name in ("pdf", "logpdf", "cdf", "sf"):
        np.testing.assert_array_equal(getattr(zero, name)(x), getattr(one, name)(x))
    for name in ("ppf", "isf", "tradeoff", "interval"):
        np.testing.assert_array_equal(getattr(zero, name)(p), getattr(one, name)(p))
    assert [zero.moment(m) for m in (1, 2, 2.5)] == [one.moment(m) for m in (1, 2, 2.5)]
    assert zero.delta_at(0.5 * epsilon) == one.delta_at(0.5 * epsilon)
    other = law_of(epsilon, 0.5, 0.7)
    assert not np.allclose(other.pdf(x), one.pdf(x), rtol=1e-9, atol=0.0)


@pytest.mark.parametrize(("epsilon", "gamma"), GRID)
def test_staircase__quantile_inverts_cdf(epsilon, gamma):
    law = law_of(epsilon, gamma, 2.5)
    x = -np.random.default_rng(5).exponential(2.5 / epsilon, 50)
    # rounding of cdf(x) is worth ULP * cdf / pdf of x
    allowed = 1e-13 * np.abs(x) + 4.0 * ULP * law.cdf(x) / law.pdf(x)
    assert np.all(np.abs(law.ppf(law.cdf(x)) - x) <= allowed)
    assert np.all(np.abs(law.isf(law.sf(-x)) + x) <= allowed)


@pytest.mark.parametrize(("epsilon", "gamma"), GRID)
def test_staircase__is_symmetric(epsilon, gamma):
    law = law_of(epsilon, gamma, 2.5)
    x = probes(law)
    np.testing.assert_allclose(law.cdf(x) + law.cdf(-x), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(law.sf(x), law.cdf(-x))
    np.testing.assert_array_equal(law.pdf(x), law.pdf(-x))
    assert law.support() == (-math.inf, math.inf)
    check_moments(law)


@pytest.mark.parametrize(("epsilon", "gamma"), GRID)
def test_staircase__mass_beyond_k_sensitivities_is_free_of_gamma(epsilon, gamma):
    law = law_of(epsilon, gamma, 0.75)
    k = np.arange(8.0)
    np.testing.assert_allclose(2.0 * law.sf(k * 0.75), np.exp(-k * epsilon), rtol=1e-14)


@pytest.mark.parametrize("m", [1, 2, 3, 6])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_staircase__cost_at_the_optimum_is_a_geometric_moment(epsilon, m):
    """V* = D^m M_m(gamma*), M_m = (1-b) S_m, and it is the least over gamma."""
    best = fn.Staircase(epsilon, 3.0, cost=m)
    exact = Exact(best)
    assert relative_error(best.moment(m), 3**m * (1 - exact.b) * exact.power_sum(mp.mpf(m))) < 1e-14
    for gamma in (0.5 * best.gamma, 0.9 * best.gamma, 1.1 * best.gamma, 0.7, 1.0):
        assert best.moment(m) <= law_of(epsilon, gamma, 3.0).moment(m)


@pytest.mark.parametrize("gamma", [0.0, 0.1, "l1", 0.5, 0.8, 1.0])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_staircase__density_ratio_within_epsilon(epsilon, gamma):
    sensitivity = 0.75
    law = law_of(epsilon, gamma, sensitivity)
    rng = np.random.default_rng(9)
    edges = (np.arange(4) + law.gamma) * sensitivity
    edges = np.concatenate([np.nextafter(edges, 0.0), edges, np.nextafter(edges, 9.0)])
    points = np.concatenate([edges, -edges, rng.integers(-400, 400, 60) / 128.0])
    x = np.repeat(points, 63)
    shift = rng.integers(-96, 97, x.size) / 128.0
    shift[::3] = rng.choice([-sensitivity, sensitivity], shift[::3].size)
    y = x + shift
    # the sum rounds: keep the pairs that are neighbours exactly
    exact = [abs(Fraction(u) - Fraction(v)) <= sensitivity for u, v in zip(x, y, strict=True)]
    x, y = x[exact], y[exact]
    assert len(x) > 3000
    assert np.all(law.pdf(x) <= math.exp(epsilon) * law.pdf(y) * (1.0 + 1e-12))
    assert np.max(law.logpdf(x) - law.logpdf(y)) == near(epsilon, 1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 3.0, 10.0, 50.0])
def test_staircase__dominating_gamma_beats_laplace(epsilon):
    law = fn.Staircase(epsilon, 2.0, gamma="dominating")
    scale = 2.0 / epsilon
    r = np.concatenate([np.linspace(0.0, 8.0, 500), scale * np.linspace(0.0, 30.0, 500)])
    assert np.all(2.0 * law.sf(r) <= np.exp(-r / scale) * (1.0 + 1e-12))
    for m in (1, 2, 5, 1.5):
        assert law.moment(m) <= scale**m * math.gamma(m + 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_staircase__dominating_gamma_beats_laplace_for_a_callable(epsilon):
    law = fn.Staircase(epsilon, 2.0, gamma="dominating")
    laplace = mp.quad(lambda z: mp.log1p(2 * z / epsilon) * mp.exp(-z), [0, 1, 10, 200])
    assert law.expected_cost(np.log1p) < float(laplace)


@pytest.mark.parametrize("m", [1, 2, 3, 10])
def test_staircase__small_epsilon(m):
    expected = 0.5 - (1.25e-9 if m == 1 else 1e-8 / 12.0)
    assert optimal_gamma(1e-8, 1.0, m) == near(expected, 1e-15)


def test_staircase__large_epsilon():
    assert optimal_gamma(100.0, 1.0, "l1") == near(math.exp(-50.0), 1e-14)
    assert optimal_gamma(100.0, 1.0, "l2") == near(math.exp(-100 / 3) / 2 ** (1 / 3), 1e-13)
    # never 0, which is gamma 1: E|X| would jump from nothing to half a sensitivity
    assert 0.0 < optimal_gamma(1e6, 1.0, "l1") < 1e-300
    assert 0.0 < heuristic_gamma(1e6) < 1e-300


def test_staircase__gamma_does_not_depend_on_the_machine():
    """Pinned bits, also under a user's own decimal context."""
    with decimal.localcontext(prec=3, rounding=decimal.ROUND_UP):
        assert optimal_gamma(1.0, 1.0, "l1").hex() == "0x1.829a0565978dfp-2"
        assert optimal_gamma(1.0, 1.0, "l2").hex() == "0x1.aabd37d82766dp-2"
        assert optimal_gamma(0.1, 1.0, 5).hex() == "0x1.f777d4a13a2f7p-2"
        assert optimal_gamma(1.0, 1.0, ("interval", 0.95)).hex() == "0x1.fc8cf5db7f12dp-1"
        assert dominating_gamma(1.0).hex() == "0x1.ac0e4c53d9905p-2"


# --- callable costs -------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.001, 0.03, 1.0, 7.0, 40.0, 100.0])
def test_staircase__callable_agrees_with_the_power(epsilon, m):
    gamma = optimal_gamma(epsilon, 0.3, lambda x: np.abs(x) ** m)
    assert abs(gamma - optimal_gamma(epsilon, 0.3, m)) < 1e-10
    assert gamma == near(optimal_gamma(epsilon, 0.3, m), 1e-8)
    law = law_of(epsilon, gamma, 0.3)
    assert law.expected_cost(lambda x: np.abs(x) ** m) == near(law.moment(m), 1e-12)


@pytest.mark.parametrize(("epsilon", "gamma"), [(0.01, 0.5), (1.0, 0.2), (100.0, "l1")])
def test_staircase__callable_agrees_with_a_real_power(epsilon, gamma):
    law = law_of(epsilon, gamma, 3.0)
    for m in (0.5, 1.5):
        assert law.expected_cost(lambda x, m=m: abs(x) ** m) == near(law.moment(m), 1e-12)


def test_staircase__scalar_and_array_callables_agree():
    scalar = optimal_gamma(0.2, 2.0, scalar_log1p)
    assert scalar == pytest.approx(optimal_gamma(0.2, 2.0, np.log1p), abs=1e-11)
    shifted = optimal_gamma(0.2, 2.0, lambda x: np.log1p(np.abs(x)) - 3.0)
    assert scalar == pytest.approx(shifted, abs=1e-9)
    law = law_of(0.2, scalar, 2.0)
    expected = law.expected_cost(scalar_log1p)
    assert law.expected_cost(np.log1p) == near(expected, 1e-14)
    assert law.expected_cost(lambda x: np.log1p(x) - 3.0) == near(expected - 3.0, 1e-13)


@pytest.mark.parametrize(("epsilon", "threshold"), [(0.01, 12.34), (1.0, 2.3), (10.0, 0.07)])
def test_staircase__jump_of_a_cost_is_found(epsilon, threshold):
    """P(|X| > r) is least where an edge of the staircase is at r."""
    gamma = optimal_gamma(epsilon, 1.0, lambda x: np.abs(x) > threshold)
    assert gamma == pytest.approx(threshold % 1.0, abs=1e-9)
    law = law_of(epsilon, 0.4)
    expected = law.expected_cost(lambda x: float(abs(x) > threshold))
    assert expected == near(2.0 * law.sf(threshold), 1e-12)


def test_staircase__cost_that_starts_far_out():
    law = law_of(1.0, 0.4)
    dead = law.expected_cost(lambda x: max(0.0, abs(x) - 100.0))
    assert dead == near(math.exp(-100.0) * law.moment(1), 1e-12)
    assert law.expected_cost(lambda x: 7.0) == 7.0


def test_staircase__callable_needs_a_moderate_epsilon():
    with pytest.raises(ValueError, match=r"epsilon must be .*0\.001.*cost, not 0\.0005: .*gamma"):
        optimal_gamma(0.0005, 1.0, abs)
    with pytest.raises(ValueError, match=r"epsilon must be .*0\.001.*cost, not 0\.0005: .*moment"):
        law_of(0.0005, 0.5).expected_cost(abs)


# --- the attacker ---------------------------------------------------------------------------------


def cells(law, shift):
    """Masses of X and of X + shift on intervals where both densities are constant."""
    count = math.ceil(45.0 / law.epsilon) + 2
    edges = (np.arange(count) + (law.gamma or 1.0)) * law.sensitivity
    edges = np.concatenate([-edges[::-1], edges])
    cuts = np.unique(np.concatenate([edges, edges + shift]))
    middle, width = 0.5 * (cuts[1:] + cuts[:-1]), np.diff(cuts)
    return law.pdf(middle) * width, law.pdf(middle - shift) * width


@pytest.mark.parametrize("gamma", [0.0, 0.1, "l1", 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 12.0])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_staircase__tradeoff_is_neyman_pearson(epsilon, gamma, share):
    law = law_of(epsilon, gamma, 2.0)
    here, there = cells(law, 2.0 * share)
    x = np.linspace(0.0, 0.999, 40)
    missed = least_missed(here, there, x)
    np.testing.assert_allclose(law.tradeoff(x, shift=2.0 * share), missed, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.0, 0.1, "l1", 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 12.0])
def test_staircase__delta_is_the_integral_of_the_excess(epsilon, gamma):
    law = law_of(epsilon, gamma, 2.0)
    here, there = cells(law, 2.0)
    asked = epsilon * np.array([0.0, 0.2, 0.7, 1.0, 1.5])
    excess = [np.sum(np.maximum(0.0, here - math.exp(e) * there)) for e in asked]
    np.testing.assert_allclose(law.delta_at(asked), excess, atol=1e-12)
    assert np.all(law.delta_at([epsilon, 2.0 * epsilon, math.inf]) == 0.0)


@pytest.mark.parametrize(("epsilon", "gamma"), GRID)
def test_staircase__tradeoff_shape(epsilon, gamma):
    law = law_of(epsilon, gamma, 2.0)
    x = np.linspace(0.0, 1.0, 501)
    curve, region = check_curve(law, x, 1e-15), pure_region(epsilon, x)
    assert np.all(curve >= region - 2.0 * ULP)
    np.testing.assert_allclose(law_of(epsilon, 0.5, 2.0).tradeoff(x), region, atol=2.0 * ULP)
    np.testing.assert_array_equal(law.tradeoff(x, shift=0.0), 1.0 - x)


# --- intervals and jumps --------------------------------------------------------------------------


def test_staircase__interval_holds_its_probability():
    law = law_of(0.3, "l2", 5.0)
    confidence = np.array([1e-9, 0.2, 0.5, 0.95, 1.0 - 1e-9])
    low, high = law.interval(confidence)
    np.testing.assert_array_equal(low, -high)
    np.testing.assert_allclose(2.0 * law.sf(high), 1.0 - confidence, rtol=1e-13)
    # in the centre the density is flat, so a small interval is as long as its mass says
    assert high[0] == near(0.5e-9 / law.pdf(0.0), 1e-14)


@pytest.mark.parametrize("edge", [3.499, 3.4999, 2.501, 0.5005])
def test_staircase__jump_near_the_end_of_a_step_is_found(edge):
    law = fn.Staircase(1.0, gamma=0.5)
    assert law.expected_cost(lambda x: np.abs(x) > edge) == near(2.0 * float(law.sf(edge)), 1e-11)
