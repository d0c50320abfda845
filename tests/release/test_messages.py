"""Does a refusal show what it must not: values of x, of costs, of rows?"""

import re
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastnoise as fn

SECRET = "8642013579"
NUMBER = int(SECRET)
TEXT = f"patient {SECRET}"


class Unwilling:
    """What numpy says of it holds the data."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError(TEXT)


BAD_DATA = {
    "text": TEXT,
    "bytes": TEXT.encode(),
    "numpy text": np.str_(TEXT),
    "complex": complex(NUMBER, 1),
    "decimal": Decimal(NUMBER),
    "large fraction": Fraction(10) ** 400 + NUMBER,
    "dict": {TEXT: NUMBER},
    "set": {NUMBER},
    "texts": [TEXT, TEXT],
    "text among numbers": [1.0, TEXT],
    "none among numbers": [NUMBER, None],
    "ragged": [[NUMBER, 1.0], [2.0]],
    "ragged texts": [[TEXT], [TEXT, TEXT]],
    "deep": [[[[NUMBER]], NUMBER]],
    "objects": np.array([TEXT, NUMBER], object),
    "an array of texts": np.array([TEXT]),
    "an array of bytes": np.array([TEXT.encode()]),
    "complex array": np.array([NUMBER * 1j]),
    "times": np.array([NUMBER], "M8[s]"),
    "masked": np.ma.array([NUMBER, NUMBER], mask=[True, False]),
    "unwilling": [Unwilling()],
    "range of objects": (NUMBER, TEXT),
}
BAD_COLUMNS = {
    "pandas objects": pd.Series([TEXT, NUMBER], dtype=object),
    "pandas texts": pd.Series([TEXT], dtype="string"),
    "pandas categories": pd.Series([TEXT], dtype="category"),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([1.0, NUMBER], fill_value=float(NUMBER))),
    "pandas times": pd.Series([pd.Timestamp(NUMBER)]),
    "pandas table": pd.DataFrame({"a": [NUMBER]}),
    "polars texts": pl.Series([TEXT]),
    "polars enum": pl.Series([TEXT], dtype=pl.Enum([TEXT])),
    "polars categories": pl.Series([TEXT], dtype=pl.Categorical),
    "polars 128 bits": pl.Series([NUMBER], dtype=pl.Int128),
    "polars objects": pl.Series([object(), NUMBER], dtype=pl.Object),
    "polars lists": pl.Series([[NUMBER]]),
    "arrow texts": pa.array([TEXT]),
    "arrow dictionary": pa.array([TEXT]).dictionary_encode(),
    "arrow decimals": pa.array([Decimal(NUMBER)]),
    "arrow nulls": pa.array([NUMBER, None]),
}
FOR_INTEGERS = {
    "float": NUMBER + 0.5,
    "numpy float": np.float64(NUMBER),
    "fraction": Fraction(NUMBER, 3),
    "beyond 64 bits": 10**20 + NUMBER,
    "below 64 bits": -(10**20) - NUMBER,
    "floats": [NUMBER + 0.5],
    "far integers": [10**30 + NUMBER],
}
BAD_ROWS = {
    "repeated": [NUMBER, 1, NUMBER, 1],
    "negative": [-NUMBER, 1, 2, 3],
    "beyond": [2**63 + NUMBER, 1, 2, 3],
    "far beyond": [10**30 + NUMBER, 1, 2, 3],
    "floats": [NUMBER + 0.5, 1, 2, 3],
    "texts": [TEXT, "1", "2", "3"],
    "text": TEXT,
    "ragged": [[NUMBER], [1, 2], [3]],
    "objects": [NUMBER, None, 2, 3],
    "too few": [NUMBER],
    "dict": {NUMBER: 1},
    "unwilling": [Unwilling()],
}


def shown(call) -> str:
    """Everything that a refusal would print, its causes and warnings included."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises((ValueError, TypeError)) as refused:
            call()
    lines = [str(warning.message) for warning in caught]
    lines += [line for line in traceback.format_exception(refused.value) if '  File "' not in line]
    return "\n".join([*lines, str(refused.value)])


def test_x__is_never_shown():
    for kind, x in (BAD_DATA | BAD_COLUMNS).items():
        for mechanism in (fn.Laplace(1.0), fn.Geometric(1.0), fn.L2Laplace(1.0, 2)):
            text = shown(lambda mechanism=mechanism, x=x: mechanism.perturb(x))
            assert SECRET not in text, kind
            assert str(len(TEXT)) not in text, kind  # nor how long the longest text is
            assert re.search(r"\bx (must|has)", text), kind


def test_x__of_integers_is_never_shown():
    for kind, x in FOR_INTEGERS.items():
        text = shown(lambda x=x: fn.Geometric(1.0).perturb(x))
        assert SECRET not in text, kind
        assert "x must be" in text, kind


def test_costs__are_never_shown():
    mechanism = fn.StaircaseChoice(1.0)
    for kind, bad in BAD_DATA.items():
        shapes = (bad,) if kind == "masked" else (bad, [[bad]])
        for costs, call in product(shapes, (mechanism.choose, mechanism.probabilities)):
            text = shown(lambda call=call, costs=costs: call(costs))
            assert SECRET not in text, kind
            assert "costs must be" in text, kind


def test_rows__are_never_shown(stream):
    for kind, rows in BAD_ROWS.items():
        text = shown(
            lambda rows=rows: fn.Laplace(1.0).perturb(np.zeros(4), stream=stream, rows=rows)
        )
        assert SECRET not in text, kind
        assert "rows must" in text, kind


def test_rows__say_how_many_repeat_and_where(stream):
    rows = [5, 7, NUMBER, 7, NUMBER, 7]
    text = shown(lambda: fn.Laplace(1.0).perturb(np.zeros(6), stream=stream, rows=rows))
    assert "3 of them repeat another, the first at index 3" in text
    text = shown(lambda: fn.Laplace(1.0).perturb(np.zeros(3), stream=stream, rows=[1, -2, -NUMBER]))
    assert "2 of them are outside, the first at index 1" in text
