"""Is what is no float rounded to the private side: sensitivities up, epsilon and delta down?"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import drawn_law

import fastnoise as fn
from fastnoise.arithmetic.floats import exact_delta
from fastnoise.identity import noise_identity
from fastnoise.validation import bounds

FINE = np.longdouble(1) / 3  # of 64 bits where the machine has them
with mpmath.workdps(50):
    LONG = mpmath.mpf(22) / 7, mpmath.mpf(1) / 7


def exact(value) -> Fraction:
    if isinstance(value, int | np.integer | Fraction):
        return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)
    return Fraction(*map(int, value.as_integer_ratio()))


# Of each kind some whose nearest float is below, and some above.
NUMBERS = [
    *(2**53 + 1, 2**53 + 3, 10**23, 3**50, np.int64(2**60 + 127), np.int64(2**60 + 129)),
    *(np.uint64(2**63 + 1023), np.uint64(2**63 + 1025), Fraction(1, 3), Fraction(2, 3)),
    *(Fraction(1, 10), Fraction(7, 10), FINE, 2 * FINE, 5 * FINE, 7 * FINE),
    *LONG,
]
FLOATS = [
    0.1,
    1,
    2**53,
    3.7,
    np.float32(0.1),
    np.int8(3),
    Fraction(3, 8),
    np.longdouble(0.7),
    1e300,
]
BUILDERS = [
    lambda e, s: fn.Staircase(e, s),
    lambda e, s: fn.Laplace(e, s),
    lambda e, s: fn.L2Laplace(e, 3, s),
    lambda e, s: fn.MultiUserLaplace(e, 3, s),
    lambda e, s: fn.L1Staircase(e, 3, s),
    lambda e, s: fn.StaircaseChoice(e, s),
    lambda e, s: fn.BoxStaircase(e, (s, 1.0)),
    lambda e, s: fn.BoxStaircase(e, np.array([s, s])),
]


def sensitivity_of(mechanism):
    return mechanism.widths[0] if isinstance(mechanism, fn.BoxStaircase) else mechanism.sensitivity


@pytest.mark.parametrize("build", BUILDERS)
def test_parameters__sensitivity_goes_up(build):
    for value in NUMBERS:
        mechanism = build(1.0, value)
        found = sensitivity_of(mechanism)
        assert math.nextafter(found, 0.0) < exact(value) <= found
        assert eval(repr(mechanism), vars(fn)) == mechanism


@pytest.mark.parametrize(
    "build",
    [
        *BUILDERS,
        lambda e, s: fn.Geometric(e),
        lambda e, s: fn.DiscreteStaircase(e, 3),
        lambda e, s: fn.DiscreteLaplace(e, 3),
        lambda e, s: fn.TruncatedDiscreteLaplace(e, 0.01, 3),
        lambda e, s: fn.approximate(e, 0, 3),
    ],
)
def test_parameters__epsilon_goes_down(build):
    for value in NUMBERS:
        if value > 1e6:
            value = Fraction(exact(value), 2**60)
        mechanism = build(value, 1.0)
        assert mechanism.epsilon <= exact(value) < math.nextafter(mechanism.epsilon, math.inf)
        assert eval(repr(mechanism), vars(fn)) == mechanism


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("value", FLOATS)
def test_parameters__floats_stay_what_they_are(build, value):
    assert sensitivity_of(build(1.0, value)) == float(value)
    if value < 1e6:
        assert build(value, 1.0).epsilon == float(value)


def test_parameters__delta_goes_down():
    """A float means its shortest decimal, which must not be larger either."""
    beyond = np.nextafter(np.longdouble(0.3), 1)  # the float that means 0.3 is below it
    for value in (FINE, FINE / 7, beyond, LONG[1]):
        for mechanism in (fn.DiscreteUniform(value, 1), fn.TruncatedDiscreteLaplace(1.0, value, 1)):
            assert exact_delta(mechanism.delta) <= exact(value)
            assert exact_delta(mechanism.delta) > exact(value) * (1 - Fraction(1, 10**14))


def test_grid__is_a_power_of_two_exactly():
    with pytest.raises(ValueError, match="grid must be a power of two"):
        fn.Staircase(1.0, 2.0**60).certificate(grid=np.int64(2**53 + 1))


# --- privacy --------------------------------------------------------------------------------------

DISTANCES = [2**53 + 1, 2**60 + 127, 2**60 + 129, Fraction(1, 3), Fraction(2, 3), 0.1, 0.7, 1e308]
DISTANCES += [10**400, np.int64(2**60 + 129), np.longdouble(1) / 3, 7, 2**57 + 1]


@pytest.mark.parametrize(
    "mechanism",
    [
        fn.Staircase(0.3, 0.7),
        fn.DiscreteStaircase(2.7, 2**53 + 1),
        fn.Laplace(0.3, 0.7),
        fn.L2Laplace(0.1, 2, 3.0),
        fn.Geometric(0.1),
        fn.DiscreteLaplace(67.0, 2**57 + 1),
        fn.StaircaseChoice(0.3, 0.7),
        fn.TruncatedDiscreteLaplace(67.0, 0.1, 2**57 + 1),
    ],
)
def test_privacy__at_is_never_rounded_down(mechanism):
    privacy, sensitivity = mechanism.privacy, Fraction(mechanism.sensitivity)
    for distance in [*DISTANCES, mechanism.sensitivity, mechanism.sensitivity + 1]:
        share = exact(distance) / sensitivity
        if privacy.lipschitz is None and not privacy.delta:
            share = math.ceil(share)
        found, least = privacy.at(distance), Fraction(privacy.epsilon) * share
        if (privacy.delta and share > 1) or least > Fraction(1.7e308):
            assert found == math.inf
        else:
            assert least <= Fraction(found) <= least * (1 + Fraction(1, 2**51))
    assert privacy.at(mechanism.sensitivity) == privacy.epsilon


# --- clip -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clip",
    [
        (1, 2**53 + 3),
        (-(2**60) - 129, 5),
        (Fraction(1, 3), Fraction(2, 3)),
        (Fraction(-2, 3), Fraction(1, 10)),
        (np.longdouble(1) / 3, np.longdouble(2) / 3),
        (np.int64(2**60 + 129), np.int64(2**60 + 511)),
    ],
)
def test_clip__is_never_wider_than_it_says(clip):
    low, high = bounds("clip", clip)
    assert exact(clip[0]) <= Fraction(low) <= Fraction(high) <= exact(clip[1])


def test_clip__between_two_floats_is_one_value(stream):
    for third in (Fraction(1, 3), Fraction(2, 3)):
        clip = (third, third + Fraction(1, 10**30))
        ends = [fn.Staircase(1.0).perturb(x, clip=clip, stream=stream.at(0)) for x in (-9.0, 9.0)]
        assert ends[0] == ends[1]


CLIPS = [[1, 2**53 + 3], [0.1, 2**53 + 3], [-(2**60) - 129, 5], [1, 2**53 + 2], [0.1, 0.7]]


@pytest.mark.parametrize("mechanism", ["staircase", "laplace"])
def test_clip__of_a_plan_fits_its_sensitivity(mechanism):
    for clip in CLIPS:
        fields = {"mechanism": mechanism, "epsilon": 1.0, "clip": clip}
        entry = fn.Plan({"columns": {"x": fields}}).entries[0]
        low, high = bounds("clip", entry.clip)
        assert Fraction(high) - Fraction(low) <= Fraction(entry.mechanism.sensitivity)
        width = Fraction(clip[1]) - Fraction(clip[0])
        assert Fraction(math.nextafter(entry.mechanism.sensitivity, 0.0)) < width
        assert width <= Fraction(entry.mechanism.sensitivity)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("top", [2**53 + 1, 2**63 - 1])
def test_clip__of_integers_is_exact(dtype, top, stream):
    law, x = fn.Geometric(50.0), np.array([0, top - 1, top, top], dtype)
    noise = law.sample(4, stream=stream.at(0))
    assert np.count_nonzero(noise) == 0
    for kind in (int, np.int64, np.uint64):
        clip = (kind(top - 1), kind(top))
        assert law.perturb(x, clip=clip, stream=stream.at(0)).tolist() == [
            *(top - 1, top - 1, top, top)
        ]


# --- data -----------------------------------------------------------------------------------------

MIXED = [
    [0.5, 2**60 + 127],
    (0.5, -(2**60) - 129),
    [[0.5, 1.0], [2**53 + 1, 2]],
    [-1, 2**63],
    [2**64, 1],
    [np.array([2**60 + 129]), np.array([0.5])],
    [np.float64(0.5), np.int64(2**60 + 129)],
    [np.uint64(2**63 + 1025), -1],
]


@pytest.mark.parametrize("data", MIXED)
def test_lists__integers_beyond_floats_do_not_become_some(data):
    """The one of 2**60 + 127 was 256 less than the one of 2**60 + 129, whose change is 2."""
    with pytest.raises((TypeError, ValueError), match=r"x must be .*beyond 2\*\*53") as told:
        fn.Staircase(1.0).perturb(data)
    assert "11529215" not in str(told.value)
    with pytest.raises((TypeError, ValueError), match=r"costs must be .*beyond 2\*\*53"):
        fn.StaircaseChoice(1.0).choose(data)


def test_lists__of_integers_or_floats_are_taken(stream):
    law = fn.Staircase(1.0)
    for same in ([2**60 + 129, 5], np.array([2**53, 5]), [2**53, 5.0], [2.0**53, 5]):
        expected = law.perturb([2.0**53, 5.0], stream=stream.at(0))
        assert np.array_equal(law.perturb(same, stream=stream.at(0)), expected)
    assert fn.StaircaseChoice(1.0).choose([2.0**60, 5, 2**53]) == 1


def test_lists__of_integers_are_int64_whatever_is_in_them():
    """2**63 made the list unsigned: noise of other limits than that of 2**63 - 1, next to it."""
    law = fn.DiscreteStaircase(1.0, 3)
    for data in ([2**63], [[2**63], [2**63 + 9]], (np.uint64(2**63), 2**63), [5, 2**63]):
        with pytest.raises(ValueError, match=r"x must be integers.*beyond"):
            law.perturb(data)
    assert law.perturb([2**63 - 1, 5]).dtype == np.int64
    assert law.perturb([np.uint64(2**63), np.uint64(5)]).dtype == np.uint64
    assert law.perturb([np.array([2**63], np.uint64)]).dtype == np.uint64


def test_scalars__of_more_digits_are_refused_where_they_would_be_rounded():
    with pytest.raises(TypeError, match="x must be"):
        fn.Staircase(1.0).perturb(LONG[0])


# --- costs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "bits"), [(np.int64, 10), (np.uint64, 11), (np.uint64, 10)])
def test_choice__integer_costs_are_snapped_exactly(dtype, bits, stream):
    """Halves of a step beyond 2**53, which floats round to even, at the edges of levels."""
    grid, steps = 2**bits, 2**20 + 1
    law = fn.StaircaseChoice(1.0, float(grid * steps))
    assert (law.grid, drawn_law(law).steps) == (grid, steps)
    edges = drawn_law(law).radius + steps * np.arange(
        2**31 - 2000, 2**31 - 2000 + 300, dtype=object
    )
    halves = edges * grid - grid // 2
    rows = [[int(h), int(h) - 1, int(h) + 1, int(h + grid * steps)] for h in halves]
    fast = law.choose(np.array(rows, dtype), stream=stream.at(0))
    drawn = drawn_law(law)
    reader, key = drawn.reader, stream._noise_key(noise_identity(law, drawn))
    assert fast.tolist() == [reader.choose(key, i, row) for i, row in enumerate(rows)]
    lists = law.choose(rows, stream=stream.at(0))
    assert np.array_equal(lists, fast)


@pytest.mark.parametrize("exponent", [-30, 0, 1, 30, 70, 90])
def test_choice__integer_costs_of_every_size(exponent, stream, rng):
    law = fn.StaircaseChoice(0.5, 1.7 * 2.0 ** (exponent + 20))
    drawn = drawn_law(law)
    reader, key = drawn.reader, stream._noise_key(noise_identity(law, drawn))
    for dtype in (np.int64, np.uint64):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        some = rng.integers(least, most, (50, 4), dtype, endpoint=True) >> np.arange(
            0, 64, 16, dtype
        )
        ends = np.array([[least, most, 0, 1], [most, most - 1, most >> 1, 1]], dtype)
        costs = np.concatenate([some, ends])
        expected = [reader.choose(key, i, row) for i, row in enumerate(costs.tolist())]
        assert law.choose(costs, stream=stream.at(0)).tolist() == expected
