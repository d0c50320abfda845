"""The flat law on the integers: what `DiscreteUniform` draws.

docs/mathematics.md#uniform-noise. With N = sensitivity / delta, P(X = i) is 1/N on the largest odd
number of integers around 0 that N allows, |i| <= j = floor((N-1) / 2), and what is left,
(1 - (2j+1)/N) / 2, lies on each of the edges +-(j+1). It is the truncated discrete Laplace law at
epsilon = 0. For an odd N there are no edges; for an even N they have half the height, which is
Geng's -N/2 .. N/2 - 1 made symmetric: mean 0, the same moments of |X|, the same delta.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.design.gamma import moment_power
from fastnoise.design.real_radius import flat_real_moment
from fastnoise.ideal.capped_law import CappedLaw, Shape
from fastnoise.ideal.truncated_discrete_laplace import flat_power_sums


class FlatWeights(NamedTuple):
    """The whole law, exactly: `height` at |i| <= core, `edge` (perhaps 0) at +-(core + 1)."""

    core: int
    height: Fraction
    edge: Fraction


class IdealDiscreteUniform(CappedLaw):
    """The law (delta, sensitivity).

    >>> import fastnoise as fn
    >>> law = fn.DiscreteUniform(delta=0.25)
    >>> law.pmf([-3, -2, -1, 0, 1, 2]).tolist()
    [0.0, 0.125, 0.25, 0.25, 0.25, 0.125]
    """

    delta: float | Fraction
    sensitivity: int

    @property
    def _shape(self) -> Shape:
        return _shape(exact_delta(self.delta), self.sensitivity)

    def moment(self, m: float) -> float:
        """E|X|^m, correctly rounded: integers m up to 200, other m up to 100. inf on overflow."""
        power = moment_power(m)
        if power == 0:
            return 1.0
        core, height, edge = self.exact_weights()
        if not isinstance(power, int):
            return flat_real_moment(height, core + 1, edge, power)
        total = 2 * (height * flat_power_sums(core + 1, power)[power] + edge * (core + 1) ** power)
        try:
            return float(total)
        except OverflowError:
            return math.inf

    def exact_weights(self) -> FlatWeights:
        """The whole law in rational numbers."""
        return flat_weights(exact_delta(self.delta), self.sensitivity)


def flat_weights(delta: Fraction, sensitivity: int) -> FlatWeights:
    """The law of sensitivity / delta >= 1.

    >>> flat_weights(Fraction(7, 100), 1)
    FlatWeights(core=6, height=Fraction(7, 100), edge=Fraction(9, 200))
    """
    height = delta / sensitivity
    core = (1 / height - 1) // 2
    return FlatWeights(core, height, (1 - (2 * core + 1) * height) / 2)


@lru_cache(maxsize=256)
def _shape(delta: Fraction, sensitivity: int) -> Shape:
    core, height, edge = flat_weights(delta, sensitivity)
    log_cut = math.log(edge / height) if edge else -math.inf
    return Shape(0.0, float(height), core, float(edge), log_cut)
