"""The cheapest noise here for (epsilon, delta)-DP on the integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from fastnoise.design.gamma import Cost, cost_power, interval_confidence
from fastnoise.design.radius import SharedCost
from fastnoise.ideal.truncated_discrete_laplace import given_delta
from fastnoise.laws.grids import MOST_BITS
from fastnoise.mechanisms.discrete_laplace import DiscreteLaplace
from fastnoise.mechanisms.discrete_staircase import DiscreteStaircase, Geometric
from fastnoise.mechanisms.discrete_uniform import DiscreteUniform
from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.mechanisms.truncated_discrete_laplace import TruncatedDiscreteLaplace
from fastnoise.validation import number, one_of, refusal, whole


def approximate(
    epsilon: float,
    delta: float | Fraction,
    sensitivity: int = 1,
    *,
    cost: Cost = "l1",
    adjacency: str = "element",
) -> IntegerMechanism:
    """The mechanism with the least expected cost that is (epsilon, delta)-DP on the integers.

    The candidates are `DiscreteStaircase`, `DiscreteLaplace`, `DiscreteUniform` and
    `TruncatedDiscreteLaplace`; on ties the one with less delta. epsilon 0 leaves the uniform law,
    delta 0 the staircase (`Geometric` or `DiscreteLaplace` under "l1"). `cost_bounds` says how far
    from the optimum that can be.

    cost: as for `Staircase`; ("interval", 0.95) compares the lengths of these intervals.
    adjacency: "element", one element changes by at most `sensitivity`, or "l1", all together do,
        which excludes staircases of sensitivity above 1.

    >>> import fastnoise as fn
    >>> fn.approximate(0.1, 0.01, sensitivity=3)
    TruncatedDiscreteLaplace(epsilon=0.1, delta=0.01, sensitivity=3)
    >>> fn.approximate(4.0, 0.01, sensitivity=3)
    DiscreteStaircase(epsilon=4.0, sensitivity=3, r=1)
    >>> fn.approximate(0.0, 0.01)
    DiscreteUniform(delta=0.01, sensitivity=1)
    """
    one_of("adjacency", adjacency, "element", "l1")
    check_cost(cost)
    epsilon, delta, sensitivity = budget(epsilon, delta, sensitivity)
    prices, refused = priced(epsilon, delta, sensitivity, cost, adjacency)
    if not prices:
        raise refused[0]
    return min(prices.values(), key=lambda pair: pair[0])[1]


def check_cost(cost: Any) -> None:
    if isinstance(cost, tuple):
        interval_confidence(cost)
    elif not callable(cost):
        cost_power(cost)


def budget(epsilon: Any, delta: Any, sensitivity: Any) -> tuple[float, float | Fraction, int]:
    """The three as they are used; epsilon or delta may be 0, but not both."""
    size = number("epsilon", epsilon, side=-math.inf)
    if not (0.0 <= size < math.inf):
        raise ValueError(refusal("epsilon", epsilon, "a finite number from 0 up"))
    share = 0.0 if number("delta", delta) == 0.0 else given_delta(delta)
    if size == 0.0 and share == 0.0:
        raise ValueError(refusal("delta", delta, "positive where epsilon is 0"))
    return size, share, whole("sensitivity", sensitivity, 1, 1 << (MOST_BITS + 1))


def _candidates(
    epsilon: float, delta: float | Fraction, sensitivity: int, cost: Cost, adjacency: str
) -> dict[str, Callable[[], IntegerMechanism]]:
    """What builds each mechanism that qualifies, by name; those with less delta first."""
    choices: dict[str, Callable[[], IntegerMechanism]] = {}
    if epsilon > 0.0:
        if adjacency == "element":
            choices["staircase"] = lambda: DiscreteStaircase(epsilon, sensitivity, cost=cost)
        elif sensitivity == 1:
            choices["staircase"] = lambda: Geometric(epsilon)
        choices["discrete_laplace"] = lambda: DiscreteLaplace(epsilon, sensitivity)
    if delta > 0:
        choices["uniform"] = lambda: DiscreteUniform(delta, sensitivity)
    if epsilon > 0.0 and delta > 0:
        choices["truncated"] = lambda: TruncatedDiscreteLaplace(epsilon, delta, sensitivity)
    return choices


def priced(
    epsilon: float, delta: float | Fraction, sensitivity: int, cost: Cost, adjacency: str
) -> tuple[dict[str, tuple[float, IntegerMechanism]], list[ValueError]]:
    """(expected cost, mechanism) by name, where 64-bit integers and the cost allow; refusals."""
    prices: dict[str, tuple[float, IntegerMechanism]] = {}
    refused = []
    if callable(cost):
        cost = SharedCost(cost)
    for name, build in _candidates(epsilon, delta, sensitivity, cost, adjacency).items():
        try:
            mechanism = build()
            prices[name] = _price(mechanism, cost), mechanism
        except ValueError as error:
            refused.append(error)
    return prices, refused


def _price(mechanism: Any, cost: Cost) -> float:
    if isinstance(cost, tuple):
        return float(mechanism.interval(float(interval_confidence(cost)))[1])
    return float(mechanism.expected_cost(cost))
