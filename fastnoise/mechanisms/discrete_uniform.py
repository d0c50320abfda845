"""Flat noise on the integers, for (0, delta)-DP (Geng 2013, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.ideal.discrete_uniform import IdealDiscreteUniform
from fastnoise.ideal.truncated_discrete_laplace import given_delta
from fastnoise.laws.grids import MOST_BITS, SCALE_BITS
from fastnoise.laws.line.law import LineLaw, UniformLaw, integer_law
from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.validation import refusal, whole


@dataclass(frozen=True, init=False)
class DiscreteUniform(IdealDiscreteUniform, IntegerMechanism):
    """Flat noise: total variation at most delta between neighbours, whatever they are.

    P(X = i) is delta / sensitivity on the integers around 0 and what is left over on the next one
    at either end, in halves, so that the mean is 0. (0, delta)-DP when the array changes by at most
    `sensitivity` in l1, with delta met exactly (below it for delta > sensitivity / (sensitivity+1)
    only). Optimal for every cost at sensitivity 1, and for |x| where 1 / (2 delta) is an integer.

    delta: strictly between 0 and 1, at least sensitivity / 2**52; a Fraction, or a float, which
        means its shortest decimal.

    >>> import fastnoise as fn
    >>> mechanism = fn.DiscreteUniform(delta=0.1, sensitivity=3)
    >>> mechanism, mechanism.support(), mechanism.moment(1)
    (DiscreteUniform(delta=0.1, sensitivity=3), (-15, 15), 7.5)
    """

    _adjacency = "l1"
    epsilon = 0.0

    delta: float | Fraction
    sensitivity: int

    def __init__(self, delta: float | Fraction, sensitivity: int = 1) -> None:
        delta = given_delta(delta)
        vars(self).update(delta=delta, sensitivity=_sensitivity(delta, sensitivity))

    def _law(self, grid: float | None) -> LineLaw:
        return integer_law(UniformLaw, weights=self.exact_weights(), steps=self.sensitivity)


def _sensitivity(delta: float | Fraction, sensitivity: Any) -> int:
    steps = whole("sensitivity", sensitivity, 1, 1 << (MOST_BITS + 1))
    if steps > exact_delta(delta) * (1 << (SCALE_BITS + 1)):
        allowed = f"at most 2**{SCALE_BITS + 1} times delta, which is {delta!r}"
        raise ValueError(refusal("sensitivity", sensitivity, allowed))
    return steps
