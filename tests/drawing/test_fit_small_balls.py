"""Is noise on small l1 balls, which has few grid steps, distributed as its certificate says?"""

from functools import cache
from itertools import accumulate, pairwise, product
from math import comb, exp

import numpy as np
import pytest
from conftest import KEY
from laws import layer_probabilities
from scipy.stats import chisquare

import fastnoise as fn
from fastnoise.laws.layers.balls import l1_points
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.rows import Rows

ROWS = 100_000
UNLIKELY = 1e-6

# Grids on which a layer is some steps wide: all rows are small balls, and some or most of them.
CASES = [
    (1.0, 2, 1.0),
    (2.0, 3, 0.5),
    (0.3, 2, 0.25),
    (4.0, 5, 0.25),
    (12.0, 16, 1.0),
    (8.0, 16, 0.125),
]


@cache
def released(epsilon: float, dim: int, grid: float):
    """The law; and for each layer how likely it is to be drawn, and to give a point of it."""
    law = fn.L1Staircase(epsilon, dim)._law(grid)
    drawn = DrawnLayers(law.tables)
    steps, radius = drawn.sizes[0]
    chances = enumerate(layer_probabilities(drawn, 1))
    shares = [float(c / l1_points(dim, radius - 1 + k * steps)) for k, c in chances]
    return law, steps, radius, shares


def heights_of(case) -> np.ndarray:
    """How likely a point of each norm is: of its layer and of all further out."""
    _, steps, radius, shares = released(*case)
    top, *others = list(accumulate(reversed(shares)))[::-1]
    return np.array([top] * radius + [height for height in others for _ in range(steps)])


@cache
def noise_of(case) -> np.ndarray:
    noise = released(*case)[0].noise(KEY, Rows(0), ROWS)
    assert not np.isnan(noise).any()
    return noise


def misfit(found: np.ndarray, chances: np.ndarray) -> bool:
    """Whether counts are not those of chances: what is rare is put together."""
    common = chances * found.sum() >= 20
    counts = [*found[common], found[~common].sum()]
    expected = np.array([*chances[common], max(1.0 - chances[common].sum(), 1e-9)]) * found.sum()
    return chisquare(counts, expected * found.sum() / expected.sum()).pvalue < UNLIKELY


def norms_misfit(case, heights) -> bool:
    dim = case[1]
    inside = [l1_points(dim, norm) for norm in range(len(heights))]
    points = np.diff(np.array([0, *inside], float))
    norms = np.abs(noise_of(case)).sum(axis=1).astype(int)
    found = np.bincount(np.minimum(norms, len(heights)), minlength=len(heights) + 1)
    return misfit(found, np.array([*(points * heights), 0.0]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_norms__fit(case):
    assert not norms_misfit(case, heights_of(case))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_norms__those_of_an_epsilon_five_percent_larger_do_not(case):
    assert norms_misfit(case, heights_of((1.05 * case[0], *case[1:])))


def zeros_misfit(case, more: float) -> bool:
    """How many are not 0 on the sphere of the commonest norm; `more`: times the chance of each."""
    dim, noise = case[1], noise_of(case)
    norms = np.abs(noise).sum(axis=1).astype(int)
    norm = int(np.bincount(norms[norms > 0]).argmax())
    counts = np.bincount((noise[norms == norm] != 0).sum(axis=1), minlength=dim + 1)
    # C(norm - 1, j - 1) ways to be the sum of j sizes
    ways = [comb(dim, j) * comb(norm - 1, j - 1) * 2**j if j else 0 for j in range(dim + 1)]
    chances = np.array(ways, float) * more ** np.arange(dim + 1)
    return misfit(counts, chances / chances.sum())


@pytest.mark.parametrize("case", [case for case in CASES if case[1] > 2], ids=str)
def test_zeros__fit(case):
    assert not zeros_misfit(case, 1.0)
    assert zeros_misfit(case, 1.5)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_points__of_one_norm_are_equally_likely(case):
    """Every vector of a small norm, with its signs and in its order."""
    dim, noise = case[1], noise_of(case).astype(int)
    norm = 3
    points = [p for p in product(range(-norm, norm + 1), repeat=dim) if sum(map(abs, p)) == norm]
    places = {point: i for i, point in enumerate(points)}
    rows = noise[np.abs(noise).sum(axis=1) == norm]
    found = np.bincount([places[tuple(row)] for row in rows.tolist()], minlength=len(points))
    assert not misfit(found, np.full(len(points), 1.0 / len(points)))
    assert misfit(np.append(found[0] * 2, found[1:]), np.full(len(points), 1.0 / len(points)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ratios__of_points_as_far_apart_as_neighbours_may_be(case):
    """They are on the next layer at most, whose share is not smaller by more than e**epsilon."""
    epsilon, dim, grid = case
    _, steps, _, shares = released(*case)
    assert steps == fn.L1Staircase(epsilon, dim)._law(grid).covered / grid
    assert max(a / b for a, b in pairwise(shares)) <= exp(epsilon) * (1 + 1e-12)
    assert fn.L1Staircase(epsilon, dim).certificate(grid=grid).epsilon <= epsilon
