"""The Laplace law on the integers with its tails cut off, for (epsilon, delta)-DP."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.ideal.truncated_discrete_laplace import IdealTruncatedDiscreteLaplace, given_delta
from fastnoise.laws.grids import integer_sensitivity
from fastnoise.laws.line.law import LineLaw, TruncatedLaplaceLaw, integer_law
from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.validation import epsilon_below


@dataclass(frozen=True, init=False)
class TruncatedDiscreteLaplace(IdealTruncatedDiscreteLaplace, IntegerMechanism):
    """P(X = i) proportional to e**(-epsilon |i| / sensitivity) up to an end that delta pays for.

    Beyond the end nothing; at the end what is left over, in halves. (epsilon, delta)-DP when the
    array changes by at most `sensitivity` in l1, with delta met exactly (below it for delta > 1/2
    only). At sensitivity 1 no (epsilon, delta)-DP noise costs less, whatever the cost; at epsilon
    -> 0 it becomes `DiscreteUniform`, at delta -> 0 `DiscreteLaplace`.

    delta: strictly between 0 and 1; a Fraction, or a float, which means its shortest decimal.

    >>> import fastnoise as fn
    >>> mechanism = fn.TruncatedDiscreteLaplace(epsilon=1.0, delta=1e-6, sensitivity=4)
    >>> mechanism, mechanism.support()
    (TruncatedDiscreteLaplace(epsilon=1.0, delta=1e-06, sensitivity=4), (-55, 55))
    >>> round(mechanism.moment(1), 6)  # DiscreteLaplace: 3.958778
    3.958572
    """

    _adjacency = "l1"

    epsilon: float
    delta: float | Fraction
    sensitivity: int

    def __init__(self, epsilon: float, delta: float | Fraction, sensitivity: int = 1) -> None:
        epsilon = epsilon_below(epsilon)
        vars(self).update(
            epsilon=epsilon,
            delta=given_delta(delta),
            sensitivity=integer_sensitivity(epsilon, sensitivity),
        )

    def _law(self, grid: float | None) -> LineLaw:
        return integer_law(
            TruncatedLaplaceLaw,
            epsilon=self.epsilon,
            delta=exact_delta(self.delta),
            steps=self.sensitivity,
        )
