"""Does the noise cover what snapping adds to the sensitivity, however much changes together?"""

from fractions import Fraction

import numpy as np
import pytest
from conftest import KEY

import fastnoise as fn


def steps_between(mechanism, x, y):
    """The snapped difference in grid steps: the same noise on both, subtracted."""
    stream = fn.Stream.from_key(KEY)
    first, second = (mechanism.perturb(v, stream=stream.at(0)) for v in (x, y))
    return (second - first) / np.array(mechanism.grid)


def crossing(shape, grid, rng):
    """Points just below where rounding turns, a random number of steps out."""
    return (rng.integers(-1000, 1000, shape) + 0.5 - 2.0**-20) * np.array(grid)


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1000.0])
@pytest.mark.parametrize("count", [1, 3, 1000, 65_536])
def test_released_sensitivity__of_many_changed_elements(count, sensitivity, rng):
    """l1: every element may cross a half, which is a whole step for next to nothing."""
    mechanism = fn.Laplace(1.0, sensitivity)
    grid = mechanism.grid
    for least in (0.0, 1.0):  # shares that differ, and shares that are all the same
        x = crossing(count, grid, rng)
        shares = least + rng.exponential(size=count)
        y = x + shares / shares.sum() * sensitivity * (1 - 1e-9)
        assert np.abs(y - x).sum() <= sensitivity
        steps = np.abs(steps_between(mechanism, x, y)).sum()
        assert steps * Fraction(grid) <= Fraction(mechanism.released_sensitivity)
    if count == 65_536:  # without widening the promise would be broken
        assert steps * grid > sensitivity * (1 + 1e-6)


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 64])
def test_released_sensitivity__of_l1_vectors(dim, rng):
    mechanism = fn.L1Staircase(2.0, dim, 0.7)
    grid = mechanism.grid
    x = crossing((2000, dim), grid, rng)
    shares = rng.dirichlet(np.full(dim, 0.3), 2000)
    shares[: 2000 // 2] = rng.dirichlet(np.full(dim, 30.0), 1000)
    y = x + shares * 0.7 * (1 - 1e-9)
    worst = np.abs(steps_between(mechanism, x, y)).sum(axis=1).max()
    assert worst * Fraction(grid) <= Fraction(mechanism.released_sensitivity)
    assert worst * grid > 0.7 or dim == 1
    tight = mechanism.released_sensitivity / grid - worst
    assert tight < dim


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 64])
def test_released_sensitivity__of_l2_vectors(dim, rng):
    mechanism = fn.L2Laplace(2.0, dim, 0.7)
    grid = mechanism.grid
    x = crossing((2000, dim), grid, rng)
    directions = np.abs(rng.normal(size=(2000, dim))) + 0.1
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    y = x + directions * 0.7 * (1 - 1e-9)
    squares = (steps_between(mechanism, x, y) ** 2).sum(axis=1)
    covered = (Fraction(mechanism.released_sensitivity) / Fraction(grid)) ** 2
    assert Fraction(int(squares.max())) <= covered
    assert np.sqrt(squares.max()) * grid > 0.7 or dim == 1


@pytest.mark.parametrize("users", [1, 100, 65_536])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_released_sensitivity__of_many_users(users, dim, rng):
    mechanism = fn.MultiUserLaplace(2.0, dim, 0.7)
    grid = mechanism.grid
    x = crossing((users, dim), grid, rng)
    moves = np.abs(rng.normal(size=(users, dim))) + 0.1
    moves /= np.linalg.norm(moves, axis=1).sum()
    y = x + moves * 0.7 * (1 - 1e-9)
    total = np.linalg.norm(steps_between(mechanism, x, y), axis=1).sum() * grid
    assert total <= mechanism.released_sensitivity
    if users == 65_536:
        assert total > 0.7 * (1 + 1e-6)


@pytest.mark.parametrize("dim", [1, 2, 3, 16])
def test_released_sensitivity__of_boxes(dim, rng):
    mechanism = fn.BoxStaircase(2.0, rng.uniform(0.1, 10.0, dim))
    x = crossing((2000, dim), mechanism.grid, rng)
    shares = rng.uniform(-1, 1, (2000, dim))
    shares[:1000] = np.sign(shares[:1000])
    y = x + shares * np.array(mechanism.widths) * (1 - 1e-9)
    worst = np.abs(steps_between(mechanism, x, y)).max(axis=0)
    pairs = zip(
        worst, mechanism.grid, mechanism.released_sensitivity, mechanism.widths, strict=True
    )
    for steps, grid, released, width in pairs:
        assert steps * Fraction(grid) <= Fraction(released)
        assert steps * grid > width  # the widths alone would not cover it
