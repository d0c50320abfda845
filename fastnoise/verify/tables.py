"""Do the tables that kernels read hold the probabilities of the law that was asked for?

Every entry, both sides of steps, and points and layers far beyond the tables: recovered from the
words in exact arithmetic, compared with `ideal`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from math import comb
from random import Random
from typing import Any, NamedTuple

import numpy as np
from fastnoise_kernels import layout
from fastnoise_kernels.polynomials import POWER_ERROR

from fastnoise.laws.alias import Tables
from fastnoise.laws.choice.choosing import Array
from fastnoise.laws.choice.law import weight_tables
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.mechanisms.staircase_choice import StaircaseChoice
from fastnoise.verify.ideal import (
    Ideal,
    IdealLayers,
    IdealScale,
    differences,
    exactly,
    ideal_law,
    many_digits,
)
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.subjects import CHOICES, EXTREME, USUAL, families, grids

CLOSE = Decimal(2) ** -50  # relative
NO_WEIGHT = Decimal(2) ** -1021  # below, 0 will do
DEPTH = 1000  # levels within which random points lie
POINTS = 500  # random ones
THREE_DIGITS = StaircaseChoice(0.01)  # of levels: the others' have two
BEYOND = 6  # layers beyond the last table


class Pair(NamedTuple):
    """A probability as drawn and as it should be; `slack` in absolute terms."""

    what: str
    drawn: Fraction
    ideal: Decimal
    slack: Decimal = Decimal(0)

    def differ(self) -> bool:
        return abs(exactly(self.drawn) - self.ideal) > CLOSE * self.ideal + self.slack


def rows() -> list[Row]:
    return [
        *by_family("tables", check_tables, families([*USUAL, *EXTREME])),
        *by_family("tables", check_weights, families([*CHOICES, THREE_DIGITS])),
    ]


def check_tables(mechanism: Any, tally: Tally) -> None:
    drawn = mechanism._law(mechanism.grid)
    law, units = drawn.tables, drawn.grids.tolist()
    tally.expect(units == grids(mechanism), f"steps are {units}, not {grids(mechanism)}")
    with many_digits():
        ideal = ideal_law(mechanism)
        if isinstance(ideal, Ideal):
            check_line(DrawnLaw(law), ideal, tally)
        elif isinstance(ideal, IdealLayers):
            check_layers(DrawnLayers(law), ideal, tally)
        else:
            check_scale(law, ideal, tally)


def compare(pairs: Iterable[Pair], tally: Tally) -> None:
    for pair in pairs:
        tally.expect(not pair.differ(), f"P({pair.what}) has a relative error above 2**-50")


# --- laws on the line -----------------------------------------------------------------------------


def check_line(law: DrawnLaw, ideal: Ideal, tally: Tally) -> None:
    entries, digits = law.levels + 2 + law.ends, int(law.tables[layout.DIGIT_LEVELS]) + 1
    tally.expect(sum(law.head[:entries]) == law.whole, "the head does not sum to 1")
    tally.expect(sum(law.digit[:digits]) == law.whole, "the digit does not sum to 1")
    tally.expect(law.has_its_words(), "rows do not have the words that their law needs")
    tally.expect(not biased(law), "a place that should be drawn again is kept")
    compare(level_pairs(law, ideal), tally)
    compare(point_pairs(law, ideal), tally)


def biased(law: DrawnLaw) -> bool:
    """Whether the thresholds below which a coin needs care are too low."""
    whole = 1 << (32 if law.tables[layout.WIDTH] == layout.SHORT else 64)
    top, side = (int(law.tables[at]) for at in (layout.REST_TOP, layout.REST_SIDE))
    if not law.slopes.slopes:
        return top < whole % (2 * law.radius - 1) or side < whole % (2 * law.steps)
    return side < (1 - law.slopes.chance(law.steps - 1)) * whole


def level_pairs(law: DrawnLaw, ideal: Ideal) -> Iterator[Pair]:
    """Every entry of both tables, and where digits restart once and twice."""
    digits = int(law.tables[layout.DIGIT_LEVELS])
    levels = list(range(law.levels + 1))
    if law.ends:
        first = law.radius + law.levels * law.steps
        yield Pair("last level", law.level(law.levels + 1), ideal.within(first, law.end - 1))
        ends = Fraction(law.both_ends, law.whole)
        yield Pair("ends", ends, ideal.within(law.end, law.end))
    else:
        stride = law.levels if law.laps else 1
        levels += [law.levels + 1 + stride * digit for digit in (*range(digits + 2), 2 * digits)]
    for level in levels:
        first, last = level_span(law, level)
        yield Pair(f"level {level}", law.level(level), ideal.within(first, last))


def level_span(law: DrawnLaw, level: int) -> tuple[int, int]:
    """The first and the last distance of a level."""
    if level == 0:
        return 0, law.radius - 1
    first = law.radius + (level - 1) * law.steps
    return first, first + law.steps - 1


def point_pairs(law: DrawnLaw, ideal: Ideal) -> Iterator[Pair]:
    """Both sides of steps, every slope, and random points of either sign, most near the centre."""
    chance = Random(0)
    edges = [level_span(law, level) for level in (0, 1, 2, 3, law.levels, law.levels + 1, DEPTH)]
    points = {n for first, last in edges for n in (first, last, last + 1)}
    points |= {law.radius + (1 << i) for i in range(len(law.slopes.slopes))}
    for _ in range(POINTS):
        most = level_span(law, int(DEPTH ** chance.random()))[1]
        points.add(chance.randrange(-most, most + 1))
    if law.end:  # of a support that ends
        points |= {chance.randrange(-law.end, law.end) for _ in range(POINTS)}
        points |= {law.end - 1, law.end, law.end + 1}
    for n in sorted(points):
        yield Pair(f"{n}", law.point(n), ideal.point(n))


# --- laws of layers -------------------------------------------------------------------------------


def check_layers(law: DrawnLayers, ideal: IdealLayers, tally: Tally) -> None:
    start = int(law.tables[layout.SIZES])
    sizes = [int(word) for word in law.tables[start : start + 2 * len(ideal.sizes)]]
    wanted = [size for pair in ideal.sizes for size in pair]
    tally.expect(sizes == wanted, f"layers have steps and radii {sizes}, not {wanted}")
    parts = [*law.coins[:-1], law.coins[-1][: law.last + 1]]
    parts += [law.tail[: ideal.dim + 1], law.digit[: law.digits + 1]]
    tally.expect(all(sum(part) == law.whole for part in parts), "a table does not sum to 1")
    compare(layer_pairs(law, ideal), tally)
    compare(tail_pairs(law, ideal), tally)


def tail_pairs(law: DrawnLayers, ideal: IdealLayers) -> Iterator[Pair]:
    """Every entry of what is drawn beyond the last table: m, then m + 1 digits.

    See docs/mathematics.md#layers.

    What the last table lists has as many points as layers do; or, where a layer is a sum of several
    coins, as a sum of dim + 1 numbers has ways.
    """
    b, dim = ideal.b ** law.times[-1], ideal.dim
    for digit in range(2 * law.digits + 3):
        yield Pair(f"digit {digit}", law.digit_probability(digit), (1 - b) * b**digit)
    layers = range(law.last, law.last + dim + 1)
    several = len(law.coins) > 1
    ways = [comb(k + dim, dim) if several else ideal.points(k) for k in layers]
    parts = [d * (b / (1 - b)) ** m for m, d in enumerate(differences(ways))]
    for m, part in enumerate(parts):
        yield Pair(f"{m} more digits", Fraction(law.tail[m], law.whole), part / sum(parts))


def layer_pairs(law: DrawnLayers, ideal: IdealLayers) -> Iterator[Pair]:
    """Layers that use every entry of every table, and some beyond.

    The very centre may be all but impossible: two units of the table are allowed there.
    """
    sums = LayerSums(law)
    for layer in sorted(set(sums.entries())):
        slack = Decimal(2 if layer == 0 else 0) / law.whole
        yield Pair(f"layer {layer}", sums.probability(layer), ideal.layer(layer), slack)


class LayerSums:
    """P(layer), where a layer is the sum of what several coins show, times a number each."""

    def __init__(self, law: DrawnLayers) -> None:
        lower = [weights[: used(weights)] for weights in law.coins[:-1]]
        top = law.coins[-1]
        beyond = [top[law.last] * part for part in law.beyond(BEYOND)]
        self.top: list[int | Fraction] = [*top[: law.last], *beyond]
        self.lower, self.times = lower, law.times
        self.whole: int = law.whole ** len(law.coins)
        # How far the coins before each one reach together.
        furthest = [times * (len(w) - 1) for times, w in zip(law.times, lower, strict=False)]
        self.reach = list(accumulate(furthest, initial=0))

    def entries(self) -> Iterator[int]:
        """Layers that use every entry of every coin."""
        sizes = [*map(len, self.lower), len(self.top)]
        for times, size in zip(self.times, sizes, strict=True):
            yield from range(0, times * size, times)

    def probability(self, layer: int) -> Fraction:
        shown = self._shown(layer, len(self.lower), len(self.top))
        parts = (self.top[i] * self._ways(rest, len(self.lower)) for i, rest in shown)
        return Fraction(sum(parts), self.whole)

    def _ways(self, layer: int, coins: int) -> int:
        """How many outcomes of the first coins give a layer."""
        if coins == 0:
            return int(layer == 0)
        weights = self.lower[coins - 1]
        shown = self._shown(layer, coins - 1, len(weights))
        return sum(weights[i] * self._ways(rest, coins - 1) for i, rest in shown)

    def _shown(self, layer: int, coin: int, entries: int) -> Iterator[tuple[int, int]]:
        """What a coin may show, and what the coins before it then have to."""
        times = self.times[coin]
        least = max(0, -(-(layer - self.reach[coin]) // times))
        for i in range(least, min(layer // times, entries - 1) + 1):
            yield i, layer - times * i


def used(weights: list[int]) -> int:
    """How many entries there are up to the last one that is possible."""
    return max(i for i, weight in enumerate(weights) if weight) + 1


# --- l2 noise -------------------------------------------------------------------------------------


def check_scale(law: Tables, ideal: IdealScale, tally: Tally) -> None:
    """l2 noise is computed: what it is told is its scale, and which coins keep any place.

    A place of a cell is kept with a chance of e**-(diagonal / scale) at least.
    """
    scale = drawn_scale(law)
    close = ideal.scale <= scale <= ideal.scale * (1 + CLOSE)
    tally.expect(close, f"the scale is {scale:.20}, not {ideal.scale:.20}")
    high, low = (int(word) for word in law[layout.KEPT_BELOW : layout.KEPT_BELOW + 2])
    kept = Decimal(high << 64 | low) / (1 << layout.SPARE_BITS + 64)
    diagonal = (1 << int(law[layout.FINE_BITS])) * Decimal(ideal.dim).sqrt()
    tally.expect(kept <= (-diagonal / scale).exp(), "a place that may be too far out is kept")


def drawn_scale(law: Tables) -> Decimal:
    return exactly(float(law[layout.SCALE : layout.SCALE + 1].view(np.float64)[0]))


# --- choices --------------------------------------------------------------------------------------


def check_weights(mechanism: Any, tally: Tally) -> None:
    """e**(-epsilon * level) as kernels compute it: as near as choices take it for."""
    levels = weighed_levels(mechanism.epsilon)
    with many_digits():
        epsilon = exactly(mechanism.epsilon)
        for level, weight in zip(levels, kernel_weights(mechanism, levels), strict=True):
            right = (-epsilon * level).exp()
            room = exactly(POWER_ERROR) * right if right > NO_WEIGHT else right
            close = abs(exactly(weight) - right) <= room
            tally.expect(close, f"e**-{epsilon * level} is {weight}, not {right:.20}")
        for count in (2, layout.MOST_CANDIDATES):
            check_narrow_weights(mechanism, count, tally)


def check_narrow_weights(mechanism: Any, count: int, tally: Tally) -> None:
    """The same in units of a 32-bit sum: rounded to 24 bits in every table and product."""
    tables, epsilon = (
        weight_tables(mechanism._law(mechanism.grid), count),
        exactly(mechanism.epsilon),
    )
    roundings = 2 * len(tables) // layout.LEVEL_BASE - 1
    room = roundings * Decimal(2) ** -24 + Decimal(2) ** -28
    weights = narrow_weights(tables)
    for level in (*range(min(2000, len(weights))), *range(2000, len(weights), 61)):
        weight = weights[level]
        right = layout.MOST_WEIGHT // count * (-epsilon * level).exp()
        close = abs(exactly(weight) - right) <= room * right + Decimal(2) ** -99
        tally.expect(close, f"level {level} of {count} weighs {weight}, not {right:.20}")


def narrow_weights(tables: Array) -> list[float]:
    """The weights of all levels that have no more digits than there are tables; none without."""
    weights: Array = np.ones(min(1, len(tables)), np.float32)
    for table in tables.reshape(-1, layout.LEVEL_BASE):
        weights = np.outer(table, weights).ravel()
    return [*map(float, weights)]


def weighed_levels(epsilon: float) -> list[int]:
    """The first ones, random ones, those where weights are no longer floats, and the last."""
    chance, end = Random(0), int(708.0 / epsilon)
    some = [chance.randrange(end + 1) for _ in range(POINTS)]
    return sorted({*range(100), *some, *range(max(0, end - 9), end + 9), 2 * end, 1 << 52})


def kernel_weights(mechanism: Any, levels: list[int]) -> list[float]:
    from fastnoise_kernels.choice import weights

    drawn = np.empty(len(levels))
    weights(len(levels), np.array(levels, np.float64), mechanism._law(mechanism.grid).sizes, drawn)
    return drawn.tolist()
