"""Does every law of one number keep the manners and the promises that all of them share?

Whatever is registered is asked. What a law alone has, its formulas above all, is in its own file.
"""

import math
import re

import numpy as np
import pytest
from law_cases import EVERY_LAW, EXTREME, SEARCHES, SMALL, TINY, law_name, on_integers, once
from reference import BAD_COSTS, check_moments, near

pytestmark = pytest.mark.filterwarnings("error")

ULP = 2.0**-52
POINTS = np.array(
    [
        *(0.0, -0.0, TINY, -1e-300, 1.0, -3.5, 1e300, -1e300, 2.0**62, -(2.0**63), 1.7e308),
        *(np.inf, -np.inf, np.nan),
    ]
)
SHARES = np.array([0.0, TINY, 1e-320, 1e-300, 0.1, 0.3, 0.5, 0.75, 1.0 - ULP, 1.0 - ULP / 2, 1.0])
NO_SHARES = np.array([-0.1, 1.1, np.nan])

every_law = pytest.mark.parametrize("law", EVERY_LAW, ids=law_name)
INTEGERS = [law for law in once([*EVERY_LAW, *EXTREME]) if on_integers(law)]
small_law = pytest.mark.parametrize("law", SMALL, ids=law_name)


def densities(law):
    return ("pmf", "logpmf") if on_integers(law) else ("pdf", "logpdf")


def ends(law):
    """Whether the support does."""
    return law.support()[1] < math.inf


# --- arguments and results ------------------------------------------------------------------------


@every_law
def test_law__scalars_give_scalars_and_arrays_keep_their_shape(law):
    for name in (*densities(law), "cdf", "sf", "ppf", "isf", "tradeoff", "delta_at"):
        method = getattr(law, name)
        for scalar in (0.25, 1):
            assert type(method(scalar)) is np.float64, name
        assert method([[0.25, 0.5]]).shape == method([[0.25, 1.0]]).shape == (1, 2), name
        assert method(np.zeros((0, 3))).shape == (0, 3), name
        assert method(np.float32(0.25)) == method(0.25), name
        assert method(np.int32(1)) == method(1.0) == method(True), name
    low, high = law.interval(0.9)
    assert type(low) is type(high) is np.float64
    assert low == -high


@pytest.mark.parametrize("law", EXTREME, ids=law_name)
def test_law__extremes_raise_nothing(law):
    """Everything is a number in its range, also for those who told numpy to raise."""
    with np.errstate(all="raise"):
        density, logarithm = densities(law)
        for name in (density, logarithm, "cdf", "sf"):
            values = getattr(law, name)(POINTS)
            assert np.array_equal(np.isnan(values), np.isnan(POINTS)), name
            assert name == logarithm or np.all(values[:-1] >= 0.0), name
            assert name in (logarithm, "pdf") or np.all(values[:-1] <= 1.0), name
        for name in ("ppf", "isf"):
            values = getattr(law, name)(SHARES)
            assert not np.isnan(values).any(), name
            assert not ends(law) or np.isfinite(values).all(), name
            assert np.isnan(getattr(law, name)(NO_SHARES)).all(), name
        assert not np.isnan(law.interval(SHARES)).any()
        assert np.isnan(law.interval(NO_SHARES)).all()
        for shift in (None, 0, 1 if on_integers(law) else 0, law.sensitivity):
            missed = law.tradeoff(SHARES, shift)
            assert np.all((missed >= 0.0) & (missed <= 1.0))
        deltas = law.delta_at([0.0, TINY, 1.0, law.epsilon, 745.0, 800.0, 1e300, np.inf])
        assert np.all((deltas >= 0.0) & (deltas <= 1.0))
        powers = (0, 1, 2) if on_integers(law) else (0, 1, 2, 0.5, 20.5)
        assert all(law.moment(m) >= 0.0 for m in powers)


@pytest.mark.parametrize("law", once([*EVERY_LAW, *EXTREME]), ids=law_name)
def test_law__values_at_the_ends(law):
    last = law.support()[1]
    assert law.support() == (-last, last)
    below = -last - 1 if ends(law) else -np.inf
    np.testing.assert_array_equal(law.ppf([0.0, 0.5, 1.0]), [below, 0.0, last])
    # where the last probabilities are below all floats, sf is 0 before the end
    top = law.isf(0.0) if ends(law) and law.sf(last - 1) == 0.0 else last
    np.testing.assert_array_equal(law.isf([0.0, 0.5, 1.0]), [top, 0.0, below])
    np.testing.assert_array_equal(law.interval([0.0, 1.0]), [[0.0, -top], [0.0, top]])
    assert law.sf(top) == 0.0
    np.testing.assert_array_equal(law.cdf([-np.inf, np.inf]), [0.0, 1.0])
    np.testing.assert_array_equal(law.sf([-np.inf, np.inf]), [1.0, 0.0])
    density, logarithm = densities(law)
    np.testing.assert_array_equal(getattr(law, density)([-np.inf, np.inf]), [0.0, 0.0])
    np.testing.assert_array_equal(getattr(law, logarithm)([-np.inf, np.inf]), [-np.inf, -np.inf])
    assert on_integers(law) or law.cdf(0.0) == 0.5
    assert not np.signbit([law.ppf(0.5), law.isf(0.5)]).any()
    assert law.moment(0) == law.moment(0.0) == 1.0
    if ends(law):
        assert law.cdf(-(2**63)) == law.pmf(-(2**63)) == 0.0
        assert law.cdf(2**63 - 1) == 1.0


@pytest.mark.parametrize("law", INTEGERS, ids=law_name)
def test_law__between_integers(law):
    np.testing.assert_array_equal(law.pmf([0.5, -1.5, np.inf]), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(law.logpmf([0.5, np.inf]), [-np.inf, -np.inf])
    for name in ("cdf", "sf"):
        method = getattr(law, name)
        np.testing.assert_array_equal(method([0.5, -0.5, 2.9]), method([0, -1, 2]))
    if law.pmf(0) > 1e-5:
        zeros = (law.ppf(0.499999), law.isf(0.500001))
        assert zeros == (0.0, 0.0)
        assert not np.signbit(zeros).any()


# --- refusals -------------------------------------------------------------------------------------

BAD_ARGUMENTS = [
    *[("moment", "m", bad, "") for bad in (-1, -1.5, math.nan, math.inf)],
    *[("moment", "m", 201, "200.*"), ("moment", "m", 100.5, "100.*")],
    *[("moment", "m", bad, "") for bad in ("2", True, 1j)],
    *[("tradeoff", "p_fa", bad, "") for bad in (1.1, -0.1, math.nan)],
    *[("delta_at", "epsilon", bad, "") for bad in (-0.1, math.nan)],
]


def kind_of_error(bad):
    return TypeError if isinstance(bad, str | bool | complex) else ValueError


@every_law
@pytest.mark.parametrize(("method", "argument", "bad", "limit"), BAD_ARGUMENTS)
def test_law__bad_argument_is_named(law, method, argument, bad, limit):
    words = rf"{argument} must be .*{limit}not {re.escape(repr(bad))}"
    with pytest.raises(kind_of_error(bad), match=words):
        getattr(law, method)(bad)
    if method == "tradeoff":
        with pytest.raises(ValueError, match=argument):
            law.tradeoff([0.1, bad])


@every_law
@pytest.mark.parametrize("bad", ["beyond", -1, -1.0, 1.5, math.nan, "1"], ids=repr)
def test_law__bad_shift_is_named(law, bad):
    if bad == "beyond":
        bad = law.sensitivity + 1
    elif bad == 1.5 and not on_integers(law):
        bad = 1.05 * law.sensitivity
    limit = "" if isinstance(bad, str) else f".*{re.escape(repr(law.sensitivity))}"
    words = rf"shift must be {limit}.*not {re.escape(repr(bad))}"
    with pytest.raises(kind_of_error(bad), match=words):
        law.tradeoff(0.1, shift=bad)


ASKED = SEARCHES | {law_name(law): law.expected_cost for law in SMALL}


@pytest.mark.parametrize("cost", [*BAD_COSTS, ("interval", 0.9)], ids=repr)
@pytest.mark.parametrize("name", ASKED)
def test_law__bad_cost_is_named(name, cost):
    if name in SEARCHES and cost == ("interval", 0.9):
        ASKED[name](cost)  # what is best for it can be found, but no mean
        return
    with pytest.raises((ValueError, TypeError), match="cost must be") as caught:
        ASKED[name](cost)
    assert repr(cost) in str(caught.value)


NEVER = [
    *[("finite", cost) for cost in (lambda x: math.nan, np.log)],
    *[("non-decreasing", cost) for cost in (lambda x: -abs(x), np.sin)],
]
ON_ENDLESS = [
    *[("growing slower", cost) for cost in (np.cosh, math.cosh, math.exp)],
    *[("finite", cost) for cost in (lambda x: math.exp(x * x), lambda x: np.exp(x * x))],
]
ON_THE_LINE = [("smooth|non-decreasing", lambda x: np.abs(x) + 1e-6 * np.cos(1e9 * x))]
IN_A_SEARCH = [("increasing", lambda x: 3.0)]


def impossible_of(name):
    if name in SEARCHES:
        more = [*ON_ENDLESS, *IN_A_SEARCH, *(ON_THE_LINE if "gamma" in name else [])]
    else:
        law = next(law for law in SMALL if law_name(law) == name)
        more = [] if ends(law) else ON_ENDLESS
        more = more if on_integers(law) else [*more, *ON_THE_LINE]
    return [(name, *case) for case in [*NEVER, *more]]


@pytest.mark.parametrize(("name", "word", "cost"), [x for a in ASKED for x in impossible_of(a)])
def test_law__impossible_cost_is_refused(name, word, cost):
    with pytest.raises(ValueError, match=f"cost.* must be .*({word}).*, not"):
        ASKED[name](cost)


@pytest.mark.parametrize("name", ASKED)
def test_law__cost_that_is_no_number_is_refused(name):
    with pytest.raises(TypeError, match=r"cost\(0\.0\) must be .*not 'many'"):
        ASKED[name](lambda x: "many")


# --- moments and costs ----------------------------------------------------------------------------


@every_law
def test_law__moments_are_costs(law):
    check_moments(law)


@small_law
def test_law__callable_costs(law):
    for m in (1, 3):
        by_sum = law.expected_cost(lambda x, m=m: np.abs(x) ** m)
        assert by_sum == near(law.moment(m), 1e-12)
    assert law.expected_cost(lambda x: 7.0) == 7.0
    assert law.expected_cost(lambda x: np.abs(x) > 3) == near(2.0 * law.sf(3), 1e-12)
    by_array, by_number = law.expected_cost(np.sqrt), law.expected_cost(lambda x: math.sqrt(x))
    assert by_array == near(by_number, 1e-13)


# --- the attacker ---------------------------------------------------------------------------------


@every_law
def test_law__tradeoff_of_no_shift_is_a_guess(law):
    x = np.linspace(0.0, 1.0, 501)
    np.testing.assert_allclose(law.tradeoff(x, shift=0), 1.0 - x, atol=1e-15)
    np.testing.assert_array_equal(law.tradeoff(x), law.tradeoff(x, shift=law.sensitivity))
