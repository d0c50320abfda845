"""Is noise a function of (key, mechanism, row) alone: any threads, chunks, strides and order?"""

import numpy as np
import pytest
from conftest import KEY
from mechanisms import CHOICES, DRAWN, INTEGERS, VECTORS, name

import fastnoise as fn
from fastnoise.laws.law import Law

STARTS = [0, 7, 2**32 - 1000, 2**62 - 5]
N = 70_000  # values


def same(a, b):
    return a.dtype == b.dtype and np.array_equal(a.view(np.uint8), b.view(np.uint8))


def data(mechanism, rng, count):
    """So many draws: an array of integers, of floats, or of vectors along the last axis."""
    shape = (count, *mechanism._row_shape)
    if mechanism in INTEGERS:
        return rng.integers(-1000, 1000, shape)
    return rng.normal(size=shape) * 100


def draws(mechanism, values):
    """How many rows so many values are."""
    return values // getattr(mechanism, "dim", 1)


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
@pytest.mark.parametrize("start", STARTS)
def test_slices(mechanism, start, stream, rng, threads):
    n = draws(mechanism, N)
    x = data(mechanism, rng, n)
    whole = mechanism.perturb(x, stream=stream.at(start))
    assert whole.shape == x.shape
    for count in (1, 2):
        threads(count)
        assert same(mechanism.perturb(x, stream=stream.at(start)), whole)
        for _ in range(3):
            a, b = np.sort(rng.integers(0, n + 1, 2)).tolist()
            part = mechanism.perturb(x[a:b], stream=stream.at(start + a))
            assert same(part, whole[a:b])
            rows = range(start + a, start + b)
            assert same(mechanism.perturb(x[a:b], stream=stream, rows=rows), whole[a:b])
    assert stream.position == 0


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
def test_slices__of_every_length(mechanism, stream, rng):
    """Tiles, lanes and batches have ends: every start and every length up to a few of them."""
    n = draws(mechanism, 4000) if mechanism in VECTORS else 300
    x = data(mechanism, rng, n)
    whole = mechanism.perturb(x, stream=stream.at(5))
    for a in [*range(min(n, 20)), *rng.integers(0, n, 10).tolist()]:
        for b in {a, a + 1, n, *rng.integers(a, n + 1, 3).tolist()}:
            part = mechanism.perturb(x[a:b], stream=stream.at(5 + a))
            assert same(part, whole[a:b])


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
def test_slices__are_no_repetition(mechanism, stream):
    """The law of slices would hold for noise that is always the same."""
    first, again = (mechanism.sample(200, stream=stream.at(start)) for start in (0, 200))
    assert (first != again).mean() > 0.2
    assert not same(mechanism.sample(200, stream=stream.child("other").at(0)), first)
    moved = mechanism.sample(200, stream=stream.at(1))
    assert same(moved[:-1], first[1:])
    assert not same(moved, first)


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
def test_rows_in_any_order(mechanism, stream, rng, threads):
    n = max(40, draws(mechanism, 5_000))
    x = data(mechanism, rng, n)
    for start in STARTS:
        whole = mechanism.perturb(x, stream=stream.at(start))
        order = rng.permutation(n)
        for count in (1, 2):
            threads(count)
            keyed = mechanism.perturb(x[order], stream=stream, rows=start + order)
            assert same(keyed, whole[order])
        some = order[:17]
        assert same(mechanism.perturb(x[some], stream=stream, rows=start + some), whole[some])


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
def test_leading_axes__are_flattened_draws(mechanism, stream, rng):
    shape = (4, 3, 10, *mechanism._row_shape)
    x = data(mechanism, rng, 120)
    flat = mechanism.perturb(x, stream=stream.at(9))
    cube = mechanism.perturb(x.reshape(shape), stream=stream.at(9))
    assert cube.shape == shape
    assert same(cube.reshape(x.shape), flat)
    rows = np.arange(9, 129)
    for ids in (rows, rows.reshape(4, 3, 10)):
        keyed = mechanism.perturb(x.reshape(shape), stream=stream, rows=ids)
        assert same(keyed.reshape(x.shape), flat)
    one = mechanism.perturb(x[37], stream=stream.at(9 + 37))
    assert np.array_equal(one, flat[37])


@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.Laplace(1.0)], ids=name)
@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", ">f4", "i4", ">i8", "u2"])
def test_any_layout(mechanism, dtype, stream, rng):
    plain = rng.integers(0, 1000, (60, 50, 7)).astype(dtype)
    expected = mechanism.perturb(plain.astype(plain.dtype.newbyteorder("=")), stream=stream.at(3))
    strided = np.zeros((60, 100, 21), dtype)[::-1, ::2, 1::3]
    strided[...] = plain
    unaligned = np.frombuffer(b"x" + plain.tobytes(), np.uint8)[1:].view(dtype).reshape(plain.shape)
    for array in (plain, np.asfortranarray(plain), strided, unaligned, plain.T.copy().T):
        got = mechanism.perturb(array, stream=stream.at(3))
        assert got.shape == plain.shape
        assert got.dtype == (plain.dtype if plain.dtype.kind == "f" else np.float64)
        assert np.array_equal(got, expected)


def layouts(x):
    """The same values in other memory: every axis strided, reversed, transposed or unaligned."""
    last = np.zeros((*x.shape[:-1], 3 * x.shape[-1]), x.dtype)
    first = np.zeros((2 * x.shape[0], *x.shape[1:]), x.dtype)
    swapped = x.astype(x.dtype.newbyteorder(">"))
    kinds = {
        "last axis": last[..., 1::3],
        "first axis": first[::2],
        "reversed": np.zeros_like(x)[::-1],
        "last reversed": np.zeros_like(x)[..., ::-1],
        "fortran": np.zeros(x.shape, x.dtype, order="F"),
        "unaligned": np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape),
    }
    for kind in kinds.values():
        kind[...] = x
    return kinds | {"big endian": swapped}


@pytest.mark.parametrize("chunk", [7, 1 << 18])
@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
def test_any_layout__and_chunks_that_end_inside_vectors(
    mechanism, chunk, stream, rng, threads, monkeypatch
):
    n = draws(mechanism, 1500) // 4 * 4
    x = data(mechanism, rng, n).reshape(n // 4, 4, *mechanism._row_shape)
    expected = mechanism.perturb(x, stream=stream.at(3))
    rows = rng.permutation(10 * n)[:n]
    keyed = mechanism.perturb(x, stream=stream, rows=rows)
    monkeypatch.setattr("fastnoise.pieces.VALUES", chunk)
    monkeypatch.setattr("fastnoise.laws.line.law.CHUNK", chunk)
    for count in (1, 2):
        threads(count)
        for kind, array in layouts(x).items():
            got = mechanism.perturb(array, stream=stream.at(3))
            assert np.array_equal(got, expected), kind
            assert np.array_equal(mechanism.perturb(array, stream=stream, rows=rows), keyed), kind
            mechanism.perturb(array, out=array, stream=stream.at(3))
            assert np.array_equal(array, expected), kind


@pytest.mark.parametrize(
    "mechanism", [fn.Staircase(1.0), fn.DiscreteStaircase(0.5, 10), *VECTORS], ids=name
)
def test_any_layout__a_lost_place_in_a_vector_is_seen(mechanism, stream, rng, monkeypatch):
    """What the test before would say of chunks that forget how much came before them."""
    x = data(mechanism, rng, 60)
    expected = mechanism.perturb(x, stream=stream.at(3))

    right = Law.perturb

    def forgetful(law, key, rows, done, *rest):
        right(law, key, rows, 0, *rest)

    monkeypatch.setattr("fastnoise.pieces.VALUES", 7)
    monkeypatch.setattr(Law, "perturb", forgetful)
    got = mechanism.perturb(layouts(x)["last axis"], stream=stream.at(3))
    assert not np.array_equal(got, expected)


@pytest.mark.parametrize("mechanism", [m for m in DRAWN if m not in INTEGERS], ids=name)
def test_float32_is_float64_cast_once(mechanism, stream, rng, monkeypatch):
    x = data(mechanism, rng, draws(mechanism, 5000)).astype(np.float32)
    wide = mechanism.perturb(x.astype(np.float64), stream=stream.at(0)).astype(np.float32)
    assert same(mechanism.perturb(x, stream=stream.at(0)), wide)
    monkeypatch.setattr("fastnoise.pieces.VALUES", 7)
    for kind, array in layouts(x[:200]).items():
        assert np.array_equal(mechanism.perturb(array, stream=stream.at(0)), wide[:200]), kind


@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.Laplace(1.0), *VECTORS], ids=name)
def test_strided_out(mechanism, stream, rng):
    x = data(mechanism, rng, 40)
    x = x.reshape(20, -1)
    if mechanism in VECTORS:
        x = x.reshape(20, 2, -1)
    expected = mechanism.perturb(x, stream=stream.at(0))
    room = np.full((*x.shape[:-1], 2 * x.shape[-1]), 7.0)
    returned = mechanism.perturb(x, out=room[..., ::2], stream=stream.at(0))
    assert np.array_equal(room[..., ::2], expected)
    assert (room[..., 1::2] == 7.0).all()
    assert np.shares_memory(returned, room)
    both = np.zeros_like(room)
    both[..., ::2] = x
    mechanism.perturb(both[..., ::2], out=both[..., ::2], stream=stream.at(0))
    assert np.array_equal(both[..., ::2], expected)
    assert (both[..., 1::2] == 0.0).all()


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
@pytest.mark.parametrize("wide", [True, False])
def test_sample_is_perturb_of_zeros(mechanism, wide, stream):
    narrow = np.int16 if mechanism in INTEGERS else np.float32
    dtype = (np.int64 if mechanism in INTEGERS else np.float64) if wide else narrow
    size = (30, draws(mechanism, 700))
    sampled = mechanism.sample(size, dtype=dtype, stream=stream.at(11))
    zeros = np.zeros((*size, *mechanism._row_shape), dtype)
    assert sampled.any()
    assert same(sampled, mechanism.perturb(zeros, stream=stream.at(11)))
    room = np.empty(zeros.shape, dtype)
    assert mechanism.sample(out=room, stream=stream.at(11)) is room
    assert same(room, sampled)
    strided = np.empty((*zeros.shape[:-1], 2 * zeros.shape[-1]), dtype)[..., ::2]
    mechanism.sample(size, out=strided, stream=stream.at(11))
    assert np.array_equal(strided, sampled)


@pytest.mark.parametrize("mechanism", [m for m in DRAWN if m not in INTEGERS], ids=name)
def test_missing_values_use_up_their_row(mechanism, stream, rng):
    """And of a vector no more than themselves: its other coordinates are perturbed as ever."""
    x = data(mechanism, rng, draws(mechanism, 1000))
    expected = mechanism.perturb(x, stream=stream.at(0))
    holes = x.copy()
    holes.reshape(-1)[::7] = np.nan
    for array in (holes, np.asfortranarray(holes)):
        got = mechanism.perturb(array, stream=stream.at(0), nan="keep")
        kept = ~np.isnan(holes)
        assert np.isnan(got[~kept]).all()
        assert np.array_equal(got[kept], expected[kept])


@pytest.mark.parametrize("mechanism", CHOICES, ids=name)
def test_choices__are_functions_of_the_row(mechanism, stream, rng, threads):
    costs = rng.uniform(0, 5, (4000, 6)) * mechanism.sensitivity
    whole = mechanism.choose(costs, stream=stream.at(3))
    assert whole.shape == (4000,)
    assert len(set(whole.tolist())) == 6
    order = rng.permutation(4000)
    for count in (1, 2):
        threads(count)
        a, b = np.sort(rng.integers(0, 4001, 2)).tolist()
        part = mechanism.choose(costs[a:b], stream=stream.at(3 + a))
        assert np.array_equal(part, whole[a:b])
        keyed = mechanism.choose(costs[a:b], stream=stream, rows=range(3 + a, 3 + b))
        assert np.array_equal(keyed, whole[a:b])
        shuffled = mechanism.choose(costs[order], stream=stream, rows=3 + order)
        assert np.array_equal(shuffled, whole[order])
    for kind, array in layouts(costs).items():
        assert np.array_equal(mechanism.choose(array, stream=stream.at(3)), whole), kind
    cube = mechanism.choose(costs.reshape(40, 100, 6), stream=stream.at(3))
    assert np.array_equal(cube.reshape(-1), whole)


# The plainest laws of levels, and what wide noise and two digits of levels look like.
PLAIN = [fn.Staircase(epsilon=1e-3), fn.Staircase(epsilon=20.0)]


@pytest.mark.parametrize("mechanism", [*PLAIN, *DRAWN, *CHOICES], ids=name)
def test_golden_values(mechanism):
    """A change here moves every seeded stream: CHANGELOG, "Value-breaking"."""
    assert drawn(mechanism) == GOLDEN.get(name(mechanism))


def drawn(mechanism) -> list[int]:
    """Four draws, or the last four coordinates of the second vector, in grid steps."""
    stream = fn.Stream.from_key(KEY)
    if mechanism in CHOICES:
        costs = np.arange(12.0) * mechanism.sensitivity / 4
        return mechanism.choose(np.tile(costs, (12, 1)), stream=stream.at(0)).tolist()
    if mechanism in VECTORS:
        noise = (mechanism.sample(2, stream=stream.at(0)) / mechanism.grid)[1, -4:]
    else:
        noise = mechanism.sample(4, stream=stream.at(0)) / mechanism.grid
    assert (noise == np.round(noise)).all()
    return [int(steps) for steps in noise]


def test_golden_keys():
    assert fn.Stream(1).keystream(8).hex() == "69437bdc093bbd63"
    assert fn.Stream.from_key(KEY).child("a").keystream(8).hex() == "81119e781b247b47"


GOLDEN = {
    "Staircase-0.001-1.0": [443981362, 5055326694, -358226678, 1113976380],
    "Staircase-20.0-1.0": [121615, -31389, -125808, -127332],
    "Staircase-1.0-1.0": [259820, -4150911, -4541990, -207569],
    "Staircase-0.005-0.3": [171555285, 182357543, 577051988, 305386529],
    "Staircase-20.0-1000.0": [288096, -190021, -72554, 129099],
    "Staircase-0.001-2.0": [617099614, 856961818, 1657167232, -9844220],
    "Staircase-0.5-1.0": [-411930, -635089, -2577639, 2117507],
    "Laplace-1.0-1.0": [2680567767, -8653835713, -945209117, 7600734558],
    "Laplace-0.001-0.3": [-2322493256666, -1297269446642, -7878142323097, 6491461032468],
    "Laplace-20.0-1000.0": [1711992989, 1864887845, 216082796, -531414921],
    "Geometric-1.0-1": [0, 1, -1, 0],
    "Geometric-0.01-1": [68, -372, -41, -9],
    "DiscreteStaircase-0.5-10": [-15, -10, -12, -21],
    "DiscreteStaircase-0.001-1000": [34217, 335616, -242086, 195324],
    "DiscreteLaplace-1.0-1": [0, 0, 2, -1],
    "DiscreteLaplace-0.3-7": [-55, -15, -16, 5],
    "DiscreteLaplace-0.001-1000": [1084928, 1494493, 1255577, 2807412],
    "DiscreteUniform-0.01-3": [76, -37, 141, 53],
    "DiscreteUniform-0.07-1": [1, -5, -6, 2],
    "TruncatedDiscreteLaplace-0.5-0.0001-3": [-4, -8, -7, -8],
    "TruncatedDiscreteLaplace-2.0-1e-06-1": [0, 1, 0, 0],
    "TruncatedDiscreteLaplace-1.0-0.01-1048576": [1118684, 306481, 3550276, -1046201],
    "L2Laplace-0.5-1-3.0": [-175548],
    "L2Laplace-0.5-2-3.0": [1816841, 522913],
    "L2Laplace-0.5-3-3.0": [5458519, -1599416, -10384122],
    "L2Laplace-0.5-4-3.0": [6017785, 6235587, 823077, -1325481],
    "L2Laplace-0.5-5-3.0": [-7268292, 930844, -16000036, -2892979],
    "L2Laplace-0.5-16-3.0": [-1595725, -7690300, -15380741, 4756366],
    "L2Laplace-0.5-64-3.0": [6665066, 22128630, 15325118, 10264553],
    "MultiUserLaplace-2.0-1-1.0": [22044603070],
    "MultiUserLaplace-2.0-2-1.0": [18695861312, -14229862047],
    "MultiUserLaplace-2.0-5-1.0": [-34116375017, 26561755492, 20183536262, 28593071175],
    "MultiUserLaplace-0.001-5-1.0": [
        -39374404077429,
        -72997025291668,
        -67084317060527,
        9593297507823,
    ],
    "L1Staircase-2.0-1-0.7": [-245571],
    "L1Staircase-2.0-2-0.7": [-9522, 255448],
    "L1Staircase-2.0-3-0.7": [-594239, 301861, 58575],
    "L1Staircase-2.0-4-0.7": [-2336004, -930891, 459681, 2003506],
    "L1Staircase-2.0-5-0.7": [1801374, -254875, -405767, -354356],
    "L1Staircase-2.0-16-0.7": [-1915245, -1104963, 512073, 6948362],
    "L1Staircase-2.0-64-0.7": [-5248241, 7599810, 10719835, -8176359],
    "L1Staircase-0.01-3-1.0": [242397154, -4977467, -65626869],
    "BoxStaircase-1.0-1-1.0": [284576],
    "BoxStaircase-1.0-2-1.0": [-1204948, -260124],
    "BoxStaircase-1.0-3-1.0": [-1746366, -1332774, 1207154],
    "BoxStaircase-1.0-4-1.0": [-7218488, 4721338, 2379165, -6271835],
    "BoxStaircase-1.0-5-1.0": [-2869156, -5750815, 6395730, 7037470],
    "BoxStaircase-1.0-16-1.0": [-1780968, -19091327, 19107284, 18342151],
    "BoxStaircase-1.0-64-1.0": [49486875, 8193264, -852812, -38103153],
    "BoxStaircase-1.0-1-1.0-2": [-631046],
    "BoxStaircase-0.01-2-1.0": [26506208, 32189167],
    "BoxStaircase-1.0-2-1.0-2": [-562229, -1270850],
    "StaircaseChoice-0.5-1.0": [2, 7, 2, 10, 9, 8, 1, 0, 1, 2, 2, 3],
    "StaircaseChoice-2.0-3.0": [0, 4, 0, 6, 2, 6, 0, 0, 0, 0, 3, 3],
}
