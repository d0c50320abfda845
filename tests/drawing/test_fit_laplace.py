"""Is the Laplace noise that comes out distributed as promised, over a grid of parameters?"""

import numpy as np
import pytest
from conftest import KEY
from scipy.special import gammaincinv

import fastnoise as fn
from fastnoise.verify.fit import SHARES, misfits, rejected, rows_depend

N = 200_000
GRID = [
    (epsilon, sensitivity)
    for epsilon in (1e-6, 1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 50.0)
    for sensitivity in (1e-9, 0.3, 1.0, 1000.0, 7e12)
]


def in_steps(mechanism: fn.Laplace, how: str, count=N) -> np.ndarray:
    stream = fn.Stream.from_key(KEY)
    if how == "sample":
        return mechanism.sample(count, stream=stream) / mechanism.grid
    x = (np.arange(count) % 1000 - 500) * 0.37 * mechanism.sensitivity
    snapped = np.floor(x / mechanism.grid + 0.5)
    return mechanism.perturb(x, stream=stream) / mechanism.grid - snapped


def released(mechanism: fn.Laplace) -> fn.DiscreteLaplace:
    """The law in grid steps: that of the sensitivity widened for 65,536 elements."""
    return fn.DiscreteLaplace(
        mechanism.epsilon, round(mechanism.released_sensitivity / mechanism.grid)
    )


def is_rejected(noise: np.ndarray, mechanism: fn.Laplace) -> bool:
    law = released(mechanism)
    edges = np.floor(law.ppf(SHARES))
    return misfits(noise, edges, law.cdf(edges))


def wider(mechanism: fn.Laplace) -> fn.Laplace:
    return fn.Laplace(mechanism.epsilon, 1.05 * mechanism.sensitivity)


@pytest.mark.parametrize("how", ["sample", "perturb"])
@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_laplace__fits(epsilon, sensitivity, how):
    mechanism = fn.Laplace(epsilon, sensitivity)
    noise = in_steps(mechanism, how)
    assert (noise == np.round(noise)).all()
    assert not is_rejected(noise, mechanism)


@pytest.mark.parametrize(("epsilon", "sensitivity"), GRID)
def test_laplace__five_percent_more_scale_is_rejected(epsilon, sensitivity):
    mechanism = fn.Laplace(epsilon, sensitivity)
    wrong = wider(mechanism)
    assert is_rejected(in_steps(wrong, "sample") * (wrong.grid / mechanism.grid), mechanism)
    wrong = fn.Laplace(epsilon / 1.05, sensitivity)
    assert is_rejected(in_steps(wrong, "perturb") * (wrong.grid / mechanism.grid), mechanism)


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


def test_laplace__textbook_noise_fits(stream):
    """grid=None draws the same law, only finer."""
    mechanism = fn.Laplace(1.0, 0.3)
    with pytest.warns(fn.TextbookNoiseWarning):
        noise = mechanism.perturb(np.zeros(N), stream=stream, grid=None) / mechanism.grid
    assert (noise != np.round(noise)).mean() > 0.99
    assert not is_rejected(noise, mechanism)
