"""Is the noise that comes out distributed as promised, over a grid of parameters?"""

import numpy as np
import pytest
from conftest import KEY
from laws import integer_sf
from scipy.special import gammaincinv

import fastnoise as fn
from fastnoise.verify.fit import SHARES, misfits, rejected, rows_depend

N = 200_000
BINS = 60
STAIRCASES = [
    fn.Staircase(epsilon, sensitivity, gamma=gamma)
    for epsilon in (1e-3, 0.1, 1.0, 5.0, 20.0)
    for gamma in (0.0, None, 0.5, 1.0)
    for sensitivity in (0.3, 1.0, 1000.0)
]
LAPLACES = [
    fn.Laplace(epsilon, sensitivity)
    for epsilon in (1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 50.0)
    for sensitivity in (1e-9, 0.3, 1.0, 1000.0, 7e12)
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


def in_steps(mechanism, how: str, count=N) -> np.ndarray:
    stream = fn.Stream.from_key(KEY)
    if how == "sample":
        return mechanism.sample(count, stream=stream) / mechanism.grid
    x = (np.arange(count) % 1000 - 500) * 0.37 * mechanism.sensitivity
    snapped = np.floor(x / mechanism.grid + 0.5)
    return mechanism.perturb(x, stream=stream) / mechanism.grid - snapped


def released(mechanism: fn.Laplace) -> fn.DiscreteLaplace:
    """The law in grid steps: that of the sensitivity widened for 65,536 elements."""
    steps = round(mechanism.released_sensitivity / mechanism.grid)
    return fn.DiscreteLaplace(mechanism.epsilon, steps)


def is_rejected(noise: np.ndarray, mechanism) -> bool:
    if isinstance(mechanism, fn.Laplace):
        law = released(mechanism)
        edges = np.floor(law.ppf(SHARES))
        return misfits(noise, edges, law.cdf(edges))
    edges, probabilities = bins(mechanism)
    return rejected(np.histogram(noise, edges)[0], probabilities)


def wider(mechanism):
    gamma = {"gamma": mechanism.gamma} if isinstance(mechanism, fn.Staircase) else {}
    return type(mechanism)(mechanism.epsilon, 1.05 * mechanism.sensitivity, **gamma)


@pytest.mark.parametrize("how", ["sample", "perturb"])
@pytest.mark.parametrize("mechanism", [*STAIRCASES, *LAPLACES], ids=repr)
def test_noise__fits(mechanism, how):
    noise = in_steps(mechanism, how)
    assert (noise == np.round(noise)).all()
    assert not is_rejected(noise, mechanism)


@pytest.mark.parametrize("mechanism", [*STAIRCASES, *LAPLACES], ids=repr)
def test_noise__five_percent_more_scale_is_rejected(mechanism):
    wrong = wider(mechanism)
    assert is_rejected(in_steps(wrong, "sample") * (wrong.grid / mechanism.grid), mechanism)


@pytest.mark.parametrize("mechanism", LAPLACES, ids=repr)
def test_laplace__five_percent_less_epsilon_is_rejected(mechanism):
    wrong = fn.Laplace(mechanism.epsilon / 1.05, mechanism.sensitivity)
    assert is_rejected(in_steps(wrong, "perturb") * (wrong.grid / mechanism.grid), mechanism)


@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0, 0.3), fn.Laplace(1.0, 0.3)], ids=repr)
def test_noise__without_a_grid_fits(mechanism, stream):
    """grid=None draws the same law, only finer."""
    with pytest.warns(fn.TextbookNoiseWarning):
        noise = mechanism.perturb(np.zeros(N), stream=stream, grid=None) / mechanism.grid
    assert (noise != np.round(noise)).mean() > 0.99
    assert not is_rejected(noise, mechanism)


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


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 50.0])
def test_laplace__the_ideal_law_fits_too(epsilon):
    """The law with real numbers, which the grid and the widening move by less than 1e-5."""
    mechanism = fn.Laplace(epsilon, 0.3)
    noise = mechanism.sample(N, stream=fn.Stream.from_key(KEY))
    edges = mechanism.ppf(SHARES)
    assert not misfits(noise, edges, SHARES)
    assert misfits(wider(mechanism).sample(N, stream=fn.Stream.from_key(KEY)), edges, SHARES)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_laplace__low_bits_are_uniform(epsilon):
    noise = in_steps(fn.Laplace(epsilon), "sample", 2 * N).astype(np.int64)
    flat = np.full(256, 1 / 256)
    assert not rejected(np.bincount(noise & 255, minlength=256), flat)
    assert rejected(np.bincount(noise * 2 & 255, minlength=256), flat)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 50.0])
def test_laplace__rows_are_independent(epsilon):
    noise = in_steps(fn.Laplace(epsilon), "sample", 1_000_000)
    assert not rows_depend(noise, np.abs(noise))
    noise[16::50] = noise[:-16:50]
    assert rows_depend(noise, np.abs(noise))


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 50.0])
@pytest.mark.parametrize("elements", [2, 3, 10, 100])
def test_arrays__have_a_gamma_l1_norm(elements, epsilon):
    """||V||_1 of n elements is Gamma(n) distributed, of scale sensitivity / epsilon."""

    def norms(law: fn.Laplace) -> np.ndarray:
        noise = in_steps(law, "sample", (N // elements + 20_000, elements))
        return np.abs(noise).sum(axis=1) * law.grid

    mechanism = fn.Laplace(epsilon, 0.3)
    edges = mechanism.scale * gammaincinv(float(elements), SHARES)
    assert not misfits(norms(mechanism), edges, SHARES)
    assert misfits(norms(wider(mechanism)), edges, SHARES)
