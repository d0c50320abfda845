"""Is every mechanism that can be built quick to build, to certify and to draw?

A row that the Python reader draws takes 0.2 milliseconds or more, so that if more than one in forty
were left to it, 10**5 rows would take longer than a second. Rows are counted rather than timed;
what has nothing to count gets ten times the two seconds that it may take.
"""

from fractions import Fraction
from time import perf_counter

import numpy as np
import pytest
from mechanisms import name

import fastnoise as fn
from fastnoise.laws.layers.reader import LayerReader
from fastnoise.rows import Rows

pytestmark = pytest.mark.long

KEY = bytes(range(32))
ROWS = 1024
MOST_UNDECIDED = ROWS // 40
LONGEST = 20.0  # seconds; 2 are promised


def undecided(mechanism, grid="auto") -> int:
    """How many of so many rows a kernel leaves to the Python reader."""
    law = mechanism._law(mechanism._chosen_grid(grid))
    return len(law.undecided(KEY, Rows(0), ROWS))


def is_quick(work) -> bool:
    start = perf_counter()
    work()
    return perf_counter() - start < LONGEST


@pytest.mark.parametrize("epsilon", [100.0, 300.0, 2000.0, 1e300])
@pytest.mark.parametrize("dim", [2, 3, 8])
def test_balls__kernels_draw_those_that_are_small_beside_the_grid(epsilon, dim):
    mechanisms = [fn.L1Staircase(epsilon * dim, dim), fn.L1Staircase(epsilon, dim, gamma=1e-15)]
    assert [undecided(mechanism) for mechanism in mechanisms] == [0, 0]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 20.0])
@pytest.mark.parametrize("dim", [2, 5, 16, 64, 128])
def test_balls__kernels_draw_them_on_a_coarse_grid(epsilon, dim):
    grids = 0.0625, 1.0, 1024.0
    assert [undecided(fn.L1Staircase(epsilon, dim), grid) for grid in grids] == [0, 0, 0]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_wide_layers__are_rarely_too_wide_for_floats(dim):
    small = [(epsilon, width) for epsilon in (1e-10, 1.4e-10, 1e-9, 1.5e-9) for width in (1.0, 1.9)]
    boxes = [fn.BoxStaircase(epsilon, [width] * dim) for epsilon, width in small]
    balls = [fn.L1Staircase(epsilon, dim, width) for epsilon, width in small]
    assert max(undecided(mechanism) for mechanism in [*boxes, *balls]) <= MOST_UNDECIDED


def test_readers__are_made_once_for_many_rows(monkeypatch):
    made = []
    init = LayerReader.__init__
    monkeypatch.setattr(LayerReader, "__init__", lambda *a: (made.append(1), init(*a))[1])
    mechanism = fn.L1Staircase(2.5e-10, 2, 1.9)
    mechanism.perturb(np.zeros((ROWS, 2)), stream=fn.Stream.from_key(KEY).at(0))
    assert undecided(mechanism) > 1
    assert len(made) == 1


@pytest.mark.parametrize(
    "mechanism",
    [
        fn.BoxStaircase(700.0, [1.0 + i / 7 for i in range(128)]),
        fn.L1Staircase(1e300, 128),
        fn.L1Staircase(500.0, 100, gamma=1e-3),
    ],
    ids=name,
)
def test_layers__tables_that_would_take_long_are_refused(mechanism):
    with pytest.raises(ValueError, match=r"^epsilon must be at most"):
        _ = mechanism._law(mechanism.grid).tables


@pytest.mark.parametrize("dim", [2, 64])
@pytest.mark.parametrize("epsilon", [701.0, 1e300])
def test_callable_costs__a_huge_epsilon_is_refused(dim, epsilon):
    with pytest.raises(ValueError, match=r"^epsilon must be"):
        fn.L1Staircase(epsilon, dim, cost=np.sqrt)
    with pytest.raises(ValueError, match=r"^epsilon must be"):
        fn.L1Staircase(epsilon, dim).expected_cost(np.sqrt)


@pytest.mark.parametrize(
    ("epsilon", "dim"),
    [(150.0, 128), (300.0, 64), (2000.0, 8), (1e300, 2), (1e-10, 128), (1e-9, 1)],
)
def test_layers__tables_and_proofs_are_quick(epsilon, dim):
    """With many widths, none of them alike."""
    mechanism = fn.BoxStaircase(epsilon, [1.0 + i / 7 for i in range(dim)])
    assert is_quick(lambda: mechanism._law(mechanism.grid).tables)
    assert is_quick(mechanism.certificate)


@pytest.mark.parametrize("delta", [1e-300, Fraction(1, 3)])
def test_truncated_laplace__tables_and_proofs_of_a_huge_epsilon_are_quick(delta):
    mechanism = fn.TruncatedDiscreteLaplace(2700.0, delta, 2**52)
    assert is_quick(lambda: mechanism._law(mechanism.grid).tables)
    assert is_quick(mechanism.certificate)


def test_callable_costs__those_of_one_number_are_asked_so_often_and_no_more():
    """A sum over 40 * sensitivity / epsilon integers."""

    def square(x):
        return float(x) ** 2

    assert fn.DiscreteStaircase(0.1, 1000, cost=square) == fn.DiscreteStaircase(
        0.1, 1000, cost="l2"
    )
    with pytest.raises(ValueError, match=r"^cost must be a function of arrays"):
        fn.DiscreteStaircase(1e-3, 10_000, cost=square)


@pytest.mark.parametrize("dim", [2, 3, 64])
@pytest.mark.parametrize("confidence", [1e-12, 0.5, 1 - 1e-15])
def test_gamma__of_a_huge_epsilon_is_quick(dim, confidence):
    """It underflows, as that of a power does: nothing is bisected down to it."""
    cost = "interval", confidence
    assert fn.L1Staircase(1e27, dim, cost=cost).gamma == fn.L1Staircase(1e27, dim).gamma
    assert is_quick(lambda: fn.L1Staircase(720.0 * dim, dim, cost=cost))


def test_wide_layers__a_second_one_that_is_too_wide_is_refused():
    """At epsilon 67 and with an empty core every row is on it."""
    with pytest.raises(ValueError, match=r"^grid must be coarse enough"):
        fn.L1Staircase(67.0, 5, gamma=1e-300).perturb(np.zeros((2, 5)), grid=2.0**-52)
    assert undecided(fn.L1Staircase(67.0, 5, gamma=1e-300), 2.0**-51) == 0


@pytest.mark.parametrize("cost", ["l1", 200, ("interval", 0.95)])
@pytest.mark.parametrize("dim", [2, 16, 64, 128])
def test_gamma__of_a_tiny_epsilon_is_quick_or_refused(dim, cost):
    """Tens of thousands of digits, or layers to bisect."""

    def build(epsilon):
        return fn.L1Staircase(epsilon, dim, cost=cost)

    assert is_quick(lambda: build(1e-11))
    for epsilon in (1e-300, 1e-101, 1e-50):
        try:
            assert is_quick(lambda: build(epsilon))  # noqa: B023
        except ValueError:
            with pytest.raises(ValueError, match=r"^epsilon must be at least"):
                build(epsilon)


def test_core__of_a_tiny_epsilon_is_refused_unless_it_is_given():
    with pytest.raises(ValueError, match=r"^epsilon must be at least 2e-12 .*give gamma or core"):
        fn.BoxStaircase(1e-12, [1.0] * 128)
    assert fn.BoxStaircase(1e-12, [1.0] * 128, core=[1.0] * 128).dim == 128
