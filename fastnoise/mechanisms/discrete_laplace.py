"""The Laplace mechanism on the integers (Geng 2013, section 2.8, for sensitivity 1)."""

from __future__ import annotations

from dataclasses import dataclass

from fastnoise.ideal.discrete_laplace import IdealDiscreteLaplace
from fastnoise.laws.grids import integer_sensitivity
from fastnoise.laws.line.law import LaplaceLaw, LineLaw, integer_law
from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.validation import epsilon_below


@dataclass(frozen=True, init=False)
class DiscreteLaplace(IdealDiscreteLaplace, IntegerMechanism):
    """Independent integer noise, P(X = i) proportional to e**(-epsilon |i| / sensitivity).

    epsilon-DP when the array changes by at most `sensitivity` in l1, however many elements that is
    spread over. Where one element changes, `DiscreteStaircase` costs less; at sensitivity 1 both
    are `Geometric`.

    >>> import fastnoise as fn
    >>> mechanism = fn.DiscreteLaplace(epsilon=1.0, sensitivity=10)
    >>> mechanism, mechanism.scale
    (DiscreteLaplace(epsilon=1.0, sensitivity=10), 10.0)
    >>> round(mechanism.moment(1), 6)  # DiscreteStaircase: 9.585831
    9.983353
    """

    _adjacency = "l1"
    _lipschitz = True

    epsilon: float
    sensitivity: int

    def __init__(self, epsilon: float, sensitivity: int = 1) -> None:
        epsilon = epsilon_below(epsilon)
        vars(self).update(epsilon=epsilon, sensitivity=integer_sensitivity(epsilon, sensitivity))

    def _law(self, grid: float | None) -> LineLaw:
        return integer_law(LaplaceLaw, epsilon=self.epsilon, steps=self.sensitivity)
