"""Exact probabilities: those of a law, recovered from its tables, and those it should have."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from math import ceil, exp, expm1, prod

from fastnoise_kernels import layout

from fastnoise.reader import Slopes, Table
from fastnoise.tables import Law, row_width

FARTHEST = 10**5  # e**-100000 stands for all that is smaller, where that is a bound


@lru_cache(maxsize=256)
def exp_bounds(epsilon: float | Fraction, digits: int = 1000) -> tuple[Fraction, Fraction]:
    """Rationals just below and just above e**-epsilon."""
    exponent, context = Fraction(epsilon), Context(prec=digits)
    if exponent > FARTHEST:
        return Fraction(0), exp_bounds(FARTHEST, digits)[1]
    # The quotient is off by a unit in its last place, which is `exponent` units of the power.
    quotient = context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))
    middle = context.exp(quotient)
    error = middle.scaleb(1 - digits) * (2 + ceil(exponent))
    down, up = Context(digits + 9, ROUND_FLOOR), Context(digits + 9, ROUND_CEILING)
    return Fraction(down.subtract(middle, error)), Fraction(up.add(middle, error))


class DrawnLaw:
    """P(level) and P(integer) of a law, from nothing but its words."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.steps, self.radius = int(law[layout.STEPS]), int(law[layout.RADIUS])
        self.levels, self.digits = int(law[layout.HEAD_LEVELS]), int(law[layout.DIGIT_LEVELS])
        head, digit = Table.head(law), Table.digit(law)
        self.whole = 1 << (32 + 64 * head.limbs)
        self.head, self.digit = head.weights(), digit.weights()
        self.last, self.both_ends = (*self.head[self.levels + 1 :], 0, 0)[:2]
        self.laps = int(law[layout.BEYOND]) == layout.LAPS
        self.ends = int(law[layout.BEYOND]) == layout.ENDS
        self.last_places, self.end = int(law[layout.LAST_PLACES]), int(law[layout.END])
        self.slopes = Slopes(law)

    def is_sound(self) -> bool:
        """Whether the words mean what is read here.

        A row has the words that its law needs; nothing but levels, digits, restarts and ends is
        ever drawn; and of flat places exactly the coins that would be a bias are dropped, of
        sloping ones none is kept before it is looked at.
        """
        if not self.has_its_words():
            return False
        entries = sum(self.head[: self.levels + 2 + self.ends]), sum(self.digit[: self.digits + 1])
        end = self.radius + self.levels * self.steps + self.last_places
        if entries != (self.whole, self.whole) or (self.ends and self.end != end):
            return False
        whole = 1 << (32 if int(self.law[layout.WIDTH]) == layout.SHORT else 64)
        rest_top, rest_side = int(self.law[layout.REST_TOP]), int(self.law[layout.REST_SIDE])
        if self.slopes.slopes:
            fits = self.steps == 1 << len(self.slopes.slopes)
            drops = rest_side >= (1 - self.tilt) * whole
        else:
            fits = 2 * self.steps < whole
            drops = rest_side == whole % (2 * self.steps)
        return fits and drops and rest_top == whole % (2 * self.radius - 1)

    def has_its_words(self) -> bool:
        beyond, slope_bits = int(self.law[layout.BEYOND]), len(self.slopes.slopes)
        width = row_width(beyond, self.steps, self.radius, slope_bits)
        digit_bits = int(self.law[layout.DIGIT_BITS])
        fits = width != layout.SLOPING or digit_bits == layout.SLOPING_DIGIT_BITS
        return fits and int(self.law[layout.WIDTH]) == width

    @cached_property
    def tilt(self) -> Fraction:
        """The last place of a level beside its first; 1 where levels are flat."""
        return self.chance(self.steps - 1)

    def level(self, level: int) -> Fraction:
        if self.laps:
            accepted = self.whole - self.last
            if level == 0:
                return Fraction(self.head[0], accepted)
            high, low = divmod(level - 1, self.levels)
            return Fraction(self.head[1 + low], accepted) * self.digit_probability(high)
        if level <= self.levels or self.ends:
            return Fraction(self.head[level], self.whole)
        return Fraction(self.last, self.whole) * self.digit_probability(level - self.levels - 1)

    def digit_probability(self, digit: int) -> Fraction:
        restarts, entry = divmod(digit, self.digits)
        again = Fraction(self.digit[self.digits], self.whole) ** restarts
        return again * Fraction(self.digit[entry], self.whole)

    def level_of(self, noise: int) -> int:
        return 0 if abs(noise) < self.radius else (abs(noise) - self.radius) // self.steps + 1

    def point(self, noise: int) -> Fraction:
        """The probability of one integer."""
        distance, level = abs(noise), self.level_of(noise)
        if level == 0:
            return self.level(0) / (2 * self.radius - 1)
        if self.ends and distance >= self.end:
            return Fraction(self.both_ends, 2 * self.whole) if distance == self.end else Fraction(0)
        place = (distance - self.radius) % self.steps
        return self.level(level) * self.place(place, self.ends and level > self.levels)

    def place(self, place: int, last: bool = False) -> Fraction:
        """P(place on one side) of a level; or of the last, shorter one."""
        mass = self.last_mass if last else self.full_mass
        return self.chance(place) / (2 * mass)

    def chance(self, place: int) -> Fraction:
        """That a place is kept: `Slopes.chance`, but reduced to lowest terms only once."""
        slopes = [slope for i, slope in enumerate(self.slopes.slopes) if place >> i & 1]
        return Fraction(prod(s.numerator for s in slopes), prod(s.denominator for s in slopes))

    @cached_property
    def full_mass(self) -> Fraction:
        """How many first places a level is worth."""
        return self.mass_of(self.steps) if self.slopes.slopes else Fraction(self.steps)

    @cached_property
    def last_mass(self) -> Fraction:
        return self.mass_of(self.last_places)

    def mass_of(self, places: int) -> Fraction:
        """The chances of so many places, added up: halves of them from the leading digit down."""
        sums = [Fraction(1)]
        for slope in self.slopes.slopes:
            sums.append(sums[-1] * (1 + slope))
        total, start = Fraction(0), 0
        for i in reversed(range(len(sums))):
            if places >> i & 1:
                total += self.chance(start) * sums[i]
                start += 1 << i
        return total

    def mass(self, levels: int) -> Fraction:
        """P(level <= levels)."""
        return sum((self.level(k) for k in range(levels + 1)), Fraction(0))


def ideal_level(epsilon: float, steps: int, radius: int, level: int, bits: int = 400) -> Fraction:
    """P(level) of the staircase with e**-epsilon itself, to about 2**-bits."""
    b = exp_bounds(epsilon, bits)[0]
    height = (1 - b) / (2 * radius + 2 * b * (steps - radius) - (1 - b))
    return height * (2 * radius - 1) if level == 0 else height * b**level * 2 * steps


def ideal_laplace(fall: Fraction, noise: int, digits: int = 120) -> Fraction:
    """P(noise) of the discrete Laplace law that falls by e**-fall a step."""
    b = exp_bounds(fall, digits)[0]
    return (1 - b) / (1 + b) * exp_bounds(fall * abs(noise), digits)[0]


class DrawnLayers:
    """P(layer) of a law of vectors, from nothing but its words."""

    def __init__(self, law: Law) -> None:
        self.law, self.dim = law, int(law[layout.DIM])
        sizes = [int(word) for word in law[int(law[layout.SIZES]) : int(law[layout.NETWORK])]]
        self.sizes = list(zip(sizes[::2], sizes[1::2], strict=True))  # steps and radius
        coins = int(law[layout.COINS])
        heads = [layout.TABLES + layout.TABLE * i for i in range(coins + 1)]
        tables = [
            Table(law, h + layout.TABLE_BITS, h + layout.TABLE_CELLS, h + layout.TABLE_THRESHOLDS)
            for h in heads
        ]
        self.whole = 1 << (32 + 64 * int(law[layout.LIMBS]))
        *self.coins, self.tail = [table.weights() for table in tables]
        self.times = [int(law[head + layout.TABLE_TIMES]) for head in heads[:-1]]
        self.last = int(law[heads[-2] + layout.TABLE_LAST])
        self.digit, self.digits = Table.digit(law).weights(), int(law[layout.DIGIT_LEVELS])
        start = int(law[layout.COUNT_THRESHOLDS])
        stop = start + self.dim * int(law[layout.SMALL_LAYERS])
        self.thresholds = [int(word) for word in law[start:stop]]

    def digit_probability(self, digit: int) -> Fraction:
        restarts, entry = divmod(digit, self.digits)
        again = Fraction(self.digit[self.digits], self.whole) ** restarts
        return again * Fraction(self.digit[entry], self.whole)

    def beyond(self, count: int) -> list[Fraction]:
        """P(so much beyond the table | beyond it): m and m + 1 digits."""
        digit = [self.digit_probability(i) for i in range(count)]
        totals, sums = [Fraction(0)] * count, [Fraction(1), *[Fraction(0)] * (count - 1)]
        for m, weight in enumerate(self.tail[:count]):
            sums = [
                sum((sums[j] * digit[i - j] for j in range(i + 1)), Fraction(0))
                for i in range(count)
            ]
            for i in range(m, count):
                totals[i] += Fraction(weight, self.whole) * sums[i - m]
        return totals

    def layers(self, beyond: int) -> list[Fraction]:
        """P(layer 0), P(layer 1), .. to that many entries beyond the last table."""
        *lower, top = self.coins
        last = Fraction(top[self.last], self.whole)
        entries = [Fraction(weight, self.whole) for weight in top[: self.last]]
        entries += [last * part for part in self.beyond(beyond)]
        below = [Fraction(1)]
        for weights, times in zip(lower, self.times, strict=False):
            weights = weights[: max(i for i, weight in enumerate(weights) if weight) + 1]
            below = _convolved(below, [Fraction(w, self.whole) for w in weights], times)
        size = self.times[-1] * len(entries)  # layers from there on are not complete
        return _convolved(below, entries, self.times[-1])[:size]


def _convolved(a: list[Fraction], b: list[Fraction], times: int) -> list[Fraction]:
    total = [Fraction(0)] * (len(a) + times * (len(b) - 1) + times)
    for j, y in enumerate(b):
        for i, x in enumerate(a):
            total[i + times * j] += x * y
    return total


def ideal_layers(epsilon: float, first: Sequence[int], points: Sequence[int]) -> list[Fraction]:
    """P(layer k), proportional to e**(-epsilon k) * points[k], of which `first` tell all."""
    b = exp_bounds(epsilon, 200)[0]
    total, row, m = Fraction(0), list(first), 0
    while row:  # sums of b**k C(k, m)
        total += row[0] * b**m / (1 - b) ** (m + 1)
        row, m = [y - x for x, y in pairwise(row)], m + 1
    powers = [exp_bounds(Fraction(epsilon) * k, 60)[0] for k in range(len(points))]
    return [power * p / total for power, p in zip(powers, points, strict=True)]


def integer_sf(noise: int, epsilon: float, steps: int, radius: int) -> float:
    """P(X >= noise) of the integer staircase, for noise >= 0.

    See docs/mathematics.md#discrete-staircase.
    """
    b, q = exp(-epsilon), exp(-epsilon) / -expm1(-epsilon)
    height = 1 / (2 * radius - 1 + 2 * steps * q)
    k, j = divmod(noise, steps)
    inside = min(j, radius) + b * max(0, j - radius)
    return b**k * ((1 + height) / 2 - height * inside)
