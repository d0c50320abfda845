"""Do the known attacks fail: does nothing but the value come out, whatever the data is?"""

from math import inf, nan

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels.layout import UNDECIDED
from laws import DEEPER, half_up, l2_law
from mechanisms import FLOATS, INTEGERS, VECTORS, name

import fastnoise as fn
from fastnoise.laws.law import Law, Limits
from fastnoise.rows import Rows
from fastnoise.verify.attack import impossible, released, textbook_leak, unseen
from fastnoise.verify.subjects import grids, neighbour_step

OUTPUTS = 10**6


# --- precision ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
def test_precision_attack__fails(mechanism):
    """0 against the sensitivity, a million outputs each: no output of one input is outside the
    support of the other, which is the grid, and no step of the grid is left out."""
    step = neighbour_step(mechanism)
    for x in (0 * step, step):
        outputs = released(mechanism, x, OUTPUTS)
        assert outputs.size >= OUTPUTS - step.size
        assert not impossible(mechanism, outputs).any()
        assert not unseen(mechanism, outputs)


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1000.0])
def test_precision_attack__numpy_gives_more_than_a_fifth_away(sensitivity):
    """At epsilon 1: outputs of 0 that are impossible for the sensitivity, whatever the noise is."""
    assert textbook_leak(0.0, sensitivity, OUTPUTS) > 0.2


def test_precision_attack__textbook_noise_gives_itself_away():
    """The same question to `grid=None`, which says that it is for simulation only."""
    mechanism = fn.Laplace(1.0)
    with pytest.warns(fn.TextbookNoiseWarning):
        outputs = mechanism.perturb(np.full(1000, 1 / 3), grid=None)
    assert impossible(mechanism, outputs.reshape(-1, 1)).mean() > 0.5


@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
@pytest.mark.parametrize("scale", [1e-300, 5e-324, 1 / 3, 1e9, 1e200])
def test_data_far_smaller_and_far_larger__has_outputs_on_the_grid(mechanism, scale):
    step = neighbour_step(mechanism)
    for x in (np.full(step.size, scale), np.full(step.size, scale) + step):
        outputs = released(mechanism, x, 20_000)
        assert not impossible(mechanism, outputs).any()
        assert np.isfinite(outputs).all()


# --- patterns of bits -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS, fn.Staircase(50.0)], ids=name)
def test_zero__has_one_sign(mechanism, dtype, stream):
    """Also where the noise takes the data back to 0."""
    noise = mechanism.sample(300, stream=stream.at(0))
    for x in (-noise, 0 * noise, -0.0 * noise, -noise - 5e-324, 0 * noise - 1e-300):
        y = mechanism.perturb(x.astype(dtype), stream=stream.at(0))
        assert not np.signbit(y[y == 0]).any()
    assert (mechanism.perturb(-noise, stream=stream.at(0)) == 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
def test_missing_values__have_one_pattern(mechanism, dtype):
    """Whatever the payload and the sign of a NaN, quiet or signalling."""
    payloads = {
        np.float64: np.array([0x7FF8 << 48 | 1, 0xFFF8 << 48 | 0x123, 0x7FF0 << 48 | 1], np.uint64),
        np.float32: np.array([0x7FC00001, 0xFFC00123, 0x7F800001], np.uint32),
    }[dtype]
    missing = np.tile(payloads.view(dtype), len(grids(mechanism)))
    y = mechanism.perturb(missing.reshape(-1, *mechanism._row_shape), nan="keep")
    assert len(set(y.view(payloads.dtype).flat)) == 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_denormals__are_snapped_like_any_other_value(dtype, stream):
    """Tiny data has the outputs of 0, bit for bit: what is below half a step does not show."""
    tiny = np.finfo(dtype).smallest_subnormal
    for mechanism in (fn.Staircase(1.0), fn.Laplace(1.0), fn.Staircase(20.0, 1000.0)):
        outputs = [
            mechanism.perturb(np.full(5000, x, dtype), stream=stream.at(0)).tobytes()
            for x in (0.0, tiny, -tiny, 100 * tiny, np.finfo(dtype).tiny)
        ]
        assert len(set(outputs)) == 1


def test_overflow__is_infinite_whatever_the_noise():
    """Sums beyond the largest float32 are infinite, none is NaN."""
    y = fn.Staircase(1.0, 1e38).perturb(np.array([3.4e38, -3.4e38] * 500, np.float32))
    assert y.dtype == np.float32
    assert not np.isnan(y).any()
    assert set(np.sign(y[np.isinf(y)])) == {1.0, -1.0}


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i8", "u8"])
@pytest.mark.parametrize("mechanism", INTEGERS, ids=name)
def test_saturation__is_that_of_the_exact_sum(mechanism, kind, stream):
    """At the limit and near it the same outputs are possible, and the limit says no more."""
    limits = np.iinfo(kind)
    low, high = int(limits.min), int(limits.max)
    noise = mechanism.sample(2000, stream=stream.at(0)).tolist()
    for x in (low, low + 1, high - 1, high):
        y = mechanism.perturb(np.full(2000, x, kind), stream=stream.at(0))
        assert y.tolist() == [min(max(x + n, low), high) for n in noise]


# --- words and time -------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
def test_noise__is_the_same_whatever_the_data_is(mechanism, stream):
    """A row's words are a function of the row: the sum is the snapped value and the same steps."""
    steps = np.array(grids(mechanism))
    count = 2000 // steps.size
    shape = (count, *mechanism._row_shape)
    noise = mechanism.sample(count, stream=stream.at(0)).reshape(count, -1) / steps
    for x in (0.0, 1e-300, 1 / 3, 100 * mechanism.sensitivity):
        y = mechanism.perturb(np.full(shape, x), stream=stream.at(0))
        snapped = np.array([half_up(x, grid) for grid in steps.tolist()], float)
        fits = np.abs(noise + snapped) < 2.0**53  # further out sums are rounded to fewer steps
        drawn = y.reshape(count, -1) / steps - snapped
        assert np.array_equal(drawn[fits], noise[fits])
        assert fits.mean() > 0.9
    missing = np.full(shape, nan)
    missing.reshape(-1)[1::2] = 0.0
    y = mechanism.perturb(missing, stream=stream.at(0), nan="keep").reshape(-1)
    assert np.array_equal(y[1::2], (noise * steps).reshape(-1)[1::2])


@pytest.mark.parametrize("mechanism", INTEGERS, ids=name)
def test_integer_noise__is_the_same_whatever_the_data_is(mechanism, stream):
    noise = mechanism.sample(2000, stream=stream.at(0))
    for x in (0, 1, -(10**6), 2**62, -(2**62)):
        y = mechanism.perturb(np.full(2000, x), stream=stream.at(0))
        assert np.array_equal(y - x, noise)


@pytest.fixture
def undecided(monkeypatch):
    """The places that plain Python adds noise to, because kernels cannot decide it."""
    places = []
    right = Law._add_exactly

    def watched(law, chunk, place, noise):
        places.extend(place * law.dim + i for i in noise)
        right(law, chunk, place, noise)

    monkeypatch.setattr(Law, "_add_exactly", watched)
    return places


def test_undecided_values__are_the_same_whatever_the_data_is(undecided):
    """Those that take longer are a function of the words alone."""
    expected = np.flatnonzero(DEEPER.noise(KEY, Rows(0), 200) == UNDECIDED).tolist()
    assert 20 < len(expected) < 180
    for x in (0.0, 1e-300, 1 / 3, 1e15, 1e300, nan):
        for limits in (Limits(), Limits(-1.0, inf)):
            undecided.clear()
            DEEPER.perturb(KEY, Rows(0), 0, np.full(200, x), np.empty(200), limits)
            assert undecided == expected


def test_undecided_values__of_vectors_are_the_same_whatever_the_data_is(undecided, monkeypatch):
    """Rows of l2 noise that floats cannot decide: many, with coins that matter on few steps."""
    law, found = l2_law(2, 64.0, 3, monkeypatch), []
    for x in (0.0, 1e-300, 1 / 3, 1e9, 2.0**300, nan):
        undecided.clear()
        law.perturb(KEY, Rows(0), 0, np.full(2000, x), np.empty(2000), Limits())
        found.append(sorted(undecided))
    assert 2 < len(found[0]) < 500
    assert found == [found[0]] * 6
