"""fastnoise: the noise of differential privacy, exact and at memory speed.

>>> import fastnoise as fn
>>> mechanism = fn.Staircase(epsilon=1.0, sensitivity=1.0)
>>> noisy = mechanism.perturb([1.0, 2.0, 3.0])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fastnoise_kernels import forks as _forks  # noqa: F401  # a hook that must precede any fork

from fastnoise.float_mode import refuse_odd_floats as _refuse_odd_floats
from fastnoise.registry import REGISTRY as _REGISTRY
from fastnoise.version import VERSION as __version__

if TYPE_CHECKING:
    from fastnoise.certificate import Certificate as Certificate
    from fastnoise.dispatch import TextbookNoiseWarning as TextbookNoiseWarning
    from fastnoise.etl.plan import Plan as Plan
    from fastnoise.mechanisms.box_staircase import BoxStaircase as BoxStaircase
    from fastnoise.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from fastnoise.mechanisms.discrete_staircase import DiscreteStaircase as DiscreteStaircase
    from fastnoise.mechanisms.discrete_staircase import Geometric as Geometric
    from fastnoise.mechanisms.discrete_uniform import DiscreteUniform as DiscreteUniform
    from fastnoise.mechanisms.l1_staircase import L1Staircase as L1Staircase
    from fastnoise.mechanisms.l2_laplace import L2Laplace as L2Laplace
    from fastnoise.mechanisms.l2_laplace import MultiUserLaplace as MultiUserLaplace
    from fastnoise.mechanisms.laplace import Laplace as Laplace
    from fastnoise.mechanisms.mechanism import Privacy as Privacy
    from fastnoise.mechanisms.staircase import Staircase as Staircase
    from fastnoise.mechanisms.staircase_choice import StaircaseChoice as StaircaseChoice
    from fastnoise.mechanisms.truncated_discrete_laplace import (
        TruncatedDiscreteLaplace as TruncatedDiscreteLaplace,
    )
    from fastnoise.optimum.approximate import approximate as approximate
    from fastnoise.optimum.bounds import cost_bounds as cost_bounds
    from fastnoise.stream import InsecureStreamWarning as InsecureStreamWarning
    from fastnoise.stream import Stream as Stream
    from fastnoise.threads import set_threads as set_threads

# Where each public name lives; it is imported when it is first used, and numpy with it.
_HOMES = {entry.name: entry.home for entry in _REGISTRY.values()} | {
    "Certificate": "fastnoise.certificate",
    "InsecureStreamWarning": "fastnoise.stream",
    "Plan": "fastnoise.etl.plan",
    "Privacy": "fastnoise.mechanisms.mechanism",
    "Stream": "fastnoise.stream",
    "TextbookNoiseWarning": "fastnoise.dispatch",
    "approximate": "fastnoise.optimum.approximate",
    "cost_bounds": "fastnoise.optimum.bounds",
    "set_threads": "fastnoise.threads",
}

__all__ = [*_HOMES, "__version__"]


if not TYPE_CHECKING:  # checkers would take any name for a public one

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'fastnoise' has no attribute {name!r}")
        _refuse_odd_floats()  # a module keeps the constants that it was imported with
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
