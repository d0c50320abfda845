"""fastnoise: the noise of differential privacy, exact and at memory speed.

>>> import fastnoise as fn
>>> mechanism = fn.Staircase(epsilon=1.0, sensitivity=1.0)
>>> noisy = mechanism.perturb([1.0, 2.0, 3.0])
"""

from fastnoise.dispatch import TextbookNoiseWarning
from fastnoise.mechanisms.discrete_staircase import DiscreteStaircase, Geometric
from fastnoise.mechanisms.mechanism import Privacy
from fastnoise.mechanisms.staircase import Staircase
from fastnoise.stream import InsecureStreamWarning, Stream
from fastnoise.version import VERSION

__all__ = [
    "DiscreteStaircase",
    "Geometric",
    "InsecureStreamWarning",
    "Privacy",
    "Staircase",
    "Stream",
    "TextbookNoiseWarning",
]
__version__ = VERSION
