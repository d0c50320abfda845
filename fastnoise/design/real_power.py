"""The gamma and the moments of a staircase of a norm for costs R^m of any power m > 0.

Notation: b = e^-epsilon, S_n(x) = sum_k b^k (k+x)^n, R the norm of a draw in d dimensions, D the
sensitivity. E R^m = D^m d/(d+m) S_{d+m}(gamma) / S_d(gamma), whose derivative has the sign of

    (d+m) S_{d+m-1} S_d - d S_{d+m} S_{d-1}.

In decimal arithmetic, rounded once: the same on every machine.
"""

import decimal
import functools
import math
import sys
from collections.abc import Callable
from decimal import Decimal

import numpy as np

from fastnoise.design.lerch import lerch_sums
from fastnoise.design.moments import geometric_mean, power_means, precise

LEAST_POWER = 1e-20  # below, all gammas are the one of ln R, to the last bit
MOST_LOST_DIGITS = 100  # beyond, gamma changes no cost in the first 100 digits

Curve = Callable[[Decimal], tuple[Decimal, Decimal]]  # x to value and slope


@functools.lru_cache(maxsize=256)
def real_power_gamma(epsilon: float, dim: int, m: float) -> float:
    """The gamma in (0, 1] with the least E R^m, right to the last bit.

    >>> real_power_gamma(1.0, 1, 0.5)
    0.32787812283346085
    """
    m = max(m, LEAST_POWER)
    log_guess = _log_guess(epsilon, dim, m)
    if log_guess < math.log(sys.float_info.min):
        return sys.float_info.min
    with precise(epsilon) as eps:
        lost = lost_digits(epsilon, dim) if dim > 1 else 0
        decimal.getcontext().prec += lost + max(0, -math.floor(math.log10(m)))
        q, order = geometric_mean(eps), Decimal(m) + dim

        def curve(x: Decimal) -> tuple[Decimal, Decimal]:
            # S_n(0) = b S_n(1) for n > 0; there, the slope is not asked for
            sums = lerch_sums(eps, order, x or Decimal(1), range(3))
            top, middle, bottom = sums if x else [total * (-eps).exp() for total in sums]
            means = power_means(q, x, dim)
            lowest = means[dim - 2] if dim > 1 else 0
            value = order * middle * means[dim] - dim * top * means[dim - 1]
            slope = order * (order - 1) * bottom * means[dim] - dim * (dim - 1) * top * lowest
            return value, slope

        low, high = upward_crossing(curve, Decimal(log_guess).exp())
        return rounded_gamma(root(curve, low, high))


def real_radial_moment(
    epsilon: float, dim: int, sensitivity: float, gamma: float, m: float
) -> float:
    """E R^m, correctly rounded; inf if it overflows."""
    with precise(epsilon) as eps:
        order, exact = Decimal(m) + dim, Decimal(gamma)
        (top,) = lerch_sums(eps, order, exact)
        below = power_means(geometric_mean(eps), exact, dim)[dim] / (1 - (-eps).exp())
        scale = (Decimal(sensitivity).ln() * Decimal(m)).exp()
        return float(scale * dim / order * top / below)


def rounded_gamma(gamma: Decimal) -> float:
    return max(float(gamma), sys.float_info.min)


def lost_digits(epsilon: float, dim: int) -> int:
    """E R^m depends on gamma in the digits beyond |1 + 2 pi i / epsilon|^-(d+1)."""
    turns = math.hypot(1.0, 2.0 * math.pi / epsilon)
    digits = math.log10(turns) if turns < math.inf else 1.0 - math.log10(epsilon)
    return math.ceil((dim + 1) * digits)


@np.errstate(under="ignore")
def _log_guess(epsilon: float, dim: int, m: float) -> float:
    """ln of the gamma for a large epsilon, where m x^(d+m) + (d+m) b x^m = d b."""
    low, high = -1e4, 0.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        left = math.log(m) + (dim + m) * middle, math.log(dim + m) - epsilon + m * middle
        above = np.logaddexp(*left) > math.log(dim) - epsilon
        low, high = (low, middle) if above else (middle, high)
    return high


def upward_crossing(curve: Curve, guess: Decimal) -> tuple[Decimal, Decimal]:
    """Neighbouring points of [0, 1] between which the curve, of equal sign at 0 and 1, turns up."""
    parts = 16
    while True:
        even = [Decimal(i) / parts for i in range(parts + 1)]
        beside = [guess * scale for scale in map(Decimal, ("0.25", "0.5", "1", "2", "4"))]
        points = sorted({*even, *(x for x in beside if x < 1)})
        signs = [curve(x)[0] > 0 for x in points]
        for i in range(1, len(points)):
            if signs[i] and not signs[i - 1]:
                return points[i - 1], points[i]
        parts *= 4


def root(curve: Curve, low: Decimal, high: Decimal) -> Decimal:
    """Newton's method, kept between the points where the curve is negative and positive."""
    x = (low + high) / 2
    while True:
        value, slope = curve(x)
        low, high = (x, high) if value <= 0 else (low, x)
        step = value / slope if slope > 0 else Decimal(2)
        following = x - step if low < x - step < high else (low + high) / 2
        if abs(following - x) <= x * Decimal("1e-35"):
            return following
        x = following
