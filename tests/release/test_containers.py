"""Does the container that goes in come out, or is it refused with what to do instead?"""

import array

import narwhals as nw
import narwhals.stable.v1 as nw_v1
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastnoise as fn

MECHANISM = fn.Laplace(1.0)
VALUES = [1.0, 2.0, 3.0]
NATIVE = {
    "pandas": pd.Series(VALUES, name="a", index=[5, 6, 7]),
    "pandas, Arrow": pd.Series(VALUES, name="a", dtype="float64[pyarrow]"),
    "polars": pl.Series("a", VALUES),
    "arrow": pa.chunked_array([VALUES[:1], VALUES[1:]]),
}


@pytest.mark.parametrize("kind", NATIVE)
@pytest.mark.parametrize("library", [nw, nw_v1], ids=["main", "stable"])
def test_narwhals_series__come_back(kind, library, stream):
    x = library.from_native(NATIVE[kind], series_only=True)
    y = MECHANISM.perturb(x, stream=stream.at(0))
    assert type(y) is type(x)
    assert type(y.to_native()) is type(NATIVE[kind])
    assert (y.dtype, y.name) == (x.dtype, x.name)
    assert y.to_list() == MECHANISM.perturb(VALUES, stream=stream.at(0)).tolist()
    with pytest.raises(TypeError, match=r"out must be left out for a narwhals\.Series"):
        MECHANISM.perturb(x, out=np.zeros(3))


def test_narwhals_series__with_nulls():
    x = nw.from_native(pl.Series([1.0, None]), series_only=True)
    with pytest.raises(ValueError, match="x has 1 null"):
        MECHANISM.perturb(x)
    assert MECHANISM.perturb(x, nan="keep").is_null().to_list() == [False, True]
    with pytest.raises(TypeError, match="x must be a column"):
        MECHANISM.perturb(nw.from_native(pl.Series(["a"]), series_only=True))
    with pytest.raises(TypeError, match="one column, not a narwhals"):
        MECHANISM.perturb(nw.from_native(pl.DataFrame({"a": [1.0]})))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("mechanism", [MECHANISM, fn.L2Laplace(1.0, dim=3)])
def test_matrix__comes_back(mechanism, stream):
    x = np.asmatrix([VALUES, VALUES])
    y = mechanism.perturb(x, stream=stream.at(0))
    assert type(y) is np.matrix
    assert np.array_equal(y, mechanism.perturb(np.asarray(x), stream=stream.at(0)))
    integers = fn.Geometric(1.0).perturb(np.asmatrix([[1, 2]]))
    assert (type(integers), integers.dtype) == (np.matrix, np.int64)


class Metres(np.ndarray):
    """A subclass that carries a meaning of its own."""


@pytest.mark.parametrize("kind", [Metres, np.recarray])
def test_other_subclasses__are_refused(kind):
    x = np.zeros(3).view(kind)
    with pytest.raises(TypeError, match=rf"x must be .* not a {kind.__name__}: .*np\.asarray\(x\)"):
        MECHANISM.perturb(x)
    assert type(MECHANISM.perturb(np.asarray(x))) is np.ndarray


def test_memmap__comes_back_in_memory(tmp_path, stream):
    x = np.memmap(tmp_path / "x", np.float64, "w+", shape=3)
    x[:] = VALUES
    y = MECHANISM.perturb(x, stream=stream.at(0))
    assert type(y) is np.ndarray
    assert y.tolist() == MECHANISM.perturb(VALUES, stream=stream.at(0)).tolist()


@pytest.mark.parametrize(
    "x", [array.array("d", VALUES), memoryview(np.zeros(3)), range(3), {1.0}, iter(VALUES)]
)
def test_other_containers__are_refused(x):
    with pytest.raises(TypeError, match="x must be numbers: a scalar, a list or a NumPy array"):
        MECHANISM.perturb(x)
