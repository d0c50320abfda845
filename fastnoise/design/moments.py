"""Moments of the geometric staircase law, in decimal arithmetic where a closed form exists.

Notation: b = e^-epsilon, G geometric with P(G = k) = (1-b) b^k, q = b/(1-b) = E G,
M_n(x) = E (G+x)^n.
"""

import decimal
import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import numpy as np

LARGEST_POWER = 200  # at epsilon 1 a moment takes 0.02 s, a gamma 0.15 s
LARGEST_REAL_POWER = 100  # z**101 e**-z stays inside a double for every z that matters,
LARGEST_REAL_EPSILON = 100.0  # a multiple of epsilon, up to this one


@contextmanager
def precise(epsilon: float) -> Iterator[Decimal]:
    """Decimal arithmetic with room for two cancellations of the size of epsilon; gives epsilon.

    1 - e^-epsilon loses log10(1/epsilon) digits, and so does the equation for the best gamma:
    60 digits are left after both. The traps are fixed here, so no user's context leaks in.
    """
    exact = Decimal.from_float(epsilon)  # Decimal(epsilon) heeds a trap of the caller's context
    context = decimal.Context(
        prec=60 + 2 * max(0, -exact.adjusted()),
        rounding=decimal.ROUND_HALF_EVEN,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )
    with decimal.localcontext(context):
        yield exact


@contextmanager
def precise_steps(epsilon: float, sensitivity: int) -> Iterator[Decimal]:
    """`precise` with room to tell r from r+1: neighbours differ by (epsilon/D)^2 at the least."""
    with precise(epsilon) as eps:
        context = decimal.getcontext()
        context.prec += (context.prec - 60) + 2 * len(str(sensitivity))
        yield eps


def geometric_mean(epsilon: Decimal) -> Decimal:
    """q = 1/(e^epsilon - 1), written so that a large epsilon underflows instead of overflowing."""
    b = (-epsilon).exp()
    return b / (1 - b)


def power_means(q: Decimal, x: Decimal, n: int) -> list[Decimal]:
    """M_0(x) .. M_n(x) by the recurrence M_i = x^i + q sum_{j<i} C(i,j) M_j: no cancellation."""
    means = [Decimal(1)]
    power = Decimal(1)
    for i in range(1, n + 1):
        power *= x
        means.append(power + q * sum(math.comb(i, j) * means[j] for j in range(i)))
    return means


def integer_moment(epsilon: float, sensitivity: float, gamma: float, m: int) -> float:
    """E|X|^m = D^m M_{m+1}(gamma) / ((m+1) M_1(gamma)), correctly rounded; inf if it overflows."""
    with precise(epsilon) as eps:
        means = power_means(geometric_mean(eps), Decimal(gamma), m + 1)
        return float(Decimal(sensitivity) ** m * means[m + 1] / ((m + 1) * means[1]))


def inner_odds(epsilon: float, gamma: float) -> float:
    """gamma/q = gamma (e^epsilon - 1): the mass at |x| < gamma D over the mass beyond, gamma > 0.

    e^epsilon overflows at 709, so beyond 700 through logs; inf if it overflows all the same.
    """
    if epsilon < 700.0:
        return gamma * math.expm1(epsilon)
    log_odds = epsilon + math.log(gamma)
    return math.exp(log_odds) if log_odds < 709.0 else math.inf


def outer_mass(epsilon: float, gamma: float) -> float:
    """rho = q/(gamma+q) = b/(gamma + b(1-gamma)): the mass at |x| >= gamma D, gamma > 0."""
    return 1.0 / (1.0 + inner_odds(epsilon, gamma))


@np.errstate(over="ignore", under="ignore")
def real_moment(epsilon: float, sensitivity: float, gamma: float, m: float) -> float:
    """E|X|^m for real 0 <= m <= 100 and epsilon <= 100, to about 1e-14.

    The top step and the others are kept apart, which leaves positive terms only:
    E|X|^m (m+1) / D^m = (1-b)^2 (gamma^(m+1) / D0 + rho S_{m+1}(1+gamma)), where
    D0 = gamma + b(1-gamma), rho = b/D0 and S_n(x) = sum_k b^k (k+x)^n.
    """
    base = gamma + math.exp(-epsilon) * (1.0 - gamma)
    top = epsilon * epsilon * np.float64(epsilon * gamma) ** m * (gamma / base)
    rest = outer_mass(epsilon, gamma) * _scaled_power_sum(epsilon, 1.0 + gamma, m + 1.0)
    unit = (-math.expm1(-epsilon) / epsilon) ** 2 / (m + 1.0) * (top + rest)
    # in two halves: D^m may overflow where the moment does not
    root = np.float64(sensitivity / epsilon) ** (0.5 * m)
    return float(unit * root * root) if unit > 0.0 else 0.0


def _scaled_power_sum(epsilon: float, x: float, n: float) -> float:
    """epsilon^(n+1) S_n(x): a Riemann sum of z^n e^-z over z = epsilon (k+x), x >= 1."""
    if epsilon >= 0.01:
        return _head(epsilon, x, n, math.ceil(745.0 / epsilon) + 1)  # e^-745 is the least double
    count = 40 + math.ceil(4.0 * n)
    return _head(epsilon, x, n, count) + _euler_maclaurin_tail(epsilon, x + count, x, n)


def _head(epsilon: float, x: float, n: float, count: int) -> float:
    k = np.arange(count, dtype=np.float64)
    return float(np.sum(epsilon * np.exp(-epsilon * k) * (epsilon * (k + x)) ** n))


def _euler_maclaurin_tail(epsilon: float, start: float, x: float, n: float) -> float:
    """The terms from k + x = start on, where the corrections fall by (1/(8 pi))^2 each.

    The integral is Gamma(n+1, z) with z = epsilon * start, as Gamma(n+1) less a short series.
    """
    z = epsilon * start
    term = series = 1.0 / (n + 1.0)
    for i in range(2, 40):  # z < 0.5 + 0.05 n, so the terms fall by at least 0.35 each
        term *= z / (n + i)
        series += term
    density = math.pow(z, n) * math.exp(-z)
    tail = math.gamma(n + 1.0) - density * z * series + 0.5 * epsilon * density
    for order, factor in ((1, 1 / 12), (3, -1 / 720)):  # the next, 1/30240, is below 1e-15
        tail -= factor * epsilon * density * _relative_derivative(order, epsilon, start, n)
    return math.exp(epsilon * x) * tail


def _relative_derivative(order: int, epsilon: float, start: float, n: float) -> float:
    """The derivative of y^n e^(-epsilon y) at y = start, over its value."""
    total, falling = 0.0, 1.0
    for i in range(order + 1):
        total += math.comb(order, i) * math.pow(-epsilon, order - i) * falling
        falling *= (n - i) / start
    return total
