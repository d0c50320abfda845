"""The gamma of a one-dimensional staircase: best for a cost, or a rule of thumb.

Everything but a callable cost is computed in decimal arithmetic and rounded once, so a mechanism
has the same gamma, to the bit, on every machine; of a callable's, 12 digits are kept. gamma = 0 is
the law of gamma = 1, so a gamma that underflows is rounded up to the least normal double and never
to zero.
"""

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from fastnoise.design.moments import (
    LARGEST_POWER,
    LARGEST_REAL_POWER,
    geometric_mean,
    power_means,
    precise,
)
from fastnoise.design.quadrature import LARGEST_CALLABLE_EPSILON, FoldedCost, refuse_epsilon
from fastnoise.design.real_power import real_power_gamma, rounded_gamma
from fastnoise.validation import number, refusal

Cost = str | float | tuple[str, float] | Callable[[Any], Any]

_ALLOWED = (
    f'"l1", "l2", a positive m for |x|^m (at most {LARGEST_REAL_POWER}, a whole one '
    f'{LARGEST_POWER}), ("interval", confidence) or a callable, symmetric and non-decreasing '
    "on x >= 0"
)


def optimal_gamma(epsilon: float, sensitivity: float, cost: Cost) -> float:
    """The gamma in (0, 1] with the least expected cost.

    |x|^m: the root of (m+1) M_m M_1 = M_{m+1}, right to the last bit; for m = 1 it is
    1/(1 + e^(epsilon/2)) (Geng's dissertation, theorems 2.5 and 2.7). An interval: the gamma whose
    symmetric interval of that confidence is shortest (Soria-Comas and Domingo-Ferrer, section 4);
    the confidence is read as its shortest decimal. A callable: to 1e-9, for epsilon >= 1e-3.
    epsilon -> 0 gives 1/2, epsilon -> inf gives 0. Only a callable depends on the sensitivity.

    >>> optimal_gamma(1.0, 1.0, "l1")
    0.37754066879814546
    >>> optimal_gamma(1.0, 1.0, ("interval", 0.95))
    0.9932629423561018
    """
    if callable(cost):
        return _callable_gamma(epsilon, sensitivity, cost)
    if isinstance(cost, tuple):
        return _interval_gamma(epsilon, interval_confidence(cost))
    return _power_gamma(epsilon, cost_power(cost))


def heuristic_gamma(epsilon: float) -> float:
    """e^-epsilon / 2: worse than Laplace noise above epsilon 1.6 (Geng, section 2.7.2).

    >>> heuristic_gamma(1.0)
    0.18393972058572117
    """
    with precise(epsilon) as eps:
        return rounded_gamma((-eps).exp() / 2)


def dominating_gamma(epsilon: float) -> float:
    """1/epsilon - 1/(e^epsilon - 1): the law that beats Laplace noise for every cost.

    It puts the mass of Laplace noise into each [k D, (k+1) D), nearer to zero
    (Soria-Comas and Domingo-Ferrer, section 4). epsilon -> 0 gives 1/2.

    >>> dominating_gamma(1.0)
    0.4180232931306736
    """
    with precise(epsilon) as eps:
        return rounded_gamma(1 / eps - geometric_mean(eps))


def named_gamma(name: str, rule: str, epsilon: float, else_allowed: str) -> float:
    """What a rule of thumb says."""
    rules = {"heuristic": heuristic_gamma, "dominating": dominating_gamma}
    if rule not in rules:
        raise ValueError(refusal(name, rule, f'{else_allowed}, "heuristic" or "dominating"'))
    return rules[rule](epsilon)


def cost_power(cost: Any) -> int | float:
    """The m of a cost |x|^m: 1 for "l1", 2 for "l2", a positive number itself."""
    if isinstance(cost, str) and cost in ("l1", "l2"):
        return int(cost[1])
    if isinstance(cost, str | tuple):
        raise ValueError(refusal("cost", cost, _ALLOWED))
    return _power("cost", cost, _ALLOWED, math.ulp(0.0))


def moment_power(m: Any) -> int | float:
    """The m of E|X|^m, as an int where it is whole."""
    allowed = f"an integer in [0, {LARGEST_POWER}] or a number in [0, {LARGEST_REAL_POWER}]"
    return _power("m", m, allowed, 0.0)


def _power(name: str, value: Any, allowed: str, least: float) -> int | float:
    power = number(name, value, allowed)
    if not least <= power <= (LARGEST_POWER if power.is_integer() else LARGEST_REAL_POWER):
        raise ValueError(refusal(name, value, allowed))
    return int(power) if power.is_integer() else power


def twelve_digits(gamma: float) -> float:
    """What was solved for in doubles, without the digits that hang on the machine."""
    return float(f"{gamma:.12g}")


def interval_confidence(cost: tuple[Any, ...]) -> Decimal:
    """What is inside ("interval", confidence)."""
    if len(cost) != 2 or cost[0] != "interval":
        raise ValueError(refusal("cost", cost, _ALLOWED))
    confidence = cost[1]
    if not isinstance(confidence, float | np.floating) or not 0.0 < confidence < 1.0:
        allowed = '("interval", confidence) with a number strictly between 0 and 1'
        raise ValueError(refusal("cost", cost, allowed))
    return Decimal(repr(float(confidence)))


def _power_gamma(epsilon: float, m: int | float) -> float:
    if not isinstance(m, int):
        return real_power_gamma(epsilon, 1, m)
    if epsilon > 710.0 * (m + 1):  # gamma < e^(-epsilon/(m+1)), below the least normal double
        return sys.float_info.min
    with precise(epsilon) as eps:
        return rounded_gamma(_power_root(eps, m))


def _power_root(epsilon: Decimal, m: int) -> Decimal:
    """Newton on Hf(x) = (m+1) M_m M_1 - M_{m+1}, which is convex and increasing.

    From its root for a large epsilon; after the first step it comes down monotonically.
    """
    x = (-epsilon / (m + 1)).exp()
    if m == 1:
        return x / (1 + x)
    q = geometric_mean(epsilon)
    while True:
        means = power_means(q, x, m + 1)
        slope = m * (m + 1) * means[m - 1] * means[1]
        step = ((m + 1) * means[m] * means[1] - means[m + 1]) / slope
        x -= step
        if abs(step) < x * Decimal("1e-35"):
            return x


def _interval_gamma(epsilon: float, confidence: Decimal) -> float:
    """With the tail w = b^k v, b < v <= 1: gamma = (1/v - 1)/(e^epsilon - 1)."""
    with precise(epsilon) as eps:
        depth = -(1 - confidence).ln()
        return rounded_gamma(((depth % eps).exp() - 1) * geometric_mean(eps))


@np.errstate(under="ignore")
def _callable_gamma(epsilon: float, sensitivity: float, cost: Callable[[Any], Any]) -> float:
    """Where V' turns: it has the sign of int_0^gamma (l(gamma) - l) + q int_0^1 (l(gamma) - l)."""
    refuse_epsilon(epsilon, "give gamma directly", LARGEST_CALLABLE_EPSILON)
    folded = FoldedCost(cost, epsilon, sensitivity)
    if not folded.total > 0.0:
        why = "any gamma is as good for a constant"
        raise ValueError(refusal("cost", cost, "increasing where the noise has mass", why))
    q = math.exp(-epsilon) / -math.expm1(-epsilon)

    def slope(t: float) -> float:
        value = folded.value(t)
        return t * (value - folded.mean(t)) + q * (value - folded.total)

    return twelve_digits(_sign_change(slope))


def _sign_change(slope: Callable[[float], float]) -> float:
    """Where a non-decreasing function on (0, 1] turns positive, to 1e-11 of itself.

    Halve down to the binade, then false position (Illinois), never nearer to an end than the
    tolerance, so that both ends close in; every third step bisects, because the function may jump.
    """
    high, at_high = 1.0, slope(1.0)
    low, at_low = 0.5, slope(0.5)
    while at_low > 0.0 and low > sys.float_info.min:
        high, at_high = low, at_low
        low = 0.5 * low
        at_low = slope(low)
    if at_high <= 0.0:
        return high
    turn = side = 0
    tolerance = 1e-11 * high
    while high - low > tolerance and at_low < 0.0:
        turn += 1
        share = 0.5 if turn % 3 == 0 else at_low / (at_low - at_high)
        middle = low + share * (high - low)
        middle = min(max(middle, low + 0.5 * tolerance), high - 0.5 * tolerance)
        at_middle = slope(middle)
        if at_middle > 0.0:
            high, at_high = middle, at_middle
            at_low *= 0.5 if side > 0 else 1.0
            side = 1
        else:
            low, at_low = middle, at_middle
            at_high *= 0.5 if side < 0 else 1.0
            side = -1
    return low
