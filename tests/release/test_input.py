"""Is bad input refused clearly, before any noise, and good input of every kind taken as it is?"""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

import fastnoise as fn

MECHANISM = fn.Staircase(epsilon=1.0)


@pytest.mark.parametrize("unit", ["ns", "s"])
def test_times__are_no_numbers(unit, stream):
    time = np.timedelta64(3, unit)
    calls = {
        "epsilon": lambda: fn.Staircase(time),
        "sensitivity": lambda: fn.DiscreteStaircase(1.0, time),
        "row": lambda: stream.at(time),
        "size": lambda: MECHANISM.sample(time),
        "clip": lambda: fn.Geometric(1.0).perturb(1, clip=(time, 5)),
        "grid": lambda: MECHANISM.perturb(1.0, grid=time),
    }
    for argument, call in calls.items():
        with pytest.raises(TypeError, match=rf"^{argument} must be .*timedelta64"):
            call()


def test_integers_of_128_bits__are_refused(stream):
    pl = pytest.importorskip("polars")
    wide = pl.Series([1, 2], dtype=pl.Int128)
    with pytest.raises(ValueError, match=r"^rows must be"):
        MECHANISM.perturb(np.zeros(2), stream=stream, rows=wide)
    with pytest.raises(ValueError, match=r"^costs must be"):
        fn.StaircaseChoice(1.0).choose(wide)


BAD_X = {
    "None": None,
    "str": "3",
    "complex": 1j,
    "bool": True,
    "bool array": np.array([True]),
    "object": np.array([1, "a"], object),
    "strings": np.array(["1.0"]),
    "complex array": np.array([1j]),
    "float16": np.array([1], np.float16),
    "longdouble": np.array([1], np.longdouble),
    "dates": np.array(["2026-01-01"], "M8[D]"),
    "ragged": [[1.0], [1.0, 2.0]],
    "masked": np.ma.array([1.0, 2.0], mask=[0, 1]),
    "dict": {"a": 1},
    "nan": nan,
    "inf": -inf,
    "list with nan": [1.0, nan],
}


@pytest.mark.parametrize("x", BAD_X.values(), ids=BAD_X)
def test_x__must_be_finite_numbers(x, stream):
    with pytest.raises((ValueError, TypeError), match=r"\bx\b"):
        MECHANISM.perturb(x, stream=stream)
    assert stream.position == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, ">f8"])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_x__says_how_many_are_bad_and_where(dtype, order, stream):
    x = np.zeros((300, 700), dtype)
    x[200, 3], x[200, 5], x[299, 699] = nan, inf, -inf
    x = {"C": x, "F": np.asfortranarray(x), "strided": np.repeat(x, 2, 1)[:, ::2]}[order]
    out = np.full(x.shape, 7, dtype)
    message = r"x has 3 NaN or infinite values, the first nan at index \(200, 3\).*nan=\"keep\""
    with pytest.raises(ValueError, match=message):
        MECHANISM.perturb(x, out=out, stream=stream)
    with pytest.raises(
        ValueError, match=r"x has 2 infinite values, the first inf at index \(200, 5"
    ):
        MECHANISM.perturb(x, out=out, stream=stream, nan="keep")
    before = x.copy()
    with pytest.raises(ValueError, match="x has 3"):
        MECHANISM.perturb(x, out=x, stream=stream)
    assert np.array_equal(x, before, equal_nan=True)
    assert (out == 7).all()
    assert stream.position == 0


def bad_outs():
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    base = np.zeros(8)
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,))
    return {
        "list": ([0.0] * 4, "out must be a NumPy array"),
        "float32": (np.zeros(4, np.float32), "out must have dtype float64"),
        "big endian": (np.zeros(4, ">f8"), "out must have dtype float64"),
        "int": (np.zeros(4, int), "out must have dtype float64"),
        "shape": (np.zeros(5), "out must have shape"),
        "more axes": (np.zeros((4, 1)), "out must have shape"),
        "read-only": (frozen, "out must be writeable"),
        "repeated": (repeated, "out must not repeat"),
        "overlap": (base[1:5], "out must be x itself or share no memory"),
    }, base[:4]


@pytest.mark.parametrize("kind", bad_outs()[0])
def test_out__must_fit(kind, stream):
    outs, x = bad_outs()
    out, message = outs[kind]
    before = np.array(out)
    with pytest.raises((ValueError, TypeError), match=message):
        MECHANISM.perturb(x, out=out, stream=stream)
    assert np.array_equal(np.array(out), before)
    if kind != "overlap":
        with pytest.raises((ValueError, TypeError), match=r"out|dtype"):
            MECHANISM.sample(4, dtype=np.float64, out=out, stream=stream)
    assert stream.position == 0


def test_out__interleaved_is_no_overlap(stream):
    both = np.zeros(2000)
    MECHANISM.perturb(both[::2], out=both[1::2], stream=stream)
    assert (both[::2] == 0).all()
    assert (both[1::2] != 0).any()


def test_out__reversed_is_an_overlap(stream):
    x = np.arange(10.0)
    with pytest.raises(ValueError, match="overlap"):
        MECHANISM.perturb(x, out=x[::-1], stream=stream)
    assert x.tolist() == list(range(10))


BAD_OPTIONS = {
    "clip": [3, (1,), (2, 1), (nan, 1), ("0", 1), (None, 1)],
    "grid": [0.3, 0, -0.5, nan, inf, "fine", True, 2.0**-60],
    "nan": ["drop", None],
    "stream": [5, np.random.PCG64],
    "rows": [[0, 1, 2]],  # without a stream
}


@pytest.mark.parametrize(
    ("option", "bad"), [(name, bad) for name, some in BAD_OPTIONS.items() for bad in some], ids=str
)
def test_options__are_checked_before_any_noise(option, bad):
    out = np.full(3, 7.0)
    message = "rows needs a stream" if option == "rows" else option
    with pytest.raises((ValueError, TypeError), match=message):
        MECHANISM.perturb(np.zeros(3), out=out, **{option: bad})
    assert (out == 7).all()


BAD_ROWS = [[0, 1], [0, 1, 1], [2, 1, 2], [0, 1, -1], [0, 1, 2**63], [0.0, 1.0, 2.0], "abc"]
BAD_ROWS += [[0, 1, None], [[0], [1, 2]], range(2), range(-1, 2), range(2**63 - 1, 2**63 + 2), 5]
BAD_ROWS += [np.array([0, 1, 2**63], np.uint64), [True, False, True], 10**30, range(2**63)]


@pytest.mark.parametrize("rows", BAD_ROWS, ids=str)
def test_rows__must_be_distinct_row_numbers(rows, stream):
    with pytest.raises((ValueError, TypeError), match="rows"):
        MECHANISM.perturb(np.zeros(3), stream=stream, rows=rows)


def test_rows__of_every_kind(stream):
    expected = MECHANISM.perturb(np.zeros(6), stream=stream.at(4)).tolist()
    ids = [4, 5, 6, 7, 8, 9]
    for rows in (range(4, 10), ids, tuple(ids), np.array(ids, np.uint8), np.array(ids, ">i4")):
        assert MECHANISM.perturb(np.zeros(6), stream=stream, rows=rows).tolist() == expected
    square = np.array(ids).reshape(2, 3)
    got = MECHANISM.perturb(np.zeros((2, 3)), stream=stream, rows=square)
    assert got.ravel().tolist() == expected
    assert (
        MECHANISM.perturb(np.zeros(3), stream=stream, rows=range(9, 3, -2)).tolist()
        == (expected[5::-2])
    )
    assert MECHANISM.perturb(np.zeros(0), stream=stream, rows=[]).shape == (0,)


def test_containers__come_back_as_they_went(stream):
    whole = MECHANISM.perturb([3.0], stream=stream.at(0))[0]
    for scalar in (3.0, 3, Fraction(3)):
        got = MECHANISM.perturb(scalar, stream=stream.at(0))
        assert type(got) is float
        assert got == whole
    for scalar in (np.float64(3), np.float32(3), np.int16(3)):
        got = MECHANISM.perturb(scalar, stream=stream.at(0))
        assert type(got) is (np.float32 if scalar.dtype == np.float32 else np.float64)
    zero_d = MECHANISM.perturb(np.array(3.0), stream=stream.at(0))
    assert isinstance(zero_d, np.ndarray)
    assert zero_d.shape == ()
    assert zero_d == whole
    for sequence in ([3.0, 1.0], (3, 1), [[3], [1]]):
        got = MECHANISM.perturb(sequence, stream=stream.at(0))
        assert isinstance(got, np.ndarray)
        assert got.dtype == np.float64
        assert got.shape == np.shape(sequence)
    assert MECHANISM.perturb([], stream=stream).shape == (0,)
    assert MECHANISM.perturb(np.zeros((3, 0, 2))).shape == (3, 0, 2)


def test_read_only_input__is_taken_and_left_alone(stream):
    x = np.arange(5.0)
    expected = MECHANISM.perturb(x, stream=stream.at(0))
    x.flags.writeable = False
    assert MECHANISM.perturb(x, stream=stream.at(0)).tolist() == expected.tolist()
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_in_place(stream):
    x = np.arange(50_000.0)
    expected = MECHANISM.perturb(x, stream=stream.at(0))
    assert MECHANISM.perturb(x, out=x, stream=stream.at(0)) is x
    assert np.array_equal(x, expected)
    y = np.arange(50_000.0)
    MECHANISM.perturb(y[:], out=y, stream=stream.at(0))  # another view of the same memory
    assert np.array_equal(y, expected)


def test_sample__sizes(stream):
    assert type(MECHANISM.sample()) is float
    assert MECHANISM.sample(3).shape == (3,)
    assert MECHANISM.sample((2, 0)).shape == (2, 0)
    assert MECHANISM.sample(()).shape == ()
    assert MECHANISM.sample(4, dtype="f4").dtype == np.float32
    for dtype in (int, "f2", complex, "nonsense"):
        with pytest.raises(TypeError, match="dtype must be float64 or float32"):
            MECHANISM.sample(3, dtype=dtype, stream=stream)
    assert stream.position == 0


def test_extreme_parameters__work_or_say_why(stream):
    for epsilon in (1e-10, 1e-8, 100.0, 1000.0, 1e6, 1e300):
        assert np.isfinite(fn.Staircase(epsilon).perturb(np.ones(50), stream=stream)).all()
    with pytest.raises(ValueError, match="epsilon must be at least"):
        fn.Staircase(1e-11, gamma=0.5).perturb(1.0)
    with pytest.raises(ValueError, match="sensitivity must be"):
        fn.Staircase(1.0, 1e-305).perturb(1.0)
    with pytest.raises(ValueError, match="sensitivity must be"):
        fn.Staircase(1.0, 1e305).perturb(1.0)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_out__of_a_subclass_is_taken_as_an_array(stream, tmp_path):
    """A matrix stays two-dimensional whatever one does to it: kernels must not see it."""
    x = np.arange(6.0).reshape(2, 3)
    expected = MECHANISM.perturb(x, stream=stream.at(0))
    room = np.zeros(60)
    matrix = np.asmatrix(room[:6].reshape(2, 3))
    assert MECHANISM.perturb(x, out=matrix, stream=stream.at(0)) is matrix
    assert np.array_equal(np.asarray(matrix), expected)
    assert (room[6:] == 0).all()
    both = np.asmatrix(x.copy())
    MECHANISM.perturb(both, out=both, stream=stream.at(0))
    assert np.array_equal(np.asarray(both), expected)
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=(2, 3))
    MECHANISM.perturb(x, out=mapped, stream=stream.at(0))
    assert np.array_equal(np.asarray(mapped), expected)
    with pytest.raises(TypeError, match="out must be a NumPy array"):
        MECHANISM.perturb(x, out=np.ma.zeros((2, 3)))


@pytest.mark.parametrize("dtype", [int, bool, "f2", complex, object, np.longdouble, "M8[s]"])
def test_sample__mistyped_out_is_refused_untouched(dtype, stream):
    out = np.zeros(5, dtype)
    out[:] = 1
    before = out.copy()
    with pytest.raises(TypeError, match="dtype must be float64 or float32"):
        MECHANISM.sample(out=out, stream=stream)
    assert (out == before).all()
    assert stream.position == 0


def test_sample__out_is_untouched_when_rows_run_out(stream):
    out = np.full(4, 7.0)
    with pytest.raises(ValueError, match="rows left"):
        MECHANISM.sample(out=out, stream=stream.at(2**63 - 2))
    assert (out == 7).all()
    assert MECHANISM.sample(3, out=np.zeros(3, ">f8"), stream=stream.at(0)).dtype == ">f8"


@pytest.mark.parametrize("size", [-1, 2.5, "3", (2, -1), (2, "a"), True, {3}])
def test_sample__bad_size_is_named(size):
    with pytest.raises((ValueError, TypeError), match="size must be None, an integer"):
        MECHANISM.sample(size)


@pytest.mark.parametrize("grid", [2.0**971, 2.0**1000, 2.0**-1030, 5e-324])
def test_grid__beyond_normal_floats_is_refused(grid):
    sensitivity = 2.0**1023 if grid > 1 else 2.0**-1010
    with pytest.raises(ValueError, match="grid must be between"):
        fn.Staircase(1.0, sensitivity).perturb(np.zeros(3), grid=grid)


def test_messages__never_show_what_may_be_a_key():
    with pytest.raises(TypeError, match="stream must be") as caught:
        MECHANISM.perturb(1.0, stream=b"secret" * 6)
    assert "secret" not in str(caught.value)


def test_equal_mechanisms__draw_equal_noise(stream):
    zero, minus = fn.Staircase(1.0, gamma=0.0), fn.Staircase(1.0, gamma=-0.0)
    assert zero == minus
    assert (
        zero.sample(3, stream=stream.at(0)).tolist()
        == minus.sample(3, stream=stream.at(0)).tolist()
    )


def test_decimal_context_of_the_caller__changes_nothing():
    import decimal

    from fastnoise.laws.line.law import staircase_grid
    from fastnoise.laws.line.tables import staircase_tables

    grid = staircase_grid.__wrapped__(14.6, 1.0, 0.3)
    law = staircase_tables.__wrapped__(1.5, 1000, 300)
    with decimal.localcontext() as context:
        context.prec = 1
        for trap in context.traps:
            context.traps[trap] = True
        assert fn.Staircase(1.0) == fn.Staircase(1.0, gamma=0.37754066879814546)
        assert staircase_grid.__wrapped__(14.6, 1.0, 0.3) == grid
        assert (staircase_tables.__wrapped__(1.5, 1000, 300) == law).all()
