"""fastnoise: the noise of differential privacy, exact and at memory speed.

>>> import fastnoise as fn
>>> mechanism = fn.Staircase(epsilon=1.0, sensitivity=1.0)
>>> noisy = mechanism.perturb([1.0, 2.0, 3.0])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fastnoise_kernels import forks as _forks  # noqa: F401  # a hook that must precede any fork

from fastnoise.float_mode import refuse_odd_floats as _refuse_odd_floats
from fastnoise.version import VERSION as __version__

if TYPE_CHECKING:
    from fastnoise.certificate import Certificate
    from fastnoise.design.approximate import approximate
    from fastnoise.design.bounds import cost_bounds
    from fastnoise.dispatch import TextbookNoiseWarning
    from fastnoise.etl.plan import Plan
    from fastnoise.mechanisms.box_staircase import BoxStaircase
    from fastnoise.mechanisms.discrete_laplace import DiscreteLaplace
    from fastnoise.mechanisms.discrete_staircase import DiscreteStaircase, Geometric
    from fastnoise.mechanisms.discrete_uniform import DiscreteUniform
    from fastnoise.mechanisms.l1_staircase import L1Staircase
    from fastnoise.mechanisms.l2_laplace import L2Laplace, MultiUserLaplace
    from fastnoise.mechanisms.laplace import Laplace
    from fastnoise.mechanisms.mechanism import Privacy
    from fastnoise.mechanisms.staircase import Staircase
    from fastnoise.mechanisms.staircase_choice import StaircaseChoice
    from fastnoise.mechanisms.truncated_discrete_laplace import TruncatedDiscreteLaplace
    from fastnoise.stream import InsecureStreamWarning, Stream

# Where each public name lives; it is imported when it is first used, and numpy with it.
_HOMES = {
    "BoxStaircase": "mechanisms.box_staircase",
    "Certificate": "certificate",
    "DiscreteLaplace": "mechanisms.discrete_laplace",
    "DiscreteStaircase": "mechanisms.discrete_staircase",
    "DiscreteUniform": "mechanisms.discrete_uniform",
    "Geometric": "mechanisms.discrete_staircase",
    "InsecureStreamWarning": "stream",
    "L1Staircase": "mechanisms.l1_staircase",
    "L2Laplace": "mechanisms.l2_laplace",
    "Laplace": "mechanisms.laplace",
    "MultiUserLaplace": "mechanisms.l2_laplace",
    "Plan": "etl.plan",
    "Privacy": "mechanisms.mechanism",
    "Staircase": "mechanisms.staircase",
    "StaircaseChoice": "mechanisms.staircase_choice",
    "Stream": "stream",
    "TextbookNoiseWarning": "dispatch",
    "TruncatedDiscreteLaplace": "mechanisms.truncated_discrete_laplace",
    "approximate": "design.approximate",
    "cost_bounds": "design.bounds",
}

__all__ = [
    "BoxStaircase",
    "Certificate",
    "DiscreteLaplace",
    "DiscreteStaircase",
    "DiscreteUniform",
    "Geometric",
    "InsecureStreamWarning",
    "L1Staircase",
    "L2Laplace",
    "Laplace",
    "MultiUserLaplace",
    "Plan",
    "Privacy",
    "Staircase",
    "StaircaseChoice",
    "Stream",
    "TextbookNoiseWarning",
    "TruncatedDiscreteLaplace",
    "__version__",
    "approximate",
    "cost_bounds",
]


if not TYPE_CHECKING:  # checkers would take any name for a public one

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'fastnoise' has no attribute {name!r}")
        _refuse_odd_floats()  # a module keeps the constants that it was imported with
        value = globals()[name] = getattr(import_module(f"fastnoise.{_HOMES[name]}"), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
