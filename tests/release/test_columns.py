"""Do columns of pandas, Polars and PyArrow get the noise of arrays, and come back as they were?"""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastnoise as fn
from fastnoise.columns import column_of

FLOATS = fn.Staircase(epsilon=1.0)
INTEGERS = fn.DiscreteLaplace(epsilon=0.1, sensitivity=5)
INDEX = [f"row {i}" for i in range(30)]


def pandas_of(dtype: str, arrow_dtype: str):
    return {
        f"pandas {dtype}": lambda x: pd.Series(x, INDEX[: len(x)], dtype, name="n"),
        f"pandas {dtype} nullable": lambda x: pd.Series(
            x, INDEX[: len(x)], dtype.capitalize(), name="n"
        ),
        f"pandas {dtype} Arrow": lambda x: pd.Series(x, INDEX[: len(x)], arrow_dtype, name="n"),
    }


def arrows(kind):
    def pieces(x):
        values = pa.array(x, kind)
        return pa.chunked_array([values[:7], values[7:7], values[7:]], kind)

    return {
        "Arrow": lambda x: pa.array(x, kind),
        "Arrow slice": lambda x: pa.array([*x[:3], *x], kind)[3:],
        "Arrow chunks": pieces,
        "Polars chunks": lambda x: pl.Series("n", pieces(x)),
    }


FLOAT_COLUMNS = {
    **pandas_of("float64", "double[pyarrow]"),
    **arrows(pa.float64()),
    "Polars": lambda x: pl.Series("n", x, pl.Float64),
}
INTEGER_COLUMNS = {
    **pandas_of("int64", "int64[pyarrow]"),
    **arrows(pa.int64()),
    "Polars": lambda x: pl.Series("n", x, pl.Int64),
}
BOTH = [(FLOATS, name, FLOAT_COLUMNS[name]) for name in FLOAT_COLUMNS]
BOTH += [(INTEGERS, name, INTEGER_COLUMNS[name]) for name in INTEGER_COLUMNS]
NULLABLE = [(m, n, c) for m, n, c in BOTH if n not in ("pandas float64", "pandas int64")]


def short(parameter):
    """A name that is the same in every process: none of a function, which has its address."""
    return "" if callable(parameter) else str(parameter)[:40]


EVERY = pytest.mark.parametrize(("mechanism", "kind", "make"), BOTH, ids=short)
WITH_NULLS = pytest.mark.parametrize(("mechanism", "kind", "make"), NULLABLE, ids=short)


def plain(column) -> list:
    values = column.to_list() if hasattr(column, "to_list") else column.to_pylist()
    return [None if value is None or value is pd.NA else value for value in values]


def same_kind(one, other) -> None:
    assert type(one) is type(other)
    for what in ("dtype", "type", "name"):
        assert getattr(one, what, None) == getattr(other, what, None)
    if isinstance(one, pd.Series):
        assert one.index.equals(other.index)


@EVERY
def test_columns__get_the_noise_of_arrays(mechanism, kind, make, stream):
    x = np.arange(20.0) if mechanism is FLOATS else np.arange(20) + 2**60
    column = make(x.tolist())
    before = plain(column)
    noisy = mechanism.perturb(column, stream=stream.at(5), clip=(3, 2**61))
    same_kind(noisy, column)
    assert plain(noisy) == mechanism.perturb(x, stream=stream.at(5), clip=(3, 2**61)).tolist()
    assert plain(column) == before
    rows = np.arange(20)[::-1] + 7
    keyed = mechanism.perturb(column, stream=stream, rows=rows)
    assert plain(keyed) == mechanism.perturb(x, stream=stream, rows=rows).tolist()


@WITH_NULLS
def test_nulls__stay_and_use_up_their_rows(mechanism, kind, make, stream):
    x = [float(i) if mechanism is FLOATS else 2**60 + i for i in range(20)]
    holes = [None if i % 3 == 1 else value for i, value in enumerate(x)]
    column = make(holes)
    noisy = mechanism.perturb(column, stream=stream.at(0), nan="keep")
    same_kind(noisy, column)
    full = mechanism.perturb(np.array(x), stream=stream.at(0)).tolist()
    assert plain(noisy) == [None if i % 3 == 1 else value for i, value in enumerate(full)]
    with pytest.raises(ValueError, match=r"7 nulls: .*nan=\"keep\""):
        mechanism.perturb(column)
    everywhere = make([None] * 20)
    assert plain(mechanism.perturb(everywhere, nan="keep")) == [None] * 20


def test_pandas__missing_floats_are_nan(stream):
    column = pd.Series([1.0, np.nan, 3.0])
    noisy = FLOATS.perturb(column, stream=stream.at(0), nan="keep")
    full = FLOATS.perturb(np.array([1.0, 2.0, 3.0]), stream=stream.at(0))
    assert np.isnan(noisy[1])
    assert (noisy[0], noisy[2]) == (full[0], full[2])


@pytest.mark.parametrize("first", range(18))
def test_nulls__of_slices_are_their_own(first, stream):
    """Bits of validity start anywhere in a byte."""
    x = pa.array([None if i % 5 == 0 else i for i in range(40)], pa.int32())[first : first + 21]
    noisy = INTEGERS.perturb(x, nan="keep")
    noisy.validate(full=True)
    assert noisy.is_null().equals(x.is_null())
    assert noisy.null_count == x.null_count


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "float32"])
def test_dtypes__survive(dtype, stream):
    mechanism = FLOATS if dtype == "float32" else INTEGERS
    x = np.arange(20).astype(dtype)
    expected = mechanism.perturb(x, stream=stream.at(0))
    for column in (pd.Series(x), pl.Series(x), pa.array(x)):
        noisy = mechanism.perturb(column, stream=stream.at(0))
        same_kind(noisy, type(column)(x) if isinstance(column, pd.Series) else column)
        assert np.array_equal(noisy.to_numpy(), expected)


def test_integers__with_continuous_noise_become_float64():
    for column, kind in (
        (pd.Series([1, None], dtype="Int32"), "Float64"),
        (pd.Series([1, None], dtype="int32[pyarrow]"), "double[pyarrow]"),
        (pl.Series([1, None], dtype=pl.Int32), "Float64"),
        (pa.array([1, None], pa.int32()), "double"),
    ):
        noisy = FLOATS.perturb(column, nan="keep")
        assert str(getattr(noisy, "dtype", None) or noisy.type) == kind
        assert plain(noisy)[1] is None


def test_memory__is_shared_where_nothing_is_missing():
    x = np.arange(1000.0)
    for column in (pd.Series(x), pa.array(x), pl.Series(x), pa.chunked_array([x[:400], x[400:]])):
        (first, *_) = column_of(column, "raise").parts
        whole = column.chunk(0).to_numpy() if hasattr(column, "chunk") else column.to_numpy()
        assert np.shares_memory(first.values, whole)


@pytest.mark.parametrize(("mechanism", "kind"), [(FLOATS, pa.int64()), (INTEGERS, pa.int8())])
def test_empty_chunks__of_integers_that_pass_through_buffers(mechanism, kind, stream):
    values = pa.array(range(9), kind)
    chunks = pa.chunked_array([values[:0], values[:4], values[4:4], values[4:], values[:0]])
    noisy = mechanism.perturb(chunks, stream=stream.at(0))
    assert noisy.num_chunks == 5
    expected = mechanism.perturb(values, stream=stream.at(0))
    assert noisy.to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    "column",
    [pa.array([], pa.float64()), pl.Series([], dtype=pl.Float64), pd.Series([], dtype=float)],
)
def test_columns__of_nothing(column):
    same_kind(FLOATS.perturb(column), column)
    assert len(FLOATS.perturb(column)) == 0
    assert len(FLOATS.perturb(pa.chunked_array([], pa.float64()))) == 0


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["a"]), "not of string"),
        (pa.array([True]), "not of bool"),
        (pa.array([[1.0]]), "not of list"),
        (pa.array([{"Ann": 1.0}]), "not of struct$"),
        (pl.Series(["a"]), "not of string_view"),
        (pd.Series(["a"]), "not of large_string|ndarray of object"),  # pandas 3, pandas 2
        (pd.Series(pd.arrays.SparseArray([0.0, 1.0])), "not of Sparse"),
        (pl.Series([1, 2], dtype=pl.Int128), "not of Int128"),
        (pl.DataFrame({"a": [1.0]}), "one column, not a polars.DataFrame: fastnoise.Plan"),
        (pd.DataFrame({"a": [1.0]}), "one column, not a pandas.DataFrame: fastnoise.Plan"),
        (pa.table({"a": [1.0]}), "one column, not a pyarrow.Table: fastnoise.Plan"),
    ],
)
def test_other_columns__are_refused(column, message):
    with pytest.raises(TypeError, match=message):
        FLOATS.perturb(column)


def test_other_columns__that_fail_themselves_say_why():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise pa.ArrowInvalid("the disk is gone")

    with pytest.raises(pa.ArrowInvalid, match="the disk is gone"):
        FLOATS.perturb(Broken())


def test_bad_values__are_counted_over_chunks():
    column = pa.chunked_array([[1.0, 2.0], [3.0, np.inf, np.nan]])
    with pytest.raises(ValueError, match="2 NaN or infinite values, the first inf at index 3"):
        FLOATS.perturb(column)
    with pytest.raises(TypeError, match="out must be left out for a pyarrow"):
        FLOATS.perturb(column, out=np.empty(5))


def test_without_pyarrow__the_cure_is_named(monkeypatch):
    column = pl.Series([1.0])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'fastnoise\[frames\]'"):
        FLOATS.perturb(column)


@pytest.mark.parametrize("first", [0, 3])
def test_nulls__hide_nothing_in_their_memory(first):
    """The bare noise of a row would give away what is filled in there later."""
    x = pa.array([None if i % 2 else float(i) for i in range(30)])[first:]
    noisy = FLOATS.perturb(x, nan="keep")
    values = np.frombuffer(noisy.buffers()[1], np.float64)[noisy.offset :][: len(x)]
    assert (values[x.is_null().to_numpy(zero_copy_only=False)] == 0).all()


def test_pandas__attributes_survive():
    column = pd.Series([1.0])
    column.attrs["unit"] = "km"
    assert FLOATS.perturb(column).attrs == {"unit": "km"}
