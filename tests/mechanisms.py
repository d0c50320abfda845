"""Every mechanism, in the shapes that the code tells apart, for tests that range over all."""

import fastnoise as fn

# One law of short rows, one of long ones with 64-bit places, one with two digits of levels.
STAIRCASES = [
    fn.Staircase(epsilon=1.0),
    fn.Staircase(epsilon=0.005, sensitivity=0.3),
    fn.Staircase(epsilon=20.0, sensitivity=1000.0),
    fn.Staircase(epsilon=1e-3, sensitivity=2.0, cost="l2"),
]
FLOATS = [
    *STAIRCASES,
    fn.Laplace(epsilon=1.0),
    fn.Laplace(epsilon=1e-3, sensitivity=0.3),
    fn.Laplace(epsilon=20.0, sensitivity=1000.0),
]
INTEGERS = [
    fn.Geometric(epsilon=1.0),
    fn.DiscreteStaircase(epsilon=0.5, sensitivity=10),
    fn.DiscreteStaircase(epsilon=1e-3, sensitivity=1000, r=1000),
    fn.DiscreteLaplace(epsilon=1.0, sensitivity=1),
    fn.DiscreteLaplace(epsilon=0.3, sensitivity=7),
    fn.DiscreteLaplace(epsilon=1e-3, sensitivity=1000),
    fn.DiscreteUniform(delta=0.01, sensitivity=3),
    fn.DiscreteUniform(delta=0.07, sensitivity=1),
    fn.TruncatedDiscreteLaplace(epsilon=0.5, delta=1e-4, sensitivity=3),
    fn.TruncatedDiscreteLaplace(epsilon=2.0, delta=1e-6, sensitivity=1),
]
DIMS = [1, 2, 3, 4, 5, 16, 64]
VECTORS = [
    *(fn.L2Laplace(epsilon=0.5, dim=dim, sensitivity=3.0) for dim in DIMS),
    *(fn.MultiUserLaplace(epsilon=2.0, dim=dim) for dim in (1, 2, 5)),
    *(fn.L1Staircase(epsilon=2.0, dim=dim, sensitivity=0.7) for dim in DIMS),
    fn.L1Staircase(epsilon=0.01, dim=3, gamma=0.25),
    *(fn.BoxStaircase(epsilon=1.0, widths=[2.0 ** (i % 5) for i in range(d)]) for d in DIMS),
    fn.BoxStaircase(epsilon=0.01, widths=(1.0, 10.0), core=(0.1, 1.0)),
]
SCALARS = [*FLOATS, *INTEGERS]
DRAWN = [*SCALARS, *VECTORS]
CHOICES = [fn.StaircaseChoice(epsilon=0.5), fn.StaircaseChoice(2.0, 3.0, gamma=0.25)]
EVERY = [*DRAWN, *CHOICES]


def name(mechanism) -> str:
    """Short enough for the name of a test, and no two are the same."""
    fields = ("epsilon", "delta", "dim", "sensitivity")
    values = [str(getattr(mechanism, field, "") or "") for field in fields]
    return "-".join([type(mechanism).__name__, *filter(None, values)])


assert len({name(mechanism) for mechanism in EVERY}) == len(EVERY)
