"""Does every law keep its own promise: to neighbours, at a distance, against an attacker?"""

import math

import numpy as np
import pytest
from mechanisms import CHOICES, EVERY, FLOATS, INTEGERS, SCALARS, VECTORS, name
from reference import near

import fastnoise as fn
from fastnoise.arithmetic.floats import stated_delta

ROUNDING = 1e-12  # of a log-density or a probability: beside 1
LIPSCHITZ = (fn.Laplace, fn.L2Laplace, fn.MultiUserLaplace, fn.DiscreteLaplace, fn.Geometric)
ENDING = (fn.DiscreteUniform, fn.TruncatedDiscreteLaplace)
ADJACENCY = {
    fn.Staircase: "element",
    fn.DiscreteStaircase: "element",
    fn.Laplace: "l1",
    fn.Geometric: "l1",
    fn.DiscreteLaplace: "l1",
    fn.DiscreteUniform: "l1",
    fn.TruncatedDiscreteLaplace: "l1",
    fn.L1Staircase: "l1",
    fn.L2Laplace: "l2",
    fn.MultiUserLaplace: "sum-l2",
    fn.BoxStaircase: "box",
    fn.StaircaseChoice: "cost",
}


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_privacy__fields(mechanism):
    privacy, width = mechanism.privacy, mechanism.privacy.sensitivity
    assert privacy.epsilon == mechanism.epsilon * (2 if mechanism in CHOICES else 1)
    assert privacy.delta == stated_delta(mechanism.delta)
    assert width == mechanism.sensitivity
    assert privacy.lipschitz in (None, mechanism.epsilon / width)
    if type(mechanism) in ADJACENCY:  # once released, a promise never changes
        assert privacy.adjacency == ADJACENCY[type(mechanism)]
        assert (privacy.lipschitz is not None) == isinstance(mechanism, LIPSCHITZ)
        assert (privacy.delta > 0) == isinstance(mechanism, ENDING)


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_privacy__at_a_distance(mechanism):
    privacy, width = mechanism.privacy, mechanism.privacy.sensitivity
    shares = np.array([0.0, 0.125, 0.5, 1.0, 1.5, 2.0, 7.25])
    got = [privacy.at(share * width) for share in shares]
    if privacy.delta > 0:
        expected = np.where(shares <= 1, privacy.epsilon * shares, math.inf)
    elif privacy.lipschitz is not None:
        expected = privacy.epsilon * shares
    else:
        expected = privacy.epsilon * np.ceil(shares)
    assert got == pytest.approx(expected.tolist(), rel=1e-14, abs=0.0)
    assert privacy.at(width) == near(privacy.epsilon, 1e-15) if privacy.epsilon else True
    assert privacy.at(math.inf) == math.inf


# --- what an attacker learns ----------------------------------------------------------------------


def region(epsilon, delta, alarm):
    """The least missed-detection probability that (epsilon, delta)-DP allows."""
    lines = 1.0 - delta - math.exp(epsilon) * alarm, math.exp(-epsilon) * (1.0 - delta - alarm)
    return np.maximum(0.0, np.maximum(*lines))


@pytest.mark.parametrize("mechanism", SCALARS, ids=name)
def test_tradeoff__is_convex_and_inside_the_region(mechanism):
    alarm = np.linspace(0.0, 1.0, 4001)
    epsilon, delta = mechanism.epsilon, float(mechanism.delta)
    width = mechanism.sensitivity
    shifts = [None, width] + ([max(1, width // 2)] if mechanism in INTEGERS else [width / 3])
    for shift in shifts:
        missed = mechanism.tradeoff(alarm, shift)
        assert (np.diff(missed) <= ROUNDING).all()
        assert (np.diff(missed, 2) >= -ROUNDING).all()
        assert (missed >= region(epsilon, delta, alarm) - ROUNDING).all()
        assert (missed <= 1.0 - alarm + ROUNDING).all()
        assert missed[-1] == pytest.approx(0.0, abs=ROUNDING)
        # Symmetric laws: the roles of the two inputs can be exchanged, on the curve where it falls.
        falls = missed > 1e-9
        back = mechanism.tradeoff(np.clip(missed[falls], 0, 1), shift)
        np.testing.assert_allclose(back, alarm[falls], atol=1e-9)
    full = mechanism.tradeoff(alarm)
    tighter = region(0.9 * epsilon, 0.9 * delta, alarm)
    assert (full < tighter - ROUNDING).any()  # with a tenth less the promise would be broken


@pytest.mark.parametrize("mechanism", SCALARS, ids=name)
def test_profile__meets_the_promise(mechanism):
    epsilon, delta = mechanism.epsilon, float(mechanism.delta)
    assert mechanism.delta_at(epsilon) <= delta * (1 + 4e-16)
    asked = np.linspace(0.0, 1.2, 61) * (epsilon or 1.0)
    profile = mechanism.delta_at(asked)
    assert (np.diff(profile) <= 0).all()
    assert ((profile >= 0) & (profile <= 1)).all()
    if epsilon:
        assert mechanism.delta_at(0.9 * epsilon) > delta
    # delta_at(e) is the largest 1 - y - e^e x on the curve
    alarm = np.linspace(0.0, 1.0, 4001)
    missed = mechanism.tradeoff(alarm)
    for e, d in zip(asked, profile, strict=True):
        gap = np.max(1.0 - missed - math.exp(min(e, 700.0)) * alarm)
        assert gap <= d + ROUNDING
        assert d <= max(gap, 0.0) + math.exp(min(e, 30.0)) / 4000


# --- ratios between neighbours --------------------------------------------------------------------


def on_sphere(rng, norm, count, dim):
    """Random directions of length 1 in that norm, the axes among them."""
    v = rng.normal(size=(count, dim)) * (rng.uniform(size=(count, dim)) < 0.7)
    v[: min(dim, count)] += 2 * np.eye(dim)[: min(dim, count)]
    v[~v.any(axis=1), 0] = 1.0
    return v / np.linalg.norm(v, norm, axis=1, keepdims=True)


def shifts_of(mechanism, rng, count):
    """Random differences of neighbours a full sensitivity apart, in the mechanism's own sense."""
    if isinstance(mechanism, fn.BoxStaircase):
        shares = rng.uniform(-1, 1, (count, mechanism.dim))
        corners = rng.uniform(size=count) < 0.3
        shares[corners] = np.sign(shares[corners])
        shares /= np.abs(shares).max(axis=1, keepdims=True)
        return shares * np.array(mechanism.widths)
    if isinstance(mechanism, fn.L2Laplace | fn.L1Staircase):
        norm = 2 if isinstance(mechanism, fn.L2Laplace) else 1
        return on_sphere(rng, norm, count, mechanism.dim) * mechanism.sensitivity
    if isinstance(mechanism, fn.MultiUserLaplace):
        users = rng.exponential(size=(count, 4)) * (rng.uniform(size=(count, 4)) < 0.6)
        users[:, 0] += 1e-3
        users /= users.sum(axis=1, keepdims=True)
        directions = on_sphere(rng, 2, count * 4, mechanism.dim).reshape(count, 4, mechanism.dim)
        return users[..., None] * directions * mechanism.sensitivity
    return np.where(rng.uniform(size=count) < 0.5, -1.0, 1.0) * mechanism.sensitivity


def points_of(mechanism, rng, count):
    """Random points from the middle far into the tail."""
    scale = 10.0 ** rng.uniform(-2, 2, count)
    if mechanism in FLOATS:
        return rng.normal(size=count) * scale * mechanism.std()
    shape = (count, 4, mechanism.dim)
    if not isinstance(mechanism, fn.MultiUserLaplace):
        shape = (count, mechanism.dim)
    widths = np.array(getattr(mechanism, "widths", mechanism.sensitivity))
    v = rng.normal(size=shape) * widths / mechanism.epsilon
    return v * scale.reshape(-1, *[1] * (len(shape) - 1))


def largest_log_ratio(mechanism, share, rng, count=2000):
    """Between the densities of inputs `share` of a sensitivity apart, less one part in 1e12."""
    x, shift = points_of(mechanism, rng, count), shifts_of(mechanism, rng, count)
    moved = x + shift * (share * (1 - 1e-12))
    if isinstance(mechanism, fn.MultiUserLaplace):
        pairs = [(mechanism.logpdf(a), mechanism.logpdf(b)) for a, b in zip(x, moved, strict=True)]
        here, there = np.array(pairs).T
    else:
        here, there = mechanism.logpdf(x), mechanism.logpdf(moved)
    return float(np.max(np.abs(here - there))), float(np.max(np.abs(here)))


@pytest.mark.parametrize("share", [0.2, 1.0, 1.7, 3.0])
@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
def test_densities__of_neighbours_differ_as_promised(mechanism, share, rng):
    count = 300 if isinstance(mechanism, fn.MultiUserLaplace) else 2000
    ratio, size = largest_log_ratio(mechanism, share, rng, count)
    promised = mechanism.privacy.at(share * mechanism.privacy.sensitivity)
    assert ratio <= promised + 1e-14 * size + ROUNDING
    # The promise is not idle: random pairs come near it, and go beyond what less would allow.
    assert ratio > 0.5 * promised


STEPPED = [
    fn.Staircase(1.0, 0.5, gamma=0.375),
    fn.Staircase(0.01, 2.0, gamma=1.0),
    fn.Staircase(30.0, gamma=0.0),
    *(fn.L1Staircase(1.0, dim, 0.5, gamma=0.375) for dim in (1, 2, 3, 8)),
    fn.L1Staircase(3.0, 2, gamma=0.0),
    *(fn.BoxStaircase(1.0, (0.5,) * dim, core=(0.375 * 0.5,) * dim) for dim in (1, 2, 3, 8)),
    fn.BoxStaircase(2.0, (0.5, 4.0), core=(0.375, 0.0)),
]


@pytest.mark.parametrize("mechanism", STEPPED, ids=name)
def test_densities__at_the_edges_of_steps(mechanism, rng):
    """Points on the edges and next to them, moved by a full sensitivity: all sums are exact."""
    dim = getattr(mechanism, "dim", 1)
    widths = np.array(getattr(mechanism, "widths", [mechanism.sensitivity] * dim))
    cores = np.array(getattr(mechanism, "core", [getattr(mechanism, "gamma", 0) * widths[0]] * dim))
    tiny, count = 2.0**-30, 4000
    levels = rng.integers(0, 40, (count, 1))
    if isinstance(mechanism, fn.L1Staircase):  # the norm is on an edge: shares of it, in dyadics
        shares = rng.multinomial(64, np.full(dim, 1 / dim), count) / 64
        x = shares * (cores + levels * widths)
        shift = rng.multinomial(64, np.full(dim, 1 / dim), count) / 64 * widths
    else:  # one coordinate is on its edge
        inside = rng.integers(0, 65, (count, dim)) / 64
        inside[np.arange(count), rng.integers(0, dim, count)] = 1.0
        x = inside * (cores + levels * widths)
        shift = rng.integers(-64, 65, (count, dim)) / 64 * widths
        shift[: count // 2] = np.sign(shift[: count // 2]) * widths
    x[:, 0] += rng.choice([-tiny, 0.0, 0.0, tiny], count)
    x *= rng.choice([-1.0, 1.0], (count, dim))
    moved = x + shift
    assert np.array_equal(moved - x, shift)
    x, moved = (v if hasattr(mechanism, "dim") else v[:, 0] for v in (x, moved))
    here, there = mechanism.logpdf(x), mechanism.logpdf(moved)
    ratio = np.abs(here - there)
    rounding = 1e-14 * np.abs(here).max()
    assert ratio.max() <= mechanism.epsilon + rounding
    assert ratio.max() >= mechanism.epsilon - rounding
    further = mechanism.logpdf(x + 3 * (moved - x))
    assert np.abs(here - further).max() > 2 * mechanism.epsilon - rounding


@pytest.mark.parametrize("mechanism", INTEGERS, ids=name)
def test_probabilities__of_neighbours_differ_as_promised(mechanism, rng):
    """The hockey-stick sum at every distance is at most delta, at what `privacy.at` says."""
    width = mechanism.sensitivity
    end = mechanism.support()[1]
    last = int(end) if end < math.inf else 40 * width
    i = np.arange(-last - 2 * width, last + 2 * width + 1)
    distances = {1, width, max(1, width // 2), max(1, width - 1), *rng.integers(1, width + 1, 5)}
    for distance in map(int, distances):
        epsilon = mechanism.privacy.at(distance)
        here, there = mechanism.pmf(i), mechanism.pmf(i + distance)
        excess = np.maximum(0.0, here - math.exp(epsilon) * there)
        assert excess.sum() <= mechanism.delta + 1e-14
        if mechanism.delta == 0:
            logs = mechanism.logpmf(i), mechanism.logpmf(i + distance)
            assert np.abs(logs[0] - logs[1]).max() <= epsilon + 1e-15 * np.abs(logs).max()
    full = mechanism.pmf(i) - math.exp(0.9 * mechanism.epsilon) * mechanism.pmf(i + width)
    assert np.maximum(0.0, full).sum() > 0.9 * mechanism.delta  # and it is not idle


@pytest.mark.parametrize("mechanism", CHOICES, ids=name)
def test_choices__of_neighbours_differ_as_promised(mechanism, rng):
    width = mechanism.sensitivity
    costs = rng.uniform(0, 6, (3000, 5)) * width
    for share in (0.3, 1.0, 2.5):
        moved = costs + rng.choice([-1.0, 1.0], costs.shape) * width * share * (1 - 1e-12)
        ratio = np.abs(np.log(mechanism.probabilities(moved) / mechanism.probabilities(costs)))
        promised = mechanism.privacy.at(share * width)
        assert ratio.max() <= promised + ROUNDING
        assert ratio.max() > 0.5 * promised
    rising = costs + rng.uniform(size=costs.shape) * width
    ratio = np.abs(np.log(mechanism.probabilities(rising) / mechanism.probabilities(costs)))
    assert ratio.max() <= mechanism.epsilon + ROUNDING  # all costs rise: epsilon is enough
