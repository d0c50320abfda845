"""Exact probabilities of a law, recovered from its tables."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from fastnoise_kernels import layout

from fastnoise.laws.alias import Tables
from fastnoise.laws.line.reader import Slopes, Table
from fastnoise.laws.line.tables import row_width


class DrawnLaw:
    """P(level) and P(integer) of a law, from nothing but its words."""

    def __init__(self, law: Tables) -> None:
        self.tables = law
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
        whole = 1 << (32 if int(self.tables[layout.WIDTH]) == layout.SHORT else 64)
        rest_top, rest_side = int(self.tables[layout.REST_TOP]), int(self.tables[layout.REST_SIDE])
        if self.slopes.slopes:
            fits = self.steps == 1 << len(self.slopes.slopes)
            drops = rest_side >= (1 - self.tilt) * whole
        else:
            fits = 2 * self.steps < whole
            drops = rest_side == whole % (2 * self.steps)
        return fits and drops and rest_top == whole % (2 * self.radius - 1)

    def has_its_words(self) -> bool:
        beyond, slope_bits = int(self.tables[layout.BEYOND]), len(self.slopes.slopes)
        width = row_width(beyond, self.steps, self.radius, slope_bits)
        digit_bits = int(self.tables[layout.DIGIT_BITS])
        sloping = layout.is_sloping(beyond, self.radius, slope_bits)
        fits = not sloping or digit_bits == layout.SLOPING_DIGIT_BITS
        return fits and int(self.tables[layout.WIDTH]) == width

    @cached_property
    def tilt(self) -> Fraction:
        """The last place of a level beside its first; 1 where levels are flat."""
        return self.slopes.chance(self.steps - 1)

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
        return self.slopes.chance(place) / (2 * mass)

    @cached_property
    def full_mass(self) -> Fraction:
        """How many first places a level is worth."""
        return self.mass_of(self.steps) if self.slopes.slopes else Fraction(self.steps)

    @cached_property
    def last_mass(self) -> Fraction:
        return self.mass_of(self.last_places)

    def mass_of(self, places: int) -> Fraction:
        """The chances of the first places, added up: halves of them from the leading digit down."""
        sums = [Fraction(1)]
        for slope in self.slopes.slopes:
            sums.append(sums[-1] * (1 + slope))
        total, start = Fraction(0), 0
        for i in reversed(range(len(sums))):
            if places >> i & 1:
                total += self.slopes.chance(start) * sums[i]
                start += 1 << i
        return total
