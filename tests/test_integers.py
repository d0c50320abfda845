"""Are integers perturbed exactly: same noise in every dtype, saturating, never through a float?"""

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels.integers import add_saturating
from fastnoise_kernels.layout import UNDECIDED
from laws import integer_sf, line_law

import fastnoise as fn
from fastnoise.laws.law import Limits
from fastnoise.laws.line.reader import LineReader
from fastnoise.laws.line.tables import staircase_tables
from fastnoise.rows import Rows
from fastnoise.verify.fit import rejected

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8"]
MECHANISMS = [
    fn.Geometric(epsilon=1.0),
    fn.DiscreteStaircase(epsilon=0.5, sensitivity=10),
    fn.DiscreteStaircase(epsilon=1e-3, sensitivity=1000),
    fn.DiscreteStaircase(epsilon=2.0, sensitivity=2**40),
]


def drawn(mechanism, start: int, count: int) -> list[int]:
    """The noise as Python integers."""
    stream = fn.Stream.from_key(KEY).at(start)
    return mechanism.sample(count, stream=stream).tolist()


def saturated(x: int, noise: int, dtype) -> int:
    extent = np.iinfo(dtype)
    return min(max(x + noise, int(extent.min)), int(extent.max))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums__are_exact_and_saturate(mechanism, dtype, stream, rng):
    extent = np.iinfo(dtype)
    x = rng.integers(extent.min, extent.max, 3000, dtype=np.dtype(dtype).newbyteorder("="))
    x[:6] = [extent.min, extent.max, 0, 1, extent.max - 1, extent.min + 1]
    x = x.astype(dtype)
    before = x.copy()
    y = mechanism.perturb(x, stream=stream.at(5))
    noise = drawn(mechanism, 5, x.size)
    assert y.dtype == x.dtype
    assert y.tolist() == [saturated(v, n, dtype) for v, n in zip(x.tolist(), noise, strict=True)]
    assert (x == before).all()
    assert mechanism.perturb(x, out=x, stream=stream.at(5)) is x
    assert (x == y).all()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("start", [0, 2**32 - 1000, 2**62 - 5])
def test_slices__rows_threads_and_strides(mechanism, start, stream, rng, threads):
    x = rng.integers(-1000, 1000, 40_000)
    whole = mechanism.perturb(x, stream=stream.at(start))
    for count in (1, 2):
        threads(count)
        a, b = np.sort(rng.integers(0, x.size, 2)).tolist()
        assert (mechanism.perturb(x[a:b], stream=stream.at(start + a)) == whole[a:b]).all()
        keyed = mechanism.perturb(x[a:b], stream=stream, rows=range(start + a, start + b))
        assert (keyed == whole[a:b]).all()
        order = rng.permutation(1000)
        keyed = mechanism.perturb(x[order], stream=stream, rows=start + order)
        assert (keyed == whole[order]).all()
    strided = np.repeat(x, 3)[::3]
    assert (mechanism.perturb(strided, stream=stream.at(start)) == whole).all()
    zeros = mechanism.perturb(np.zeros(500, np.int64), stream=stream.at(start))
    assert (mechanism.sample(500, stream=stream.at(start)) == zeros).all()


def test_sample__dtypes(stream):
    mechanism = fn.Geometric(0.01)
    wide = mechanism.sample(5000, stream=stream.at(0))
    assert wide.dtype == np.int64
    assert type(mechanism.sample(stream=stream.at(0))) is int
    for dtype in DTYPES:
        narrow = mechanism.sample(5000, dtype=dtype, stream=stream.at(0))
        assert narrow.dtype == dtype
        assert narrow.tolist() == [saturated(0, n, dtype) for n in wide.tolist()]
    for dtype in (float, bool, object, "nonsense"):
        with pytest.raises(TypeError, match="dtype must be an integer dtype"):
            mechanism.sample(3, dtype=dtype)


@pytest.mark.parametrize(
    "x", [1.0, [1.0, 2.0], np.zeros(3), np.zeros(3, "f4"), True, None, "1", 1j]
)
def test_floats__are_refused(x, stream):
    with pytest.raises(TypeError, match=r"x must be (an integer|integers)"):
        fn.Geometric(1.0).perturb(x, stream=stream)
    assert stream.position == 0


def test_containers__come_back_as_they_went(stream):
    mechanism = fn.Geometric(1.0)
    value = mechanism.perturb(7, stream=stream.at(0))
    assert type(value) is int
    assert type(mechanism.perturb(np.int8(7), stream=stream.at(0))) is np.int8
    assert mechanism.perturb([7], stream=stream.at(0)).tolist() == [value]
    assert mechanism.perturb([], stream=stream).dtype == np.int64
    with pytest.raises(ValueError, match="x must be"):
        mechanism.perturb(2**63)


def test_clip__comes_before_the_noise(stream):
    mechanism = fn.DiscreteStaircase(1.0, 100)
    x = np.array([-(2**63), -5, 0, 9, 2**63 - 1])
    inside = np.array([-5, -5, 0, 7, 7])
    noise = mechanism.perturb(np.zeros(5, int), clip=(-5, 7), stream=stream.at(0))
    noisy = mechanism.perturb(x, clip=(-5, 7), stream=stream.at(0))
    assert noisy.tolist() == (inside + noise).tolist()
    largest = np.array([2**64 - 1, 3], np.uint64)
    noise = mechanism.perturb(np.zeros(2, int), clip=(0, float("inf")), stream=stream.at(0))
    top = mechanism.perturb(largest, clip=(0, float("inf")), stream=stream.at(0))
    pairs = zip(largest.tolist(), noise.tolist(), strict=True)
    assert top.tolist() == [saturated(v, n, "u8") for v, n in pairs]
    for clip in ((0.5, 2), (3, 1), (True, 2), (0, None), "ab", (0, float("nan"))):
        with pytest.raises((TypeError, ValueError), match="clip"):
            mechanism.perturb(x, clip=clip)


@pytest.mark.parametrize("grid", [None, 2, 0.5, "fine"])
def test_grid__is_one(grid):
    mechanism = fn.Geometric(1.0)
    assert (mechanism.grid, mechanism.released_sensitivity) == (1, 1)
    assert type(mechanism.perturb(3, grid=1)) is int
    with pytest.raises(ValueError, match="grid must be"):
        mechanism.perturb(3, grid=grid)


DEEPER = line_law(staircase_tables(2.0**-6, 2**57, 2**50), 1.0, integers=True)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_deep_noise__saturates_exactly(dtype, rng):
    extent = np.iinfo(dtype)
    x = rng.integers(extent.min, extent.max, 400, dtype=dtype)
    limits = Limits(int(extent.min), int(extent.max), int(extent.min), int(extent.max))
    got = np.empty_like(x)
    DEEPER.perturb(KEY, Rows(0), 0, x, got, limits)
    noise = DEEPER.noise(KEY, Rows(0), x.size)
    assert (noise == UNDECIDED).mean() > 0.3
    reader = LineReader(DEEPER.tables)
    expected = [saturated(int(v), reader.noise(KEY, i), dtype) for i, v in enumerate(x)]
    assert got.tolist() == expected


def test_add_saturating__at_the_edges_of_64_bits():
    import numba

    add = numba.njit(lambda v, n, least, most: add_saturating(v, n, least, most))
    for kind in (np.int64, np.uint64):
        extent = np.iinfo(kind)
        least, most = int(extent.min), int(extent.max)
        values = sorted({least, least + 1, 0, 1, 2**62, 2**63 - 1, most - 1, most})
        for value in values:
            for noise in (0, 1, -1, 2**62 - 1, 1 - 2**62):
                got = add(kind(value), noise, kind(least), kind(most))
                assert int(got) == min(max(value + noise, least), most)
                assert add_saturating(value, noise, least, most) == int(got)


FITS = [
    (epsilon, sensitivity, r)
    for epsilon in (1e-3, 0.1, 1.0, 5.0)
    for sensitivity, r in ((1, 1), (2, 1), (10, 4), (10, 10), (1000, 300), (2**40, 2**38))
]


def bins(epsilon: float, sensitivity: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers that begin a bin on the right, and the probabilities between them, both sides."""
    law = fn.DiscreteStaircase(epsilon, sensitivity, r=r)
    places = law.isf(np.linspace(0.5, 0, 25)[1:-1])
    right = np.unique(np.maximum(places, 0).astype(np.int64)) + 1
    tail = np.array([integer_sf(int(i), epsilon, sensitivity, r) for i in right])
    keep = tail * N > 60
    right, tail = right[keep], tail[keep]
    edges = np.concatenate([-right[::-1] + 1, right])
    return edges, np.diff(np.concatenate([[0.0], tail[::-1], 1.0 - tail, [1.0]]))


N = 200_000


def is_rejected(noise: np.ndarray, epsilon: float, sensitivity: int, r: int) -> bool:
    edges, probabilities = bins(epsilon, sensitivity, r)
    counts = np.bincount(np.searchsorted(edges, noise, side="right"), minlength=edges.size + 1)
    return rejected(counts, probabilities)


@pytest.mark.parametrize(("epsilon", "sensitivity", "r"), FITS)
def test_discrete_staircase__fits(epsilon, sensitivity, r, stream):
    noise = fn.DiscreteStaircase(epsilon, sensitivity, r=r).sample(N, stream=stream)
    assert not is_rejected(noise, epsilon, sensitivity, r)


@pytest.mark.parametrize(("epsilon", "sensitivity", "r"), FITS)
def test_discrete_staircase__five_percent_less_epsilon_is_rejected(epsilon, sensitivity, r, stream):
    noise = fn.DiscreteStaircase(0.95 * epsilon, sensitivity, r=r).sample(N, stream=stream)
    assert is_rejected(noise, epsilon, sensitivity, r)


def test_geometric__is_the_staircase_of_sensitivity_one():
    geometric, staircase = fn.Geometric(0.7), fn.DiscreteStaircase(0.7)
    assert repr(geometric) == "Geometric(epsilon=0.7)"
    assert (staircase.r, staircase.sensitivity) == (1, 1)
    i = np.arange(-50, 51)
    assert np.array_equal(geometric.pmf(i), staircase.pmf(i))
    assert geometric.privacy == fn.Privacy(0.7, 0.0, "l1", 1, 0.7)
    assert geometric.privacy.at(3) == pytest.approx(2.1)
    assert staircase.privacy.adjacency == "element"


@pytest.mark.parametrize("sensitivity", [0, -1, 1.5, "1", None, True, 2**58])
def test_bad_sensitivity(sensitivity):
    with pytest.raises((ValueError, TypeError), match="sensitivity must be"):
        fn.DiscreteStaircase(1.0, sensitivity)


def test_sensitivity_over_epsilon__is_limited():
    fn.DiscreteStaircase(1.0, 2**52)
    with pytest.raises(ValueError, match=r"sensitivity must be at most 2\*\*52 times epsilon"):
        fn.DiscreteStaircase(0.5, 2**52)


@pytest.mark.parametrize("r", [0, 11, 1.5, "best", True, [3]])
def test_bad_r(r):
    with pytest.raises((ValueError, TypeError), match="r must be"):
        fn.DiscreteStaircase(1.0, 10, r=r)


def test_r__by_name():
    assert fn.DiscreteStaircase(1.0, 1000, r="heuristic").r == round(np.exp(-1) / 2 * 1000)
    assert fn.DiscreteStaircase(1.0, 1000, r="dominating").r == 418
