"""Is an explicit grid one that works, or refused clearly; and what does its noise cost?"""

import re
from itertools import product
from math import inf, ldexp

import numpy as np
import pytest
from mechanisms import CHOICES, DRAWN, EVERY, INTEGERS, name

import fastnoise as fn
from fastnoise.laws.grids import CHANGED

FLOATS = [mechanism for mechanism in DRAWN if mechanism not in INTEGERS]
SMALL = [
    fn.Staircase(1.0),
    fn.Laplace(1.0),
    *(fn.L2Laplace(1.0, dim=dim) for dim in (1, 2, 5)),
    *(fn.MultiUserLaplace(1.0, dim=dim) for dim in (1, 2)),
    *(fn.L1Staircase(1.0, dim=dim) for dim in (1, 2)),
    *(fn.BoxStaircase(1.0, (1.0,) * dim) for dim in (1, 2)),
]


def zeros(mechanism, count=5):
    return np.zeros((count, *mechanism._row_shape))


@pytest.mark.parametrize("mechanism", FLOATS, ids=name)
def test_grid__that_floats_cannot_serve_is_refused(mechanism):
    x = zeros(mechanism)
    out = np.full(x.shape, 7.0)
    for exponent in (-1074, -1073, -1023, -1022, -1001, 900, 971, 1023):
        grid = ldexp(1.0, exponent)
        message = re.escape(f"grid must be between 2**-1000 and 2**899, not {grid!r}")
        with pytest.raises(ValueError, match=message):
            mechanism.perturb(x, out=out, grid=grid)
        with pytest.raises(ValueError, match=message):
            mechanism.certificate(grid=grid)
    assert (out == 7.0).all()


def test_grid__of_any_exponent_works_or_is_named(stream):
    exponents = (*range(-1000, 899, 73), -40, -20, -9, -1, 0, 3, 899)
    for mechanism, exponent in product(FLOATS, exponents):
        x, grid = zeros(mechanism), ldexp(1.0, exponent)
        try:
            y = mechanism.perturb(x, grid=grid, stream=stream.at(0))
        except ValueError as problem:
            assert "grid must be coarse enough" in str(problem)  # noqa: PT017
        else:
            assert np.isfinite(y).all()
            assert (y / grid == np.round(y / grid)).all()


@pytest.mark.parametrize("kind", [fn.Staircase, fn.Laplace, fn.L2Laplace, fn.MultiUserLaplace])
def test_sensitivity__of_any_size_works_or_is_named(kind):
    vectors = {"dim": 2} if kind in (fn.L2Laplace, fn.MultiUserLaplace) else {}
    gamma = {"gamma": 0.5} if kind is fn.Staircase else {}
    sizes = (5e-324, 1e-310, 1e-290, 1e-200, 1e200, 1e290, 1.7976931348623157e308)
    epsilons, grids = (1e-12, 1e-10, 1.0, 700.0, 1e300), (2.0**-1000, 1.0, 2.0**899, "auto")
    worked = 0
    for epsilon, sensitivity, grid in product(epsilons, sizes, grids):
        mechanism = kind(epsilon, sensitivity=sensitivity, **vectors, **gamma)
        try:
            y = mechanism.perturb(np.zeros((3, 2)), grid=grid)
            certificate = mechanism.certificate(grid=grid)
        except ValueError as problem:
            assert re.match("(grid|epsilon|sensitivity) must be", str(problem))  # noqa: PT017
        else:
            assert np.isfinite(y).all()
            assert certificate.epsilon <= epsilon
            assert certificate.released_sensitivity < inf
            worked += 1
    assert worked > 20


@pytest.mark.parametrize("mechanism", SMALL, ids=name)
@pytest.mark.parametrize("grid", [2.0**-30, 2.0**-6, 0.25, 1.0, 16.0])
def test_certificate__of_a_grid(mechanism, grid, stream):
    certificate = mechanism.certificate(grid=grid)
    assert certificate.epsilon <= mechanism.epsilon
    grids = certificate.grid if isinstance(certificate.grid, tuple) else (certificate.grid,)
    assert set(grids) == {grid}
    own = mechanism.certificate(grid=mechanism.grid)
    assert own == mechanism.certificate() == mechanism.certificate(grid="auto")
    least = np.min(certificate.released_sensitivity)
    assert least >= max(mechanism.sensitivity, grid)
    assert (least >= np.min(own.released_sensitivity)) or grid < np.min(mechanism.grid)


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__of_textbook_noise_is_refused(mechanism):
    with pytest.raises(ValueError, match=r"grid must be .*textbook noise has no certificate"):
        mechanism.certificate(grid=None)


@pytest.mark.parametrize("mechanism", [*INTEGERS, *CHOICES], ids=name)
def test_certificate__of_one_grid_only(mechanism):
    assert mechanism.certificate(grid=mechanism.grid) == mechanism.certificate()
    for grid in (2.0, 2.0**-40, "fine", True):
        with pytest.raises((ValueError, TypeError), match="grid must be"):
            mechanism.certificate(grid=grid)


# --- more elements or users than noise is made for ------------------------------------------------

SHARED = [fn.Laplace(1.0), *(fn.MultiUserLaplace(1.0, dim) for dim in (1, 2, 5))]


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_changed__is_told_where_it_counts(mechanism):
    shared = isinstance(mechanism, fn.Laplace | fn.MultiUserLaplace)
    assert mechanism.privacy.changed == (CHANGED if shared else None)


@pytest.mark.parametrize("mechanism", SHARED, ids=name)
@pytest.mark.parametrize("grid", [2.0**-20, 2.0**-16, 2.0**-10, 1.0])
def test_many_elements__are_refused_where_the_grid_costs_too_much(mechanism, grid):
    """At 1.01 epsilon, as the certificate has it: no sooner and no later."""

    def epsilon(count):
        return mechanism.certificate(changed=count, grid=grid).epsilon

    fits, fails = CHANGED, 1 << 40
    while fails - fits > 1:
        middle = (fits + fails) // 2
        fits, fails = (middle, fails) if epsilon(middle) <= 1.01 else (fits, middle)
    mechanism._check_spread(grid, fits)
    with pytest.raises(ValueError, match="grid must be") as caught:
        mechanism._check_spread(grid, fails)
    assert f"epsilon is {epsilon(fails)!r} if all of them change" in str(caught.value)


@pytest.mark.parametrize("mechanism", SHARED, ids=name)
def test_many_elements__on_a_coarse_grid(mechanism, stream):
    """A million elements on a grid of 1: a bound of 15 where 1 was asked for."""
    count = 1_000_000
    x = np.broadcast_to(0.0, (count, *mechanism._row_shape))
    with pytest.raises(ValueError, match=r"grid must be .* not 1\.0: epsilon is 15\..*certificate"):
        mechanism.perturb(x, grid=1.0, stream=stream)
    assert stream.position == 0
    few = mechanism.perturb(x[:CHANGED], grid=1.0, stream=stream)
    assert (few == np.round(few)).all()
    mechanism.perturb(x, grid=mechanism.grid)
    mechanism.perturb(x, grid=mechanism.grid * 4)


@pytest.mark.filterwarnings("ignore:grid=None:UserWarning")
def test_many_elements__where_each_pays_by_itself():
    x = np.zeros(100_000)
    fn.Staircase(1.0).perturb(x, grid=1.0)
    fn.L2Laplace(1.0, 1).perturb(x.reshape(-1, 1), grid=1.0)
    fn.Laplace(1.0).perturb(x, grid=None)
