"""What may be left in `out`: no overlaps, no NaN out of numbers, no raw x after an interrupt."""

from fractions import Fraction
from itertools import product
from math import inf, nan

import numpy as np
import pytest
from conftest import KEY
from laws import DEEPER, WIDE, exact, line_law, wide_vectors
from mechanisms import DRAWN, INTEGERS, name
from numpy.lib.stride_tricks import as_strided

import fastnoise as fn
from fastnoise.laws.law import Law, Limits
from fastnoise.laws.layers.reader import LayerReader
from fastnoise.laws.line.reader import LineReader
from fastnoise.laws.line.tables import staircase_tables
from fastnoise.rows import Rows

MAX = 1.7976931348623157e308

# --- overlaps -------------------------------------------------------------------------------------

LAYOUTS = {
    "plain": ((4, 3), (24, 8), False),
    "transposed": ((3, 4), (8, 24), False),
    "reversed": ((4, 3), (-24, 8), False),
    "spread": ((4, 3), (40, 16), False),
    "interleaved": ((2, 2), (24, 16), False),  # 0, 2, 3, 5: none twice, though no axis is nested
    "unused stride": ((1, 3), (0, 8), False),
    "sliding window": ((4, 3), (8, 8), True),
    "sliding by two": ((4, 3), (16, 8), True),
    "half an element": ((6,), (4,), True),
    "stride of 0": ((4, 3), (0, 8), True),
    "meeting far out": ((4, 3), (24, 36), True),  # 3 * 24 is 2 * 36
    "meeting backwards": ((4, 3), (-24, 36), True),
    "three axes": ((2, 2, 2), (8, 16, 24), True),
}


@pytest.mark.parametrize("overlaps", [False, True])
def test_out__whose_elements_overlap_is_refused(overlaps, stream):
    for shape, strides, expected in LAYOUTS.values():
        if expected == overlaps:
            check_overlap(shape, strides, overlaps, stream)


def check_overlap(shape, strides, overlaps, stream):
    room = np.full(200, 7.0)
    out = as_strided(room[100:], shape, strides)
    for call in (
        lambda: fn.Laplace(1.0).perturb(np.zeros(shape), out=out, stream=stream),
        lambda: fn.Laplace(1.0).sample(out=out, stream=stream),
        lambda: fn.Laplace(1.0).perturb(out, out=out, stream=stream),
    ):
        if overlaps:
            with pytest.raises(ValueError, match="out must not repeat its own elements"):
                call()
            assert stream.position == 0
            assert (room == 7.0).all()
        else:
            call()
            assert np.unique(out).size == out.size


def test_out__overlaps_are_found_exactly(rng):
    """Against a count of bytes, for strides of all kinds."""
    from fastnoise.arrays import _overlaps

    room, found = np.zeros(400, np.uint8), set()
    for _ in range(3000):
        ndim = int(rng.integers(1, 4))
        shape = tuple(rng.integers(0, 5, ndim).tolist())
        strides = tuple(rng.integers(-30, 31, ndim).tolist())
        out = as_strided(room[200:208].view(np.float64), shape, strides)
        offsets = [
            sum(i * s for i, s in zip(index, strides, strict=True))
            for index in product(*map(range, shape))
        ]
        used = [byte for offset in offsets for byte in range(offset, offset + 8)]
        assert _overlaps(out) == (len(set(used)) < len(used)), (shape, strides)
        found.add(_overlaps(out))
    assert found == {True, False}


# --- the largest floats ---------------------------------------------------------------------------

HUGE = [
    line_law(law.tables, grid)
    for law, grid in product((WIDE, DEEPER), (2.0**899, 2.0**916, 2.0**-900))
]


def test_largest_floats__plus_wide_noise_are_rounded_once():
    """Wide noise is added in parts, whose sums overflow though the whole may not."""
    for law in [*HUGE, WIDE]:
        check_largest(law)


def check_largest(law):
    edges = [MAX, np.nextafter(MAX, 0.0), 2.0**1023, 1.5 * 2.0**1023, MAX - 2.0**960, 1.0]
    x = np.array([sign * edge for edge in edges for sign in (1, -1)] * 40)
    got = np.empty_like(x)
    law.perturb(KEY, Rows(0), 0, x, got, Limits())
    reader = law.reader
    for i, (value, total) in enumerate(zip(x.tolist(), got.tolist(), strict=True)):
        noise = reader.noise(KEY, i)
        try:
            expected = exact(value, noise, law.grid)
        except OverflowError:
            expected = inf if value > 0 else -inf
        assert total == expected
    noise = law.noise(KEY, Rows(0), x.size)
    assert (np.abs(noise) > 2**53).mean() > 0.3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore:grid=None:UserWarning")
def test_largest_floats__never_become_nan(dtype, stream):
    most = float(np.finfo(dtype).max)
    mechanisms = [
        fn.Staircase(1e-9, 1e270, gamma=0.5),
        fn.Laplace(1e-10, 1e270),
        fn.Laplace(1.0, min(most / 2**30, 1e275)),
        fn.L2Laplace(1e-6, 3, 1e270),
        fn.MultiUserLaplace(0.01, 2, 1e270),
        fn.L1Staircase(1e-4, 2, 1e270, gamma=0.5),
        fn.BoxStaircase(1e-4, (1e270, 1e-280)),
    ]
    values = [most, -most, most / 2, 0.0, float(np.finfo(dtype).smallest_subnormal), -0.0]
    for mechanism, grid, clip in product(mechanisms, ("auto", None), (None, (-inf, 1e30))):
        row = mechanism._row_shape
        x = np.broadcast_to(np.array(values * 10, dtype).reshape(-1, *[1] * len(row)), (60, *row))
        y = mechanism.perturb(x, grid=grid, clip=clip, stream=stream)
        assert y.dtype == dtype
        assert not np.isnan(y).any()
        holes = np.where(np.arange(60).reshape(-1, *[1] * len(row)) % 7 == 0, nan, x)
        kept = mechanism.perturb(holes.astype(dtype), grid=grid, nan="keep", stream=stream)
        assert np.array_equal(np.isnan(kept), np.isnan(holes))


def test_deep_rows__beyond_float32_do_not_warn():
    law = line_law(DEEPER.tables, 2.0**100)
    got = np.empty(50, np.float32)
    law.perturb(KEY, Rows(0), 0, np.zeros(50, np.float32), got, Limits())
    assert np.isinf(got).any()


@pytest.mark.parametrize("mechanism", [fn.Laplace(1.0), fn.Geometric(1.0)], ids=name)
@pytest.mark.parametrize("clip", [(inf, inf), (-inf, -inf)])
def test_clip__that_holds_no_number_is_refused(mechanism, clip):
    with pytest.raises(ValueError, match="clip must be"):
        mechanism.perturb([1, 2], clip=clip)


def test_fractions__are_snapped_exactly(stream):
    """Rounded first, 1 + g/2 - tiny would move up, and its neighbour 1 below would not."""
    mechanism = fn.Staircase(1.0)
    grid = mechanism.grid
    below = Fraction(grid) / 2 - Fraction(1, 2**60)
    noise = mechanism.sample(stream=stream.at(0))
    for whole in (0, 1, -1, 1000):
        got = mechanism.perturb(whole + below, stream=stream.at(0))
        assert got == whole + noise
    with pytest.raises(ValueError, match="x must be"):
        mechanism.perturb(Fraction(2**80, 3))
    assert mechanism.perturb(Fraction(2**80)) == 2.0**80


# --- interrupts -----------------------------------------------------------------------------------

UNDECIDED = [DEEPER, wide_vectors("l1_staircase"), wide_vectors("box_staircase")]


def interrupted(monkeypatch, after):
    """The plain reader is interrupted after so many rows."""
    left = [after]
    for kind in (LineReader, LayerReader):

        def noise(self, key, row, right=kind.noise):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return right(self, key, row)

        monkeypatch.setattr(kind, "noise", noise)


@pytest.mark.parametrize("law", UNDECIDED, ids=lambda law: law.filler)
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_interrupt__leaves_no_x(law, compiled, dtype, monkeypatch):
    monkeypatch.setattr("fastnoise.laws.law.compiles", lambda: compiled)
    interrupted(monkeypatch, 3)
    x = (1000.0 + np.arange(600)).astype(dtype)
    out = np.full(600, 7, dtype)
    with pytest.raises(KeyboardInterrupt):
        law.perturb(KEY, Rows(0), 0, x, out, Limits())
    assert not np.isin(x, out).any()
    unfinished = np.isnan(out) | (out == 7)
    assert unfinished.sum() > 20


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_interrupt__leaves_no_integers(compiled, dtype, monkeypatch):
    monkeypatch.setattr("fastnoise.laws.law.compiles", lambda: compiled)
    interrupted(monkeypatch, 3)
    law = line_law(staircase_tables(2.0**-6, 2**57, 2**50), 1.0, integers=True)
    x, out = (1000 + np.arange(600)).astype(dtype), np.full(600, 7, dtype)
    extent = np.iinfo(dtype)
    limits = Limits(int(extent.min), int(extent.max), int(extent.min), int(extent.max))
    with pytest.raises(KeyboardInterrupt):
        law.perturb(KEY, Rows(0), 0, x, out, limits)
    assert not np.isin(x, out).any()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("mechanism", [DRAWN[0], INTEGERS[0], DRAWN[-1]], ids=name)
@pytest.mark.parametrize(
    "layout", ["plain", "strided", "in place", "strided in place", "interleaved"]
)
def test_interrupt__between_chunks(mechanism, when, layout, monkeypatch):
    """Rows that were not reached keep what was there: of `out`, never of x."""
    dtype = np.int64 if mechanism in INTEGERS else np.float64
    calls = []

    right = Law.perturb

    def interrupts(law, key, rows, done, x, out, limits):
        calls.append(done)
        if when == "after" or len(calls) == 1:
            right(law, key, rows, done, x, out, limits)
        if len(calls) > 1 or layout in ("plain", "in place"):  # threads may be several further
            raise KeyboardInterrupt

    monkeypatch.setattr("fastnoise.pieces.VALUES", 100)
    monkeypatch.setattr(Law, "perturb", interrupts)
    shape = (500, *mechanism._row_shape)
    room = np.full((*shape[:-1], 2 * shape[-1]), 7, dtype)
    out = room[..., ::2] if "strided" in layout else np.full(shape, 7, dtype)
    values = 10**6 + np.arange(out.size, dtype=dtype).reshape(shape)
    x = values
    if layout == "interleaved":
        out, x = room[..., ::2], room[..., 1::2]
        x[...] = values
    if "in place" in layout:
        out[...] = values
        x = out
    with pytest.raises(KeyboardInterrupt):
        mechanism.perturb(x, out=out)
    if "in place" in layout:
        assert ((out == values) | (np.abs(out - values) < 10**5)).all()  # none of it is lost
    elif mechanism not in INTEGERS:  # integer noise may be 0
        assert not np.isin(values, out).any()
