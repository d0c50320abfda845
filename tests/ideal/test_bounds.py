"""Are the cost bounds bounds, and is `approximate` the cheapest?

Against exact linear programs, and against mpmath.
"""

import dataclasses
import functools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from reference import BAD_COSTS, near
from scipy.optimize import linprog
from scipy.sparse import coo_array

import fastnoise as fn
from fastnoise.optimum.bounds import LOWER, Lattice, Problem

POWERS = {"l1": 1, "l2": 2}

# epsilon, delta, sensitivity, and the optimum for l1 and l2 (docs/mathematics.md#linear-programs)
TABLE = [
    (0.0, 0.1, 3, 7.5, 75.1207),
    (0.0, 0.1, 1, 2.5, 8.5),
    (0.1, 0.1, 1, 1.94362, 5.39365),
    (0.1, 0.1, 2, 3.90865, 21.2438),
    (0.1, 0.1, 5, 9.79386, 133.036),
    (0.5, 0.1, 3, 3.23089, 16.2578),
    (1.0, 0.01, 5, 4.52383, 39.7484),
    (4.0, 0.01, 3, 0.203784, 0.494002),
]
OTHERS = [
    *[(0.0, 0.07, 1), (0.0, 0.07, 3), (0.0, 0.25, 2), (0.0, 0.3, 4), (0.0, 0.6, 3), (0.0, 0.9, 2)],
    *[(0.05, 0.08, 3), (0.2, 0.25, 4), (0.3, 0.02, 1), (1.0, 0.1, 2), (1.0, 0.5, 5)],
    *[(2.0, 0.05, 3), (2.0, 0.001, 1), (3.0, 0.2, 4), (0.7, 0.8, 3), (6.0, 0.01, 2)],
]


def solved(costs, rows, sides, equal, total):
    """The least costs @ x with rows @ x <= sides, equal @ x = total, x >= 0."""
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        costs, rows, sides, equal, total, bounds=(0, None), method="highs-ds", options=options
    )
    assert found.status == 0, found.message
    return found.fun


class Rows:
    """Sparse inequality constraints, row by row."""

    def __init__(self):
        self.entries, self.sides = [], []

    def add(self, terms, side):
        self.entries += [(len(self.sides), column, value) for column, value in terms]
        self.sides.append(side)

    def matrix(self, columns):
        row, column, value = zip(*self.entries, strict=True)
        return coo_array((value, (row, column)), shape=(len(self.sides), columns)).tocsr()


@functools.cache
def least_cost(epsilon, delta, sensitivity, power):
    """The (epsilon, delta) program: p_i = scale_i x_|i| for |i| <= end, and slacks
    s_{d,i} >= p_i - e^epsilon p_{i+d} that sum to at most delta for every shift d.
    """
    law = fn.approximate(0.0, delta, sensitivity) if epsilon == 0.0 else None
    law = law or fn.TruncatedDiscreteLaplace(epsilon, delta, sensitivity)
    end = min(law.support()[1] + 2 * sensitivity, 90)
    scale = np.exp(-epsilon / sensitivity * np.arange(end + 1))
    count = end + 1
    rows, factor = Rows(), math.exp(epsilon)
    for shift in range(1, sensitivity + 1):
        slacks = []
        for i in range(-end - shift, end + 1):
            # the slack is counted in units of p_i, so that no coefficient is small
            here, there = abs(i), abs(i + shift)
            if here > end:
                continue
            terms = {here: 1.0}
            if there <= end:
                ratio = factor * scale[there] / scale[here]
                terms[there] = terms.get(there, 0.0) - ratio
            rows.add([*terms.items(), (count, -1.0)], 0.0)
            slacks.append((count, scale[here] / delta))
            count += 1
        rows.add(slacks, 1.0)
    i = np.arange(end + 1)
    weights = np.where(i == 0, 1.0, 2.0) * scale
    costs = np.zeros(count)
    costs[: end + 1] = weights * i**power
    equal = np.zeros((1, count))
    equal[0, : end + 1] = weights
    return solved(costs, rows.matrix(count), rows.sides, equal, [1.0])


def pure_least_cost(epsilon, sensitivity, power):
    """The epsilon-DP program: what lies beyond `end` is at least b^k times the last block."""
    end, b = 4 * sensitivity, math.exp(-epsilon)
    scale = np.exp(-epsilon / sensitivity * np.arange(end + 1))
    rows = Rows()
    for i in range(end + 1):
        for j in range(max(0, i - sensitivity), min(end, i + sensitivity) + 1):
            if i != j:
                rows.add([(i, 1.0), (j, -math.exp(epsilon) * scale[j] / scale[i])], 0.0)
    mass = np.where(np.arange(end + 1) == 0, 1.0, 2.0)
    costs = 2.0 * np.arange(end + 1.0) ** power
    last = np.arange(end - sensitivity + 1, end + 1)
    k = np.arange(1, math.ceil(60 / epsilon))[:, None]
    mass[last] += 2.0 * np.sum(b**k)
    costs[last] += 2.0 * np.sum(b**k * (last + k * sensitivity) ** power, axis=0)
    costs = np.append(costs * scale, (end + 1.0) ** power)
    equal = np.append(mass * scale, 1.0)[None, :]
    return solved(costs, rows.matrix(end + 2), rows.sides, equal, [1.0])


def window_least_cost(epsilon, delta, sensitivity, values):
    """The program of `all_windows`: T_1 .. T_end, in units of e^(-epsilon k / D)."""
    end, b = len(values) - 1, math.exp(-epsilon)
    scale = np.exp(-epsilon / sensitivity * np.arange(end + 1))
    rows = Rows()
    for k in range(1, sensitivity + 1):
        pair = {k - 1: scale[k]}
        pair[sensitivity - k] = pair.get(sensitivity - k, 0.0) + b * scale[sensitivity + 1 - k]
        rows.add([(column, -value) for column, value in pair.items()], -b * (1.0 - delta))
    for k in range(1, end + 1):
        if k + sensitivity <= end:
            rows.add([(k - 1, 1.0), (k + sensitivity - 1, -1.0)], delta / scale[k])
        if k < end:
            rows.add([(k, scale[k + 1] / scale[k]), (k - 1, -1.0)], 0.0)
    rows.add([(0, scale[1])], 0.5)
    return solved(2.0 * np.diff(values) * scale[1:], rows.matrix(end), rows.sides, None, None)


# --- against the linear programs ------------------------------------------------------------------


@pytest.mark.parametrize("cost", ["l1", "l2"])
@pytest.mark.parametrize("case", TABLE, ids=lambda case: "-".join(map(str, case[:3])))
def test_bounds__table_of_optima(case, cost):
    *args, first, second = case
    best = least_cost(*args, POWERS[cost])
    assert best == near(first if cost == "l1" else second, 5e-6)


@pytest.mark.parametrize("cost", ["l1", "l2"])
@pytest.mark.parametrize("args", [case[:3] for case in TABLE] + OTHERS, ids=str)
def test_bounds__bracket_the_optimum(args, cost):
    best = least_cost(*args, POWERS[cost])
    bounds = fn.cost_bounds(*args, cost=cost)
    for name in LOWER:
        value = getattr(bounds, name)
        assert math.isnan(value) or value <= best * (1.0 + 1e-7), name
    assert 0.0 < bounds.lower <= bounds.upper * (1.0 + 1e-12)
    assert bounds.upper >= best * (1.0 - 1e-7)
    if not math.isnan(bounds.optimum):
        assert bounds.optimum == near(best, 1e-7)
        assert bounds.optimum == near(bounds.lower, 1e-12)
        assert bounds.optimum == near(bounds.upper, 1e-12)
    assert math.isnan(bounds.optimum) == (args[2] > 1 and (args[0], args[1], cost) not in LINEAR)
    problem = Problem(*args, Lattice(cost))
    assert bounds.condition or math.isnan(bounds.geng_zero_epsilon + bounds.geng_approximate)
    if bounds.condition:
        assert problem.paper_bound() <= best * (1.0 + 1e-7)


LINEAR = [(0.0, 0.1, "l1"), (0.0, 0.25, "l1")]  # 1 / (2 delta) is an integer


@pytest.mark.parametrize("args", [(0.0, 0.1, 1), (0.1, 0.1, 1), (0.1, 0.1, 2), (4.0, 0.01, 3)])
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_bounds__formula_is_no_bound_where_its_condition_fails(args, cost):
    problem = Problem(*args, Lattice(cost))
    assert not problem.condition
    assert problem.paper_bound() > 1.01 * least_cost(*args, POWERS[cost])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 3, 5])
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_bounds__staircase_is_the_pure_optimum(epsilon, sensitivity, cost):
    bounds = fn.cost_bounds(epsilon, 0.0, sensitivity, cost=cost)
    staircase = fn.DiscreteStaircase(epsilon, sensitivity, cost=cost)
    assert bounds.optimum == bounds.lower == bounds.upper == staircase.expected_cost(cost)
    best = pure_least_cost(epsilon, sensitivity, POWERS[cost])
    assert bounds.optimum == near(best, 1e-8)


@pytest.mark.parametrize("args", [case[:3] for case in TABLE] + OTHERS, ids=str)
def test_bounds__all_windows_is_its_linear_program(args):
    epsilon, delta, sensitivity = args
    levels = math.floor(fn.cost_bounds(*args).n) + 2
    i = np.arange(levels * sensitivity + 1.0)
    for cost in (1, 2, 3, lambda x: np.expm1(0.2 * x)):
        values = cost(i) if callable(cost) else i**cost
        best = window_least_cost(epsilon, delta, sensitivity, values)
        assert fn.cost_bounds(*args, cost=cost).all_windows == near(best, 1e-7)
    concave = fn.cost_bounds(*args, cost=np.sqrt).all_windows
    assert 0.0 < concave <= window_least_cost(epsilon, delta, sensitivity, np.sqrt(i)) * (1 + 1e-7)


def test_bounds__multiples_of_a_window():
    """The uniform law is optimal for |x| where 1/(2 delta) is an integer.

    See docs/mathematics.md#uniform-noise.
    """
    for n, sensitivity in [(1, 2), (2, 3), (5, 4), (50, 7), (1000, 10), (7, 1000)]:
        bounds = fn.cost_bounds(0.0, Fraction(1, 2 * n), sensitivity)
        assert bounds.all_windows == near(sensitivity * n / 2, 1e-12)
        assert bounds.optimum == bounds.upper == sensitivity * n / 2


# --- against mpmath -------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", ["l1", "l2", 3, 7])
@pytest.mark.parametrize(
    "args",
    [(0.01, 1e-3, 3), (0.3, 1e-9, 40), (1e-5, 0.002, 7), (0.0, 0.003, 4), (1.0, 0.2, 2**40)],
)
def test_bounds__formula(args, cost):
    epsilon, delta, sensitivity = args
    m = POWERS.get(cost, cost)
    with mp.workdps(60):
        b, share = mp.exp(-mp.mpf(epsilon)), mp.mpf(repr(delta))
        lump, left, total, k = 2 * b * share + 1 - b, mp.mpf(1), mp.mpf(0), 0
        gain = mp.mpf(0)
        while left > 0:
            mass = min(lump * b**k, left)
            total += mass * mp.mpf(1 + k * sensitivity) ** m
            left -= mass
            if k:
                at = mp.mpf(k * sensitivity)
                gain += b**k * (2 * at**m - (at + 1 - sensitivity) ** m - (at + 1) ** m)
            k += 1
        problem = Problem(*args, Lattice(cost))
        assert problem.lumps == k - 1
        assert problem.paper_bound() == near(float(total), 1e-14)
        assert problem.condition == (gain >= 1)
        function = Problem(*args, Lattice(lambda x: 5.0 + np.abs(x) ** m))
        assert function.paper_bound() == near(5.0 + float(total), 1e-11)
        assert function.condition == problem.condition


def test_bounds__many_lumps():
    """A closed form of Geng's corollary 4.12 at a size that cannot be summed."""
    with mp.workdps(60):
        epsilon, share, width = mp.mpf(1e-8), mp.mpf("1e-12"), 50
        n = mp.log1p(mp.expm1(epsilon) / (2 * share)) / epsilon
        b, whole = mp.exp(-epsilon), mp.floor(n)
        lump = 2 * b * share + 1 - b
        first = (b - b**whole) / (1 - b) ** 2 - (whole - 1) * b**whole / (1 - b)
        left = 1 - lump * (1 - b**whole) / (1 - b)
        exact = 1 + width * (lump * first + left * whole)
        bounds = fn.cost_bounds(1e-8, 1e-12, 50)
        assert bounds.n == near(float(n), 1e-15)
        assert bounds.geng_approximate == near(float(exact), 1e-14)
        assert math.isnan(bounds.all_windows)
        assert bounds.geng_approximate <= bounds.upper <= 1.001 * bounds.geng_approximate


def test_bounds__vector_formula():
    for n, width, dim in [(5, 1, 1), (5, 3, 1), (50, 4, 6), (3, 2, 2)]:
        delta = Fraction(1, 2 * n)
        first = fn.cost_bounds(0.0, delta, width, dim=dim)
        second = fn.cost_bounds(0.0, delta, width, cost="l2", dim=dim)
        linear = dim * (width * n / 2 - (width - 1) / 2)
        assert first.geng_vector == near(linear, 1e-14)
        square = 4 * n * n * width**2 / 12 + (1 / width - 1) * width**2 * n / 2
        square = dim * (square + (1 - width) / 2 + width**2 / 6)
        assert second.geng_vector == near(square, 1e-14)
        assert first.geng_vector <= first.lower
        assert second.geng_vector <= second.lower
    for args in [(0.0, 0.07, 1), (0.1, 0.1, 3)]:  # 3.5714 > 3.57, the optimum of the first
        assert math.isnan(fn.cost_bounds(*args).geng_vector)
    assert math.isnan(fn.cost_bounds(0.0, 0.1, 3, cost=3).geng_vector)


# --- what comes back ------------------------------------------------------------------------------


def test_bounds__dimensions():
    one = fn.cost_bounds(0.5, 0.01, 3)
    many = fn.cost_bounds(0.5, 0.01, 3, dim=4)
    for name in ("geng_approximate", "all_windows", "discrete_laplace", "uniform", "truncated"):
        assert getattr(many, name) == near(4.0 * getattr(one, name), 1e-15), name
    assert many.discrete_laplace == near(4.0 / math.sinh(0.5 / 3), 1e-14)
    assert not math.isnan(one.staircase)
    assert math.isnan(many.staircase)  # independent staircases do not share epsilon
    assert fn.cost_bounds(0.5, 0.01, 1, dim=4).staircase == near(4.0 / math.sinh(0.5), 1e-14)
    known = fn.cost_bounds(0.0, 0.1, 3, dim=4)
    assert known.optimum == known.lower == known.upper == 30.0
    assert fn.cost_bounds(0.3, 0.1, 1, dim=4).optimum == near(
        4.0 * fn.TruncatedDiscreteLaplace(0.3, 0.1).moment(1), 1e-15
    )
    pure = fn.cost_bounds(1.0, 0.0, 3, dim=2)
    assert math.isnan(pure.optimum)
    assert pure.marginals == pure.lower == near(2.0 * fn.DiscreteStaircase(1.0, 3).moment(1), 1e-15)
    assert pure.upper == pure.discrete_laplace


def test_bounds__value():
    bounds = fn.cost_bounds(0.1, Fraction(1, 10), 3)
    assert repr(bounds) == repr(fn.cost_bounds(0.1, 0.1, 3))  # nan is not equal to itself
    with pytest.raises(dataclasses.FrozenInstanceError):
        bounds.n = 1.0
    text = str(bounds)
    assert text.splitlines()[0].split() == ["lower", f"{bounds.lower:.10g}"]
    assert f"{bounds.truncated:.10g}" in text
    assert "nan" in text
    assert repr(bounds).startswith("CostBounds(geng_zero_epsilon=nan, ")


def test_bounds__callable_is_the_power_it_computes():
    for args in [(0.0, 0.1, 3), (0.1, 0.1, 5), (1.0, 0.001, 4), (1.0, 0.0, 4), (0.2, 0.3, 1)]:
        power = dataclasses.asdict(fn.cost_bounds(*args, cost="l2"))
        called = dataclasses.asdict(fn.cost_bounds(*args, cost=lambda x: 2.0 + x * x))
        for name in set(power) - {"geng_vector", "n", "condition"}:
            assert called[name] - 2.0 == pytest.approx(power[name], rel=1e-11, nan_ok=True), name


def test_bounds__too_large_for_a_mechanism_is_nan():
    bounds = fn.cost_bounds(1.0, 1e-30, 5)
    assert math.isnan(bounds.uniform)
    assert bounds.lower <= bounds.truncated
    assert math.isnan(fn.cost_bounds(1e-12, 0.1, 5).truncated)
    assert fn.cost_bounds(1e-12, 0.1, 5).upper == 12.5
    with pytest.raises(ValueError, match=r"epsilon must be at least .*not 1e-12"):
        fn.cost_bounds(1e-12, 0.0, 5)


# --- the cheapest mechanism -----------------------------------------------------------------------


@pytest.mark.parametrize("args", [case[:3] for case in TABLE] + OTHERS, ids=str)
@pytest.mark.parametrize("cost", ["l1", "l2", 4, np.sqrt])
def test_approximate__is_the_cheapest(args, cost):
    bounds = fn.cost_bounds(*args, cost=cost)
    assert fn.approximate(*args, cost=cost).expected_cost(cost) == bounds.upper
    prices = {"staircase": bounds.staircase if args[2] == 1 else math.nan}
    for name in ("discrete_laplace", "uniform", "truncated"):
        prices[name] = getattr(bounds, name)
    least = min(price for price in prices.values() if not math.isnan(price))
    together = fn.approximate(*args, cost=cost, adjacency="l1")
    assert together.expected_cost(cost) == near(least, 1e-15)
    assert together.privacy.adjacency == "l1"
    for mechanism in (together, fn.approximate(*args, cost=cost)):
        assert mechanism.epsilon <= args[0]
        assert mechanism.delta <= args[1]
        assert mechanism.sensitivity == args[2]


def test_approximate__ends():
    assert fn.approximate(0, 0.1, 3) == fn.DiscreteUniform(0.1, 3)
    assert fn.approximate(0.0, Fraction(1, 3)) == fn.DiscreteUniform(Fraction(1, 3))
    assert fn.approximate(1, 0, 5, cost="l2") == fn.DiscreteStaircase(1.0, 5, cost="l2")
    assert fn.approximate(1.0, 0.0, 5, adjacency="l1") == fn.DiscreteLaplace(1.0, 5)
    assert fn.approximate(1.0, 0.0, adjacency="l1") == fn.Geometric(1.0)
    assert fn.approximate(1.0, 0.0) == fn.DiscreteStaircase(1.0)
    assert fn.approximate(1.0, 0.01) == fn.TruncatedDiscreteLaplace(1.0, 0.01)
    # as doubles the costs are equal, and less delta is better
    assert fn.approximate(1.0, 1e-30, 5, adjacency="l1").delta == 0.0


def test_approximate__interval():
    for args in [(0.2, 0.05, 3), (3.0, 0.01, 6), (0.0, 0.01, 2)]:
        found = fn.approximate(*args, cost=("interval", 0.9))
        others = [fn.DiscreteUniform(args[1], args[2])]
        if args[0]:
            others.append(fn.DiscreteStaircase(args[0], args[2], cost=("interval", 0.9)))
            others.append(fn.TruncatedDiscreteLaplace(*args))
        assert found.interval(0.9)[1] == min(law.interval(0.9)[1] for law in others)
        assert found in others


@pytest.mark.parametrize("function", [fn.approximate, fn.cost_bounds])
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((-0.1, 0.1), ValueError, r"epsilon must be .*not -0\.1"),
        ((math.inf, 0.1), ValueError, "epsilon must be .*not inf"),
        ((math.nan, 0.1), ValueError, "epsilon must be .*not nan"),
        (("1", 0.1), TypeError, "epsilon must be .*not '1'"),
        ((0.0, 0.0), ValueError, r"delta must be positive where epsilon is 0, not 0\.0"),
        ((1.0, 1.0), ValueError, r"delta must be .*not 1\.0"),
        ((1.0, -0.1), ValueError, r"delta must be .*not -0\.1"),
        ((1.0, None), TypeError, "delta must be .*not None"),
        ((1.0, 0.1, 0), ValueError, "sensitivity must be .*not 0"),
        ((1.0, 0.1, 1.0), TypeError, r"sensitivity must be .*not 1\.0"),
    ],
)
def test_bounds__bad_argument_is_named(function, arguments, error, words):
    with pytest.raises(error, match=words):
        function(*arguments)


@pytest.mark.parametrize("cost", BAD_COSTS, ids=repr)
def test_bounds__bad_cost_is_named(cost):
    for function in (fn.approximate, fn.cost_bounds):
        with pytest.raises((ValueError, TypeError), match="cost must be") as caught:
            function(1.0, 0.1, 2, cost=cost)
        assert repr(cost) in str(caught.value)


def test_bounds__impossible_arguments():
    with pytest.raises(ValueError, match=r"cost must be .*not an interval"):
        fn.cost_bounds(1.0, 0.1, cost=("interval", 0.9))
    with pytest.raises(ValueError, match=r"dim must be .*not 0"):
        fn.cost_bounds(1.0, 0.1, dim=0)
    with pytest.raises(ValueError, match='adjacency must be "element" or "l1", not \'l2\''):
        fn.approximate(1.0, 0.1, adjacency="l2")
    for function in (fn.approximate, fn.cost_bounds):
        with pytest.raises(ValueError, match=r"cost must be .*non-decreasing"):
            function(1.0, 0.1, 2, cost=np.cos)
