"""The laws that should be drawn, in many digits, from the parameters of a mechanism alone.

What built the tables is not asked: formulas are those of docs/mathematics.md, arithmetic is
decimal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, comb, prod
from typing import Any, NamedTuple

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.ideal.box_staircase import IdealBoxStaircase
from fastnoise.ideal.capped_law import CappedLaw
from fastnoise.ideal.discrete_laplace import IdealDiscreteLaplace
from fastnoise.ideal.discrete_staircase import IdealDiscreteStaircase
from fastnoise.ideal.l1_staircase import IdealL1Staircase
from fastnoise.ideal.l2_laplace import IdealL2Laplace, IdealMultiUserLaplace
from fastnoise.ideal.laplace import IdealLaplace
from fastnoise.ideal.staircase import IdealStaircase

DIGITS = 160  # differences of tails cost 16 for a scale of 2**52, the ends of a law some 30 more
ROUNDING = Decimal(10) ** (20 - DIGITS)  # of sums of probabilities
MANY_CHANGED = 65_536  # elements or users that l1 and sum-l2 mechanisms are widened for


@contextmanager
def many_digits() -> Iterator[None]:
    with localcontext(Context(DIGITS, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        yield


def exactly(value: float | Fraction) -> Decimal:
    """To all digits that count: of longer fractions the leading 1000 bits."""
    above, below = value.as_integer_ratio()
    spare = max(0, min(above.bit_length(), below.bit_length()) - 1000)
    return Decimal(above >> spare) / (below >> spare)


class Ideal(ABC):
    """A symmetric law on the integers, known by its tail."""

    @abstractmethod
    def tail(self, n: int) -> Decimal:
        """P(X >= n), n from 1 up."""

    def point(self, n: int) -> Decimal:
        """P(X = n)."""
        return self.within(0, 0) if n == 0 else self.within(abs(n), abs(n)) / 2

    def within(self, first: int, last: int) -> Decimal:
        """P(first <= |X| <= last)."""
        inner = 2 * self.tail(first) if first else Decimal(1)
        return inner - 2 * self.tail(last + 1)


class IdealSteps(Ideal):
    """The staircase of sensitivity `steps` and r = `radius`.

    See docs/mathematics.md#discrete-staircase.
    """

    def __init__(self, epsilon: float, steps: int, radius: int) -> None:
        self.steps, self.radius = steps, radius
        self.b = (-exactly(epsilon)).exp()
        self.height = 1 / (2 * radius - 1 + 2 * steps * self.b / (1 - self.b))

    def tail(self, n: int) -> Decimal:
        k, j = divmod(n, self.steps)
        inside = min(j, self.radius) + self.b * max(0, j - self.radius)
        return self.b**k * ((1 + self.height) / 2 - self.height * inside)


class IdealFall(Ideal):
    """The discrete Laplace law that falls by e**(-epsilon / steps) per step.

    See docs/mathematics.md#discrete-laplace.
    """

    def __init__(self, epsilon: float, steps: int) -> None:
        self.steps = steps
        self.b = (-exactly(epsilon) / steps).exp()

    def tail(self, n: int) -> Decimal:
        return self.b**n / (1 + self.b)


class IdealCut(Ideal):
    """Such a law with its ends cut off; epsilon 0: the flat law.

    docs/mathematics.md#truncated-discrete-laplace, docs/mathematics.md#uniform-noise
    """

    def __init__(self, epsilon: float, delta: Fraction, steps: int) -> None:
        self.steps = steps
        fall, step = exactly(epsilon) / steps, step_delta(epsilon, delta, steps)
        self.b = (-fall).exp()
        self.top = (1 - self.b + 2 * step * self.b) / (1 + self.b)
        core = (self.top / step).ln() / fall if epsilon else (steps / delta - 1) / 2
        self.core = int(core)
        left = (1 - self.top - 2 * self._falling(1)) / 2
        self.edge = left if left > ROUNDING else Decimal(0)

    def tail(self, n: int) -> Decimal:
        if n > self.core:
            return self.edge if n == self.core + 1 else Decimal(0)
        return self._falling(n) + self.edge

    def _falling(self, first: int) -> Decimal:
        """The sum of top * b**i from there to the end of the core."""
        count = self.core + 1 - first
        if self.b == 1:
            return self.top * count
        return self.top * self.b**first * (1 - self.b**count) / (1 - self.b)


def step_delta(epsilon: float | Fraction, delta: Fraction, steps: int) -> Decimal:
    """The delta of a change of 1 that makes `delta` of one of `steps`."""
    whole = exactly(epsilon)
    growth = ((whole / steps).exp() - 1) / (whole.exp() - 1) if epsilon else 1 / Decimal(steps)
    return exactly(delta) * growth


class IdealLayers(ABC):
    """Vectors that are uniform on one of many nested sets: set k with weight b**k of its points."""

    def __init__(self, epsilon: float, dim: int, sizes: list[tuple[int, int]]) -> None:
        """sizes: (steps, radius) of each coordinate, or of all."""
        self.dim, self.sizes = dim, sizes
        self.b = (-exactly(epsilon)).exp()

    @abstractmethod
    def points(self, layer: int) -> int:
        """How many integer vectors a set has, a polynomial of degree dim."""

    @cached_property
    def total(self) -> Decimal:
        """The sum of b**k points(k), from forward differences: that of b**k C(k, m) is known."""
        first = differences([self.points(k) for k in range(self.dim + 1)])
        parts = (d * self.b**m / (1 - self.b) ** (m + 1) for m, d in enumerate(first))
        return sum(parts, Decimal(0))

    def layer(self, layer: int) -> Decimal:
        """P(layer)."""
        return self.b**layer * self.points(layer) / self.total


def differences(values: list[int]) -> list[int]:
    """Forward differences of all orders at the first value."""
    found = []
    while values:
        found.append(values[0])
        values = [y - x for x, y in pairwise(values)]
    return found


class IdealBalls(IdealLayers):
    """l1 balls of radius r - 1 + k steps."""

    def points(self, layer: int) -> int:
        """From the series (1 + x)**dim / (1 - x)**(dim + 1)."""
        (steps, radius), dim = self.sizes[0], self.dim
        most = radius - 1 + layer * steps
        return sum(comb(dim, j) * comb(most - j + dim, dim) for j in range(min(dim, most) + 1))


class IdealBoxes(IdealLayers):
    """Boxes of half-widths r - 1 + k steps."""

    def points(self, layer: int) -> int:
        return prod(2 * (radius + layer * steps) - 1 for steps, radius in self.sizes)


class IdealScale(NamedTuple):
    """l2 noise: vectors of density proportional to e**(-|v| / scale), rounded to the grid."""

    dim: int
    scale: Decimal


def ideal_law(mechanism: Any) -> Ideal | IdealLayers | IdealScale:
    """The law of the noise in grid steps, by which law on paper the mechanism has."""
    match mechanism:
        case IdealDiscreteStaircase():
            return IdealSteps(mechanism.epsilon, mechanism.sensitivity, mechanism.r)
        case IdealDiscreteLaplace():
            return IdealFall(mechanism.epsilon, mechanism.sensitivity)
        case CappedLaw():
            delta = exact_delta(mechanism.delta)
            return IdealCut(mechanism.epsilon, delta, mechanism.sensitivity)
        case IdealLaplace():
            return IdealFall(mechanism.epsilon, snapped_steps(mechanism, MANY_CHANGED))
        case IdealL2Laplace():
            return ideal_l2(mechanism, 1)
        case IdealMultiUserLaplace():
            return ideal_l2(mechanism, MANY_CHANGED)
        case IdealStaircase() | IdealL1Staircase():
            return ideal_staircase(mechanism)
        case IdealBoxStaircase():
            return ideal_boxes(mechanism)
    raise TypeError(f"no ideal law is known of {mechanism!r}")


def snapped_steps(mechanism: Any, changed: int) -> int:
    """How many grid steps `changed` elements can be apart in l1.

    See docs/mathematics.md#grid-release.
    """
    return ceil(Fraction(mechanism.sensitivity) / Fraction(mechanism.grid)) + changed - 1


def ideal_l2(mechanism: Any, users: int) -> IdealFall | IdealScale:
    """Snapping moves a vector by half the diagonal of a cell at most, each of two."""
    if mechanism.dim == 1:
        return IdealFall(mechanism.epsilon, snapped_steps(mechanism, users))
    steps = exactly(mechanism.sensitivity) / exactly(mechanism.grid)
    wide = steps + users * Decimal(mechanism.dim).sqrt()
    return IdealScale(mechanism.dim, wide / exactly(mechanism.epsilon))


def ideal_staircase(mechanism: Any) -> Ideal | IdealLayers:
    dim = getattr(mechanism, "dim", 1)
    steps = snapped_steps(mechanism, dim)
    radius = max(1, round(Fraction(mechanism.gamma or 1.0) * steps))
    if dim == 1:
        return IdealSteps(mechanism.epsilon, steps, radius)
    return IdealBalls(mechanism.epsilon, dim, [(steps, radius)])


def ideal_boxes(mechanism: Any) -> IdealLayers:
    """A core that is empty in some direction holds nothing: layers start at the next box."""
    sides = list(zip(mechanism.widths, mechanism.core, mechanism.grid, strict=True))
    steps = [ceil(Fraction(width) / Fraction(grid)) for width, _, grid in sides]
    shares = [Fraction(core) / Fraction(width) + (0 in mechanism.core) for width, core, _ in sides]
    radii = [max(1, round(share * n)) for share, n in zip(shares, steps, strict=True)]
    sizes = list(zip(steps, radii, strict=True))
    return IdealBoxes(mechanism.epsilon, mechanism.dim, sizes)
