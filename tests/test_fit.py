"""Is the noise that comes out distributed as promised, over a grid of parameters?"""

import numpy as np
import pytest
from conftest import KEY
from laws import integer_sf

import fastnoise as fn
from fastnoise.verify.fit import rejected

N = 200_000
BINS = 60
GRID = [
    (epsilon, gamma, sensitivity)
    for epsilon in (1e-3, 0.1, 1.0, 5.0, 20.0)
    for gamma in (0.0, None, 0.5, 1.0)
    for sensitivity in (0.3, 1.0, 1000.0)
]


def bins(mechanism: fn.Staircase) -> tuple[np.ndarray, np.ndarray]:
    """Edges in grid steps, between integers, and the exact probabilities between them."""
    steps = round(mechanism.released_sensitivity / mechanism.grid)
    radius = max(1, round((mechanism.gamma or 1.0) * steps))
    places = mechanism.isf(np.linspace(0.5, 0, BINS // 2 + 1)[1:-1]) / mechanism.grid
    right = np.unique(np.ceil(places))
    tail = np.array([integer_sf(int(i), mechanism.epsilon, steps, radius) for i in right])
    edges = np.concatenate([[-np.inf], 0.5 - right[::-1], right - 0.5, [np.inf]])
    below = np.concatenate([[0.0], tail[::-1], 1.0 - tail, [1.0]])
    return edges, np.diff(below)


def in_steps(mechanism: fn.Staircase, how: str, count: int, key: bytes = KEY) -> np.ndarray:
    stream = fn.Stream.from_key(key)
    if how == "sample":
        return mechanism.sample(count, stream=stream) / mechanism.grid
    x = (np.arange(count) % 1000 - 500) * 0.37 * mechanism.sensitivity
    snapped = np.floor(x / mechanism.grid + 0.5)
    return mechanism.perturb(x, stream=stream) / mechanism.grid - snapped


def is_rejected(noise: np.ndarray, mechanism: fn.Staircase) -> bool:
    edges, probabilities = bins(mechanism)
    return rejected(np.histogram(noise, edges)[0], probabilities)


@pytest.mark.parametrize("how", ["sample", "perturb"])
@pytest.mark.parametrize(("epsilon", "gamma", "sensitivity"), GRID)
def test_staircase__fits(epsilon, gamma, sensitivity, how):
    mechanism = fn.Staircase(epsilon, sensitivity, gamma=gamma)
    noise = in_steps(mechanism, how, N)
    assert (noise == np.round(noise)).all()
    assert not is_rejected(noise, mechanism)


@pytest.mark.parametrize(("epsilon", "gamma", "sensitivity"), GRID)
def test_staircase__five_percent_more_scale_is_rejected(epsilon, gamma, sensitivity):
    mechanism = fn.Staircase(epsilon, sensitivity, gamma=gamma)
    wrong = fn.Staircase(epsilon, 1.05 * sensitivity, gamma=mechanism.gamma)
    noise = in_steps(wrong, "sample", N) * (wrong.grid / mechanism.grid)
    assert is_rejected(noise, mechanism)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_staircase__wrong_gamma_is_rejected(epsilon):
    mechanism = fn.Staircase(epsilon, gamma=0.4)
    wrong = fn.Staircase(epsilon, gamma=0.5)
    assert is_rejected(in_steps(wrong, "sample", 4_000_000), mechanism)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_staircase__rows_are_independent(epsilon):
    """Sign and side of the median of |noise|, of neighbours 1, 16 and 128 rows apart: 16 cells."""
    mechanism = fn.Staircase(epsilon)
    noise = in_steps(mechanism, "sample", 1_000_000)
    median = np.median(np.abs(noise))
    kind = 2 * (noise >= 0) + (np.abs(noise) >= median)
    for apart in (1, 16, 128):
        pairs = 4 * kind[:-apart] + kind[apart:]
        share = np.bincount(kind, minlength=4) / kind.size
        assert not rejected(np.bincount(pairs, minlength=16), np.outer(share, share).ravel())


def test_staircase__textbook_noise_fits(stream):
    """grid=None draws the same law, only finer."""
    mechanism = fn.Staircase(1.0, 0.3)
    with pytest.warns(fn.TextbookNoiseWarning):
        noise = mechanism.perturb(np.zeros(N), stream=stream, grid=None) / mechanism.grid
    assert (noise != np.round(noise)).mean() > 0.99
    assert not is_rejected(noise, mechanism)
