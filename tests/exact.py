"""Exact probabilities: those of a law, recovered from its tables, and those it should have."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from fastnoise_kernels import layout

from fastnoise.reader import Table
from fastnoise.tables import Law


def exp_bounds(epsilon: float, bits: int = 1000) -> tuple[Fraction, Fraction]:
    """Rationals just below and just above e**-epsilon."""
    middle = Context(prec=bits).exp(Decimal(-epsilon))
    ulp = Decimal((0, (1,), middle.as_tuple().exponent))
    down, up = Context(bits + 9, ROUND_FLOOR), Context(bits + 9, ROUND_CEILING)
    return Fraction(down.subtract(middle, ulp)), Fraction(up.add(middle, ulp))


class DrawnLaw:
    """P(level) and P(integer) of a law, from nothing but its words."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.steps, self.radius = int(law[layout.STEPS]), int(law[layout.RADIUS])
        self.levels = int(law[layout.HEAD_LEVELS])
        head, digit = Table.head(law), Table.digit(law)
        self.whole = 1 << (32 + 64 * head.limbs)
        self.head, self.digit = head.weights(), digit.weights()
        self.last = self.head[self.levels + 1]
        self.laps = int(law[layout.BEYOND]) == layout.LAPS

    def level(self, level: int) -> Fraction:
        if self.laps:
            accepted = self.whole - self.last
            if level == 0:
                return Fraction(self.head[0], accepted)
            high, low = divmod(level - 1, self.levels)
            return Fraction(self.head[1 + low], accepted) * self.digit_probability(high)
        if level <= self.levels:
            return Fraction(self.head[level], self.whole)
        return Fraction(self.last, self.whole) * self.digit_probability(level - self.levels - 1)

    def digit_probability(self, digit: int) -> Fraction:
        entries = int(self.law[layout.DIGIT_LEVELS])
        restarts, entry = divmod(digit, entries)
        again = Fraction(self.digit[entries], self.whole) ** restarts
        return again * Fraction(self.digit[entry], self.whole)

    def level_of(self, noise: int) -> int:
        return 0 if abs(noise) < self.radius else (abs(noise) - self.radius) // self.steps + 1

    def point(self, noise: int) -> Fraction:
        """The probability of one integer."""
        level = self.level_of(noise)
        return self.level(level) / (2 * self.steps if level else 2 * self.radius - 1)

    def mass(self, levels: int) -> Fraction:
        """P(level <= levels)."""
        return sum((self.level(k) for k in range(levels + 1)), Fraction(0))


def ideal_level(epsilon: float, steps: int, radius: int, level: int, bits: int = 400) -> Fraction:
    """P(level) of the staircase with e**-epsilon itself, to about 2**-bits."""
    b = exp_bounds(epsilon, bits)[0]
    height = (1 - b) / (2 * radius + 2 * b * (steps - radius) - (1 - b))
    return height * (2 * radius - 1) if level == 0 else height * b**level * 2 * steps


def integer_sf(noise: int, epsilon: float, steps: int, radius: int) -> float:
    """P(X >= noise) of the integer staircase (spec 7.2), for noise >= 0."""
    from math import exp, expm1

    b, q = exp(-epsilon), exp(-epsilon) / -expm1(-epsilon)
    height = 1 / (2 * radius - 1 + 2 * steps * q)
    k, j = divmod(noise, steps)
    inside = min(j, radius) + b * max(0, j - radius)
    return b**k * ((1 + height) / 2 - height * inside)
