"""Any arguments at all: a result that keeps every promise, or a refusal that names one of them."""

import re
import warnings
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from conftest import KEY
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import fastnoise as fn
from fastnoise.arithmetic.floats import exact_delta

pytestmark = pytest.mark.long

ARGUMENTS = "epsilon|delta|sensitivity|gamma|r|cost|dim|widths|core|x|out|stream|rows|clip|grid|nan"
ARGUMENTS += "|size|dtype|changed|costs"
NAMES_ONE = re.compile(rf"\b({ARGUMENTS})\b (must|needs|has|could|is|values)|rows left")


def fuzz(examples):
    """The same examples in every run, so that a failure is somebody's change."""
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


# --- arguments ------------------------------------------------------------------------------------

WRONG = st.sampled_from(
    [None, "1", b"1", True, 1j, [], (), {}, [1.0], Decimal(1), np.array([1.0]), np.True_, object()]
)
EXTREME = st.sampled_from(
    [
        *(0, -1, nan, inf, -inf, 5e-324, 2.2e-308, 1e-300, 1e-10, 1e10, 1e300, 1.797e308, -0.0),
        *(2**53 + 1, 2**63, 2**64 + 1, 10**400, -(10**400), Fraction(1, 3), Fraction(10**400, 7)),
        *(np.float32(0.1), np.int8(3), np.uint64(2**63), np.float64(0.5), 1 - 2.0**-53),
    ]
)
SENSIBLE = st.one_of(
    st.sampled_from([0.01, 0.3, 1, 1.0, 2.5, 20.0, 100.0, Fraction(7, 3)]),
    st.floats(1e-3, 50.0),
    st.integers(1, 1000),
)
NUMBER = st.one_of(SENSIBLE, SENSIBLE, SENSIBLE, EXTREME, st.floats(), WRONG)
COUNT = st.one_of(st.integers(1, 5), st.integers(1, 5), EXTREME, WRONG)
COST = st.one_of(
    st.sampled_from(["l1", "l2", 1, 2, 3, 7, ("interval", 0.95), "l3", ("interval", 2), -1, nan])
)
SHARE = st.one_of(st.floats(0, 1), st.sampled_from(["heuristic", "dominating", "x"]), NUMBER)
SEVERAL = st.one_of(st.lists(NUMBER, max_size=4), st.lists(SENSIBLE, min_size=1, max_size=4), WRONG)
DELTA = st.one_of(st.floats(1e-9, 0.9), st.just(Fraction(1, 7)), NUMBER)


def call(kind, **arguments):
    """The call with some of its optional arguments left out."""
    return st.fixed_dictionaries(
        {name: value for name, value in arguments.items() if not name.startswith("_")},
        optional={name[1:]: value for name, value in arguments.items() if name.startswith("_")},
    ).map(lambda chosen: (kind, chosen))


CALLS = st.one_of(
    call(fn.Laplace, epsilon=NUMBER, _sensitivity=NUMBER),
    call(fn.Staircase, epsilon=NUMBER, _sensitivity=NUMBER, _cost=COST, _gamma=SHARE),
    call(fn.L2Laplace, epsilon=NUMBER, dim=COUNT, _sensitivity=NUMBER),
    call(fn.MultiUserLaplace, epsilon=NUMBER, dim=COUNT, _sensitivity=NUMBER),
    call(fn.L1Staircase, epsilon=NUMBER, dim=COUNT, _sensitivity=NUMBER, _gamma=SHARE),
    call(fn.BoxStaircase, epsilon=NUMBER, widths=SEVERAL, _core=SEVERAL),
    call(fn.Geometric, epsilon=NUMBER),
    call(fn.DiscreteLaplace, epsilon=NUMBER, _sensitivity=COUNT),
    call(fn.DiscreteStaircase, epsilon=NUMBER, _sensitivity=COUNT, _r=st.one_of(COUNT, SHARE)),
    call(fn.DiscreteUniform, delta=DELTA, _sensitivity=COUNT),
    call(fn.TruncatedDiscreteLaplace, epsilon=NUMBER, delta=DELTA, _sensitivity=COUNT),
    call(fn.StaircaseChoice, epsilon=NUMBER, _sensitivity=NUMBER, _gamma=SHARE),
)
DRAWN = [
    fn.Laplace(1.0),
    fn.Laplace(0.01, 1e200),
    fn.Staircase(0.5, 3.0),
    fn.Staircase(30.0, 1e-200),
    fn.L2Laplace(1.0, dim=1),
    fn.L2Laplace(1.0, dim=3),
    fn.MultiUserLaplace(2.0, dim=2),
    fn.L1Staircase(1.0, dim=2),
    fn.BoxStaircase(1.0, (1.0, 1e10, 1e-10)),
    fn.Geometric(0.7),
    fn.DiscreteLaplace(0.01, 1000),
    fn.DiscreteUniform(0.01, 3),
    fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3),
]
ANY_GRID = st.one_of(
    st.integers(-30, 20).map(lambda power: 2.0**power),
    st.integers(-1074, 1023).map(lambda power: 2.0**power),
    st.sampled_from([None, 1, 3.0, "fine", (1.0, 2.0, 4.0), np.array([1.0, 0.5]), Fraction(1, 4)]),
    EXTREME,
    WRONG,
)
# Most calls should get further than this.
GRID = st.integers(0, 9).flatmap(lambda i: st.just("auto") if i < 7 else ANY_GRID)
FLOAT = st.one_of(
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
    st.sampled_from([0.0, -0.0, 5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 1e-300]),
)
CLIP = st.one_of(
    st.none(),
    st.none(),
    st.tuples(EXTREME, EXTREME),
    st.tuples(FLOAT, FLOAT),
    st.tuples(st.integers(-100, 0), st.integers(0, 100)),
    WRONG,
)
DTYPES = ["f8", "f8", "f8", ">f8", "f4", ">f4", "i8", "i1", "u8", ">u2", "f2", "g", "c16", "?", "O"]
LAYOUTS = ["plain", "plain", "strided", "reversed", "fortran", "unaligned", "repeated"]


@st.composite
def arrays(draw, mechanism):
    """Any dtype, shape and stride; bad values and wrong lengths of vectors among them."""
    row = mechanism._row_shape if draw(st.integers(0, 9)) else (4,)
    shape = (*draw(st.sampled_from([(), (0,), (1,), (7,), (40,), (3, 5), (2, 0)])), *row)
    wanted = ["i8", "i4", "u8", ">i2"] if mechanism._law(mechanism.grid).integers else DTYPES
    dtype = np.dtype(draw(st.sampled_from([*wanted, *DTYPES])))
    size = int(np.prod(shape))
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    number = st.integers(int(limits.min), int(limits.max)) if limits else FLOAT
    some = draw(st.lists(number, min_size=1, max_size=8))
    bad = draw(st.sampled_from([None, None, None, None, nan, inf, -inf]))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat = np.resize(np.array(some, dtype), size)
        if bad is not None and size and dtype.kind == "f":
            flat[size // 2] = bad
    return laid_out(flat.reshape(shape), draw(st.sampled_from(LAYOUTS)))


def laid_out(x, layout):
    if layout == "plain" or x.ndim == 0 or x.dtype == object:
        return x
    if layout == "strided":
        room = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., ::2]
    elif layout == "reversed":
        room = np.zeros_like(x)[::-1]
    elif layout == "fortran":
        room = np.zeros(x.shape, x.dtype, order="F")
    elif layout == "unaligned":
        room = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    else:
        return np.broadcast_to(x[:1], x.shape) if len(x) else x
    room[...] = x
    return room


@st.composite
def outs(draw, x):
    """Nothing, x itself, or room that fits or does not."""
    kind = draw(st.sampled_from(["none", "none", "new", "x", "half", "shape", "frozen", "over"]))
    dtype = x.dtype if x.dtype.kind != "i" or draw(st.booleans()) else np.dtype(np.float64)
    assume(dtype.kind in "iuf")
    new = np.full(x.shape, 7, dtype)
    if kind == "half" and x.ndim and x.flags.writeable:
        return x[::-1]
    if kind == "frozen":
        new.flags.writeable = False
    if kind == "over" and x.size:
        return as_strided(new, x.shape, [s // 2 for s in new.strides])
    options = {"none": None, "x": x, "shape": np.full((2, 3, 4), 7, dtype)}
    return options.get(kind, new)


ROWS = st.one_of(
    st.none(),
    st.none(),
    st.lists(st.integers(0, 2**63 - 1), max_size=50, unique=True),
    st.lists(st.integers(-3, 2**63 + 3), max_size=9),
    st.integers(0, 100).map(lambda n: range(n)),
    WRONG,
)


def refused(problem) -> None:
    assert NAMES_ONE.search(str(problem)), str(problem)


# --- constructors ---------------------------------------------------------------------------------


def check_constructor(kind, arguments):
    """Built, it is a value that its repr builds again, and its certificate keeps its promise."""
    try:
        mechanism = kind(**arguments)
    except (ValueError, TypeError) as problem:
        refused(problem)
        return
    assert eval(repr(mechanism), {**vars(fn), "Fraction": Fraction}) == mechanism
    try:
        certificate = mechanism.certificate()
    except ValueError as problem:
        refused(problem)
        return
    assert certificate.epsilon <= mechanism.privacy.epsilon
    assert exact_delta(certificate.delta) <= exact_delta(mechanism.privacy.delta)
    if kind is fn.StaircaseChoice:
        assert mechanism.choose([0.0, 1.0]) in (0, 1)
        return
    noise = mechanism.sample(3, stream=fn.Stream.from_key(KEY).at(0))
    assert noise.shape == (3, *mechanism._row_shape)
    assert np.isfinite(noise).all()


@fuzz(2000)
@given(CALLS)
def test_constructors(chosen):
    check_constructor(*chosen)


@pytest.mark.slow
@fuzz(20_000)
@given(CALLS)
def test_constructors__at_length(chosen):
    check_constructor(*chosen)


# --- perturb --------------------------------------------------------------------------------------


def check_perturb(data):
    mechanism = data.draw(st.sampled_from(DRAWN))
    x = data.draw(arrays(mechanism))
    out, rows = data.draw(outs(x)), data.draw(ROWS)
    options = {
        "clip": data.draw(CLIP),
        "grid": data.draw(GRID),
        "nan": data.draw(st.sampled_from([*["raise", "keep"] * 5, "drop", None])),
    }
    start = data.draw(st.sampled_from([0, 3, 2**40, 2**63 - 20]))
    stream = fn.Stream.from_key(KEY).at(start)
    before, given_x = None if out is None else out.copy(), x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", fn.TextbookNoiseWarning)
        try:
            y = mechanism.perturb(x, out=out, stream=stream, rows=rows, **options)
        except (ValueError, TypeError) as problem:
            refused(problem)
            assert stream.position == start
            assert before is None or np.array_equal(out, before, equal_nan=out.dtype.kind == "f")
            return
        check_result(mechanism, given_x, y, out, start, rows, options)


def check_result(mechanism, x, y, out, start, rows, options):
    integers = mechanism._law(mechanism.grid).integers
    assert y.shape == x.shape
    assert y.dtype == (x.dtype if integers or x.dtype.kind == "f" else np.float64)
    assert out is None or y is out
    if not integers:
        assert np.array_equal(np.isnan(y), np.isnan(x))
        check_grid(mechanism, y, options["grid"])
    if rows is None and x.ndim == 1 + len(mechanism._row_shape) and len(x) > 2:
        a, b = len(x) // 3, len(x) - 1
        part = mechanism.perturb(x[a:b], stream=fn.Stream.from_key(KEY).at(start + a), **options)
        assert np.array_equal(part, y[a:b], equal_nan=not integers)
        keyed = mechanism.perturb(
            x[a:b], stream=fn.Stream.from_key(KEY), rows=range(start + a, start + b), **options
        )
        assert np.array_equal(keyed, part, equal_nan=not integers)


def check_grid(mechanism, y, grid):
    if grid is None:
        return
    grids = np.array(mechanism._chosen_grid(grid), np.float64)
    with np.errstate(all="ignore"):
        steps = y.astype(np.float64) / grids
        near = np.abs(steps) < 2**52
    if y.dtype.itemsize == 8:  # float32 rounds once more
        assert (steps[near] == np.round(steps[near])).all()
    certificate = mechanism.certificate(grid=grid)
    assert certificate.epsilon <= mechanism.privacy.epsilon


@fuzz(5000)
@given(st.data())
def test_perturb(data):
    check_perturb(data)


@pytest.mark.slow
@fuzz(100_000)
@given(st.data())
def test_perturb__at_length(data):
    check_perturb(data)


# --- sample and certificate -----------------------------------------------------------------------

SIZE = st.one_of(st.none(), st.integers(-2, 50), st.tuples(st.integers(0, 5)), EXTREME, WRONG)


@fuzz(400)
@given(st.sampled_from(DRAWN), SIZE, st.sampled_from([None, *DTYPES, "i4", "nonsense", 5]))
def test_sample(mechanism, size, dtype):
    assume(not isinstance(size, int) or size < 10**6)
    stream = fn.Stream.from_key(KEY).at(0)
    try:
        z = mechanism.sample(size, dtype=dtype, stream=stream)
    except (ValueError, TypeError) as problem:
        refused(problem)
        assert stream.position == 0
        return
    assert not np.isnan(z).any()
    zeros = np.zeros(np.shape(z), dtype or np.asarray(z).dtype)
    again = mechanism.perturb(zeros, stream=fn.Stream.from_key(KEY).at(0))
    assert np.array_equal(z, again)


@fuzz(300)
@given(st.sampled_from(DRAWN), st.one_of(st.none(), COUNT, st.integers(1, 2**40)), GRID)
def test_certificate(mechanism, changed, grid):
    try:
        certificate = mechanism.certificate(changed=changed, grid=grid)
    except (ValueError, TypeError) as problem:
        refused(problem)
        return
    if changed is None or changed <= (mechanism.privacy.changed or inf):
        assert certificate.epsilon <= mechanism.privacy.epsilon
    else:
        assert certificate.epsilon > mechanism.privacy.epsilon * (1 - 1e-4)
    assert np.min(certificate.released_sensitivity) >= np.min(mechanism.sensitivity) * (
        not hasattr(mechanism, "widths")
    )
