"""Does every law of vectors keep the manners that all of them share?

Whatever is registered is asked. What a law alone has, its formulas above all, is in its own file.
"""

import functools
import math

import numpy as np
import pytest
from law_cases import law_name, once
from mechanisms import VECTORS
from reference import BAD_COSTS

import fastnoise as fn
from fastnoise.registry import REGISTRY

ULP = 2.0**-52
EXAMPLES = [law for e in REGISTRY.values() if e.takes == "vectors" for law in e.build()]
SMALL = [
    *(fn.L2Laplace(1.0, 2), fn.L2Laplace(1.0, 3), fn.MultiUserLaplace(1.0, 2)),
    *(fn.L1Staircase(1.0, 2), fn.L1Staircase(1.0, 3)),
    *(fn.BoxStaircase(1.0, widths) for widths in [(1.0,), (1.0, 2.0), (1.0, 2.0, 3.0)]),
]
EVERY_LAW = once([*EXAMPLES, *VECTORS, *SMALL])
EXTREME = [
    *(
        fn.L1Staircase(epsilon, dim, width, gamma=gamma)
        for epsilon in (1e-300, 1e-8, 1.0, 100.0, 1e4)
        for dim, width in [(1, 1e200), (2, 1e-200), (5, 1.0)]
        for gamma in (0.0, 1e-30, 0.4)
    ),
    *(
        fn.BoxStaircase(epsilon, (1e-200, 1e-200), core=core)
        for epsilon in (1e-300, 1e-8, 1.0, 1e4)
        for core in (None, (0.0, 1e-200), (1e-300, 5e-201))
    ),
    *(
        fn.L2Laplace(epsilon, dim, width)
        for epsilon in (1e-300, 1e-8, 1.0, 1e4)
        for dim, width in [(1, 1e200), (2, 1e-200), (5, 1.0)]
    ),
    *(law for e in REGISTRY.values() if e.takes == "vectors" for law in e.build_extremes()),
]

every_law = pytest.mark.parametrize("law", EVERY_LAW, ids=law_name)
any_law = pytest.mark.parametrize("law", once([*EVERY_LAW, *EXTREME]), ids=law_name)


def users(law):
    """What its costs and its radius ask for besides: how many rows."""
    return (1,) if isinstance(law, fn.MultiUserLaplace) else ()


def point(law, value):
    """The vector, or the table of one user, that is value everywhere."""
    return np.full((*users(law), law.dim), value)


def radius_of(law):
    """The law of a norm, if it has one: boxes have no norm."""
    radius = getattr(law, "radius", None)
    return radius(*users(law)) if users(law) else radius


RADII = {law_name(law): radius_of(law) for law in once([*EVERY_LAW, *EXTREME])}
RADII = {name: radius for name, radius in RADII.items() if radius is not None}
every_radius = pytest.mark.parametrize("radius", RADII.values(), ids=RADII)


# --- arguments and results ------------------------------------------------------------------------


@every_law
def test_vector_law__shapes(law):
    origin = point(law, 0.5)
    assert type(law.logpdf(origin)) is np.float64
    assert law.logpdf(origin.tolist()) == law.logpdf(origin)
    assert law.logpdf(np.zeros((4, 0, *origin.shape))).shape == (4, 0)
    assert law.logpdf(np.stack([origin] * 3)).tolist() == [law.logpdf(origin)] * 3
    layers = [law.layer_pmf] if hasattr(law, "layer_pmf") else []
    marginals = (
        [functools.partial(law.marginal_pdf, i) for i in range(law.dim)]
        if hasattr(law, "marginal_pdf")
        else []
    )
    for method in (*layers, *marginals):
        assert type(method(0.25)) is type(method(1)) is np.float64
        assert method([[0.25, 0.5]]).shape == (1, 2)
        assert method(np.zeros((0, 3))).shape == (0, 3)


@every_radius
def test_vector_law__shapes_of_the_radius(radius):
    for method in (radius.cdf, radius.sf, radius.ppf, radius.isf):
        assert type(method(0.25)) is np.float64
        assert method([[0.25, 0.5]]).shape == (1, 2)
        assert method(np.zeros((0, 3))).shape == (0, 3)


@any_law
def test_vector_law__extremes_raise_nothing(law):
    with np.errstate(all="raise"):
        assert np.isnan(law.logpdf(point(law, np.nan)))
        assert law.logpdf(point(law, np.inf)) == -np.inf
        for bad, density in ((np.nan, np.nan), (np.inf, -np.inf)):
            one = point(law, 0.0)
            one[..., 0] = bad
            np.testing.assert_equal(law.logpdf(one), density)
            one[..., 0] = 1e300
            assert not np.isnan(law.logpdf(one))
        assert not np.isnan([law.mse(*users(law)), law.expected_cost("l1", *users(law))]).any()


@every_radius
def test_vector_law__extremes_of_the_radius_raise_nothing(radius):
    x = np.array([-np.inf, -1.0, 0.0, 5e-324, 1.0, 1e300, np.inf, np.nan])
    p = np.array([0.0, 5e-324, 0.3, 0.5, 1.0 - ULP, 1.0, -0.1, 1.1, np.nan])
    with np.errstate(all="raise"):
        for name in ("cdf", "sf"):
            values = getattr(radius, name)(x)
            assert np.array_equal(np.isnan(values), np.isnan(x)), name
            assert np.all((values[:-1] >= 0.0) & (values[:-1] <= 1.0)), name
        for name in ("ppf", "isf"):
            values = getattr(radius, name)(p)
            assert np.array_equal(np.isnan(values), [False] * 6 + [True] * 3), name
        assert not np.isnan(radius.moment(7))


@every_radius
def test_vector_law__values_at_the_ends_of_the_radius(radius):
    with np.errstate(all="raise"):
        ends = [-np.inf, -1.0, 0.0, np.inf]
        np.testing.assert_array_equal(radius.cdf(ends), [0.0, 0.0, 0.0, 1.0])
        np.testing.assert_array_equal(radius.sf(ends), [1.0, 1.0, 1.0, 0.0])
        np.testing.assert_array_equal(radius.ppf([0.0, 1.0]), [0.0, np.inf])
        np.testing.assert_array_equal(radius.isf([0.0, 1.0]), [np.inf, 0.0])
        assert radius.moment(0) == 1.0


@every_law
def test_vector_law__costs(law):
    square = law.mse(*users(law))
    assert law.expected_cost("l2", *users(law)) == square
    assert law.expected_cost("l1", *users(law)) > 0.0
    if radius_of(law) is not None:
        assert law.expected_cost(5, *users(law)) == radius_of(law).moment(5)


# --- refusals -------------------------------------------------------------------------------------


@every_law
def test_vector_law__other_shapes_are_refused(law):
    before = "n" if users(law) else r"\.\.\."
    wanted = rf"v must be .*{before}, {law.dim}\)"
    others = [np.zeros((*users(law), law.dim + more)) for more in (-1, 1)]
    for bad in (*others, 1.0, *([np.zeros(law.dim)] if users(law) else [])):
        with pytest.raises(ValueError, match=wanted):
            law.logpdf(bad)


@pytest.mark.parametrize("bad", [-1, -1.5, 201, math.nan])
@every_radius
def test_vector_law__bad_power_is_named(radius, bad):
    with pytest.raises(ValueError, match=f"m must be .*not {bad}"):
        radius.moment(bad)


@pytest.mark.parametrize("cost", [*BAD_COSTS, ("interval", 0.9)], ids=repr)
@every_law
def test_vector_law__bad_cost_is_named(law, cost):
    with pytest.raises((ValueError, TypeError), match="cost must be") as caught:
        law.expected_cost(cost, *users(law))
    assert repr(cost) in str(caught.value)
