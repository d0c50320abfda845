"""Is the ideal box staircase law right: density, variances, confidence regions, guarantee?

Against mpmath from the definitions, and against that of a norm.
"""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from reference import digits, near, relative_error

import fastnoise as fn
from fastnoise.design.radial_gamma import LARGEST_DIM

ULP = 2.0**-52
EPSILONS = (1e-8, 1e-3, 0.3, 1.0, 5.0, 20.0, 100.0)
BOXES = [  # widths, core
    ((2.0,), (0.3,)),
    ((1.0, 10.0), (0.1, 1.0)),
    ((1.0, 3.0, 0.2), (0.5, 1.0, 0.0)),
    ((1.0, 3.0, 0.2), (0.0, 0.0, 0.0)),
    ((1e-30, 1e30), (5e-30, 3e28)),
    (tuple(np.linspace(0.1, 2.0, 20)), tuple(np.linspace(3.0, 0.01, 20))),
]
GRID = list(itertools.product(EPSILONS, BOXES))
in_digits = digits(60)


# --- mpmath, from the definitions -----------------------------------------------------------------


class Exact:
    """The layers in 60 digits: box k has half-widths z + k s and weight b^k volume."""

    def __init__(self, law):
        self.b = mp.exp(-mp.mpf(law.epsilon))
        self.s, self.z = ([mp.mpf(x) for x in part] for part in (law.widths, law.core))
        q = self.b / (1 - self.b)
        self.powers = [mp.mpf(1)]  # E G^j
        for i in range(1, law.dim + 3):
            self.powers.append(q * mp.fsum(math.comb(i, j) * self.powers[j] for j in range(i)))
        self.everyone = list(range(law.dim))
        self.total = self.mean(self.everyone)

    def volume(self, t):
        return mp.fprod(z + t * s for z, s in zip(self.z, self.s, strict=True))

    def mean(self, coordinates, k=0):
        """E of the product of z_i + (k+G) s_i over coordinates."""
        poly = [mp.mpf(1)]
        for i in coordinates:
            constant = self.z[i] + k * self.s[i]
            pairs = zip([*poly, 0], [0, *poly], strict=True)
            poly = [constant * low + self.s[i] * high for low, high in pairs]
        return mp.fdot(poly, self.powers[: len(poly)])

    def moment(self, i, m):
        return self.mean([*self.everyone, *[i] * m]) / self.total / (m + 1)

    def tail(self, beta):
        k = max(mp.ceil(beta), 0)
        return self.b**k * (self.mean(self.everyone, k) - self.volume(beta)) / self.total

    def marginal(self, i, x):
        k = max(mp.floor((abs(mp.mpf(x)) - self.z[i]) / self.s[i]) + 1, 0)
        others = [j for j in self.everyone if j != i]
        return self.b**k * self.mean(others, k) / (2 * self.total)


@pytest.mark.parametrize(("epsilon", "box"), GRID)
def test_box_staircase__moments_against_mpmath(epsilon, box):
    law = fn.BoxStaircase(epsilon, box[0], core=box[1])
    exact = Exact(law)
    variances = [exact.moment(i, 2) for i in range(law.dim)]
    for got, variance in zip(law.marginal_var(), variances, strict=True):
        assert relative_error(got, variance) < 1e-14
    assert relative_error(law.mse(), mp.fsum(variances)) < 1e-14
    assert law.expected_cost("l2") == law.mse()
    absolute = mp.fsum(exact.moment(i, 1) for i in range(law.dim))
    assert relative_error(law.expected_cost("l1"), absolute) < 1e-14


@pytest.mark.parametrize(("epsilon", "box"), GRID)
def test_box_staircase__density_against_mpmath(epsilon, box):
    law = fn.BoxStaircase(epsilon, box[0], core=box[1])
    exact, rng = Exact(law), np.random.default_rng(1)
    sizes = np.array([[0.0], [0.3], [2.0], [7.0], [300.0]])
    v = sizes * rng.uniform(-1, 1, (5, law.dim)) * np.array(law.widths)
    for point, got in zip(v.tolist(), law.logpdf(v), strict=True):
        triples = zip(map(mp.mpf, point), exact.z, exact.s, strict=True)
        level = max(max(mp.floor((abs(x) - z) / s) + 1, 0) for x, z, s in triples)
        peak = -law.dim * mp.log(2) - mp.log(exact.total)
        assert float(abs(got - (peak - level * mp.mpf(epsilon)))) < 1e-14 * (law.dim + abs(got))
    for i in {0, law.dim - 1}:
        x = np.concatenate([v[:, i], [law.core[i] * 0.99, law.widths[i] * 30.0 / epsilon]])
        for point, got in zip(x.tolist(), law.marginal_pdf(i, x), strict=True):
            density = exact.marginal(i, point)
            assert density < mp.mpf("1e-290") or relative_error(got, density) < 3e-13


@pytest.mark.parametrize(("epsilon", "box"), GRID)
def test_box_staircase__confidence_region_against_mpmath(epsilon, box):
    law = fn.BoxStaircase(epsilon, box[0], core=box[1])
    for confidence in (1e-12, 0.01, 0.5, 0.9, 1.0 - 2.0**-30):
        region = law.confidence_region(confidence)
        with mp.workdps(400 if law.dim > 5 else 100):
            exact, half = Exact(law), [mp.mpf(float(x)) for x in region.half_widths]
            # beta from the coordinate that is narrowest, where it is sharpest
            i = int(np.argmin(region.half_widths / np.array(law.widths)))
            slack = 1e-12 * half[i] + 1e-16 * exact.z[i]  # z / s is rounded
            below, above = (
                exact.tail((half[i] + sign * slack - exact.z[i]) / exact.s[i]) for sign in (-1, 1)
            )
            assert above <= 1 - mp.mpf(confidence) <= below
            assert relative_error(region.volume, mp.fprod(2 * x for x in half)) < 1e-13
        for width, core, got in zip(law.widths, law.core, region.half_widths, strict=True):
            assert got == pytest.approx(core + region.beta * width, rel=1e-9, abs=1e-14 * core)


@pytest.mark.parametrize(("epsilon", "box"), GRID[12:])
def test_box_staircase__layers_add_up(epsilon, box):
    law = fn.BoxStaircase(epsilon, box[0], core=box[1])
    k = np.arange(2000)
    weights = law.layer_pmf(k)
    assert weights.sum() == near(1.0, 1e-13)
    half = np.array(law.core) + k[:, None] * np.array(law.widths)
    np.testing.assert_allclose(weights @ half**2 / 3.0, law.marginal_var(), rtol=1e-12)
    assert (weights[0] == 0.0) == (0.0 in law.core)


# --- what the theorems say ------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_box_staircase__one_coordinate_is_staircase(epsilon):
    box, line = fn.BoxStaircase(epsilon, [0.5]), fn.Staircase(epsilon, 0.5, cost="l2")
    assert box.core[0] == line.gamma * 0.5
    x = np.array([0.0, 0.1, 0.6, 3.3])
    np.testing.assert_allclose(box.logpdf(x[:, None]), line.logpdf(x), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(box.marginal_pdf(0, x), line.pdf(x), rtol=1e-12)
    assert box.mse() == near(line.var(), 1e-14)
    np.testing.assert_allclose(box.confidence_region(0.6).half_widths, line.interval(0.6)[1])


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("epsilon", [1.0, 5.0, 20.0])
def test_box_staircase__default_core_has_least_relative_variance(epsilon, dim):
    widths = np.linspace(1.0, 3.0, dim)

    def cost(core):
        return np.sum(fn.BoxStaircase(epsilon, widths, core=core).marginal_var() / widths**2)

    best = cost(None)
    for gamma in np.linspace(0.0, 1.0, 30):
        assert best <= cost(gamma * widths) * (1.0 + 1e-14)


@pytest.mark.parametrize("box", BOXES, ids=str)
def test_box_staircase__marginals_integrate_to_one(box):
    law = fn.BoxStaircase(0.8, box[0], core=box[1])
    for i in range(law.dim):
        z, s = law.core[i], law.widths[i]
        edges = np.append(0.0, z + s * np.arange(400))
        mass = 2.0 * law.marginal_pdf(i, 0.5 * (edges[1:] + edges[:-1])) * np.diff(edges)
        assert mass.sum() == near(1.0, 1e-12)


@pytest.mark.parametrize("box", BOXES, ids=str)
def test_box_staircase__density_falls_by_at_most_epsilon(box):
    law = fn.BoxStaircase(0.5, box[0], core=box[1])
    rng = np.random.default_rng(4)
    v, t = rng.uniform(-4, 4, (2000, law.dim)), rng.uniform(-1, 1, (2000, law.dim))
    t[::2] = np.sign(t[::2]) * (1.0 - 1e-12)
    v, t = v * law.widths, t * law.widths
    loss = np.abs(law.logpdf(v) - law.logpdf(v + t))
    assert loss.max() == near(0.5, 1e-12)


# --- manners --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-300, 1e-8, 1.0, 1e4])
@pytest.mark.parametrize("core", [None, (0.0, 1e-200), (1e-300, 5e-201)])
def test_box_staircase__extremes_raise_nothing(epsilon, core):
    law = fn.BoxStaircase(epsilon, (1e-200, 1e-200), core=core)
    with np.errstate(all="raise"):
        assert np.isnan(law.marginal_pdf(0, np.nan))
        assert law.marginal_pdf(0, np.inf) == 0.0
        assert not np.isnan(law.marginal_pdf(0, [0.0, 1e300, 1e-200])).any()
        for confidence in (0.0, 1e-300, 0.5, 1.0):
            region = law.confidence_region(confidence)
            assert not np.isnan([*region.half_widths, region.beta, region.volume]).any()


def test_box_staircase__confidence_at_the_ends():
    law = fn.BoxStaircase(1.0, (1.0, 10.0), core=(0.1, 2.0))
    nothing, all_of_it = law.confidence_region(0.0), law.confidence_region(1.0)
    np.testing.assert_allclose(nothing.half_widths, [0.0, 1.0], atol=1e-15)
    assert (nothing.beta, nothing.volume) == (-0.1, 0.0)
    np.testing.assert_array_equal(all_of_it.half_widths, [np.inf, np.inf])


def test_box_staircase__shapes():
    law = fn.BoxStaircase(1.0, np.array([1.0, 2.0, 3.0]))
    assert law.dim == 3
    assert law.marginal_var().shape == law.confidence_region(0.5).half_widths.shape == (3,)


def test_box_staircase__parameters():
    mechanism = fn.BoxStaircase(0.5, np.array([1, 2]), core=[0, 1])
    assert repr(mechanism) == "BoxStaircase(epsilon=0.5, widths=(1.0, 2.0), core=(0.0, 1.0))"
    privacy = mechanism.privacy
    assert (mechanism.delta, mechanism.sensitivity) == (0.0, 1.0)
    assert (privacy.adjacency, privacy.sensitivity, privacy.lipschitz) == ("box", 1.0, None)
    assert privacy.at(1.5) == 1.0
    assert fn.BoxStaircase(1.0, [1.0] * LARGEST_DIM).dim == LARGEST_DIM
    assert fn.BoxStaircase(1.0, (1.0,), core=(-0.0,)) == fn.BoxStaircase(1.0, (1.0,), core=(0.0,))
    assert "-0.0" not in repr(fn.BoxStaircase(1.0, (1.0,), core=(-0.0,)))


BAD_WIDTHS = [
    (1.0, TypeError, r"a sequence.*not 1\.0"),
    ("12", TypeError, "a sequence.*not '12'"),
    (np.ones((2, 2)), TypeError, "a sequence"),
    ((), ValueError, r"1 to 128.*not \(\)"),
    ([1.0] * 129, ValueError, "1 to 128"),
    ((1.0, 0.0), ValueError, r".*not 0\.0"),
    ((1.0, -2.0), ValueError, r".*not -2\.0"),
    ((1.0, math.inf), ValueError, ".*not inf"),
    ((1.0, "2"), TypeError, ".*not '2'"),
]
BAD_CORES = [
    ((0.1, 0.2), ValueError, "1 number"),
    *[((bad,), ValueError, "") for bad in (-0.1, math.nan, math.inf, 1e17)],
    (("1",), TypeError, ""),
    (0.5, TypeError, "a sequence"),
]


@pytest.mark.parametrize(("widths", "error", "words"), BAD_WIDTHS, ids=str)
def test_box_staircase__bad_widths_are_named(widths, error, words):
    with pytest.raises(error, match=f"widths must be {words}"):
        fn.BoxStaircase(1.0, widths)


@pytest.mark.parametrize(("core", "error", "words"), BAD_CORES, ids=str)
def test_box_staircase__bad_cores_are_named(core, error, words):
    with pytest.raises(error, match=f"core must be {words}"):
        fn.BoxStaircase(1.0, (1.0,), core=core)


@pytest.mark.parametrize(
    ("method", "arguments", "error", "words"),
    [
        ("marginal_pdf", (1, 0.0), ValueError, "i must be .*not 1"),
        ("confidence_region", (95,), ValueError, "confidence must"),
        ("expected_cost", (2,), TypeError, "cost must be .*not 2"),
        ("expected_cost", (abs,), TypeError, "cost must be"),
    ],
)
def test_box_staircase__bad_argument_is_named(method, arguments, error, words):
    with pytest.raises(error, match=words):
        getattr(fn.BoxStaircase(1.0, (1.0,)), method)(*arguments)
