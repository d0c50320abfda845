"""Is the noise on the integers distributed as promised, over a grid of parameters?"""

from fractions import Fraction

import numpy as np
import pytest
from conftest import KEY

import fastnoise as fn
from fastnoise.verify.fit import SHARES, misfits, rejected, rows_depend, unlikely

pytestmark = pytest.mark.long

N = 200_000
EPSILONS = (1e-6, 0.01, 0.5, 1.0, 5.0, 50.0)
SENSITIVITIES = (1, 3, 10**6, 2**40)
SCALES = [(e, s) for e in EPSILONS for s in SENSITIVITIES if s <= 2**52 * e]
STAIRCASES = [
    fn.DiscreteStaircase(epsilon, sensitivity, r=r)
    for epsilon, sensitivity in SCALES
    for r in (None, -(-sensitivity // 3), sensitivity)
    if r is None or sensitivity > 1
]
STAIRCASES += [
    fn.DiscreteStaircase(epsilon, sensitivity, r=r)
    for epsilon in (1e-3, 0.1, 1.0, 5.0)
    for sensitivity, r in ((1, 1), (2, 1), (10, 4), (10, 10), (1000, 300), (2**40, 2**38))
]
GEOMETRICS = [fn.Geometric(epsilon) for epsilon in EPSILONS]
LAPLACES = [fn.DiscreteLaplace(epsilon, sensitivity) for epsilon, sensitivity in SCALES]
UNIFORMS = [
    *[fn.DiscreteUniform(Fraction(1, n)) for n in (2, 3, 4, 9, 10, 50, 51, 10**6, 2**51)],
    *[fn.DiscreteUniform(delta, s) for delta in (0.07, 0.3, 0.5, 0.99) for s in (1, 3, 10**6)],
    *[fn.DiscreteUniform(1e-6, 3), fn.DiscreteUniform(Fraction(2, 7), 2**40)],
]
TRUNCATED = [
    fn.TruncatedDiscreteLaplace(epsilon, delta, sensitivity)
    for epsilon, sensitivity in SCALES
    for delta in (1e-9, 0.01, 0.3, 0.9)
]
MECHANISMS = [*dict.fromkeys(STAIRCASES), *GEOMETRICS, *LAPLACES, *UNIFORMS, *TRUNCATED]


def noise_of(mechanism, how: str, count: int = N) -> np.ndarray:
    stream = fn.Stream.from_key(KEY)
    if how == "sample":
        return mechanism.sample(count, stream=stream)
    x = np.arange(count) % 1000 * 12_345 - 6_000_000
    return mechanism.perturb(x, stream=stream) - x


def is_rejected(noise: np.ndarray, law) -> bool:
    """Exact tests of the sign and of 0; Pearson's, in cells between integers, unless all is 0."""
    likely = float(law.cdf(-1)), float(law.pmf(0)), float(law.sf(0))
    counts = np.array([(noise < 0).sum(), (noise == 0).sum(), (noise > 0).sum()])
    if unlikely(counts, noise.size, np.array(likely)):
        return True
    if is_a_point(law):
        return False
    edges = np.unique(law.ppf(SHARES).astype(np.int64))
    return misfits(noise, edges, law.cdf(edges))


def is_a_point(law) -> bool:
    """All of N draws are 0, but for one or two perhaps."""
    return N * 2 * float(law.sf(0)) < 60


def wider(mechanism):
    """The same law, 5% wider: by the sensitivity, or if that is small by epsilon and delta."""
    epsilon, sensitivity = mechanism.epsilon, mechanism.sensitivity
    many = sensitivity >= 20
    scaled = round(1.05 * sensitivity) if many else sensitivity
    less = epsilon if many else epsilon / 1.05
    match mechanism:
        case fn.Geometric():
            return fn.Geometric(less)
        case fn.DiscreteStaircase():
            return fn.DiscreteStaircase(
                less, scaled, r=max(1, round(mechanism.r * scaled / sensitivity))
            )
        case fn.DiscreteLaplace():
            return fn.DiscreteLaplace(less, scaled)
        case fn.DiscreteUniform():
            return fn.DiscreteUniform(
                Fraction(str(mechanism.delta)) / Fraction("1.05"), sensitivity
            )
        case fn.TruncatedDiscreteLaplace():
            delta = mechanism.delta if many else mechanism.delta / 1.05
            return fn.TruncatedDiscreteLaplace(less, delta, scaled)


@pytest.mark.parametrize("how", ["sample", "perturb"])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_integers__fit(mechanism, how):
    noise = noise_of(mechanism, how)
    assert noise.dtype == np.int64
    low, high = mechanism.support()
    assert low <= noise.min() <= noise.max() <= high
    assert not is_rejected(noise, mechanism)


def tells(mechanism) -> bool:
    """Whether 5% more scale is another law: not of a point, nor of a top step of few integers."""
    if isinstance(mechanism, fn.DiscreteStaircase) and mechanism.epsilon == 50.0:
        return mechanism.r >= 10
    return not is_a_point(mechanism)


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if tells(m)], ids=repr)
def test_integers__five_percent_more_scale_is_rejected(mechanism):
    assert is_rejected(noise_of(wider(mechanism), "sample"), mechanism)


@pytest.mark.parametrize("mechanism", [m for m in MECHANISMS if is_a_point(m)], ids=repr)
def test_points__more_than_a_few_others_are_rejected(mechanism):
    noise = np.zeros(N, np.int64)
    assert not is_rejected(noise, mechanism)
    noise[:100] = 1  # where 30 are expected at most
    assert is_rejected(noise, mechanism)


DENSE = [m for m in MECHANISMS if m.moment(1) > 10**7]


@pytest.mark.parametrize("mechanism", DENSE, ids=repr)
def test_low_bits__are_uniform(mechanism):
    """Wide laws are flat over 256 integers; places of even numbers only are seen."""
    noise = noise_of(mechanism, "sample", 2 * N)
    flat = np.full(256, 1 / 256)
    assert not rejected(np.bincount(noise & 255, minlength=256), flat)
    assert rejected(np.bincount(noise * 2 & 255, minlength=256), flat)


@pytest.mark.parametrize(
    "mechanism",
    [
        fn.Geometric(0.01),
        fn.DiscreteStaircase(1.0, 3),
        fn.DiscreteStaircase(1e-6, 10**6),
        fn.DiscreteLaplace(1.0, 10**6),
        fn.DiscreteUniform(0.07),
        fn.DiscreteUniform(1e-6, 3),
        fn.TruncatedDiscreteLaplace(0.5, 0.01, 3),
        fn.TruncatedDiscreteLaplace(1.0, 0.01, 2**40),
    ],
    ids=repr,
)
def test_rows__are_independent(mechanism):
    noise = noise_of(mechanism, "sample", 1_000_000)
    assert not rows_depend(noise, np.abs(noise))
    noise[16::50] = noise[:-16:50]
    assert rows_depend(noise, np.abs(noise))
