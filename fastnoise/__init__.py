"""fastnoise: the noise of differential privacy, exact and at memory speed.

>>> import fastnoise as fn
>>> mechanism = fn.Staircase(epsilon=1.0, sensitivity=1.0)
>>> noisy = mechanism.perturb([1.0, 2.0, 3.0])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fastnoise_kernels import forks as _forks  # noqa: F401  # a hook that must precede any fork

from fastnoise.version import VERSION as __version__

if TYPE_CHECKING:
    from fastnoise.dispatch import TextbookNoiseWarning
    from fastnoise.mechanisms.discrete_staircase import DiscreteStaircase, Geometric
    from fastnoise.mechanisms.mechanism import Privacy
    from fastnoise.mechanisms.staircase import Staircase
    from fastnoise.stream import InsecureStreamWarning, Stream

# Where each public name lives; it is imported when it is first used, and numpy with it.
_HOMES = {
    "DiscreteStaircase": "mechanisms.discrete_staircase",
    "Geometric": "mechanisms.discrete_staircase",
    "InsecureStreamWarning": "stream",
    "Privacy": "mechanisms.mechanism",
    "Staircase": "mechanisms.staircase",
    "Stream": "stream",
    "TextbookNoiseWarning": "dispatch",
}

__all__ = [
    "DiscreteStaircase",
    "Geometric",
    "InsecureStreamWarning",
    "Privacy",
    "Staircase",
    "Stream",
    "TextbookNoiseWarning",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fastnoise' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"fastnoise.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
