"""Is noise a function of (key, mechanism, row) alone: any threads, chunks, strides and order?"""

import numpy as np
import pytest
from conftest import KEY

import fastnoise as fn

# One law of one-word rows, one of two words with 64-bit places, one with two digits of levels.
MECHANISMS = [
    fn.Staircase(epsilon=1.0),
    fn.Staircase(epsilon=0.005, sensitivity=0.3),
    fn.Staircase(epsilon=20.0, sensitivity=1000.0),
    fn.Staircase(epsilon=1e-3, cost="l2"),
]
STARTS = [0, 7, 2**32 - 1000, 2**62 - 5]
N = 70_000


def same(a, b):
    return a.dtype == b.dtype and np.array_equal(a.view(np.uint8), b.view(np.uint8))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("start", STARTS)
def test_slices(mechanism, start, stream, rng, threads):
    x = rng.normal(size=N) * 100
    whole = mechanism.perturb(x, stream=stream.at(start))
    for count in (1, 2):
        threads(count)
        assert same(mechanism.perturb(x, stream=stream.at(start)), whole)
        for _ in range(6):
            a, b = np.sort(rng.integers(0, N + 1, 2))
            part = mechanism.perturb(x[a:b], stream=stream.at(start + int(a)))
            assert same(part, whole[a:b])
            rows = range(start + int(a), start + int(b))
            assert same(mechanism.perturb(x[a:b], stream=stream, rows=rows), whole[a:b])
    assert stream.position == 0


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_rows_in_any_order(mechanism, stream, rng):
    x = rng.normal(size=5_000)
    for start in STARTS:
        whole = mechanism.perturb(x, stream=stream.at(start))
        order = rng.permutation(x.size)
        keyed = mechanism.perturb(x[order], stream=stream, rows=start + order)
        assert same(keyed, whole[order])
        some = order[:17]
        assert same(mechanism.perturb(x[some], stream=stream, rows=start + some), whole[some])


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", ">f4", "i4", ">i8", "u2"])
def test_any_layout(dtype, stream, rng):
    mechanism = MECHANISMS[0]
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


def test_strided_out(stream, rng):
    mechanism = MECHANISMS[0]
    x = rng.normal(size=(300, 40))
    expected = mechanism.perturb(x, stream=stream.at(0))
    room = np.full((300, 80), 7.0)
    returned = mechanism.perturb(x, out=room[:, ::2], stream=stream.at(0))
    assert np.array_equal(room[:, ::2], expected)
    assert (room[:, 1::2] == 7.0).all()
    assert np.shares_memory(returned, room)
    both = np.zeros((300, 80))
    both[:, ::2] = x
    mechanism.perturb(both[:, ::2], out=both[:, ::2], stream=stream.at(0))
    assert np.array_equal(both[:, ::2], expected)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sample_is_perturb_of_zeros(mechanism, dtype, stream):
    sampled = mechanism.sample((300, 70), dtype=dtype, stream=stream.at(11))
    zeros = np.zeros((300, 70), dtype)
    assert same(sampled, mechanism.perturb(zeros, stream=stream.at(11)))
    room = np.empty((300, 70), dtype)
    assert mechanism.sample(out=room, stream=stream.at(11)) is room
    assert same(room, sampled)


def test_missing_values_use_up_their_row(stream, rng):
    mechanism = MECHANISMS[0]
    x = rng.normal(size=1000)
    expected = mechanism.perturb(x, stream=stream.at(0))
    holes = x.copy()
    holes[::7] = np.nan
    got = mechanism.perturb(holes, stream=stream.at(0), nan="keep")
    assert np.isnan(got[::7]).all()
    kept = ~np.isnan(holes)
    assert np.array_equal(got[kept], expected[kept])


def test_float32_is_float64_cast_once(stream, rng):
    for mechanism in MECHANISMS:
        x = rng.normal(size=5000).astype(np.float32)
        wide = mechanism.perturb(x.astype(np.float64), stream=stream.at(0))
        assert same(mechanism.perturb(x, stream=stream.at(0)), wide.astype(np.float32))


def test_golden_values():
    """A change here moves every seeded stream: CHANGELOG, "Value-breaking"."""
    stream = fn.Stream.from_key(KEY)
    golden = {
        fn.Staircase(epsilon=1.0): GOLDEN_ONE_WORD,
        fn.Staircase(epsilon=1e-3): GOLDEN_DIGITS,
        fn.Staircase(epsilon=20.0): GOLDEN_WIDE,
    }
    for mechanism, expected in golden.items():
        noise = mechanism.sample(4, stream=stream.at(0)) / mechanism.grid
        assert noise.tolist() == expected
    assert fn.Stream(1).keystream(8).hex() == GOLDEN_SEED
    assert stream.child("a").keystream(8).hex() == GOLDEN_CHILD


GOLDEN_ONE_WORD = [-1006541.0, 1712617.0, 329159.0, 20543.0]
GOLDEN_DIGITS = [-137835247.0, 357846426.0, -946628293.0, 115326437.0]
GOLDEN_WIDE = [-99216.0, -19597.0, 64480.0, -176942.0]
GOLDEN_SEED = "c64a0fe861736e3d"
GOLDEN_CHILD = "b54e7e8a16da98fb"
