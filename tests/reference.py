"""What tests of ideal laws share: reference rows, strict comparisons, tests of hypotheses."""

import itertools
import json
import math

import mpmath as mp
import numpy as np
import pytest
from conftest import DATA

ROWS = json.loads((DATA / "reference_values.json").read_text())

BAD_COSTS = [
    *["l3", "L1", "", 0, 0.0, -1, -2, 201, 1e9, True, -0.5, -1.5, 100.5, math.nan, math.inf, 0.5j],
    *[None, [], ["interval", 0.9], ("interval", 2)],
    *[("interval", c) for c in (0.0, 1.0, -0.1, 95, math.nan, "0.9", None, True)],
    *[(), ("interval",), ("interval", 0.9, 1), ("box", 0.9), (0.9, "interval")],
]


def near(value, rel):
    """pytest.approx without its default absolute tolerance, which would hide small numbers."""
    return pytest.approx(value, rel=rel, abs=0.0)


def relative_error(got, exact):
    return float(abs(mp.mpf(float(got)) - exact) / abs(exact))


def digits(count):
    """A fixture for all tests of a file: mpmath counts in so many."""

    @pytest.fixture(autouse=True)
    def in_digits():
        with mp.workdps(count):
            yield

    return in_digits


def check_moments(law):
    """Costs by name are moments."""
    assert law.moment(0) == 1.0
    assert law.mean() == 0.0
    assert law.std() == math.sqrt(law.var())
    assert law.expected_cost("l1") == law.expected_cost(1) == law.moment(1)
    assert law.moment(2) == law.var() == law.expected_cost("l2") == law.expected_cost(2)
    assert law.var() == law.expected_cost(np.int64(2))


def least_missed(here, there, alarms):
    """By Neyman and Pearson: alarm where the likelihood ratio is largest, up to a share of here."""
    order = np.argsort(-(there / here), kind="stable")
    alarm, caught = np.cumsum(here[order]), np.cumsum(there[order])
    return np.interp(alarms, np.append(0.0, alarm), 1.0 - np.append(0.0, caught))


def check_curve(law, alarms, rounding):
    """A tradeoff falls from 1 to 0 and is convex."""
    curve = law.tradeoff(alarms)
    assert curve[0] == 1.0
    assert curve[-1] == 0.0
    assert np.all(np.diff(curve) <= 0.0)
    assert np.all(np.diff(curve, 2) >= -rounding)
    return curve


def pure_region(epsilon, alarms):
    """The least missed-detection probability that epsilon-DP allows."""
    with np.errstate(over="ignore"):
        return np.maximum(1.0 - np.exp(epsilon) * alarms, np.exp(-epsilon) * (1.0 - alarms))


def lower(law, upper, i):
    """P(X <= i) of a symmetric law on the integers, upper(law, n) = P(X >= n) from 0 on."""
    return upper(law, -i) if i < 0 else 1 - upper(law, i + 1)


def check_quantiles(law, upper, shares, tiny):
    """By definition, where a probability p may be off by tiny(p) of itself."""
    for p in shares:
        i, off = int(law.ppf(p)), tiny(p)
        assert lower(law, upper, i) >= p * (1 - off)
        assert lower(law, upper, i - 1) < p * (1 + off)
        i = int(law.isf(p))
        assert lower(law, upper, -1 - i) <= p * (1 + off)
        assert lower(law, upper, -i) > p * (1 - off)
    for c in (1e-9, 0.1, 0.5, 0.95, 1.0 - 1e-9):
        k, left, off = int(law.interval(c)[1]), 1 - mp.mpf(c), tiny(mp.mpf(c))
        assert law.interval(c)[0] == -k
        assert 2 * upper(law, k + 1) <= left * (1 + off)
        assert k == 0 or 2 * upper(law, k) > left * (1 - off)


# --- laws on the integers that end, from their probabilities p_0, p_1, .. -------------------------


def both_sides(half):
    return [*half[:0:-1], *half]


def check_ending(law, half, rounding, least=0.0):
    last = len(half) - 1
    assert law.support() == (-last, last)
    i, exact = np.arange(-last, last + 1), both_sides(half)
    np.testing.assert_allclose(law.pmf(i), [float(p) for p in exact], rtol=rounding)
    logarithms = [float(mp.log(p)) if isinstance(p, mp.mpf) else math.log(p) for p in exact]
    np.testing.assert_allclose(law.logpmf(i), logarithms, rtol=rounding, atol=least)
    lower = [float(p) for p in itertools.accumulate(exact)]
    np.testing.assert_allclose(law.cdf(i), lower, rtol=rounding)
    np.testing.assert_allclose(law.sf(-1 - i), lower, rtol=rounding)
    np.testing.assert_array_equal(law.cdf(i + 0.5), law.cdf(i))
    assert law.pmf(last + 1) == law.sf(last) == law.cdf(-last - 1) == 0.0
    assert law.logpmf(last + 1) == -math.inf


def check_ending_tradeoff(law, half, alarms, **rounding):
    """By Neyman and Pearson, where no output of one input may be one of the other."""
    for shift in {1, (law.sensitivity + 1) // 2, law.sensitivity}:
        here, there = both_sides(half) + [0] * shift, [0] * shift + both_sides(half)
        ratios = [t / h if h else math.inf for h, t in zip(here, there, strict=True)]
        order = sorted(range(len(here)), key=lambda i: -ratios[i])
        alarm = [0.0, *map(float, itertools.accumulate(here[i] for i in order))]
        missed = [1.0, *(float(1 - s) for s in itertools.accumulate(there[i] for i in order))]
        start = max(k for k, a in enumerate(alarm) if a == 0.0)
        exact = np.interp(alarms, alarm[start:], missed[start:])
        np.testing.assert_allclose(law.tradeoff(alarms, shift=shift), exact, **rounding)
    np.testing.assert_array_equal(law.tradeoff(alarms), law.tradeoff(alarms, law.sensitivity))
    np.testing.assert_allclose(law.tradeoff(alarms, shift=0), 1.0 - alarms, atol=1e-15)
