"""What the tables of a law on the integers prove: epsilon, delta, and how near the ideal it is.

Total variations are bounded table by table. The ideal law can be drawn with the same steps from
ideal tables; drawn side by side, the two part at a table with a probability of its own total
variation, so a law is no further from the ideal than all of them, each times how often it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import inf

from fastnoise.arithmetic.bounds import (
    CERTAIN,
    ONE,
    Bounds,
    Ratio,
    Weights,
    largest,
    log_above,
    product,
    quotient,
    rest,
)
from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.laws.alias import LARGEST_EPSILON
from fastnoise.laws.line.drawn import DrawnLaw

DIGITS_A_BIT = 0.30103
SPARE_BITS = 160  # of ideal weights beyond those of the tables: sums and widths take some of them


# --- epsilon --------------------------------------------------------------------------------------


def staircase_epsilon(law: DrawnLaw, shift: int) -> float:
    """The epsilon of a law of levels, for one element that moves by at most `shift` steps.

    Flat levels are `steps` wide, so that a move by that many changes the level by 1 at most: the
    ratio of two probabilities is at most the largest between adjacent levels.
    """
    return endless_epsilon(law, shift if law.slopes.slopes else -(-shift // law.steps))


def endless_epsilon(law: DrawnLaw, moves: int) -> float:
    """The epsilon of a law without end, for `moves` moves from a level or an integer to the next.

    A change in l1 is a walk of single steps, whatever elements they are in, and each step costs at
    most the largest ratio between adjacent integers.

    Levels go on for ever but their ratios do not: those of the head are listed, and beyond it
    digits restart with one and the same probability, so that the ratios of one round are those of
    all. Finitely many ratios, all exact, therefore hold at any depth; and each occurs.
    """
    if not law.is_sound():
        return inf
    return log_above(largest(_steps(law, _endless_levels(law))), moves)


def truncated_guarantee(law: DrawnLaw, epsilon: float, shift: int) -> tuple[float, Fraction]:
    """epsilon and delta of a law with two ends whose input moves by at most `shift` steps in l1.

    One step is (ln g, d)-DP, where g is e**(epsilon / shift), or a larger ratio between adjacent
    integers if there is one, and d what the ends add: the excess of each probability over g times
    its neighbour's, which before the ends is nothing. Steps add up to (epsilon, d (e**epsilon - 1)
    / (g - 1)), as groups do (docs/mathematics.md#privacy), whatever elements they are in.
    """
    if not _has_ends(law):
        return inf, CERTAIN
    epsilon = min(epsilon, LARGEST_EPSILON)
    ratio = largest(_steps(law, _truncated_levels(law)) if law.end > 1 else [])
    growth = 1 / exp_bounds(Fraction(epsilon) / shift)[1]
    if ratio[0] > growth * ratio[1]:
        epsilon = log_above(ratio, shift)
        if epsilon == inf:
            return inf, CERTAIN
        growth = Fraction(*ratio)
    end, last = law.point(law.end), law.point(law.end - 1)
    excess = end + max(Fraction(0), last - growth * end, end - growth * last)
    return epsilon, min(CERTAIN, excess * (1 / exp_bounds(epsilon)[0] - 1) / (growth - 1))


def uniform_delta(law: DrawnLaw, shift: int) -> Fraction:
    """delta, for epsilon 0, of a flat law whose input moves by at most `shift` steps in l1.

    The total variation of one step, which is the largest probability if the ends are no higher
    than the rest; steps add up.
    """
    if not _has_ends(law):
        return CERTAIN
    core, end = law.point(0), law.point(law.radius)
    return min(CERTAIN, shift * (end + abs(core - end)))


def _has_ends(law: DrawnLaw) -> bool:
    """Whether nothing follows the levels that are listed but a shorter one and the ends."""
    return law.is_sound() and (law.last == 0 or law.last_places > 0)


def _steps(law: DrawnLaw, levels: Iterator[Ratio]) -> Iterator[Ratio]:
    """All ratios between adjacent integers, or between adjacent flat levels; both ways.

    levels: the ratios of each level to the next, from level 1 on.
    """
    pairs = list(levels)
    tilt, places = law.tilt.as_integer_ratio(), law.full_mass.as_integer_ratio()
    top = law.head[0] * 2 * places[0] * law.whole
    first = law.head[1] * places[1] * (2 * law.radius - 1)
    first *= law.digit[0] if law.laps else law.whole
    falls, rises = largest(pairs), largest((b, a) for a, b in pairs)
    yield from _both_ways(top, first)
    yield falls[0] * tilt[0], falls[1] * tilt[1]
    yield rises[0] * tilt[1], rises[1] * tilt[0]
    below = Fraction(1)
    for slope in law.slopes.slopes:  # from place 0 1 .. 1 to place 1 0 .. 0
        yield from _both_ways(*_integers(below, slope))
        below *= slope


def _both_ways(above: int, below: int) -> Iterator[Ratio]:
    yield above, below
    yield below, above


def _endless_levels(law: DrawnLaw) -> Iterator[Ratio]:
    """The ratio of each level to the next, from level 1 on, until they repeat."""
    levels, digits = law.head[1 : law.levels + 1], law.digit[: law.digits]
    again = digits[-1] * law.whole, law.digit[law.digits] * digits[0]  # a restart
    yield from pairwise(levels)
    if law.laps:
        laps = [*pairwise(digits), again]
        yield from ((levels[-1] * here, levels[0] * following) for here, following in laps)
    else:
        yield levels[-1] * law.whole, law.last * digits[0]
        yield from pairwise(digits)
        yield again


def _truncated_levels(law: DrawnLaw) -> Iterator[Ratio]:
    """The ratio of each level to the next before the ends; the last one is shorter."""
    levels = law.head[1 : law.levels + 1]
    yield from pairwise(levels if law.ends else levels[:-1])
    if law.last_places:
        yield _integers(levels[-1] * law.last_mass, law.last * law.full_mass)


def _integers(above: Fraction, below: Fraction) -> Ratio:
    return above.numerator * below.denominator, below.numerator * above.denominator


# --- total variation ------------------------------------------------------------------------------


def staircase_distance(law: DrawnLaw, epsilon: float, steps: int, radius: int) -> Fraction:
    """At least the total variation from the integer staircase.

    See docs/mathematics.md#discrete-staircase.
    """
    if (law.steps, law.radius, law.slopes.slopes) != (steps, radius, []):
        return CERTAIN
    ratio = exp_bounds(epsilon, _digits(law))
    return _endless_distance(law, Fraction(epsilon), (2 * steps * ratio[0], 2 * steps * ratio[1]))


def laplace_distance(law: DrawnLaw, fall: Fraction) -> Fraction:
    """At least the total variation from the law that falls by e**-fall per step."""
    if law.radius != 1 or (law.steps > 1 and not law.slopes.slopes):
        return CERTAIN
    first = _level_beside_top(law, fall)
    return min(CERTAIN, _endless_distance(law, fall * law.steps, first) + _slant(law, fall))


def truncated_distance(
    law: DrawnLaw, epsilon: float, delta: Fraction, steps: int, core: int
) -> Fraction:
    """At least the total variation from the truncated law, which has its ends at core + 1.

    In units of the probability of 0: 1 / p(0) less all that falls is left for the two ends.
    """
    if not _has_ends(law) or law.radius != 1 or law.end != core + 1:
        return CERTAIN
    bits, digits, fall = _bits(law), _digits(law), Fraction(epsilon) / steps
    whole = quotient(ONE, _truncated_top(epsilon, delta, steps, digits))
    sides = _geometric_sum(fall, core, digits)
    ends = max(Fraction(0), whole[0] - 1 - 2 * sides[1]), whole[1] - 1 - 2 * sides[0]
    levels = law.levels if law.ends else law.levels - 1
    ratio = exp_bounds(fall * law.steps, digits)
    ideal = Weights.of(bits, ONE)
    ideal += Weights.falling(_level_beside_top(law, fall), ratio, levels, bits)
    if law.ends:
        outside = exp_bounds(fall * law.steps * levels, digits)
        low, high = product(outside, _geometric_sum(fall, law.last_places, digits))
        ideal += Weights.of(bits, (2 * low, 2 * high))
    ideal += Weights.of(bits, ends)
    return min(CERTAIN, ideal.distance(law.head[: len(ideal.lows)]) + _slant(law, fall))


def _truncated_top(epsilon: float, delta: Fraction, steps: int, digits: int) -> Bounds:
    """p(0) = (1 - b + 2 delta' b) / (1 + b), b = e**(-epsilon / steps), of the truncated law."""
    b, whole_b = exp_bounds(Fraction(epsilon) / steps, digits), exp_bounds(epsilon, digits)
    part = product(whole_b, quotient(rest(b), rest(whole_b)))  # delta' b / delta: b cancels
    more = [2 * delta * share for share in part]
    return quotient((1 - b[1] + more[0], 1 - b[0] + more[1]), (1 + b[0], 1 + b[1]))


def uniform_distance(law: DrawnLaw, core: int, height: Fraction, edge: Fraction) -> Fraction:
    """The total variation from `height` at |i| <= core and `edge` at both sides of it, exactly."""
    if not _has_ends(law):
        return CERTAIN
    total, start = Fraction(0), 0
    for end in sorted({core + 1, core + 2, law.radius, law.radius + 1}):
        ideal = height if start <= core else edge if start == core + 1 else 0
        total += abs(law.point(start) - ideal) * (2 * (end - start) - (start == 0))
        start = end
    return total / 2


def _endless_distance(law: DrawnLaw, exponent: Fraction, first: Bounds) -> Fraction:
    """Total variation of levels, `first` the weight of level 1 if the top has 2 radius - 1."""
    if not law.is_sound():
        return CERTAIN
    bits, digits = _bits(law), _digits(law)
    ratio = exp_bounds(exponent, digits)
    top = Fraction(2 * law.radius - 1)
    ideal = Weights.of(bits, (top, top))
    if law.laps:
        again, asked = exp_bounds(exponent * law.levels, digits), Fraction(1)
        ideal += Weights.falling(quotient(first, rest(again)), ratio, law.levels, bits)
    else:
        again, asked = ratio, Fraction(law.last, law.whole)
        ideal += Weights.geometric(first, ratio, law.levels, bits)
    digit = Weights.geometric(ONE, again, law.digits, bits).distance(law.digit[: law.digits + 1])
    restart = Fraction(law.digit[law.digits], law.whole)
    if restart == 1:
        return CERTAIN
    head = ideal.distance(law.head[: len(ideal.lows)])
    return min(CERTAIN, head + asked * digit / (1 - restart))


def _level_beside_top(law: DrawnLaw, fall: Fraction) -> Bounds:
    """The weight of level 1 of a law that falls by e**-fall per step, if 0 has weight 1."""
    low, high = _geometric_sum(fall, law.steps, _digits(law))
    return 2 * low, 2 * high


def _geometric_sum(fall: Fraction, count: int, digits: int) -> Bounds:
    """b + b**2 + .. + b**count, where b = e**-fall."""
    ratio, last = exp_bounds(fall, digits), exp_bounds(fall * count, digits)
    return product(ratio, quotient(rest(last), rest(ratio)))


def _slant(law: DrawnLaw, fall: Fraction) -> Fraction:
    """At least the total variation of places on a level, from e**(-fall place).

    Where the chances of all places are within a factor 1 + s of those, and of 1 - s, the places of
    a level are within (1 + s) / (1 - s), whatever part of it there is.
    """
    within = Fraction(1)
    for i, slope in enumerate(law.slopes.slopes):
        low, high = exp_bounds(fall * (1 << i), _digits(law))
        if low == 0:  # it underflows, and no table is as steep
            return CERTAIN
        within *= 1 + max(slope / low - 1, 1 - slope / high)
    return 2 * (within - 1) / (2 - within) if within < 2 else CERTAIN


def _bits(law: DrawnLaw) -> int:
    return law.whole.bit_length() + SPARE_BITS


def _digits(law: DrawnLaw) -> int:
    return int(_bits(law) * DIGITS_A_BIT) + 1
