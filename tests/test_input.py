"""Is bad input refused clearly, before any noise, and good input of every kind taken as it is?"""

import re
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from mechanisms import DRAWN, EVERY, VECTORS, name

import fastnoise as fn

MECHANISM = fn.Staircase(epsilon=1.0)
NOT_POSITIVE = [0, -1, 0.0, nan, inf, -inf, "1", None, 1j, True, np.array([1.0]), [1.0], 10**400]


@pytest.mark.parametrize("value", NOT_POSITIVE, ids=repr)
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_parameters__must_be_positive_numbers(name, value):
    with pytest.raises((ValueError, TypeError)) as caught:
        fn.Staircase(**{"epsilon": 1.0, name: value})
    assert f"{name} must be a positive finite number" in str(caught.value)
    assert repr(value)[:60] in str(caught.value)


@pytest.mark.parametrize("value", [-0.1, 1.1, nan, inf, "best", 1j, True, [0.5], np.array(0.5)])
def test_gamma__must_be_in_0_1(value):
    with pytest.raises((ValueError, TypeError), match="gamma must be a number in"):
        fn.Staircase(1.0, gamma=value)


@pytest.mark.parametrize(
    "value", ["l3", 0, -2, -1.5, True, None, ("interval",), ("interval", 2), []]
)
def test_cost__must_be_one_of_the_kinds(value):
    with pytest.raises((ValueError, TypeError), match="cost"):
        fn.Staircase(1.0, cost=value)


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


def test_parameters__of_every_real_type():
    expected = fn.Staircase(2.0, 0.5)
    for two in (2, Fraction(2), np.float32(2), np.int8(2)):
        assert fn.Staircase(two, np.float64(0.5)) == expected
    with pytest.raises(TypeError, match="epsilon"):
        fn.Staircase(Decimal(2))


def test_mechanism__is_a_value():
    import pickle

    mechanism = fn.Staircase(0.5, 2.0, cost="l2")
    again = eval(repr(mechanism), {"Staircase": fn.Staircase})
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism != fn.Staircase(0.5, 2.0)
    with pytest.raises(AttributeError):
        mechanism.epsilon = 3.0
    assert (mechanism.delta, mechanism.privacy.epsilon) == (0.0, 0.5)


def test_privacy__grows_with_distance():
    privacy = fn.Staircase(0.5, 2.0).privacy
    assert [privacy.at(d) for d in (0, 1e-9, 2.0, 2.0000001, 6)] == [0, 0.5, 0.5, 1.0, 1.5]
    assert privacy.at(inf) == inf
    assert (privacy.adjacency, privacy.lipschitz, privacy.sensitivity) == ("element", None, 2.0)
    for bad in (-1, nan, "1", None):
        with pytest.raises((ValueError, TypeError), match="distance"):
            privacy.at(bad)


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


BAD_OPTIONS = [
    ({"clip": 3}, "clip"),
    ({"clip": (1,)}, "clip"),
    ({"clip": (2, 1)}, "clip"),
    ({"clip": (nan, 1)}, "clip"),
    ({"clip": ("0", 1)}, "clip"),
    ({"clip": (None, 1)}, "clip"),
    ({"grid": 0.3}, "grid"),
    ({"grid": 0}, "grid"),
    ({"grid": -0.5}, "grid"),
    ({"grid": nan}, "grid"),
    ({"grid": inf}, "grid"),
    ({"grid": "fine"}, "grid"),
    ({"grid": True}, "grid"),
    ({"grid": 2.0**-60}, "grid"),
    ({"nan": "drop"}, "nan"),
    ({"nan": None}, "nan"),
    ({"stream": 5}, "stream"),
    ({"stream": np.random.PCG64}, "stream"),
    ({"rows": [0, 1, 2]}, "rows needs a stream"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=str)
def test_options__are_checked_before_any_noise(options, message):
    out = np.full(3, 7.0)
    with pytest.raises((ValueError, TypeError), match=message):
        MECHANISM.perturb(np.zeros(3), out=out, **options)
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


def test_messages__of_numbers_too_long_to_print():
    with pytest.raises(ValueError, match="epsilon must be a positive finite number"):
        fn.Staircase(10**5000)


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


# --- every mechanism is a value -------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_every_mechanism__is_a_value(mechanism):
    import copy
    import pickle

    again = eval(repr(mechanism), {"Fraction": Fraction, type(mechanism).__name__: type(mechanism)})
    for twin in (again, pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism)):
        assert twin == mechanism
        assert hash(twin) == hash(mechanism)
        assert repr(twin) == repr(mechanism)
        assert type(twin) is type(mechanism)
    assert [other for other in EVERY if other == mechanism] == [mechanism]
    assert mechanism != repr(mechanism)
    field = "epsilon" if "epsilon" in mechanism.__dataclass_fields__ else "delta"
    for attribute in (field, "sensitivity", "grid", "surprise"):
        with pytest.raises(AttributeError):
            setattr(mechanism, attribute, 0.5)
    with pytest.raises(AttributeError):
        delattr(mechanism, field)


@pytest.mark.parametrize("mechanism", DRAWN, ids=name)
def test_every_mechanism__draws_the_same_from_its_twin(mechanism, stream):
    twin = eval(repr(mechanism), {"Fraction": Fraction, type(mechanism).__name__: type(mechanism)})
    ours, theirs = (m.sample(5, stream=stream.at(0)) for m in (mechanism, twin))
    assert ours.tolist() == theirs.tolist()


def test_fractions__are_values_too():
    uniform = fn.DiscreteUniform(Fraction(1, 30), 3)
    again = eval(repr(uniform), {"DiscreteUniform": fn.DiscreteUniform, "Fraction": Fraction})
    assert again == uniform
    assert hash(again) == hash(uniform)
    assert uniform != fn.DiscreteUniform(1 / 30, 3)  # a float means its shortest decimal
    assert fn.DiscreteUniform(Fraction(1, 10)).pmf(0) == fn.DiscreteUniform(0.1).pmf(0)


# --- vectors --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True, nan, 10**6])
@pytest.mark.parametrize("kind", [fn.L2Laplace, fn.MultiUserLaplace, fn.L1Staircase])
def test_vectors__dim_must_be_a_dimension(kind, value):
    with pytest.raises((ValueError, TypeError), match="dim must be"):
        kind(1.0, value)


@pytest.mark.parametrize("value", NOT_POSITIVE, ids=repr)
@pytest.mark.parametrize("parameter", ["epsilon", "sensitivity"])
@pytest.mark.parametrize(
    "kind", [fn.Laplace, fn.L2Laplace, fn.MultiUserLaplace, fn.L1Staircase, fn.StaircaseChoice]
)
def test_every_parameter__must_be_a_positive_number(kind, parameter, value):
    dim = {} if kind in (fn.Laplace, fn.StaircaseChoice) else {"dim": 2}
    with pytest.raises(
        (ValueError, TypeError), match=f"{parameter} must be a positive finite number"
    ):
        kind(**{"epsilon": 1.0, **dim, parameter: value})


BAD_BOXES = [
    ({"widths": ()}, "widths"),
    ({"widths": 1.0}, "widths"),
    ({"widths": "12"}, "widths"),
    ({"widths": (1.0, 0.0)}, "widths"),
    ({"widths": (1.0, -2.0)}, "widths"),
    ({"widths": (1.0, inf)}, "widths"),
    ({"widths": (1.0, "2")}, "widths"),
    ({"widths": (1.0,) * 129}, "widths"),
    ({"widths": np.ones((2, 2))}, "widths"),
    ({"core": (0.5,)}, "core"),
    ({"core": (0.5, 0.5, 0.5)}, "core"),
    ({"core": (0.5, -0.1)}, "core"),
    ({"core": (0.5, nan)}, "core"),
    ({"core": (0.5, inf)}, "core"),
    ({"core": (0.5, "1")}, "core"),
    ({"core": 0.5}, "core"),
]


@pytest.mark.parametrize(("options", "message"), BAD_BOXES, ids=str)
def test_box__parameters_are_refused_by_name(options, message):
    with pytest.raises((ValueError, TypeError), match=f"{message} must be"):
        fn.BoxStaircase(**{"epsilon": 1.0, "widths": (1.0, 2.0), **options})


@pytest.mark.parametrize("value", [0, 1, 1.0, -0.1, 2, nan, inf, "0.1", None, True, Fraction(3, 2)])
def test_delta__must_be_inside_0_1(value):
    for build in (fn.DiscreteUniform, lambda delta: fn.TruncatedDiscreteLaplace(1.0, delta)):
        with pytest.raises((ValueError, TypeError), match="delta must be"):
            build(value)


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
