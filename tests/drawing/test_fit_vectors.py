"""Is the noise of vectors distributed as promised: radius, coordinates, direction, layers?"""

from functools import lru_cache

import numpy as np
import pytest
from conftest import KEY
from scipy.integrate import quad
from scipy.special import betainc, gammaln

import fastnoise as fn
from fastnoise.verify.fit import (
    SHARES,
    dependent,
    misfits,
    pooled,
    rejected,
    rows_depend,
    signs_depend,
    simplex_misfits,
    sphere_misfits,
    unlikely,
)

pytestmark = pytest.mark.long

EPSILONS = (1e-6, 0.01, 1.0, 10.0, 50.0)
L2 = [
    *[fn.L2Laplace(e, dim, 0.3) for e in EPSILONS for dim in (1, 2, 3, 4, 5, 16, 128)],
    *[fn.MultiUserLaplace(e, dim, 7.0) for e in EPSILONS for dim in (1, 2, 16)],
]
L1 = [
    *[fn.L1Staircase(e, dim, 0.3) for e in EPSILONS for dim in (1, 2, 4, 16, 64)],
    *[fn.L1Staircase(1.0, dim, 1000.0, gamma=g) for dim in (1, 2, 4) for g in (0.0, 0.4, 1.0)],
    *[fn.L1Staircase(10.0, 4, gamma=0.5), fn.L1Staircase(0.01, 2, gamma=0.0)],
]
CORES = {
    (0.3,): [None, (0.0,)],
    (1.0, 10.0): [None, (0.1, 1.0), (0.0, 3.0), (0.0, 0.0)],
    (1.0, 3.0, 0.1, 7.0): [None, (0.4, 0.3, 0.0, 5.0), (0.0, 0.0, 0.0, 0.0)],
}
BOXES = [
    *[
        fn.BoxStaircase(e, w, core=core)
        for e in EPSILONS
        for w, cores in CORES.items()
        for core in cores[: 2 if e < 1 else None]
    ],
    *[fn.BoxStaircase(e, (1.0, 0.2), core=(2.5, 0.1)) for e in (1.0, 10.0)],  # a core of 2.5 widths
]
STAIRCASES = [*L1, *BOXES]
ALL = [*L2, *STAIRCASES]
MOST = [m for m in ALL if m.dim <= 16 or m.epsilon in (1e-6, 1.0)]  # without most of the slowest


def kinds_of(values, kinds=8):
    """Which of so many equal shares of the sample each value is in."""
    return np.searchsorted(np.quantile(values, np.arange(1, kinds) / kinds), values)


def draws(mechanism) -> int:
    if mechanism.dim <= 5:
        return 120_000
    return 60_000 if isinstance(mechanism, fn.L1Staircase) else 30_000


@lru_cache(maxsize=256)
def released(mechanism):
    """The law on its grid, as real numbers: wider by what snapping may add."""
    match mechanism:
        case fn.BoxStaircase():
            widths = mechanism.released_sensitivity
            sides = zip(mechanism.core, mechanism.widths, widths, strict=True)
            core = [z / s * width for z, s, width in sides]
            return fn.BoxStaircase(mechanism.epsilon, widths, core=core)
        case _:
            return wider(mechanism, mechanism.released_sensitivity / mechanism.sensitivity)


def noise_of(mechanism, how: str = "sample", count: int | None = None) -> np.ndarray:
    """The noise, which is whole numbers of grid steps."""
    shape = count or draws(mechanism), mechanism.dim
    stream, grid = fn.Stream.from_key(KEY), np.array(mechanism.grid)
    if how == "sample":
        noise = mechanism.sample(shape[0], stream=stream)
    else:
        steps = (np.arange(shape[0] * shape[1]) % 1000 - 500.0).reshape(shape) * 1234.37
        noise = mechanism.perturb(steps * grid, stream=stream) - np.floor(steps + 0.5) * grid
    assert noise.shape == shape
    assert (noise / grid == np.round(noise / grid)).all()
    return noise


def wider(mechanism, factor: float = 1.05):
    """The same law, 5% wider."""
    match mechanism:
        case fn.BoxStaircase():
            sizes = (
                [factor * size for size in side] for side in (mechanism.widths, mechanism.core)
            )
            widths, core = sizes
            return fn.BoxStaircase(mechanism.epsilon, widths, core=core)
        case fn.L1Staircase():
            law = mechanism.epsilon, mechanism.dim, factor * mechanism.sensitivity
            return fn.L1Staircase(*law, gamma=mechanism.gamma)
        case _:
            law = mechanism.epsilon, mechanism.dim, factor * mechanism.sensitivity
            return type(mechanism)(*law)


# --- radius ---------------------------------------------------------------------------------------


def norms(mechanism, noise: np.ndarray) -> np.ndarray:
    """In the mechanism's own norm; for boxes, how many widths a vector is outside the core."""
    if isinstance(mechanism, fn.BoxStaircase):
        return np.max((np.abs(noise) - mechanism.core) / mechanism.widths, axis=1)
    if isinstance(mechanism, fn.L1Staircase):
        return np.abs(noise).sum(axis=1)
    return np.sqrt((noise**2).sum(axis=1))


@lru_cache(maxsize=256)
def quantiles(mechanism) -> np.ndarray:
    """Of these norms, at SHARES."""
    if isinstance(mechanism, fn.BoxStaircase):
        return np.array([mechanism.confidence_region(share).beta for share in SHARES.tolist()])
    if isinstance(mechanism, fn.MultiUserLaplace):
        return mechanism.radius(1).ppf(SHARES)
    return mechanism.radius.ppf(SHARES)


def radii_misfit(mechanism, noise: np.ndarray) -> bool:
    law = released(mechanism)
    return misfits(norms(law, noise), quantiles(law), SHARES)


@pytest.mark.parametrize("how", ["sample", "perturb"])
@pytest.mark.parametrize("mechanism", ALL, ids=repr)
def test_radius__fits(mechanism, how):
    assert not radii_misfit(mechanism, noise_of(mechanism, how))


@pytest.mark.parametrize("mechanism", MOST, ids=repr)
def test_scale__five_percent_more_is_rejected(mechanism):
    """By the radius, by coordinates and by layers."""
    noise = noise_of(wider(mechanism))
    assert radii_misfit(mechanism, noise)
    assert coordinates_misfit(mechanism, noise)
    if mechanism in STAIRCASES:
        assert levels_misfit(mechanism, noise)


@pytest.mark.parametrize("users", [2, 7, 50])
@pytest.mark.parametrize("dim", [1, 2, 16])
def test_users__norms_add_up_to_a_gamma_number(dim, users):
    def sums(law: fn.MultiUserLaplace) -> np.ndarray:
        count = users * (10_000 + 200_000 // (users * dim))
        return norms(law, noise_of(law, count=count)).reshape(-1, users).sum(axis=1)

    mechanism = fn.MultiUserLaplace(0.5, dim)
    edges = released(mechanism).radius(users).ppf(SHARES)
    assert not misfits(sums(mechanism), edges, SHARES)
    assert misfits(sums(wider(mechanism)), edges, SHARES)


# --- coordinates ----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def layer_weights(mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Layers and their probabilities; where there are very many, one for each of equal groups."""
    dim, epsilon = mechanism.dim, mechanism.epsilon
    deepest = (dim + 50 + 12 * dim**0.5) / epsilon + 2
    stride = max(1, int(deepest / 5_000))
    layers = np.arange(0, deepest, stride) + stride // 2
    weights = mechanism.layer_pmf(layers)
    assert weights.sum() * stride == pytest.approx(1.0, rel=1e-4)
    return layers, weights / weights.sum()


@lru_cache(maxsize=1000)
def l2_tail(x: float, dim: int) -> float:
    """P(|V_1| > x) at scale 1: a Gamma(dim) radius times a coordinate of the sphere."""
    if dim == 1:
        return float(np.exp(-x))
    half = (dim - 1) / 2

    def part(log: float) -> float:
        radius = np.exp(log)
        share = 2 * betainc(half, half, 0.5 - 0.5 * x / radius)
        return float(np.exp(dim * log - radius - gammaln(dim)) * share)

    low, high = np.log(x), np.log(x + dim + 50 + 12 * dim**0.5)
    middle = np.clip(np.log(dim), low, high)
    return sum(
        quad(part, *ends, epsabs=1e-10, limit=200)[0] for ends in ((low, middle), (middle, high))
    )


def tails(mechanism, i: int, x: np.ndarray) -> np.ndarray:
    """P(|coordinate i| > x)."""
    if isinstance(mechanism, fn.L2Laplace | fn.MultiUserLaplace):
        scale = mechanism.sensitivity / mechanism.epsilon
        return np.array([l2_tail(value, mechanism.dim) for value in (x / scale).round(12).tolist()])
    layers, weights = layer_weights(mechanism)
    layers, weights = layers[weights > 0], weights[weights > 0]
    if isinstance(mechanism, fn.L1Staircase):
        sides, power = (layers + mechanism.gamma) * mechanism.sensitivity, mechanism.dim
    else:
        sides, power = mechanism.core[i] + layers * mechanism.widths[i], 1
    return np.maximum(1 - x[:, None] / sides, 0) ** power @ weights


def coordinate_edges(mechanism, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges on both sides of 0 and the cdf there."""
    if isinstance(mechanism, fn.BoxStaircase):
        mean = mechanism.marginal_var()[i] ** 0.5 / 1.3
    else:
        users = {"n": 1} if isinstance(mechanism, fn.MultiUserLaplace) else {}
        mean = mechanism.expected_cost("l1", **users) / mechanism.dim
    right = -mean * np.log(np.arange(23, 0, -1) / 24)
    tail = tails(mechanism, i, right) / 2
    edges = np.concatenate([-right[::-1], [0.0], right])
    return edges, np.concatenate([tail[::-1], [0.5], 1 - tail])


def coordinates_misfit(mechanism, noise: np.ndarray) -> bool:
    law = released(mechanism)
    for i in {0, mechanism.dim // 2, mechanism.dim - 1}:
        if isinstance(mechanism, fn.BoxStaircase) or i == 0:  # elsewhere all have the same law
            edges, below = coordinate_edges(law, i)
        if misfits(noise[:, i], edges, below):
            return True
    return False


@pytest.mark.parametrize("mechanism", MOST, ids=repr)
def test_coordinates__fit(mechanism):
    assert not coordinates_misfit(mechanism, noise_of(mechanism))


def test_l2_tail__at_three_dimensions():
    """The difference of two Gamma(2) numbers; and the other closed forms nearby."""
    for x in (0.01, 0.5, 2.0, 9.0):
        assert l2_tail(x, 3) == pytest.approx((1 + x / 2) * np.exp(-x), rel=1e-7)
        assert l2_tail(x, 5) == pytest.approx((1 + 5 * x / 8 + x * x / 8) * np.exp(-x), rel=1e-7)


# --- direction ------------------------------------------------------------------------------------


def misdirected(mechanism, noise: np.ndarray) -> bool:
    test = simplex_misfits if isinstance(mechanism, fn.L1Staircase) else sphere_misfits
    return test(noise)


RADIAL = [m for m in MOST if m not in BOXES and m.dim > 1]


@pytest.mark.parametrize("mechanism", RADIAL, ids=repr)
def test_directions__are_uniform_and_independent_of_the_radius(mechanism):
    """And 5% off one axis is rejected, and so is a tilt at some radii only."""
    noise = noise_of(mechanism)
    size = norms(mechanism, noise)
    assert not misdirected(mechanism, noise)
    near = kinds_of(size)
    for i in (0, mechanism.dim - 1):
        along = noise[:, i] / size
        assert not dependent(near, kinds_of(along))
        assert not dependent(near, kinds_of(np.abs(along)))
    along[near == 3] += 0.25 * along.std()
    assert dependent(near, kinds_of(along))
    noise[:, 0] *= 0.95
    assert misdirected(mechanism, noise)


@pytest.mark.parametrize("mechanism", [m for m in MOST if m.dim > 1], ids=repr)
def test_signs__are_independent(mechanism):
    noise = noise_of(mechanism)
    assert not signs_depend(noise)
    noise[::20, -1] = np.abs(noise[::20, -1]) * np.sign(noise[::20, 0])
    assert signs_depend(noise)


def test_signs__unfair_ones_are_rejected():
    noise = noise_of(fn.L2Laplace(1.0, 16))
    noise[::20, 3] = np.abs(noise[::20, 3])
    assert signs_depend(noise)


@pytest.mark.parametrize(
    "mechanism", [m for m in ALL if m.dim in (1, 2, 16) and m.epsilon != 0.01], ids=repr
)
def test_rows__are_independent(mechanism):
    """Neighbouring rows, which are users of `MultiUserLaplace`."""
    noise = noise_of(mechanism)
    size = norms(mechanism, noise)
    assert not rows_depend(noise[:, 0], size)
    assert not rows_depend(noise[:, -1], np.abs(noise[:, -1]))
    noise[16::20], size[16::20] = noise[:-16:20], size[:-16:20]
    assert rows_depend(noise[:, 0], size)


@pytest.mark.parametrize("mechanism", [m for m in RADIAL if m.epsilon == 1.0], ids=repr)
def test_coordinates__sizes_do_not_depend_on_the_next_row(mechanism):
    """The last coordinate of a row and the first of the next, whose words are neighbours."""
    noise = noise_of(mechanism)
    last, first = kinds_of(noise[:-1, -1]), kinds_of(noise[1:, 0])
    assert not dependent(last, first)
    first[::20] = last[::20]
    assert dependent(last, first)


# --- layers ---------------------------------------------------------------------------------------


def within(mechanism, level: np.ndarray) -> np.ndarray:
    """P(outside no more than so many sets), from the probabilities of layers, which are uniform."""
    layers, weights = layer_weights(mechanism)
    layers, weights = layers[weights > 0], weights[weights > 0]
    if isinstance(mechanism, fn.L1Staircase):
        inside = np.minimum((level[:, None] + mechanism.gamma) / (layers + mechanism.gamma), 1.0)
        return inside**mechanism.dim @ weights
    starts = [z / s for z, s in zip(mechanism.core, mechanism.widths, strict=True)]
    shares = 1.0
    for start in starts:
        shares = shares * np.minimum((level[:, None] + start) / (layers + start), 1.0)
    return shares @ weights


def levels_misfit(mechanism, noise: np.ndarray) -> bool:
    """Exact tests of how many vectors are in each of some of the nested sets."""
    law = released(mechanism)
    size, edges = norms(law, noise), quantiles(law)
    if isinstance(law, fn.L1Staircase):
        size, edges = (r / law.sensitivity - law.gamma for r in (size, edges))
    level = np.unique(np.maximum([np.floor(edges), np.ceil(edges)], 0.0))
    inside = np.searchsorted(np.sort(size), level)
    return unlikely(inside, size.size, np.minimum(within(law, level), 1.0))


@pytest.mark.parametrize("mechanism", [m for m in MOST if m in STAIRCASES], ids=repr)
def test_layers__fit(mechanism):
    assert not levels_misfit(mechanism, noise_of(mechanism))


def pair_misfits(mechanism, noise: np.ndarray, i: int, j: int) -> bool:
    """|coordinates| i and j together, in 36 cells: independent uniforms, given the layer."""
    layers, weights = layer_weights(mechanism)
    layers, weights = layers[weights > 0], weights[weights > 0]
    kinds, inside = [], []
    for at in (i, j):
        edges = np.array([0.3, 0.6, 1.0, 1.4, 2.0]) * mechanism.marginal_var()[at] ** 0.5
        sides = mechanism.core[at] + layers * mechanism.widths[at]
        below = np.minimum(edges[:, None] / sides, 1.0)
        kinds.append(np.searchsorted(edges, np.abs(noise[:, at])))
        inside.append(np.diff(below, axis=0, prepend=0.0, append=1.0))
    probabilities = (inside[0] * weights) @ inside[1].T
    counts = np.bincount(6 * kinds[0] + kinds[1], minlength=36)
    return rejected(*pooled(counts, probabilities.ravel()))


@pytest.mark.parametrize("mechanism", [m for m in BOXES if m.dim > 1], ids=repr)
def test_boxes__pairs_of_coordinates_fit(mechanism):
    noise, wrong = noise_of(mechanism), noise_of(wider(mechanism))
    assert not pair_misfits(mechanism, noise, 0, mechanism.dim - 1)
    assert not pair_misfits(mechanism, noise, mechanism.dim // 2, 0)
    assert pair_misfits(mechanism, wrong, 0, mechanism.dim - 1)


@pytest.mark.parametrize("mechanism", [m for m in BOXES if m.dim > 1 and m.epsilon <= 1], ids=repr)
def test_boxes__independent_coordinates_are_rejected(mechanism):
    """The layer, which they share, makes them dependent."""
    noise = noise_of(mechanism)
    noise[:, 0] = np.roll(noise[:, 0], 1)
    assert pair_misfits(mechanism, noise, 0, mechanism.dim - 1)
