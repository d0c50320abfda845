"""Lerch sums of real order, S_n(x) = sum_k b^k (k+x)^n with b = e^-epsilon, in decimal arithmetic.

Everything is right to about the precision of the context it is called in, so that what is rounded
from it is the same on every machine.
"""

import decimal
import functools
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import count, islice
from operator import mul

_HALF = Decimal("0.5")
DIRECT = 2  # from this epsilon on, terms are few enough to be added up


def lerch_sums(
    epsilon: Decimal, n: Decimal, x: Decimal, below: Sequence[int] = (0,)
) -> list[Decimal]:
    """S_{n-i}(x) for every i in `below`, which rises; x > 0, and n - i no integer below 0.

    Term by term, or for a small epsilon by Euler and Maclaurin from some 30 terms on.

    >>> with decimal.localcontext(prec=30):
    ...     print(*lerch_sums(Decimal(1), Decimal(0), Decimal("0.5")))  # 1 / (1 - 1/e)
    1.58197670686932642438500200511
    """
    with decimal.localcontext() as context:
        digits = context.prec + 10
        context.prec = digits
        if epsilon >= DIRECT:
            sums = _added(epsilon, n, x, below)
        else:
            high, low = max(0.0, float(n)), max(0.0, below[-1] - float(n))
            # the least that the end's terms come down to is about e^-((2 pi - epsilon) start)
            reach = 2.52 / (2 * math.pi - float(epsilon))
            start = math.ceil(reach * digits + high / 3 + low) + 6
            # what Gamma(a, z) cancels, z < epsilon (start + 1): e^z, and z / |a| for each a below 0
            context.prec += math.ceil(float(epsilon) * start / 2.3) + 3 * below[-1] + 4
            decay = (-epsilon * start).exp()
            tails = _tails(epsilon, n, x + start, below, digits)
            head = zip(*islice(_terms(epsilon, n, x, below), start), strict=True)
            pairs = zip(head, tails, strict=True)
            sums = [sum(terms, Decimal(0)) + decay * tail for terms, tail in pairs]
    return [+total for total in sums]


def _terms(
    epsilon: Decimal, n: Decimal, x: Decimal, below: Sequence[int]
) -> Iterator[list[Decimal]]:
    """b^k (k+x)^(n-i) for k = 0, 1, .."""
    for k in count():
        y = k + x
        yield _powers((y.ln() * n - epsilon * k).exp(), y, below)


def _powers(first: Decimal, y: Decimal, below: Sequence[int]) -> list[Decimal]:
    return [first / y**i for i in below]


def _added(epsilon: Decimal, n: Decimal, x: Decimal, below: Sequence[int]) -> list[Decimal]:
    sums, least = [Decimal(0)] * len(below), Decimal(10) ** -decimal.getcontext().prec
    for k, terms in enumerate(_terms(epsilon, n, x, below)):
        sums = [total + term for total, term in zip(sums, terms, strict=True)]
        # from twice the peak on, terms fall by e^(-epsilon/2) each
        if terms[0] < least * sums[0] and k * epsilon > 2 * n:
            break
    return sums


def _tails(
    epsilon: Decimal, n: Decimal, y: Decimal, below: Sequence[int], digits: int
) -> list[Decimal]:
    """S_{n-i}(y) for a large y: an integral, half a term, and derivatives at the first one."""
    integrals = _upper_gammas(n + 1, epsilon * y, below[-1] + 1)
    scale = (epsilon * y - epsilon.ln() * (n + 1)).exp()
    powers = _powers((y.ln() * n).exp(), y, below)
    return [
        scale * epsilon**i * integrals[i] + power * (_HALF - _ends(epsilon, n - i, y, digits))
        for i, power in zip(below, powers, strict=True)
    ]


def power_sum_between(rate: Decimal, m: Decimal, start: Decimal, stop: Decimal) -> Decimal:
    """sum_{start <= k < stop} e^(-rate k) k^m for a large start and rate < 2.

    By Euler and Maclaurin at both ends, as precise as the sum from 0 on is.

    >>> with decimal.localcontext(prec=20):
    ...     print(power_sum_between(Decimal(1) / 10, Decimal(0), Decimal(100), Decimal(10**6)))
    0.00047707753221366309670
    """
    with decimal.localcontext() as context:
        context.prec += 10
        a = m + 1
        inner, outer = (_lower_gamma(a, rate * y) for y in (start, stop))
        total = (outer - inner) * (-rate.ln() * a).exp()
        for y, sign in ((start, 1), (stop, -1)):
            first = (y.ln() * m - rate * y).exp()
            total += sign * first * (_HALF - _ends(rate, m, y, context.prec))
    return +total


def _ends(epsilon: Decimal, n: Decimal, y: Decimal, digits: int) -> Decimal:
    """sum_j B_2j / (2j)! f^(2j-1)(0) of f(t) = e^(-epsilon t) (1 + t/y)^n, to `digits` digits."""
    powers, decays = [Decimal(1)], [Decimal(1)]  # Taylor coefficients of the two factors
    total, least = Decimal(0), Decimal(10) ** -digits
    for j, ratio in enumerate(bernoulli_ratios(1 << digits.bit_length())):
        for order in range(max(1, 2 * j), 2 * j + 2):
            powers.append(powers[-1] * (n - order + 1) / (order * y))
            decays.append(decays[-1] * -epsilon / order)
        coefficient = sum(map(mul, powers, reversed(decays)), Decimal(0))
        change = coefficient * ratio.numerator / ratio.denominator
        total += change
        if abs(change) < least:
            return total
    raise ArithmeticError("a series has not converged")


@functools.lru_cache(maxsize=8)
def bernoulli_ratios(count: int) -> tuple[Fraction, ...]:
    """B_2j / (2j), j = 1..count, from the tangent numbers: T_j (-1)^(j-1) / (4^j (4^j - 1))."""
    tangents = [1]
    for k in range(1, count):
        tangents.append(k * tangents[-1])
    for k in range(1, count):
        for j in range(k, count):
            tangents[j] = (j - k) * tangents[j - 1] + (j - k + 2) * tangents[j]
    return tuple(
        Fraction((-1) ** j * tangent, 4 ** (j + 1) * (4 ** (j + 1) - 1))
        for j, tangent in enumerate(tangents)
    )


def _upper_gammas(a: Decimal, z: Decimal, length: int) -> list[Decimal]:
    """Gamma(a, z), Gamma(a-1, z), .., `length` of them: the integrals of t^(a-1) e^-t from z on.

    Below 0, from Gamma(a+1, z) = a Gamma(a, z) + z^a e^-z.
    """
    whole = gamma(a)
    found = [whole - _lower_gamma(a, z)]
    edge = (z.ln() * a - z).exp()
    for i in range(1, length):
        edge /= z
        whole /= a - i  # Gamma(a-i), above 0
        above = found[-1] - edge
        found.append(whole - _lower_gamma(a - i, z) if a > i else above / (a - i))
    return found


def gamma(a: Decimal) -> Decimal:
    """Gamma(a), a > 0: its integral up to where nothing is left."""
    enough = math.ceil(2.4 * decimal.getcontext().prec + 2 * float(a)) + 10
    return _lower_gamma(a, Decimal(enough))


def _lower_gamma(a: Decimal, z: Decimal) -> Decimal:
    """The integral of t^(a-1) e^-t from 0 to z: z^a e^-z sum_i z^i / (a (a+1) .. (a+i))."""
    least = Decimal(10) ** -decimal.getcontext().prec
    term = total = 1 / a
    i = 0
    while term > least * total or i < z:
        i += 1
        term *= z / (a + i)
        total += term
    return (z.ln() * a - z).exp() * total
