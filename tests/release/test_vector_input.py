"""Is bad input of vectors refused clearly, and is every shape of good input taken as it is?"""

import re
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from mechanisms import VECTORS, name

import fastnoise as fn


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
def test_vectors__last_axis_is_the_dimension(mechanism, stream):
    dim = mechanism.dim
    out = np.full((4, dim), 7.0)
    shapes = [(), (dim + 1,), (4, dim + 1), (dim, 2 * dim + 1), (0,), (3, 0)]
    for shape in shapes:
        found = re.escape(str(shape))
        message = rf"x must hold vectors of {dim} along the last axis, not shape {found}"
        with pytest.raises(ValueError, match=message):
            mechanism.perturb(np.zeros(shape), stream=stream)
        with pytest.raises(ValueError, match=r"vectors of|out must have shape"):
            mechanism.perturb(np.zeros(shape), out=out, stream=stream)
    for scalar in (3.0, 3, np.float64(3), Fraction(1, 3)):
        with pytest.raises(ValueError, match="x must hold vectors"):
            mechanism.perturb(scalar, stream=stream)
    assert (out == 7).all()
    assert stream.position == 0
    for shape in ((dim,), (1, dim), (2, 0, dim), (0, dim), (2, 3, dim)):
        assert mechanism.perturb(np.zeros(shape), stream=stream).shape == shape


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
def test_vectors__out_must_fit(mechanism, stream):
    dim = mechanism.dim
    x = np.zeros((4, dim))
    frozen = np.zeros((4, dim))
    frozen.flags.writeable = False
    outs = {
        "out must have shape": [np.full((4, dim + 1), 7.0), np.full(4 * dim, 7.0)],
        "out must have dtype": [np.full((4, dim), 7.0, np.float32), np.full((4, dim), 7)],
        "out must be writeable": [frozen],
        "out must be a NumPy array": [[[0.0] * dim] * 4],
        "out must not repeat": [np.lib.stride_tricks.as_strided(np.zeros(dim), (4, dim), (0, 8))],
    }
    for message, kinds in outs.items():
        for out in kinds:
            before = np.array(out)
            with pytest.raises((ValueError, TypeError), match=message):
                mechanism.perturb(x, out=out, stream=stream)
            assert np.array_equal(np.array(out), before)
    for shape in ((4, dim + 1), (dim + 3,), ()):
        with pytest.raises(ValueError, match="out must hold vectors"):
            mechanism.sample(out=np.zeros(shape), stream=stream)
    with pytest.raises(ValueError, match="out must have shape"):
        mechanism.sample(3, out=np.zeros((4, dim)), stream=stream)
    assert stream.position == 0


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
@pytest.mark.parametrize("order", ["C", "F"])
def test_vectors__missing_values(mechanism, order, stream):
    """NaN is refused, or kept where it is: the rest of its vector is perturbed as ever."""
    dim = mechanism.dim
    x = np.asarray(np.arange(6.0 * dim).reshape(6, dim), order=order)
    expected = mechanism.perturb(x, stream=stream.at(0))
    x[1, dim - 1] = x[4, 0] = nan
    where = re.escape(f"({1}, {dim - 1})")
    with pytest.raises(
        ValueError, match=f"x has 2 NaN or infinite values, the first nan at index {where}"
    ):
        mechanism.perturb(x, stream=stream)
    assert stream.position == 0
    kept = ~np.isnan(x)
    got = mechanism.perturb(x, stream=stream.at(0), nan="keep")
    assert np.isnan(got[~kept]).all()
    assert np.array_equal(got[kept], expected[kept])
    assert (got[kept] != x[kept]).any()
    mechanism.perturb(x, out=x, stream=stream, nan="keep")
    assert np.array_equal(x, got, equal_nan=True)
    assert stream.position == 6
    x[2, 0] = -inf
    with pytest.raises(ValueError, match="x has 1 infinite value"):
        mechanism.perturb(x, stream=stream, nan="keep")
    assert stream.position == 6


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
def test_vectors__rows_are_one_id_a_vector(mechanism, stream):
    dim = mechanism.dim
    x = np.zeros((3, dim))
    expected = mechanism.perturb(x, stream=stream.at(7))
    for rows in (range(7, 10), [7, 8, 9], np.array([7, 8, 9], np.uint16)):
        assert np.array_equal(mechanism.perturb(x, stream=stream, rows=rows), expected)
    single = mechanism.perturb(x[0], stream=stream, rows=[8])
    assert np.array_equal(single, expected[1])
    cube = mechanism.perturb(np.zeros((3, 1, dim)), stream=stream, rows=[[7], [8], [9]])
    assert np.array_equal(cube[:, 0], expected)
    wrong = [
        [7, 8],
        range(3 * dim) if dim > 1 else range(2),
        [7, 8, 7],
        [7, 8, -9],
        [7.0, 8.0, 9.0],
    ]
    for rows in wrong:
        with pytest.raises((ValueError, TypeError), match="rows"):
            mechanism.perturb(x, stream=stream, rows=rows)
    with pytest.raises(ValueError, match="rows needs a stream"):
        mechanism.perturb(x, rows=[7, 8, 9])
    assert stream.position == 0
    mechanism.perturb(x, stream=stream)
    assert stream.position == 3


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
def test_vectors__sizes_count_vectors(mechanism, stream):
    dim = mechanism.dim
    one = mechanism.sample(stream=stream.at(0))
    assert isinstance(one, np.ndarray)
    assert one.shape == mechanism.sample(()).shape == (dim,)
    assert np.array_equal(mechanism.sample(4, stream=stream.at(0))[0], one)
    for size, shape in ((3, (3, dim)), ((2, 5), (2, 5, dim)), (0, (0, dim)), ((2, 0), (2, 0, dim))):
        drawn = mechanism.sample(size, stream=stream)
        assert drawn.shape == shape
        assert drawn.dtype == np.float64
    assert stream.position == 13
    assert mechanism.sample(4, dtype="f4").dtype == np.float32
    for dtype in (int, "f2", complex):
        with pytest.raises(TypeError, match="dtype must be float64 or float32"):
            mechanism.sample(3, dtype=dtype, stream=stream)
    for size in (-1, 2.5, "3", (2, -1), True):
        with pytest.raises((ValueError, TypeError), match="size must be"):
            mechanism.sample(size, stream=stream)
    assert stream.position == 13


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
def test_vectors__dtypes_and_containers(mechanism, stream):
    dim = mechanism.dim
    whole = np.arange(3 * dim).reshape(3, dim)
    expected = mechanism.perturb(whole.astype(float), stream=stream.at(0))
    for dtype in (np.int8, np.uint16, np.int64, ">i4"):
        got = mechanism.perturb((whole % 100).astype(dtype), stream=stream.at(0))
        assert got.dtype == np.float64
        assert np.array_equal(got, mechanism.perturb(whole % 100 * 1.0, stream=stream.at(0)))
    for kind in (list, tuple):
        got = mechanism.perturb(kind(whole.tolist()), stream=stream.at(0))
        assert isinstance(got, np.ndarray)
        assert np.array_equal(got, expected)
    narrow = mechanism.perturb(whole.astype(np.float32), stream=stream.at(0))
    assert narrow.dtype == np.float32
    assert np.array_equal(narrow, expected.astype(np.float32))
    with pytest.raises(TypeError, match="x must be"):
        mechanism.perturb(whole.astype(np.float16), stream=stream)
    with pytest.raises(TypeError, match="x must be"):
        mechanism.perturb(np.ma.array(whole * 1.0), stream=stream)


@pytest.mark.parametrize("mechanism", VECTORS, ids=name)
def test_vectors__clip_comes_before_the_noise(mechanism, stream, rng):
    x = rng.normal(size=(50, mechanism.dim)) * 10
    inside, noisy = (
        mechanism.perturb(values, clip=(-3, 5), stream=stream.at(0))
        for values in (np.clip(x, -3.0, 5.0), x)
    )
    assert np.array_equal(noisy, inside)
    assert noisy.min() < -3.0
    assert noisy.max() > 5.0


@pytest.mark.parametrize("mechanism", [m for m in VECTORS if m.dim in (2, 5)], ids=name)
def test_vectors__grid_of_ones_own(mechanism, stream, rng):
    x = rng.normal(size=(400, mechanism.dim)) * 10
    for grid in (0.5, 2.0**-10, np.float32(0.25), 1):
        y = mechanism.perturb(x, grid=grid, stream=stream.at(0)) / float(grid)
        assert (y == np.round(y)).all()
    for grid in (0.3, 0, -0.5, nan, inf, "fine", True):
        with pytest.raises((ValueError, TypeError), match="grid"):
            mechanism.perturb(x, grid=grid, stream=stream)
    with pytest.warns(fn.TextbookNoiseWarning, match="grid=None"):
        y = mechanism.perturb(x, grid=None, stream=stream.at(0)) / mechanism.grid
    assert (y != np.round(y)).mean() > 0.9


def test_box__grids_are_one_a_coordinate(stream, rng):
    box = fn.BoxStaircase(1.0, (1.0, 8.0, 0.1))
    x = rng.normal(size=(1000, 3))
    grids = (0.125, 2.0, 2.0**-9)
    expected = box.perturb(x, grid=grids, stream=stream.at(0))
    for column, grid in zip(expected.T, grids, strict=True):
        assert (column / grid == np.round(column / grid)).all()
        assert (column / (2 * grid) != np.round(column / (2 * grid))).any()
    for same in (list(grids), np.array(grids)):
        assert np.array_equal(box.perturb(x, grid=same, stream=stream.at(0)), expected)
    one = box.perturb(x, grid=0.125, stream=stream.at(0))
    assert np.array_equal(box.perturb(x, grid=(0.125,) * 3, stream=stream.at(0)), one)
    auto = box.perturb(x, stream=stream.at(0))
    assert np.array_equal(box.perturb(x, grid=box.grid, stream=stream.at(0)), auto)
    wrong = [(0.125,), (0.125, 2.0), (0.125,) * 4, (), (0.125, 2.0, 0.3), (0.125, 2.0, nan)]
    wrong += [(0.125, 2.0, -0.5), (0.125, 2.0, "1"), (0.125, 2.0, None), {0.125, 2.0, 0.5}, "111"]
    wrong += [np.array([[0.125, 2.0, 0.5]]), 2.0**-60, (0.125, 2.0, 2.0**-70), (0.125, 2.0, True)]
    for grid in wrong:
        with pytest.raises((ValueError, TypeError), match="grid"):
            box.perturb(x, grid=grid, stream=stream)
    assert stream.position == 0


@pytest.mark.parametrize("power", [3, 33, 39, 41, 53])
def test_box__a_wide_core_works_or_is_refused(power, stream):
    """A core of up to 2**53 widths is a law; one that integers cannot serve says so by name."""
    box = fn.BoxStaircase(1.0, (1.0, 1.0), core=(2.0**power, 0.5))
    try:
        noise = box.sample(20, stream=stream)
    except ValueError as error:
        assert power > 29
        assert re.match(r"(core|grid) must be", str(error))  # noqa: PT017
    else:
        assert 2.0 ** (power - 8) < np.abs(noise[:, 0]).max() < 2.0 ** (power + 8)
        assert np.abs(noise[:, 1]).max() < 100.0
