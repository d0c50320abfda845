"""Every mechanism, in the shapes that the code tells apart, for tests that range over all."""

import fastnoise as fn
from fastnoise.registry import REGISTRY

DIMS = (1, 2, 3, 4, 5, 16, 64)
MORE = [
    *(fn.L2Laplace(epsilon=0.5, dim=dim, sensitivity=3.0) for dim in DIMS),
    *(fn.L1Staircase(epsilon=2.0, dim=dim, sensitivity=0.7) for dim in DIMS),
    *(fn.BoxStaircase(epsilon=1.0, widths=[2.0 ** (i % 5) for i in range(d)]) for d in DIMS),
]


def shapes(takes):
    """Of every mechanism that takes these: more dimensions, and the examples of the registry."""
    for entry in REGISTRY.values():
        if entry.takes == takes:
            more = [mechanism for mechanism in MORE if type(mechanism) is entry.cls]
            yield from dict.fromkeys([*more, *entry.build()])


FLOATS, INTEGERS = list(shapes("floats")), list(shapes("integers"))
VECTORS, CHOICES = list(shapes("vectors")), list(shapes("costs"))
SCALARS = [*FLOATS, *INTEGERS]
DRAWN = [*SCALARS, *VECTORS]
EVERY = [*DRAWN, *CHOICES]


def name(mechanism) -> str:
    """Short enough for the name of a test, and no two of them are the same."""
    return NAMES.get(mechanism) or short_name(mechanism)


def short_name(mechanism) -> str:
    fields = ("epsilon", "delta", "dim", "sensitivity")
    values = [str(getattr(mechanism, field, "") or "") for field in fields]
    return "-".join([type(mechanism).__name__, *filter(None, values)])


NAMES = {}
for mechanism in EVERY:
    plain = short_name(mechanism)
    taken = [found for found in NAMES.values() if found.startswith(plain)]
    NAMES[mechanism] = f"{plain}-{len(taken) + 1}" if plain in taken else plain
