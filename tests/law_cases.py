"""Laws of one number for the questions that all of them share: what is registered, and beyond."""

import itertools
from dataclasses import dataclass, fields
from fractions import Fraction

import fastnoise as fn
from fastnoise.design.gamma import optimal_gamma
from fastnoise.design.radius import optimal_radius
from fastnoise.ideal.discrete_staircase import IdealDiscreteStaircase
from fastnoise.registry import REGISTRY

TINY, HUGE = 5e-324, 1.7e308
SCALARS = [entry for entry in REGISTRY.values() if entry.takes in ("floats", "integers")]
REGISTERED = [law for entry in SCALARS for law in entry.build()]

# Of each, one that callable costs are summed over quickly, and more.
SMALL = [
    *(entry.build()[0] for entry in SCALARS),
    fn.Staircase(1.0, gamma=0.3),
    fn.Staircase(1.0, 2.0, gamma=0.3),
    fn.Laplace(1.0, 2.0),
    fn.DiscreteStaircase(1.0, 4, r=2),
    fn.DiscreteStaircase(1.0, 3, r=2),
    *(fn.DiscreteLaplace(1.0, sensitivity) for sensitivity in (2, 4, 5)),
    fn.DiscreteUniform(0.1, 2),
    fn.DiscreteUniform(0.1, 3),
    *(fn.TruncatedDiscreteLaplace(1.0, 0.01, sensitivity) for sensitivity in (2, 4)),
]
RATIONAL = [
    fn.DiscreteUniform(Fraction(1, 3), 5),
    fn.TruncatedDiscreteLaplace(1.0, Fraction(1, 3), 2),
]

# What looks for the best parameter, by a cost.
SEARCHES = {
    "gamma": lambda cost: optimal_gamma(1.0, 1.0, cost),
    "gamma of a vector": lambda cost: fn.L1Staircase(1.0, 2, cost=cost),
    "gamma of a staircase": lambda cost: fn.Staircase(1.0, cost=cost),
    "r": lambda cost: optimal_radius(1.0, 1, cost),
    "r of 5": lambda cost: optimal_radius(1.0, 5, cost),
    "r of a staircase": lambda cost: fn.DiscreteStaircase(1.0, 5, cost=cost),
}


@dataclass(frozen=True)
class AnyDiscreteStaircase(IdealDiscreteStaircase):
    """The law alone, which goes further than what can be released."""

    epsilon: float
    sensitivity: int
    r: int


def on_integers(law) -> bool:
    return hasattr(law, "pmf")


def law_name(law) -> str:
    """All of its parameters."""
    values = [repr(getattr(law, field.name)) for field in fields(law)]
    return "-".join([type(law).__name__, *values])


def line_extremes():
    moderate = [
        *itertools.product([1e-8, 1.0, 100.0], [TINY, 1e-200, 1.0, 1e200, HUGE]),
        *itertools.product([1e-300, 1000.0, 1e4], [1.0]),
    ]
    yield from (fn.Laplace(*of) for of in moderate)
    for of, gamma in itertools.product(moderate, (0.0, None, 0.3, 0.5, 1.0)):
        if of[1] not in (TINY, HUGE):
            yield fn.Staircase(*of, gamma=gamma)
    epsilons = (TINY, 1e-310, 1e-300, 1e-10, 1.0, 300.0, 745.0, 1500.0, 2e65, 1e200, HUGE)
    for of in itertools.product(epsilons, (TINY, 1e-310, 1e-270, 1.0, 1e200, HUGE)):
        yield fn.Laplace(*of)
        yield from (fn.Staircase(*of, gamma=gamma) for gamma in (None, 0.0, TINY, 0.5))


def integer_extremes():
    for epsilon, width in itertools.product([1e-8, 1.0, 100.0, 1e4], [1, 7, 2**40, 2**60]):
        for r in sorted({1, (width + 1) // 2, width}):
            yield AnyDiscreteStaircase(epsilon, width, r)
    wide = [(1e-3, 2**40), (1.0, 2**40), (100.0, 2**40), (1.0, 2**52), (100.0, 2**57 + 3)]
    more = [(1e-8, 2**25), (1.0, 1), (1.0, 7), (1e4, 1), (1e4, 7), (1e4, 2**57)]
    yield from (fn.DiscreteLaplace(*of) for of in [*wide, *more])
    flat = [(1e-15, 1), (1e-12, 4000), (0.3, 2**50), (Fraction(1, 3), 2**50), (0.25, 3), (0.9, 2)]
    yield from (fn.DiscreteUniform(*of) for of in [*flat, (Fraction(1, 2**52), 1), (0.1, 1)])
    cut = [(1.0, 1e-6, 4), (1e-8, 1e-12, 1), (100.0, 1e-300, 2**40), (1e4, 0.1, 1), (1e10, 1e-9, 5)]
    yield from (fn.TruncatedDiscreteLaplace(*of) for of in cut)
    epsilons = (1e-10, 1.0, 745.0, 1500.0, 2e65, 1e200, HUGE)
    for epsilon, width in itertools.product(epsilons, (1, 3, 20863)):
        yield fn.DiscreteStaircase(epsilon, width)
        yield fn.DiscreteLaplace(epsilon, width)
        for delta in (1e-300, 0.3, 0.4976):
            yield fn.TruncatedDiscreteLaplace(epsilon, delta, width)


REGISTERED_EXTREMES = [law for entry in SCALARS for law in entry.build_extremes()]


def once(laws):
    """Of those that are equal, one."""
    return list({law_name(law): law for law in laws}.values())


SMALL = once(SMALL)
EVERY_LAW = once([*REGISTERED, *SMALL, *RATIONAL])
EXTREME = once([*REGISTERED_EXTREMES, *line_extremes(), *integer_extremes()])
