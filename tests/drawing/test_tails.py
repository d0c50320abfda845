"""How far out does noise go? Beyond k sensitivities: e**(-k epsilon), as far as draws reach."""

from math import exp

import numpy as np
import pytest
from conftest import KEY
from laws import integer_sf

import fastnoise as fn
from fastnoise.verify.fit import unlikely

CHUNK = 1 << 22
LAWS = [
    *[fn.Staircase(1.0), fn.Staircase(1.0, 0.3, gamma=0.9)],
    *[fn.L1Staircase(1.0, 1), fn.L1Staircase(1.0, 1, 1000.0, gamma=0.0)],
    *[fn.BoxStaircase(1.0, (1.0,)), fn.BoxStaircase(1.0, (0.3,), core=(0.1,))],
    *[fn.Laplace(1.0), fn.Laplace(1.0, 0.3)],
    *[fn.DiscreteStaircase(1.0), fn.DiscreteStaircase(1.0, 10), fn.DiscreteStaircase(1.0, 10, r=9)],
]


def steps_of(mechanism) -> int:
    """The sensitivity in grid steps."""
    wide, grid = np.array(mechanism.released_sensitivity), np.array(mechanism.grid)
    return round((wide / grid).item())


def beyond(mechanism, most: int) -> np.ndarray:
    """P(|X| >= k sensitivities) for k = 1 .. most: (1 + a) b**k.

    See docs/mathematics.md#discrete-staircase.
    """
    steps, b = steps_of(mechanism), exp(-mechanism.epsilon)
    levels = np.arange(1, most + 1)
    if isinstance(mechanism, fn.Laplace):
        return 2 * b**levels / (1 + exp(-mechanism.epsilon / steps))
    if isinstance(mechanism, fn.DiscreteStaircase):
        radius = mechanism.r
    elif isinstance(mechanism, fn.BoxStaircase):
        radius = round(mechanism.core[0] / mechanism.widths[0] * steps)
    else:
        radius = round((mechanism.gamma or 1.0) * steps)
    a = 1 / (2 * radius - 1 + 2 * steps * b / (1 - b))
    assert 2 * integer_sf(3 * steps, mechanism.epsilon, steps, radius) == pytest.approx(
        (1 + a) * b**3, rel=1e-9
    )
    return (1 + a) * b**levels


def counts_beyond(mechanism, unit: int, grid: float, draws: int, most: int) -> np.ndarray:
    """How many of so many draws are k units of grid steps or more from 0, k = 1 .. most."""
    stream, counts = fn.Stream.from_key(KEY), np.zeros(most + 1, np.int64)
    for start in range(0, draws, CHUNK):
        noise = mechanism.sample(min(CHUNK, draws - start), stream=stream).ravel()
        levels = (np.abs(noise) / (grid * unit)).astype(np.int64)  # powers of 2, then one rounding
        counts += np.bincount(np.minimum(levels, most), minlength=most + 1)
    return counts[::-1].cumsum()[::-1][1:]


def tail_misfits(mechanism, drawn, draws: int, most: int) -> bool:
    """Exact binomial tests of the noise of `drawn`."""
    grid = np.array(mechanism.grid).item()
    counts = counts_beyond(drawn, steps_of(mechanism), grid, draws, most)
    return unlikely(counts, draws, beyond(mechanism, most))


def wider(mechanism):
    """The same law, 5% wider."""
    epsilon = mechanism.epsilon / 1.05
    match mechanism:
        case fn.BoxStaircase():
            return fn.BoxStaircase(epsilon, mechanism.widths, core=mechanism.core)
        case fn.L1Staircase():
            return fn.L1Staircase(epsilon, 1, mechanism.sensitivity, gamma=mechanism.gamma)
        case fn.Staircase():
            return fn.Staircase(epsilon, mechanism.sensitivity, gamma=mechanism.gamma)
        case fn.DiscreteStaircase():
            return fn.DiscreteStaircase(epsilon, mechanism.sensitivity, r=mechanism.r)
        case fn.Laplace():
            return fn.Laplace(epsilon, mechanism.sensitivity)


@pytest.mark.parametrize("mechanism", LAWS, ids=repr)
def test_tails__fit(mechanism):
    if mechanism.grid != 1:  # on a fine grid it is e**-k itself
        assert beyond(mechanism, 10) == pytest.approx(np.exp(-np.arange(1.0, 11.0)), rel=1e-5)
    assert not tail_misfits(mechanism, mechanism, 10**6, 10)


@pytest.mark.parametrize("mechanism", LAWS, ids=repr)
def test_tails__five_percent_less_epsilon_is_rejected(mechanism):
    assert tail_misfits(mechanism, wider(mechanism), 10**6, 10)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", LAWS, ids=repr)
def test_tails__fit_far_out(mechanism):
    """10**8 draws, of which about 30 are beyond 15 sensitivities."""
    assert not tail_misfits(mechanism, mechanism, 10**8, 15)


@pytest.mark.slow
def test_tails__a_tail_cut_off_at_twelve_is_rejected():
    """614 of 10**8 draws are missing there."""
    mechanism = fn.Staircase(1.0)
    counts = counts_beyond(mechanism, steps_of(mechanism), mechanism.grid, 10**8, 15)
    assert not unlikely(counts, 10**8, beyond(mechanism, 15))
    counts[11:] = 0
    assert unlikely(counts, 10**8, beyond(mechanism, 15))
