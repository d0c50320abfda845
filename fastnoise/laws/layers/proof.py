"""What the tables of a law of layers prove: its epsilon at any depth, and how near the ideal it is.

A vector is uniform on the set of a layer k, so that P(point) is the sum of P(k) / points(k) over
the layers that hold it, and a change that the law is made for leads to the next layer at most. If
P(k + 1) / points(k + 1) is never less than e**-epsilon times P(k) / points(k), neither are the
sums from k + 1 and from k on, and the law is epsilon-DP (docs/mathematics.md#layers).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil, comb, inf

from fastnoise.arithmetic.bounds import (
    CERTAIN,
    ONE,
    Bounds,
    Weights,
    log_bounds,
    quotient,
    rest,
)
from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.arithmetic.floats import float_above
from fastnoise.laws.alias import LARGEST_EPSILON
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.layers.tables import differences, digit_sums, eulerian

DIGITS = 120  # of logarithms: sums of them are right to 10**-100; tables have room for 10**-34
SPARE_BITS = 320  # of ideal weights, beyond those that their range takes
LOG2_E = 1.4426950408889634


class LayerProof:
    """The tables of a law whose layers have points[0], points[1], .. points.

    points: as many as it takes to tell all others, which are a polynomial of degree `dim`.
    """

    def __init__(self, law: DrawnLayers, points: Sequence[int]) -> None:
        self.law, self.points, self.dim = law, points, len(points) - 1
        self.counts: list[list[int]] = []  # in how many ways each entry of a coin comes about
        if len(law.coins) > 1:
            bases = [b // a for a, b in zip(law.times[1:], law.times[2:], strict=False)]
            self.counts = [eulerian(points), *(digit_sums(base, self.dim + 1) for base in bases)]
            points = [comb(k + self.dim, self.dim) for k in range(self.dim + 1)]
        listed, self.beyond = extended(points, law.last)
        self.counts.append(listed)

    @cached_property
    def is_sound(self) -> bool:
        """Whether nothing but these entries is drawn, and each of them but the very first is."""
        *lower, top = self.counts
        counts = [*lower, [*top, 1], self.beyond, [1] * (self.law.digits + 1)]
        tables = [*self.law.coins, self.law.tail, self.law.digit]
        pairs = [list(zip(*table, strict=False)) for table in zip(tables, counts, strict=True)]
        whole = all(sum(weight for weight, _ in table) == self.law.whole for table in pairs)
        entries = [pair for table in pairs for pair in table]
        return whole and all((weight > 0) == (count > 0) for weight, count in entries[1:])

    # --- epsilon ----------------------------------------------------------------------------------

    def epsilon(self) -> float:
        """At least the epsilon of the law, at any depth; inf if the tables do not bound it.

        Digits restart with one probability, so they fall like the powers of some y, up to a factor
        that has a period. Take the ideal law that falls by that y, and let every entry of every
        table be between `low` and `high` times what it is there. Then so is every layer, with the
        products of the lows and of the highs of all tables. In the ideal, P(k) / points(k)
        falls by y per layer, hence by no more than y low / high as drawn.
        """
        if not self.is_sound:
            return inf
        logs = [self._within(coin) for coin in range(len(self.law.coins))]
        return float_above(self._fall(0)[1] + sum(high - low for low, high in logs))

    @cached_property
    def _log_restart(self) -> Bounds:
        return log_bounds((self.law.whole, self.law.digit[self.law.digits]), DIGITS)

    def _fall(self, coin: int) -> Bounds:
        """Minus the logarithm of y, for the times that an entry of that coin counts."""
        share = Fraction(self.law.times[coin], self.law.times[-1] * self.law.digits)
        return self._log_restart[0] * share, self._log_restart[1] * share

    def _ideal(self, coin: int, counts: list[int]) -> Weights:
        low, high = self._fall(coin)
        ratio = exp_bounds(high, DIGITS)[0], exp_bounds(low, DIGITS)[1]
        return Weights.falling(ONE, ratio, len(counts), _bits(high, len(counts))).times(counts)

    def _within(self, coin: int) -> Bounds:
        """Logarithms of the least and the most that entries are beside those of the ideal.

        The very first of all may be too light. That makes no layer too heavy; layers after the
        first are lighter for it by the share that it has in them, which is largest in the second.
        """
        ideal = self._ideal(coin, self.counts[coin])
        least, most = ideal.extent(self.law.coins[coin], skipped=coin == 0)
        low, high = log_bounds(least, DIGITS)[0], log_bounds(most, DIGITS)[1]
        if coin == len(self.law.coins) - 1:
            lows, highs = zip(*self._beyond_within(), strict=True)
            return min(low, *lows), max(high, *highs)
        if coin == 0:
            first = Fraction(self.law.coins[0][0] << ideal.bits, ideal.highs[0]) / Fraction(*least)
            share = Fraction((self.dim + 1) * self.points[0], self.points[1])
            kept = 1 - share * max(Fraction(0), 1 - first)
            low += log_bounds(kept.as_integer_ratio(), DIGITS)[0]
        return low, high

    def _beyond_within(self) -> list[Bounds]:
        """The same for each of the parts that all beyond the last table is a mixture of.

        Part m is m + (m + 1 digits). Digits that are c y**i, up to a factor, make their sum
        c**(m + 1) y**i C(i + m, m), up to m + 1 such; points(last + i) is the sum of all
        beyond[m] C(i, m).
        """
        law, (slow, fast) = self.law, self._fall(-1)
        digits = self._ideal(-1, [1] * law.digits).extent(law.digit)
        low, high = (log_bounds((a, b * law.whole), DIGITS) for a, b in digits)
        parts = []
        for m, (weight, count) in enumerate(zip(law.tail, self.beyond, strict=False)):
            if count:
                share = law.coins[-1][law.last] * weight, law.whole * count
                least, most = log_bounds(share, DIGITS)
                depth = law.last + m
                least += depth * slow + (m + 1) * low[0]
                parts.append((least, most + depth * fast + (m + 1) * high[1]))
        return parts

    # --- total variation --------------------------------------------------------------------------

    def distance(self, epsilon: float) -> Fraction:
        """At least the total variation from the ideal law, table by table as in `proof.line`."""
        if not self.is_sound:
            return CERTAIN
        lower = [
            self._fallen(epsilon, coin, counts).distance(self.law.coins[coin][: len(counts)])
            for coin, counts in enumerate(self.counts[:-1])
        ]
        return min(CERTAIN, sum(lower, self._top_distance(epsilon)))

    def _top_distance(self, epsilon: float) -> Fraction:
        """The last coin and what follows it: the parts, at most dim + 1 digits, restarts."""
        law, exponent = self.law, Fraction(epsilon) * self.law.times[-1]
        bits = _bits(exponent, law.last + max(self.dim, law.digits) + 1)  # down to the last of all
        ratio, start = exp_bounds(exponent, DIGITS), exp_bounds(exponent * law.last, DIGITS)
        first, odds = quotient(start, rest(ratio)), quotient(ratio, rest(ratio))
        beyond = Weights.falling(first, odds, self.dim + 1, bits).times(self.beyond)
        coin = Weights.falling(ONE, ratio, law.last, bits).times(self.counts[-1])
        coin += Weights(bits, [sum(beyond.lows)], [sum(beyond.highs)])
        parts = Weights.falling(ONE, odds, self.dim + 1, bits).times(self.beyond)
        digits = Weights.geometric(ONE, ratio, law.digits, bits)
        digit = digits.distance(law.digit[: law.digits + 1])
        digit /= 1 - Fraction(law.digit[law.digits], law.whole)
        more = parts.distance(law.tail[: self.dim + 1]) + (self.dim + 1) * digit
        listed = coin.distance(law.coins[-1][: law.last + 1])
        return listed + more * Fraction(law.coins[-1][law.last], law.whole)

    def _fallen(self, epsilon: float, coin: int, counts: list[int]) -> Weights:
        exponent = Fraction(epsilon) * self.law.times[coin]
        bits = _bits(exponent, len(counts))
        ratio = exp_bounds(exponent, DIGITS)
        return Weights.falling(ONE, ratio, len(counts), bits).times(counts)


def extended(first: Sequence[int], count: int) -> tuple[list[int], list[int]]:
    """`count` values of the polynomial that has these first ones; then its differences there."""
    column, following = [0] * (count + 1), []
    for difference in reversed(differences(first)):
        column = list(accumulate(column[:-1], initial=difference))
        following.append(column[-1])
    return column[:-1], following[::-1]


def _bits(exponent: Fraction, count: int) -> int:
    return ceil(min(exponent, Fraction(LARGEST_EPSILON)) * count * Fraction(LOG2_E)) + SPARE_BITS
